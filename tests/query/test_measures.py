"""Measures and contribution bounds: what one unit can change, by enumeration."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import isqrt
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import ParameterError
from deniable.query.measures import LIMIT, Contributions, Count, Total, Units, weight_table

ONE = 1 << 20
Norm = Literal["l1", "l2"]


def weighted(norm: Norm, max_groups: int, max_keys: int = 100) -> Contributions:
    return Contributions("weight", norm, max_groups, max_keys, ONE)


def test_the_bound_of_a_measure_is_what_one_unit_can_have_in_one_group() -> None:
    assert Units().bound == 1
    assert Count(None, 3).bound == 3
    assert Count("spend", None).bound == 1
    assert Total("spend", 3, Fraction(1, 4), 0, -8, 400).bound == 1200
    assert Total("spend", 3, Fraction(1, 4), 100, -500, 400).bound == 1500
    assert Total("spend", None, Fraction(4), 0, 0, 7).bound == 7


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_weights_are_one_up_to_max_groups_and_fall_as_the_norm_asks(norm: Norm) -> None:
    table = weight_table(weighted(norm, 3))
    assert len(table) == 101
    assert table[:4] == [ONE] * 4
    for m in range(4, 101):
        if norm == "l1":
            assert m * table[m] <= 3 * ONE < m * (table[m] + 1)
        else:
            assert m * table[m] ** 2 <= 3 * ONE**2 < m * (table[m] + 1) ** 2


def test_weights_have_their_published_values() -> None:
    assert weight_table(weighted("l1", 3))[100] == 31457  # 3 * 2**20 / 100
    assert weight_table(weighted("l2", 3))[12] == 524288  # half of 2**20: sqrt(3 / 12)


@given(
    norm=st.sampled_from(["l1", "l2"]),
    max_groups=st.integers(1, 60),
    max_keys=st.integers(1, 60),
    bound=st.integers(1, 1000),
)
def test_the_bounds_of_weights_are_the_largest_over_every_number_of_groups(
    norm: Norm, max_groups: int, max_keys: int, bound: int
) -> None:
    contributions = weighted(norm, max_groups, max_keys)
    table = weight_table(contributions)
    measure = Count(None, bound)
    assert contributions.l1(measure) == max(m * bound * w for m, w in enumerate(table))
    square = max(m * (bound * w) ** 2 for m, w in enumerate(table))
    assert (contributions.l2(measure) - 1) ** 2 < square <= contributions.l2(measure) ** 2


@given(max_groups=st.integers(1, 8), max_keys=st.integers(1, 8), one=st.sampled_from([1, ONE]))
def test_the_bounds_of_dropping_are_those_of_the_groups_that_are_left(
    max_groups: int, max_keys: int, one: int
) -> None:
    contributions = Contributions("drop", "l1", max_groups, max_keys, one)
    left = min(max_groups, max_keys)
    assert contributions.groups == left
    entries = [2 * one] * left
    assert contributions.l1(Count(None, 2)) == sum(entries)
    square = sum(entry * entry for entry in entries)
    assert contributions.l2(Count(None, 2)) == isqrt(square - 1) + 1


def test_a_bound_that_is_no_whole_number_is_rounded_up() -> None:
    assert Contributions("drop", "l2", 2, 100, 1).l2(Units()) == 2  # sqrt(2)
    assert Contributions("drop", "l2", 4, 100, 1).l2(Units()) == 2
    assert Contributions("drop", "l2", 2, 100, ONE).l2(Units()) == 1482911  # 1482910.4


@pytest.mark.parametrize(
    ("grid", "low", "high", "max_rows"),
    [
        (Fraction(1, 10), 0, 1, 1),
        (Fraction(3), 0, 1, 1),
        (Fraction(0), 0, 1, 1),
        (Fraction(-1), 0, 1, 1),
        (Fraction(2) ** 901, 0, 1, 1),
        (Fraction(2) ** -901, 0, 1, 1),
        (Fraction(1), 1, 0, 1),
        (Fraction(1), 0, LIMIT + 1, 1),
        (Fraction(1), 0, LIMIT // 2, 3),
        (Fraction(1), 0, 1, 0),
        (Fraction(1), 0, 1, 1 << 31),
    ],
)
def test_a_total_that_cannot_be_summed_exactly_is_refused(
    grid: Fraction, low: int, high: int, max_rows: int
) -> None:
    with pytest.raises(ParameterError):
        Total("spend", max_rows, grid, 0, low, high)


def test_limits_that_are_no_limits_are_refused() -> None:
    for field, number in itertools.product(("max_groups", "max_keys", "one"), (0, -1, 1 << 21)):
        given_ = {"max_groups": 3, "max_keys": 100, "one": 1, field: number}
        with pytest.raises(ParameterError, match=field):
            Contributions("drop", "l1", **given_)
