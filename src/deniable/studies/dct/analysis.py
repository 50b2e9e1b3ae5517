"""What can be said about the paper's claim without running anything.

1. A mean of n unbiased reports with average variance V is nearly normal, so the expected absolute error is
   sqrt(2 V / (pi n)): the ratio of two mechanisms is sqrt(V / V'), whatever n (`absolute_error`).
2. PM and Duchi have the variances below, at a value with square s (Wang et al. 2019; Duchi et al. 2014).
3. The claim: an error nearly ten times below that of PM. The error of DCT is the same for all values, so its
   variance at each of them is V(PM)/100, and no unbiased mechanism that keeps epsilon has a worst variance
   below the limit L(epsilon). `needed` returns the least epsilon with L(epsilon) <= V.
   (Without unbiasedness a constant 0 beats everything on data around 0.)
"""

from __future__ import annotations

from itertools import pairwise
from math import exp, log, pi, sqrt

from deniable.errors import ParameterError

GAIN = 10
"""The claim: nearly an order of magnitude."""

LIMITS = (
    (0.1, 399.945),
    (0.5, 16.0000),
    (1.0, 3.98993),
    (1.5, 1.69112),
    (2.0, 0.865140),
    (3.0, 0.303976),
    (4.0, 0.127012),
    (5.0, 0.0573523),
    (6.0, 0.0271211),
    (8.0, 0.00649023),
)
"""(epsilon, proved lower bound on the worst variance of any unbiased mechanism that keeps it), values in
[-1, 1]: `deniable.local.limit(epsilon).lower`, rounded down to six digits."""


def piecewise(epsilon: float, square: float) -> float:
    """Return the variance of PM at a value with this square."""
    root = exp(epsilon / 2)
    return square / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)


def duchi(epsilon: float, square: float) -> float:
    """Return the variance of Duchi's mechanism at a value with this square."""
    power = exp(epsilon)
    return ((power + 1) / (power - 1)) ** 2 - square


def absolute_error(variance: float, n: int) -> float:
    """Return the expected absolute error of the mean of n reports with this average variance."""
    return sqrt(2 * variance / (pi * n))


def spread(variance: float, n: int, runs: int) -> float:
    """Return the standard deviation of the mean absolute error of so many runs."""
    return absolute_error(variance, n) * sqrt(pi / 2 - 1) / sqrt(runs)


def limit(epsilon: float) -> float:
    """Return the limit at one of the tabulated epsilons."""
    return dict(LIMITS)[epsilon]


def needed(variance: float) -> float:
    """Return the least epsilon at which an unbiased mechanism can have this worst variance.

    Between two tabulated points ln L is interpolated linearly.
    Raises:  ParameterError: the variance is beyond the table.
    """
    for (left, high), (right, low) in pairwise(LIMITS):
        if low <= variance <= high:
            return left + (right - left) * log(high / variance) / log(high / low)
    raise ParameterError("variance", variance, "is beyond the table of limits", "Give 0.0065 to 400.")
