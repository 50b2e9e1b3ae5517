"""A mean as the quotient of two noisy sums, with an interval that also holds where the lower one is near 0.

Let x estimate f m (what a key's values add up to) and y estimate f (the share that holds it), both nearly
normal with known variances. For the true m, x - m y has the mean 0, so m is in the set (x - m y)**2 <= z**2
(var x - 2 m cov + m**2 var y) with the confidence that z gives, whatever f is (Fieller 1954). The interval
is that set within [-1, 1]; where y**2 <= z**2 var y the data do not tell that anybody holds the key, and it
is all of [-1, 1].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def quotient(
    x: Floats, y: Floats, var_x: Floats, var_y: Floats, cov: Floats, z: float
) -> tuple[Floats, Floats, Floats]:
    """Return x / y within [-1, 1] (0 where y is not above 0), and the ends of its interval."""
    a, b, c = y**2 - z**2 * var_y, x * y - z**2 * cov, x**2 - z**2 * var_x
    root = np.sqrt(np.maximum(b**2 - a * c, 0))
    known = a > 0
    below = np.where(known, a, 1.0)
    low = np.where(known, np.clip((b - root) / below, -1, 1), -1.0)
    high = np.where(known, np.clip((b + root) / below, -1, 1), 1.0)
    held = y > 0
    value = np.where(held, np.clip(x / np.where(held, y, 1.0), -1, 1), 0.0)
    return value, np.minimum(low, value), np.maximum(high, value)
