"""Entries that were edited, replaced, moved, removed or rolled back, and what is said of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import pytest

from deniable.errors import LedgerError, ParameterError
from deniable.events import PureDP
from deniable.ledger import Ledger
from deniable.ledger.chain import BEGINNING, Row, canonical, digest, parse_head, problems, read
from deniable.ledger.filters import Rule, Spending

LIMIT = Spending(rule=Rule.BASIC, amount=Fraction(1), delta=Fraction(0))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Row, ...]:
    """Seven entries: a budget of 1, three times a fifth, each committed."""
    ledger = Ledger.create(tmp_path_factory.mktemp("chain") / "a", epsilon=1, unit="person")
    for number in range(3):
        ledger.commit(ledger.reserve([PureDP(epsilon="0.2")], purpose=f"report {number}"))
    return tuple(entry.row for entry in ledger.entries())


@pytest.fixture
def rows(written: tuple[Row, ...]) -> list[Row]:
    """A copy to damage."""
    return list(written)


def renewed(row: Row, **changes: object) -> Row:
    """The row with fields of its body changed, and its hash made to fit."""
    body = canonical({**json.loads(row.body), **changes})
    return Row(row.number, row.settles, body, digest(body))


def chained(rows: list[Row]) -> list[Row]:
    """The rows with every link renewed: what a forger with time would do."""
    made: list[Row] = []
    for row in rows:
        previous = made[-1].hash if made else BEGINNING
        made.append(renewed(row, previous=previous))
    return made


def heads(rows: list[Row]) -> list[str]:
    return [f"{row.number}:{row.hash}" for row in rows]


def test_sound_rows_have_no_problem_and_bear_all_their_heads(rows: list[Row]) -> None:
    assert problems(rows, LIMIT, heads(rows)) == []


def test_the_hash_is_sha_256_of_the_body_and_links_to_the_entry_before(rows: list[Row]) -> None:
    import hashlib

    for before, row in pairwise(rows):
        assert row.hash == hashlib.sha256(row.body.encode()).hexdigest()
        assert json.loads(row.body)["previous"] == before.hash
        assert row.body == json.dumps(json.loads(row.body), sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize("number", range(7))
def test_an_edited_entry_is_named(rows: list[Row], number: int) -> None:
    row = rows[number]
    rows[number] = Row(row.number, row.settles, row.body.replace("+00:00", "+00:01"), row.hash)
    assert problems(rows, LIMIT) == [f"entry {number} was edited: its hash does not fit it"]


@pytest.mark.parametrize("number", range(6))
def test_an_entry_with_a_renewed_hash_is_named(rows: list[Row], number: int) -> None:
    rows[number] = renewed(rows[number], time="2000-01-01T00:00:00+00:00")
    found = problems(rows, LIMIT)
    assert found == [f"entry {number} was replaced: entry {number + 1} follows another one"]


def test_a_forged_chain_is_found_by_any_published_head_at_or_after_the_forgery(rows: list[Row]) -> None:
    forged = chained([*rows[:3], renewed(rows[3], purpose="something else"), *rows[4:]])
    assert problems(forged, LIMIT) == []
    assert problems(forged, LIMIT, heads(rows[:3])) == []
    for row in rows[3:]:
        assert problems(forged, LIMIT, heads([row])) == [
            f"entry {row.number} is not the one of a published release: rewritten there or before"
        ]


@pytest.mark.parametrize("number", range(7))
def test_a_missing_entry_is_named(rows: list[Row], number: int) -> None:
    kept = rows[:number] + rows[number + 1 :]
    found = problems(kept, LIMIT, heads(rows))
    assert f"entry {number} is missing" in found[0]
    assert all(f"entry {number} " in problem for problem in found)


def test_a_file_that_was_rolled_back_is_found_by_a_published_head(rows: list[Row]) -> None:
    assert problems(rows[:4], LIMIT) == []
    assert problems(rows[:4], LIMIT, heads(rows[:3])) == []
    assert problems(rows[:4], LIMIT, heads(rows[6:])) == [
        "entries 4 to 6 are missing: a release was published with entry 6"
    ]


def test_swapped_entries_are_named(rows: list[Row]) -> None:
    first, second = rows[1], rows[3]
    rows[1] = Row(1, first.settles, second.body, second.hash)
    rows[3] = Row(3, second.settles, first.body, first.hash)
    assert problems(rows, LIMIT)[:2] == [
        "entry 1 holds entry 3: entries were moved",
        "entry 3 holds entry 1: entries were moved",
    ]


def test_no_rows_at_all_are_a_missing_beginning() -> None:
    assert problems([], LIMIT) == ["entry 0 is missing"]


def test_totals_are_recomputed(rows: list[Row]) -> None:
    less = {"amount": "1/10", "delta": "0"}
    forged = chained([*rows[:5], renewed(rows[5], spent=less), renewed(rows[6], spent=less)])
    assert problems(forged, LIMIT) == ["entry 5 has a wrong total"]
    small = Spending(rule=Rule.BASIC, amount=Fraction(1, 2), delta=Fraction(0))
    assert "entry 5 spends more than the budget" in problems(rows, small)


def test_nothing_is_settled_twice_or_without_a_reservation(rows: list[Row]) -> None:
    def settling(row: Row, number: int) -> Row:
        changed = renewed(row, settles=number)
        return Row(changed.number, number, changed.body, changed.hash)

    twice = chained([*rows[:4], settling(rows[4], 1), *rows[5:]])
    twice = [Row(row.number, json.loads(row.body).get("settles"), row.body, row.hash) for row in twice]
    assert problems(twice, LIMIT) == ["entry 4 settles entry 1 a second time"]
    early = chained([*rows[:2], settling(rows[2], 3), *rows[3:4]])
    early = [Row(row.number, json.loads(row.body).get("settles"), row.body, row.hash) for row in early]
    assert problems(early, LIMIT) == ["entry 2 settles entry 3, which is no reservation before it"]
    column = [*rows[:2], Row(2, 5, rows[2].body, rows[2].hash), *rows[3:]]
    assert problems(column, LIMIT) == ["entry 2 was edited: it settles another reservation than its row says"]


def test_the_data_set_and_the_beginning_cannot_be_changed(rows: list[Row]) -> None:
    moved = chained([*rows[:3], *(renewed(row, data="other.csv") for row in rows[3:])])
    assert problems(moved, LIMIT) == ["entry 3 changes the data set"]
    assert problems([renewed(rows[0], previous="1" * 64)], LIMIT) == ["entry 0 does not begin a ledger"]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"number":1}',
        "[" * 100_000,
        '{"number":NaN}',
        "\ud800",
    ],
    ids=lambda body: body[:12].encode("unicode-escape").decode(),
)
def test_a_body_that_is_no_entry_is_damage_not_a_crash(body: str) -> None:
    with pytest.raises(ValueError, match="cannot be read|was edited"):
        read(Row(1, None, body, digest(body)))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "refund"),
        ("spent", {"amount": "-1", "delta": "0"}),
        ("spent", {"amount": "1e999999999", "delta": "0"}),
        ("spent", {"amount": 0.5, "delta": "0"}),
        ("spent", {"amount": "1/0", "delta": "0"}),
        ("charge", {"amount": "2/10", "delta": "0"}),
        ("rule", "none"),
        ("time", 7),
        ("number", True),
        ("events", [{"event": "refund", "version": 1}]),
        ("extra", "field"),
    ],
)
def test_a_field_that_was_never_written_is_damage(rows: list[Row], field: str, value: object) -> None:
    with pytest.raises(ValueError, match="cannot be read|was edited"):
        read(renewed(rows[1], **{field: value}))


@pytest.mark.parametrize("head", ["", "7", "7:abc", "-1:" + "0" * 64, "1:" + "G" * 64, None, 7])
def test_text_that_is_no_head_is_refused(head: object) -> None:
    with pytest.raises(ParameterError, match="release.json"):
        parse_head(head)


def test_verify_raises_with_every_problem(
    sqlite: Callable[[str], str], postgres: Callable[[str], str]
) -> None:
    for place in (sqlite("a"), postgres("a")):
        ledger = Ledger.create(place, epsilon=1, unit="person")
        early = ledger.reserve([PureDP(epsilon="0.2")])
        assert ledger.verify(heads=[early.head]) == 2
        wrong = ["1:" + "0" * 64, "5:" + "0" * 64]
        with pytest.raises(LedgerError, match="entry 1 is not the one") as raised:
            ledger.verify(heads=wrong)
        assert len(raised.value.problems) == 2
