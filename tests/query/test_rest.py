"""The row of everything else: against plain Python, neighbours, every way to find groups, reviews, audits."""

from __future__ import annotations

import json
import math
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from colours import Row, bits, table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive_bounding import integer
from sqlglot import exp

import deniable as dn
from deniable import accounting, events
from deniable.audit.copies import Copies
from deniable.engines.duckdb import DuckDB
from deniable.errors import ParameterError
from deniable.query.by_value import ROWS
from deniable.query.collect import answered, asked
from deniable.query.measures import Bins, Contributions, Count, Distinct, Measure, Total, Units
from deniable.query.plan import Plan
from deniable.query.question import Query
from deniable.query.rest import everything_else
from deniable.query.review import review
from deniable.query.run import _searched
from deniable.query.survey import ROW, protect

ONE = 1 << 20
TOTAL = Total("spend", 2, Fraction(1, 2), 3, -10, 200)
MEASURES: list[Measure] = [
    Units(),
    Count(None, 3),
    Count("spend", 2),
    TOTAL,
    Distinct("spend", 99),
]


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(threads=2) as opened_engine:
        yield opened_engine


def measured(
    engine: DuckDB,
    rows: list[Row],
    shown: Sequence[str | None],
    measures: Sequence[Measure] = MEASURES,
    unit: str | None = "person",
    seed: int = 1,
) -> tuple[int, ...]:
    """The un-noised integers of everything that is not shown."""
    columns = ("person", "colour", "spend")
    question = asked(
        engine,
        exp.select(*columns).from_(engine.view(table(rows))),
        unit=unit,
        groups=["colour"],
        keyed=False,
        measures=measures,
        contributions=Contributions("drop", "l1", 1, 1, ONE),
        bits=bits(seed),
        rest=True,
    )
    for _ in answered(engine, question, None, None).batches():
        pass
    keys = pa.table({"g0": pa.array(shown, pa.string())})
    [row] = [
        tuple(column[0].as_py() for column in batch.columns)
        for batch in everything_else(engine, question, keys, ROWS).batches()
    ]
    return row


def naive(rows: list[Row], shown: Sequence[str | None]) -> tuple[int, ...]:
    of: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for person, colour, spend in rows:
        if colour not in shown:
            of[person].append({"colour": colour, "spend": spend})
    simple = [sum(ONE * integer(measure, held) for held in of.values()) for measure in MEASURES[:-1]]
    values = {row["spend"] + 0.0 for held in of.values() for row in held if _is_number(row["spend"])}
    return (*simple, ONE * len(values))


def _is_number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


PEOPLE = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.sampled_from(["red", "green", "blue", "", None]),
        st.sampled_from([0.0, -0.0, 2.5, 99.0, -7.0, 1e300, None, math.nan, math.inf]),
    ),
    max_size=30,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=PEOPLE, shown=st.sets(st.sampled_from(["red", "green", "never"])))
def test_what_is_not_shown_is_one_group_of_plain_python(
    engine: DuckDB, rows: list[Row], shown: set[str]
) -> None:
    assert measured(engine, rows, sorted(shown)) == naive(rows, sorted(shown))


def test_where_each_row_is_a_unit_all_rows_that_are_not_shown_count(engine: DuckDB) -> None:
    rows: list[Row] = [(1, "red", 1.0), (1, "blue", 2.0), (1, None, 2.0), (2, "grey", None)]
    alone: list[Measure] = [Units(), Count("spend", None), Distinct("spend", None)]
    assert measured(engine, rows, ["red"], alone, unit=None) == (3 * ONE, 2 * ONE, ONE)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_a_unit_in_a_hundred_groups_moves_the_row_by_at_most_its_bound(engine: DuckDB, noise: Any) -> None:
    """And by the whole bound if its values ask for it: the price is not more than is needed."""
    query = (
        protect(table([]), unit="person")
        .group_by("colour", max_groups=2, over="weight", other=True)
        .aggregate(
            units=dn.units(),
            rows=dn.count(max_rows=2),
            total=dn.sum("spend", bounds=(-5, 100), max_rows=2),
            values=dn.distinct("spend", max_values=3),
        )
    )
    plan = query.plan(epsilon=1, delta="1e-6", noise=noise)
    measures = [noisy.measure for noisy in plan.price.rest]
    base: list[Row] = [(person, f"grey {person}", 7.0) for person in range(9)]
    for values in ([100.0], [-5.0, 3.0, 99.0, 98.0], [math.nan, 1e300]):
        heavy: list[Row] = [(99, f"only {i}", values[i % len(values)]) for i in range(100)]
        before = measured(engine, base, ["red"], measures)
        after = measured(engine, base + heavy * 3, ["red"], measures)
        moves = [abs(more - less) for more, less in zip(after, before, strict=True)]
        one = plan.price.contributions.one
        priced = [noisy.event.sensitivity * ONE / one for noisy in plan.price.rest]
        assert all(move <= most for move, most in zip(moves, priced, strict=True))
        if values == [100.0]:
            assert moves[:3] == priced[:3]


