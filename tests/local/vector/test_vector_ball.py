"""PrivUnit: its numbers, its bias, and what its privacy rests on, each by a second route."""

from __future__ import annotations

from fractions import Fraction
from math import erfc, exp, sqrt

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaincc

from deniable.bits import SeededBits
from deniable.errors import ParameterError
from deniable.local.vector import Vector
from deniable.local.vector import proposals as proposing
from deniable.local.vector.caps import SPARE, Cap, best, odds
from deniable.local.vector.proposals import codes, directions, lifted, step

ALPHA = 1e-9
PUBLISHED = {"1/2": 25.0, "1": 6.29, "2": 1.60, "4": 0.427, "8": 0.127}
"""Mean squared error over d at d = 90, for vectors of length 1."""

Reals = NDArray[np.float64]


def bits(seed: int = 7) -> SeededBits:
    return SeededBits(seed, insecure=True)


def sphere(n: int, d: int, seed: int = 3) -> Reals:
    drawn = np.random.default_rng(seed).normal(size=(n, d))
    unit: Reals = drawn / np.linalg.norm(drawn, axis=1)[:, None]
    return unit


def two_sided(z: float) -> float:
    return erfc(abs(z) / sqrt(2))


@pytest.mark.parametrize(("epsilon", "expected"), PUBLISHED.items())
def test_the_error_in_90_dimensions_is_the_published_one(epsilon: str, expected: float) -> None:
    error = Vector(epsilon=epsilon, dimension=90, norm="l2").error()
    for direction in (np.eye(90)[4], np.full(90, 1 / sqrt(90))):
        found = error.variance_at(direction).sum() / 90
        assert found == pytest.approx(expected, rel=4e-3)


@pytest.mark.parametrize(("epsilon", "expected"), [("1", 6.29), ("4", 0.427)])
def test_drawn_reports_have_that_error_too(epsilon: str, expected: float) -> None:
    vector, n = Vector(epsilon=epsilon, dimension=90, norm="l2"), 4000
    values = sphere(n, 90)
    decoded = vector.decode(vector.randomize(values, bits=bits()))
    squares = ((decoded - values) ** 2).sum(axis=1) / 90
    assert squares.mean() == pytest.approx(expected, rel=4e-3)


@pytest.mark.parametrize("dimension", [2, 3, 10, 90])
@pytest.mark.parametrize("epsilon", ["1/2", "4"])
def test_the_numbers_of_a_cap_are_those_of_integration(dimension: int, epsilon: str) -> None:
    cap = best(Fraction(epsilon), dimension)

    def integral(power: int, low: float) -> mpmath.mpf:
        """Of t**power over the sphere's density, with t = sin(angle)."""
        start = mpmath.asin(low)
        return mpmath.quad(
            lambda a: mpmath.sin(a) ** power * mpmath.cos(a) ** (dimension - 2),
            [start, 0.3, 0.8, mpmath.pi / 2],
        )

    whole, a, gamma = 2 * integral(0, 0), mpmath.mpf(cap.odds) / 2**64, cap.gamma
    mass = integral(0, gamma) / whole
    kept = a + (1 - a) * mass
    assert cap.mass == pytest.approx(float(mass), rel=1e-12)
    assert cap.kept == pytest.approx(float(kept), rel=1e-12)
    assert cap.slope == pytest.approx(float((1 - a) * integral(1, gamma) / whole / kept), rel=1e-12)
    square = (a / dimension + (1 - a) * integral(2, gamma) / whole) / kept
    assert cap.square == pytest.approx(float(square), rel=1e-12)


def test_the_numbers_of_a_half_space_are_those_of_integration() -> None:
    cap = best(Fraction(2), 5000, gaussian=True)
    a, gamma = mpmath.mpf(cap.odds) / 2**64, cap.gamma
    first, second, mass = (
        mpmath.quad(lambda t, k=k: t**k * mpmath.npdf(t), [gamma, 3, 8, 20]) for k in (1, 2, 0)
    )
    kept = a + (1 - a) * mass
    assert cap.slope == pytest.approx(float((1 - a) * first / kept), rel=1e-12)
    assert cap.square == pytest.approx(float((a + (1 - a) * second) / kept), rel=1e-12)


