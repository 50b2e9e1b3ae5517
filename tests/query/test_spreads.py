"""Variance and standard deviation: against plain Python, neighbours, and intervals that hold."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from colours import ALPHA, Row, bits, some_rows, table
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from deniable.query import aggregates as dn
from deniable.query.grids import squares, total
from deniable.query.measures import Count, Squares, Total
from deniable.query.plan import Plan
from deniable.query.spreads import spread
from deniable.query.survey import protect

BOUNDS = [(0, 100), (-5, 3), (-1000, -999), (0, "1e-140"), ("-1e150", "1e150"), (0, 2**62), ("0.1", "0.3")]


def exact_variance(values: list[float], low: float, high: float) -> float:
    clamped = [Fraction(min(max(value, low), high)) for value in values]
    mean = sum(clamped) / len(clamped)
    return float(sum((value - mean) ** 2 for value in clamped) / len(clamped))


def ends(bounds: Any) -> tuple[Fraction, Fraction]:
    return Fraction(bounds[0]), Fraction(bounds[1])


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("one", [1, 1 << 20])
def test_squares_fit_and_lose_as_few_bits_as_they_must(bounds: Any, one: int) -> None:
    of = total("x", ends(bounds), centred=True, whole_numbers=False, max_rows=2, one=one, population=10**6)
    found = squares(of, one=one, population=10**6)
    assert one * found.bound * 10**6 <= 1 << 61
    assert found.high <= 1 << 24
    if found.shift:
        wider = ((max(-of.low, of.high) ** 2 + (1 << found.shift >> 2)) >> (found.shift - 1)) + 1
        assert one * 2 * (wider // 2) * 10**6 > 1 << 61 or wider // 2 > 1 << 24
    largest = max(abs(y - found.centre) for y in (0, found.top))
    assert found.bound == 2 * largest == 2 * found.high


@given(st.integers(-(2**24), 2**24), st.integers(-(2**24), 2**24), st.integers(0, 50), st.integers(1, 9))
def test_no_square_is_larger_than_its_bound(first: int, second: int, shift: int, rows: int) -> None:
    of = Total("x", rows, Fraction(1), 0, *sorted((first, second)))
    found = Squares(of, shift)
    sizes = [
        abs(math.floor(Fraction(x * x, 2**shift) + Fraction(1, 2)) - found.centre)
        for x in (of.low, of.high, min(max(0, of.low), of.high))
    ]
    assert max(*sizes, found.centre) * rows <= found.bound
    assert found.bound <= (found.top + 1) // 2 * rows


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("bounds", [(0, 100), (-1000, 250), (98, 99)])
def test_with_little_noise_the_numbers_are_those_of_plain_python(noise: Any, bounds: Any) -> None:
    rows = some_rows(5, people=400, rows=400)
    of_each: dict[str | None, list[float]] = {}
    seen = set()
    once: list[Row] = []
    for person, colour, spend in rows:
        if (person, colour) in seen or colour is None:
            continue
        seen.add((person, colour))
        once.append((person, colour, spend))
        if spend is not None and math.isfinite(spend):
            of_each.setdefault(colour, []).append(spend)
    query = (
        protect(table(once), unit="person", population=1000)
        .group_by("colour", keys=list(of_each), max_groups=6, over="drop")
        .aggregate(
            v=dn.variance("spend", bounds=bounds, max_rows=1), s=dn.std("spend", bounds=bounds, max_rows=1)
        )
    )
    release = query.release(epsilon=10**6, delta="1e-6", noise=noise, coverage=False, bits=bits(2))
    for row in release.table.to_pylist():
        expected = exact_variance(of_each[row["colour"]], *bounds)
        span = bounds[1] - bounds[0]
        assert row["v"] == pytest.approx(expected, abs=span**2 / 10_000)
        assert row["v_low"] - span**2 / 2**15 <= expected <= row["v_high"] + span**2 / 2**15
        assert row["s"] == pytest.approx(math.sqrt(row["v"]))
        assert row["s_low"] <= row["s"] <= row["s_high"]


def three(plan: Plan) -> tuple[Any, Any, Any]:
    squared, summed, counted = (noisy.measure for noisy in plan.price.measured)
    assert isinstance(squared, Squares)
    assert isinstance(summed, Total)
    assert isinstance(counted, Count)
    return squared, summed, counted


def test_a_mean_and_a_spread_share_their_sum_and_their_count() -> None:
    query = protect(table([]), unit="person").aggregate(
        m=dn.mean("spend", bounds=(0, 9), max_rows=2),
        s=dn.std("spend", bounds=(0, 9), max_rows=2),
        v=dn.variance("spend", bounds=(0, 9), max_rows=2),
    )
    plan = query.plan(epsilon=1)
    assert len(plan.price.measured) == 3
    assert [output.whole for output in plan.outputs] == [False] * 3
    assert "of its sum of squares" in query.release(epsilon=1, bits=bits(1)).statement
    assert "squares" in str([record["measure"] for record in plan.to_json()["measured"]])


@pytest.mark.parametrize("group", [[], [7.0], [7.0, 7.0], [0.0, 100.0]])
def test_few_rows_give_ordinary_numbers_within_what_bounds_allow(group: list[float]) -> None:
    rows: list[Row] = [(place, "red", value) for place, value in enumerate(group)]
    query = (
        protect(table(rows), unit="person")
        .group_by("colour", keys=["red", "none"])
        .aggregate(v=dn.variance("spend", bounds=(0, 100), max_rows=1))
    )
    table_of = query.release(epsilon=1, bits=bits(len(group))).table
    for row in table_of.to_pylist():
        assert 0 <= row["v_low"] <= row["v"] <= row["v_high"] <= 2500


SQUARES = Squares(Total("x", 1, Fraction(1, 4), 12, -24, 24), 2)


@given(
    exact=st.lists(st.integers(-24, 24), max_size=40),
    errors=st.tuples(*[st.integers(-100, 100)] * 3),
    widths=st.tuples(*[st.integers(1, 60)] * 3),
    one=st.sampled_from([1, 1 << 20]),
)
def test_whatever_noise_stays_within_the_widths_the_interval_holds_the_variance(
    exact: list[int], errors: tuple[int, ...], widths: tuple[int, ...], one: int
) -> None:
    aggregate = dn.variance("x", bounds=(-3, 9), max_rows=1)
    true = (
        sum(math.floor(Fraction(x * x, 4) + Fraction(1, 2)) - SQUARES.centre for x in exact) * one,
        sum(exact) * one,
        len(exact) * one,
    )
    wide = [width * one // 4 + 1 for width in widths]
    noisy = [np.array([t + e * w // 100]) for t, e, w in zip(true, errors, wide, strict=True)]
    value, low, high = (float(end[0]) for end in spread(aggregate, SQUARES, one, noisy, wide))
    assert 0 <= low <= value <= high <= 36
    if exact:
        n = len(exact)
        of_squares = (Fraction(true[0], one * n) + SQUARES.centre) * 4
        variance = float((of_squares - Fraction(true[1], one * n) ** 2) / 16)
        assert low - 1e-9 <= min(max(variance, 0), 36) <= high + 1e-9
        if all(abs(e) <= 1 for e in errors) and max(wide) * 50 < true[2]:
            assert value == pytest.approx(max(variance, 0), abs=8)


def test_a_count_that_may_be_zero_says_nothing_about_the_spread() -> None:
    aggregate = dn.std("x", bounds=(-3, 9), max_rows=1)
    numbers = [np.array([-50, 3]), np.array([4, 9]), np.array([4, -7])]
    value, low, high = spread(aggregate, SQUARES, 1, numbers, [5, 5, 5])
    assert low.tolist() == [0, 0]
    assert high.tolist() == pytest.approx([6, 6])
    assert ((value >= 0) & (value <= 6)).all()


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_intervals_hold_the_bounded_value_as_often_as_they_say(noise: Any) -> None:
    keys = [f"key {place}" for place in range(1500)]
    rows: list[Row] = []
    true = []
    for place, key in enumerate(keys):
        values = [float((7 * place + 13 * other) % 101) for other in range(20 + place % 60)]
        rows += [(1000 * place + other, key, value) for other, value in enumerate(values)]
        true.append(exact_variance(values, 0, 100))
    query = (
        protect(table(rows), unit="person", population=10**6)
        .group_by("colour", keys=keys)
        .aggregate(v=dn.variance("spend", bounds=(0, 100), max_rows=1))
    )
    found = query.release(epsilon=20, delta="1e-7", noise=noise, coverage=False, bits=bits(11)).table
    low, high = (np.array(found.column(name).to_pylist()) for name in ("v_low", "v_high"))
    held = int(((low - 0.5 <= true) & (true <= high + 0.5)).sum())
    assert binom.cdf(held, len(keys), 0.945) > ALPHA
    narrow = (low + high) / 2 + np.array([[-1], [1]]) * (high - low) / 12
    assert binom.cdf(int(((narrow[0] <= true) & (true <= narrow[1])).sum()), len(keys), 0.945) < ALPHA


def neighbours_of(plan: Plan, rows: list[Row]) -> list[tuple[int, ...]]:
    """The un-noised integers of a total, straight from the measures."""
    from deniable.engines.duckdb import DuckDB
    from deniable.query.collect import collect

    survey = protect(table(rows), unit="person")
    with DuckDB(threads=1) as engine:
        sealed = collect(
            engine,
            survey.rows(engine, ["person", "colour", "spend"]),
            unit="person",
            groups=("colour",),
            keys=None,
            measures=[noisy.measure for noisy in plan.price.measured],
            contributions=plan.price.contributions,
            bits=bits(4),
            coverage=None,
        )
        return [tuple(row.values()) for batch in sealed.batches() for row in batch.to_pylist()]


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("over", ["weight", "drop"])
@pytest.mark.parametrize("value", [50.0, 0.0, 1e300, math.inf])
def test_a_heavy_unit_moves_squares_by_no_more_than_is_priced(noise: Any, over: Any, value: float) -> None:
    query = (
        protect(table([]), unit="person")
        .group_by("colour", max_groups=3, over=over)
        .aggregate(s=dn.std("spend", bounds=(0, 100), max_rows=2))
    )
    plan = query.plan(epsilon=1, delta="1e-6", noise=noise, coverage=False)
    base = some_rows(3, people=9, rows=60)
    heavy: list[Row] = [(77, f"only {place % 30}", value) for place in range(90)]
    before = {row[0]: row[1:] for row in neighbours_of(plan, base)}
    after = {row[0]: row[1:] for row in neighbours_of(plan, base + heavy)}
    reached = []
    for place, noisy in enumerate(plan.price.measured):
        nothing = (0,) * len(plan.price.measured)
        moves = [abs(after[k][place] - before.get(k, nothing)[place]) for k in after]
        size = sum(moves) if noise == "laplace" else math.isqrt(sum(move * move for move in moves))
        assert size <= noisy.event.sensitivity
        reached.append(size / noisy.event.sensitivity)
    if isinstance(plan.price.measured[1].measure, Squares) and math.isfinite(value):
        assert reached[1] > 0.99, "squares at the middle or at an end should use their whole bound"


def test_wide_rows_leave_no_room_and_are_refused_before_data_are_read() -> None:
    query = protect(table([]), unit="person").aggregate(s=dn.std("spend", bounds=(0, 1), max_rows=2**30))
    with pytest.raises(ValueError, match="population"):
        query.plan(epsilon=1)


def test_three_numbers_are_what_a_variance_takes() -> None:
    aggregate = dn.variance("x", bounds=(0, 1), max_rows=3)
    found = aggregate.measures(whole_numbers=False, one=1, population=None)
    squared, summed, counted = three(
        SimpleNamespace(price=SimpleNamespace(measured=[SimpleNamespace(measure=m) for m in found]))  # type: ignore[arg-type]
    )
    assert squared.of == summed
    assert counted == Count("x", 3)
