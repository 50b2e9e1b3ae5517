"""The discrete Laplace distribution of any rational scale, exactly, without rejection.

P(x) = (1 - q)/(1 + q) * q**abs(x) for every integer x, q = exp(-1/scale).

1. Write x = m for a sign s = 0 and x = -1 - m for s = 1, m >= 0. Then P(m, s = 0) = c q**m and
   P(m, s = 1) = c q**(m + 1), c = (1 - q)/(1 + q): so m and s are independent, P(m) = (1 - q) q**m and
   P(s = 1) = q/(1 + q).
2. Split m = g * 2**k + d, 0 <= d < 2**k: q**m = (q**(2**k))**g * q**d, so g and d are independent. In the
   same way d splits into independent digits: the digit at bit `shift` has P(j) proportional to r**j,
   r = q**(2**shift), 0 <= j < size (`_Digit`).
3. The top digit g is drawn together with the sign (`_Top`): atom 2g + s. With r = q**(2**k),
   P(atom > 2g) = P(top > g) + P(top = g) q/(1 + q) = r**(g+1) + r**g (1 - r) q/(1 + q)
                = r**g (q + r)/(1 + q), and P(atom > 2g + 1) = r**(g+1).
4. `_fill` joins them in two's complement: -1 - m is the complement of m, so with t = g or -1 - g from the
   top table, x = t * 2**k + (d if t >= 0 else the complement of d in k bits).
5. Each table is exact given uniform bits (`tables`), and reads bits of its own: so x has exactly P(x).

| scale            | draws                                                                     |
|------------------|---------------------------------------------------------------------------|
| 5e-324           | 0, except with probability below 2 exp(-1/scale)                          |
| 2**56            | as above; NoiseError where abs(x) >= 2**62 (probability below exp(-63))   |
| 0, -1, nan, 2**57| ParameterError                                                            |

Source: Ghosh, Roughgarden, Sundararajan 2009 (the mechanism); Canonne, Kamath, Steinke 2020 (exactness).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.brackets import exponential, negative_exponential
from deniable.exact import Number, text
from deniable.noise import tails
from deniable.noise.sampling import Integers, sample, shifted, usable
from deniable.noise.tables import Table

_LARGEST = 1 << 56
_DIGIT_BITS = 10
_TOP_BITS = 3
_GUARD = 112


class DiscreteLaplace:
    """The discrete Laplace distribution. Make one and draw often: making it takes milliseconds.

    Args:    scale: above 0, at most 2**56, in the units of the value it hides.
    Raises:  ParameterError: scale is no such number.
    """

    def __init__(self, scale: Number) -> None:
        self.scale: Final = usable(scale, "scale", at_most=_LARGEST)
        self._low_bits = max(0, int(self.scale).bit_length() - 1 - _TOP_BITS)
        self._top = Table(_Top(self.scale, self._low_bits))
        ends = _digit_ends(self._low_bits)
        self._digits = [
            (start, Table(_Digit(self.scale, start, 1 << (end - start)))) for start, end in pairwise(ends)
        ]

    def __repr__(self) -> str:
        return f"DiscreteLaplace({text(self.scale)})"

    def __reduce__(self) -> tuple[type[DiscreteLaplace], tuple[Fraction]]:
        return DiscreteLaplace, (self.scale,)

    def sample(self, n: int, *, bits: Bits) -> Integers:
        """Return n independent draws, `(n,) int64`.

        Guarantee: no floating point is used; given uniform bits each x has exactly the probability P(x).
        Raises:  ParameterError: n. NoiseError: a draw with abs(x) >= 2**62.
        """
        return sample(self, self._fill, n, bits)

    def tail(self, m: int, precision: int = tails.PRECISION) -> tuple[Fraction, Fraction]:
        """Enclose P(X >= m): low <= P <= high, high - low <= high * 2**-precision, or (0, 2**-4096).

        For m >= 1 the sum of the geometric series is q**m / (1 + q).
        """
        return tails.anywhere(self._tail, m, precision)

    def quantile(self, confidence: Number) -> int:
        """Return the least w >= 0 with P(abs(X) <= w) >= confidence (`tails`, step 3).

        Raises:  ParameterError: confidence is not in [0, 1), or above 1 - 2**-4000.
        """
        return tails.least_width(self._tail, confidence, int(self.scale))

    def _tail(self, m: int, precision: int) -> tuple[Fraction, Fraction]:
        if m > self.scale * tails.FARTHEST:
            return Fraction(0), tails.SMALLEST
        power = exponential(-m / self.scale, precision + 4)
        q = exponential(-1 / self.scale, precision + 4)
        return power[0] / (1 + q[1]), power[1] / (1 + q[0])

    def _fill(self, out: Integers, bits: Bits) -> None:
        """Overwrite `out` with draws (step 4)."""
        top = self._top.sample(len(out), bits)
        shifted(top, self._low_bits, out)
        if not self._digits:
            return
        width = np.int32 if self._low_bits < 31 else np.int64
        low: NDArray[Any] = np.multiply(top < 0, (1 << self._low_bits) - 1, dtype=width)
        for start, table in self._digits:
            low ^= np.left_shift(table.sample(len(out), bits), start, dtype=width)
        out |= low


class _Top:
    """The law of step 3: atom 2g + s stands for g where s = 0, and -1 - g where s = 1."""

    def __init__(self, scale: Fraction, low_bits: int) -> None:
        self._scale = scale
        self._low_bits = low_bits

    def cumulative(self, precision: int) -> Iterator[tuple[int, int]]:
        working = precision + _GUARD
        one = 1 << working
        q, r = (_power(self._scale, 1 << bit, working) for bit in (0, self._low_bits))
        split = ((q[0] + r[0]) << working) // (one + q[1]), -((-(q[1] + r[1]) << working) // (one + q[0]))
        power = one, one
        while True:
            for factor in (split, r):
                above = power[0] * factor[0] >> working, -(-power[1] * factor[1] >> working)
                yield max(0, one - above[1]) >> _GUARD, -((above[0] - one) >> _GUARD)
            power = above

    def value(self, atom: int) -> int:
        return (atom >> 1) ^ -(atom & 1)


class _Digit:
    """The law of step 2: j in [0, size) with P(j) proportional to r**j, F(j) = (1 - r**(j+1))/(1 - r**size).

    As scale <= 2**56, 1 - r**size > 2**-57: so 112 guard bits leave the enclosures far less than a unit wide.
    """

    def __init__(self, scale: Fraction, shift: int, size: int) -> None:
        self._scale = scale
        self._shift = shift
        self._size = size

    def cumulative(self, precision: int) -> Iterator[tuple[int, int]]:
        working = precision + _GUARD
        one = 1 << working
        r = _power(self._scale, 1 << self._shift, working)
        whole = _power(self._scale, self._size << self._shift, working)
        power = r
        for _ in range(self._size - 1):
            low = (max(0, one - power[1]) << precision) // (one - whole[0])
            high = -((power[0] - one << precision) // (one - whole[1]))
            yield low, high
            power = power[0] * r[0] >> working, -(-power[1] * r[1] >> working)
        yield 1 << precision, 1 << precision

    def value(self, atom: int) -> int:
        return atom


def _power(scale: Fraction, exponent: int, precision: int) -> tuple[int, int]:
    """Enclose q**exponent * 2**precision = exp(-exponent/scale) * 2**precision."""
    return negative_exponential(exponent * scale.denominator, scale.numerator, precision)


def _digit_ends(bits: int) -> list[int]:
    """Return 0, ..., bits: where digits of at most 10 bits, as even as possible, start and end."""
    digits = -(-bits // _DIGIT_BITS)
    return [bits * i // digits for i in range(digits + 1)] if digits else [0]
