"""A ledger in one SQLite file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sql
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from deniable.errors import LedgerError
from deniable.ledger.chain import Row
from deniable.ledger.tables import create_tables

_GUARDS = (
    *(
        f"CREATE TRIGGER {table}_no_{action} BEFORE {action} ON {table} "
        "BEGIN SELECT RAISE(ABORT, 'a ledger is only ever appended to'); END"
        for table in ("deniable_ledger", "deniable_entries")
        for action in ("update", "delete")
    ),
    "CREATE TRIGGER deniable_entries_in_order BEFORE INSERT ON deniable_entries "
    "WHEN NEW.number <> (SELECT coalesce(max(number), -1) + 1 FROM deniable_entries) "
    "BEGIN SELECT RAISE(ABORT, 'a ledger is only ever appended to'); END",
)


class SQLite:
    """One file, mode 0600."""

    def __init__(self, path: Path, patience: float) -> None:
        self.label = str(path)
        self._path = path.absolute()
        self._patience = patience
        self._engine = sql.create_engine("sqlite://", creator=self._connect, poolclass=NullPool)
        sql.event.listen(self._engine, "begin", _begin)

    def _connect(self) -> sqlite3.Connection:
        uri = f"file:{quote(str(self._path))}?mode=rw"
        connection = sqlite3.connect(uri, uri=True, timeout=self._patience, isolation_level=None)
        connection.text_factory = _lenient
        connection.execute("PRAGMA synchronous=EXTRA")
        return connection

    def create(self, first: Row) -> None:
        """Make the file; a process that is killed meanwhile leaves an empty one, which `open` refuses."""
        try:
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            fix = "Use Ledger.open, or another name: a ledger is never overwritten."
            raise LedgerError(f"'{self.label}' exists already. {fix}") from None
        except OSError as error:
            raise LedgerError(f"'{self.label}' cannot be created: {error.strerror}.") from None
        try:
            with self.writing() as connection:
                create_tables(connection, _GUARDS, first)
        except BaseException:
            with suppress(OSError):
                self._path.unlink()
            raise

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """See `Storage.reading`."""
        with self._explained(), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sql.Connection]:
        """See `Storage.writing`."""
        with self._explained(), self._engine.connect() as connection:
            connection = connection.execution_options(deniable_writes=True)
            with connection.begin():
                yield connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        if not os.path.isfile(self._path):
            what = "is a folder" if os.path.isdir(self._path) else "does not exist"
            raise LedgerError(f"'{self.label}' {what}. Make a ledger with Ledger.create.")
        try:
            yield
        except DBAPIError as error:
            name = str(getattr(error.orig, "sqlite_errorname", ""))
            raise LedgerError(f"'{self.label}' {_reason(name, self._patience)}") from error


def _begin(connection: sql.Connection) -> None:
    """Start the transaction by hand: the driver's own BEGIN takes no lock until the first write."""
    writes = connection.get_execution_options().get("deniable_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _lenient(data: bytes) -> str:
    """Read damaged text all the same: its hash will not fit, which says where the damage is."""
    return data.decode("utf-8", "replace")


def _reason(name: str, patience: float) -> str:
    match "_".join(name.split("_")[:2]):
        case "SQLITE_BUSY" | "SQLITE_LOCKED":
            return f"is locked by another process; waited {patience:g} s. Nothing was spent. Try again."
        case "SQLITE_READONLY" | "SQLITE_PERM" | "SQLITE_AUTH":
            return "cannot be written: the file or its folder is read-only. Nothing was spent."
        case "SQLITE_FULL":
            return "cannot be written: the disk is full. Nothing was spent."
        case "SQLITE_IOERR":
            return "cannot be read or written: the disk refused. Nothing was spent."
        case "SQLITE_CANTOPEN":
            return "cannot be opened: check that you may read it and write in its folder."
        case "SQLITE_NOTADB" | "SQLITE_ERROR":
            return "is not a ledger. Make one with Ledger.create."
        case "SQLITE_CORRUPT":
            return "is damaged. Restore a copy, then run verify with the heads of your releases."
        case "SQLITE_CONSTRAINT":
            return "refused the entry: a ledger is only ever appended to. Nothing was spent."
        case _:
            return f"cannot be used ({name or 'no reason given'}). Nothing was spent."
