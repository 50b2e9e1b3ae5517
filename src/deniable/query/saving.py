"""Files and folders that appear whole or not at all: written beside their place, then renamed into it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from deniable.errors import ParameterError


def check_new_folder(directory: str | os.PathLike[str]) -> Path:
    """Return the path if a folder can be made there; call it before private data is read.

    Raises:  ParameterError: something is there already, or the folder around it does not exist.
    """
    path = Path(directory)
    if os.path.lexists(path):
        fix = "Name a folder that does not exist yet: a release is never overwritten."
        raise ParameterError("directory", str(path), "exists already", fix)
    if not path.absolute().parent.is_dir():
        raise ParameterError("directory", str(path), "has no folder around it", f"Make {path.parent} first.")
    return path


@contextmanager
def new_folder(directory: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a folder to write into; it gets its name when all is written, and is gone if anything fails."""
    target = check_new_folder(directory)
    outer = Path(tempfile.mkdtemp(dir=target.absolute().parent, prefix=f".{target.name}."))
    try:
        inner = outer / target.name
        inner.mkdir()
        yield inner
        check_new_folder(directory)
        inner.rename(target)
    finally:
        shutil.rmtree(outer, ignore_errors=True)


def written_whole(target: Path, write: Callable[[Path], object]) -> None:
    """Write a file beside its place, then put it there, over what was there before."""
    outer = Path(tempfile.mkdtemp(dir=target.absolute().parent, prefix=f".{target.name}."))
    try:
        write(outer / target.name)
        (outer / target.name).replace(target)
    finally:
        shutil.rmtree(outer, ignore_errors=True)
