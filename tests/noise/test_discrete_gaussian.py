"""The discrete Gaussian sampler: thresholds, squeeze, filter and exact decision."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from noise_oracles import (
    ALPHA,
    MP,
    WORD,
    ScriptedBits,
    chi_square,
    gaussian_total,
    gaussian_weights,
    p_value,
    real,
    words,
)
from numpy.typing import NDArray
from scipy.special import ndtr

from deniable.bits import Bits, SystemBits
from deniable.errors import NoiseError, ParameterError
from deniable.noise.gaussian import DiscreteGaussian, _Blocks, _decide, _odds

VARIANCES = [
    Fraction("5e-324"),
    Fraction(9, 100),
    Fraction(1),
    Fraction(25, 4),
    Fraction(10**4),
    Fraction(256**2),
    Fraction(256**2 + 1),
    Fraction(1000003, 7),
    Fraction(10**12),
    Fraction(2**68),
    Fraction(2**110),
    Fraction(2**112),
]
LARGE = [Fraction(2**68), Fraction(2**90), Fraction(2**110)]
"""sigma 2**34, 2**45 and 2**55."""


def peaks(width: int, count: int) -> list[int]:
    """The distance from 0 of the nearest member of blocks 0, -1, 1, -2, ..."""
    return [(atom >> 1) * width + (atom & 1) for atom in range(count)]


@pytest.mark.parametrize("variance", VARIANCES, ids=lambda v: f"{float(v):.4g}")
def test_every_threshold_is_right_to_the_last_bit(variance: Fraction) -> None:
    sampler = DiscreteGaussian(variance)
    table, width = sampler._blocks, 1 << sampler._low_bits
    count = max(len(table.low), 60 * int(float(variance) ** 0.5) // width) + 60
    weights = gaussian_weights(variance, peaks(width, count))
    whole, total = MP.fsum(weights), MP.mpf(0)
    for weight, low, high in zip(weights, table.low.tolist(), table.high.tolist(), strict=False):
        total += weight / whole
        assert low == high == min(WORD - 1, int(MP.floor(total * WORD)))
    assert (1 - total) * WORD < 1


@pytest.mark.parametrize("precision", [64, 128, 448])
@pytest.mark.parametrize(("variance", "width"), [(Fraction(25, 4), 1), (Fraction(10**12), 1 << 13)])
def test_enclosures_hold_the_truth_and_are_narrow(variance: Fraction, width: int, precision: int) -> None:
    weights = gaussian_weights(variance, peaks(width, 60 * int(float(variance) ** 0.5) // width + 60))
    whole, total = MP.fsum(weights), MP.mpf(0)
    enclosures = list(_Blocks(variance, width).cumulative(precision))
    for weight, (low, high) in zip(weights, enclosures[:-1], strict=False):
        total += weight / whole
        assert low <= total * MP.mpf(2) ** precision <= high
        assert high - low <= 2
    low, high = enclosures[-1]
    assert high == 1 << precision
    assert low >= high - 2


@pytest.mark.parametrize(("variance", "zero"), [(Fraction(9, 100), 0.992327482), (Fraction(1), 0.398942278)])
def test_the_mass_at_zero_is_the_published_one(variance: Fraction, zero: float) -> None:
    sampler = DiscreteGaussian(variance)
    assert round(int(sampler._blocks.low[0]) / WORD, 9) == zero
    assert round(float(1 - 2 * sampler.tail(1)[0]), 9) == zero
    draws = sampler.sample(1_000_000, bits=SystemBits())
    share = float((draws == 0).mean())
    assert abs(share - zero) < 7 * np.sqrt(zero * (1 - zero) / 1e6)


@pytest.mark.parametrize("variance", [v for v in VARIANCES if v > 256**2], ids=lambda v: f"{float(v):.4g}")
def test_the_squeeze_never_exceeds_the_least_odds_in_its_block(variance: Fraction) -> None:
    sampler = DiscreteGaussian(variance)
    width = 1 << sampler._low_bits
    listed = 0
    for block in range(-1000, 1000):
        low = int(sampler._limits[block & 65535])
        near = block * width if block >= 0 else -1 - (-1 - block) * width
        far = block * width + (width - 1 if block >= 0 else 0)
        odds = MP.exp(-(MP.mpf(far) ** 2 - MP.mpf(near) ** 2) / (2 * real(variance)))
        assert low <= 65536 * odds
        listed += low > 0
        assert low == 0 or low > 65536 * odds - 2
    assert listed >= 2 * 9 * 64
    assert not sampler._limits[5000:-5000].any()


def proposals(variance: Fraction, n: int) -> tuple[DiscreteGaussian, NDArray[np.int64], NDArray[np.int64]]:
    """Blocks within 9 sigma of 0, offsets at and between their ends."""
    sampler = DiscreteGaussian(variance)
    generator = np.random.default_rng(11)
    blocks = generator.integers(-9 * 64, 9 * 64, n)
    offsets = generator.integers(0, 1 << sampler._low_bits, n)
    offsets[: n // 10] = 0
    offsets[n // 10 : n // 5] = (1 << sampler._low_bits) - 1
    return sampler, blocks, (blocks << sampler._low_bits) + offsets


def exact_odds(sampler: DiscreteGaussian, blocks: NDArray[np.int64], x: NDArray[np.int64]) -> list[Any]:
    """exp(-(x**2 - peak**2)/(2 variance)) at 600 bits, from Python's own integers."""
    twice, width = 2 * real(sampler.sigma_squared), 1 << sampler._low_bits
    odds = []
    for block, value in zip(blocks.tolist(), x.tolist(), strict=True):
        peak = block * width if block >= 0 else (block + 1) * width - 1
        odds.append(MP.exp(-MP.mpf(value * value - peak * peak) / twice))
    return odds


