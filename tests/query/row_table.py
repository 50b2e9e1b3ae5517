"""One table with a column of every type, for tests of row-wise expressions."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from deniable.query.expressions import parse_value
from deniable.query.schema import Column, Schema, Type

SQL = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.DECIMAL: "DECIMAL(18,3)",
    Type.TEXT: "VARCHAR",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}
ARROW = {
    Type.INTEGER: pa.int64(),
    Type.REAL: pa.float64(),
    Type.DECIMAL: pa.decimal128(18, 3),
    Type.TEXT: pa.string(),
    Type.BOOLEAN: pa.bool_(),
    Type.DATE: pa.date32(),
    Type.TIMESTAMP: pa.timestamp("us"),
}
TYPES = {
    "i": Type.INTEGER,
    "j": Type.INTEGER,
    "x": Type.REAL,
    "y": Type.REAL,
    "s": Type.TEXT,
    "t": Type.TEXT,
    "p": Type.BOOLEAN,
    "d": Type.DATE,
    "m": Type.TIMESTAMP,
    "money": Type.DECIMAL,
}
SCHEMA = Schema(tuple(Column(name, kind, declared=True) for name, kind in TYPES.items()))


def table(rows: Sequence[dict[str, object]], name: str = "rows") -> duckdb.DuckDBPyConnection:
    """Return a connection with a table of these rows, NULL where a row says nothing, numbered by `n`."""
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    columns = ", ".join(f'"{column}" {SQL[kind]}' for column, kind in TYPES.items())
    connection.execute(f"CREATE TABLE {name} (n BIGINT, {columns})")
    arrays = [pa.array([row.get(column) for row in rows], ARROW[kind]) for column, kind in TYPES.items()]
    given = pa.table([pa.array(range(len(rows)), pa.int64()), *arrays], ["n", *TYPES])
    connection.register("given", given)
    connection.execute(f"INSERT INTO {name} FROM given")
    return connection


def evaluate(text: str, *rows: dict[str, object]) -> list[object]:
    """Return the value of the expression on each row; demand that its type is the one declared."""
    expression = parse_value(text, SCHEMA, argument="derive")
    sql = expression.tree.sql(dialect="duckdb")
    with table(rows or [{}]) as connection:
        found = connection.execute(f"SELECT {sql}, typeof({sql}) FROM rows ORDER BY n").fetchall()
    assert {kind for _, kind in found} == {SQL[expression.type]}
    return [value for value, _ in found]


def one(text: str, **row: object) -> object:
    """Return the value of the expression on one row."""
    [value] = evaluate(text, row)
    return value
