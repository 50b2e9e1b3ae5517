"""rho-zCDP events as a pair: what is the worst that the bound of `concentrated` allows?

Let w = e**epsilon. F(w) is the least, over orders, of the bound of `concentrated` at epsilon and of
1 - w + w times that bound at -epsilon (the delta of the other direction, turned round). f is the largest
convex function below F.
1. One event: its delta is convex in w and below F, so below f, which is the curve of some pair: minus its
   slope is Q's tail. Computed at some points only, f is no smaller there.
2. Several, with rho adding up to r, each chosen after all outputs before, other events between them. Write
   f(r), F(r) for the rho still to come. An event with rho s has E[f(r - s)(w/e**loss)] <= that of F <=
   F(r)(w), as this holds for each order by itself, and its left side is convex in w: so it is at most
   f(r)(w). An event with a pair of its own is dominated by it on every convex function. So, from the last
   event to the first, delta is at most the mean of f(r)(w/e**loss) over the losses of the other pairs.
3. Between some points f is replaced by straight lines in w: above it, as it is convex. The slopes change at
   these points only, so this is a pair with finitely many losses: at each point Q has the change of slope.
"""

from __future__ import annotations

from math import ceil, expm1, inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from deniable.accounting.pairs import Atoms, Floats

_COARSE, _FINER = np.linspace(-16.0, 20.0, 181), np.linspace(-0.2, 0.2, 41)
_ALMOST, _STEEP = 1 - 1e-12, 700.0
_FINE = 0.015
_LOWEST = -600.0
_MOST_POINTS = 1 << 14
_ROUNDING = 1e-10


def concentrated_pair(rho: float, depth: float) -> Atoms:
    """Return the pair, for tails down to exp(-depth).

    The bound at order 1 + sqrt(depth/rho) is below that from rho + 2 sqrt(rho depth) on. Points are .015 of a
    deviation, sqrt(2 rho), apart, and none is below -600. Masses are raised by 1e-10 for rounding.
    """
    reach = rho + 2 * sqrt(rho * depth)
    low = max(-reach, _LOWEST)
    number = min(_MOST_POINTS, ceil((reach - low) / (_FINE * sqrt(2 * rho))))
    points = np.linspace(low, reach, number + 1)
    bound = _bound(rho, points)
    corners = _corners(points.tolist(), bound.tolist())
    return _atoms(points[corners], bound[corners])


def _atoms(points: Floats, log_delta: Floats) -> Atoms:
    """Return the pair whose delta is this at the points, straight between them, and 1 at w = 0."""
    drop, rise = -np.expm1(np.diff(log_delta)), -np.expm1(-np.diff(points))
    inside = log_delta[:-1] + np.log(drop) - points[1:] - np.log(rise)
    first = log(-expm1(log_delta[0])) - points[0]
    slopes = np.concatenate([[min(first, 0.0)], inside, [-inf]])
    with np.errstate(divide="ignore"):
        mass = points + slopes[:-1] + np.log(-np.expm1(np.minimum(np.diff(slopes), 0.0)))
    kept = mass > -np.inf
    missing = log(-expm1(first)) if first < 0 else -inf
    return Atoms(points[kept], mass[kept] + _ROUNDING, float(log_delta[-1]) + _ROUNDING, missing)


def _bound(rho: float, epsilon: Floats) -> Floats:
    """Return the log of F. Turned round, 1 - w (1 - bound) loses digits: it is raised by 2**-46 w."""
    here, there = _best(rho, epsilon), _best(rho, -epsilon)
    inside = np.exp(np.minimum(epsilon, _STEEP)) * (np.expm1(there) + 2.0**-46)
    turned = np.where(inside > -1, np.log1p(np.maximum(inside, -_ALMOST)), 0.0)
    bound: Floats = np.minimum(here, turned)
    return bound


def _best(rho: float, epsilon: Floats) -> Floats:
    """Return the log of the least bound of many orders, at most 0: a coarse row of them, then a fine one."""
    coarse = _bounds(rho, epsilon, _COARSE[:, None])
    near = _COARSE[coarse.argmin(axis=0)]
    best: Floats = np.minimum(_bounds(rho, epsilon, near[None, :] + _FINER[:, None]).min(axis=0), 0.0)
    return best


def _bounds(rho: float, epsilon: Floats, u: Floats) -> Floats:
    """Return the log of the bound at order 1 + e**u."""
    above = np.exp(u)
    bounds: Floats = above * ((1 + above) * rho - epsilon - np.log1p(1 / above)) - np.log1p(above)
    return bounds


def _corners(points: list[float], log_delta: list[float]) -> NDArray[np.int64]:
    """Return which points are corners of the convex function from 1 at w = 0 on: slopes must fall."""

    def steepness(i: int, j: int) -> float:
        start, begin = (0.0, -inf) if i < 0 else (log_delta[i], points[i])
        fall, rise = -expm1(log_delta[j] - start), -expm1(begin - points[j])
        return start + log(fall) - points[j] - log(rise) if fall > 0 else -inf

    corners = [-1]
    for k in range(len(points)):
        while len(corners) > 1 and steepness(corners[-2], corners[-1]) <= steepness(corners[-1], k):
            corners.pop()
        corners.append(k)
    return np.array(corners[1:])
