"""Published numbers from noisy integers, against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable import events
from deniable.query import aggregates
from deniable.query.measures import Count, Measure, Total, Units
from deniable.query.outputs import columns, rounded
from deniable.query.pricing import Noisy

EDGE = (1 << 62) - 1
integers = st.integers(-EDGE, EDGE) | st.integers(-(1 << 30), 1 << 30)
FULL = 1 << 20


def plan(
    aggregate: aggregates.Aggregate, measures: list[Measure], one: int, *, whole: bool, scale: int = 3
) -> Any:
    """The few facts of a plan that outputs look at."""
    measured = [
        Noisy(
            measure,
            events.DiscreteLaplace(scale=scale * one, sensitivity=one),
            (measure.grid if isinstance(measure, Total) else Fraction(1)) / one,
        )
        for measure in measures
    ]
    output = SimpleNamespace(name="x", aggregate=aggregate, parts=tuple(range(len(measures))), whole=whole)
    return SimpleNamespace(
        outputs=(output,),
        confidence=Fraction(95, 100),
        readings={},
        price=SimpleNamespace(measured=measured, contributions=SimpleNamespace(one=one)),
    )


def published(made: Any, *numbers: list[int]) -> dict[str, np.ndarray[Any, Any]]:
    return dict(columns(made, [np.array(column, np.int64) for column in numbers]))


@given(st.lists(integers | st.sampled_from([-(1 << 62), 1 << 62]), min_size=1), st.sampled_from([1, 2, FULL]))
def test_rounding_is_to_the_nearest_integer_and_halves_go_up(numbers: list[int], one: int) -> None:
    found = rounded(np.array(numbers, np.int64), one)
    assert found.tolist() == [floor(Fraction(number, one) + Fraction(1, 2)) for number in numbers]


@pytest.mark.parametrize("one", [1, FULL])
def test_counts_are_whole_and_signed_with_ends_rounded_outward(one: int) -> None:
    made = plan(aggregates.units(), [Units()], one, whole=True)
    width = made.price.measured[0].half_width(made.confidence)
    numbers = [0, 5 * one, -3 * one - one // 3, 7 * one + one // 2, EDGE, -EDGE]
    found = published(made, numbers)
    assert list(found) == ["x", "x_low", "x_high"]
    assert all(column.dtype == np.int64 for column in found.values())
    assert found["x_low"].tolist() == [floor(Fraction(number - width, one)) for number in numbers]
    assert found["x_high"].tolist() == [ceil(Fraction(number + width, one)) for number in numbers]
    assert found["x"][2] < 0


@given(st.lists(integers, min_size=1, max_size=5), st.integers(-300, 300))
def test_sums_on_a_grid_are_doubles_and_their_ends_never_shrink(numbers: list[int], power: int) -> None:
    grid = Fraction(2) ** power
    total = Total("x", 1, grid, 0, -4, 4)
    made = plan(aggregates.sum("x", bounds=(-1, 1), max_rows=1), [total], 1, whole=False)
    width = made.price.measured[0].half_width(made.confidence)
    found = published(made, numbers)
    for number, value, low, high in zip(numbers, *found.values(), strict=True):
        assert abs(Fraction(float(value)) - number * grid) <= abs(number * grid) / 2**53
        assert Fraction(float(low)) <= (number - width) * grid
        assert Fraction(float(high)) >= (number + width) * grid


BOUNDS = (Fraction(-3), Fraction(9))
CENTRED = Total("x", 1, Fraction(1, 4), 12, -24, 24)


@given(
    total=st.integers(-(10**6), 10**6),
    count=st.integers(-200, 10**5),
    errors=st.tuples(st.integers(-99, 99), st.integers(-99, 99)),
)
def test_the_interval_of_a_mean_holds_every_quotient_within_both_widths(
    total: int, count: int, errors: tuple[int, int]
) -> None:
    made = plan(aggregates.mean("x", bounds=BOUNDS, max_rows=1), [CENTRED, Count("x", 1)], 1, whole=False)
    wide = made.price.measured[0].half_width(1 - (1 - made.confidence) / 2)
    found = published(made, [total], [count])
    low, value, high = (float(found[name][0]) for name in ("x_low", "x", "x_high"))
    assert -3 <= low <= value <= high <= 9
    expected = 3 + Fraction(total, max(count, 1)) / 4
    assert value == pytest.approx(float(min(max(expected, BOUNDS[0]), BOUNDS[1])), rel=1e-12)
    true_total = total + errors[0] * wide // 100
    true_count = count + errors[1] * wide // 100
    if true_count >= 1 and abs(true_total) <= 24 * true_count:
        true = float(3 + Fraction(true_total, true_count) / 4)
        assert low - 1e-9 <= true <= high + 1e-9


def test_a_mean_over_a_count_that_may_be_zero_is_anywhere_in_its_bounds() -> None:
    made = plan(aggregates.mean("x", bounds=BOUNDS, max_rows=1), [CENTRED, Count("x", 1)], 1, whole=False)
    wide = made.price.measured[1].half_width(1 - (1 - made.confidence) / 2)
    found = published(made, [0, 50, 50], [0, -4, -wide])  # the last count may be 0 at the most
    assert found["x_low"].tolist() == [-3, -3, -3]
    assert found["x_high"].tolist() == [9, 9, 9]
    assert found["x"].tolist() == [3, 9, 9]


def test_both_widths_of_a_mean_are_taken_at_half_the_risk() -> None:
    made = plan(aggregates.mean("x", bounds=BOUNDS, max_rows=1), [CENTRED, Count("x", 1)], 1, whole=False)
    wide = made.price.measured[0].half_width(Fraction(975, 1000))
    assert wide > made.price.measured[0].half_width(Fraction(95, 100))
    found = published(made, [0], [1000])
    assert float(found["x_high"][0]) == pytest.approx(3 + wide / (1000 - wide) / 4)
    assert float(found["x_low"][0]) == pytest.approx(3 - wide / (1000 - wide) / 4)


def test_no_groups_give_empty_columns_of_the_same_types() -> None:
    made = plan(aggregates.mean("x", bounds=BOUNDS, max_rows=1), [CENTRED, Count("x", 1)], 1, whole=False)
    found = published(made, [], [])
    assert [column.dtype for column in found.values()] == [np.float64] * 3
