"""The two tables of a ledger and the few statements on them: SQLAlchemy Core, no ORM."""

from __future__ import annotations

import sqlalchemy as sql

from deniable.ledger.chain import FORMAT, Row

METADATA = sql.MetaData()
BUDGET = sql.Table(
    "deniable_ledger",
    METADATA,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("format", sql.Integer, nullable=False),
)
ENTRIES = sql.Table(
    "deniable_entries",
    METADATA,
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("settles", sql.Integer, unique=True),
    sql.Column("body", sql.Text, nullable=False),
    sql.Column("hash", sql.Text, nullable=False),
)


def create_tables(connection: sql.Connection, guards: tuple[str, ...], first: Row) -> None:
    """Make both tables, their guards and entry 0, in the transaction of the connection."""
    METADATA.create_all(connection, checkfirst=False)
    for guard in guards:
        connection.exec_driver_sql(guard)
    connection.execute(sql.insert(BUDGET).values(id=1, format=FORMAT))
    append(connection, first)


def append(connection: sql.Connection, row: Row) -> None:
    """Write one row; the primary key refuses a number that is taken."""
    values = {"number": row.number, "settles": row.settles, "body": row.body, "hash": row.hash}
    connection.execute(sql.insert(ENTRIES).values(values))


def formats(connection: sql.Connection) -> list[int]:
    """Return the format of the ledger, in a list that has one member if all is well."""
    return list(connection.execute(sql.select(BUDGET.c.format)).scalars())


def rows(connection: sql.Connection, *where: sql.ColumnElement[bool]) -> list[Row]:
    """Return the rows by number, unchecked."""
    chosen = sql.select(ENTRIES).where(*where).order_by(ENTRIES.c.number)
    return [Row(*row) for row in connection.execute(chosen)]


def last(connection: sql.Connection) -> list[Row]:
    """Return the row with the highest number, or nothing."""
    chosen = sql.select(ENTRIES).order_by(ENTRIES.c.number.desc()).limit(1)
    return [Row(*row) for row in connection.execute(chosen)]


def at(connection: sql.Connection, number: int) -> list[Row]:
    """Return the row with that number, or nothing."""
    return rows(connection, ENTRIES.c.number == number)


def settling(connection: sql.Connection, number: int) -> list[Row]:
    """Return the row that settles that reservation, or nothing."""
    return rows(connection, ENTRIES.c.settles == number)
