"""Discrete Gaussian noise on one integer, as a table of its tails.

`lattice` proves the same sums in rationals, one epsilon at a time; here a whole grid is read off a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, expm1, isqrt, sqrt

import numpy as np

from deniable.accounting.pairs import Floats

_FARTHEST = 37.0
_UNIT = 2.0**-53


@dataclass(frozen=True, slots=True, init=False)
class DiscreteGaussianCurve:
    """P around 0, Q around `shift`: {loss > e} is {x < c}, c = shift/2 - e sigma**2 / shift (see `lattice`).

    near[k], far[k]: log of P(X <= k - middle), from above and from below, with the rounding of the sums in.
    """

    shift: int
    sigma: float
    near: Floats
    far: Floats

    def __init__(self, shift: int, sigma: float, depth: float) -> None:
        """Sum the noise to z = sqrt(2 depth) + 1 deviations, 37 at most (where floats end).

        What lies beyond is at most its first term times 1 / (1 - ratio), as the ratios of terms fall. The
        sums are made in rows of about sqrt(n), so that each has at most 2 sqrt(n) + 2 roundings.
        """
        middle = ceil(sigma * min(_FARTHEST, sqrt(2 * depth) + 1)) + 1
        x = np.arange(-middle, middle + 1)
        sums = _running(np.exp(-((x / sigma) ** 2) / 2))
        beyond = exp(-((middle / sigma) ** 2) / 2) / -expm1(-(middle + 0.5) / sigma**2)
        slack = (4 * isqrt(len(x)) + 2 * (middle / sigma) ** 2 + 16) * _UNIT
        object.__setattr__(self, "shift", shift)
        object.__setattr__(self, "sigma", sigma)
        object.__setattr__(self, "near", np.log((sums + beyond) / sums[-1]) + slack)
        object.__setattr__(self, "far", np.log(sums / (sums[-1] + 2 * beyond)) - slack)

    @property
    def variance(self) -> float:
        """shift**2 / sigma**2."""
        return (self.shift / self.sigma) ** 2

    def tails(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """See `Smooth`. c is moved up by a few units, so that no term at the edge is lost."""
        size = len(self.near)
        c = np.clip(self.shift / 2 - epsilon * self.sigma**2 / self.shift, -size, size)
        c = c + np.abs(c) * 2.0**-48
        k = (np.ceil(c) - 1).astype(np.int64) + size // 2
        near = np.where(k >= size, 0.0, self.near[np.clip(k, 0, size - 1)])
        other = k - self.shift
        far = np.where(other < 0, -np.inf, self.far[np.clip(other, 0, size - 1)])
        return np.minimum(near, 0.0), np.minimum(far, 0.0)

    def span(self, depth: float) -> tuple[float, float]:
        """P(X <= -z sigma) is about exp(-z**2 / 2); never beyond the table."""
        reach = min(sqrt(2 * depth) * self.sigma + 1, len(self.near) // 2)
        centre, slope = self.variance / 2, self.shift / self.sigma**2
        return -centre - slope * reach, centre + slope * reach


def _running(terms: Floats) -> Floats:
    """Return the running sums of `terms`, with few roundings each."""
    width = isqrt(len(terms)) + 1
    rows = np.zeros((width, width))
    rows.ravel()[: len(terms)] = terms
    inside = np.cumsum(rows, axis=1)
    before = np.concatenate([[0.0], np.cumsum(inside[:-1, -1])])
    sums: Floats = (inside + before[:, None]).ravel()[: len(terms)]
    return sums
