"""How samplers fill arrays: in fixed pieces, small requests from a block drawn ahead, the range checked.

1. Pieces hold 2**16 draws whatever was asked (`sample`), so neither data nor noise sets how work is cut.
2. Up to 2**14 draws from `SystemBits` come out of a block of 2**16 that was drawn earlier, and that goes with
   the bits at a fork (`SystemBits.ahead`). Seeded bits are never drawn ahead: a seed means one sequence.
3. Outputs with abs(x) >= 2**62 raise `NoiseError` (`_checked`), so that their sums with a value below 2**62
   fit in 64 bits. `shifted` looks before it shifts: an overflow there would wrap and go unseen.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits, SystemBits
from deniable.errors import NoiseError, ParameterError
from deniable.exact import positive, whole

Integers = NDArray[np.int64]
Fill = Callable[[Integers, Bits], None]
"""Overwrites an array with independent draws."""

_PIECE = 1 << 16
_SMALL = 1 << 14
_LIMIT_BITS = 62
_LIMIT = 1 << _LIMIT_BITS


def sample(sampler: object, fill: Fill, n: int, bits: Bits) -> Integers:
    """Return n draws, `(n,) int64`, of the sampler that `fill` belongs to.

    Raises:  ParameterError: n is not a whole number from 0 to 2**40. NoiseError: a draw with abs(x) >= 2**62.
    """
    count = whole(n, "n", at_least=0, at_most=1 << 40)
    if count <= _SMALL and isinstance(bits, SystemBits):
        return bits.ahead(sampler, count, lambda many: _drawn(fill, many, bits))
    return _drawn(fill, count, bits)


def _drawn(fill: Fill, n: int, bits: Bits) -> Integers:
    out = np.empty(n, np.int64)
    for start in range(0, n, _PIECE):
        piece = out[start : start + _PIECE]
        fill(piece, bits)
        _checked(piece)
    return out


def _checked(draws: Integers) -> None:
    if int(draws.max()) >= _LIMIT or int(draws.min()) <= -_LIMIT:
        raise _out_of_range()


def shifted(top: NDArray[np.int16] | Integers, by: int, out: Integers) -> None:
    """Write top * 2**by into `out`; refuse what would leave [-2**62, 2**62)."""
    edge = 1 << (_LIMIT_BITS - by)
    if int(top.max()) >= edge or int(top.min()) < -edge:
        raise _out_of_range()
    np.left_shift(top, by, out=out, dtype=np.int64)


def usable(value: object, argument: str, *, at_most: int) -> Fraction:
    """Return the number, above 0 and at most `at_most` (a power of two)."""
    number = positive(value, argument)
    if not number <= at_most:
        power = at_most.bit_length() - 1
        fix = f"Give at most 2**{power}: larger noise does not fit 64-bit integers; use a coarser grid."
        raise ParameterError(argument, value, "is too large", fix)
    return number


def _out_of_range() -> NoiseError:
    return NoiseError("A draw of the noise reached 2**62. Nothing was published; draw again.")
