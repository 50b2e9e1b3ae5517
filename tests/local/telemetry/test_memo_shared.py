"""One memo with several protocols, processes and threads; broken memos; nothing counts less than is kept."""

from __future__ import annotations

import copy
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from deniable.errors import ParameterError
from deniable.local.telemetry import RAPPOR, DictStorage, Memo, MemoClient, OneBitMean, SQLiteStorage

ANSWERS = RAPPOR(epsilon=4, bits=64, coins=(0, 1))
NUMBERS = OneBitMean(epsilon=1, bounds=(0, 24))


def opened(storage: SQLiteStorage | DictStorage, owner: str = "7") -> MemoClient:
    return ANSWERS.client(Memo(storage, owner=owner))


def spoilt(path: Path, *commands: str) -> None:
    connection = sqlite3.connect(path)
    for command in commands:
        connection.execute(command)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("file", [True, False])
def test_two_protocols_and_two_owners_live_in_one_memo(tmp_path: Path, file: bool) -> None:
    storage = SQLiteStorage(tmp_path / "memo") if file else DictStorage()
    told, numbers, others = set(), set(), set()
    for _ in range(10):
        told.add(opened(storage).report("x"))
        numbers.add(NUMBERS.client(Memo(storage, owner="7")).report(8))
        others.add(opened(storage, owner="8").report("x"))
    assert len(told) == len(numbers) == len(others) == 1
    assert told != others
    assert opened(storage).spent.times == NUMBERS.client(Memo(storage, owner="7")).spent.times == 1
    assert (opened(storage).memo.gone, opened(storage, owner="8").memo.gone) == (0, 1)
    assert opened(storage).memo.beside == 1


def test_one_memo_object_serves_two_protocols() -> None:
    memo = Memo()
    told, numbers = ANSWERS.client(memo), NUMBERS.client(memo)
    first = told.report("x")
    for _ in range(5):
        numbers.report(8)
        assert told.report("x") == first
    assert told.spent.times == numbers.spent.times == 1


BREAKING = {
    "renamed column": ("ALTER TABLE memo RENAME COLUMN value TO other",),
    "view": ("ALTER TABLE memo RENAME TO old", "CREATE VIEW memo AS SELECT * FROM old"),
    "no table": ("DROP TABLE memo",),
    "no version": ("PRAGMA user_version = 0",),
}


@pytest.mark.parametrize("name", BREAKING)
def test_a_broken_memo_is_given_up_once_and_counted(tmp_path: Path, name: str) -> None:
    storage = SQLiteStorage(tmp_path / "memo")
    opened(storage).report("x")
    spoilt(storage.path, *BREAKING[name])
    opened(storage).report("y")
    assert len({opened(storage).report("y") for _ in range(4)}) == 1
    assert len({opened(storage).report("x") for _ in range(4)}) == 1
    assert opened(storage).memo.gone == 1


@pytest.mark.parametrize("left", [0, 1, 40, 5000])
def test_a_memo_that_was_cut_is_told_as_gone(tmp_path: Path, left: int) -> None:
    storage = SQLiteStorage(tmp_path / "memo")
    opened(storage).report("x")
    os.truncate(storage.path, left)
    assert len({opened(storage).report("x") for _ in range(4)}) == 1
    assert opened(storage).memo.gone == 1


def test_a_version_of_the_file_that_nobody_reads_is_given_up(tmp_path: Path) -> None:
    storage = SQLiteStorage(tmp_path / "memo")
    opened(storage).report("x")
    data = bytearray(storage.path.read_bytes())
    data[47] = 9
    storage.path.write_bytes(data)
    assert len({opened(storage).report("x") for _ in range(4)}) == 1
    assert opened(storage).memo.gone == 1


def test_text_that_is_none_is_damage_that_heals(tmp_path: Path) -> None:
    storage = SQLiteStorage(tmp_path / "memo")
    opened(storage).report("x")
    spoilt(storage.path, "UPDATE memo SET value = CAST(x'fffe' AS TEXT)")
    assert len({opened(storage).report("x") for _ in range(4)}) == 1
    assert opened(storage).spent.times >= 2
    assert opened(storage).memo.damaged


