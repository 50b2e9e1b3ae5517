"""Values as the schema says: each converted by itself, what does not fit becomes NULL, nothing raises.

Text that is declared to be something else (blanks around it are ignored):

| declared  | reads                                                     | NULL, for example             |
|-----------|-----------------------------------------------------------|-------------------------------|
| integer   | `12`, `-3`, `+7`, `3.0`                                   | `3.7`, `1e3`, `1_000`, 2**63  |
| real      | `12`, `.5`, `-1.`, `1e-3`                                 | `nan`, `inf`, `1e400`, `1,5`  |
| boolean   | `true t yes y 1`, `false f no n 0`, in any case           | `maybe`, `2`                  |
| date      | `2024-02-29`, years 1 to 9999                             | `2023-02-29`, `29.2.2024`     |
| timestamp | `2024-02-29 13:05:01.5`, `2024-02-29T13:05Z`, `... +02:00`| `13:05`, a named time zone    |

A pattern decides what is read, and only then does the engine convert: engines differ, and change, in
what else they accept. Timestamps with an offset become UTC, those without are taken as they are.

Typed columns (Parquet, Arrow, ...): REAL that is NaN or infinite, and dates outside the years 1 to 9999,
become NULL; integers narrower than 64 bits become BIGINT, so that sums of small types cannot overflow.
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from deniable.query.schema import Type

_PATTERNS = {
    Type.INTEGER: r"^\s*([+-]?\d+)(?:\.0*)?\s*$",
    Type.REAL: r"^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*$",
    Type.DATE: r"^\s*(\d{4}-\d{1,2}-\d{1,2})\s*$",
    Type.TIMESTAMP: (
        r"^\s*(\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?"
        r"(?:Z|[+-](?:0\d|1[0-4])(?::[0-5]\d)?)?)?)\s*$"
    ),
}
_TRUE = r"(?i)\s*(true|t|yes|y|1)\s*"
_FALSE = r"(?i)\s*(false|f|no|n|0)\s*"

WIDE = ("UBIGINT", "HUGEINT", "UHUGEINT")
"""The integers that need more than 64 bits: they are delivered as HUGEINT."""

_NARROW = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_TIMESTAMPS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
_ZONED = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS")


def call(name: str, *arguments: exp.Expression) -> exp.Expression:
    """Return a call of a DuckDB function by exactly this name."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def text(value: str) -> exp.Expression:
    """Return a text literal."""
    return exp.Literal.string(value)


def cast(value: exp.Expression, kind: str) -> exp.Expression:
    """Return TRY_CAST(value AS kind): NULL for what does not fit."""
    return exp.TryCast(this=value, to=exp.DataType.build(kind, dialect="duckdb"))


def native(kind: str) -> Type:
    """Return what a column of this DuckDB type is: `native("UINTEGER")` is INTEGER."""
    if kind in _NARROW or kind in WIDE:
        return Type.INTEGER
    if kind in ("FLOAT", "DOUBLE"):
        return Type.REAL
    if kind.startswith("DECIMAL(") and kind.endswith(")"):
        return Type.DECIMAL
    if kind in ("VARCHAR", "UUID", "JSON") or (kind.startswith("ENUM(") and kind.endswith(")")):
        return Type.TEXT
    if kind == "BOOLEAN":
        return Type.BOOLEAN
    if kind == "DATE":
        return Type.DATE
    if kind in _TIMESTAMPS or kind in _ZONED:
        return Type.TIMESTAMP
    return Type.OTHER


def delivered(value: exp.Expression, kind: str) -> exp.Expression:
    """Return a value of the DuckDB type `kind` as the schema's type (see `Type`)."""
    match native(kind):
        case Type.INTEGER:
            return cast(value, "HUGEINT" if kind in WIDE else "BIGINT")
        case Type.REAL:
            return _finite(cast(value, "DOUBLE"))
        case Type.TEXT:
            return cast(value, "VARCHAR")
        case Type.DATE:
            return _in_calendar(value, "DATE")
        case Type.TIMESTAMP:
            moment = _utc(value) if kind in _ZONED else _tried(value, "TIMESTAMP")
            return _in_calendar(moment, "TIMESTAMP")
        case Type.BOOLEAN | Type.DECIMAL | Type.OTHER:
            return value
        case other:
            assert_never(other)


