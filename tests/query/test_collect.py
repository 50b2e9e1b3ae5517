"""Bounded sums against plain Python: every type of column, several groups, weights, declared keys."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive_bounding import added, ask, contributed, decimal, opened, plain, weighted
from sqlglot import exp

from deniable.bits import SeededBits
from deniable.engines.duckdb import DuckDB
from deniable.errors import ParameterError
from deniable.query.collect import collect
from deniable.query.measures import LIMIT, Contributions, Count, Measure, Squares, Total, Units

ONE = 1 << 20
Norm = Literal["l1", "l2"]
SLOW_FIXTURES = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(threads=2) as opened_engine:
        yield opened_engine


KEYS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.string(), ["red", "Red", "", "a much longer name of a colour", "blå", None]),
    "integer": (pa.int64(), [0, -1, 2**63 - 1, None]),
    "boolean": (pa.bool_(), [True, False, None]),
    "date": (pa.date32(), [datetime.date(1, 1, 1), datetime.date(2024, 2, 29), None]),
    "timestamp": (pa.timestamp("us"), [datetime.datetime(2024, 2, 29, 1, 2, 3, 4), None]),
    "decimal": (pa.decimal128(9, 2), [decimal(0, 2), decimal(-150, 2), None]),
    "real": (pa.float64(), [0.0, -0.0, float("nan"), -float("nan"), float("inf"), 0.1, None]),
}
VALUES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "real": (pa.float64(), st.floats()),
    "single": (pa.float32(), st.floats(width=32)),
    "integer": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "unsigned": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "byte": (pa.int8(), st.integers(-128, 127)),
    "decimal": (pa.decimal128(18, 2), st.integers(-(10**18) + 1, 10**18 - 1).map(lambda n: decimal(n, 2))),
    "boolean": (pa.bool_(), st.booleans()),
    "text": (
        pa.string(),
        st.sampled_from(["1", "-2.5", "0.1", "nan", "inf", "1000,abc", "", "1e400", " 7 "]),
    ),
}
UNITS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "integer": (pa.int64(), [1, 2, 3, -4, None]),
    "text": (pa.string(), ["ann", "Ann", "", None]),
    "real": (pa.float64(), [1.5, 0.0, -0.0, float("nan"), None]),
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[pa.Table, list[dict[str, Any]], list[str]]:
    """A small table, its rows, and the columns to group by."""
    kinds = draw(st.lists(st.sampled_from(sorted(KEYS)), max_size=2, unique=True))
    unit_type, units = UNITS[draw(st.sampled_from(sorted(UNITS)))]
    value_type, values = VALUES[draw(st.sampled_from(sorted(VALUES)))]
    columns = {
        "person": (unit_type, st.sampled_from(units)),
        **{kind: (KEYS[kind][0], st.sampled_from(KEYS[kind][1])) for kind in kinds},
        "value": (value_type, st.one_of(st.none(), values, values)),
        "other": (pa.float64(), st.one_of(st.none(), st.floats(-9, 9), st.just(float("nan")))),
    }
    cells = [strategy for _, strategy in columns.values()]
    rows = draw(st.lists(st.tuples(*cells), max_size=25))
    schema = pa.schema([(name, kind) for name, (kind, _) in columns.items()])
    table = pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows], schema=schema)
    return table, table.to_pylist(), kinds


@st.composite
def totals(draw: st.DrawFn, column: str) -> Total:
    low, high = sorted(draw(st.lists(st.integers(-(2**24), 2**24), min_size=2, max_size=2)))
    grid = Fraction(2) ** draw(st.sampled_from([-20, -3, -1, 0, 1, 5, 40]))
    return Total(column, draw(st.integers(1, 3)), grid, draw(st.integers(-1000, 1000)), low, high)


MEASURES = st.lists(
    st.one_of(
        st.just(Units()),
        st.builds(Count, st.sampled_from([None, "other"]), st.integers(1, 3)),
        totals("value"),
        totals("other"),
        st.builds(Squares, totals("value"), st.sampled_from([0, 1, 7, 34])),
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=80, deadline=None, suppress_health_check=SLOW_FIXTURES)
@given(
    drawn=tables(),
    measures=MEASURES,
    norm=st.sampled_from(["l1", "l2"]),
    max_groups=st.integers(1, 3),
)
def test_weighted_sums_are_those_of_plain_python(
    engine: DuckDB,
    drawn: tuple[pa.Table, list[dict[str, Any]], list[str]],
    measures: list[Measure],
    norm: Norm,
    max_groups: int,
) -> None:
    table, rows, groups = drawn
    contributions = Contributions("weight", norm, max_groups, 100, ONE)
    each = contributed(rows, "person", groups, measures)
    sealed = ask(
        engine,
        table,
        unit="person",
        groups=groups,
        measures=measures,
        contributions=contributions,
        coverage=(1, 2, 3, 4, 5, 6, 7, 100),
    )
    expected = weighted(each, measures, contributions)
    if not groups and not rows_count(each):
        expected = {(): (0,) * len(measures)}
    assert opened(sealed, len(groups)) == saturated(expected)
    sizes = [len(of) for of in each.values()]
    assert sealed.coverage == (*(sizes.count(m) for m in range(1, 8)), sum(m > 7 for m in sizes))


def rows_count(each: dict[Any, Any]) -> int:
    return sum(len(of) for of in each.values())


def saturated(answer: dict[Any, tuple[int, ...]]) -> dict[Any, tuple[int, ...]]:
    return {key: tuple(min(max(x, -LIMIT), LIMIT) for x in numbers) for key, numbers in answer.items()}


@settings(max_examples=40, deadline=None, suppress_health_check=SLOW_FIXTURES)
@given(drawn=tables(), measures=MEASURES, one=st.sampled_from([1, ONE]))
def test_where_every_row_is_a_unit_rows_are_added_up(
    engine: DuckDB,
    drawn: tuple[pa.Table, list[dict[str, Any]], list[str]],
    measures: list[Measure],
    one: int,
) -> None:
    table, rows, groups = drawn
    per_row = [per_row_of(measure) for measure in measures]
    contributions = Contributions("drop", "l1", 1, 100, one)
    found = ask(
        engine, table, unit=None, groups=groups, measures=per_row, contributions=contributions, seed=3
    )
    each = contributed(rows, None, groups, per_row)
    expected = added(*each.values()) or ({} if groups else {(): (0,) * len(per_row)})
    full = {key: tuple(one * x for x in numbers) for key, numbers in expected.items()}
    assert opened(found, len(groups)) == saturated(full)


def per_row_of(measure: Measure) -> Measure:
    match measure:
        case Units():
            return measure
        case Count():
            return Count(measure.column, None)
        case Total():
            return Total(measure.column, None, measure.grid, measure.centre, measure.low, measure.high)
        case Squares(of=of, shift=shift):
            return Squares(Total(of.column, None, of.grid, of.centre, of.low, of.high), shift)
        case other:
            raise AssertionError(f"{other} is not drawn here")


def people(rows: list[tuple[Any, ...]], **types: pa.DataType) -> pa.Table:
    """A table of rows, its columns named and typed in the order given."""
    schema = pa.schema(list(types.items()))
    return pa.Table.from_pylist([dict(zip(types, row, strict=True)) for row in rows], schema=schema)


SPEND = Total("value", 2, Fraction(1), 0, 0, 100)
WEIGHTS = Contributions("weight", "l2", 3, 100, ONE)


def test_more_rows_than_allowed_count_in_proportion_and_toward_zero(engine: DuckDB) -> None:
    values = {"a": [10, 10, 11], "b": [-10, -10, -11], "c": [7], "d": [7, 8], "e": [-1, 0, 0]}
    table = people(
        [("ann", group, x) for group, held in values.items() for x in held],
        person=pa.string(),
        colour=pa.string(),
        value=pa.int64(),
    )
    total = Total("value", 2, Fraction(1), 0, -100, 100)
    once = Contributions("weight", "l2", 5, 100, 1)
    sealed = ask(
        engine,
        table,
        unit="person",
        groups=["colour"],
        measures=[Count("value", 2), total],
        contributions=once,
    )
    # 31 * 2 / 3 = 20.67, toward zero from either side; -1 * 2 / 3 = -0.67
    assert opened(sealed, 1) == {
        ("a",): (2, 20),
        ("b",): (2, -20),
        ("c",): (1, 7),
        ("d",): (2, 15),
        ("e",): (2, 0),
    }


def test_a_missing_value_is_no_value_but_its_unit_is_there(engine: DuckDB) -> None:
    odd = [float("nan"), float("inf"), -float("inf"), None]
    table = people(
        [(str(i), "red", x) for i, x in enumerate([5.0, *odd])],
        person=pa.string(),
        colour=pa.string(),
        value=pa.float64(),
    )
    measures: list[Measure] = [
        Units(),
        Count(None, 2),
        Count("value", 2),
        Total("value", 2, Fraction(1), 0, 3, 10),
    ]
    once = Contributions("weight", "l2", 1, 100, 1)
    sealed = ask(engine, table, unit="person", groups=["colour"], measures=measures, contributions=once)
    assert opened(sealed, 1) == {("red",): (5, 5, 1, 5)}


def test_text_under_a_sum_is_a_number_and_counts_as_one_everywhere(engine: DuckDB) -> None:
    table = people(
        [("1", "2.5"), ("2", "9e18 microseconds"), ("3", "1000,abc"), ("4", None), ("5", "7")],
        person=pa.string(),
        value=pa.string(),
    )
    once = Contributions("weight", "l2", 1, 100, 1)
    number = Total("value", 1, Fraction(1, 2), 0, 0, 100)
    sealed = ask(
        engine, table, unit="person", groups=[], measures=[Count("value", 1), number], contributions=once
    )
    assert opened(sealed, 0) == {(): (2, 19)}
    counted = ask(engine, table, unit="person", groups=[], measures=[Count("value", 1)], contributions=once)
    assert opened(counted, 0) == {(): (4,)}


def test_rows_without_a_unit_do_not_exist(engine: DuckDB) -> None:
    table = people(
        [(None, "red", 1.0), (None, "blue", 1.0), (1.0, "red", 2.0), (float("nan"), "red", 3.0)],
        person=pa.float64(),
        colour=pa.string(),
        value=pa.float64(),
    )
    sealed = ask(
        engine,
        table,
        unit="person",
        groups=["colour"],
        measures=[Units(), SPEND],
        contributions=WEIGHTS,
        coverage=(1, 100),
    )
    assert opened(sealed, 1) == {("red",): (ONE, 2 * ONE)}
    assert sealed.coverage == (1, 0)


def test_sums_beyond_63_bits_saturate_and_never_wrap(engine: DuckDB) -> None:
    table = people([("a", 2**62), ("b", 2**62), ("c", 2**62)], person=pa.string(), value=pa.int64())
    wide = Total("value", 1, Fraction(1), 0, 0, LIMIT)
    negative = Total("value", 1, Fraction(1), 2**62, -LIMIT, 0)
    for contributions in (WEIGHTS, Contributions("drop", "l1", 1, 100, 1)):
        sealed = ask(engine, table, unit="person", groups=[], measures=[wide], contributions=contributions)
        assert opened(sealed, 0) == {(): (LIMIT,)}
    low = people([("a", 0), ("b", 0), ("c", 0)], person=pa.string(), value=pa.int64())
    sealed = ask(engine, low, unit="person", groups=[], measures=[negative], contributions=WEIGHTS)
    assert opened(sealed, 0) == {(): (-LIMIT,)}


def test_wide_values_over_many_rows_keep_their_mean(engine: DuckDB) -> None:
    largest = 2**60
    table = people([("a", largest - i) for i in range(40)], person=pa.string(), value=pa.int64())
    wide = Total("value", 3, Fraction(1), 0, -(2**60), 2**60)
    once = Contributions("drop", "l1", 1, 100, 1)
    sealed = ask(engine, table, unit="person", groups=[], measures=[wide], contributions=once)
    assert opened(sealed, 0) == {(): ((40 * largest - 780) * 3 // 40,)}


@pytest.mark.parametrize("high", [1, 3])
def test_an_integer_column_is_centred_on_a_finer_grid_than_one(engine: DuckDB, high: int) -> None:
    grid = Fraction(1, 1 << 20)
    half = high << 19
    table = people([("a", 0), ("b", high), ("c", high), ("d", 99)], person=pa.string(), value=pa.int64())
    centred = Total("value", 1, grid, half, -half, half)
    once = Contributions("drop", "l1", 1, 100, 1)
    sealed = ask(engine, table, unit="person", groups=[], measures=[centred], contributions=once)
    assert opened(sealed, 0) == {(): (2 * half,)}


def test_a_derived_value_is_clamped_after_it_is_derived(engine: DuckDB) -> None:
    table = people([("a", 1.0), ("b", 7.0), ("c", 2e-6)], person=pa.string(), x=pa.float64())
    rows = exp.select("person", "TRY(x * 1e6) AS value").from_(engine.view(table))
    sealed = collect(
        engine,
        rows,
        unit="person",
        groups=(),
        keys=None,
        measures=[SPEND],
        contributions=Contributions("drop", "l1", 1, 100, 1),
        bits=SeededBits(1, insecure=True),
        coverage=None,
    )
    assert opened(sealed, 0) == {(): (202,)}


@pytest.mark.parametrize("unit", ["person", None])
@pytest.mark.parametrize("over", ["weight", "drop"])
def test_an_empty_table_gives_one_row_without_groups_and_none_with(
    engine: DuckDB, unit: str | None, over: Literal["weight", "drop"]
) -> None:
    table = people([], person=pa.string(), colour=pa.string(), value=pa.float64())
    rows = None if unit is None else 2
    measures: list[Measure] = [Units(), Count(None, rows), Total("value", rows, Fraction(1), 0, -5, 5)]
    contributions = Contributions(over, "l2", 1, 100, ONE)
    total = ask(engine, table, unit=unit, groups=[], measures=measures, contributions=contributions)
    assert opened(total, 0) == {(): (0, 0, 0)}
    by_colour = ask(
        engine, table, unit=unit, groups=["colour"], measures=measures, contributions=contributions
    )
    assert opened(by_colour, 1) == {}
    keys = pa.table({"colour": ["red"]})
    named = ask(
        engine, table, unit=unit, groups=["colour"], measures=measures, contributions=contributions, keys=keys
    )
    assert opened(named, 1) == {("red",): (0, 0, 0)}


@pytest.mark.parametrize("unit", ["person", None])
@pytest.mark.parametrize("over", ["weight", "drop"])
def test_declared_keys_all_appear_in_their_order_and_no_other_does(
    engine: DuckDB, unit: str | None, over: Literal["weight", "drop"]
) -> None:
    rows = [("ann", "red", 1.0), ("ann", "secret", 2.0), ("bob", "blue", 3.0), ("bob", None, 3.0)]
    table = people(rows, person=pa.string(), colour=pa.string(), value=pa.float64())
    keys = pa.table({"colour": ["white", "red", "blue", "absent"]})
    measure = Total("value", None if unit is None else 2, Fraction(1), 0, 0, 100)
    sealed = ask(
        engine,
        table,
        unit=unit,
        groups=["colour"],
        measures=[Units(), measure],
        contributions=Contributions(over, "l2", 1, 100, 1),
        keys=keys,
        coverage=None if unit is None else (1, 100),
    )
    assert list(opened(sealed, 1).items()) == [
        (("white",), (0, 0)),
        (("red",), (1, 1)),
        (("blue",), (1, 3)),
        (("absent",), (0, 0)),
    ]
    if unit is not None:
        assert sealed.coverage == (2, 0)  # each is in one declared group: the others were never counted


@settings(max_examples=40, deadline=None, suppress_health_check=SLOW_FIXTURES)
@given(drawn=tables(), data=st.data())
def test_sums_over_declared_keys_are_those_of_plain_python(
    engine: DuckDB, drawn: tuple[pa.Table, list[dict[str, Any]], list[str]], data: st.DataObject
) -> None:
    table, rows, groups = drawn
    if not groups:
        return
    present = st.tuples(*(st.sampled_from([x for x in KEYS[name][1] if x is not None]) for name in groups))
    listed = data.draw(st.lists(present, min_size=1, max_size=5))
    keys = {tuple(plain(x) for x in key): key for key in listed if "nan" not in map(plain, key)}
    declared = pa.Table.from_pylist(
        [dict(zip(groups, key, strict=True)) for key in keys.values()],
        schema=pa.schema([(name, KEYS[name][0]) for name in groups]),
    )
    measures: list[Measure] = [Units(), Count(None, 2), Total("other", 2, Fraction(1, 8), 0, -50, 50)]
    contributions = Contributions("weight", "l1", 1, 100, ONE)
    sealed = ask(
        engine,
        table,
        unit="person",
        groups=groups,
        measures=measures,
        contributions=contributions,
        keys=declared,
    )
    found = weighted(contributed(rows, "person", groups, measures, list(keys)), measures, contributions)
    assert list(opened(sealed, len(groups)).items()) == [(key, found.get(key, (0, 0, 0))) for key in keys]


@pytest.mark.parametrize(
    ("column", "declared", "value"),
    [
        (pa.int8(), pa.int64(), 1000),
        (pa.uint64(), pa.int64(), -1),
        (pa.decimal128(5, 2), pa.decimal128(6, 3), decimal(1005, 3)),
        (pa.bool_(), pa.bool_(), None),
    ],
)
def test_a_key_that_the_column_cannot_hold_is_published_and_empty(
    engine: DuckDB, column: pa.DataType, declared: pa.DataType, value: Any
) -> None:
    held = {pa.bool_(): True, pa.decimal128(5, 2): decimal(101, 2)}.get(column, 5)
    table = people([("ann", held), ("bob", None)], person=pa.string(), key=column)
    keys = pa.table({"key": pa.array([value], declared)})
    sealed = ask(
        engine, table, unit="person", groups=["key"], measures=[Units()], contributions=WEIGHTS, keys=keys
    )
    assert opened(sealed, 1) == {(value,): (0,)}


def test_single_precision_keys_are_found_by_the_decimal_that_they_print(engine: DuckDB) -> None:
    table = people([("ann", 0.1), ("bob", -0.0)], person=pa.string(), key=pa.float32())
    keys = pa.table({"key": pa.array([0.1, 0.0, 0.5], pa.float64())})
    sealed = ask(
        engine, table, unit="person", groups=["key"], measures=[Units()], contributions=WEIGHTS, keys=keys
    )
    assert opened(sealed, 1) == {(0.1,): (ONE,), (0.0,): (ONE,), (0.5,): (0,)}


def test_categories_say_nothing_of_values_that_nobody_has(engine: DuckDB) -> None:
    colours = pa.array(["red", "blue", "red"]).dictionary_encode()
    secret = pa.DictionaryArray.from_arrays(colours.indices, pa.array(["red", "blue", "secret"]))
    table = pa.table({"person": ["a", "b", "c"], "colour": secret})
    sealed = ask(engine, table, unit="person", groups=["colour"], measures=[Units()], contributions=WEIGHTS)
    assert sealed.schema.field("g0").type == pa.string()
    assert opened(sealed, 1) == {("red",): (2 * ONE,), ("blue",): (ONE,)}


def test_columns_may_have_any_name(engine: DuckDB) -> None:
    names = ["unit", "g0", 'say "x"', "select", "m"]
    types = [pa.string(), pa.string(), pa.float64(), pa.string(), pa.string()]
    table = people([("a", "r", 1.0, "s", "t")], **dict(zip(names, types, strict=True)))
    spend = Total('say "x"', 1, Fraction(1), 0, 0, 5)
    for groups in (["g0", "select", "m"], ["m", "g0"]):
        sealed = ask(
            engine, table, unit="unit", groups=groups, measures=[Count("m", 1), spend], contributions=WEIGHTS
        )
        row = {"g0": "r", "select": "s", "m": "t"}
        assert opened(sealed, len(groups)) == {tuple(row[name] for name in groups): (ONE, ONE)}


@pytest.mark.parametrize("over", ["weight", "drop"])
def test_neither_order_nor_threads_nor_files_change_one_integer(
    tmp_path: Path, over: Literal["weight", "drop"]
) -> None:
    draw = random.Random(4)
    rows = [
        (draw.randrange(300), f"colour {draw.randrange(40)}", draw.choice([draw.gauss(0, 50), None]))
        for _ in range(6000)
    ]
    measures: list[Measure] = [
        Units(),
        Count("value", 2),
        Total("value", 2, Fraction(1, 1 << 12), 0, -(2**18), 2**18),
    ]
    contributions = Contributions(over, "l2", 3, 8, ONE)
    answers = []
    for threads, parts in ((1, 1), (2, 7), (2, 3)):
        draw.shuffle(rows)
        for part in range(parts):
            held = people(rows[part::parts], person=pa.int64(), colour=pa.string(), value=pa.float64())
            pq.write_table(held, tmp_path / f"{threads}-{parts}-{part}.parquet", row_group_size=200)
        with DuckDB(threads=threads) as engine:
            files = str(tmp_path / f"{threads}-{parts}-*.parquet")
            sealed = collect(
                engine,
                exp.select("*").from_(exp.func("read_parquet", exp.Literal.string(files))),
                unit="person",
                groups=("colour",),
                keys=None,
                measures=measures,
                contributions=contributions,
                bits=SeededBits(9, insecure=True),
                coverage=(1, 8),
            )
            answers.append((opened(sealed, 1), sealed.coverage))
    assert answers[0] == answers[1] == answers[2]


def test_coverage_needs_a_unit(engine: DuckDB) -> None:
    table = people([(1.0,)], value=pa.float64())
    with pytest.raises(ParameterError, match="coverage"):
        ask(engine, table, unit=None, groups=[], measures=[Units()], contributions=WEIGHTS, coverage=(1, 100))


def test_what_cannot_be_summed_is_refused_from_its_type(engine: DuckDB) -> None:
    table = people([("a", datetime.date(2024, 1, 1))], person=pa.string(), value=pa.date32())
    with pytest.raises(ParameterError, match="does not hold numbers"):
        ask(engine, table, unit="person", groups=[], measures=[SPEND], contributions=WEIGHTS)
