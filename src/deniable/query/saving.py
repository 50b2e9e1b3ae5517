"""Files and folders that appear whole or not at all: written beside their place, then renamed into it.

What is being written lies in a hidden folder beside the place; it goes also if the process is killed
(`engines.spill`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from deniable.engines.spill import SpillFolder
from deniable.errors import ParameterError


def check_new_folder(directory: str | os.PathLike[str]) -> Path:
    """Return the path if a folder can be made there; call it before private data is read.

    Raises:  ParameterError: something is there already, or the folder around it does not exist.
    """
    path = Path(directory)
    if os.path.lexists(path):
        fix = "Name a folder that does not exist yet: a release is never overwritten."
        raise ParameterError("directory", str(path), "exists already", fix)
    _check_around("directory", path)
    return path


@contextmanager
def new_folder(directory: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a folder to write into; it gets its name when all is written, and is gone if anything fails."""
    target = check_new_folder(directory).absolute()
    with SpillFolder(str(target.parent), f".{target.name}.") as beside:
        inner = Path(beside.path, target.name)
        inner.mkdir()
        yield inner
        check_new_folder(directory)
        inner.rename(target)


def written_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file beside its place, then put it there, over what was there before."""
    target = path.absolute()
    _check_around("path", path)
    with SpillFolder(str(target.parent), f".{target.name}.") as beside:
        inner = Path(beside.path, target.name)
        write(inner)
        inner.replace(target)


def _check_around(argument: str, path: Path) -> None:
    around = path.absolute().parent
    if not around.is_dir():
        raise ParameterError(argument, str(path), "has no folder around it", f"Make {path.parent} first.")
    if not os.access(around, os.W_OK):
        raise ParameterError(argument, str(path), "is in a folder that cannot be written", "Name another.")
