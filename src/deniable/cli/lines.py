"""Lines of any length, in any encoding, from a file or a pipe: a few at a time, in bounded memory.

| the input                               | is read as                                             |
|-----------------------------------------|--------------------------------------------------------|
| empty                                   | no line                                                |
| an empty line                           | a line without text                                    |
| a last line without a line end          | a line like any other                                  |
| a line that ends in CR LF, a first BOM  | without these                                          |
| bytes that are no UTF-8                 | the replacement character, which is no number          |
| a line of more than 4 MiB               | a line without text: it is not kept                    |
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from typing import Any, BinaryIO

from deniable.errors import ParameterError

LONGEST = 1 << 22
_BLOCK = 1 << 20
_BOM = b"\xef\xbb\xbf"

Advance = Callable[[int, int], None]
"""Told how many bytes and lines were read since it was last called."""


@contextmanager
def opened(path: str | None) -> Iterator[BinaryIO]:
    """Open a file, or standard input where there is no path or it is "-".

    Raises:  ParameterError: it cannot be read.
    """
    if path is None or path == "-":
        if sys.stdin is None:
            raise ParameterError("FILE", None, "is missing, and standard input is closed", "Name a file.")
        yield sys.stdin.buffer
        return
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below; an error in the body must not look like this
    except OSError:
        raise ParameterError("FILE", path, "cannot be read", "Name a file, or - for a pipe.") from None
    with file:
        yield file


def batches(file: BinaryIO, advance: Advance) -> Iterator[list[str]]:
    """Yield the lines as they come, some at a time, without their ends."""
    carry, skipping, first = b"", False, True
    read_some = file.read1 if isinstance(file, BufferedReader) else file.read
    while block := read_some(_BLOCK):
        read = len(block)
        if first:
            block, first = block.removeprefix(_BOM), False
        start, *rest = block.split(b"\n")
        if not rest:
            carry, skipping = _held(carry, start, skipping)
            advance(read, 0)
            continue
        whole = [b"" if skipping else carry + start, *rest[:-1]]
        carry, skipping = _held(b"", rest[-1], False)
        yield [_text(line) for line in whole]
        advance(read, len(whole))
    if carry or skipping:
        yield [_text(carry)]
        advance(0, 1)


def _held(carry: bytes, more: bytes, skipping: bool) -> tuple[bytes, bool]:
    """Return what is kept of an unfinished line, and whether it is too long to keep."""
    if skipping or len(carry) + len(more) > LONGEST:
        return b"", True
    return carry + more, False


def _text(line: bytes) -> str:
    return "" if len(line) > LONGEST else line.removesuffix(b"\r").decode("utf-8", "replace")


@contextmanager
def progress(file: BinaryIO) -> Iterator[Advance]:
    """Give a bar on standard error if that is a terminal; how far along is known for files only."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _octets, _lines: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TextColumn("{task.fields[lines]:,} lines"), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("lines", total=_size(file), lines=0)
        seen = [0]

        def advance(octets: int, lines: int) -> None:
            seen[0] += lines
            bar.update(task, advance=octets, lines=seen[0])

        yield advance


def _size(file: BinaryIO) -> int | None:
    """Return the size of an ordinary file; None for a pipe."""
    try:
        found: Any = os.fstat(file.fileno())
    except OSError:
        return None
    return int(found.st_size) if stat.S_ISREG(found.st_mode) else None