def test_memos_that_are_gone_add_up_over_processes(tmp_path: Path) -> None:
    storage = SQLiteStorage(tmp_path / "memo")
    opened(storage, owner="before")
    opened(storage)
    assert opened(storage).memo.gone == 1
    client = opened(storage)
    client.report("x")
    for times in (1, 2):
        storage.path.write_bytes(b"broken" * times)
        client.report("x")
    assert client.memo.gone == opened(storage).memo.gone == 3
    assert opened(storage).statement == opened(storage).statement


def test_a_memo_that_is_locked_is_not_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = SQLiteStorage(tmp_path / "memo")
    first = opened(storage).report("x")
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, **more: connect(path, **(more | {"timeout": 0})))
    other = connect(storage.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    client = opened(storage)
    assert client.report("x") != first
    assert not client.memo.saved
    other.execute("ROLLBACK")
    other.close()
    assert opened(storage).report("x") == first
    assert opened(storage).memo.gone == 0


@pytest.mark.parametrize("place", range(3))
def test_whatever_row_is_damaged_spent_is_at_least_the_answers_that_are_kept(
    tmp_path: Path, place: int
) -> None:
    storage = SQLiteStorage(tmp_path / "memo")
    client = opened(storage)
    for number in range(5):
        client.report(f"text {number}")
    spoilt(
        storage.path,
        f"UPDATE memo SET value = x'00' WHERE rowid = (SELECT rowid FROM memo LIMIT 1 OFFSET {place})",
    )
    assert opened(storage).spent.times >= 5


DRAWING = """
import sys
from deniable.local.telemetry import RAPPOR, Memo, SQLiteStorage
client = RAPPOR(epsilon=4, bits=64, coins=(0, 1)).client(Memo(SQLiteStorage(sys.argv[1]), owner="7"))
for number in range(12):
    print(client.report(f"{sys.argv[2]} {number}").hex())
    print(client.report(f"shared {number}").hex())
assert client.memo.saved
"""


def test_processes_that_draw_together_count_every_answer(tmp_path: Path) -> None:
    path = tmp_path / "memo"
    started = [
        subprocess.Popen([sys.executable, "-c", DRAWING, str(path), name], stdout=subprocess.PIPE)
        for name in ("a", "b", "c")
    ]
    found = [one.communicate()[0].split() for one in started]
    assert [one.returncode for one in started] == [0, 0, 0]
    assert len({report for reports in found for report in reports}) == 4 * 12
    client = opened(SQLiteStorage(path))
    assert client.spent.times == 4 * 12
    assert client.memo.gone == 0
    assert [one.name for one in tmp_path.iterdir()] == ["memo"]


@pytest.mark.parametrize("file", [True, False])
def test_threads_that_draw_together_count_every_answer(tmp_path: Path, file: bool) -> None:
    client = opened(SQLiteStorage(tmp_path / "memo") if file else DictStorage())
    found: set[bytes] = set()

    def report(name: int) -> None:
        for number in range(10):
            found.update((client.report(f"{name} {number}"), client.report(f"shared {number}")))

    threads = [threading.Thread(target=report, args=(name,)) for name in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == client.spent.times == 40


def test_a_memo_that_others_could_read_is_made_private(tmp_path: Path) -> None:
    path = tmp_path / "memo"
    opened(SQLiteStorage(path)).report("x")
    path.chmod(0o644)
    opened(SQLiteStorage(path))
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_clients_and_memos_cannot_be_copied(copied: object) -> None:
    assert callable(copied)
    for one in (ANSWERS.client(), Memo()):
        with pytest.raises(TypeError, match="would draw answers apart"):
            copied(one)


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_a_path_that_names_no_file_is_refused(path: str) -> None:
    with pytest.raises(ParameterError, match="cannot name a file"):
        SQLiteStorage(path)


def test_a_memo_with_the_name_of_a_database_in_memory_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = opened(SQLiteStorage(":memory:")).report("x")
    assert opened(SQLiteStorage(":memory:")).report("x") == first


def test_a_memo_does_not_show_values_to_who_does_not_know_the_owner() -> None:
    storages = DictStorage(), DictStorage()
    for storage, owner in zip(storages, ("7", "8"), strict=True):
        opened(storage, owner).report("x")
    names = [{key[-16:] for key in storage if key[:1] in b"ak"} for storage in storages]
    assert not names[0] & names[1]