def of_everything(**groups: Any) -> Query:
    rows: list[Row] = [(person, "red" if person % 2 else "green", 1.0) for person in range(2000)]
    rows += [(person, f"only {person}", 2.0) for person in range(300)]
    rows += [(9999, f"mine {i}", 50.0) for i in range(100)] + [(7, None, 1.0)] * 500
    rows += [(person, None, 3.0) for person in range(1000)]
    return (
        protect(table(rows), unit="person")
        .group_by("colour", other=True, **groups)
        .aggregate(
            people=dn.units(),
            rows=dn.count(max_rows=3),
            middle=dn.median("spend", bounds=(0, 100), max_rows=3),
            values=dn.distinct("spend", max_values=2),
        )
    )


@pytest.mark.parametrize(
    "groups",
    [
        {"max_groups": 2, "selection": "threshold", "over": "weight"},
        {"max_groups": 2, "selection": "truncated-geometric"},
        {"max_groups": 3, "selection": "sips"},
    ],
)
def test_the_row_is_the_last_whichever_way_groups_are_found(groups: Any) -> None:
    release = of_everything(**groups).release(epsilon=5000, delta="1e-6", bits=bits(1), coverage=False)
    keys = release.table["colour"].to_pylist()
    assert keys[-1] is None
    assert None not in keys[:-1], "people without a key are among all others, however many they are"
    assert {"red", "green"} <= set(keys)
    [last] = release.table.slice(len(keys) - 1).to_pylist()
    own = {f"only {person}" for person in range(300)} & set(keys)
    assert last["people"] == 1001
    assert 1000 <= last["rows"] <= 1306 - len(own)
    assert last["values"] in (3, 4)
    assert last["middle"] == pytest.approx(3, abs=0.1)
    assert "(all others)" in str(release)
    assert "(all others)" in release._repr_html_()


def test_groups_by_two_columns_leave_out_only_keys_that_are_missing_in_both() -> None:
    data = pa.table(
        {
            "person": range(900),
            "colour": ["red", None, None] * 300,
            "size": [None, "big", None] * 300,
        }
    )
    query = protect(data, unit="person").group_by("colour", "size", other=True).aggregate(n=dn.units())
    found = query.release(epsilon=1000, delta="1e-6", bits=bits(2)).table.to_pylist()
    keys = [(row["colour"], row["size"]) for row in found]
    assert keys[-1] == (None, None)
    assert set(keys) == {(None, "big"), ("red", None), (None, None)}
    assert all(298 <= row["n"] <= 302 for row in found)


@pytest.mark.parametrize("unit", ["person", ROW])
def test_if_nothing_is_left_the_row_is_noise_alone(unit: Any) -> None:
    rows: list[Row] = [(person, "red", 1.0) for person in range(500)]
    query = protect(table(rows), unit=unit).group_by("colour", other=True).aggregate(n=dn.units())
    drawn = set()
    for seed in range(8):
        found = query.release(epsilon=1, delta="1e-6", bits=bits(seed)).table.to_pylist()
        assert found[-1]["colour"] is None
        drawn.add(found[-1]["n"])
    assert len(drawn) > 3
    empty = protect(table([]), unit=unit).group_by("colour", other=True).aggregate(n=dn.units())
    assert empty.release(epsilon=1, delta="1e-6").table.num_rows == 1


def plans(noise: Any = "auto") -> list[Plan]:
    ways: list[dict[str, Any]] = [
        {"selection": "threshold"},
        {"selection": "truncated-geometric"},
    ] + [{"selection": "sips", "max_groups": 4}] * (noise != "laplace")
    return [of_everything(**way).plan(epsilon=1, delta="1e-8", noise=noise) for way in ways]


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_row_has_events_of_its_own_and_all_of_them_cost_what_was_asked(noise: Any) -> None:
    for plan in plans(noise):
        alone = Contributions("drop", plan.price.contributions.norm, 1, 1, plan.price.contributions.one)
        rest = [noisy.event for noisy in plan.price.rest]
        assert list(plan.events[-len(rest) :]) == rest
        assert len(rest) == len(plan.price.measured)
        for noisy in plan.price.rest:
            moved = alone.l1(noisy.measure) if noise == "laplace" else alone.l2(noisy.measure)
            assert noisy.event.sensitivity == moved
        assert accounting.within(plan.events, epsilon=Fraction(1), delta=Fraction(1, 10**8))
        cheaper = [
            events.DiscreteLaplace(scale=event.sensitivity / 1000, sensitivity=event.sensitivity)
            for event in rest
        ]
        assert not accounting.within(
            [*plan.events[: -len(rest)], *cheaper], epsilon=Fraction(1), delta=Fraction(1, 10**8)
        )


