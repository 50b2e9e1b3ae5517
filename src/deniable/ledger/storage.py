"""Where the entries are kept: an SQLite file, or a Postgres database by URL. SQLAlchemy Core, no ORM.

Guarantee: entries are appended one writer at a time, and once `writing` has ended without an error the entry
survives a crash of the process and of the machine (as far as the disk does not lie).

| what                     | SQLite                                   | Postgres                            |
|--------------------------|------------------------------------------|-------------------------------------|
| one writer at a time     | BEGIN IMMEDIATE                          | the one budget row, FOR UPDATE      |
| two writers all the same | `number` is the primary key: the second one fails, nothing is granted twice   ||
| on the disk              | synchronous=EXTRA: the folder, too       | synchronous_commit=on               |
| only ever appended       | triggers that refuse update and delete, and numbers out of order              ||

synchronous=EXTRA, not FULL: with FULL a power cut right after a commit can bring the journal back, and the
state before with it. Connections are opened for each step, so that a fork never shares one.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError

from deniable.errors import ParameterError
from deniable.exact import at_least_zero
from deniable.ledger.chain import Row
from deniable.ledger.postgres import Postgres
from deniable.ledger.sqlite import SQLite

_MOST_PATIENCE = 1_000_000
_PLACES = "Give a file name, or a URL like 'postgresql://user@host/database'."


class Storage(Protocol):
    """A place for one ledger. `label` names it in messages and never holds a password."""

    label: str

    def create(self, first: Row) -> None:
        """Make the tables and write entry 0, or leave nothing behind."""

    def reading(self) -> AbstractContextManager[sql.Connection]:
        """Enter a transaction that sees one state and changes nothing."""

    def writing(self) -> AbstractContextManager[sql.Connection]:
        """Enter a transaction that no other writer is in; it is committed at the end, or undone."""


def locate(place: str | os.PathLike[str], *, patience: float) -> Storage:
    """Return the storage that a path or URL names, without touching it.

    Args:    patience: seconds to wait while another process writes.
    Raises:  ParameterError: a kind of database that keeps no ledgers, or Postgres without its driver.
    """
    name, patience = place_name(place, "path_or_url"), _seconds(patience)
    if "://" not in name:
        return _file(name, patience)
    try:
        url = sql.make_url(name)
    except (ArgumentError, ValueError):
        raise ParameterError("path_or_url", "...", "is not a database URL", _PLACES) from None
    if url.get_backend_name() == "sqlite" and url.database:
        return _file(url.database, patience)
    if url.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return Postgres(url.set(drivername="postgresql+psycopg"), patience)
    raise ParameterError("path_or_url", url.drivername, "names a database that keeps no ledgers", _PLACES)


def place_name(place: object, argument: str) -> str:
    """Return the path or URL as text; ParameterError if it is neither, or holds a NUL."""
    name = place if isinstance(place, str) else os.fspath(place) if isinstance(place, os.PathLike) else None
    if not isinstance(name, str) or "\0" in name:
        raise ParameterError(argument, place, "must name a file", _PLACES)
    return name


def _seconds(patience: object) -> float:
    fix = f"Give seconds, from 0 to {_MOST_PATIENCE:,}."
    if isinstance(patience, str):
        raise ParameterError("patience", patience, "must be a number", fix)
    seconds = at_least_zero(patience, "patience")
    if not seconds <= _MOST_PATIENCE:
        raise ParameterError("patience", patience, "is too long", fix)
    return float(seconds)


def _file(name: str, patience: float) -> SQLite:
    if not name or name == ":memory:":
        raise ParameterError("path_or_url", name, "is no file that lasts", _PLACES)
    return SQLite(Path(name), patience)
