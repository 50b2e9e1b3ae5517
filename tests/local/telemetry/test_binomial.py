"""Intervals where everybody is at an end: coverage from the exact law of the count, not from runs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from deniable.local import Aggregate
from deniable.local.telemetry import RAPPOR, DBitFlip, OneBitMean
from deniable.local.telemetry.binomial import rates

SURE = ["0.5", "0.95", "0.999"]


def law(*parts: tuple[int, float]) -> NDArray[np.float64]:
    """The law of how many ones groups of people give: (how many, how likely each is a one)."""
    found = np.ones(1)
    for many, likely in parts:
        found = np.convolve(found, binom.pmf(np.arange(many + 1), many, likely))
    return found


def covered(odds: NDArray[np.float64], low: Sequence[float], high: Sequence[float], truth: float) -> float:
    return float(odds[(np.array(low) <= truth + 1e-12) & (truth - 1e-12 <= np.array(high))].sum())


@pytest.mark.parametrize("confidence", SURE)
@pytest.mark.parametrize(("epsilon", "n"), [(8, 1000), (4, 20), (8, 1), (1, 50), (0.1, 10), (20, 200)])
def test_the_mean_is_held_where_everybody_is_at_a_bound_or_half_and_half(
    epsilon: float, n: int, confidence: str
) -> None:
    found = OneBitMean(epsilon=epsilon, bounds=(0, 10))
    ends = [Aggregate(found, n, np.array([c], np.int64)).estimate(confidence) for c in range(n + 1)]
    low, high = [float(one.low) for one in ends], [float(one.high) for one in ends]
    zero, one = (float(found.probabilities(value)[1]) for value in (0, 10))
    for upper in (0, 1, n // 2, n):
        odds = law((upper, one), (n - upper, zero))
        assert covered(odds, low, high, 10 * upper / n) >= float(confidence)
    middle = law((n, float(found.probabilities(5)[1])))
    assert covered(middle, low, high, 5.0) >= float(confidence)
    assert all(float(one.standard_error) > 0 for one in ends)


@pytest.mark.parametrize("confidence", SURE)
@pytest.mark.parametrize(("epsilon", "n"), [(8, 300), (12, 30), (2, 40), (20, 3)])
def test_an_item_that_nobody_has_or_everybody_is_held(epsilon: float, n: int, confidence: str) -> None:
    found = DBitFlip(epsilon=epsilon, domain=range(2), bits=1)
    kept = float(Fraction(found.kept, 2**32))
    ends = [Aggregate(found, n, np.array([[n, n], [c, c]])).estimate(confidence) for c in range(n + 1)]
    low, high = ([float(np.asarray(side)[0]) for side in sides] for sides in zip(
        *((one.low, one.high) for one in ends), strict=True))  # fmt: skip
    for owners in (0, 1, n // 3, n):
        odds = law((owners, kept), (n - owners, 1 - kept))
        assert covered(odds, low, high, owners / n) >= float(confidence)


@pytest.mark.parametrize("confidence", SURE)
@pytest.mark.parametrize("coins", [(0, 1), ("0.5", "0.75")])
@pytest.mark.parametrize(("epsilon", "n"), [(8, 400), (16, 30), (30, 100), (1, 20), (4, 1)])
def test_a_bit_that_nobody_sets_or_everybody_is_held(
    epsilon: float, n: int, confidence: str, coins: tuple[object, object]
) -> None:
    found = RAPPOR(epsilon=epsilon, bits=8, hashes=1, cohorts=1, coins=coins)  # type: ignore[arg-type]
    ends = [
        Aggregate(found, n, np.array([[c] * 8 + [n]], np.int64)).estimate(confidence) for c in range(n + 1)
    ]
    low, high = ([float(np.asarray(side)[0, 0]) for side in sides] for sides in zip(
        *((one.low, one.high) for one in ends), strict=True))  # fmt: skip
    unset, set_ = map(float, found.rates)
    for owners in (0, 1, n // 2, n):
        odds = law((owners, set_), (n - owners, unset))
        assert covered(odds, low, high, owners / n) >= float(confidence)
    assert all(np.all(np.asarray(one.standard_error) > 0) for one in ends)


def test_a_cohort_without_reports_lies_between_0_and_1() -> None:
    found = RAPPOR(epsilon=2, bits=8, hashes=1, cohorts=2)
    totals = np.zeros((2, 9), np.int64)
    totals[0] = 5
    estimate = Aggregate(found, 5, totals).estimate()
    assert np.isnan(np.asarray(estimate.value)[1]).all()
    assert (np.asarray(estimate.low)[1] == 0).all()
    assert (np.asarray(estimate.high)[1] == 1).all()
    assert "few reports" in estimate.notes[0]


@pytest.mark.parametrize("each", [0.2, 0.5, 0.95, 0.999])
def test_unequal_rates_are_held_also_next_to_0_and_1(each: float) -> None:
    """Some people always say 1, some never, one nearly so: less spread than any binomial, by the whole."""
    for n in (1, 2, 3, 5, 12):
        low, high = rates(np.arange(n + 1), np.full(n + 1, n), Fraction(str(each)))
        for sure in range(n):
            for odd in np.concatenate(
                [np.linspace(0, 1, 41), (1 - each) / 2 * np.array([0.98, 0.999, 1.001])]
            ):
                for told in (odd, 1 - odd):
                    odds = law((sure, 1.0), (1, told), (n - sure - 1, 0.0))
                    truth = (sure + told) / n
                    for missed in (high < truth - 1e-12, low > truth + 1e-12):
                        assert odds[missed].sum() <= (1 - each) / 2 + 1e-12


def test_the_mean_interval_narrows_to_the_normal_one() -> None:
    found, n = OneBitMean(epsilon=1, bounds=(0, 1)), 1_000_000
    estimate = Aggregate(found, n, np.array([n // 2], np.int64)).estimate("0.95")
    half = (float(estimate.high) - float(estimate.low)) / 2
    assert half == pytest.approx(1.959964 * float(estimate.standard_error), rel=2e-3)
    assert estimate.notes == ()
