"""Bounds that are chosen privately: histograms against plain Python, neighbours, prices, fallbacks."""

from __future__ import annotations

import json
import math
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from colours import Row, bits, table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp

import deniable as dn
from deniable import accounting, events
from deniable.engines.duckdb import DuckDB
from deniable.errors import ParameterError
from deniable.guarantees import ApproxDP, PureDP
from deniable.query import automatic
from deniable.query.automatic import Choice, edges, ends_of
from deniable.query.charged import ONE
from deniable.query.question import Query
from deniable.query.review import review
from deniable.query.survey import ROW, protect
from deniable.query.tallies import tallies

NOISE = events.DiscreteLaplace(scale=30 * ONE, sensitivity=ONE)
GROUPS = Choice("max_groups", None, ends_of("max_groups", 10), NOISE)
ROWS = Choice("max_rows", None, ends_of("max_rows", 10), NOISE)
SPEND = Choice("bounds", "spend", tuple(map(Fraction, (-8, -1, 0, 1, 2, 100))), NOISE)


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(threads=2) as opened_engine:
        yield opened_engine


def counted(
    engine: DuckDB, rows: list[Row], unit: str | None = "person", keys: Any = None
) -> list[list[int]]:
    """The exact histograms of all three choices (of bounds alone, if each row is a unit)."""
    choices = [GROUPS, ROWS, SPEND] if unit else [SPEND]
    found = []
    sealed = tallies(
        engine,
        exp.select("person", "colour", "spend").from_(engine.view(table(rows))),
        choices,
        unit=unit,
        groups=["colour"],
        keys=keys,
        bits=bits(1),
    )
    for choice, exact in zip(choices, sealed, strict=True):
        counts = [0] * choice.size
        for batch in exact.batches():
            for place, number in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                counts[place] += number
        found.append(counts)
    return found


def classed(number: int, choice: Choice) -> int:
    return next((place for place, end in enumerate(choice.ends) if number <= end), choice.size - 1)


def leaf(value: float | None) -> int | None:
    if value is None or not math.isfinite(value) or not -8 <= value <= 100:
        return None
    return max(place for place, edge in enumerate(SPEND.ends[:-1]) if value >= edge)


def naive(rows: list[Row]) -> list[list[int]]:
    of: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        of[row[0]].append(row)
    groups, most, spend = [0] * GROUPS.size, [0] * ROWS.size, [0] * SPEND.size
    for held in of.values():
        colours = Counter(colour for _, colour, _ in held)
        groups[classed(len(colours), GROUPS)] += ONE
        most[classed(max(colours.values()), ROWS)] += ONE
        leaves = Counter(found for _, _, value in held if (found := leaf(value)) is not None)
        for place, count in leaves.items():
            spend[place] += ONE * count // sum(leaves.values())
    return [groups, most, spend]


PEOPLE = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.sampled_from(["red", "green", "blue", "", None]),
        st.sampled_from([0.0, -0.0, -1.0, 1.5, 99.0, 100.0, -9.0, 1e300, None, math.nan, math.inf]),
    ),
    max_size=30,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=PEOPLE)
def test_the_histograms_are_those_of_plain_python(engine: DuckDB, rows: list[Row]) -> None:
    assert counted(engine, rows) == naive(rows)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=PEOPLE)
def test_where_each_row_is_a_unit_each_has_one_value(engine: DuckDB, rows: list[Row]) -> None:
    expected = [0] * SPEND.size
    for _, _, value in rows:
        if (place := leaf(value)) is not None:
            expected[place] += ONE
    assert counted(engine, rows, unit=None) == [expected]


@pytest.mark.parametrize("values", [[0.5], [-8.0, -1.0, 0.0, 1.0, 2.0], [0.5, math.nan, None], [1e300]])
@pytest.mark.parametrize("groups", [1, 7, 200])
def test_a_unit_moves_each_histogram_by_at_most_one(engine: DuckDB, values: Any, groups: int) -> None:
    base: list[Row] = [(person, f"c{person % 3}", float(person)) for person in range(20)]
    heavy: list[Row] = [(99, f"c{i % groups}", values[i % len(values)]) for i in range(1500)]
    for before, after in zip(counted(engine, base), counted(engine, base + heavy), strict=True):
        moved = sum(abs(more - less) for more, less in zip(after, before, strict=True))
        assert moved <= NOISE.sensitivity
        assert moved == 0 or moved > ONE - 10


