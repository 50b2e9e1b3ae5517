"""Enclosures against mpmath at 3,000 bits: both ends on the right side, and as close as promised."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.brackets import exponential, logarithm, negative_exponential, normal_tail, pi, square_root

BITS = 3000
naturals = st.integers(0, 10**30)
positives = st.integers(1, 10**30)
precisions = st.sampled_from([8, 53, 64, 192, 700])


def real(number: Fraction) -> mpmath.mpf:
    return mpmath.mpf(number.numerator) / number.denominator


@given(naturals, positives, precisions)
@settings(max_examples=300, deadline=None)
def test_negative_exponential_lies_between_its_ends_two_units_apart(n: int, d: int, precision: int) -> None:
    low, high = negative_exponential(n, d, precision)
    with mpmath.workprec(BITS):
        truth = mpmath.exp(-mpmath.mpf(n) / d) * mpmath.mpf(2) ** precision
        assert low <= truth <= high
    assert high - low <= 2


@pytest.mark.parametrize("x", ["0", "1", "-1", "1/3", "-700", "700", "5000", "-5000", "1/1000000007"])
def test_exponential_is_relative_at_both_signs(x: str) -> None:
    low, high = exponential(Fraction(x))
    with mpmath.workprec(20_000):
        assert real(low) <= mpmath.exp(real(Fraction(x))) <= real(high)
    assert high / low <= 1 + Fraction(4, 1 << 128)


def test_exponential_refuses_what_it_cannot_enclose_quickly() -> None:
    with pytest.raises(OverflowError):
        exponential(Fraction(10**300))


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
@settings(max_examples=200, deadline=None)
def test_logarithm_lies_between_its_ends(x: Fraction) -> None:
    low, high = logarithm(x)
    with mpmath.workprec(BITS):
        assert real(low) <= mpmath.log(real(x)) <= real(high)
    assert high - low <= Fraction(1, 1 << 128)


@given(st.fractions(min_value=-45, max_value=45, max_denominator=10**9), st.sampled_from([32, 64, 128, 900]))
@settings(max_examples=150, deadline=None)
def test_normal_tail_lies_between_its_ends(x: Fraction, precision: int) -> None:
    low, high = normal_tail(x, precision)
    with mpmath.workprec(BITS):
        assert real(low) <= mpmath.erfc(real(x) / mpmath.sqrt(2)) / 2 <= real(high)
    assert high - low <= Fraction(3, 1 << precision)


def test_normal_tail_far_out_is_at_most_one_unit() -> None:
    assert normal_tail(Fraction(10**300), 64) == (Fraction(0), Fraction(1, 1 << 64))


@given(st.fractions(min_value=0, max_value=10**30))
@settings(max_examples=200, deadline=None)
def test_square_root_ends_enclose_the_number_when_squared(x: Fraction) -> None:
    low, high = square_root(x)
    assert low * low <= x <= high * high
    assert high - low <= Fraction(1, 1 << 128)


def test_an_exact_root_has_equal_ends() -> None:
    assert square_root(Fraction(9, 4)) == (Fraction(3, 2), Fraction(3, 2))


def test_pi_lies_between_its_ends() -> None:
    low, high = pi()
    with mpmath.workprec(BITS):
        assert real(low) < mpmath.pi < real(high)
    assert high - low <= Fraction(1, 1 << 128)


def test_a_tail_of_many_units_is_not_called_one_unit() -> None:
    low, high = normal_tail(Fraction(9), 64)  # P(Z >= 9) = 1.128588e-19, 2.08 units of 2**-64
    assert low <= Fraction("1.1285884059538406e-19") <= high


@pytest.mark.parametrize("x", ["9", "12.3", "28", "37.0471", "52", "-37.0471", "1e9/29000001"])
@pytest.mark.parametrize("bits", [4, 40, 80, 200, 1000])
def test_a_tail_far_out_is_known_in_proportion(x: str, bits: int) -> None:
    top, _, bottom = x.partition("/")
    point = Fraction(top) / Fraction(bottom or 1)
    with mpmath.workprec(BITS):
        truth = mpmath.erfc(real(point) / mpmath.sqrt(2)) / 2
        precision = bits - int(
            mpmath.floor(mpmath.log(mpmath.erfc(abs(real(point)) / mpmath.sqrt(2)) / 2, 2))
        )
        low, high = normal_tail(point, precision)
        assert real(low) <= truth <= real(high)
    assert high - low <= Fraction(3, 1 << precision)
