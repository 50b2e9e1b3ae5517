"""Thresholds against closed forms in mpmath, published numbers and enumeration of small universes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from deniable import brackets
from deniable.errors import ParameterError
from deniable.exact import exact
from deniable.selection.thresholds import chance, least_threshold

mpmath.mp.prec = 300


@dataclass(frozen=True)
class LaplaceTail:
    """P(X >= m) of discrete Laplace noise by its closed form, enclosed with mpmath and a margin."""

    scale: Fraction

    def value(self, m: int) -> mpmath.mpf:
        q = mpmath.exp(-mpmath.mpf(self.scale.denominator) / self.scale.numerator)
        return q**m / (1 + q) if m >= 0 else 1 - q ** (1 - m) / (1 + q)

    def tail(self, m: int, precision: int = 128) -> tuple[Fraction, Fraction]:
        with mpmath.workprec(precision + 64 + abs(m).bit_length()):
            grid = 1 << (precision + 8)
            scaled = int(mpmath.floor(self.value(m) * grid))
        return Fraction(max(0, scaled - 2), grid), Fraction(scaled + 3, grid)


@dataclass(frozen=True)
class NormalTail:
    """Continuous noise, only to exercise weights that fall like a square root."""

    sigma: int

    def tail(self, m: int, precision: int = 128) -> tuple[Fraction, Fraction]:
        return brackets.normal_tail(Fraction(m, self.sigma), precision)


def any_published(noise: LaplaceTail, weights: Sequence[int], t: int, least: int) -> mpmath.mpf:
    return 1 - (1 - noise.value(least - weights[t - 1])) ** t


@pytest.mark.parametrize(
    ("epsilon", "delta", "least", "achieved"),
    [
        ("1", "1e-6", 15, "6.07896e-7"),
        ("1", "1e-10", 24, "7.50204e-11"),
        ("0.1", "1e-6", 133, "9.71527e-7"),
        ("10", "1e-6", 3, "2.06106e-9"),
    ],
)
def test_one_group_a_unit_has_the_known_threshold(
    epsilon: str, delta: str, least: int, achieved: str
) -> None:
    found = least_threshold(LaplaceTail(1 / exact(epsilon, "epsilon")), [1], delta=exact(delta, "delta"))
    assert found.least == least
    assert found.delta <= exact(delta, "delta")
    assert math.isclose(float(found.delta), float(achieved), rel_tol=1e-5)


def test_a_million_people_at_odds_of_three_need_sixteen() -> None:
    noise = LaplaceTail(1 / exact("ln 3", "epsilon"))
    assert least_threshold(noise, [1], delta=Fraction(1, 10**7)).least == 16
    assert noise.value(15 - 0) <= mpmath.mpf(10) ** -7  # the rule ">" would need 15: 1 + X >= 16


def test_the_survey_example_publishes_one_person_with_point_93_percent() -> None:
    noise = LaplaceTail(1 / exact("ln 3", "epsilon"))
    low, high = chance(noise, count=1, threshold=5)
    assert low <= high
    assert f"{float(high):.5f}" == "0.00926"
    assert f"{float(chance(noise, count=1, threshold=6)[1]):.5f}" == "0.00309"


def laplace_weights(k: int, keys: int) -> list[int]:
    return [1 << 20 if t <= k else (k << 20) // t for t in range(1, keys + 1)]


@pytest.mark.parametrize(("epsilon", "k", "keys"), [(1, 1, 1), (1, 3, 100), (8, 2, 30), (30, 1, 60)])
def test_weighted_thresholds_hold_for_every_number_of_groups_and_one_less_fails(
    epsilon: int, k: int, keys: int
) -> None:
    weights, delta = laplace_weights(k, keys), Fraction(1, 10**8)
    noise = LaplaceTail(Fraction(k << 20, epsilon))
    found = least_threshold(noise, weights, delta=delta)
    limit = mpmath.mpf(delta.numerator) / delta.denominator
    every = range(1, keys + 1)
    assert all(any_published(noise, weights, t, found.least) <= limit for t in every)
    assert any(any_published(noise, weights, t, found.least - 1) > limit for t in every)
    worst = max(any_published(noise, weights, t, found.least) for t in every)
    assert worst <= mpmath.mpf(found.delta.numerator) / found.delta.denominator <= worst * (1 + 1e-9)


def test_high_epsilon_makes_few_heavy_groups_the_worst_case() -> None:
    weights = laplace_weights(1, 40)
    noise = LaplaceTail(Fraction(1 << 20, 60))
    least = least_threshold(noise, weights, delta=Fraction(1, 10**8)).least
    assert any_published(noise, weights, 1, least) > any_published(noise, weights, 40, least)


def test_square_root_weights_hold_for_every_number_of_groups() -> None:
    k, keys, delta = 2, 64, Fraction(1, 10**6)
    weights = [1 << 20 if t <= k else math.isqrt((k << 40) // t) for t in range(1, keys + 1)]
    noise = NormalTail(5 << 20)
    found = least_threshold(noise, weights, delta=delta)

    def published(t: int, least: int) -> mpmath.mpf:
        z = mpmath.mpf(least - weights[t - 1]) / noise.sigma
        return 1 - (1 - mpmath.erfc(z / mpmath.sqrt(2)) / 2) ** t

    limit = mpmath.mpf(delta.numerator) / delta.denominator
    assert all(published(t, found.least) <= limit for t in range(1, keys + 1))
    assert any(published(t, found.least - 1) > limit for t in range(1, keys + 1))


@pytest.mark.parametrize("delta", ["1e-3", "1e-30", "1e-300"])
def test_a_tiny_delta_is_met_exactly(delta: str) -> None:
    noise = LaplaceTail(Fraction(1))
    found = least_threshold(noise, [1, 1, 1], delta=exact(delta, "delta"))
    with mpmath.workprec(1400):
        limit = mpmath.mpf(delta)
        assert any_published(noise, [1, 1, 1], 3, found.least) <= limit
        assert any_published(noise, [1, 1, 1], 3, found.least - 1) > limit


def test_an_enclosure_that_straddles_delta_is_narrowed_until_it_decides() -> None:
    delta = Fraction(1, 1000)

    class Vague(LaplaceTail):
        def tail(self, m: int, precision: int = 128) -> tuple[Fraction, Fraction]:
            low, high = super().tail(m, precision)
            blur = Fraction(1, 100) if precision < 150 else Fraction(0)
            return low * (1 - blur), high * (1 + blur)

    sharp = least_threshold(LaplaceTail(Fraction(50)), [1] * 7, delta=delta)
    vague = least_threshold(Vague(Fraction(50)), [1] * 7, delta=delta)
    assert vague.least == sharp.least


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(2)])
def test_delta_out_of_range_is_refused(delta: Fraction) -> None:
    with pytest.raises(ParameterError, match="delta"):
        least_threshold(LaplaceTail(Fraction(1)), [1], delta=delta)


def test_rising_weights_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="never rise"):
        least_threshold(LaplaceTail(Fraction(1)), [1, 2], delta=Fraction(1, 10))


# Small universes: the whole mechanism, every pair of neighbours with up to 4 units in 3 groups.


def outcome(count: int, scale: float, least: int, width: int) -> np.ndarray:
    """Probabilities of: not published, then each published value; a group with nobody is not published."""
    q = math.exp(-1 / scale)
    values = np.arange(least, least + width)
    published = (1 - q) / (1 + q) * q ** np.abs(values - count) if count else np.zeros(width)
    return np.concatenate([[1 - published.sum()], published])


def hockey_stick(first: list[int], second: list[int], epsilon: float, scale: float, least: int) -> float:
    """The least delta with first(S) <= e**epsilon second(S) + delta, by summing over all outputs."""
    sides = []
    for counts in (first, second):
        joint = np.ones(1)
        for count in counts:
            joint = np.multiply.outer(joint, outcome(count, scale, least, 45)).ravel()
        sides.append(joint)
    return float(np.maximum(sides[0] - math.exp(epsilon) * sides[1], 0).sum())


@pytest.mark.parametrize("k", [1, 2, 3])
def test_no_pair_of_small_tables_exceeds_what_the_threshold_claims(k: int) -> None:
    epsilon, delta = 2.0, Fraction(1, 50)
    scale = Fraction(k, 2)
    found = least_threshold(LaplaceTail(scale), [1] * k, delta=delta)
    touched = [move for move in itertools.product((0, 1), repeat=3) if 1 <= sum(move) <= k]
    worst = 0.0
    for counts in itertools.combinations_with_replacement(range(4), 3):
        for move in touched:
            more = [a + b for a, b in zip(counts, move, strict=True)]
            for pair in ((more, list(counts)), (list(counts), more)):
                worst = max(worst, hockey_stick(*pair, epsilon, float(scale), found.least))
    assert worst <= float(found.delta) * (1 + 1e-9)
    assert worst >= float(found.delta) * (1 - 1e-6), "the claim is not tight"


def test_a_threshold_that_is_one_too_low_breaks_the_claim() -> None:
    delta = Fraction(1, 50)
    found = least_threshold(LaplaceTail(Fraction(1, 2)), [1], delta=delta)
    assert hockey_stick([1], [0], 2.0, 0.5, found.least) <= float(delta)
    assert hockey_stick([1], [0], 2.0, 0.5, found.least - 1) > float(delta)