def test_no_other_cap_is_better_by_more_than_a_hair() -> None:
    """The optimum over all gamma, with the odds at the limit, by a search written here."""
    d, epsilon = 90, 2.0
    angles = np.linspace(-np.pi / 2, np.pi / 2, 200_001)
    density = np.cos(angles) ** (d - 2)
    tail = np.cumsum(density[::-1])[::-1] / density.sum()
    first = np.cumsum((density * np.sin(angles))[::-1])[::-1] / density.sum()
    kept = exp(-epsilon) + (1 - exp(-epsilon)) * tail
    least = 1 / ((1 - exp(-epsilon)) * first / kept).max() ** 2
    assert best(Fraction(2), d).slope ** -2 == pytest.approx(least, rel=1e-4)


@pytest.mark.parametrize("mechanism", ["privunit", "privunitg"])
@pytest.mark.parametrize("epsilon", [1, 4])
def test_reports_are_right_on_average(mechanism: str, epsilon: int) -> None:
    d, n = 5, 60_000
    vector = Vector(epsilon=epsilon, dimension=d, norm="l2", mechanism=mechanism)  # type: ignore[arg-type]
    value = np.array([0.5, -0.25, 0.0, 0.1, 0.6])
    found = vector.decode(vector.randomize(np.tile(value, (n, 1)), bits=bits()))
    error = np.sqrt(vector.error().variance_at(value) / n)
    z = (found.mean(axis=0) - value) / error
    assert min(map(two_sided, z)) > ALPHA
    twin = (found.mean(axis=0) - 1.2 * value) / error
    assert min(map(two_sided, twin)) < ALPHA
    spread = found.var(axis=0) / vector.error().variance_at(value)
    assert spread == pytest.approx(np.ones(d), abs=0.05)


def test_zero_and_short_vectors_are_lifted_to_unit_ones_with_the_right_mean() -> None:
    n = 40_000
    for value in ([0.0, 0.0, 0.0], [3e-310, 0.0, 4e-310], [0.3, 0.0, -0.4], [0.6, 0.0, 0.8]):
        rows = np.tile(np.array(value), (n, 1))
        unit = lifted(rows, bits())
        assert np.abs(np.linalg.norm(unit, axis=1) - 1).max() < 1e-14
        z = (unit.mean(axis=0) - value) / np.maximum(unit.std(axis=0), 1e-9) * sqrt(n)
        assert min(map(two_sided, z[np.abs(z) > 1e-6]), default=1.0) > ALPHA


@pytest.mark.parametrize("epsilon", ["1/1000", "1/2", "1", "8", "44", "1e4"])
def test_what_lies_outside_is_kept_often_enough(epsilon: str) -> None:
    """1/a is at most e**(epsilon - 2**-30), and not much less."""
    with mpmath.workprec(300):
        a = mpmath.mpf(odds(Fraction(epsilon))) / 2**64
        spent = mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator - mpmath.mpf(2) ** -30
        assert -mpmath.log(a) <= spent
        assert odds(Fraction(epsilon)) == 1 or -mpmath.log(a) >= spent - 2 / (a * 2**64)


def test_every_cap_that_is_used_is_within_the_spare_part_of_epsilon() -> None:
    for dimension in (2, 3, 90, 5000, 65_536):
        for epsilon in ("1/2", "2", "8", "800"):
            for gaussian in (False, True):
                cap = best(Fraction(epsilon), dimension, gaussian=gaussian)
                assert 0 < cap.slack < SPARE
                assert cap.kept >= 2**-13


