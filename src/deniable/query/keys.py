"""Declared keys: the groups that are published whatever the data hold, in the order that was given.

| given                                   | read as                                                       |
|-----------------------------------------|---------------------------------------------------------------|
| ["red", "blue"]                         | one key column                                                |
| [("red", 2024), ("blue", 2024)]         | several key columns, in the order of `group_by`               |
| a table (Arrow, pandas, Polars)         | its columns of the key columns' names                         |

Keys are public. They must have the type that their column is declared with, be among the values that the
column can hold, and appear once: two keys that one row equals would count the row twice, which nobody has
paid for. This is judged after each key has become what the engine compares: a 64-bit real, a microsecond, a
32-bit real in a column of those (0.1 is the one that prints as 0.1). `collect` asks the engine once more.

A missing value is no key that can be declared: derive one, `colour="coalesce(colour, 'none')"`, and declare
that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, assert_never

from deniable.errors import ParameterError
from deniable.query.schema import Column, Type
from deniable.query.sources.casts import WIDE

if TYPE_CHECKING:
    import pyarrow as pa

MOST_KEYS = 10_000_000
_INT64 = 1 << 63
_DIGITS = 38
"""The most digits of a number that the engine takes."""

_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")


def declared(keys: object, columns: Sequence[Column]) -> pa.Table:
    """Return the keys as an Arrow table: one column for each key column, one row for each key.

    Raises:  ParameterError: there are none or too many; one is missing, is there twice or has another type
             than its column; the number of values differs from the number of columns.
    """
    import pyarrow as pa

    rows = _rows(keys, columns)
    if not rows:
        raise ParameterError("keys", keys, "must not be empty", "Leave keys out to find them in the data.")
    if len(rows) > MOST_KEYS:
        raise ParameterError("keys", len(rows), "are too many", f"Declare at most {MOST_KEYS:,}.")
    arrays = [_array([row[place] for row in rows], column) for place, column in enumerate(columns)]
    _refuse_duplicates(rows, arrays)
    return pa.table(arrays, names=[column.name for column in columns])


def _array(given: Sequence[object], column: Column) -> pa.Array:
    """Return the keys of one column as the engine will compare them.

    Raises:  ParameterError: together they have more digits than any column.
    """
    import pyarrow as pa

    values = [_value(value, column) for value in given]
    try:
        return pa.array(values, _arrow_type(column, values))
    except (pa.ArrowInvalid, ValueError):
        problem = "have more digits, before and after the point together, than a column can hold"
    raise ParameterError("keys", column.name, problem, f"Use at most {_DIGITS} digits.")


def _rows(keys: object, columns: Sequence[Column]) -> list[tuple[object, ...]]:
    fix = "Give a list of values (of tuples for several columns) or a table."
    if hasattr(keys, "__arrow_c_stream__"):
        return _from_table(keys, columns)
    if isinstance(keys, str | bytes | Mapping) or not isinstance(keys, Iterable):
        raise ParameterError("keys", keys, "must be a list or a table", fix)
    listed = list(keys)
    if len(columns) == 1:
        return [(key,) for key in listed]
    for key in listed:
        if not isinstance(key, tuple | list) or len(key) != len(columns):
            names = ", ".join(column.name for column in columns)
            raise ParameterError("keys", key, f"must have one value for each of {names}", fix)
    return [tuple(key) for key in listed]


def _from_table(keys: object, columns: Sequence[Column]) -> list[tuple[object, ...]]:
    import pyarrow as pa

    table: Any = pa.table(keys)
    folded = {name.casefold(): name for name in table.column_names}
    for column in columns:
        if column.name.casefold() not in folded:
            names = ", ".join(table.column_names)
            raise ParameterError(
                "keys", names, f"has no column '{column.name}'", "Name its columns like the keys."
            )
    try:
        lists = [table.column(folded[column.name.casefold()]).to_pylist() for column in columns]
        return list(zip(*lists, strict=True))
    except (ValueError, pa.ArrowException):
        names = ", ".join(column.name for column in columns)
    fix = "Write text as UTF-8 and times in microseconds."
    raise ParameterError("keys", names, "hold a value that cannot be read", fix)


def _refuse_duplicates(rows: Sequence[tuple[object, ...]], arrays: Sequence[pa.Array]) -> None:
    """Refuse two keys that one row could equal, whatever they looked like when they were given.

    Judged on the values that the engine gets: 2**53 and 2**53 + 1 are the same real number, 0.0 and -0.0
    the same zero, two timestamps with the same microsecond the same time.
    """
    seen: set[tuple[object, ...]] = set()
    for row, held in zip(rows, zip(*(array.to_pylist() for array in arrays), strict=True), strict=True):
        if held in seen:
            shown = row if len(row) > 1 else row[0]
            problem = "must not be given twice, also not as another number that the column cannot tell apart"
            raise ParameterError("keys", shown, problem, "Remove the second.")
        seen.add(held)


def _value(value: object, column: Column) -> object:
    """Return the key as the column's type holds it, exactly as the engine will compare it."""
    if _is_missing(value):
        fix = f"Derive a value for it, for example {column.name}_or_none=\"coalesce({column.name}, 'none')\"."
        raise ParameterError("keys", value, "must not hold a missing value", fix)
    found = _typed(value, column.type)
    if found is None:
        fix = f"Column '{column.name}' is declared {column.type.value}: give keys of that type."
        raise ParameterError("keys", value, f"must be {column.type.value}", fix)
    if not _fits(found, column):
        fix = (
            f"Column '{column.name}' is {column.kind or 'BIGINT'}: no row can equal it. Give a key it holds."
        )
        raise ParameterError("keys", value, "is a value that its column cannot hold", fix)
    return found


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, Real) and value != value  # NaN alone differs from itself


