"""Exact chances: coins, uniform numbers and weighted choices whose probabilities are real numbers.

A uniform U in [0, 1) is written bit by bit. After `precision` bits it lies in [prefix, prefix + 1) units of
2**-precision. A real number p in [0, 1] is enclosed by integers low <= p 2**precision <= high.
1. If prefix + 1 <= low then U < p; if prefix >= high then U >= p. Otherwise 64 more bits are drawn and p is
   enclosed again. So "U < p" is decided rightly whenever it is decided: `coin`.
2. Enclosures are a few units wide, so each round leaves it open with a probability of a few in 2**64.
3. `weighted`: with sums S(k) of weights and their total T, item k is chosen if S(k-1) <= U T < S(k). `place`
   is the first k with prefix * lows[-1] < highs[k] << precision, so S(k-1) <= U T; what is tested then is
   U T < S(k), which is known for the last one.
Floating point takes no part.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate

from deniable.bits import Bits
from deniable.brackets import negative_exponential

_WORD = 64

Enclosure = Callable[[int], tuple[int, int]]
"""Takes a precision; returns integers low <= p 2**precision <= high."""


def coin(p: Enclosure, bits: Bits) -> bool:
    """Return True with probability p, exactly (step 1)."""
    prefix, precision = bits.integer(_WORD), _WORD
    while True:
        low, high = p(precision)
        if prefix + 1 <= low:
            return True
        if prefix >= high:
            return False
        prefix, precision = prefix << _WORD | bits.integer(_WORD), precision + _WORD


def uniform(n: int, bits: Bits) -> int:
    """Return a whole number from 0 to n - 1, each with probability 1/n: numbers too large are drawn anew."""
    size = (n - 1).bit_length()
    while (drawn := bits.integer(size)) >= n:
        pass
    return drawn


def weighted(costs: Sequence[int], rate: Fraction, bits: Bits) -> int:
    """Return i with probability proportional to exp(-rate * costs[i]), exactly (step 3).

    Args:    costs: at least 0, and 0 is among them; so the sum of the weights is at least 1.
    """
    prefix, precision, last = bits.integer(_WORD), _WORD, len(costs) - 1
    while True:
        working = precision + len(costs).bit_length() + 4
        known = {cost: falling(cost, rate)(working) for cost in set(costs)}
        lows = list(accumulate(known[cost][0] for cost in costs))
        highs = list(accumulate(known[cost][1] for cost in costs))
        place = bisect_right(highs, prefix * lows[-1] >> precision)
        if place == last or (prefix + 1) * highs[-1] <= lows[place] << precision:
            return place
        prefix, precision = prefix << _WORD | bits.integer(_WORD), precision + _WORD


def falling(cost: int, rate: Fraction) -> Enclosure:
    """Return the enclosure of exp(-rate * cost)."""
    return lambda precision: negative_exponential(cost * rate.numerator, rate.denominator, precision)
