"""Declared keys: the groups that are published whatever the data hold, in the order that was given.

| given                                   | read as                                                       |
|-----------------------------------------|---------------------------------------------------------------|
| ["red", "blue"]                         | one key column                                                |
| [("red", 2024), ("blue", 2024)]         | several key columns, in the order of `group_by`               |
| a table (Arrow, pandas, Polars)         | its columns of the key columns' names                         |

Keys are public. They must have the type that their column is declared with, and appear once. A missing
value is no key that can be declared: derive one, `colour="coalesce(colour, 'none')"`, and declare that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, assert_never

from deniable.errors import ParameterError
from deniable.query.schema import Column, Type

if TYPE_CHECKING:
    import pyarrow as pa

MOST_KEYS = 10_000_000
_INT64 = 1 << 63


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
    _refuse_duplicates(rows)
    arrays = []
    for place, column in enumerate(columns):
        values = [_value(row[place], column) for row in rows]
        arrays.append(pa.array(values, _arrow_type(column.type, values)))
    return pa.table(arrays, names=[column.name for column in columns])


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
    lists = [table.column(folded[column.name.casefold()]).to_pylist() for column in columns]
    return list(zip(*lists, strict=True))


def _refuse_duplicates(rows: list[tuple[object, ...]]) -> None:
    seen: set[object] = set()
    for row in rows:
        shown = row if len(row) > 1 else row[0]
        try:
            again = row in seen
            seen.add(row)
        except TypeError:
            raise ParameterError(
                "keys", shown, "must be a plain value", "Give text, numbers or dates."
            ) from None
        if again:
            raise ParameterError("keys", shown, "must not be given twice", "Remove the second.")


def _value(value: object, column: Column) -> object:
    """Return the key as the column's type holds it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        fix = f"Derive a value for it, for example {column.name}_or_none=\"coalesce({column.name}, 'none')\"."
        raise ParameterError("keys", value, "must not hold a missing value", fix)
    found = _typed(value, column.type)
    if found is None:
        fix = f"Column '{column.name}' is declared {column.type.value}: give keys of that type."
        raise ParameterError("keys", value, f"must be {column.type.value}", fix)
    return found


def _typed(value: object, kind: Type) -> object:
    """Return the value as this type holds it, None if it is of another type."""
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return bool(value) if kind is Type.BOOLEAN else None
    match kind:
        case Type.TEXT:
            return value if isinstance(value, str) and _encodes(value) else None
        case Type.INTEGER:
            return int(value) if isinstance(value, Integral) and -_INT64 <= int(value) < _INT64 else None
        case Type.REAL:
            return float(value) if isinstance(value, Real) else None
        case Type.DECIMAL:
            if isinstance(value, Decimal):
                return value if value.is_finite() else None
            return Decimal(int(value)) if isinstance(value, Integral) else None
        case Type.DATE:
            is_date = isinstance(value, date) and not isinstance(value, datetime)
            return value if is_date else None
        case Type.TIMESTAMP:
            return value if isinstance(value, datetime) and value.tzinfo is None else None
        case Type.BOOLEAN | Type.OTHER:
            return None
        case _:
            assert_never(kind)


def _encodes(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _arrow_type(kind: Type, values: list[object]) -> pa.DataType:
    import pyarrow as pa

    match kind:
        case Type.TEXT:
            return pa.string()
        case Type.BOOLEAN:
            return pa.bool_()
        case Type.INTEGER:
            return pa.int64()
        case Type.REAL:
            return pa.float64()
        case Type.DATE:
            return pa.date32()
        case Type.TIMESTAMP:
            return pa.timestamp("us")
        case _:
            return pa.infer_type(values)