@pytest.mark.parametrize("variance", [Fraction(1000003, 7), *LARGE], ids=lambda v: f"{float(v):.4g}")
def test_the_filter_decides_as_big_integers_do(variance: Fraction) -> None:
    """V is put near p: at random, 2**-29, 2**-31 and a few 2**-48 away, with either kind of bits to follow.

    The twin whose factors are multiplied as 64-bit integers goes wrong at every sigma from 2**34 on.
    """
    n = 4000
    sampler, blocks, x = proposals(variance, n)
    odds = exact_odds(sampler, blocks, x)
    generator = np.random.default_rng(12)
    away = np.concatenate(
        [
            generator.integers(-(1 << 47), 1 << 47, n // 4),
            generator.integers(-(1 << 19), 1 << 19, n // 4),
            generator.integers(-(1 << 17), 1 << 17, n // 4),
            generator.integers(-3, 4, n // 4),
        ]
    )
    prefix = [
        min(max(int(MP.floor(p * 2**48)) + d, 0), 2**48 - 1) for p, d in zip(odds, away.tolist(), strict=True)
    ]
    for follow in (0, WORD - 1):
        bits = ScriptedBits(halves=[v & 0xFFFFFFFF for v in prefix], integers=[follow] * n)
        first = np.array([v >> 32 for v in prefix], np.uint16)
        kept = sampler._filter(x, blocks, first, bits)
        v = [MP.mpf(top * WORD + follow) / (2**48 * WORD) for top in prefix]
        truth = np.array([a < p for a, p in zip(v, odds, strict=True)])
        assert np.array_equal(kept, truth)
        assert len(bits.integers) < n  # the exact decision was reached
    if variance >= 2**68:
        assert not np.array_equal(truth, wrapping_twin(sampler, blocks, x, prefix))


def wrapping_twin(
    sampler: DiscreteGaussian, blocks: NDArray[np.int64], x: NDArray[np.int64], prefix: list[int]
) -> NDArray[np.bool_]:
    """The filter with its factors multiplied before they become floating point."""
    width = 1 << sampler._low_bits
    near = np.where(blocks >= 0, blocks * width, -((blocks + 1) * width) + 1)
    product = (np.abs(x) - near) * (np.abs(x) + near)
    odds = np.exp(-product.astype(np.float64) / (2 * float(sampler.sigma_squared)))
    kept: NDArray[np.bool_] = np.array(prefix) * 2.0**-48 < odds
    return kept


@pytest.mark.parametrize("variance", [Fraction(1000003, 7), *LARGE], ids=lambda v: f"{float(v):.4g}")
def test_the_odds_in_floating_point_are_within_two_to_the_minus_forty(variance: Fraction) -> None:
    """The written bound; in truth they are within 2**-44. Beyond an exponent of 1/8 they refuse."""
    sampler, blocks, x = proposals(variance, 3000)
    width = 1 << sampler._low_bits
    near = np.where(blocks >= 0, blocks * width, -((blocks + 1) * width) + 1)
    found = _odds(np.abs(x) - near, np.abs(x) + near, sampler._factor)
    errors = [
        abs(MP.mpf(float(a)) - b)
        for a, b in zip(found, exact_odds(sampler, blocks, x), strict=True)
        if not np.isnan(a)
    ]
    assert len(errors) > 2400
    assert max(errors) < MP.mpf(2) ** -44
    edge = _odds(np.array([0, 1, 1 << 40]), np.array([0, 1, 1 << 40]), 0.125)
    assert edge[0] == 1.0
    assert abs(edge[1] - float(MP.exp(MP.mpf(-1) / 8))) < 2.0**-40
    assert np.isnan(edge[2])


@pytest.mark.parametrize(
    "variance", [Fraction(1000003, 7), Fraction(2**110)], ids=lambda v: f"{float(v):.4g}"
)
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_v_that_starts_like_p_is_decided_by_the_bits_that_follow(variance: Fraction, depth: int) -> None:
    excess = int(variance) // 17
    p = MP.exp(-MP.mpf(excess) / (2 * real(variance)))
    prefix = int(MP.floor(p * 2**48))
    digits = [int(MP.floor(p * 2**48 * MP.mpf(WORD) ** (i + 1))) % WORD for i in range(depth + 1)]
    for step, kept in ((-2, True), (2, False)):
        bits = ScriptedBits(integers=[*digits[:depth], digits[depth] + step])
        assert _decide(excess, variance, prefix, bits) is kept
        assert bits.integers == []


@pytest.mark.parametrize(
    "variance", [Fraction(9, 100), Fraction(1), Fraction(25, 4), Fraction(10**4)], ids=str
)
def test_frequencies_fit_the_law_and_not_a_sigma_two_percent_larger(variance: Fraction) -> None:
    draws = DiscreteGaussian(variance).sample(1_000_000, bits=SystemBits())
    assert p_value(draws, mass(variance, 1.0)) > ALPHA
    assert p_value(draws, mass(variance, 1.04)) < ALPHA


def mass(variance: Fraction, stretch: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    total = float(gaussian_total(variance * Fraction(stretch)))
    twice = 2 * float(variance) * stretch
    return lambda x: np.exp(-(x**2) / twice) / total


@pytest.mark.parametrize("variance", [Fraction(257**2), Fraction(10**6)], ids=str)
def test_blocks_with_rejection_fit_the_law_integer_by_integer(variance: Fraction) -> None:
    draws = DiscreteGaussian(variance).sample(2_000_000, bits=SystemBits())
    assert p_value(draws, mass(variance, 1.0)) > ALPHA
    assert p_value(draws, mass(variance, 1.06)) < ALPHA


def test_rejection_is_needed_and_happens() -> None:
    """Where no proposal is turned away, blocks are flat, and a test on the place within the block sees it."""
    sampler: Any = DiscreteGaussian(2**40)
    width, n = 1 << sampler._low_bits, 16_000_000

    def drift(draws: NDArray[np.int64]) -> float:
        size = np.where(draws >= 0, draws, -1 - draws)
        rest = (size % width) / (width - 1) - 0.5
        return float(rest.mean() * np.sqrt(12 * len(draws)))

    expected = -width / 2**20 * np.sqrt(2 / np.pi) / 12 * np.sqrt(12 * n)
    assert expected < -14
    assert abs(drift(sampler.sample(n, bits=SystemBits())) - expected) < 7
    sampler._filter = lambda x, *_: np.ones(len(x), np.bool_)
    assert abs(drift(sampler.sample(n, bits=SystemBits())) - expected) > 7


@pytest.mark.parametrize("variance", [Fraction(10**12), *LARGE], ids=lambda v: f"{float(v):.4g}")
def test_large_sigmas_fit_in_cells_of_a_twentieth_of_sigma_and_in_their_low_bits(variance: Fraction) -> None:
    draws = DiscreteGaussian(variance).sample(1_000_000, bits=SystemBits())
    sigma = float(variance) ** 0.5
    cells = np.histogram(draws / sigma, np.arange(-100, 101) / 20)[0]
    observed = np.append(cells, len(draws) - cells.sum())

    def shares(stretch: float) -> NDArray[np.float64]:
        inside = np.diff(ndtr(np.arange(-100, 101) / 20 / stretch))
        return np.append(inside, 1 - inside.sum())

    assert chi_square(observed, shares(1.0)) > ALPHA
    assert chi_square(observed, shares(1.02)) < ALPHA
    low = np.bincount(draws & 255, minlength=256)
    assert chi_square(low, np.full(256, 1 / 256)) > ALPHA
    assert chi_square(low, np.linspace(0.97, 1.03, 256) / 256) < ALPHA


@pytest.mark.parametrize("variance", [Fraction(9, 100), Fraction(10**12)], ids=str)
@pytest.mark.parametrize("depth", [1, 2])
def test_ties_of_the_table_are_decided_as_six_hundred_bits_say(variance: Fraction, depth: int) -> None:
    sampler = DiscreteGaussian(variance)
    width = 1 << sampler._low_bits
    weights = gaussian_weights(variance, peaks(width, 60 * int(float(variance) ** 0.5) // width + 60))
    whole, total = MP.fsum(weights), MP.mpf(0)
    for atom in range(3):
        total += weights[atom] / whole
        digits = [int(MP.floor(total * MP.mpf(WORD) ** (i + 1))) % WORD for i in range(depth + 1)]
        for step, member in ((-1, atom), (1, atom + 1)):
            bits = words([digits[0]], more=[*digits[1:depth], digits[depth] + step])
            value = int(sampler._blocks.sample(1, bits)[0])
            assert value == (-1 - (member >> 1) if member & 1 else member >> 1)
            assert bits.integers == []


class Given:
    """A table that draws what a test says, once, and block 0 afterwards."""

    def __init__(self, values: NDArray[np.int16] | NDArray[np.int64]) -> None:
        self.values = values
        self.calls = 0

    def sample(self, n: int, bits: Bits) -> NDArray[np.int16] | NDArray[np.int64]:
        self.calls += 1
        return self.values if self.calls == 1 else np.zeros(n, np.int16)


def test_blocks_and_offsets_are_joined_in_twos_complement() -> None:
    """Every block -40 ... 39 of sigma 1000 (8 wide), V = 0: nothing is turned away."""
    sampler: Any = DiscreteGaussian(10**6)
    assert sampler._low_bits == 3
    blocks, offsets = (part.ravel() for part in np.meshgrid(range(-40, 40), range(8), indexing="ij"))
    sampler._blocks = Given(blocks.astype(np.int16))
    bits = ScriptedBits(first=[*(offsets + 8 * 77).tolist(), *[0] * len(blocks)])
    out = np.empty(len(blocks), np.int64)
    sampler._fill(out, bits)
    assert out.tolist() == (8 * blocks + offsets).tolist() == list(range(-320, 320))


def test_what_is_turned_away_is_drawn_anew_in_its_place() -> None:
    """V = 65535/65536 keeps the peaks (offset 0, and 7 on the negative side) and no far end."""
    sampler: Any = DiscreteGaussian(257**2)
    assert sampler._low_bits == 2
    sampler._blocks = Given(np.array([300, 300, -300, -300], np.int16))
    bits = ScriptedBits(
        first=[0, 3, 3, 0, 65535, 65535, 65535, 65535, 1, 2, 0, 0],
        halves=[2**32 - 1] * 4,
        integers=[WORD - 1] * 4,
    )
    out = np.empty(4, np.int64)
    sampler._fill(out, bits)
    assert out.tolist() == [1200, 1, -1197, 2]


@pytest.mark.parametrize(("block", "near"), [(33000, 132000), (-33001, 132001)])
def test_blocks_beyond_sixteen_bits_are_decided_exactly(block: int, near: int) -> None:
    """Far out the odds at the end of a block are exp(-6), beyond the polynomial."""
    odds = float(np.exp(-((near + 3) ** 2 - near**2) / (2 * 257**2)))
    for v, kept in ((int(odds * 2**48) - (1 << 20), True), (int(odds * 2**48) + (1 << 20), False)):
        sampler: Any = DiscreteGaussian(257**2)
        sampler._blocks = Given(np.array([block]))
        offset = 3 if block > 0 else 0
        bits = ScriptedBits(first=[offset, v >> 32, 0, 0], halves=[v & 0xFFFFFFFF], integers=[0, 0])
        x = 4 * block + offset
        out = np.empty(1, np.int64)
        sampler._fill(out, bits)
        assert out.tolist() == [x if kept else 0]


def test_tiny_variances_draw_zero() -> None:
    for variance in ("5e-324", Fraction(1, 700)):
        assert not DiscreteGaussian(variance).sample(100_000, bits=SystemBits()).any()


@pytest.mark.parametrize(
    ("block", "raises"),
    [(4095, False), (4096, True), (-4096, False), (-4097, True), (16384, True), (-16384, True)],
)
def test_the_range_ends_at_two_to_the_62(block: int, raises: bool) -> None:
    """Sigma 2**56 has blocks of 2**50; 16384 of them would wrap to 0."""
    sampler: Any = DiscreteGaussian(2**112)
    assert sampler._low_bits == 50
    sampler._blocks = Given(np.array([block], np.int16))
    end = (1 << 50) - 1 if block > 0 else 1
    bits = ScriptedBits(first=[0], second=[end], halves=[0], integers=[0, 0])
    if raises:
        with pytest.raises(NoiseError):
            sampler.sample(1, bits=bits)
    else:
        assert sampler.sample(1, bits=bits).tolist() == [2**62 - 1 if block > 0 else 1 - 2**62]


def test_minus_two_to_the_62_itself_raises() -> None:
    sampler: Any = DiscreteGaussian(2**112)
    sampler._blocks = Given(np.array([-4096], np.int16))
    with pytest.raises(NoiseError):
        sampler.sample(1, bits=ScriptedBits(first=[0], second=[0], halves=[0], integers=[0, 0]))


@pytest.mark.parametrize(
    "value", [0, -1, float("nan"), float("inf"), True, None, "abc", 1e300, 2**112 + 1, "-1e-9"]
)
def test_a_variance_that_is_no_usable_number_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match="sigma_squared"):
        DiscreteGaussian(value)


def test_ten_million_draws_are_integers() -> None:
    draws = DiscreteGaussian(1).sample(10_000_000, bits=SystemBits())
    assert draws.dtype == np.int64
    assert draws.shape == (10_000_000,)
