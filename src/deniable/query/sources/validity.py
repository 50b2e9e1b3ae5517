"""Arrow values that break the rule of their own type: each becomes NULL, and nothing else changes.

Whoever fills an Arrow buffer need not check it, so these are found where nobody expects them, and an engine
that meets one fails as a whole: one person's odd value would decide whether there is a release at all.

| type                                  | the rule                                                    |
|---------------------------------------|-------------------------------------------------------------|
| text                                  | UTF-8                                                       |
| decimal of p digits                   | an absolute value below 10**p                               |
| dictionary                            | an index that is inside the dictionary, and the rule there  |

Proof that a value decides about itself alone: (1) a chunk in which all is well is passed on as it is, and in
any other chunk `_text`, `_decimals` and `_dictionary` judge value by value, by the same rule; (2) so what
comes out for a value does not depend on the chunk that it is in.

That lengths and offsets lie inside their buffers is taken for granted: it is what makes a table a table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_WORDS = {4: (1, np.int32), 8: (1, np.int64), 16: (2, np.uint64), 32: (4, np.uint64)}
"""Width of a decimal in bytes -> how many words it is, lowest first, and their type."""


def valid(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column with NULL for each value that its type does not allow; the same one if there is none.

    Raises:  ArrowInvalid: the table itself is broken, not a value in it.
    """
    if not _checked(column.type):
        return column
    return pa.chunked_array([_valid(chunk) for chunk in column.chunks], column.type)


def _checked(kind: pa.DataType) -> bool:
    return pa.types.is_dictionary(kind) or pa.types.is_decimal(kind) or _bytes_of(kind) is not None


def _bytes_of(kind: pa.DataType) -> pa.DataType | None:
    """Return the type of the bytes of text; None for what is not text."""
    if pa.types.is_string(kind):
        return pa.binary()
    if pa.types.is_large_string(kind):
        return pa.large_binary()
    return pa.binary_view() if pa.types.is_string_view(kind) else None


def _valid(chunk: pa.Array) -> pa.Array:
    try:
        chunk.validate(full=True)
    except pa.ArrowInvalid:
        return _repaired(chunk)
    return chunk


def _repaired(chunk: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(chunk.type):
        return _dictionary(chunk)
    return _decimals(chunk) if pa.types.is_decimal(chunk.type) else _text(chunk)


def _dictionary(chunk: Any) -> pa.Array:
    size = pa.scalar(len(chunk.dictionary), pa.int64())
    wide = chunk.indices.cast(pa.int64(), safe=False)
    inside = pc.and_(pc.greater_equal(wide, 0), pc.less(wide, size))
    indices = pc.if_else(inside, chunk.indices, pa.scalar(None, chunk.indices.type))
    values = _valid(chunk.dictionary) if _checked(chunk.dictionary.type) else chunk.dictionary
    return pa.DictionaryArray.from_arrays(indices, values, ordered=chunk.type.ordered)


def _text(chunk: pa.Array) -> pa.Array:
    values = chunk.view(_bytes_of(chunk.type)).to_pylist()
    return pa.array([None if value is None else _decoded(value) for value in values], chunk.type)


def _decoded(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _decimals(chunk: Any) -> pa.Array:
    width = chunk.type.byte_width
    buffer = chunk.buffers()[1].slice(chunk.offset * width, len(chunk) * width)
    count, word = _WORDS[width]
    words = np.frombuffer(buffer, word).reshape(len(chunk), count)
    limit = 10**chunk.type.precision
    held = _below(words, limit) & ~_below(words, 1 - limit) & chunk.is_valid().to_numpy(zero_copy_only=False)
    bitmap = pa.py_buffer(np.packbits(held, bitorder="little").tobytes())
    return pa.Array.from_buffers(chunk.type, len(chunk), [bitmap, buffer])


def _below(words: NDArray[Any], limit: int) -> NDArray[np.bool_]:
    """Return where a number, in two's complement, is below the limit."""
    count = words.shape[1]
    bits = 8 * words.itemsize
    below = np.zeros(len(words), np.bool_)
    for place in range(count):
        part = words[:, place]
        here = (limit >> (bits * place)) % (1 << bits)
        if place == count - 1:  # the highest word carries the sign
            part = part.view(f"i{words.itemsize}")
            here = limit >> (bits * place)
        below = (part < here) | ((part == here) & below)
    return below
