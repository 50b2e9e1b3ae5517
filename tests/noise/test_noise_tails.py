"""Tails are enclosed, quantiles are exact, whatever the scale."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import pytest
from noise_oracles import MP, gaussian_total, gaussian_weights, real

from deniable.brackets import normal_tail
from deniable.errors import ParameterError
from deniable.noise import lattice
from deniable.noise.gaussian import DiscreteGaussian
from deniable.noise.laplace import DiscreteLaplace
from deniable.noise.tails import SMALLEST

SCALES = [Fraction(1, 700), Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(100), Fraction(2**55)]
SUMMABLE = [
    Fraction(9, 100),
    Fraction(1),
    Fraction(25, 4),
    Fraction(1023),
    Fraction(1024),
    Fraction(25000, 7),
]
"""Variances for which 600-bit arithmetic can add up every integer."""
FARTHEST = (Fraction(0), SMALLEST)


def laplace_tail(scale: Fraction, m: int) -> Any:
    q = MP.exp(-1 / real(scale))
    return q**m / (1 + q) if m >= 1 else 1 - q ** (1 - m) / (1 + q)


def gaussian_tail(variance: Fraction, m: int) -> Any:
    """By summing at least to where the terms are 2**-600 of the first."""
    if m <= 0:
        return 1 - gaussian_tail(variance, 1 - m)
    reach = m + int(30 * float(variance) ** 0.5) + 30
    return MP.fsum(gaussian_weights(variance, range(m, reach))) / gaussian_total(variance)


def assert_encloses(ends: tuple[Fraction, Fraction], truth: Any, precision: int) -> None:
    low, high = ends
    assert real(low) <= truth <= real(high)
    assert high - low <= high / 2**precision or ends == FARTHEST


@pytest.mark.parametrize("precision", [24, 64, 200])
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_laplace_tails_hold_the_truth_relatively(scale: Fraction, precision: int) -> None:
    sampler = DiscreteLaplace(scale)
    for m in {1, 2, 7, int(scale), int(scale * 30), int(scale * 2000), 0, -1, -int(scale), -int(scale * 30)}:
        assert_encloses(sampler.tail(m, precision), laplace_tail(scale, m), precision)


@pytest.mark.parametrize("precision", [24, 64, 200])
@pytest.mark.parametrize("variance", SUMMABLE, ids=str)
def test_gaussian_tails_hold_the_truth_relatively(variance: Fraction, precision: int) -> None:
    sampler, sigma = DiscreteGaussian(variance), float(variance) ** 0.5
    for m in {1, 2, int(sigma), int(3 * sigma), int(9 * sigma), int(20 * sigma), 0, -1, -int(2 * sigma)}:
        assert_encloses(sampler.tail(m, precision), gaussian_tail(variance, m), precision)


def test_the_default_precision_is_sixty_four_bits() -> None:
    assert DiscreteLaplace(3).tail(5) == DiscreteLaplace(3).tail(5, 64)
    assert DiscreteGaussian(9).tail(5) == DiscreteGaussian(9).tail(5, 64)


@pytest.mark.parametrize("variance", [Fraction(1024), Fraction(3333), Fraction(10**5, 3)], ids=str)
def test_both_routes_to_a_gaussian_tail_agree(variance: Fraction) -> None:
    for m in (1, 10, 100, 500, 1200):
        first, second = lattice._summed(variance, m, 100), lattice._expanded(variance, m, 100)
        assert first[0] <= second[1]
        assert second[0] <= first[1]


@pytest.mark.parametrize("bits", [34, 45, 55, 56])
def test_gaussian_tails_of_very_large_sigmas_lie_between_shifted_normal_tails(bits: int) -> None:
    """Cells: the integral of f over [x - 1/2, x + 1/2] is f(x) times a mean of cosh(x u/v) exp(-u**2/(2 v)),
    between exp(-1/(8 v)) and cosh(x/(2 v)). So P(X >= m) is the normal tail at m - 1/2 within a factor
    1 +- (t**2/7 + 1) / v up to t sigma, beyond which a negligible rest lies. Another route than the code's.
    """
    sigma = 1 << bits
    variance = Fraction(sigma * sigma)
    sampler = DiscreteGaussian(variance)
    for t in (Fraction(1, 1 << 20), Fraction(1), Fraction(2), Fraction(6)):
        m = max(1, int(t * sigma))
        low, high = sampler.tail(m, 60)
        below, above = normal_tail((m - Fraction(1, 2)) / sigma, 160)
        slack = Fraction(400, 1) / variance
        assert low <= above * (1 + slack)
        assert high >= below * (1 - slack)
        assert high - low <= high / 2**60


@pytest.mark.parametrize(
    "sampler", [DiscreteLaplace(1), DiscreteGaussian(1), DiscreteGaussian(10**8)], ids=str
)
def test_tails_fall_and_those_of_opposite_sides_sum_to_one(
    sampler: DiscreteLaplace | DiscreteGaussian,
) -> None:
    for m in (-9, -1, 0, 1, 2, 40):
        low, high = sampler.tail(m)
        opposite = sampler.tail(1 - m)
        assert low + opposite[0] <= 1 <= high + opposite[1]
        assert sampler.tail(m + 1)[0] < high


def test_beyond_the_farthest_the_enclosure_is_a_fixed_tiny_one() -> None:
    assert DiscreteLaplace("5e-324").tail(1) == FARTHEST
    assert DiscreteLaplace(1).tail(2841) == FARTHEST
    assert DiscreteLaplace(1).tail(2840)[0] > 0
    assert DiscreteGaussian("5e-324").tail(1) == FARTHEST
    assert DiscreteGaussian(2).tail(107) == FARTHEST
    assert DiscreteGaussian(2).tail(106)[0] > 0
    assert MP.exp(-2840) < real(SMALLEST)


CONFIDENCES = [
    Fraction(1, 10),
    Fraction(1, 2),
    Fraction(19, 20),
    Fraction(999, 1000),
    1 - Fraction(1, 10**30),
]


@pytest.mark.parametrize("confidence", CONFIDENCES, ids=lambda c: f"{float(c):.4g}")
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_a_laplace_quantile_is_the_least_width_that_suffices(scale: Fraction, confidence: Fraction) -> None:
    width = DiscreteLaplace(scale).quantile(confidence)
    assert 1 - 2 * laplace_tail(scale, width + 1) >= real(confidence)
    assert width == 0 or 1 - 2 * laplace_tail(scale, width) < real(confidence)


@pytest.mark.parametrize("confidence", CONFIDENCES, ids=lambda c: f"{float(c):.4g}")
@pytest.mark.parametrize("variance", SUMMABLE, ids=str)
def test_a_gaussian_quantile_is_the_least_width_that_suffices(
    variance: Fraction, confidence: Fraction
) -> None:
    width = DiscreteGaussian(variance).quantile(confidence)
    assert 1 - 2 * gaussian_tail(variance, width + 1) >= real(confidence)
    assert width == 0 or 1 - 2 * gaussian_tail(variance, width) < real(confidence)


def test_quantiles_near_zero_and_one() -> None:
    assert DiscreteLaplace(100).quantile(0) == DiscreteGaussian(100).quantile(0) == 0
    assert DiscreteLaplace(2**56).quantile("1e-30") == DiscreteGaussian(2**112).quantile("1e-30") == 0
    assert DiscreteGaussian(1).quantile(1 - Fraction(1, 2**4000)) == 74


@pytest.mark.parametrize(
    "confidence", [1, -0.1, 1.5, float("nan"), True, None, "abc", 1 - Fraction(1, 2**4001)]
)
def test_a_confidence_outside_its_range_is_refused(confidence: Any) -> None:
    for sampler in (DiscreteLaplace(3), DiscreteGaussian(3)):
        with pytest.raises(ParameterError, match="confidence"):
            sampler.quantile(confidence)


@pytest.mark.parametrize("bits", [-2, 0, 5, 10, 16, 34, 56])
def test_tails_and_quantiles_are_quick_at_every_scale(bits: int) -> None:
    """No sum grows with sigma: a few milliseconds each (the limit leaves room for a busy machine)."""
    sampler = DiscreteGaussian(Fraction(4) ** bits)
    start = time.process_time()
    width = sampler.quantile("0.95")
    sampler.tail(width)
    assert time.process_time() - start < 0.5
