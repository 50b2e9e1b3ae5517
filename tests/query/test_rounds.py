"""Rounds on an engine against plain Python: what each unit counts, before and after groups are shown."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive_bounding import Answer, Row, added, contributed, opened, plain, weighted
from sqlglot import exp

from deniable.bits import SeededBits
from deniable.engines.duckdb import DuckDB
from deniable.query.collect import asked
from deniable.query.measures import Contributions, Count, Measure, Units
from deniable.query.rounds import FOUND, Search
from deniable.query.sealed import Sealed
from deniable.selection import sips

ONE = 1 << 20
MEASURES: list[Measure] = [Units(), Count(None, 2)]
Over = Literal["weight", "drop"]
Shown = set[tuple[Any, ...]]


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(threads=1) as opened_engine:
        yield opened_engine


def rows_of(pairs: Sequence[tuple[Any, ...]], *names: str) -> list[Row]:
    return [dict(zip(names, pair, strict=True)) for pair in pairs]


def searching(
    engine: DuckDB,
    rows: list[Row],
    groups: Sequence[str],
    *,
    over: Over = "weight",
    k: int = 2,
    most: int = 100,
) -> Search:
    kinds = {"person": pa.string(), "colour": pa.string(), "size": pa.float64()}
    schema = pa.schema([(name, kinds[name]) for name in ("person", *groups)])
    view = engine.view(pa.Table.from_pylist(rows, schema=schema))
    question = asked(
        engine,
        exp.select(*(exp.column(name, quoted=True) for name in schema.names)).from_(view),
        unit="person",
        groups=groups,
        keyed=False,
        measures=MEASURES,
        contributions=Contributions(over, "l2", k, most, ONE),
        bits=SeededBits(5, insecure=True),
    )
    return Search(engine, question)


def places(engine: DuckDB) -> dict[int, tuple[Any, ...]]:
    found = engine.stream(f"SELECT * EXCLUDE (code) FROM {FOUND}").read_all().to_pylist()
    return {
        row["place"]: tuple(plain(value) for name, value in row.items() if name != "place") for row in found
    }


def counted(engine: DuckDB, search: Search, weights: Sequence[int]) -> Answer:
    sealed, keys = search.counts, places(engine)
    return {keys[place]: count for (place,), count in opened(sealed(weights), 1).items()}


def show(engine: DuckDB, search: Search, groups: Shown) -> None:
    numbers = [place for place, key in places(engine).items() if key in groups]
    search.show(np.array(numbers, np.int64))


def naive_counts(rows: list[Row], groups: Sequence[str], shown: Shown, weights: Sequence[int]) -> Answer:
    """What a round counts: weights[m] in each of the m groups of a unit that were not shown."""
    total: Answer = {}
    for of in contributed(rows, "person", groups, [Units()]).values():
        left = [key for key in of if key not in shown]
        total = added(total, {key: (weights[len(left)],) for key in left})
    return total


def naive_measures(rows: list[Row], groups: Sequence[str], shown: Shown, k: int) -> Answer:
    """What is measured in the end: only groups that were shown count for a unit's bound; all have a row."""
    each = contributed(rows, "person", groups, MEASURES)
    each = {who: {key: of[key] for key in of if key in shown} for who, of in each.items()}
    present = {key for of in contributed(rows, "person", groups, MEASURES).values() for key in of}
    empty = {key: (0,) * len(MEASURES) for key in shown & present}
    return added(empty, weighted(each, MEASURES, Contributions("weight", "l2", k, 100, ONE)))