@pytest.mark.parametrize("dimension", [2, 90, 1000])
def test_inner_products_err_by_less_than_the_proof_allows(dimension: int) -> None:
    """Step 6 of the proof, held against exact rationals."""
    n, sigma = 20, 2.0**48
    drawn = np.rint(np.random.default_rng(5).normal(size=(n, dimension)) * sigma)
    unit = sphere(n, dimension)
    found = proposing._inner(drawn, unit)
    block = int(sqrt(dimension)) + 1
    blocks = -(-dimension // block)
    allowed = 13 * sigma * 2.0**-53 * (block * sqrt(blocks) + blocks + sqrt(dimension))
    for row, u, value in zip(drawn.tolist(), unit.tolist(), found.tolist(), strict=True):
        true = sum(Fraction(a) * Fraction(b) for a, b in zip(row, u, strict=True))
        assert abs(Fraction(value) - true) <= Fraction(allowed)


def test_proposals_do_not_depend_on_the_vector() -> None:
    """With odds of (nearly) one every proposal is kept: two vectors then give the same directions."""
    cap = Cap(6, best(Fraction(2), 6).height, (1 << 64) - 1)
    first = directions(sphere(500, 6, seed=1), cap, bits())
    second = directions(sphere(500, 6, seed=2), cap, bits())
    assert np.abs(first.astype(int) - second).max() <= 1  # rounded by other bits


@pytest.mark.parametrize(("epsilon", "d", "gaussian"), [(2, 12, False), (8, 12, False), (6, 12, True)])
def test_a_proposal_is_kept_equally_often_whatever_the_vector(epsilon: int, d: int, gaussian: bool) -> None:
    n, cap = 100_000, best(Fraction(epsilon), d, gaussian=gaussian)
    deviation = sqrt(cap.chance * (1 - cap.chance) / n)
    for unit in (np.eye(d)[0], -np.eye(d)[11], np.full(d, 1 / sqrt(d)), sphere(1, d)[0]):
        share = proposing._tried(unit[None, :], np.zeros(n, np.int64), cap, bits())[1].mean()
        assert two_sided((share - cap.chance) / deviation) > ALPHA
        assert two_sided((share - 1.06 * cap.chance) / deviation) < ALPHA


@pytest.mark.parametrize("epsilon", ["1/2", "2", "8"])
def test_kept_directions_have_the_law_of_draws_that_are_dropped_outside_the_cap(epsilon: str) -> None:
    """In three dimensions <U, u> is uniform on [-1, 1]: bins outside the cap have a times the mass."""
    n, cap, unit = 60_000, best(Fraction(epsilon), 3), sphere(1, 3)
    coded = directions(np.tile(unit, (n, 1)), cap, bits()).astype(float) - 2**15
    along = coded @ unit[0] / np.linalg.norm(coded, axis=1)
    inside = cap.gamma + (1 - cap.gamma) * np.linspace(0, 1, 11)
    edges = np.concatenate([np.linspace(-1, cap.gamma, 6), inside[1:]])
    seen = np.histogram(along, edges)[0]

    def surprise(a: float) -> float:
        weights = np.diff(edges) * np.where(edges[:-1] < cap.gamma - 1e-9, a, 1.0)
        expected = n * weights / weights.sum()
        return float(gammaincc(7, ((seen - expected) ** 2 / expected).sum() / 2))

    assert surprise(cap.outside) > ALPHA
    assert surprise(1.3 * cap.outside) < ALPHA


@pytest.mark.parametrize(("epsilon", "d"), [("1/2", 2), ("4", 5), ("8", 90)])
@pytest.mark.parametrize("gaussian", [False, True])
def test_no_proposal_is_likelier_than_epsilon_allows(epsilon: str, d: int, gaussian: bool) -> None:
    """Steps 1 to 3 at single proposals, with exact exponents: leaning ones add e**epsilon - 1 at most."""
    cap = best(Fraction(epsilon), d, gaussian=gaussian)
    sigma, tilt, unit = 2.0**48, cap.tilt, sphere(1, d)[0]
    centre = [int(x) for x in np.rint(unit * (tilt.shift * sigma))]
    random, ratios = np.random.default_rng(4), []
    for _ in range(200):
        x = [int(v) for v in np.rint(random.normal(size=d) * sigma + random.uniform(0, 2) * np.array(centre))]
        point, none, one = np.array([x], float), np.zeros(0, np.int64), np.zeros(1, np.int64)
        high = proposing._inner(point - np.array([centre], float), unit[None, :]) / sigma + tilt.shift
        upright = proposing._odds(point, none, np.zeros(0), cap)[0]
        leaning = proposing._odds(point, one, high, cap)[0]
        if leaning > 0 and high > tilt.shift:  # others are turned to the other side
            assert upright > 0
            squares = sum(c * (2 * a - c) for a, c in zip(x, centre, strict=True))
            exponent = Fraction(squares, 2**97)
            moved = mpmath.exp(mpmath.mpf(exponent.numerator) / exponent.denominator)
            odds = mpmath.mpf(2**64 - tilt.upright) / tilt.upright
            ratios.append(1 + 2 * odds * moved * mpmath.mpf(leaning) / mpmath.mpf(upright))
    most = mpmath.exp(Fraction(epsilon).numerator / mpmath.mpf(Fraction(epsilon).denominator))
    assert len(ratios) > 20
    assert 1 - 1e-8 < max(ratios) / most < 1
    assert max(ratios) / min(ratios) < 1 + 1e-10  # the cap is flat


def test_lengths_near_the_least_one_are_compared_exactly() -> None:
    """Rows at 5 deviations, a whole number more or less: floating point sees the same length."""
    rows = np.array([[3.0, 4.0], [3.0, 4.0], [3.0, 4.0]]) * 2.0**48 + [[0.0, 0.0], [0.0, -1.0], [1.0, 0.0]]
    length = np.sqrt(proposing._inner(rows, rows)) / 2.0**48
    assert proposing._reaching(rows, length, 5.0).tolist() == [True, False, True]
    assert proposing._reaching(rows, length, 4.9).all()
    assert not proposing._reaching(rows, length, 5.1).any()


def test_what_falls_off_is_the_exponential() -> None:
    excess = np.concatenate([np.linspace(0, 64, 2001), [1e-300, 100.0, 1e9, -1.0]])
    for x, found in zip(excess, proposing._falling(excess), strict=True):
        true = mpmath.exp(-mpmath.mpf(min(max(float(x), 0.0), 64.0)))
        assert abs(mpmath.mpf(float(found)) / true - 1) < 2.0**-43


@pytest.mark.parametrize(("epsilon", "most"), [(1, 1.2), (4, 2.4), (8, 4.2), (12, 5.1), (100, 5.1)])
def test_few_proposals_are_needed_in_many_dimensions(epsilon: int, most: float) -> None:
    assert 1 / best(Fraction(epsilon), 90).chance < most


def test_codes_are_rounded_without_bias() -> None:
    """One direction, coded again and again: the mean of the codes is the direction."""
    cap, n = best(Fraction(1), 3), 100_000
    row = np.array([3.0, -4.0, 12.0]) * 2.0**40
    coded = codes(np.tile(row, (n, 1)), cap, bits()).astype(float) - 2**15
    z = (coded.mean(axis=0) * step(cap) - row / (13 * 2.0**40)) / (step(cap) / 2 / sqrt(n))
    assert min(map(two_sided, z)) > ALPHA
    assert (np.ptp(coded, axis=0) <= 1).all()


@pytest.mark.parametrize("epsilon", ["0", "5e-324", "1e-7", "nan", "-1", "inf"])
def test_an_epsilon_of_which_nothing_can_be_made_is_refused(epsilon: str) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        Vector(epsilon=epsilon, dimension=10, norm="l2")


@pytest.mark.parametrize("epsilon", ["1e-5", "800", "1e4"])
def test_extreme_epsilons_give_finite_estimates(epsilon: str) -> None:
    vector = Vector(epsilon=epsilon, dimension=10, norm="l2")
    estimate = vector.estimate(vector.randomize(np.tile(np.eye(10)[0], (60, 1)), bits=bits()))
    assert np.isfinite(estimate.value).all()
    assert np.isfinite(estimate.standard_error).all()
