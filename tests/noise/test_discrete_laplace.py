"""The discrete Laplace sampler: every threshold, every digit, every edge."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from noise_oracles import ALPHA, MP, WORD, ScriptedBits, chi_square, laplace_mass, p_value, real, words
from numpy.typing import NDArray

from deniable.bits import Bits, SystemBits
from deniable.errors import NoiseError, ParameterError
from deniable.noise.laplace import DiscreteLaplace, _digit_ends, _Top

SCALES = [
    Fraction("5e-324"),
    Fraction(1, 700),
    Fraction(1, 3),
    Fraction(1),
    Fraction(5, 2),
    Fraction(100),
    Fraction(1000003, 7),
    Fraction(10**6),
    Fraction(2**55),
    Fraction(2**56),
]


def assert_threshold(low: int, high: int, probability: Any) -> None:
    """Both ends are floor(probability * 2**64), cut at the largest word.

    They may be one apart where the truth is an integer up to 2**-60: so at the middle of the digits of a
    very large scale, where r is 1 - 2**-55 and F(j) nearly a multiple of 2**-64.
    """
    scaled = probability * WORD
    floor = min(WORD - 1, int(MP.floor(scaled)))
    assert low <= floor <= high <= low + 1
    assert low == high or abs(scaled - MP.nint(scaled)) < MP.mpf(2) ** -60


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_every_threshold_of_the_top_digit_is_right_to_the_last_bit(scale: Fraction) -> None:
    """P(sign, top digit) is summed from P(x): a block of 2**k values is a geometric series."""
    sampler = DiscreteLaplace(scale)
    table, k = sampler._top, sampler._low_bits
    q = MP.exp(-1 / real(scale))
    total = MP.mpf(0)
    for atom, (low, high) in enumerate(zip(table.low.tolist(), table.high.tolist(), strict=True)):
        digit, sign = divmod(atom, 2)
        nearest = (digit << k) + sign
        total += (1 - q) / (1 + q) * q**nearest * (1 - q ** (1 << k)) / (1 - q)
        assert_threshold(low, high, total)
    assert (1 - total) * WORD < 1


@pytest.mark.parametrize("scale", [scale for scale in SCALES if scale > 16], ids=str)
def test_every_threshold_of_every_low_digit_is_right_to_the_last_bit(scale: Fraction) -> None:
    sampler = DiscreteLaplace(scale)
    ends = _digit_ends(sampler._low_bits)
    assert [start for start, _ in sampler._digits] == ends[:-1]
    for (start, table), end in zip(sampler._digits, ends[1:], strict=True):
        r = MP.exp(-(1 << start) / real(scale))
        masses = [r**j for j in range(1 << (end - start))]
        total, whole = MP.mpf(0), MP.fsum(masses)
        assert len(table.low) == len(masses)
        for mass, low, high in zip(masses, table.low.tolist(), table.high.tolist(), strict=True):
            total += mass / whole
            assert_threshold(low, high, total)


@pytest.mark.parametrize("precision", [64, 128, 448])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1000003, 7), Fraction(2**55)], ids=str)
def test_enclosures_hold_the_truth_and_are_narrow(scale: Fraction, precision: int) -> None:
    sampler = DiscreteLaplace(scale)
    k = sampler._low_bits
    q = MP.exp(-1 / real(scale))
    total = MP.mpf(0)
    for atom, (low, high) in zip(range(60), _Top(scale, k).cumulative(precision), strict=False):
        total += q ** (((atom >> 1) << k) + (atom & 1)) * (1 - q ** (1 << k)) / (1 + q)
        assert low <= total * MP.mpf(2) ** precision <= high
        assert high - low <= 2


@pytest.mark.parametrize("bits", range(57))
def test_digits_cover_the_low_bits_and_none_is_wider_than_ten(bits: int) -> None:
    ends = _digit_ends(bits)
    assert (ends[0], ends[-1]) == (0, bits)
    assert all(0 < b - a <= 10 for a, b in pairwise(ends))


class Given:
    """A table that draws what a test says."""

    def __init__(self, values: NDArray[np.int16] | NDArray[np.int64]) -> None:
        self.values = values

    def sample(self, n: int, bits: Bits) -> NDArray[np.int16] | NDArray[np.int64]:
        assert n == len(self.values)
        return self.values


@pytest.mark.parametrize("wide", [np.int16, np.int64])
def test_digits_and_sign_are_joined_to_m_and_minus_one_minus_m(wide: type[np.int16] | type[np.int64]) -> None:
    """All 2 * 40 * 2**6 combinations for scale 1000: m = digits; x = m, or -1 - m for the other sign."""
    sampler: Any = DiscreteLaplace(1000)
    assert _digit_ends(sampler._low_bits) == [0, 6]
    sign, top, low = (part.ravel() for part in np.meshgrid(range(2), range(40), range(64), indexing="ij"))
    sampler._top = Given(np.where(sign, -1 - top, top).astype(wide))  # type: ignore[arg-type]
    sampler._digits = [(0, Given(low.astype(np.int16)))]
    out = np.empty(len(top), np.int64)
    sampler._fill(out, SystemBits())
    m = 64 * top + low
    assert out.tolist() == [-1 - x if s else x for x, s in zip(m.tolist(), sign.tolist(), strict=True)]


def test_two_digits_stand_at_their_places() -> None:
    sampler: Any = DiscreteLaplace(2**20)
    assert [start for start, _ in sampler._digits] == [0, 8]
    sampler._top = Given(np.array([0, 0, 3, -1, -4], np.int16))
    sampler._digits = [
        (0, Given(np.array([5, 0, 255, 0, 255], np.int16))),
        (8, Given(np.array([0, 9, 511, 0, 511], np.int16))),
    ]
    out = np.empty(5, np.int64)
    sampler._fill(out, SystemBits())
    assert out.tolist() == [5, 9 << 8, (4 << 17) - 1, -1, -(4 << 17)]


@pytest.mark.parametrize(
    "scale", [Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(40), Fraction(300)], ids=str
)
def test_frequencies_fit_the_law_and_not_a_scale_five_percent_larger(scale: Fraction) -> None:
    draws = DiscreteLaplace(scale).sample(1_000_000, bits=SystemBits())

    def mass(stretch: float) -> Any:
        q = np.exp(-1 / (float(scale) * stretch))
        return lambda x: (1 - q) / (1 + q) * q ** np.abs(x)

    assert draws.dtype == np.int64
    assert p_value(draws, mass(1.0)) > ALPHA
    assert p_value(draws, mass(1.05)) < ALPHA


@pytest.mark.parametrize("scale", [10**6, 2**40, 2**55])
def test_large_scales_fit_in_cells_of_a_twentieth_of_the_scale_and_in_their_low_bits(scale: int) -> None:
    draws = DiscreteLaplace(scale).sample(1_000_000, bits=SystemBits())
    cells = np.bincount(np.clip(draws // (scale // 20) + 100, 0, 200), minlength=201)[1:200]
    outside = len(draws) - cells.sum()

    def shares(stretch: float) -> NDArray[np.float64]:
        edges = np.arange(-99, 101) * (scale // 20) / scale / stretch
        cdf = np.where(edges < 0, np.exp(-np.abs(edges)) / 2, 1 - np.exp(-np.abs(edges)) / 2)
        return np.append(np.diff(cdf), 1 - (cdf[-1] - cdf[0]))

    assert chi_square(np.append(cells, outside), shares(1.0)) > ALPHA
    assert chi_square(np.append(cells, outside), shares(1.05)) < ALPHA
    low = np.bincount(draws & 255, minlength=256)
    assert chi_square(low, np.full(256, 1 / 256)) > ALPHA
    assert chi_square(low, np.linspace(0.97, 1.03, 256) / 256) < ALPHA


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(5, 2), Fraction(2**55)], ids=str)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_ties_are_decided_as_six_hundred_bits_say(scale: Fraction, depth: int) -> None:
    """U starts like F(k) for 64 * depth bits; the last word differs from that of F(k) by one."""
    sampler = DiscreteLaplace(scale)
    q = MP.exp(-1 / real(scale))
    k = sampler._low_bits
    total = MP.mpf(0)
    for atom in range(4):
        total += q ** (((atom >> 1) << k) + (atom & 1)) * (1 - q ** (1 << k)) / (1 + q)
        digits = [int(MP.floor(total * MP.mpf(WORD) ** (i + 1))) % WORD for i in range(depth + 1)]
        for step, member in ((-1, atom), (1, atom + 1)):
            bits = words([digits[0]], more=[*digits[1:depth], digits[depth] + step])
            value = int(sampler._top.sample(1, bits)[0])
            assert value == (-1 - (member >> 1) if member & 1 else member >> 1)
            assert bits.integers == []


def test_tiny_scales_draw_zero() -> None:
    for scale in ("5e-324", Fraction(1, 700)):
        assert not DiscreteLaplace(scale).sample(100_000, bits=SystemBits()).any()


@pytest.mark.parametrize("ones", [2, 3])
def test_a_draw_of_two_to_the_62_or_more_raises_and_nothing_wraps(ones: int) -> None:
    """U = 1 - 2**-(64 (1 + ones)) or nearer to 1: abs(x) is beyond 88 scales (the limit is at 64)."""
    sampler = DiscreteLaplace(2**56)
    far = ScriptedBits(first=[65535] * 99, second=[WORD - 1] * 99, integers=[WORD - 1] * ones + [0] * 9)
    with pytest.raises(NoiseError, match=r"reached 2\*\*62"):
        sampler.sample(1, bits=far)


@pytest.mark.parametrize(
    ("top", "low", "raises"),
    [
        (511, -1, False),
        (512, 0, True),
        (-512, -1, False),
        (-512, 0, True),
        (-513, -1, True),
        (2**20, 0, True),
    ],
)
def test_the_range_ends_exactly_at_two_to_the_62(top: int, low: int, raises: bool) -> None:
    """Scale 2**56 has 53 low bits: top 511 and all ones is 2**62 - 1; top -512 and zero is -2**62."""
    sampler: Any = DiscreteLaplace(2**56)
    assert sampler._low_bits == 53
    sampler._top = Given(np.array([top]))
    ends = _digit_ends(53)
    sign = -1 if top < 0 else 0
    sampler._digits = [(a, Given(np.array([(low ^ sign) & ((1 << (b - a)) - 1)]))) for a, b in pairwise(ends)]
    bits = ScriptedBits()
    if raises:
        with pytest.raises(NoiseError):
            sampler.sample(1, bits=bits)
    else:
        assert sampler.sample(1, bits=bits).tolist() == [2**62 - 1 if top > 0 else -(2**62) + (1 << 53) - 1]


@pytest.mark.parametrize(
    "scale", [0, -1, float("nan"), float("inf"), True, None, "abc", 1e300, 2**56 + 1, "-1e-9"]
)
def test_a_scale_that_is_no_usable_number_is_refused(scale: Any) -> None:
    with pytest.raises(ParameterError, match="scale"):
        DiscreteLaplace(scale)


def test_ten_million_draws_are_integers() -> None:
    draws = DiscreteLaplace(1).sample(10_000_000, bits=SystemBits())
    assert draws.dtype == np.int64
    assert draws.shape == (10_000_000,)
    q = float(MP.exp(-1))
    zeros = int((draws == 0).sum())
    p = (1 - q) / (1 + q)
    assert abs(zeros - 1e7 * p) < 7 * np.sqrt(1e7 * p * (1 - p))


def test_no_bit_pattern_tells_zero_from_one_beyond_the_odds_allowed() -> None:
    """Scale 1/epsilon: P(pattern | 0) <= e**epsilon P(pattern | 1), each way, for the low byte of x, of its
    bits counted, and of its trailing zeros. Float noise fails the same test: whether 2**53 times the output
    is an integer tells 0 from 1.
    """
    epsilon, n = 0.5, 1_000_000
    noise = DiscreteLaplace(1 / Fraction(epsilon)).sample(2 * n, bits=SystemBits())
    zero, one = noise[:n], noise[n:] + 1
    patterns: dict[str, Callable[[NDArray[np.int64]], NDArray[Any]]] = {
        "low byte": lambda x: x & 255,
        "bits counted": np.bitwise_count,
        "trailing zeros": lambda x: np.bitwise_count((x & -x) - 1),
    }
    for pattern in patterns.values():
        first, second = (np.bincount(pattern(x).astype(np.int64), minlength=256) for x in (zero, one))
        assert worst_log_odds(first, second) < epsilon
    floats = np.random.default_rng(5).laplace(0, 1 / epsilon, n)
    grid = [np.bincount(((floats + x) * 2.0**53 % 1 == 0).astype(np.int64), minlength=2) for x in (0, 1)]
    assert worst_log_odds(*grid) > epsilon


def worst_log_odds(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """A lower bound on the largest log ratio of two frequencies: the estimate less eight standard errors."""
    a, b = np.maximum(first, 1), np.maximum(second, 1)
    spread = 8 * np.sqrt(1 / a + 1 / b)
    return float(np.max(np.abs(np.log(a / b)) - spread))


def test_masses_are_those_of_the_definition() -> None:
    """P(0) for scale 1/ln 3 is 1/2, so a count of one person is untouched half of the time."""
    scale = Fraction(910239226626837, 10**15)
    table = DiscreteLaplace(scale)._top
    assert abs(int(table.low[0]) / WORD - 0.5) < 1e-14
    assert abs(float(laplace_mass(scale, 0)) - 0.5) < 1e-14
