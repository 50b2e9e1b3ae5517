"""Whole steps in SQL against exact fractions, for every type of column."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from deniable.errors import ParameterError
from deniable.query import rounding
from deniable.query.measures import Total

RANGES = {
    "TINYINT": (-128, 127),
    "USMALLINT": (0, 65_535),
    "INTEGER": (-(2**31), 2**31 - 1),
    "BIGINT": (-(2**63), 2**63 - 1),
    "UBIGINT": (0, 2**64 - 1),
    "HUGEINT": (-(2**127), 2**127 - 1),
}
DECIMALS = [(2, 2), (9, 0), (18, 2), (18, 18), (38, 10), (38, 18), (38, 0), (20, 4)]
CONNECTION = duckdb.connect()


def nearest(x: Fraction, total: Total) -> int:
    """What X must be, in fractions: round half up, centre, clamp."""
    return min(max(math.floor(x / total.grid + Fraction(1, 2)) - total.centre, total.low), total.high)


def in_sql(values: list[Any], kind: str, total: Total) -> list[int | None]:
    """Return X of every value, computed by the engine; values arrive as text and are cast there."""
    texts = [None if value is None else str(value) for value in values]
    tree = rounding.steps(exp.column("x", table="t"), kind, total)
    query = f"""SELECT {tree.sql(dialect="duckdb")} FROM (SELECT CAST(s AS {kind}) AS x
        FROM (SELECT unnest($1::VARCHAR[]) AS s)) AS t"""
    return [row[0] for row in CONNECTION.execute(query, [texts]).fetchall()]


@st.composite
def totals(draw: st.DrawFn, finest: int = -70, coarsest: int = 70) -> Total:
    exponent = draw(st.integers(finest, coarsest))
    centre = draw(st.one_of(st.just(0), st.integers(-(2**20), 2**20), st.integers(-(2**70), 2**70)))
    ends = sorted(draw(st.lists(st.integers(-(2**24), 2**24), min_size=2, max_size=2)))
    return Total("x", 1, Fraction(2) ** exponent, centre, *ends)


def near(total: Total, fraction: Fraction) -> Fraction:
    """A value that lies a given number of steps (halves make ties) above the low end."""
    return (total.low + total.centre + fraction) * total.grid


REALS = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=100, deadline=None)
@given(total=totals(-900, 900), reals=st.lists(REALS, min_size=1), halves=st.integers(-3, 9))
def test_reals_of_any_size_are_rounded_exactly(total: Total, reals: list[float], halves: int) -> None:
    tie = float(near(total, Fraction(halves, 2)))
    values = [*reals, tie, math.nextafter(tie, -math.inf), math.nextafter(tie, math.inf)]
    expected = [nearest(Fraction(x), total) if math.isfinite(x) else None for x in values]
    assert in_sql([repr(x) for x in values], "DOUBLE", total) == expected
    assert in_sql([repr(x) for x in values], "VARCHAR", total) == expected


SINGLES = st.floats(width=32, allow_nan=True, allow_infinity=True)


@settings(max_examples=50, deadline=None)
@given(total=totals(), values=st.lists(SINGLES, min_size=1))
def test_single_precision_is_rounded_exactly(total: Total, values: list[float]) -> None:
    expected = [nearest(Fraction(x), total) if math.isfinite(x) else None for x in values]
    assert in_sql([repr(x) for x in values], "FLOAT", total) == expected


@pytest.mark.parametrize("kind", RANGES)
@settings(max_examples=30, deadline=None)
@given(data=st.data(), total=totals(-64, 62))
def test_integers_of_any_width_are_rounded_exactly(kind: str, data: st.DataObject, total: Total) -> None:
    low, high = RANGES[kind]
    tie = math.floor(near(total, data.draw(st.fractions(-2, 4, max_denominator=4))))
    inside = [min(max(tie + step, low), high) for step in (-1, 0, 1)]
    values = [*data.draw(st.lists(st.integers(low, high))), low, high, *inside, 0]
    assert in_sql([*values, None], kind, total) == [*(nearest(Fraction(x), total) for x in values), None]


@pytest.mark.parametrize(("width", "places"), DECIMALS)
@settings(max_examples=30, deadline=None)
@given(data=st.data(), total=totals(-64, 62))
def test_decimals_of_any_width_are_rounded_exactly(
    width: int, places: int, data: st.DataObject, total: Total
) -> None:
    largest = 10**width - 1
    tie = math.floor(near(total, data.draw(st.fractions(-2, 4, max_denominator=4))) * 10**places)
    inside = [min(max(tie + step, -largest), largest) for step in (-1, 0, 1)]
    digits = [*data.draw(st.lists(st.integers(-largest, largest))), largest, -largest, *inside, 0]
    values = (
        [Decimal(n).scaleb(-places) for n in digits] if width <= 28 else [exact(n, places) for n in digits]
    )
    expected = [nearest(Fraction(n, 10**places), total) for n in digits]
    assert in_sql([*(f"{x:f}" for x in values), None], f"DECIMAL({width},{places})", total) == [
        *expected,
        None,
    ]


@pytest.mark.parametrize("sign", [1, -1])
def test_ends_that_no_integer_of_128_bits_reaches_clamp_every_value(sign: int) -> None:
    total = Total("x", 1, Fraction(1 << 62), sign * ((1 << 65) + 5), 0, 1)
    values = ["0.0000000000", f"{'9' * 28}.{'9' * 10}", f"-{'9' * 28}.{'9' * 10}"]
    assert in_sql([*values, None], "DECIMAL(38,10)", total) == [*[0 if sign > 0 else 1] * 3, None]


def exact(digits: int, places: int) -> Decimal:
    """digits * 10**-places without the 28 digits of the decimal module's own arithmetic."""
    return Decimal((int(digits < 0), tuple(int(d) for d in str(abs(digits))), -places))


