"""Intervals for a mean from the exact law of its reports.

What varies is the randomisation alone: the people are given. Its variance, of the average of n reports, is
(sum of var(v_i)) / n**2 with var the law's exact variance. The v_i are not known; their mean is, nearly.

1. `Range` holds the least concave function above var and the greatest convex one below it. By Jensen's
   inequality the average of var(v_i) lies between the two at the mean of the v_i, however these are spread:
   for the best tables the two nearly agree. The mean lies in a first interval, made with the worst variance;
   `most` is the highest upper value there, `least` the lower value at the estimate.
2. The variance of the n reports themselves exceeds the average of var(v_i) by the variance of the v_i: on
   average it is not too small either. Few reports may be alike by chance, so it is averaged with 100 reports
   of variance `most`, and cut to [least, most].
3. low and high are z standard errors from the estimate, z the normal quantile. That is an approximation,
   good from 100 reports on (tested for each kind of law); an estimate from fewer says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from statistics import NormalDist

import numpy as np

from deniable.local.mean.laws import Floats, Law

_POINTS = 1 << 12
_SAGGING = 1.0 / _POINTS**2
CAUTION = 100
ENOUGH = 100
FEW = "The interval is approximate for fewer than 100 reports: it may hold the truth less often than stated."


def quantile(confidence: Fraction) -> float:
    """Return z with P(|Z| <= z) = confidence for a standard normal Z."""
    tail = max(float((1 - confidence) / 2), 1e-300)
    return -NormalDist().inv_cdf(tail)


@dataclass(frozen=True)
class Range:
    """Between which numbers an average variance lies, by the mean of the values; floats, a little wide."""

    law: Law

    @cached_property
    def _sides(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        v = np.linspace(-1, 1, _POINTS + 1)
        height = self.law.variances(v)
        above, below = hull(v, height), hull(v, -height)
        return (v[above], height[above] + _SAGGING), (v[below], height[below])

    def most(self, low: float, high: float) -> float:
        """Return the highest upper value for means between low and high, cut to [-1, 1]."""
        v, height = self._sides[0]
        ends = np.clip([low, high], -1, 1)
        inside = height[(v >= ends[0]) & (v <= ends[1])]
        return float(max(*np.interp(ends, v, height), *inside))

    def least(self, mean: float) -> float:
        """Return the lower value at a mean, cut to [-1, 1]."""
        return float(np.interp(mean, *self._sides[1]))


def hull(v: Floats, height: Floats) -> list[int]:
    """Return the places of the corners of the least concave function above the points."""
    kept: list[int] = []
    for place in range(len(v)):
        while len(kept) > 1 and _under(v, height, kept[-2], kept[-1], place):
            kept.pop()
        kept.append(place)
    return kept


def _under(v: Floats, height: Floats, left: int, middle: int, right: int) -> bool:
    """Whether the middle point is on or below the line between the others."""
    rise = (height[right] - height[left]) * (v[middle] - v[left])
    return bool((height[middle] - height[left]) * (v[right] - v[left]) <= rise)


def standard_error(limits: Range, n: int, mean: float, square: float, z: float) -> float:
    """Return the standard error of the mean of n reports with this mean and mean square (steps 1 to 3)."""
    reach = z * sqrt(float(limits.law.worst) / n)
    most, least = limits.most(mean - reach, mean + reach), limits.least(mean)
    seen = (n * max(square - mean**2, 0.0) + CAUTION * most) / (n + CAUTION)
    return sqrt(min(max(seen, least), most) / n)