def _typed(value: object, kind: Type) -> object:
    """Return the value as this type holds it, None if it is of another type."""
    if type(value).__name__ in ("bool", "bool_"):
        return bool(value) if kind is Type.BOOLEAN else None
    match kind:
        case Type.TEXT:
            return str.__str__(value) if isinstance(value, str) and _encodes(value) else None
        case Type.INTEGER:
            return int(value) if isinstance(value, Integral) else None
        case Type.REAL:
            return _real(value) if isinstance(value, Real) else None
        case Type.DECIMAL:
            if isinstance(value, Decimal):
                return value if value.is_finite() else None
            return Decimal(int(value)) if isinstance(value, Integral) else None
        case Type.DATE:
            if isinstance(value, datetime) or not isinstance(value, date):
                return None
            return date(value.year, value.month, value.day)
        case Type.TIMESTAMP:
            return _moment(value) if isinstance(value, datetime) and value.tzinfo is None else None
        case Type.BOOLEAN | Type.OTHER:
            return None
        case _:
            assert_never(kind)


def _real(value: Real) -> float | None:
    """Return the nearest real number of 64 bits, one zero; None if it is too large."""
    try:
        found = float(value)
    except OverflowError:
        return None
    return found + 0.0 if math.isfinite(found) else None


def _moment(value: datetime) -> datetime:
    """Return the time in whole microseconds, which is how every source delivers it: pandas has finer ones."""
    clock = (value.hour, value.minute, value.second, value.microsecond)
    return datetime(value.year, value.month, value.day, *clock)


def _fits(value: Any, column: Column) -> bool:
    """Return whether the column can hold the value, as far as its type is known: derived ones are not."""
    match column.type:
        case Type.INTEGER:
            short = column.kind not in WIDE and (column.kind != "" or column.declared)
            return bool(-_INT64 <= value < _INT64 if short else abs(value) < 10**_DIGITS)
        case Type.REAL:
            return column.kind != "FLOAT" or _is_single(value)
        case Type.DECIMAL:
            whole, places = _size(value)
            if digits := _DECIMAL.fullmatch(column.kind):
                return places <= int(digits[2]) and whole <= int(digits[1]) - int(digits[2])
            return whole + places <= _DIGITS
        case _:
            return True


def _is_single(value: float) -> bool:
    """Return whether a column of 32-bit numbers holds this number, or one that prints like it."""
    import numpy as np

    with np.errstate(over="ignore"):
        held = np.float32(value)
    return float(held) == value or float(str(held)) == value


def _size(value: Decimal) -> tuple[int, int]:
    """Return how many digits the number has before the point and after it, without zeros at its ends."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    plain = "".join(map(str, digits)).lstrip("0")
    kept = plain.rstrip("0")
    if not kept:
        return 0, 0
    exponent += len(plain) - len(kept)
    return max(0, len(kept) + exponent), max(0, -exponent)


def _encodes(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _arrow_type(column: Column, values: Sequence[Any]) -> pa.DataType:
    import pyarrow as pa

    match column.type:
        case Type.TEXT:
            return pa.string()
        case Type.BOOLEAN:
            return pa.bool_()
        case Type.INTEGER:
            short = all(-_INT64 <= value < _INT64 for value in values)
            return pa.int64() if short else pa.decimal128(_DIGITS, 0)
        case Type.REAL:
            return pa.float32() if column.kind == "FLOAT" else pa.float64()
        case Type.DATE:
            return pa.date32()
        case Type.TIMESTAMP:
            return pa.timestamp("us")
        case Type.DECIMAL:
            return _decimal_type(column, values)
        case _:
            return pa.null()


def _decimal_type(column: Column, values: Sequence[Decimal]) -> pa.DataType:
    """Return the type of the column, or if that is not known the least that holds all of the keys."""
    import pyarrow as pa

    if digits := _DECIMAL.fullmatch(column.kind):
        return pa.decimal128(int(digits[1]), int(digits[2]))
    sizes = [_size(value) for value in values]
    places = max(places for _, places in sizes)
    return pa.decimal128(
        min(_DIGITS, max(1, max(whole for whole, _ in sizes) + places)), min(_DIGITS, places)
    )
