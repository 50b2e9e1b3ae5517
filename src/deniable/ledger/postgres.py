"""A ledger in a Postgres schema."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sql
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from deniable.errors import LedgerError, ParameterError
from deniable.ledger.chain import Row
from deniable.ledger.tables import BUDGET, create_tables

_GUARDS = (
    "CREATE FUNCTION deniable_refuse() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'a ledger is only ever appended to'; END $$",
    *(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION deniable_refuse()"
        for table in ("deniable_ledger", "deniable_entries")
    ),
)


class Postgres:
    """The first schema on the search path of a database; `?options=-csearch_path%3Dname` picks one."""

    def __init__(self, url: sql.URL, patience: float) -> None:
        self.label = url.set(password=None, query={}).render_as_string()
        self._patience = patience
        try:
            self._engine = sql.create_engine(url, isolation_level="READ COMMITTED", poolclass=NullPool)
        except ModuleNotFoundError:
            fix = "Install it: pip install 'deniable[postgres]'."
            raise ParameterError("path_or_url", self.label, "needs a driver for Postgres", fix) from None

    def create(self, first: Row) -> None:
        """Make the tables in one transaction."""
        with self._explained(), self._engine.begin() as connection:
            _durable(connection, self._patience)
            create_tables(connection, _GUARDS, first)

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """See `Storage.reading`."""
        with self._explained(), self._engine.connect() as connection:
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[sql.Connection]:
        """See `Storage.writing`: whoever holds the budget row is the one writer."""
        with self._explained(), self._engine.begin() as connection:
            _durable(connection, self._patience)
            connection.execute(sql.select(BUDGET.c.id).with_for_update())
            yield connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            state = str(getattr(error.orig, "sqlstate", None) or "")
            raise LedgerError(f"'{self.label}' {_reason(state, self._patience)}") from error


def _durable(connection: sql.Connection, patience: float) -> None:
    wait = max(1, round(patience * 1000))
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {wait}")
    connection.exec_driver_sql("SET LOCAL synchronous_commit = on")


def _reason(state: str, patience: float) -> str:
    match state:
        case "55P03":
            return f"is locked by another process; waited {patience:g} s. Nothing was spent. Try again."
        case "25006" | "42501":
            return "cannot be written: this user or server may only read. Nothing was spent."
        case "53100":
            return "cannot be written: the server's disk is full. Nothing was spent."
        case "42P01":
            return "holds no ledger. Make one with Ledger.create."
        case "42P07" | "42723":
            return (
                "holds a ledger already. Use Ledger.open, or another schema: a ledger is never overwritten."
            )
        case "23505" | "P0001":
            return "refused the entry: a ledger is only ever appended to. Nothing was spent."
        case "":
            return "cannot be reached. Nothing was spent as far as this process knows: look at its history."
        case _:
            return f"cannot be used (SQLSTATE {state}). Nothing was spent."