def test_groups_that_were_not_declared_are_not_looked_at(engine: DuckDB) -> None:
    rows: list[Row] = [(1, colour, 0.5) for colour in ("red", "red", "green", "blue", "blue", "blue")]
    groups, most, _ = counted(engine, rows, keys=pa.table({"colour": ["red", "green", "gold"]}))
    assert groups[classed(2, GROUPS)] == ONE
    assert most[classed(2, ROWS)] == ONE


def numbers(choice: Choice) -> list[float]:
    return [float(number) for number in choice.chosen or ()]


def settled(choice: Choice, *counts: int, width: int = 0) -> Choice:
    return choice.settled(np.array(counts, np.int64), width)


def test_so_many_are_chosen_that_ninety_five_of_a_hundred_are_within() -> None:
    choice = Choice("max_groups", None, tuple(map(Fraction, (1, 2, 4, 8))), NOISE)
    assert numbers(settled(choice, 94, 1, 5, 0)) == [2]
    assert numbers(settled(choice, 94, 0, 6, 0)) == [4]
    assert numbers(settled(choice, 0, 0, 0, 1)) == [8]
    assert numbers(settled(choice, 100, 4, -50, 3, width=5)) == [1]


def test_bounds_leave_a_fortieth_on_either_side() -> None:
    assert numbers(settled(SPEND, 0, 0, 100, 0, 0)) == [0, 1]
    assert numbers(settled(SPEND, 3, 0, 97, 0, 0)) == [-8, 1]
    assert numbers(settled(SPEND, 2, 0, 96, 0, 2)) == [0, 1]
    assert numbers(settled(SPEND, 0, 50, 0, 0, 50)) == [-1, 100]


@pytest.mark.parametrize("choice", [GROUPS, ROWS, SPEND])
def test_where_nothing_stands_out_public_numbers_are_taken(choice: Choice) -> None:
    nothing = choice.settled(np.full(choice.size, 7, np.int64), 7)
    assert nothing.chosen == choice.fallback
    assert not nothing.found
    assert str(nothing).startswith(choice.name)


def asked(rows: list[Row], **groups: Any) -> Query:
    return (
        protect(table(rows), unit="person", population=10_000)
        .group_by("colour", max_groups="auto", **groups)
        .aggregate(
            people=dn.units(),
            rows=dn.count(max_rows="auto"),
            total=dn.sum("spend", bounds="auto", max_rows="auto"),
            middle=dn.median("spend", bounds="auto", max_rows="auto"),
            fixed=dn.sum("spend", bounds=(0, 7), max_rows=2),
        )
    )


def three_each() -> list[Row]:
    """2,000 people with three colours, two rows of each, and values from 16 to 32."""
    return [
        (person, f"c{(person + step) % 5}", 16.5 + (person % 15))
        for person in range(2000)
        for step in range(3)
        for _ in range(2)
    ]


def test_bounds_that_fit_are_found_and_used() -> None:
    release = asked(three_each()).release(epsilon=200, delta="1e-8")
    chosen = {choice.name: numbers(choice) for choice in release.plan.choices}
    assert chosen == {"max_groups": [3], "max_rows": [2], "bounds of spend": [16, 32]}
    assert release.plan.price.contributions.max_groups == 3
    by_name = {output.name: output.aggregate for output in release.plan.outputs}
    assert by_name["total"].bounds == (Fraction(16), Fraction(32))
    assert by_name["middle"].max_rows == by_name["rows"].max_rows == 2
    assert by_name["fixed"].bounds == (Fraction(0), Fraction(7))
    assert by_name["fixed"].max_rows == 2
    assert release.table["people"].to_pylist() == pytest.approx([1200] * 5, abs=5)
    assert release.table["rows"].to_pylist() == pytest.approx([2400] * 5, abs=10)


DELTA = Fraction(1, 10**8)


def test_choices_and_columns_cost_what_was_asked_together_and_the_same_before_and_after() -> None:
    plan = asked([]).plan(epsilon=1, delta="1e-8")
    assert [choice.event for choice in plan.choices] == list(plan.events[:3])
    assert all(isinstance(event, events.DiscreteGaussian) for event in plan.events[:3])
    assert all(choice.event.sensitivity == ONE for choice in plan.choices)
    assert plan.guarantee == ApproxDP(epsilon=1, delta="1e-8")
    assert accounting.within(plan.events, epsilon=Fraction(1), delta=DELTA)
    assert not accounting.within(plan.events, epsilon=Fraction("0.99999"), delta=DELTA)
    release = asked(three_each()).plan(epsilon=1, delta="1e-8").release()
    assert (release.events, release.guarantee) == (plan.events, plan.guarantee)
    assert release.plan.choices[2].found
    done = (*release.plan.price.choices, *release.plan.price.done)
    assert accounting.within(done, epsilon=Fraction(1), delta=DELTA)


