"""Spark data frames, told by what they are and described by their schema. Nothing is run.

| Spark's type             | is called here (DuckDB's name) | Arrow's                        |
|--------------------------|--------------------------------|--------------------------------|
| byte short int long      | TINYINT SMALLINT INTEGER BIGINT| int8 int16 int32 int64         |
| float double             | FLOAT DOUBLE                   | float32 float64                |
| decimal(p,s)             | DECIMAL(p,s)                   | decimal128(p, s)               |
| string, char, varchar    | VARCHAR                        | string                         |
| boolean date             | BOOLEAN DATE                   | bool date32                    |
| timestamp, timestamp_ntz | TIMESTAMP                      | timestamp[us]                  |
| lists of leaves          | OTHER                          | list<struct<int64, int64>>     |
| anything else            | OTHER                          |                                |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_KINDS = {
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP",
}
_ARROW = {
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
    "VARCHAR": pa.string(),
}
MOMENT = "timestampadd(MICROSECOND, {}, TIMESTAMP_NTZ '1970-01-01 00:00:00')"
"""Spark's SQL for the moment so many microseconds after 1970, in UTC."""

_TEXT = re.compile(r"(string|char|varchar)\b.*")
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_LEAVES = pa.list_(pa.struct([("leaf", pa.int64()), ("number", pa.int64())]))


def is_frame(data: Any) -> bool:
    """Return whether this is a data frame of Spark's, classic or Connect."""
    return any(
        kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")
        for kind in type(data).__mro__
    )


def columns_of(frame: DataFrame) -> tuple[tuple[str, str], ...]:
    """Return the names of a frame's columns and DuckDB's names of their types."""
    return tuple((field.name, kind_of(field.dataType.simpleString())) for field in frame.schema.fields)


def kind_of(kind: str) -> str:
    """Return DuckDB's name of a type of Spark's; OTHER for what is not delivered."""
    if _TEXT.fullmatch(kind):
        return "VARCHAR"
    if digits := _DECIMAL.fullmatch(kind):
        return f"DECIMAL({digits[1]},{digits[2]})"
    return _KINDS.get(kind, "OTHER")


def arrow_of(frame: DataFrame) -> pa.Schema:
    """Return the Arrow schema of a frame's rows; lists are those of leaves."""
    return pa.schema([(name, _arrow(kind)) for name, kind in columns_of(frame)])


def _arrow(kind: str) -> pa.DataType:
    if kind.startswith("DECIMAL"):
        width, places = kind[len("DECIMAL(") : -1].split(",")
        return pa.decimal128(int(width), int(places))
    return _ARROW.get(kind, _LEAVES)
