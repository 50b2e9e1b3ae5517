"""The least noise of many columns, against enumeration of every outcome and against another accountant."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest

from deniable import accounting, events
from deniable.errors import ParameterError
from deniable.query import multiplier

mp.mp.dps = 50


def law(move: int, scale: Any) -> dict[int, tuple[Any, Any]]:
    """What one Laplace column says with and without the unit: outcomes below 0 and above `move` as one each.

    They tell the two tables apart by one and the same ratio, so nothing is lost.
    """
    t = mp.exp(-1 / mp.mpf(scale))

    def at_most(x: int) -> Any:
        return 1 - t ** (x + 1) / (1 + t) if x >= 0 else t ** (-x) / (1 + t)

    ends = [(None, 0), *((x, x) for x in range(1, move)), (move, None)]
    found = {}
    for place, (low, high) in enumerate(ends):
        chances = []
        for centre in (0, move):
            upper = mp.mpf(1) if high is None else at_most(high - centre)
            lower = mp.mpf(0) if low is None else at_most(low - 1 - centre)
            chances.append(upper - lower)
        found[place] = (chances[0], chances[1])
    return found


def enumerated(noise: Sequence[events.DiscreteLaplace], epsilon: Any) -> Any:
    """delta at epsilon, by listing every outcome of all columns together."""
    laws = [
        law(int(event.sensitivity), mp.mpf(event.scale.numerator) / event.scale.denominator)
        for event in noise
    ]
    growth, total = mp.exp(mp.mpf(epsilon)), mp.mpf(0)
    for outcome in itertools.product(*(one.values() for one in laws)):
        total += max(mp.mpf(0), mp.fprod(p for p, _ in outcome) - growth * mp.fprod(q for _, q in outcome))
    return total


def scaled(noise: Sequence[events.DiscreteLaplace], by: Fraction) -> list[events.DiscreteLaplace]:
    return [events.DiscreteLaplace(scale=by * event.scale, sensitivity=event.sensitivity) for event in noise]


@pytest.mark.parametrize(
    ("moves", "delta"), [((1, 1), "0.1"), ((1, 2, 3), "0.05"), ((2, 1, 4, 3), "0.02"), ((1,) * 9, "1e-4")]
)
def test_laplace_noise_is_the_least_that_enumeration_allows(moves: tuple[int, ...], delta: str) -> None:
    shares = [Fraction(1, len(moves))] * len(moves)
    noise = multiplier.laplace(moves, shares, epsilon=Fraction(1), delta=Fraction(delta))
    assert enumerated(noise, 1) <= mp.mpf(delta)
    assert enumerated(scaled(noise, 1 - 4 * multiplier.CLOSE), 1) > mp.mpf(delta)
    basic = multiplier.laplace(moves, shares, epsilon=Fraction(1), delta=Fraction(0))
    assert all(ours.scale < theirs.scale for ours, theirs in zip(noise, basic, strict=True))


def test_shares_are_kept() -> None:
    moves, shares = (10, 40, 5, 1), [Fraction(49, 150)] * 3 + [Fraction(1, 50)]
    noise = multiplier.laplace(moves, shares, epsilon=Fraction(2), delta=Fraction(1, 10))
    assert len({e.epsilon / share for e, share in zip(noise, shares, strict=True)}) == 1
    wide = multiplier.gaussian(
        [move << 20 for move in moves], shares, [5] * 4, epsilon=Fraction(2), delta=Fraction(1, 10)
    )
    spent = [float((e.sensitivity / e.sigma) ** 2 / share) for e, share in zip(wide, shares, strict=True)]
    assert max(spent) == pytest.approx(min(spent), rel=1e-4)


@pytest.mark.parametrize("columns", [1, 2, 7, 60])
def test_without_delta_epsilons_add_up_exactly(columns: int) -> None:
    shares = [Fraction(1, columns)] * columns
    noise = multiplier.laplace([3] * columns, shares, epsilon=Fraction(1, 3), delta=Fraction(0))
    assert sum(event.epsilon for event in noise) == Fraction(1, 3)


@pytest.mark.parametrize("columns", [2, 3, 5, 9, 13, 25])
@pytest.mark.parametrize("delta", ["1e-12", "1e-6", "0.01", "0.4"])
def test_noise_is_never_more_than_if_epsilons_added_up(columns: int, delta: str) -> None:
    shares = [Fraction(1, columns)] * columns
    noise = multiplier.laplace([100] * columns, shares, epsilon=Fraction(1), delta=Fraction(delta))
    spent = sum(event.epsilon for event in noise)
    assert spent == 1 or spent > 1 / (1 - multiplier.WORTH)
    assert accounting.within(noise, epsilon=1, delta=delta)


def test_a_gain_that_is_not_worth_a_delta_is_not_taken() -> None:
    shares = [Fraction(1, 3)] * 3
    noise = multiplier.laplace([100] * 3, shares, epsilon=Fraction(1), delta=Fraction(1, 10**6))
    assert [event.scale for event in noise] == [300] * 3


@pytest.mark.parametrize(("columns", "delta"), [(20, 1e-6), (50, 1e-8)])
def test_another_accountant_agrees_about_many_columns(columns: int, delta: float) -> None:
    from dp_accounting.pld import privacy_loss_distribution as pld

    shares = [Fraction(1, columns)] * columns
    noise = multiplier.laplace([100] * columns, shares, epsilon=Fraction(1), delta=Fraction(delta))
    one = pld.from_laplace_mechanism(
        float(noise[0].scale), sensitivity=100, value_discretization_interval=1e-4
    )
    theirs = one.self_compose(columns).get_delta_for_epsilon(1.0)
    assert 0.97 * delta < theirs < 1.03 * delta


@pytest.mark.parametrize("columns", [2, 30])
def test_noise_beyond_64_bits_is_refused_by_name(columns: int) -> None:
    shares = [Fraction(1, columns)] * columns
    with pytest.raises(ParameterError, match="epsilon"):
        multiplier.laplace([1 << 50] * columns, shares, epsilon=Fraction(1, 1 << 30), delta=Fraction(1, 9))
    with pytest.raises(ParameterError, match="epsilon"):
        multiplier.gaussian(
            [1 << 50] * columns, shares, [1] * columns, epsilon=Fraction(1, 1 << 30), delta=Fraction(1, 10**9)
        )


@pytest.mark.parametrize("epsilon", ["1e-6", "0.01", "10", "500", "100000"])
@pytest.mark.parametrize("delta", ["1e-300", "1e-9", "0.9"])
def test_odd_budgets_get_proved_noise(epsilon: str, delta: str) -> None:
    shares = [Fraction(1, 15)] * 15
    noise = multiplier.laplace([7] * 15, shares, epsilon=Fraction(epsilon), delta=Fraction(delta))
    assert accounting.within(noise, epsilon=epsilon, delta=delta)
    assert sum(event.epsilon for event in noise) >= Fraction(epsilon)


def test_a_tiny_epsilon_is_refused_in_a_number_that_can_be_read() -> None:
    with pytest.raises(ParameterError, match=r"64-bit integers hold, got '\d[.\de-]{0,19}e-324'"):
        multiplier.check_scales([Fraction(2) ** 1100], Fraction(5, 10**324))