def test_every_class_has_noise_empty_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[int]] = []
    settle = Choice.settled

    def watched(choice: Choice, noisy: Any, width: int) -> Choice:
        seen.append(noisy.tolist())
        return settle(choice, noisy, width)

    monkeypatch.setattr(Choice, "settled", watched)
    asked([(1, "red", 1.0)]).release(epsilon=1, delta="1e-8")
    assert len(seen) == 3
    assert all(number % ONE for counts in seen for number in counts)


def test_with_declared_groups_and_laplace_noise_the_whole_is_pure() -> None:
    query = asked(three_each(), keys=[f"c{i}" for i in range(5)])
    plan = query.plan(epsilon=1)
    assert plan.guarantee == PureDP(epsilon=1)
    release = plan.release()
    assert release.guarantee == PureDP(epsilon=1)
    assert release.plan.noise == "laplace"
    assert all(isinstance(done, events.DiscreteLaplace | PureDP) for done in release.events)
    assert sum(done.epsilon for done in release.events if hasattr(done, "epsilon")) == 1
    done = (*release.plan.price.choices, *release.plan.price.done)
    assert accounting.within(done, epsilon=Fraction(1), delta=Fraction(0))


def test_a_ledger_is_charged_once_for_the_whole(tmp_path: Path) -> None:
    ledger = dn.Ledger.create(tmp_path / "l", epsilon=1, delta="1e-8", unit="person")
    survey = protect(table(three_each()), unit="person", ledger=ledger)
    query = survey.aggregate(s=dn.sum("spend", bounds="auto", max_rows="auto"))
    query.release(epsilon=1, delta="1e-8")
    assert ledger.spent.epsilon == 1
    with pytest.raises(dn.errors.BudgetError):
        query.release(epsilon="0.01")


@pytest.mark.parametrize("rows", [[], [(1, "red", None)], [(1, None, math.nan)]])
def test_an_empty_table_takes_the_public_numbers(rows: list[Row]) -> None:
    release = asked(rows).release(epsilon=1, delta="1e-8", bits=bits(1))
    assert not any(choice.found for choice in release.plan.choices)
    assert "nothing stood out of the noise" in " ".join(release.statement.split())


def test_what_cannot_be_planned_is_never_an_error() -> None:
    """With a thousand rows of each of 2**33 people there is no room: the public number is taken."""
    rows: list[Row] = [(person, "red", 1.0) for person in range(60) for _ in range(1100)]
    groups = protect(table(rows), unit="person", population=1 << 33).group_by(
        "colour", keys=["red", "green", "blue"], max_groups=2, over="weight"
    )
    query = groups.aggregate(s=dn.sum("spend", bounds=(0, 1), max_rows="auto"))
    release = query.release(epsilon=200, delta="1e-20")
    assert numbers(release.plan.choices[0]) == [1]
    assert not release.plan.choices[0].found
    assert release.plan.choices[0].wanted == (Fraction(1024),)
    stated = dn.sum("spend", bounds=(0, 1), max_rows=1024)
    with pytest.raises(ParameterError, match="no room"):
        groups.aggregate(s=stated).plan(epsilon=200, delta="1e-20")


