"""Several pairs as one: what was drawn on one sample, before the sampling is taken into account.

Tails must keep their digits everywhere here, as sampling reshapes them. So the masses on a common grid are
convolved directly, without a transform: sums of positive terms, each off by at most as many units as it has
terms.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, log, log1p

import numpy as np

from deniable.accounting.losses import SLACK, losses
from deniable.accounting.pairs import Atoms, Floats, Pair

Items = list[tuple[Pair, int]]
_DEPTH = 600.0
_CELLS = 1 << 13
_LOST = 1e-290


def together(items: Items, mass: Fraction) -> Pair:
    """Return one pair that dominates all items, with a chance `mass` that everything is told."""
    if mass == 0 and len(items) == 1 and items[0][1] == 1:
        return items[0][0]
    return _failing(_atoms(items), mass)


def _failing(pair: Atoms, mass: Fraction) -> Atoms:
    """With chance `mass` the two sides tell which they are; else it is `pair`."""
    if mass == 0:
        return pair
    fails, keeps = log(mass.numerator) - log(mass.denominator), log1p(-float(mass))
    return Atoms(
        pair.losses,
        pair.log_mass + keeps,
        float(np.logaddexp(pair.log_infinite + keeps, fails)),
        float(np.logaddexp(pair.log_missing + keeps, fails)),
    )


def _atoms(items: Items) -> Atoms:
    if not items:
        return Atoms(np.zeros(1), np.zeros(1))
    if len(items) == 1 and items[0][1] == 1 and isinstance(items[0][0], Atoms):
        return items[0][0]
    step = sum(count * _width(pair) for pair, count in items) / _CELLS
    first, masses, log_finite = 0, np.ones(1), 0.0
    for pair, count in items:
        start, each, log_kept = _laid(pair, step)
        first, masses = first + count * start, _convolved(masses, _power(each, count))
        log_finite += count * log_kept
    points: Floats = (first + np.arange(len(masses))) * np.float64(step)
    kept = masses > 0
    missing = 1 - float(masses @ np.exp(-np.minimum(points, 700.0)))
    return Atoms(
        points[kept],
        np.log(masses[kept]),
        log(-np.expm1(log_finite) + _LOST),
        log(missing) if missing > 0 else -inf,
    )


def _laid(pair: Pair, step: float) -> tuple[int, Floats, float]:
    """Return the first index, the masses from there on, and ln(1 - infinite mass)."""
    found = losses(pair, step, _DEPTH)
    start = int(found.index.min())
    laid: Floats = np.bincount(found.index - start, weights=np.exp(found.log_mass)).astype(np.float64)
    return start, laid, float(np.log1p(-np.exp(found.log_infinite)))


def _power(masses: Floats, count: int) -> Floats:
    """Convolve `masses` with itself `count` times, by doubling."""
    result = masses
    for digit in bin(count)[3:]:
        result = _convolved(result, result)
        if digit == "1":
            result = _convolved(result, masses)
    return result


def _width(pair: Pair) -> float:
    low, high = (pair.losses.min(), pair.losses.max()) if isinstance(pair, Atoms) else pair.span(_DEPTH)
    return float(high - low)


def _convolved(a: Floats, b: Floats) -> Floats:
    """Convolve and round up; what underflows on the way is below _LOST in all and counted as infinite."""
    return np.convolve(a, b) * (1 + SLACK + min(len(a), len(b)) * 2.0**-52)
