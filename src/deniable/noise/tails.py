"""Tails and widths of symmetric laws on the integers, decided with enclosures.

1. A tail is P(X >= m). For m >= 1 each law encloses it itself; for m <= 0 it is 1 - P(X >= 1 - m), as
   P(X <= m - 1) = P(X >= 1 - m) (`anywhere`).
2. Enclosures are relative: high - low <= high * 2**-precision, whatever the tail. Only where exp(-2840) <
   2**-4096 is known to be above it, the enclosure is (0, 2**-4096).
3. P(abs(X) <= w) >= confidence if and only if P(X >= w + 1) <= (1 - confidence)/2. That is true for every w
   from some point on; `least_width` brackets the point by doubling, and bisects. Each comparison sharpens
   the enclosure until it decides (`_at_most`); at 4096 bits, which no known case reaches, it counts as "no":
   the width may then be one more than the least, never less.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from deniable.errors import ParameterError
from deniable.exact import probability

PRECISION = 64
FARTHEST = 2840
SMALLEST = Fraction(1, 1 << 4096)
_SHARPEST = 4096

Tail = Callable[[int, int], tuple[Fraction, Fraction]]
"""Takes m >= 1 and a precision; encloses P(X >= m) as in step 2."""


def anywhere(tail: Tail, m: int, precision: int) -> tuple[Fraction, Fraction]:
    """Enclose P(X >= m) for any m, given the tail for m >= 1."""
    if m >= 1:
        return tail(m, precision)
    low, high = tail(1 - m, precision)
    return 1 - high, 1 - low


def least_width(tail: Tail, confidence: object, start: int) -> int:
    """Return the least w >= 0 with P(abs(X) <= w) >= confidence; the search starts near `start`.

    Raises:  ParameterError: confidence is not in [0, 1), or above 1 - 2**-4000.
    """
    left = (1 - probability(confidence, "confidence")) / 2
    if not left >= Fraction(1, 1 << 4001):
        raise ParameterError("confidence", confidence, "is too close to 1", "Give for example 0.95.")
    low, high = -1, max(1, start)
    while not _at_most(tail, high + 1, left):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if _at_most(tail, middle + 1, left):
            high = middle
        else:
            low = middle
    return high


def _at_most(tail: Tail, m: int, bound: Fraction) -> bool:
    """Return whether P(X >= m) <= bound (step 3)."""
    precision = PRECISION // 2
    while precision <= _SHARPEST:
        low, high = tail(m, precision)
        if high <= bound:
            return True
        if low > bound:
            return False
        precision *= 2
    return False
