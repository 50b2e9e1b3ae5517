"""Units with many groups: what dropping keeps, where weights stop, and what one unit can change."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Literal

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive_bounding import Answer, Row, added, ask, contributed, opened
from scipy.stats import chi2
from sqlglot import exp

from deniable.engines.duckdb import DuckDB
from deniable.query.bounding import among_least, bounded, salted
from deniable.query.measures import Contributions, Count, Measure, Total, Units, weight_table

ALPHA = 1e-9
ONE = 1 << 20
Norm = Literal["l1", "l2"]
Over = Literal["weight", "drop"]
SCHEMA = pa.schema({"person": pa.int64(), "colour": pa.string(), "size": pa.int64(), "value": pa.float64()})
SPEND = Total("value", 2, Fraction(1, 4), 3, -40, 20)
MEASURES: list[Measure] = [Units(), Count(None, 2), Count("value", 1), SPEND]
GROUPS = ["colour", "size"]
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(threads=2) as opened_engine:
        yield opened_engine


@st.composite
def people(draw: st.DrawFn) -> list[Row]:
    cells = st.tuples(
        st.integers(1, 4),
        st.sampled_from(["red", "blue", "green", None]),
        st.sampled_from([1, 2, None]),
        st.one_of(st.none(), st.floats(-20, 20), st.just(math.nan)),
    )
    return [dict(zip(SCHEMA.names, row, strict=True)) for row in draw(st.lists(cells, max_size=40))]


def answer(engine: DuckDB, rows: list[Row], contributions: Contributions, seed: int = 1) -> Answer:
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    return opened(
        ask(
            engine,
            table,
            unit="person",
            groups=GROUPS,
            measures=MEASURES,
            contributions=contributions,
            seed=seed,
        ),
        len(GROUPS),
    )


def of_each(rows: list[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row["person"], []).append(row)
    return found


@settings(max_examples=20, deadline=None, suppress_health_check=QUIET)
@given(rows=people(), max_groups=st.integers(1, 4), max_keys=st.integers(1, 6), one=st.sampled_from([1, ONE]))
def test_dropping_keeps_as_many_groups_as_allowed_and_each_in_full(
    engine: DuckDB, rows: list[Row], max_groups: int, max_keys: int, one: int
) -> None:
    contributions = Contributions("drop", "l1", max_groups, max_keys, one)
    parts = []
    for held in of_each(rows).values():
        (has,) = contributed(held, "person", GROUPS, MEASURES).values()
        kept = answer(engine, held, contributions)
        assert len(kept) == min(len(has), max_groups, max_keys)
        assert kept == {key: tuple(one * x for x in has[key]) for key in kept}
        parts.append(kept)
    # each unit's groups depend on that unit alone: together they give the sum of what each gives
    assert answer(engine, rows, contributions) == added(*parts)


@settings(max_examples=20, deadline=None, suppress_health_check=QUIET)
@given(
    rows=people(),
    norm=st.sampled_from(["l1", "l2"]),
    max_groups=st.integers(1, 4),
    max_keys=st.integers(1, 6),
)
def test_weights_look_at_no_more_groups_than_max_keys(
    engine: DuckDB, rows: list[Row], norm: Norm, max_groups: int, max_keys: int
) -> None:
    contributions = Contributions("weight", norm, max_groups, max_keys, ONE)
    table = weight_table(contributions)
    parts = []
    for held in of_each(rows).values():
        (has,) = contributed(held, "person", GROUPS, MEASURES).values()
        kept = answer(engine, held, contributions)
        assert len(kept) == min(len(has), max_keys)
        weight = table[len(kept)]
        assert kept == {key: tuple(weight * x for x in has[key]) for key in kept}
        parts.append(kept)
    assert answer(engine, rows, contributions) == added(*parts)


@settings(max_examples=30, deadline=None, suppress_health_check=QUIET)
@given(
    rows=people(),
    over=st.sampled_from(["weight", "drop"]),
    norm=st.sampled_from(["l1", "l2"]),
    max_groups=st.integers(1, 4),
    max_keys=st.integers(1, 6),
)
def test_one_unit_changes_each_column_by_at_most_what_noise_is_priced_for(
    engine: DuckDB, rows: list[Row], over: Over, norm: Norm, max_groups: int, max_keys: int
) -> None:
    contributions = Contributions(over, norm, max_groups, max_keys, ONE)
    others = [row for row in rows if row["person"] != 1]
    before, after = answer(engine, others, contributions), answer(engine, rows, contributions)
    assert_within(before, after, contributions)


def assert_within(before: Answer, after: Answer, contributions: Contributions) -> None:
    zeros = (0,) * len(MEASURES)
    for place, measure in enumerate(MEASURES):
        moves = [
            after.get(key, zeros)[place] - before.get(key, zeros)[place]
            for key in before.keys() | after.keys()
        ]
        assert sum(map(abs, moves)) <= contributions.l1(measure)
        assert sum(move * move for move in moves) <= contributions.l2(measure) ** 2


@pytest.mark.parametrize("over", ["weight", "drop"])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_a_unit_in_a_thousand_groups_changes_no_more_than_one_in_three(
    engine: DuckDB, over: Over, norm: Norm
) -> None:
    draw = random.Random(8)
    others = [
        {"person": draw.randrange(2, 60), "colour": f"c{draw.randrange(1200)}", "size": 1, "value": 4.0}
        for _ in range(3000)
    ]
    extreme = [
        {"person": 1, "colour": f"c{i}", "size": 1, "value": -1e300} for i in range(1000) for _ in range(3)
    ]
    contributions = Contributions(over, norm, 3, 100, ONE)
    before = answer(engine, others, contributions)
    after = answer(engine, others + extreme, contributions)
    assert_within(before, after, contributions)
    changed = [key for key in after if after[key] != before.get(key)]
    assert len(changed) == (3 if over == "drop" else 100)
    if (over, norm) == ("weight", "l2"):  # weights reach the bound that is paid for, but for rounding down
        square = sum(after[key][3] - before.get(key, (0,) * 4)[3] for key in changed) ** 2 / len(changed)
        assert 0.999 * contributions.l2(SPEND) ** 2 < square <= contributions.l2(SPEND) ** 2


def kept_pairs(engine: DuckDB, hashed: str, salts: int) -> Counter[tuple[str, ...]]:
    """Which two of six groups one unit keeps, under many salts; `hashed` is SQL over name, unit and salt."""
    draw = random.Random(3)
    view = engine.view(pa.table({"salt": [f"{draw.getrandbits(128):032x}" for _ in range(salts)]}))
    rows = f"SELECT salt, 77 AS unit, 'group' || unnest(range(6)) AS name FROM {view}"
    ranked = f"SELECT * FROM ({rows}) QUALIFY RANK() OVER (PARTITION BY salt ORDER BY {hashed}) <= 2"
    query = f"SELECT list_sort(list(name)) AS pair FROM ({ranked}) GROUP BY salt"
    return Counter(tuple(pair) for pair in engine.stream(query).read_all().column("pair").to_pylist())


def p_value(found: Counter[tuple[str, ...]]) -> float:
    """Of the hypothesis that every pair of six is equally likely."""
    pairs = list(itertools.combinations([f"group{i}" for i in range(6)], 2))
    mean = found.total() / len(pairs)
    assert set(found) <= set(pairs)
    return float(chi2.sf(sum((found[pair] - mean) ** 2 / mean for pair in pairs), len(pairs) - 1))


def test_every_set_of_groups_is_equally_likely_to_be_kept(engine: DuckDB) -> None:
    assert p_value(kept_pairs(engine, salted(["name"], "salt"), 8000)) > ALPHA
    assert p_value(kept_pairs(engine, "hash(name, unit, salt)", 8000)) < ALPHA  # salt combined last


def test_another_unit_keeps_other_groups_under_the_same_salt(engine: DuckDB) -> None:
    rows = [
        {"person": person, "colour": f"group{i}", "size": 1, "value": 1.0}
        for person in range(3000)
        for i in range(6)
    ]
    found = answer(engine, rows, Contributions("drop", "l1", 2, 100, 1))
    counts = [found[f"group{i}", 1][0] for i in range(6)]
    assert sum(counts) == 6000
    square = sum((count - 1000) ** 2 for count in counts) / (1000 * (1 - 2 / 6)) * 5 / 6
    assert chi2.sf(square, 5) > ALPHA


def test_groups_with_equal_hashes_never_exceed_the_limit(engine: DuckDB) -> None:
    hashes = {"a": 1, "b": 2, "c": 2, "d": 3}  # b and c tie across the limit of two: neither is kept
    engine.execute("CREATE OR REPLACE TEMP TABLE tied (unit INT, hash INT)")
    for hashed in hashes.values():
        engine.execute(f"INSERT INTO tied VALUES (1, {hashed})")
    kept = {}
    for most in range(1, 5):
        query = exp.select("hash").from_("tied").qualify(among_least("hash", most))
        kept[most] = sorted(engine.stream(query).read_all().column("hash").to_pylist())
    assert kept == {1: [1], 2: [1], 3: [1, 2, 2], 4: [1, 2, 2, 3]}


def one_total(engine: DuckDB, total: Total, n: int, s: int) -> int:
    """The integer of one (unit, group) whose n rows have the sum s before bounds."""
    whole = "BIGINT" if total.high <= 2**31 else "HUGEINT"
    held = f"(SELECT CAST({n} AS BIGINT) AS n0, CAST({s} AS {whole}) AS s0)"
    query = exp.select(exp.alias_(bounded(0, total), "v")).from_(exp.maybe_parse(held, dialect="duckdb"))
    (found,) = engine.stream(query).read_all().column("v").to_pylist()
    return int(found)


@settings(max_examples=60, deadline=None, suppress_health_check=QUIET)
@given(data=st.data(), rows=st.integers(1, 5), reach=st.sampled_from([1, 1000, 1 << 24, 1 << 31, 1 << 40]))
def test_a_total_is_its_share_over_any_likely_number_of_rows(
    engine: DuckDB, data: st.DataObject, rows: int, reach: int
) -> None:
    n = data.draw(st.one_of(st.integers(0, 10), st.integers(0, 2**31)))
    s = data.draw(st.one_of(st.integers(-n * reach, n * reach), st.sampled_from([-n * reach, n * reach])))
    expected = s if n <= rows else math.trunc(Fraction(s * rows, n))
    assert one_total(engine, Total("value", rows, Fraction(1), 0, -reach, reach), n, s) == expected


@pytest.mark.parametrize("rows", [1, 1 << 30])
@pytest.mark.parametrize("reach", [1, 1 << 31, 1 << 32])
def test_an_absurd_number_of_rows_neither_raises_nor_exceeds_the_bound(
    engine: DuckDB, rows: int, reach: int
) -> None:
    total = Total("value", rows, Fraction(1), 0, -reach, reach)
    largest = 2**62 if reach <= 2**31 else 2**95
    for n, s in itertools.product((2**33, 2**60, 2**63 - 1), (largest, largest - 12_345, 2**40)):
        assert abs(one_total(engine, total, n, s)) <= total.bound
        assert one_total(engine, total, n, -s) == -one_total(engine, total, n, s)


@pytest.mark.parametrize("over", ["weight", "drop"])
def test_the_histogram_counts_each_unit_once_cut_at_max_keys(engine: DuckDB, over: Over) -> None:
    sizes = [1, 1, 2, 3, 5, 5, 6, 9]
    rows = [
        {"person": who, "colour": f"c{i}", "size": None, "value": None}
        for who, size in enumerate(sizes)
        for i in range(size)
    ]
    sealed = ask(
        engine,
        pa.Table.from_pylist(rows, schema=SCHEMA),
        unit="person",
        groups=GROUPS,
        measures=MEASURES,
        contributions=Contributions(over, "l2", 2, 5, ONE),
        coverage=(1, 2, 3, 4, 5),
    )
    assert sealed.coverage == (2, 1, 1, 0, 4)
