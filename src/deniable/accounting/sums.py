"""The smooth pairs that are tables: discrete Gaussian noise on one integer, and any rho-zCDP event.

`lattice` proves the same sums in rationals, one epsilon at a time; here a whole grid is read off a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, expm1, inf, isqrt, log, sqrt

import numpy as np
from numpy.typing import NDArray

from deniable.accounting.pairs import Floats

_FARTHEST = 37.0
_UNIT = 2.0**-53
_ORDERS = np.linspace(-16.0, 20.0, 721)
_DEEPEST, _POINTS = 800.0, 257


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


@dataclass(frozen=True, slots=True)
class ConcentratedCurve:
    """Any rho-zCDP event: the bound of `concentrated` at every epsilon, then the convex function below it.

    The true delta is convex in w = e**epsilon and below the bound, hence below the largest convex function
    under the bound at the points that are asked for and some more, which is a curve of some pair; Q's tail
    is minus its slope. Below 0, delta(epsilon) = 1 - w + w delta'(-epsilon) with delta' of the other
    direction, which obeys the same bound.
    """

    rho: float

    @property
    def variance(self) -> float:
        """That of the Gaussian with this rho."""
        return 2 * self.rho

    def tails(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """See `Smooth`."""
        near, far = np.where(epsilon < 0, 0.0, -np.inf), np.where(epsilon < 0, 0.0, -np.inf)
        finite = np.isfinite(epsilon)
        reach = self.span(_DEEPEST)[1]
        points = np.unique(np.concatenate([epsilon[finite], np.linspace(-reach, reach, _POINTS)]))
        above, below = _convex(points, self._bound(points))
        places = np.searchsorted(points, epsilon[finite])
        near[finite], far[finite] = above[places], below[places]
        return near, far

    def span(self, depth: float) -> tuple[float, float]:
        """The bound at order 1 + sqrt(depth / rho) is below exp(-depth) from here on; below 0, its mirror."""
        reach = self.rho + 2 * sqrt(self.rho * depth)
        return -reach, reach

    def _bound(self, epsilon: Floats) -> Floats:
        """Return the log of the bound: above 0 the best of many orders, below by the other direction."""
        orders = 1 + np.exp(_ORDERS)[:, None]
        positive = np.abs(epsilon)[None, :]
        inside = orders * self.rho - positive + np.log1p(-1 / orders)
        best = np.minimum(((orders - 1) * inside - np.log(orders)).min(axis=0), 0.0)
        with np.errstate(divide="ignore"):
            mirrored = np.log1p(np.exp(np.minimum(epsilon, 0.0)) * np.expm1(best))
        bound: Floats = np.where(epsilon >= 0, best, mirrored)
        return bound


def _convex(epsilon: Floats, log_delta: Floats) -> tuple[Floats, Floats]:
    """Return the log tails of the largest convex function of w = e**epsilon below the points.

    Tails: Q is minus the slope to the right (0 at the last point), P is delta + w Q.
    """
    corners = _corners(epsilon.tolist(), log_delta.tolist())
    left = np.clip(np.searchsorted(corners, np.arange(len(epsilon)), side="right") - 1, 0, len(corners) - 2)
    i, j = corners[left], corners[left + 1]
    drop = -np.expm1(log_delta[j] - log_delta[i])
    way = np.expm1(epsilon - epsilon[i]) / np.expm1(epsilon[j] - epsilon[i])
    with np.errstate(divide="ignore"):
        delta = log_delta[i] + np.log1p(-np.minimum(drop * way, 1.0))
        far = log_delta[i] + np.log(drop) - epsilon[i] - np.log(np.expm1(epsilon[j] - epsilon[i]))
    delta[-1], far[-1] = log_delta[-1], -np.inf
    return np.minimum(np.logaddexp(delta, epsilon + far), 0.0), np.minimum(far, 0.0)


def _corners(epsilon: list[float], log_delta: list[float]) -> NDArray[np.int64]:
    """Return which points are corners of the convex function: slopes, in logarithms, must fall."""

    def steepness(i: int, j: int) -> float:
        fall = -expm1(log_delta[j] - log_delta[i])
        return (
            log_delta[i] + log(fall) - epsilon[i] - log(expm1(epsilon[j] - epsilon[i])) if fall > 0 else -inf
        )

    corners: list[int] = []
    for k in range(len(epsilon)):
        while len(corners) > 1 and steepness(corners[-2], corners[-1]) <= steepness(corners[-1], k):
            corners.pop()
        corners.append(k)
    return np.array(corners)
