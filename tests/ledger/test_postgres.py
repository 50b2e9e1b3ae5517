"""What a database server can do to a ledger: clear words, and nothing lost."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from deniable.errors import LedgerError, ParameterError
from deniable.events import PureDP
from deniable.ledger import Ledger
from deniable.ledger.storage import locate

if TYPE_CHECKING:
    from psycopg import Connection

Place = Callable[[str], str]
FIFTH = [PureDP(epsilon="0.2")]


@contextmanager
def behind(url: str) -> Iterator[Connection]:
    """A connection of our own to the same schema."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def url(postgres: Place) -> str:
    """A ledger with a budget of 1 and one reservation of a fifth."""
    Ledger.create(postgres("a"), epsilon=1, unit="person").reserve(FIFTH, purpose="the first report")
    return postgres("a")


def test_rows_can_be_neither_changed_nor_removed(url: str) -> None:
    import psycopg

    with behind(url) as connection:
        for statement in (
            "UPDATE deniable_entries SET body = '' WHERE number = 1",
            "DELETE FROM deniable_entries",
            "TRUNCATE deniable_entries",
            "UPDATE deniable_ledger SET format = 2",
            "DELETE FROM deniable_ledger",
            "INSERT INTO deniable_entries VALUES (1, NULL, '', '') "
            "ON CONFLICT (number) DO UPDATE SET body = 'forged'",
        ):
            with pytest.raises(psycopg.Error, match="only ever appended"):
                connection.execute(statement.encode())
    assert Ledger.open(url).verify() == 2


def test_an_entry_edited_by_hand_is_found(url: str) -> None:
    Ledger.open(url).reserve(FIFTH)
    with behind(url) as connection:
        connection.execute("DROP TRIGGER deniable_entries_append_only ON deniable_entries")
        connection.execute(
            "UPDATE deniable_entries SET body = replace(body, 'first', 'worst') WHERE number = 1"
        )
    with pytest.raises(LedgerError, match="entry 1 was edited"):
        Ledger.open(url).verify()


def test_a_locked_budget_is_said_to_be_locked_and_nothing_is_lost(url: str) -> None:
    ledger = Ledger.open(url, patience=0.2)
    with behind(url) as connection, connection.transaction():
        connection.execute("SELECT * FROM deniable_ledger FOR UPDATE")
        with pytest.raises(LedgerError, match=r"locked by another process; waited 0.2 s. Nothing was spent"):
            ledger.reserve(FIFTH)
        assert str(ledger.spent) == "epsilon 0.2"
    ledger.reserve(FIFTH)
    assert ledger.verify() == 3


def test_every_commit_is_on_the_disk_even_where_the_server_is_set_otherwise(url: str) -> None:
    lax = url + "%20-csynchronous_commit%3Doff%20-cdefault_transaction_isolation%3Dserializable"
    with locate(lax, patience=1).writing() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
        assert connection.exec_driver_sql("SHOW transaction_isolation").scalar() == "read committed"


def test_a_database_without_a_ledger_is_said_to_hold_none(postgres: Place) -> None:
    with pytest.raises(LedgerError, match="holds no ledger"):
        Ledger.open(postgres("b"))


def test_a_ledger_that_may_only_be_read_can_be_read(url: str) -> None:
    reader = url + "%20-cdefault_transaction_read_only%3Don"
    ledger = Ledger.open(reader)
    assert str(ledger.remaining) == "epsilon 0.8"
    with pytest.raises(LedgerError, match="may only read. Nothing was spent"):
        ledger.reserve(FIFTH)


def test_a_server_that_is_not_there_is_said_to_be_out_of_reach_without_the_password(url: str) -> None:
    nowhere = "postgresql://deniable:hunter2@/postgres?host=/tmp/no-such-folder"
    with pytest.raises(LedgerError, match="cannot be reached") as raised:
        Ledger.open(nowhere)
    assert "hunter2" not in str(raised.value)
    assert "hunter2" not in repr(raised.value.__cause__)
    with pytest.raises(LedgerError, match="SQLSTATE|cannot be reached"):
        Ledger.open(url.replace("/postgres?", "/no_such_database?"))


def test_schemas_hold_ledgers_of_their_own(postgres: Place) -> None:
    first = Ledger.create(postgres("a"), epsilon=1, unit="person")
    second = Ledger.create(postgres("b"), epsilon=2, unit="visit")
    first.reserve(FIFTH)
    assert (str(second.spent), Ledger.open(postgres("b")).unit) == ("epsilon 0", "visit")


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ParameterError, match=r"deniable\[postgres\]"):
        Ledger.open("postgresql://deniable@/postgres")