def converts(given: Type, wanted: Type) -> bool:
    """Return whether `converted` can make the one from the other."""
    numbers = (Type.INTEGER, Type.REAL, Type.DECIMAL, Type.BOOLEAN)
    times = (Type.DATE, Type.TIMESTAMP)
    if given is Type.OTHER or wanted is Type.OTHER:
        return False
    return (
        given is wanted
        or Type.TEXT in (given, wanted)
        or (given in numbers and wanted in numbers)
        or (given in times and wanted in times)
    )


def converted(value: exp.Expression, given: Type, wanted: Type) -> exp.Expression:
    """Return a value of the schema's type `given` as the declared type `wanted`."""
    if given is wanted:
        return value
    if given is Type.TEXT:
        return parsed(value, wanted)
    match wanted:
        case Type.INTEGER:
            if given is Type.BOOLEAN:
                return cast(value, "BIGINT")
            whole = exp.EQ(this=value.copy(), expression=call("trunc", value.copy()))
            return exp.Case().when(whole, cast(value, "BIGINT"))
        case Type.REAL:
            return _finite(cast(value, "DOUBLE"))
        case Type.TEXT:
            return cast(value, "VARCHAR")
        case Type.BOOLEAN:
            return cast(value, "BOOLEAN")
        case Type.DATE:
            return cast(value, "DATE")
        case Type.TIMESTAMP:
            return cast(value, "TIMESTAMP")
        case Type.DECIMAL | Type.OTHER:
            raise AssertionError(wanted)
        case other:
            assert_never(other)


def parsed(value: exp.Expression, wanted: Type) -> exp.Expression:
    """Return text as the type `wanted`, by the table at the top."""
    match wanted:
        case Type.TEXT:
            return value
        case Type.INTEGER:
            return cast(_matched(value, wanted), "BIGINT")
        case Type.REAL:
            return _finite(cast(_matched(value, wanted), "DOUBLE"))
        case Type.BOOLEAN:
            true = call("regexp_full_match", value.copy(), text(_TRUE))
            false = call("regexp_full_match", value.copy(), text(_FALSE))
            return exp.Case().when(true, exp.true()).when(false, exp.false())
        case Type.DATE:
            return _in_calendar(cast(_matched(value, wanted), "DATE"), "DATE")
        case Type.TIMESTAMP:
            return _in_calendar(_utc(_matched(value, wanted)), "TIMESTAMP")
        case Type.DECIMAL | Type.OTHER:
            raise AssertionError(wanted)
        case other:
            assert_never(other)


def _matched(value: exp.Expression, wanted: Type) -> exp.Expression:
    """Return the part of the text that the pattern reads; '' (which fits no type) where there is none."""
    return call("regexp_extract", value, text(_PATTERNS[wanted]), exp.Literal.number(1))


def _finite(value: exp.Expression) -> exp.Expression:
    return exp.Case().when(call("isfinite", value.copy()), value)


def _utc(value: exp.Expression) -> exp.Expression:
    """Return a zoned timestamp in UTC, without asking for the time zone of the session."""
    zoned = _tried(value, "TIMESTAMP WITH TIME ZONE")
    finite = exp.Case().when(call("isfinite", zoned.copy()), zoned)
    return call("try", call("make_timestamp", call("epoch_us", finite)))


def _tried(value: exp.Expression, kind: str) -> exp.Expression:
    """Return TRY(CAST(value AS kind)): between kinds of timestamps, TRY_CAST raises on far values."""
    return call("try", exp.Cast(this=value, to=exp.DataType.build(kind, dialect="duckdb")))


def _in_calendar(value: exp.Expression, kind: str) -> exp.Expression:
    """Return the value if Python's calendar has it: later stages must be able to print every key."""
    first, last = ("0001-01-01", "9999-12-31")
    if kind == "TIMESTAMP":
        first, last = first + " 00:00:00", last + " 23:59:59.999999"
    inside = exp.Between(this=value.copy(), low=cast(text(first), kind), high=cast(text(last), kind))
    return exp.Case().when(inside, value)
