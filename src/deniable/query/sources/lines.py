"""Text files as a stream of lines, in which no line can touch another.

What decides where a line ends is one byte, "\\n", and nothing else: no quote, no escape, no encoding, no
guess from the first rows. (Readers for CSV that run in parallel lose neighbours of odd lines, even with
quoting switched off.) Each line by itself is then kept or dropped:

| line                                        | becomes                                             |
|---------------------------------------------|-----------------------------------------------------|
| ends in "\\r\\n", or has "\\r" anywhere        | the same without any "\\r"                           |
| has the delimiter outside of quotes         | the same with `MARK` in its place                   |
| not UTF-8                                   | dropped                                             |
| longer than 16 MiB                          | dropped, in bounded memory                          |
| last, without "\\n"                          | as if it had one                                    |
| blank                                       | a line of no text (its reader drops it)             |

Proof that a line depends on its own bytes alone: (1) `_blocks` cuts only behind a "\\n" and passes every
byte on once, except lines whose own length is above the limit; (2) `_batch` cuts at every "\\n" of a
block; (3) `_marked` counts quotes from the start of each line; (4) the test for UTF-8 is made on each value
by itself, in both branches.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deniable.query.sources.files import File

LIMIT = 16 << 20
"""The longest line that is read, in bytes, its end included."""

_BLOCK = 4 << 20  # below LIMIT: a line inside one block is never too long
MARK = "\r"
"""What stands between two fields: it cannot be part of a value, because every "\\r" is taken out before."""

_BOM = b"\xef\xbb\xbf"
_SCHEMA = pa.schema([("line", pa.string())])


class Lines:
    """An Arrow stream of one text column, `line`; every scan starts anew at the first file.

    Args:    files: read in this order. header: whether the first line of each file is to be skipped.
             delimiter: one ASCII character, to be marked where it separates; None: nothing is.
    """

    def __init__(self, files: Sequence[File], *, header: bool, delimiter: str | None = None) -> None:
        self._files = files
        self._header = header
        self._delimiter = None if delimiter is None else delimiter.encode()

    def __arrow_c_schema__(self) -> object:
        return _SCHEMA.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.RecordBatchReader.from_batches(_SCHEMA, self._batches()).__arrow_c_stream__()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for file in self._files:
            with opened(file) as stream:
                for block in _blocks(stream.read, header=self._header):
                    yield _batch(block, self._delimiter)


def opened(file: File) -> BinaryIO:
    """Return the bytes of a file, unpacked if its name ends in .gz."""
    if file.gzipped:
        return cast("BinaryIO", gzip.open(file.path, "rb"))
    return open(file.path, "rb", buffering=0)


def first_line(file: File, most: int) -> bytes | None:
    """Return the first line without its end and byte order mark; None if it is longer than `most`."""
    with opened(file) as stream:
        start = b""
        while b"\n" not in start and len(start) <= most:
            if not (more := stream.read(most + 1 - len(start))):
                break
            start += more
    line = start.removeprefix(_BOM).partition(b"\n")[0]
    return None if len(line) > most or (len(start) > most and b"\n" not in start) else line


def _blocks(read: Callable[[int], bytes], *, header: bool) -> Iterator[bytes]:
    """Yield the bytes in pieces that end in "\\n", without the mark, the header and too long lines."""
    begun: list[bytes] = []
    size = 0  # of the line that has begun, also when it is too long to be kept
    skip = header
    chunk = read(_BLOCK).removeprefix(_BOM)
    while chunk:
        first, last = chunk.find(b"\n") + 1, chunk.rfind(b"\n") + 1
        if first:
            drop = skip or size + first > LIMIT
            if block := chunk[first:last] if drop else b"".join((*begun, chunk[:last])):
                yield block
            begun, size, skip = [], 0, False
        size += len(chunk) - last
        begun = [*begun, chunk[last:]] if size < LIMIT else []
        chunk = read(_BLOCK)
    if 0 < size < LIMIT and not skip:
        yield b"".join((*begun, b"\n"))


def _batch(block: bytes, delimiter: bytes | None) -> pa.RecordBatch:
    """Return the lines of a block that ends in "\\n"."""
    if b"\r" in block:
        block = block.translate(None, b"\r")
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
    if delimiter is not None:
        block = _marked(block, ends, delimiter)
    offsets = np.zeros(len(ends) + 1, np.int32)
    offsets[1:] = ends - np.arange(len(ends))
    text = block.translate(None, b"\n")
    lines = pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(text))
    try:
        lines.validate(full=True)
    except pa.ArrowInvalid:
        lines = pa.array([line for line in block.split(b"\n")[:-1] if _is_utf8(line)], pa.string())
    return pa.record_batch([lines], schema=_SCHEMA)


def _marked(block: bytes, ends: NDArray[np.intp], delimiter: bytes) -> bytes:
    """Return the block with `MARK` for each delimiter behind an even number of quotes in its line."""
    if b'"' not in block:
        return block.replace(delimiter, MARK.encode())
    text = np.frombuffer(block, np.uint8).copy()
    places = np.flatnonzero(text == ord(delimiter))
    quotes = np.cumsum(text == ord('"'), dtype=np.uint8)  # modulo 256: even stays even
    before_line = np.concatenate((np.zeros(1, np.uint8), quotes[ends]))
    quoted = (quotes[places] - before_line[np.searchsorted(ends, places)]) % 2 == 1
    text[places[~quoted]] = ord(MARK)
    return text.tobytes()


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