def test_a_decimal_of_more_than_eighteen_places_counts_by_its_first_eighteen() -> None:
    total = Total("x", 1, Fraction(1, 1 << 20), 0, 0, 1 << 20)
    values = ["0.123456789012345678901234567890", "0.5", "-0.000000000000000000000000000001", "7.25"]
    expected = [nearest(Fraction(x), total) for x in values]
    assert in_sql(values, "DECIMAL(38,30)", total) == expected


@pytest.mark.parametrize("kind", ["BIGINT", "HUGEINT", "DECIMAL(18,4)"])
@pytest.mark.parametrize("exponent", [-900, -65, 63, 900])
def test_a_grid_far_from_one_still_clamps_whole_numbers(kind: str, exponent: int) -> None:
    total = Total("x", 1, Fraction(2) ** exponent, 0, -5, 5)
    values = [-(10**13), -1, 0, 1, 10**13]
    assert in_sql(values, kind, total) == [nearest(Fraction(x), total) for x in values]


def test_a_tenth_on_a_binary_grid_stays_within_its_bound() -> None:
    grid = Fraction(1, 1 << 23)  # a tenth is 838860.8 steps: rounded after the clamp it would be 838861
    total = Total("x", 1, grid, 0, 0, math.floor(Fraction(1, 10) / grid))
    assert in_sql(["0.1", "7", "0.05"], "DOUBLE", total) == [838860, 838860, 419430]


def test_what_only_looks_like_a_half_is_not_rounded_up() -> None:
    below = math.nextafter(0.5, 0)  # adding 1/2 to it gives 1.0 in floating point
    total = Total("x", 1, Fraction(1), 0, -10, 10)
    assert in_sql([repr(below), "0.5", "-0.5", "-0.500000001", "5e-324", "-5e-324"], "DOUBLE", total) == [
        0,
        1,
        0,
        -1,
        0,
        0,
    ]


def test_missing_values_are_decided_last_and_never_look_like_a_bound() -> None:
    total = Total("x", 1, Fraction(1), 0, 3, 10)
    assert in_sql(["nan", "inf", "-inf", None, "1e308", "-1e308"], "DOUBLE", total) == [
        None,
        None,
        None,
        None,
        10,
        3,
    ]
    garbled = ["9e18 microseconds", "1000,abc", "", "NaN", "-Infinity", "1e400", "twelve", "0x10", None]
    assert in_sql(garbled, "VARCHAR", total) == [None] * len(garbled)
    assert in_sql([" 4 ", "4.0", "+4", "4e0"], "VARCHAR", total) == [4] * 4


def test_true_counts_one_and_false_nothing() -> None:
    total = Total("x", 1, Fraction(1), 0, 0, 1)
    assert in_sql(["true", "false", None], "BOOLEAN", total) == [1, 0, None]


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "INTERVAL", "BLOB", "BIGINT[]", "ENUM('a')"])
def test_what_is_no_number_cannot_be_summed(kind: str) -> None:
    with pytest.raises(ParameterError, match="does not hold numbers"):
        rounding.steps(exp.column("x"), kind, Total("spend", 1, Fraction(1), 0, 0, 1))


def one(tree: exp.Expression, text: str, kind: str) -> Any:
    query = f"SELECT {tree.sql(dialect='duckdb')} FROM (SELECT CAST($1 AS {kind}) AS x)"
    found = CONNECTION.execute(query, [text]).fetchone()
    assert found is not None
    return found[0]


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT"])
def test_there_is_one_zero_and_one_nan_among_keys(kind: str) -> None:
    key = rounding.key(exp.column("x"), kind)
    assert math.copysign(1, one(key, "-0.0", kind)) == 1
    assert math.isnan(one(key, "nan", kind))
    assert one(key, "-2.5", kind) == -2.5
    assert one(key, "-inf", kind) == -math.inf


def test_a_unit_that_is_nan_is_missing() -> None:
    unit = rounding.unit(exp.column("x"), "DOUBLE")
    assert one(unit, "nan", "DOUBLE") is None
    assert one(unit, "2.5", "DOUBLE") == 2.5


def test_an_enum_leaves_as_text_without_its_list_of_values() -> None:
    kind = "ENUM('red', 'secret')"
    assert one(rounding.key(exp.column("x"), kind), "red", kind) == "red"
    assert rounding.key_type(kind) == "VARCHAR"
