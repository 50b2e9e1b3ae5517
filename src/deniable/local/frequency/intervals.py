"""Intervals for the share of an item, from the number of reports that support it.

Of n reports, c support an item of share f. c is a sum of n tosses, with the mean n (b + f d), d = a - b,
and the variance n s(f), s(f) = b (1 - b) + f (a (1 - a) - b (1 - b)): a and b as `true` and `false` in
`randomizer`.

The interval holds the f for which c is not too far from its mean: |c - n (b + f d)| <= z sqrt(n s(f)) + e,
with z the normal quantile. e = 1/2 + (z**2 + 2)/6 counts allows for whole numbers and for the skewness of
rare supports; it matters below a few thousand reports. The two ends are roots of a quadratic. The tests sum
the true law of c for many n, a, b and f: the interval then holds f at least as often as it says, down to n
= 1.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable.local.payloads import normal

Floats = NDArray[np.float64]


def interval(
    supported: NDArray[np.int64], n: int, true: Fraction, false: Fraction, confidence: Fraction
) -> tuple[Floats, Floats]:
    """Return the two ends for each item."""
    z = normal(confidence)
    slack = 0.5 + (z * z + 2) / 6
    low, high = supported.astype(np.float64) - slack, supported.astype(np.float64) + slack
    return _end(low, n, true, false, -z), _end(high, n, true, false, z)


def spread(share: Floats, true: Fraction, false: Fraction) -> Floats:
    """Return the standard error of one report about an item of this share."""
    shown = np.clip(share, 0.0, 1.0)
    variance = float(false * (1 - false)) * (1 - shown) + float(true * (1 - true)) * shown
    error: Floats = np.sqrt(variance) / float(true - false)
    return error


def _end(supported: Floats, n: int, true: Fraction, false: Fraction, z: float) -> Floats:
    """Return the end f = g + z sqrt(s(f) / n) / d, with g the share that `supported` would show.

    Shares outside [0, 1] do not exist: there s is that of the nearer end, and f leaves the interval only by
    it.
    """
    d = float(true - false)
    none, all_ = float(false * (1 - false)) / d**2, float(true * (1 - true)) / d**2
    shown = (supported / n - float(false)) / d
    w, slope = z * z / n, all_ - none
    inside = np.maximum(w * (none + slope * shown) + (w * slope / 2) ** 2, 0.0)
    root = shown + w * slope / 2 + np.sign(z) * np.sqrt(inside)
    at_0, at_1 = (shown + z * float(np.sqrt(variance / n)) for variance in (none, all_))
    end: Floats
    if z < 0:
        end = np.where(at_0 <= 0, at_0, np.where(root <= 1, root, at_1))
    else:
        end = np.where(at_1 >= 1, at_1, np.where(root >= 0, root, at_0))
    return end
