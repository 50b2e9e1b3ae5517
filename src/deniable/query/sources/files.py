"""Which local files a path or a glob means, and whether they are still the same."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from deniable.errors import ParameterError, SourceError

_DELIMITED = {".csv", ".tsv", ".tab", ".txt"}
_JSON_LINES = {".jsonl", ".ndjson", ".json"}
_PARQUET = {".parquet", ".pq"}

_CHANGED = (
    "A file of this source changed after it was opened, so the result might mix old and new rows. "
    "Nothing was published. Copy the file to a place where nothing writes, and run again."
)


@dataclass(frozen=True)
class File:
    """A file as it was when the source was opened: `path` is absolute and public, `identity` is private.

    identity: device, number, size, and the times of the last change of content and of anything. It is not
    shown, and not pickled: a file that comes out of a pickle is the one that is there then.
    """

    path: str
    identity: tuple[int, ...] | None = field(repr=False)

    def __reduce__(self) -> tuple[object, ...]:
        return _found_again, (self.path,)

    @property
    def name(self) -> str:
        """Return the name as it may be shown."""
        return printable(os.path.basename(self.path))

    @property
    def gzipped(self) -> bool:
        return self.path.lower().endswith(".gz")

    @property
    def ending(self) -> str:
        """Return the lower-case ending without ".gz": ".csv" for "Answers.CSV.gz"."""
        path = self.path[:-3] if self.gzipped else self.path
        return os.path.splitext(path)[1].lower()

    def unchanged(self) -> bool:
        """Return whether the path still leads to the same file, with the same size and times.

        The second time is the system's own: nobody can put it back, as they can the first.
        """
        try:
            return self == _file(self.path)
        except OSError:
            return False


def find(data: str | os.PathLike[str]) -> tuple[File, ...]:
    """Return the files that a path or glob means, sorted by name, at least one.

    A path that exists is taken as it is, even if it contains `*`, `?` or `[`.
    Raises:  ParameterError: not text, or an address such as s3://... or https://...
             SourceError: nothing there, a directory, or not a readable file.
    """
    path = os.fspath(data)
    if not isinstance(path, str) or not path or "\0" in path:
        raise ParameterError("data", data, "is not a path", "Give the path of a file as text.")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path):
        raise ParameterError(
            "data", data, "is not on this machine", "Download it first: only local files are read so far."
        )
    path = os.path.abspath(os.path.expanduser(path))
    if os.path.lexists(path):
        return (_readable(path),)
    matches = sorted(name for name in glob.glob(path, recursive=True) if not os.path.isdir(name))
    if not matches:
        kind = "No file matches" if glob.has_magic(path) else "There is no file"
        raise SourceError(f"{kind} {os.fspath(data)!r} (looked for {printable(path)}).")
    return tuple(_readable(match) for match in matches)


def kind(files: Sequence[File], *, delimited: bool) -> Literal["delimited", "json lines", "parquet"]:
    """Return how files are to be read, by their endings (".gz" aside) alone.

    Args:    delimited: a delimiter was given, so that an unknown ending is delimited text.
    Raises:  SourceError: the files are of several kinds, or of one that is not known.
    """
    endings = {file.ending for file in files}
    if endings <= _DELIMITED:
        return "delimited"
    if endings <= _JSON_LINES:
        return "json lines"
    if endings <= _PARQUET and not any(file.gzipped for file in files):
        return "parquet"
    if delimited and not endings & (_JSON_LINES | _PARQUET):
        return "delimited"
    known = ", ".join((*sorted(_DELIMITED), *sorted(_JSON_LINES)))
    raise SourceError(
        f"The kind of {files[0].name} is told by its ending, which is none of {known} "
        "(these also with .gz), .parquet, .pq, or differs from that of the other files. "
        "Rename it, or pass delimiter=',' if it is delimited text."
    )


def check_unchanged(files: Sequence[File]) -> None:
    """Raise SourceError (one fixed message) unless every file is as it was when it was opened."""
    if not all(file.unchanged() for file in files):
        raise SourceError(_CHANGED)


def _readable(path: str) -> File:
    shown = printable(path)
    if os.path.isdir(path):
        raise SourceError(f"{shown} is a directory. Name its files with a glob, such as {shown}/*.csv.")
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise SourceError(f"{shown} is not an ordinary file. Save its content in a file first.")
        with open(path, "rb"):
            return _file(path)
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
    raise SourceError(f"{shown} cannot be read: {reason.lower()}.")


def _file(path: str) -> File:
    found = os.stat(path)
    times = (found.st_mtime_ns, found.st_ctime_ns)
    return File(path, (found.st_dev, found.st_ino, found.st_size, *times))


def _found_again(path: str) -> File:
    """Return the file that is at this path now, one that never counts as unchanged if there is none."""
    try:
        return _file(path)
    except OSError:
        return File(path, None)


def printable(text: str) -> str:
    """Return text that moves no cursor, hides nothing and turns nothing round: such signs as \\x1b."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)
