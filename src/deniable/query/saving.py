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

_LONGEST_NAME = 200
"""Bytes of a file name: room for what is put around it while it is being written (255 on most disks)."""


def check_new_folder(directory: str | os.PathLike[str]) -> Path:
    """Return the path if a folder can be made there; call it before private data is read.

    Raises:  ParameterError: something is there already, or the folder around it does not exist.
    """
    path = _path("directory", directory)
    if os.path.lexists(path):
        fix = "Name a folder that does not exist yet: a release is never overwritten."
        raise ParameterError("directory", str(path), "exists already", fix)
    _check_around("directory", path)
    return path


@contextmanager
def new_folder(directory: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a folder to write into; it gets its name when all is written, and is gone if anything fails."""
    target = check_new_folder(directory).absolute()
    with _written("directory", target), SpillFolder(str(target.parent), f".{target.name}.") as beside:
        inner = Path(beside.path, target.name)
        inner.mkdir()
        yield inner
        check_new_folder(directory)
        inner.rename(target)


def written_whole(path: str | os.PathLike[str], write: Callable[[Path], object]) -> None:
    """Write a file beside its place, then put it there, over what was there before.

    Raises:  ParameterError: there can be no such file, or it cannot be written; nothing is left of it.
    """
    target = _path("path", path).absolute()
    if target.is_dir():
        raise ParameterError("path", str(path), "is a folder", "Name a file in it.")
    _check_around("path", target)
    with _written("path", target), SpillFolder(str(target.parent), f".{target.name}.") as beside:
        inner = Path(beside.path, target.name)
        write(inner)
        inner.replace(target)


def _path(argument: str, given: object) -> Path:
    """Return the path that is meant; refuse what names none."""
    fix = f"Give a name of at most {_LONGEST_NAME} bytes in a folder that exists."
    name = given if isinstance(given, str) else os.fspath(given) if isinstance(given, os.PathLike) else None
    if not isinstance(name, str) or not name or "\0" in name:
        raise ParameterError(argument, given, "must be a path", fix)
    if len(os.fsencode(Path(name).name)) > _LONGEST_NAME:
        raise ParameterError(argument, name, "is too long a name", fix)
    return Path(name)


@contextmanager
def _written(argument: str, target: Path) -> Iterator[None]:
    """Say in words what the disk refused. What was written so far goes with its hidden folder."""
    try:
        yield
    except OSError as error:
        problem = f"cannot be written ({error.strerror or 'the disk refused'})"
        fix = "Nothing is left of it. Make room, or name a place elsewhere."
        raise ParameterError(argument, str(target), problem, fix) from None


def _check_around(argument: str, path: Path) -> None:
    around = path.absolute().parent
    if not around.is_dir():
        raise ParameterError(argument, str(path), "has no folder around it", f"Make {path.parent} first.")
    if not os.access(around, os.W_OK):
        raise ParameterError(argument, str(path), "is in a folder that cannot be written", "Name another.")
