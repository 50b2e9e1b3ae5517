"""Keys from a file: a CSV file whose first line names the columns, or a Parquet file."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from deniable.errors import ParameterError
from deniable.exact import exact

if TYPE_CHECKING:
    from deniable.query.schema import Column

_YES, _NO = ("true", "t", "yes", "1"), ("false", "f", "no", "0")


def read_keys(path: str, columns: Sequence[Column]) -> object:
    """Return the keys in the file, in its order, each of its column's type: what `group_by(keys=)` takes.

    Raises:  ParameterError: the file cannot be read, lacks a column, or holds a value of another type.
    """
    if path.lower().endswith(".parquet"):
        return _parquet(path)
    header, *rows = _lines(path)
    folded = [name.strip().casefold() for name in header]
    missing = [column.name for column in columns if column.name.casefold() not in folded]
    if missing:
        fix = f"Let its first line name the columns: {','.join(column.name for column in columns)}."
        raise ParameterError("--keys", path, f"has no column {missing[0]}", fix)
    places = [folded.index(column.name.casefold()) for column in columns]
    keys = [
        tuple(_value(row, place, column, line) for place, column in zip(places, columns, strict=True))
        for line, row in enumerate(rows, start=2)
        if row
    ]
    return [key[0] for key in keys] if len(columns) == 1 else keys


def _parquet(path: str) -> object:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        return pyarrow.parquet.read_table(path)
    except (OSError, pa.ArrowException):
        raise _unreadable(path) from None


def _lines(path: str) -> list[list[str]]:
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            lines = list(csv.reader(file, strict=True))
    except (OSError, UnicodeError, csv.Error, ValueError):
        raise _unreadable(path) from None
    if not lines or not any(lines[0]):
        raise ParameterError("--keys", path, "is empty", "Write the column's name, then one key a line.")
    return lines


def _unreadable(path: str) -> ParameterError:
    return ParameterError("--keys", path, "cannot be read", "Give a CSV file in UTF-8, or a Parquet file.")


def _value(row: list[str], place: int, column: Column, line: int) -> object:
    if place >= len(row):
        raise ParameterError(
            "--keys", f"line {line}", "has too few values", "Give one value for each column."
        )
    text = row[place]
    read = _READERS.get(column.type.value)
    if read is None:
        raise ParameterError("--keys", column.name, "has a type that cannot be grouped by", "Derive text.")
    try:
        return read(text)
    except (ValueError, InvalidOperation):
        fix = f"Column {column.name} holds values of the type {column.type.value}."
        raise ParameterError("--keys", text, f"is no {column.type.value} in line {line}", fix) from None


def _boolean(text: str) -> bool:
    folded = text.strip().casefold()
    if folded not in _YES + _NO:
        raise ValueError
    return folded in _YES


def _real(text: str) -> float:
    return float(exact(text, "--keys"))


_READERS: dict[str, Callable[[str], object]] = {
    "text": str,
    "integer": int,
    "real": _real,
    "decimal": Decimal,
    "boolean": _boolean,
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
}
"""How a key of each type is read from text."""
