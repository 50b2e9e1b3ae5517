"""Intervals for a mean rate of ones, from how many there are: they hold at any rate, near 0 and 1 too.

Of m reports, c are ones. Report i is a one with a probability r_i of its own, apart from the others; asked is
for r, the mean of the r_i. B is binomial with m trials of probability r.

1. With all r_i alike, Clopper and Pearson 1934: the upper end solves P(B <= c) = alpha / 2, alpha = 1 -
   confidence; r is above it only if c is one of those with P(B <= c) < alpha / 2.
2. With others, Hoeffding 1956 (theorem 4): P(C <= c) <= P(B <= c) wherever c <= m r - 1. So the end of step 1
   still holds wherever it is at least (c + 1) / m.
3. Elsewhere, by Markov's inequality for the m - C zeros: P(C <= c) <= m (1 - r) / (m - c). This is at most
   alpha / 2 from r = 1 - (m - c) alpha / (2 m) on, which is taken if it is larger.
4. The lower end is the same for zeros. Each misses r with probability at most alpha / 2. Ends are computed in
   double precision and moved outward by 2**-40 of the distance to 0 and to 1.

Covered too are people who were drawn, without putting back, from those with an item and those without: how
many have it is distributed like a sum of independent coins (its generating polynomial has real roots only),
and so is what the coins of their reports make of it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_HAIR = 2.0**-40
_MANY = 30
_FEW = "There are few reports: go by the intervals, not by the standard errors."


def rates(ones: NDArray[np.int64], many: NDArray[np.int64], confidence: Fraction) -> tuple[Floats, Floats]:
    """Return the two ends for each entry; 0 and 1 where there are no reports."""
    each = float((1 - confidence) / 2)
    return 1 - _upper(many - ones, many, each), _upper(ones, many, each)


def deviation(rate: Floats, many: NDArray[np.int64], least: float) -> Any:
    """Return the standard error of a mean rate that cannot be below `least` or above 1 - `least`."""
    held = np.clip(rate, least, 1 - least)
    return np.sqrt(held * (1 - held) / many)


def few(many: NDArray[np.int64]) -> tuple[str, ...]:
    """Return a note if some entry rests on few reports."""
    return (_FEW,) * bool(np.any(many < _MANY))


def _upper(ones: NDArray[np.int64], many: NDArray[np.int64], each: float) -> Floats:
    """Return the upper ends (steps 1 to 3)."""
    from scipy.special import betaincinv

    zeros = many - ones
    with np.errstate(invalid="ignore", divide="ignore"):
        exact = np.where(zeros > 0, 1 - betaincinv(np.maximum(zeros, 1), ones + 1, each), 1.0)
        markov = np.where(zeros > 0, 1 - zeros * each / many, 1.0)
        found = np.where(exact * many >= ones + 1, exact, np.maximum(exact, markov))
    return np.asarray(np.minimum(found + _HAIR * (1 - found), 1.0))