def many_rows() -> Query:
    """500 people with 200 rows each and no stated population: there is no room for so many.

    Ages of red are 20 + 0.07 k for k = 0, 2, ..., 998, those of blue for k = 1, 3, ..., 999, as often each.
    """
    ages = [20 + 70 * ((7 * step) % 1000) / 1000 for step in range(100_000)]
    people = pa.table(
        {
            "person": [person for person in range(500) for _ in range(200)],
            "colour": ["red", "blue"] * 50_000,
            "age": ages,
        }
    )
    return (
        protect(people, unit="person")
        .group_by("colour", max_groups="auto", keys=["red", "blue"])
        .aggregate(people=dn.units(), age=dn.mean("age", bounds="auto", max_rows="auto"))
    )


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_where_there_is_no_room_for_all_rows_the_mean_is_still_that_of_the_data(
    noise: Any, tmp_path: Path
) -> None:
    release = many_rows().release(epsilon=10, delta="1e-8", noise=noise, bits=bits(5))
    chosen = {choice.argument: choice for choice in release.plan.choices}
    assert chosen["bounds"].found
    assert numbers(chosen["bounds"]) == [16, 128]
    assert not chosen["max_rows"].found
    assert numbers(chosen["max_rows"]) == [55]
    assert chosen["max_rows"].wanted is not None
    assert chosen["max_rows"].wanted[0] >= 100
    for row in release.table.to_pylist():
        assert row["age_low"] <= {"red": 54.93, "blue": 55.0}[row["colour"]] <= row["age_high"], row
        assert row["age_high"] - row["age_low"] < 3
    words = " ".join(release.statement.split())
    assert "nothing stood out" not in words
    assert "max_rows = 55 is used instead of 115, which was found for" in words
    assert "state the population" in words
    assert "max_rows: 55, as there is no room for 115" in " ".join(str(release.plan).split())
    release.save(tmp_path / "saved")
    found = review(tmp_path / "saved")
    wrong = {finding.check for finding in found.findings if finding.verdict == "wrong"}
    assert wrong == {"noise"}, str(found)


def _of_rows(record: dict[str, Any]) -> dict[str, Any]:
    [choice] = [choice for choice in record["plan"]["choices"] if choice["argument"] == "max_rows"]
    assert isinstance(choice, dict)
    return choice


@pytest.mark.parametrize(
    "change", [{"wanted": None}, {"wanted": ["56"]}, {"wanted": ["21"]}, {"found": True}]
)
def test_what_was_found_and_had_no_room_cannot_be_kept_quiet(tmp_path: Path, change: Any) -> None:
    many_rows().release(epsilon=10, delta="1e-8").save(tmp_path / "saved")
    place = tmp_path / "saved" / "release.json"
    record = json.loads(place.read_text("utf-8"))
    assert _of_rows(record)["wanted"] is not None
    _of_rows(record).update(change)
    place.write_text(json.dumps(record), "utf-8")
    assert review(tmp_path / "saved")["events"].verdict == "wrong"


def test_the_plan_of_a_release_is_released_from_the_start() -> None:
    plan = asked(three_each()).plan(epsilon=200, delta="1e-8")
    release = plan.release()
    assert release.plan.unread == plan
    again = release.plan.release()
    assert again.plan.choices == release.plan.choices
    assert again.events == plan.events
    assert "as carried out, with what was chosen from its data" in str(release.plan)


@pytest.mark.parametrize("keys", [None, ["c1", "c2"]])
def test_saved_events_are_what_was_paid(keys: Any) -> None:
    """So saved releases can be composed by their events."""
    plan = asked(three_each(), keys=keys).plan(epsilon=1, delta="1e-8")
    for record in (plan.to_json(), plan.release(bits=bits(1)).to_json()["plan"]):
        saved = tuple(events.from_json(event) for event in record["events"])
        assert saved == plan.events
        assert not accounting.within(saved * 2, epsilon=Fraction("1.2"), delta=DELTA)
    stated = protect(table([]), unit="person").aggregate(people=dn.units()).plan(epsilon=1)
    assert stated.to_json()["done"] is None


def test_rows_for_themselves_can_have_bounds_chosen_too() -> None:
    rows: list[Row] = [(1, "red", 5.0 + (i % 3)) for i in range(3000)]
    release = protect(table(rows), unit=ROW).aggregate(m=dn.mean("spend", bounds="auto")).release(epsilon=10)
    assert numbers(release.plan.choices[0]) == [4, 8]
    assert release.table["m"].to_pylist() == pytest.approx([6], abs=0.1)


