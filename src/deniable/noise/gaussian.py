"""The discrete Gaussian distribution of any rational variance, exactly.

P(x) proportional to exp(-x**2 / (2 sigma_squared)) for every integer x.

1. The integers are cut into blocks of w = 2**k: block h >= 0 is [h w, (h+1) w), block -1 - h is the mirror
   image -1 - [h w, (h+1) w). In both the largest weight is at the member nearest to 0, its `peak`:
   abs(peak) = h w + s with s = 0 or 1. As a two's complement, x = block * w + offset, 0 <= offset < w.
2. A block is drawn with probability proportional to exp(-peak**2 / (2 sigma_squared)) from a table, exactly
   (`tables`); `_Blocks` encloses its distribution. Atom 2h + s is block h if s = 0, block -1 - h if s = 1.
3. For sigma <= 256, k = 0: the block is the draw. Otherwise offset is k uniform bits, and x is kept with
   probability exp(-(x**2 - peak**2) / (2 sigma_squared)) <= 1; if it is not kept all is drawn anew. Then
   P(x) is proportional to the product of the two, which is exp(-x**2 / (2 sigma_squared)).
4. To keep x with probability p, V uniform in [0, 1) is compared with p. Its first 16 bits decide if they are
   below `squeeze`, the floor of 2**16 times a lower bound on p over the whole block (`_squeeze`): then V < p.
5. Otherwise 32 more bits are drawn and `_filter` compares with `_odds`, p in floating point. Its error is
   below 2**-40 (written there), V lies within 2**-48 above its 48 bits; so where the two differ by more than
   2**-30 the comparison is the true one, because 2**-30 > 2**-40 + 2**-48.
6. Otherwise `_decide` extends V by 64 bits at a time until integer enclosures of p decide.

| sigma_squared         | draws                                                                      |
|-----------------------|----------------------------------------------------------------------------|
| 5e-324                | 0, except with probability below 4 exp(-1/(2 sigma_squared))               |
| 2**112                | as above; NoiseError where abs(x) >= 2**62 (probability below exp(-2047))  |
| 0, -1, nan, 2**113    | ParameterError                                                             |

Source: Canonne, Kamath, Steinke 2020 (the distribution); Devroye 1986, II.3 (squeeze).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.brackets import negative_exponential
from deniable.exact import Number, text
from deniable.noise import lattice, tails
from deniable.noise.lattice import falling
from deniable.noise.sampling import Integers, sample, shifted, usable
from deniable.noise.tables import Table

_LARGEST = 1 << 112
_DIRECT = 256
_BLOCK_BITS = 6
_GUARD = 64
_FAR = 1 << 32
_MARGIN = 2.0**-30
_WIDEST = 0.125


class DiscreteGaussian:
    """The discrete Gaussian distribution. Make one and draw often: making it takes milliseconds.

    Args:    sigma_squared: above 0, at most 2**112, in the squared units of the value it hides.
    Raises:  ParameterError: sigma_squared is no such number.
    """

    def __init__(self, sigma_squared: Number) -> None:
        self.sigma_squared: Final = usable(sigma_squared, "sigma_squared", at_most=_LARGEST)
        sigma_bits = isqrt(int(self.sigma_squared)).bit_length() - 1
        self._low_bits = 0 if self.sigma_squared <= _DIRECT**2 else sigma_bits - _BLOCK_BITS
        self._blocks = Table(_Blocks(self.sigma_squared, 1 << self._low_bits))
        if self._low_bits:
            self._limits = _squeeze(self.sigma_squared, self._low_bits, len(self._blocks.low) // 2 + 1)
            self._factor = float(1 / (2 * self.sigma_squared))

    def __repr__(self) -> str:
        return f"DiscreteGaussian({text(self.sigma_squared)})"

    def __reduce__(self) -> tuple[type[DiscreteGaussian], tuple[Fraction]]:
        return DiscreteGaussian, (self.sigma_squared,)

    def sample(self, n: int, *, bits: Bits) -> Integers:
        """Return n independent draws, `(n,) int64`.

        Guarantee: given uniform bits each x has exactly the probability P(x); floating point decides nothing
        that it could get wrong (step 5).
        Raises:  ParameterError: n. NoiseError: a draw with abs(x) >= 2**62.
        """
        return sample(self, self._fill, n, bits)

    def tail(self, m: int, precision: int = tails.PRECISION) -> tuple[Fraction, Fraction]:
        """Enclose P(X >= m): low <= P <= high, high - low <= high * 2**-precision, or (0, 2**-4096).

        Proof: `lattice` and `tails`. The time does not grow with sigma.
        """
        return tails.anywhere(self._tail, m, precision)

    def quantile(self, confidence: Number) -> int:
        """Return the least w >= 0 with P(abs(X) <= w) >= confidence (`tails`, step 3).

        Raises:  ParameterError: confidence is not in [0, 1), or above 1 - 2**-4000.
        """
        return tails.least_width(self._tail, confidence, isqrt(int(self.sigma_squared)))

    def _tail(self, m: int, precision: int) -> tuple[Fraction, Fraction]:
        return lattice.tail(self.sigma_squared, m, precision)

    def _fill(self, out: Integers, bits: Bits) -> None:
        """Overwrite `out` with draws (step 3)."""
        if self._low_bits == 0:
            out[:] = self._blocks.sample(len(out), bits)
            return
        missing = self._propose(out, bits)
        while missing.size:
            again = np.empty(missing.size, np.int64)
            lost = self._propose(again, bits)
            out[missing] = again
            missing = missing[lost]

    def _propose(self, out: Integers, bits: Bits) -> NDArray[np.intp]:
        """Overwrite `out` with proposals; return the places of those that must not be kept."""
        blocks = self._blocks.sample(len(out), bits)
        shifted(blocks, self._low_bits, out)
        out |= _offsets(len(out), self._low_bits, bits)
        first = bits.uint16(len(out))
        limits = self._limits.take(blocks.view(np.uint16)) if blocks.dtype == np.int16 else np.uint16(0)
        places = np.flatnonzero(first >= limits)
        kept = self._filter(out[places], blocks[places].astype(np.int64), first[places], bits)
        return places[~kept]

    def _filter(
        self, x: Integers, blocks: Integers, first: NDArray[np.uint16], bits: Bits
    ) -> NDArray[np.bool_]:
        """Return which x to keep, given the first 16 bits of each V (step 5)."""
        peaks = np.where(blocks >= 0, blocks << self._low_bits, 1 - ((blocks + 1) << self._low_bits))
        size = np.abs(x)
        beyond, reach = size - peaks, size + peaks
        odds = _odds(beyond, reach, self._factor)
        prefix = first.astype(np.int64) << 32 | bits.uint32(len(x))
        gap = odds - prefix * 2.0**-48
        kept = gap > 0
        for i in np.flatnonzero(~(np.abs(gap) > _MARGIN)):
            kept[i] = _decide(int(beyond[i]) * int(reach[i]), self.sigma_squared, int(prefix[i]), bits)
        return kept


def _odds(beyond: Integers, reach: Integers, factor: float) -> NDArray[np.float64]:
    """Return exp(-beyond * reach * factor), off by less than 2**-40; nan where the exponent is above 1/8.

    x**2 - peak**2 = beyond * reach, with beyond = abs(x) - peak < 2**50 and reach = abs(x) + peak < 2**63.

    1. Both become float64 *before* they are multiplied: beyond exactly, reach within a factor 1 +- 2**-53.
       (Their product does not fit 64-bit integers once sigma is above about 2**32.) `factor` is
       1/(2 sigma_squared) correctly rounded, and two products round: so the exponent y <= 1/8 is off by less
       than 5 * 2**-53 / 8 < 2**-53, and exp(-y) by no more, as it is 1-Lipschitz in y >= 0.
    2. The Taylor polynomial of degree 8 cuts off less than y**9/9! <= 2**-27/362880 < 2**-45.
    3. It is nested: t <- 1 - t * y / i for i = 8 ... 1, from t = 1; every t is in [7/8, 1]. A product and a
       quotient round by 2**-53 of at most 1/8, a difference by 2**-53: so an error e of t becomes at most
       e/8 + 1.3 * 2**-53, which never exceeds 2**-52.
    4. 2**-53 + 2**-45 + 2**-52 < 2**-40.
    """
    y = beyond.astype(np.float64) * reach.astype(np.float64) * factor
    odds = np.ones_like(y)
    for term in range(8, 0, -1):
        odds = 1.0 - odds * y / term
    return np.where(y <= _WIDEST, odds, np.nan)


def _decide(excess: int, sigma_squared: Fraction, prefix: int, bits: Bits) -> bool:
    """Return whether V < exp(-excess / (2 sigma_squared)), V starting with these 48 bits (step 6)."""
    numerator, denominator = excess * sigma_squared.denominator, 2 * sigma_squared.numerator
    precision = 48
    while True:
        low, high = negative_exponential(numerator, denominator, precision)
        if prefix + 1 <= low:
            return True
        if prefix >= high:
            return False
        prefix, precision = prefix << 64 | bits.integer(64), precision + 64


def _offsets(n: int, low_bits: int, bits: Bits) -> NDArray[np.int64] | NDArray[np.unsignedinteger]:
    """Return n uniform integers of `low_bits` bits."""
    mask = (1 << low_bits) - 1
    if low_bits <= 16:
        return bits.uint16(n) & np.uint16(mask)
    if low_bits <= 32:
        return bits.uint32(n) & np.uint32(mask)
    return (bits.uint64(n) & np.uint64(mask)).view(np.int64)


def _squeeze(sigma_squared: Fraction, low_bits: int, blocks: int) -> NDArray[np.uint16]:
    """Return a `(65536,) uint16` lower bound on 2**16 * p over each block; index: the block's lower 16 bits.

    p is least at the far end, w - 1 beyond the peak: exp(-(w - 1)(2 peak + w - 1)/(2 sigma_squared)), which
    falls by the same factor from each block to the next one out. Products of lower bounds are lower bounds;
    a block that is not listed has 0. 2**16 itself is cut to 65535.
    """
    limits = np.zeros(1 << 16, np.uint16)
    width, precision = 1 << low_bits, 64
    unit, denominator = sigma_squared.denominator, 2 * sigma_squared.numerator
    ratio = negative_exponential(2 * unit * (width - 1) * width, denominator, precision)[0]
    for sign in (0, 1):
        worst = (width - 1) * (2 * sign + width - 1)
        least = negative_exponential(unit * worst, denominator, precision)[0]
        for block in range(blocks):
            limits[block ^ -sign] = min(least >> (precision - 16), 65535)
            least = least * ratio >> precision
    return limits


class _Blocks:
    """The law of step 2. The weight of a block is f(peak), f(d) = exp(-d**2 / (2 sigma_squared))."""

    def __init__(self, sigma_squared: Fraction, width: int) -> None:
        self._sigma_squared = sigma_squared
        self._width = width

    def cumulative(self, precision: int) -> Iterator[tuple[int, int]]:
        """Enclose F by sums of enclosed weights over the enclosed sum of all.

        Weights are listed until those of both sides are below 2**(32 - working). What is left has no room
        in the list; it is covered by a last enclosure that reaches up to 1.
        """
        weights, rest = self._listed(precision + _GUARD)
        total_low = sum(low for low, _ in weights)
        total_high = sum(high for _, high in weights) + rest
        low = high = 0
        for weight in weights:
            low, high = low + weight[0], high + weight[1]
            yield (low << precision) // total_high, min(1 << precision, -((-high << precision) // total_low))
        yield (low << precision) // total_high, 1 << precision

    def _listed(self, working: int) -> tuple[list[tuple[int, int]], int]:
        """Return the enclosed weights of atoms 0, 1, ... and a bound on the sum of all later ones.

        The later ones of a side: each is at most `ratio` times the one before, and ratios fall, so they sum
        to at most weight / (1 - ratio).
        """
        v, width, one = self._sigma_squared, self._width, 1 << working
        nearest = negative_exponential(v.denominator, 2 * v.numerator, working)
        weights: list[tuple[int, int]] = []
        sides = falling(v, 0, width, (one, one), working), falling(v, 1, width, nearest, working)
        for pair in zip(*sides, strict=True):
            if max(high for _, high, _ in pair) < _FAR:
                return weights, sum((high << working) // (one - ratio) + 1 for _, high, ratio in pair)
            weights += [(low, high) for low, high, _ in pair]
        raise AssertionError("weights never end")

    def value(self, atom: int) -> int:
        return (atom >> 1) ^ -(atom & 1)
