"""Bounds on a probability: against enumeration in rationals, and against the incomplete beta function."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.audit.intervals import lower, tail, upper

FIVE = Fraction(1, 40)


def enumerated_tail(hits: int, trials: int, x: Fraction) -> Fraction:
    return sum(
        (comb(trials, j) * x**j * (1 - x) ** (trials - j) for j in range(hits, trials + 1)), Fraction(0)
    )


def beta(a: int, b: int, x: Fraction) -> mpmath.mpf:
    with mpmath.workdps(40):
        return mpmath.betainc(a, b, 0, mpmath.mpf(x.numerator) / x.denominator, regularized=True)


@given(st.integers(1, 60), st.data())
@settings(deadline=None, max_examples=60)
def test_the_tail_is_enclosed(trials: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(1, trials))
    x = data.draw(st.fractions(Fraction(1, 1000), Fraction(hits, trials), max_denominator=1000))
    if x == 1:
        return
    low, high = tail(hits, trials, x)
    truth = enumerated_tail(hits, trials, x)
    assert low <= truth <= high
    assert high - low <= truth / 10**13


@pytest.mark.parametrize(("hits", "trials"), [(5, 10), (10, 10), (1, 10), (70, 1000), (999, 1000), (5, 4000)])
@pytest.mark.parametrize("alpha", [FIVE, Fraction(1, 10**9)])
def test_bounds_are_those_of_clopper_and_pearson_and_never_inside_them(
    hits: int, trials: int, alpha: Fraction
) -> None:
    low, high = lower(hits, trials, alpha), upper(hits, trials, alpha)
    assert float(alpha) * (1 - 1e-6) < beta(hits, trials - hits + 1, low) <= float(alpha)
    if hits < trials:
        assert (
            float(alpha) * (1 - 1e-6) < 1 - beta(hits + 1, trials - hits, high) <= float(alpha) * (1 + 1e-9)
        )


def test_a_million_trials_are_bounded_too() -> None:
    low = lower(500_000, 1_000_000, FIVE)
    assert 0.49901 < low < 0.49903  # 1/2 less 1.96 standard deviations of 1/2000
    assert lower(90_000, 90_000, FIVE) == pytest.approx(0.025 ** (1 / 90_000), rel=1e-9)
    assert lower(90_000, 90_000, FIVE) ** 90_000 <= FIVE


def test_nothing_and_everything() -> None:
    assert lower(0, 100, FIVE) == 0
    assert upper(100, 100, FIVE) == 1
    with pytest.raises(ValueError, match="hits"):
        lower(5, 4, FIVE)
    with pytest.raises(ValueError, match="hits"):
        lower(0, 0, FIVE)


@pytest.mark.parametrize("trials", [1, 7, 30])
def test_no_probability_is_missed_more_often_than_alpha(trials: int) -> None:
    lows = [lower(hits, trials, FIVE) for hits in range(trials + 1)]
    highs = [upper(hits, trials, FIVE) for hits in range(trials + 1)]
    for x in [Fraction(i, 97) for i in range(1, 97)]:
        chances = [comb(trials, j) * x**j * (1 - x) ** (trials - j) for j in range(trials + 1)]
        assert sum(chances[j] for j in range(trials + 1) if lows[j] > x) <= FIVE
        assert sum(chances[j] for j in range(trials + 1) if highs[j] < x) <= FIVE


def test_an_interval_without_the_tails_misses_more_often() -> None:
    """The wrong twin: the observed rate less one standard error is no bound at this level."""
    trials, x = 30, Fraction(1, 2)
    chances = [comb(trials, j) * Fraction(1, 2) ** trials for j in range(trials + 1)]
    naive = [j / trials - (j / trials * (1 - j / trials) / trials) ** 0.5 for j in range(trials + 1)]
    assert sum(chance for chance, bound in zip(chances, naive, strict=True) if bound > x) > FIVE
