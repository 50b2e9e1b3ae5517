"""Different values: counts against plain Python, neighbours, shared values, fair choices, releases."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest
from colours import ALPHA, Row, bits, some_rows, table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive_bounding import ask, has_value, opened
from scipy.stats import chisquare

from deniable.engines.duckdb import DuckDB
from deniable.errors import ParameterError
from deniable.query import aggregates as dn
from deniable.query.measures import Contributions, Distinct, Units, weight_table
from deniable.query.review import review
from deniable.query.survey import ROW, protect

ONE = 1 << 20
Over = Literal["weight", "drop"]


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(threads=2) as opened_engine:
        yield opened_engine


def naive(rows: list[Row], weights: list[int]) -> dict[Any, int]:
    """For each group the sum over its values of the largest weight, every value of every unit counting."""
    groups: dict[Any, set[Any]] = defaultdict(set)
    for person, colour, _ in rows:
        groups[person].add(colour)
    best: dict[Any, dict[Any, int]] = {colour: {} for _, colour, _ in rows}
    for person, colour, spend in rows:
        if has_value(spend):
            assert spend is not None
            weight = weights[len(groups[person])]
            best[colour][spend + 0.0] = max(best[colour].get(spend + 0.0, 0), weight)
    return {colour: sum(values.values()) for colour, values in best.items()}


def counted(
    engine: DuckDB,
    rows: list[Row],
    most: int | None,
    contributions: Contributions,
    *,
    unit: str | None = "person",
    seed: int = 1,
    groups: tuple[str, ...] = ("colour",),
) -> dict[Any, int]:
    sealed = ask(
        engine,
        table(rows),
        unit=unit,
        groups=groups,
        measures=[Units(), Distinct("spend", most)],
        contributions=contributions,
        seed=seed,
    )
    return {key[0] if key else None: numbers[1] for key, numbers in opened(sealed, len(groups)).items()}


ROWS = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.sampled_from(["red", "green", "", None]),
        st.sampled_from([0.0, -0.0, 1.0, 2.5, -7.0, 1e300, None, math.nan, math.inf, -math.inf]),
    ),
    max_size=30,
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, norm=st.sampled_from(["l1", "l2"]), max_groups=st.integers(1, 3))
def test_with_room_for_all_values_it_is_the_count_of_plain_python(
    engine: DuckDB, rows: list[Row], norm: Literal["l1", "l2"], max_groups: int
) -> None:
    weighted = Contributions("weight", norm, max_groups, 100, ONE)
    assert counted(engine, rows, 99, weighted) == naive(rows, weight_table(weighted))
    kept = Contributions("drop", norm, 9, 100, 1)
    assert counted(engine, rows, 99, kept) == naive(rows, [1] * 9)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
def test_where_each_row_is_a_unit_and_in_totals_values_are_counted_once(
    engine: DuckDB, rows: list[Row]
) -> None:
    full = Contributions("drop", "l1", 1, 1, ONE)
    assert counted(engine, rows, None, full, unit=None) == naive(rows, [ONE] * 9)
    together: list[Row] = [(person, "all", spend) for person, _, spend in rows]
    expected = naive(together, [ONE] * 9).get("all", 0)
    assert counted(engine, rows, 99, full, groups=()) == {None: expected}


TINY: list[tuple[str, float]] = [("a", 1.0), ("a", 2.0), ("b", 1.0), ("b", 3.0)]
"""Two groups, and the values there that one of two people may give."""


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("over", ["weight", "drop"])
def test_every_small_table_moves_by_no_more_than_is_priced(
    engine: DuckDB, over: Over, norm: Literal["l1", "l2"]
) -> None:
    """All answers of two people in two groups; each of them is added to what the other gave."""
    contributions, measure = Contributions(over, norm, 1, 2, ONE), Distinct("spend", 1)
    answers = [given for size in (0, 1, 2, 4) for given in combinations(TINY, size)]

    def of(first: tuple[tuple[str, float], ...], second: tuple[tuple[str, float], ...]) -> dict[Any, int]:
        rows: list[Row] = [(1, *gave) for gave in first]
        return counted(engine, rows + [(2, *gave) for gave in second], 1, contributions)

    found = {(first, second): of(first, second) for first in answers for second in answers}
    reached = set()
    for (first, second), both in found.items():
        for less in (found[first, ()], found[(), second]):
            moves = [both.get(colour, 0) - less.get(colour, 0) for colour in "ab"]
            assert all(move >= 0 for move in moves)
            size = sum(moves) if norm == "l1" else math.isqrt(sum(move**2 for move in moves))
            assert size <= (contributions.l1(measure) if norm == "l1" else contributions.l2(measure))
            reached.add(size)
    assert {0, ONE} <= reached


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("over", ["weight", "drop"])
@pytest.mark.parametrize("most", [1, 3])
def test_a_unit_more_moves_the_counts_by_no_more_than_is_priced(
    engine: DuckDB, over: Over, norm: Literal["l1", "l2"], most: int
) -> None:
    contributions, measure = Contributions(over, norm, 3, 20, ONE), Distinct("spend", most)
    reached = Fraction(0)
    for seed in range(4):
        base = some_rows(seed, people=8, rows=60)
        shared: list[Row] = [(99, colour, spend) for _, colour, spend in base]
        own: list[Row] = [(99, f"only {i % 15}", float(i)) for i in range(90)]
        for added in (shared, own, shared + own):
            before = counted(engine, base, most, contributions, seed=seed)
            after = counted(engine, base + added, most, contributions, seed=seed)
            moves = [after[key] - before.get(key, 0) for key in after]
            assert set(before) <= set(after)
            assert all(move >= 0 for move in moves)
            size = sum(moves) if norm == "l1" else math.isqrt(sum(move**2 for move in moves))
            priced = contributions.l1(measure) if norm == "l1" else contributions.l2(measure)
            assert size <= priced
            reached = max(reached, Fraction(size, priced))
    assert reached > Fraction(99, 100), "a unit with values of its own should use the whole bound"


def test_what_is_missing_or_no_number_is_no_value(engine: DuckDB) -> None:
    odd = [None, math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0]
    rows: list[Row] = [(person, "red", value) for person, value in enumerate(odd)]
    assert counted(engine, rows, 9, Contributions("drop", "l1", 1, 1, 1)) == {"red": 2}


def test_a_value_that_a_full_unit_has_too_is_not_moved_by_another(engine: DuckDB) -> None:
    contributions = Contributions("weight", "l2", 1, 100, ONE)
    base: list[Row] = [(1, "red", 5.0)]
    spread: list[Row] = [(2, "red", 5.0), (2, "green", 5.0), (2, "blue", 5.0), (2, "grey", 5.0)]
    found = counted(engine, base + spread, 1, contributions)
    assert found == {"red": ONE, "green": ONE // 2, "blue": ONE // 2, "grey": ONE // 2}


def test_of_a_unit_with_more_values_exactly_so_many_count_and_others_bring_the_rest(engine: DuckDB) -> None:
    contributions = Contributions("drop", "l1", 1, 1, 1)
    many: list[Row] = [(person, "red", float(value)) for person in range(40) for value in range(10)]
    for seed in range(5):
        assert counted(engine, many[:10], 3, contributions, seed=seed) == {"red": 3}
    assert counted(engine, many, 3, contributions) == {"red": 10}


def test_every_value_of_a_unit_is_as_likely_to_count(engine: DuckDB) -> None:
    """Each of 3,000 people, in a group of their own, has the same four values, of which one counts."""
    people = 3000
    rows = [
        {"person": person, "colour": f"{person}", "spend": value}
        for person in range(people)
        for value in ("a", "b", "c", "d")
    ]
    held = pa.Table.from_pylist(rows)
    seen = [0] * 4
    for place, value in enumerate("abcd"):
        only = held.filter(pa.compute.not_equal(held["spend"], value))
        both = ask(
            engine,
            pa.concat_tables([held, _companion(only, people)]),
            unit="person",
            groups=["colour"],
            measures=[Distinct("spend", 1)],
            contributions=Contributions("drop", "l1", 1, 1, 1),
        )
        seen[place] = sum(numbers == (4,) for numbers in opened(both, 1).values())
    assert sum(seen) == people
    assert chisquare(seen).pvalue > ALPHA
    assert chisquare([count + place * 200 for place, count in enumerate(seen)]).pvalue < ALPHA


def _companion(rows: pa.Table, people: int) -> pa.Table:
    """The rows as those of people who have only one each: these values are in their group in any case."""
    person = pa.array([people * 10 + place for place in range(rows.num_rows)], pa.int64())
    return rows.set_column(rows.column_names.index("person"), "person", person)


@pytest.mark.parametrize("selection", ["threshold", "truncated-geometric", "sips"])
def test_released_after_every_way_to_find_groups(selection: Any) -> None:
    rows: list[Row] = [
        (person, colour, float(person % 7)) for person in range(3000) for colour in ("red", "green")
    ]
    query = (
        protect(table(rows), unit="person")
        .group_by("colour", max_groups=2, selection=selection, over="drop")
        .aggregate(values=dn.distinct("spend", max_values=1), people=dn.units())
    )
    release = query.release(epsilon=1000, delta="1e-6", bits=bits(3), coverage=False)
    found = {row["colour"]: row["values"] for row in release.table.to_pylist()}
    assert found == {"red": 7, "green": 7}
    assert release.table.schema.field("values").type == pa.int64()


def test_the_statement_the_plan_and_the_review_speak_of_values(tmp_path: Path) -> None:
    query = (
        protect(table(some_rows(1)), unit="person")
        .group_by("colour", max_groups=2, over="weight")
        .aggregate(people=dn.units(), different=dn.distinct("spend", max_values=3))
    )
    plan = query.plan(epsilon=1, delta="1e-6")
    assert "distinct('spend', max_values=3)" in str(plan)
    assert "max_values" in str(plan)
    release = plan.release()
    words = " ".join(release.statement.split())
    assert 'different values of "spend", each once however many have it; at most 3 of one person' in words
    assert "counts as much as the person who counts most" in words
    release.save(tmp_path / "saved")
    found = review(tmp_path / "saved")
    assert all(f.verdict == "right" for f in found.findings), str(found)


@pytest.mark.parametrize("most", [0, -1, True, 2.0, "2", 1 << 31])
def test_max_values_must_be_a_whole_number_above_zero(most: Any) -> None:
    with pytest.raises(ParameterError, match="max_values"):
        dn.distinct("spend", max_values=most)


def test_max_values_is_required_with_a_unit_and_refused_per_row() -> None:
    with pytest.raises(ParameterError, match="max_values.*missing"):
        protect(table([]), unit="person").aggregate(n=dn.distinct("spend"))
    with pytest.raises(ParameterError, match="no meaning per row"):
        protect(table([]), unit=ROW).aggregate(n=dn.distinct("spend", max_values=2))
    with pytest.raises(ParameterError, match="max_values.*no room"):
        protect(table([]), unit="person").group_by("colour", max_groups=2, keys=["a", "b", "c"]).aggregate(
            n=dn.distinct("spend", max_values=1 << 30)
        ).plan(epsilon=1)


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.bool_(), pa.date32(), pa.timestamp("us")])
def test_values_of_every_type_are_told_apart(kind: pa.DataType) -> None:
    held = {
        pa.string(): ["a", "A", "a", None],
        pa.int64(): [1, 2, 1, None],
        pa.bool_(): [True, False, True, None],
        pa.date32(): [1, 2, 1, None],
        pa.timestamp("us"): [1, 2, 1, None],
    }[kind]
    data = pa.table({"person": [1, 2, 3, 4], "value": pa.array(held, kind)})
    query = protect(data, unit="person").aggregate(n=dn.distinct("value", max_values=1))
    assert query.release(epsilon=1000, bits=bits(1)).table["n"].to_pylist() == [2]