WEIGHTS = [ONE, *(math.isqrt(ONE * ONE // m) for m in range(1, 101))]
COLOURS = ["red", "blue", "", None, "Red"]
SIZES = [1.0, 0.0, -0.0, float("nan"), None]
FIXTURES = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(max_examples=40, deadline=None, suppress_health_check=FIXTURES)
@given(
    cells=st.lists(
        st.tuples(
            st.sampled_from(["ann", "bob", "cid", None]), st.sampled_from(COLOURS), st.sampled_from(SIZES)
        ),
        max_size=25,
    ),
    picks=st.lists(st.integers(0, 24), min_size=3, max_size=3),
)
def test_every_round_and_the_end_are_those_of_plain_python(
    engine: DuckDB, cells: list[tuple[Any, ...]], picks: list[int]
) -> None:
    groups = ["colour", "size"]
    rows = rows_of(cells, "person", *groups)
    search = searching(engine, rows, groups)
    everything = sorted(
        {key for of in contributed(rows, "person", groups, MEASURES).values() for key in of}, key=repr
    )
    shown: Shown = set()
    for pick in picks:
        assert counted(engine, search, WEIGHTS) == naive_counts(rows, groups, shown, WEIGHTS)
        now = {key for place, key in enumerate(everything) if (place + pick) % 4 == 0} - shown
        show(engine, search, now)
        shown |= now
    assert opened(search.measured(None), len(groups)) == naive_measures(rows, groups, shown, k=2)


def test_every_table_of_two_people_and_three_groups(engine: DuckDB) -> None:
    colours = ["a", "b", "c"]
    sets = [
        [c for c, taken in zip(colours, mask, strict=True) if taken]
        for mask in itertools.product([0, 1], repeat=3)
    ]
    for number, (first, second) in enumerate(itertools.product(sets, sets)):
        pairs = [("ann", c) for c in first] + [("bob", c) for c in second]
        rows = rows_of(pairs, "person", "colour")
        shown: Shown = {(c,) for c in sets[number % 8]}
        search = searching(engine, rows, ["colour"], k=1)
        assert counted(engine, search, WEIGHTS) == naive_counts(rows, ["colour"], set(), WEIGHTS)
        show(engine, search, shown)
        assert counted(engine, search, WEIGHTS) == naive_counts(rows, ["colour"], shown, WEIGHTS)
        assert opened(search.measured(None), 1) == naive_measures(rows, ["colour"], shown, k=1)


def heavy() -> dict[str, list[Row]]:
    """Units with few and with far too many groups, some of them theirs alone; some with many rows in one.

    Each lists its groups in another order, so that alone they are numbered otherwise than together.
    """
    orders = {"ann": range(30), "bob": range(22, 4, -2), "cid": (9, 0, 4), "dan": (8,)}
    pairs = {who: [(who, f"c{i}") for i in order] for who, order in orders.items()}
    pairs["ann"] += [("ann", f"only {i}") for i in range(20)] + [("ann", "c1")] * 5
    return {who: rows_of(of, "person", "colour") for who, of in pairs.items()}


def vectors(engine: DuckDB, rows: list[Row], shown: Shown, over: Over, most: int) -> list[Answer]:
    """The un-noised vectors of both rounds and of the end, given what is shown between and after them."""
    search = searching(engine, rows, ["colour"], over=over, k=3, most=most)
    first = counted(engine, search, WEIGHTS[: most + 1])
    half = {key for key in shown if hash_of(key) % 2}
    show(engine, search, half)
    second = counted(engine, search, WEIGHTS[: most + 1])
    show(engine, search, shown - half)
    return [first, second, opened(search.measured(None), 1)]


def hash_of(key: tuple[Any, ...]) -> int:
    return sum(str(key).encode())


@pytest.mark.parametrize("most", [5, 100])
@pytest.mark.parametrize("over", ["weight", "drop"])
def test_a_table_counts_what_its_units_count_alone_and_each_no_more_than_is_priced(
    engine: DuckDB, over: Over, most: int
) -> None:
    units = heavy()
    shown: Shown = {(f"c{i}",) for i in range(0, 30, 2)} | {("only 3",), ("only 4",), ("only 5",)}
    whole = vectors(engine, [row for rows in units.values() for row in rows], shown, over, most)
    alone = [vectors(engine, rows, shown, over, most) for rows in units.values()]
    bounds = Contributions(over, "l2", 3, most, ONE)
    for stage in range(3):
        nothing = {key: (0,) * len(of) for key, of in whole[stage].items()}
        assert added(nothing, *(of[stage] for of in alone)) == whole[stage]
    for first, second, end in alone:
        for counts in (first, second):
            assert 0 < sum(count**2 for (count,) in counts.values()) <= ONE**2
        for place, measure in enumerate(MEASURES):
            assert sum(of[place] ** 2 for of in end.values()) <= bounds.l2(measure) ** 2
    assert sum(count**2 for (count,) in alone[0][0].values()) > 0.999 * ONE**2
    assert sum(of[0] ** 2 for of in alone[0][2].values()) > 0.999 * bounds.l2(Units()) ** 2


def test_a_unit_with_too_many_groups_counts_in_exactly_max_keys_of_them(engine: DuckDB) -> None:
    rows = heavy()["ann"]
    search = searching(engine, rows, ["colour"], most=7)
    counts = counted(engine, search, WEIGHTS[:8])
    assert list(counts.values()) == [(WEIGHTS[7],)] * 7
    show(engine, search, set(counts))
    assert len(counted(engine, search, WEIGHTS[:8])) == 7


def test_a_group_that_was_shown_has_a_row_even_if_nobody_counts_there(engine: DuckDB) -> None:
    rows = heavy()["ann"]
    search = searching(engine, rows, ["colour"], over="drop", k=3)
    show(engine, search, {(f"c{i}",) for i in range(30)})
    end = opened(search.measured(None), 1)
    assert len(end) == len({key for key in end if key[0].startswith("c")}) >= 15
    assert sorted(units for units, _ in end.values())[-3:] == [ONE] * 3
    assert sum(units for units, _ in end.values()) == 3 * ONE


def test_the_histogram_is_of_groups_that_were_shown(engine: DuckDB) -> None:
    rows = [row for of in heavy().values() for row in of]
    search = searching(engine, rows, ["colour"])
    show(engine, search, {("c0",), ("c2",)})
    sealed: Sealed = search.measured((1, 2, 100))
    shown = [len({row["colour"] for row in of} & {"c0", "c2"}) for of in heavy().values()]
    assert sealed.coverage == (shown.count(1), shown.count(2), 0)


def test_rounds_count_the_weights_that_they_are_priced_with(engine: DuckDB) -> None:
    rounds = sips.fitted(epsilon=1, delta="1e-6", shares=sips.SHARES, max_keys=20)
    rows = heavy()["bob"]
    search = searching(engine, rows, ["colour"], most=20)
    counts = counted(engine, search, rounds[0].weights)
    assert set(counts.values()) == {(rounds[0].weights[9],)}
    assert rounds[0].noise.coordinates == len(rounds[0].weights) - 1
