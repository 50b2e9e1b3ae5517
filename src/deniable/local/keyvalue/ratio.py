"""A mean as the quotient of two noisy sums, with an interval that also holds where the lower one is near 0.

Let x estimate f m (what a key's values add up to) and y estimate f (the share that holds it), both nearly
normal with known variances. For the true m, x - m y has the mean 0, so m is in the set (x - m y)**2 <= z**2
(var x - 2 m cov + m**2 var y) with the confidence that z gives, whatever f is (Fieller 1954). The interval
is that set within [-1, 1]; where y is not above z sqrt(var y) the data do not tell that anybody holds the
key, and it is all of [-1, 1].

Few or skewed reports: `slack` is what x - m y may be off besides, and widens the right side to at least
(z sd(x - m y) + slack)**2; the sd in its mixed term is the largest for m in [-1, 1], at one of the ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def allowance(z: float) -> float:
    """Return how many counts are allowed for whole numbers and skewness (`frequency.intervals`)."""
    return 0.5 + (z * z + 2) / 6


def drawn(count: Floats, n: Floats, z: float) -> tuple[Floats, Floats]:
    """Return the ends of the interval of p, of n tosses with `count` heads, p unknown.

    It holds the p with |count - n p| <= z sqrt(n p (1 - p)) + e: Wilson's, a little wider. e: the allowance.
    """
    slack, ends = allowance(z), []
    for sign in (-1, 1):
        at = np.clip((count + sign * slack) / n, 0, 1)
        middle, w = at + z * z / (2 * n), 1 + z * z / n
        reach = z * np.sqrt(at * (1 - at) / n + z * z / (4 * n * n))
        ends.append(np.clip((middle + sign * reach) / w, 0, 1))
    return ends[0], ends[1]


def quotient(
    x: Floats,
    y: Floats,
    var_x: Floats,
    var_y: Floats,
    cov: Floats,
    z: float,
    slack: float = 0.0,
) -> tuple[Floats, Floats, Floats]:
    """Return x / y within [-1, 1] (0 where y is not above 0), and the ends of its interval."""
    more = 2 * z * np.sqrt(var_x + 2 * np.abs(cov) + var_y) * slack + slack**2
    a, b, c = y**2 - z**2 * var_y, x * y - z**2 * cov, x**2 - z**2 * var_x - more
    root = np.sqrt(np.maximum(b**2 - a * c, 0))
    known = a > 0
    known &= y > 0
    below = np.where(known, a, 1.0)
    low = np.where(known, np.clip((b - root) / below, -1, 1), -1.0)
    high = np.where(known, np.clip((b + root) / below, -1, 1), 1.0)
    held = y > 0
    value = np.where(held, np.clip(x / np.where(held, y, 1.0), -1, 1), 0.0)
    return value, np.minimum(low, value), np.maximum(high, value)
