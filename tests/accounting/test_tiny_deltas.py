"""Deltas below what tables of discrete Gaussians are first made for: never below the truth, and near it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest

from deniable import events as ev
from deniable.accounting import account, within

DIGITS = 800


def alone(sigma: int, epsilon: Fraction) -> mpmath.mpf:
    """Delta of one discrete Gaussian on an integer that moves by 1, summed term by term."""
    with mpmath.workdps(DIGITS):
        s, e = mpmath.mpf(sigma) ** 2, mpmath.mpf(epsilon.numerator) / epsilon.denominator
        reach = 60 * sigma
        weight = {x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * s)) for x in range(-reach, reach + 2)}
        total = mpmath.fsum(weight.values())
        gaps = (weight[x] - mpmath.exp(e) * weight[x + 1] for x in range(-reach, reach + 1))
        return mpmath.fsum(gap for gap in gaps if gap > 0) / total


def with_pure(sigma: int, pure: Fraction, epsilon: Fraction) -> mpmath.mpf:
    """The same beside the worst mechanism of a pure epsilon: its loss is epsilon or -epsilon."""
    with mpmath.workdps(DIGITS):
        grown = mpmath.exp(mpmath.mpf(pure.numerator) / pure.denominator)
        return (grown * alone(sigma, epsilon - pure) + alone(sigma, epsilon + pure)) / (1 + grown)


def real(number: Any) -> mpmath.mpf:
    exact = Fraction(number)
    with mpmath.workdps(DIGITS):
        return mpmath.mpf(exact.numerator) / exact.denominator


@pytest.mark.parametrize("pure", ["0.1", "1/2"])
@pytest.mark.parametrize(
    ("sigma", "epsilon"), [(2, "8"), (3, "4.5"), (3, "7"), (10, "3/2"), (10, "2"), (10, "3")]
)
def test_beside_a_pure_event_delta_is_the_sum_over_both_losses(sigma: int, epsilon: str, pure: str) -> None:
    truth = with_pure(sigma, Fraction(pure), Fraction(epsilon))
    assert truth < 1e-9
    found = real(account([ev.DiscreteGaussian(sigma=sigma), ev.PureDP(epsilon=pure)]).delta(epsilon=epsilon))
    assert truth <= found <= truth * mpmath.mpf("1.01")


@pytest.mark.parametrize(
    "other",
    [
        ev.Laplace(scale=10),
        ev.DiscreteLaplace(scale=10),
        ev.Gaussian(sigma=50),
        ev.RandomizedResponse(epsilon="0.1"),
        ev.Exponential(epsilon="0.1"),
        ev.ZeroConcentratedDP(rho="0.0001"),
        ev.Subsampled(ev.Gaussian(sigma=20), "0.1"),
    ],
    ids=lambda event: type(event).__name__,
)
@pytest.mark.parametrize(("sigma", "epsilon"), [(3, "4.5"), (3, "5"), (2, "8"), (10, "2")])
def test_another_event_never_makes_it_cheaper(other: ev.Event, sigma: int, epsilon: str) -> None:
    truth = alone(sigma, Fraction(epsilon))
    both = [ev.DiscreteGaussian(sigma=sigma), other]
    found = account(both).delta(epsilon=epsilon)
    assert real(found) >= truth
    assert not within(both, epsilon=Fraction(epsilon), delta=Fraction(str(mpmath.nstr(truth, 20))) / 10)
    assert account(both).epsilon(delta=found) <= float(epsilon) * 1.01


@pytest.mark.parametrize("delta", ["1e-9", "1e-30", "1e-60", "1e-100", "1e-200"])
@pytest.mark.parametrize(("times", "sigma"), [(2, 3), (50, 20), (10_000, 100)])
def test_delta_of_epsilon_of_delta_is_delta_again(times: int, sigma: int, delta: str) -> None:
    asked = account(ev.Repeated(ev.DiscreteGaussian(sigma=sigma), times))
    back = Fraction(asked.delta(epsilon=asked.epsilon(delta=delta)))
    assert Fraction(delta) / 3 < back < 10 * Fraction(delta)