def test_everything_else_goes_with_it() -> None:
    release = asked([*three_each(), (9999, "mine", 20.0)], other=True).release(epsilon=100, delta="1e-8")
    assert release.table["colour"].to_pylist()[-1] is None
    assert release.plan.price.rest


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"max_groups": "auto", "over": "drop"}, "over='weight'"),
        ({"max_groups": "auto", "selection": "threshold"}, "selection='sips'"),
        ({"max_groups": "automatic"}, "max_groups.*whole number"),
        ({"max_groups": "auto", "max_keys": 0}, "max_keys"),
    ],
)
def test_what_contradicts_a_choice_is_refused(arguments: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        protect(table([]), unit="person").group_by("colour", **arguments)


def test_other_words_than_auto_are_refused() -> None:
    with pytest.raises(ParameterError, match="max_groups"):
        protect(table([]), unit=ROW).group_by("colour", max_groups="auto")
    with pytest.raises(ParameterError, match="bounds"):
        dn.sum("spend", bounds="automatic", max_rows=1)
    with pytest.raises(ParameterError, match="max_rows"):
        dn.count(max_rows="automatic")
    with pytest.raises(ParameterError, match="max_values"):
        dn.distinct("spend", max_values="auto")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="no meaning per row"):
        protect(table([]), unit=ROW).aggregate(n=dn.count(max_rows="auto"))


def test_plan_and_statement_say_what_is_chosen_and_for_how_much() -> None:
    plan = asked([]).plan(epsilon=1, delta="1e-8")
    budget = "1/30 of the squared budget"
    assert f"max_groups: chosen first, for {budget}; 4 if nothing is found" in str(plan)
    assert f"bounds of spend: chosen first, for {budget}; 0 to 1 if nothing is found" in str(plan)
    release = asked(three_each()).release(epsilon=200, delta="1e-8")
    words = " ".join(release.statement.split())
    assert f"max_groups = 3 was chosen for {budget}" in words
    assert "bounds of spend = 16 to 32 was chosen" in words
    assert "Choices and columns have one price, whatever is chosen" in words
    assert f"max_groups: 3, chosen for {budget}" in str(release.plan)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("automatic")
    asked(three_each()).release(epsilon=100, delta="1e-8").save(folder / "found")
    asked([]).release(epsilon=1, delta="1e-8").save(folder / "fallback")
    asked(three_each(), keys=["c1", "c2"]).release(epsilon=100).save(folder / "two keys")
    unfit = protect(table([]), unit=ROW).aggregate(m=dn.mean("spend", bounds="auto", share="0.5"))
    unfit.release(epsilon=1).save(folder / "rows")
    return folder


@pytest.mark.parametrize("name", ["found", "fallback", "two keys", "rows"])
def test_a_saved_release_with_choices_is_sound(saved: Path, name: str) -> None:
    found = review(saved / name)
    assert found.sound, str(found)


Change = Callable[[dict[str, Any]], object]


def _cheaper(record: dict[str, Any]) -> None:
    record["plan"]["choices"][0]["event"]["sigma"] = str(ONE // 64)


EDITS: dict[str, tuple[Change, set[str]]] = {
    "another number than was chosen": (lambda r: r["plan"]["choices"][0].update(chosen=["5"]), {"events"}),
    "a number that is no class": (lambda r: r["plan"]["choices"][2].update(chosen=["3", "99"]), {"events"}),
    "a choice that costs more": (_cheaper, {"events"}),
    "a choice that nobody speaks of": (lambda r: r["plan"]["choices"].pop(), {"record"}),
    "a rest that costs more": (lambda r: r["plan"]["done"][-1].update(sigma="1000000"), {"events"}),
    "events that cost less": (lambda r: r["plan"]["events"][-1].update(sigma="9" * 12), {"record"}),
    "noise for nothing": (lambda r: r["plan"]["done"][-1].update(sensitivity="0"), {"record"}),
    "events of the choices forgotten": (lambda r: r["plan"]["events"].pop(0), {"record"}),
    "a choice of nothing": (lambda r: r["plan"]["choices"][1].update(chosen=None), {"events"}),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_a_choice_is_found_out(saved: Path, tmp_path: Path, edit: str) -> None:
    change, must_find = EDITS[edit]
    folder = Path(shutil.copytree(saved / "found", tmp_path / "found"))
    record = json.loads((folder / "release.json").read_text("utf-8"))
    change(record)
    (folder / "release.json").write_text(json.dumps(record), "utf-8")
    found = review(folder)
    wrong = {finding.check for finding in found.findings if finding.verdict == "wrong"}
    assert must_find <= wrong, str(found)


def test_edges_and_classes_follow_from_public_facts() -> None:
    assert edges()[len(edges()) // 2] == 0
    assert list(edges()) == sorted(set(edges()))
    assert ends_of("max_groups", 100)[-1] == 100
    assert ends_of("max_rows", 100)[-1] == automatic.MOST_ROWS
    assert list(map(int, ends_of("max_groups", 1))) == [1]
