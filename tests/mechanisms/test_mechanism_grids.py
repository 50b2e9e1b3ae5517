"""Private values on a public grid: rounding as stated, nothing raised by a value, sensitivities by force."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import ceil, floor, inf, nan, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deniable.errors import ParameterError
from deniable.mechanisms.grids import LIMIT, Grid, checked_shape, fine_grid, whole_grid

FLOATS = st.floats(allow_nan=True, allow_infinity=True)


def naive(x: Fraction, exponent: int) -> int:
    """The rule, in one line of rationals."""
    return min(max(floor(x / Fraction(2) ** exponent + Fraction(1, 2)), -LIMIT), LIMIT)


def number(value: object, exponent: int) -> int:
    return int(Grid(exponent, (), False).integers(value)[0])


@given(
    st.fractions() | st.integers() | st.floats(allow_nan=False, allow_infinity=False), st.integers(-80, 80)
)
def test_a_number_is_rounded_up_from_the_half_on_the_exact_rational(
    value: Fraction | int | float, exponent: int
) -> None:
    assert number(value, exponent) == naive(Fraction(value), exponent)


@given(st.lists(FLOATS, min_size=1, max_size=20), st.integers(-1000, 900))
@example([float("nan"), 1.0, -inf], 0)
def test_arrays_of_floats_are_rounded_exactly_as_single_numbers(values: list[float], exponent: int) -> None:
    grid = Grid(exponent, (len(values),), False)
    assert list(grid.integers(np.array(values))) == [number(value, exponent) for value in values]


@pytest.mark.parametrize("exponent", [-3, 0, 2])
def test_halves_and_their_neighbours_go_the_right_way_in_arrays(exponent: int) -> None:
    halves = [(k + 0.5) * 2.0**exponent for k in (-(2**40), -3, -2, -1, 0, 1, 2, 2**40)]
    values = [float(y) for x in halves for y in (x, np.nextafter(x, -inf), np.nextafter(x, inf))]
    values += [5e-324, -5e-324, 0.0, -0.0, 2.0**70, -(2.0**70)]
    found = Grid(exponent, (len(values),), False).integers(np.array(values))
    assert list(found) == [naive(Fraction(value), exponent) for value in values]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("exponent", [-70, -60, -20, 0, 3])
def test_whole_numbers_of_every_width_never_wrap(dtype: str, exponent: int) -> None:
    limits = np.iinfo(dtype)
    values = np.array([limits.min, 0, 1, limits.max], dtype)
    found = Grid(exponent, (4,), False).integers(values)
    assert list(found) == [naive(Fraction(int(value)), exponent) for value in values]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "longdouble", "object"])
def test_floats_of_every_width_count_as_the_binary_number_that_they_are(dtype: str) -> None:
    values = np.array([0.1, -2.5, 0.0, 3.25], dtype)
    found = Grid(-12, (4,), False).integers(values)
    assert list(found) == [naive(Fraction(*value.as_integer_ratio()), -12) for value in values]


@pytest.mark.parametrize(
    ("value", "steps"),
    [
        (nan, 0),
        (None, 0),
        (pd.NA, 0),
        (np.float32("nan"), 0),
        (Decimal("nan"), 0),
        (Decimal("sNaN"), 0),
        (np.ma.masked, 0),
        (inf, LIMIT),
        (-inf, -LIMIT),
        (np.longdouble("1e4000"), LIMIT),
        (Decimal("-inf"), -LIMIT),
        (Decimal("1e999999"), LIMIT),
        (Decimal("-1e999999"), -LIMIT),
        (Decimal("1e-999999"), 0),
        (Decimal("0.75"), 3),
        (10**400, LIMIT),
        (-(10**400), -LIMIT),
        (Fraction(1, 10**400), 0),
        (np.uint64(2**64 - 1), LIMIT),
        (np.array(0.75), 3),
        (1.7e308, LIMIT),
        (-0.0, 0),
    ],
)
def test_no_value_raises_and_each_has_its_place(value: object, steps: int) -> None:
    assert number(value, -2) == steps


def test_an_array_of_odd_objects_has_the_same_places() -> None:
    values = [nan, None, pd.NA, inf, 10**400, Fraction(3, 4), Decimal("0.75"), 1]
    found = Grid(-2, (8,), False).integers(values)
    assert list(found) == [0, 0, 0, LIMIT, LIMIT, 3, 3, 4]
    masked = np.ma.MaskedArray([5.0, 7.0], mask=[True, False])
    assert list(Grid(0, (2,), False).integers(masked)) == [0, 7]


@pytest.mark.parametrize("value", [True, np.True_, "37", b"37", 37j, object(), np.datetime64("2037-01-01")])
def test_another_type_is_refused_without_showing_the_value(value: object) -> None:
    with pytest.raises(ParameterError, match="value must be a number, got 'a value of type") as caught:
        number(value, 0)
    assert "37" not in str(caught.value)


def test_another_shape_is_refused_without_showing_the_value() -> None:
    grid = Grid(0, (2, 3), False)
    for value in ([37, 37], np.full((3, 2), 37), np.full(6, 37)):
        with pytest.raises(ParameterError, match=r"has another shape, got 'shape \(") as caught:
            grid.integers(value)
        assert "37" not in str(caught.value)
    for wrong in (37, "37", np.array(["37"] * 6).reshape(2, 3)):
        with pytest.raises(ParameterError, match="must") as caught:
            grid.integers(wrong)
        assert "37" not in str(caught.value)


def test_one_number_moves_by_the_sensitivity_in_steps_rounded_up_and_sometimes_by_all_of_that() -> None:
    grid = Grid(0, (), False)
    for moved in (Fraction(n, 8) for n in range(1, 25)):
        places = [Fraction(n, 8) for n in range(-16, 17)]
        worst = max(abs(number(x + moved, 0) - number(x, 0)) for x in places)
        assert worst == grid.l1(moved) == grid.l2(moved) == ceil(moved)


def test_other_rounding_rules_move_by_two_where_one_is_claimed() -> None:
    even = abs(round(Fraction(3, 2)) - round(Fraction(1, 2)))
    assert even == 2 > Grid(0, (), False).l1(Fraction(1))


def test_vectors_never_move_further_than_claimed() -> None:
    grid, quarters = Grid(0, (2,), False), [Fraction(n, 4) for n in range(-6, 7)]
    starts = [(Fraction(a, 4), Fraction(b, 4)) for a, b in product(range(4), repeat=2)]
    longest: dict[Fraction, int] = {}
    for move in product(quarters, repeat=2):
        l1, square = abs(move[0]) + abs(move[1]), move[0] ** 2 + move[1] ** 2
        for start in starts:
            before = [number(x, 0) for x in start]
            after = [number(x + m, 0) for x, m in zip(start, move, strict=True)]
            gaps = [abs(a - b) for a, b in zip(after, before, strict=True)]
            longest[l1] = max(longest.get(l1, 0), sum(gaps))
            assert sqrt(sum(gap**2 for gap in gaps)) <= grid.l2(Fraction(sqrt(square)) + Fraction(1, 10**12))
    assert all(worst <= grid.l1(moved) for moved, worst in longest.items())
    assert longest[Fraction(1)] == grid.l1(Fraction(1)) == 2


def test_whole_numbers_keep_their_sensitivity() -> None:
    assert whole_grid(Fraction(3), ()).l1(Fraction(3)) == 3
    assert whole_grid(Fraction(3), (50,)).l1(Fraction("3.9")) == 3
    assert whole_grid(Fraction(3), (50,)).l2(Fraction("3.9")) == Fraction("3.9")
    with pytest.raises(ParameterError, match="sensitivity must be at least 1"):
        whole_grid(Fraction(1, 2), ())


def test_results_are_whole_numbers_or_floats_never_minus_zero() -> None:
    steps = np.array([0, -3, LIMIT], np.int64)
    floats = Grid(-1, (3,), False).result(steps)
    assert isinstance(floats, np.ndarray)
    assert floats.dtype == np.float64
    assert list(floats) == [0.0, -1.5, 2.0**60]
    assert not np.signbit(floats[0])
    assert Grid(-1, (), False).result(steps[1:2]) == -1.5
    whole = Grid(0, (), True).result(steps[1:2])
    assert (whole, type(whole)) == (-3, int)


def test_a_fine_grid_is_fine_and_fits_64_bits() -> None:
    for sensitivity, scale, spare in product(("1e-9", "1/3", "1e9"), ("1e-6", "1", "1e12"), (1, 1000)):
        moved, noise = Fraction(sensitivity), Fraction(sensitivity) * Fraction(scale)
        grid = fine_grid(moved, noise, (), spare)
        assert noise / grid.step <= 2**55
        if noise <= moved * 2**30:
            assert 2**10 <= min(noise, moved / spare) / grid.step < 2**11


def test_a_grid_beyond_floating_point_is_refused() -> None:
    for sensitivity in ("1e-320", "1e300"):
        with pytest.raises(ParameterError, match="sensitivity leaves the range of floating point"):
            fine_grid(Fraction(sensitivity), Fraction(sensitivity), (), 1)


def test_shapes_are_whole_numbers_above_zero() -> None:
    assert checked_shape(()) == ()
    assert checked_shape(3) == (3,)
    assert checked_shape((2, 3)) == (2, 3)
    for wrong in (0, -1, 1.5, "3", (2, 0), (2**20, 2**20), True):
        with pytest.raises(ParameterError, match="shape"):
            checked_shape(wrong)
