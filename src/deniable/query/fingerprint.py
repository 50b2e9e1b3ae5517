"""One SHA-256 of everything noisy that a release published: what its ledger keeps of the numbers.

It is of values, not of a file: a table that went through Parquet has the same. Each part is preceded by its
length, so that no two contents are written alike.

| column holds                    | written as                                                              |
|---------------------------------|-------------------------------------------------------------------------|
| whole numbers, true or false    | 64-bit integers, little-endian                                          |
| other numbers                   | doubles, little-endian                                                  |
| dates, times                    | the integers behind them, in days, or in the unit of the column but at  |
|                                 | least milliseconds, as Parquet keeps them                               |
| text, decimals, anything else   | lengths as 64-bit integers, then UTF-8                                  |

Before these: names, kind and which values are missing; before all columns: the noisy numbers of groups of a
unit and the bounds that were chosen privately.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from deniable.exact import written

if TYPE_CHECKING:
    import pyarrow as pa

    from deniable.query.automatic import Choice


def fingerprint(table: pa.Table, histogram: Sequence[int] | None, choices: Sequence[Choice]) -> str:
    """Return the SHA-256 in hexadecimal of the published table and of what was published beside it."""
    chosen = [
        [choice.found, *([*map(written, numbers or ())] for numbers in (choice.chosen, choice.wanted))]
        for choice in choices
    ]
    beside = {"rows": table.num_rows, "groups of a unit": histogram and list(histogram), "chosen": chosen}
    parts = [json.dumps(beside, sort_keys=True).encode()]
    hashed = sha256()
    for name, column in zip(table.column_names, table.columns, strict=True):
        parts += [name.encode(), *_parts(column)]
    for part in parts:
        hashed.update(len(part).to_bytes(8, "little"))
        hashed.update(part)
    return hashed.hexdigest()


def _parts(column: Any) -> list[bytes]:
    """Return the kind of a column, which of its values are missing, and the values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, plain = _plain(column)
    missing = pc.is_null(plain).cast(pa.uint8()).to_numpy().tobytes()
    if not pa.types.is_large_string(plain.type):
        layout = "<f8" if pa.types.is_float64(plain.type) else "<i8"
        return [kind.encode(), missing, plain.fill_null(0).to_numpy().astype(layout).tobytes()]
    words = plain.fill_null("")
    lengths = pc.binary_length(words).to_numpy().astype("<i8").tobytes()
    return [kind.encode(), missing, lengths, b"".join(map(_bytes, words.chunks))]


def _plain(column: Any) -> tuple[str, Any]:
    """Return the kind of a column, and its values as doubles, 64-bit integers or text."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind, types = column.type, pa.types
    if types.is_floating(kind):
        return "real", column.cast(pa.float64())
    if types.is_boolean(kind):
        return "boolean", column.cast(pa.int64())
    if types.is_integer(kind) and not types.is_uint64(kind):
        return "integer", column.cast(pa.int64())
    if types.is_date(kind):
        return "date", column.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
    if types.is_timestamp(kind):
        unit = "ms" if kind.unit == "s" else kind.unit
        return f"timestamp {unit} {kind.tz}", column.cast(pa.timestamp(unit, kind.tz)).cast(pa.int64())
    return "decimal" if types.is_decimal(kind) else "text", column.cast(pa.large_string())


def _bytes(words: Any) -> bytes:
    """Return the text of an Arrow array of large strings without missing values, end to end."""
    import numpy as np

    _, offsets, data = words.buffers()
    if data is None or not len(words):
        return b""
    places = np.frombuffer(offsets, "<i8")[words.offset : words.offset + len(words) + 1]
    return bytes(memoryview(data)[places[0] : places[-1]])