def test_without_the_row_nothing_is_paid_for_it() -> None:
    query = of_everything(selection="threshold")
    assert query.groups is not None
    without = protect(table([]), unit="person").group_by("colour").aggregate(**dict(query.outputs))
    plan = without.plan(epsilon=1, delta="1e-8")
    assert plan.price.rest == ()
    assert not plan.facts.other
    assert plan.price.measured[0].scale < plans()[0].price.measured[0].scale


def test_plan_and_statement_say_what_the_row_holds() -> None:
    plan = plans()[0]
    assert "5 % of epsilon: one row for all that is not found" in str(plan)
    release = of_everything(selection="threshold").release(epsilon=1, delta="1e-8")
    words = " ".join(release.statement.split())
    assert "The last row (all others) holds everything else, as one group" in words
    assert "However many such groups a person is in, it counts as being in one." in words
    assert "In the last row: at most" in words
    assert "not published by themselves" in words


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rest")
    ways: dict[str, dict[str, Any]] = {
        "threshold": {},
        "chance": {"selection": "truncated-geometric"},
        "rounds": {"max_groups": 3},
    }
    for name, way in ways.items():
        of_everything(**way).release(epsilon=2, delta="1e-8").save(folder / name)
    return folder


@pytest.mark.parametrize("name", ["threshold", "chance", "rounds"])
def test_a_saved_release_with_the_row_is_sound(saved: Path, name: str) -> None:
    found = review(saved / name)
    assert found.sound, str(found)


Change = Callable[[dict[str, Any]], object]
EDITS: dict[str, tuple[str, Change, set[str]]] = {
    "a row that is not spoken of": ("threshold", lambda r: r["plan"].update(other=False), {"record"}),
    "a row that costs nothing": ("rounds", lambda r: r["plan"]["events"].pop(), {"record"}),
    "a row that costs less": (
        "chance",
        lambda r: r["plan"]["events"][-1].update(sensitivity="1"),
        {"events"},
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_the_row_is_found_out(saved: Path, tmp_path: Path, edit: str) -> None:
    name, change, must_find = EDITS[edit]
    folder = Path(shutil.copytree(saved / name, tmp_path / name))
    record = json.loads((folder / "release.json").read_text("utf-8"))
    change(record)
    (folder / "release.json").write_text(json.dumps(record), "utf-8")
    found = review(folder)
    wrong = {finding.check for finding in found.findings if finding.verdict == "wrong"}
    assert must_find <= wrong, str(found)


def test_a_table_without_the_row_is_found_out(saved: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    folder = Path(shutil.copytree(saved / "threshold", tmp_path / "cut"))
    whole = pq.read_table(folder / "table.parquet")
    pq.write_table(whole.slice(0, whole.num_rows - 1), folder / "table.parquet")
    assert review(folder)["table"].verdict == "wrong"


@pytest.mark.parametrize("other", [1, "yes", None])
def test_other_must_be_true_or_false(other: Any) -> None:
    with pytest.raises(ParameterError, match="other"):
        protect(table([]), unit="person").group_by("colour", other=other)


def test_other_beside_declared_keys_is_refused() -> None:
    with pytest.raises(ParameterError, match="other.*declared keys"):
        protect(table([]), unit="person").group_by("colour", keys=["red"], other=True)


def test_an_audit_looks_at_the_row_too() -> None:
    query = protect(table([]), unit="person").group_by("colour", other=True).aggregate(people=dn.units())
    plan = query.plan(epsilon=1000, delta="1e-6", coverage=False)
    rows = [{"person": person, "colour": f"only {person}", "spend": 1.0} for person in range(3)]
    [three], [two] = Copies(plan, ((rows, 1), (rows[:2], 1))).outcomes(bits(1))
    assert (three[None,][0], two[None,][0]) == (3, 2)


def test_rounds_keep_the_rows_for_the_row() -> None:
    plan = of_everything(max_groups=3, selection="sips").plan(epsilon=5000, delta="1e-6")
    with DuckDB(threads=1) as engine:
        sealed, _, where = _searched(plan, engine, bits(1))
        for _ in sealed.batches():
            pass
        [count] = engine.stream(f"SELECT COUNT(*) AS n FROM {where}").read_all()["n"].to_pylist()
    assert count == 2000 + 300 + 100 + 500 + 1000


def test_bins_of_the_row_count_all_that_was_not_shown(engine: DuckDB) -> None:
    bins = Bins("spend", 2, (Fraction(0), Fraction(10), Fraction(99)))
    rows: list[Row] = [(1, "a", 1.0), (1, "b", 50.0), (1, "c", 50.0), (1, "c", 50.0), (2, "a", 1.0)]
    [pairs] = measured(engine, rows, ["red"], [bins])
    assert {pair["leaf"]: pair["number"] for pair in pairs} == {0: ONE // 2 + ONE, 1: 2 * 3 * ONE // 4}  # type: ignore[attr-defined]
