"""Duchi's mechanism for vectors: enumerated, for even dimensions too, where the published form leaks."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, e, exp, sqrt

import mpmath
import numpy as np
import pytest

from deniable.audit import exact
from deniable.audit.verdict import Proved, Violated
from deniable.bits import SeededBits
from deniable.errors import ParameterError
from deniable.local.vector import Vector
from deniable.local.vector.corners import Corners

ALPHA = 1e-9


def corners(d: int) -> list[tuple[int, ...]]:
    return list(product((-1, 1), repeat=d))


def unpacked(payload: tuple[int, ...], d: int) -> tuple[int, ...]:
    ones = np.unpackbits(np.array(payload, np.uint8), count=d)
    return tuple((2 * ones.astype(int) - 1).tolist())


@pytest.mark.parametrize("dimension", [2, 3, 4, 5])
def test_every_corner_keeps_epsilon_exactly(dimension: int) -> None:
    vector = Vector(epsilon=1, dimension=dimension, norm="linf", mechanism="duchi")
    verdict = exact(
        lambda given: dict(vector.probabilities(given)), corners(dimension), epsilon=vector.epsilon
    )
    assert isinstance(verdict, Proved)
    assert isinstance(
        exact(lambda given: dict(vector.probabilities(given)), corners(dimension), epsilon="0.99"), Violated
    )


@pytest.mark.parametrize("dimension", [2, 4])
def test_the_published_form_leaks_for_even_dimensions(dimension: int) -> None:
    """Both halves closed: written here after Algorithm 3 of Wang et al. 2019, at epsilon 1."""

    def law(rounded: tuple[int, ...]) -> dict[tuple[int, ...], Fraction]:
        p = Fraction(e) / (Fraction(e) + 1)
        agree = {t: sum(a * b for a, b in zip(t, rounded, strict=True)) for t in corners(dimension)}
        half = sum(s >= 0 for s in agree.values())
        return {t: (p * (s >= 0) + (1 - p) * (s <= 0)) / half for t, s in agree.items()}

    verdict = exact(law, corners(dimension), epsilon=1)
    assert isinstance(verdict, Violated)
    assert verdict.epsilon == pytest.approx(np.log(e + 1), rel=1e-9)


@pytest.mark.parametrize("dimension", [2, 3, 4, 5])
@pytest.mark.parametrize("epsilon", ["1/2", "3"])
def test_the_estimate_is_unbiased_exactly(dimension: int, epsilon: str) -> None:
    scheme = Corners.at(Fraction(epsilon), dimension)
    for given in corners(dimension)[:3]:
        law = scheme.probabilities(np.array(given, float))
        assert sum(law.values()) == 1
        for place in range(dimension):
            mean = sum(share * unpacked(t, dimension)[place] for t, share in law.items())
            assert scheme.scale * mean == given[place]


@pytest.mark.parametrize(("dimension", "epsilon"), [(3, 1), (5, 2), (91, 1)])
def test_for_odd_dimensions_the_scale_is_the_published_one(dimension: int, epsilon: int) -> None:
    half = comb(dimension - 1, (dimension - 1) // 2)
    with mpmath.workprec(200):
        power = mpmath.exp(epsilon)
        published = mpmath.mpf(2) ** (dimension - 1) / half * (power + 1) / (power - 1)
        assert float(Corners.at(Fraction(epsilon), dimension).scale) == pytest.approx(
            float(published), rel=1e-14
        )


def test_for_even_dimensions_it_is_smaller_than_the_published_one() -> None:
    for d in (2, 4, 90):
        published = (2 ** (d - 1) + comb(d, d // 2) / 2) / comb(d - 1, d // 2) * (e + 1) / (e - 1)
        assert float(Corners.at(Fraction(1), d).scale) < published


@pytest.mark.parametrize("epsilon", ["1/100", "1", "44", "800"])
def test_the_odds_keep_epsilon_and_no_more_than_a_hair_is_wasted(epsilon: str) -> None:
    chance = Corners.at(Fraction(epsilon), 3).chance
    with mpmath.workprec(300):
        loss = mpmath.log(mpmath.mpf(chance) / (2**64 - chance))
        target = mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
        assert loss <= target
        assert loss >= min(target, 40) - 1e-2 * (target > 40) - 1e-15 * exp(min(float(target), 40))


def chi_square(counts: list[int], expected: list[float]) -> float:
    """The p-value of Pearson's test."""
    statistic = sum((a - b) ** 2 / b for a, b in zip(counts, expected, strict=True))
    return float(mpmath.gammainc((len(counts) - 1) / 2, statistic / 2, regularized=True))


@pytest.mark.parametrize("dimension", [3, 4])
def test_reports_are_drawn_by_the_law(dimension: int) -> None:
    n, value = 40_000, np.array([0.5, -1.0, 0.25, 0.0][:dimension])
    scheme = Corners.at(Fraction(1), dimension)
    payload = scheme.payload(np.tile(value, (n, 1)), SeededBits(3, insecure=True))
    law, twin = scheme.probabilities(value), Corners.at(Fraction("1.2"), dimension).probabilities(value)
    counts = [int((payload[:, 0] == key[0]).sum()) for key in law]
    assert sum(counts) == n
    assert chi_square(counts, [n * float(share) for share in law.values()]) > ALPHA
    assert chi_square(counts, [n * float(share) for share in twin.values()]) < ALPHA


def test_the_mean_is_right_in_many_dimensions() -> None:
    d, n = 90, 20_000
    vector = Vector(epsilon=2, dimension=d, norm="linf", mechanism="duchi")
    value = np.linspace(-1, 1, d)
    reports = vector.randomize(np.tile(value, (n, 1)), bits=SeededBits(5, insecure=True))
    z = (vector.decode(reports).mean(axis=0) - value) / np.sqrt(vector.error().variance_at(value) / n)
    assert np.abs(z).max() < 7
    assert (z**2).sum() == pytest.approx(d, abs=6.2 * sqrt(2 * d))


def test_an_epsilon_too_small_for_64_bits_is_refused() -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        Vector(epsilon="1e-19", dimension=4, norm="linf", mechanism="duchi")
    assert Vector(epsilon="1e4", dimension=4, norm="linf", mechanism="duchi").scheme.unit == pytest.approx(
        8 / 3
    )


def test_too_many_corners_are_not_listed() -> None:
    vector = Vector(epsilon=1, dimension=9, norm="linf", mechanism="duchi")
    with pytest.raises(ParameterError, match="too large"):
        vector.probabilities(np.zeros(9))
