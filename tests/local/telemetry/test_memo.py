"""The memo of a device: kept, lost, copied, damaged, unreadable, unwritable."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from deniable.errors import ParameterError
from deniable.guarantees import PureDP
from deniable.local.telemetry import RAPPOR, DictStorage, Memo, MemoClient, OneBitMean, SQLiteStorage

ANSWERS = RAPPOR(epsilon=2, bits=64, coins=(0, 1))
"""Reports are the permanent answers themselves: 64 bits, so two drawn apart never coincide by chance."""


def opened(path: Path, owner: str = "me", earlier: int = 0) -> MemoClient:
    return ANSWERS.client(Memo(SQLiteStorage(path), owner=owner, earlier=earlier))


def test_one_value_has_one_answer_in_every_session(tmp_path: Path) -> None:
    path = tmp_path / "memo"
    first = opened(path).report("blue")
    assert [opened(path).report("blue") for _ in range(3)] == [first] * 3
    assert opened(path).report("red") != first
    assert opened(path).report("blue") == first
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_was_spent_is_once_for_each_value(tmp_path: Path) -> None:
    client = opened(tmp_path / "memo")
    assert client.spent.times == 0
    for value in ("blue", "blue", "red", "blue", None, 2.5, "", "red"):
        client.report(value)
    assert client.spent.event == PureDP(epsilon=2)
    assert opened(tmp_path / "memo").spent.times == 3, "None, 2.5 and the empty text are one value"
    assert "3 permanent answers" in client.statement


def test_a_lost_memo_is_a_new_answer_and_earlier_ones_can_be_counted(tmp_path: Path) -> None:
    path = tmp_path / "memo"
    first = opened(path).report("blue")
    path.unlink()
    again = opened(path, earlier=1)
    assert again.report("blue") != first
    assert again.spent.times == 2
    assert again.memo.gone == 0, "a file that is not there cannot tell that it was"


def test_two_answers_about_one_value_cost_twice_exactly() -> None:
    small = RAPPOR(epsilon=2, bits=8, hashes=1, cohorts=1)
    one, two = (small.answers(value) for value in small.inputs())
    once = max(one[answer] / two[answer] for answer in one)
    twice = max(one[a] * one[b] / (two[a] * two[b]) for a in one for b in one)
    assert twice == once**2


def test_a_copy_on_another_device_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "memo"
    original = opened(path, owner="me").report("blue")
    copied = opened(path, owner="you")
    assert copied.report("blue") != original
    assert copied.memo.gone == 1
    assert "another's" in copied.statement
    assert opened(path, owner="you").memo.gone == 1, "it is remembered"
    assert opened(path, owner="you").report("blue") == copied.report("blue")


def test_answers_of_other_parameters_are_not_used_but_told(tmp_path: Path) -> None:
    path = tmp_path / "memo"
    first = opened(path).report("blue")
    other = RAPPOR(epsilon=3, bits=64, coins=(0, 1)).client(Memo(SQLiteStorage(path), owner="me"))
    assert other.report("blue")[9:] != first[9:]
    assert other.spent.times == 1
    assert "with other parameters, add to that: 1" in " ".join(other.statement.split())


def test_an_unreadable_memo_is_given_up_and_a_report_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "memo"
    size = len(opened(path).report("blue"))
    path.write_bytes(b"no database at all" * 100)
    client = opened(path)
    first = client.report("blue")
    assert len(first) == size
    assert opened(path).report("blue") == first
    assert client.memo.gone == 1
    assert "unreadable" in client.statement


def test_a_memo_that_breaks_while_in_use_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "memo"
    client = opened(path)
    client.report("blue")
    path.write_bytes(b"broken")
    second = client.report("blue")
    assert client.report("blue") == second
    assert client.memo.gone == 1


def test_a_damaged_entry_is_drawn_again_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "memo"
    client = opened(path)
    client.report("blue")
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT key, value FROM memo").fetchall()
        answer = next((key, value) for key, value in rows if len(value) == 8 + 8 and any(value[:8]))
        connection.execute("UPDATE memo SET value = ? WHERE key = ?", (bytes(16), answer[0]))
    connection.close()
    again = client.report("blue")
    assert client.report("blue") == again
    assert client.memo.damaged
    assert client.spent.times >= 2
    assert "damaged" in client.statement


@pytest.mark.parametrize("value", [b"", b"short", "text", 7, None])
def test_an_entry_of_any_other_kind_is_damage(tmp_path: Path, value: object) -> None:
    path = tmp_path / "memo"
    client = opened(path)
    client.report("blue")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE memo SET value = ?", (value,))
    connection.close()
    assert opened(path).report("blue") == opened(path).report("blue")


def test_where_nothing_can_be_written_answers_last_as_long_as_the_process(tmp_path: Path) -> None:
    client = opened(tmp_path / "no such folder" / "memo")
    first = client.report("blue")
    assert client.report("blue") == first
    assert not client.memo.saved
    assert client.spent.times == 1
    assert "answers are forgotten when this process ends" in " ".join(client.statement.split())


def test_answers_drawn_while_the_memo_was_out_of_reach_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "memo"
    path.parent.mkdir()
    client = opened(path)
    first = client.report("blue")
    path.parent.rename(tmp_path / "elsewhere")
    assert client.report("blue") != first
    (tmp_path / "elsewhere").rename(path.parent)
    assert client.report("blue") == first
    client.report("red")
    path.parent.rename(tmp_path / "elsewhere")
    client.report("green")
    (tmp_path / "elsewhere").rename(path.parent)
    client.report("green")
    assert client.spent.times == 5, "blue and green twice, red once"


def test_racing_clients_of_one_device_agree(tmp_path: Path) -> None:
    path, found = tmp_path / "memo", []
    opened(path)

    def report() -> None:
        found.append(opened(path).report("blue"))

    threads = [threading.Thread(target=report) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_a_storage_of_ones_own_is_used() -> None:
    storage = DictStorage()
    first = ANSWERS.client(Memo(storage, owner="me")).report("blue")
    assert ANSWERS.client(Memo(storage, owner="me")).report("blue") == first
    assert all(b"blue" not in key and b"blue" not in value for key, value in storage.items())


def test_earlier_must_be_a_count() -> None:
    with pytest.raises(ParameterError):
        Memo(earlier=-1)


def test_a_number_that_moves_in_one_segment_has_at_most_two_answers() -> None:
    protocol = OneBitMean(epsilon=1, bounds=(0, 10), segments=2)
    for _ in range(20):
        client = protocol.client()
        reports = {client.report(value / 5)[9] for value in range(25)}
        assert client.spent.times in (1, 2)
        assert len(reports) <= client.spent.times
        for value in range(51):
            client.report(value / 5)
        assert client.spent.times <= protocol.most_answers == 3
        assert client.spent.event == PureDP(epsilon=1)
