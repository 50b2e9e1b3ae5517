"""From a pair to masses on a grid of losses, never below it: connect the dots.

The grid is j * step for integers j. Between two neighbouring points e and e + step lies mass p of P and q
of Q. Two masses at the ends do the same to both: b = (p - q e**e) / (1 - e**-step) above, a = p - b below.
Then delta at every grid point is that of the pair, and between them it is linear in e**epsilon, above the
pair's, which is convex (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022).

Rounding. `tails` is off by less than SLACK (1 + |e| + |log tail|) in the logarithm: P's tail is raised and
Q's is lowered by that much, which only raises delta at the grid points; then both are made monotone, P
upwards and Q downwards. What comes after is exact but for a few units: p and q are differences of
neighbours, and b is clipped from below at 0 (upwards), while a is clipped at 0 and b kept (upwards). Mass
above the last point is counted as infinite, mass below the first is moved up to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from deniable.accounting.pairs import Atoms, Floats, Pair, Smooth

SLACK = 2.0**-47
LONGEST = 1 << 21
_NOTHING = -2000.0


class TooFine(Exception):  # noqa: N818
    """A grid needs `times` more places than are allowed: the caller takes a coarser one."""

    def __init__(self, times: float) -> None:
        self.times = times
        super().__init__(times)


@dataclass(frozen=True, slots=True)
class Losses:
    """Masses of P on a grid, in logarithms: log_mass[i] at index[i]; log_infinite has no finite loss."""

    index: NDArray[np.int64]
    log_mass: Floats
    log_infinite: float


def losses(pair: Pair, step: float, depth: float) -> Losses:
    """Return masses on the grid that dominate the pair; at most about exp(-depth) is called infinite.

    Raises:  TooFine.
    """
    if isinstance(pair, Atoms):
        return Losses(*split(pair.losses, pair.log_mass, step), raised(pair.log_infinite))
    return _from_tails(pair, step, depth)


def split(points: Floats, log_mass: Floats, step: float) -> tuple[NDArray[np.int64], Floats]:
    """Split each atom between its neighbours on the grid: two places for each, one after the other.

    The loss is off by a few units of itself: it is raised by 8, b by 2**-49 (1 + |loss|) / step, masses by
    SLACK. No mass is exp(_NOTHING) here, so that every place has a finite logarithm.
    """
    points = points + 2.0**-50 * np.abs(points)
    below = np.floor(points / step)
    share = np.expm1(below * step - points) / np.expm1(-step)
    above = np.clip(share + 2.0**-49 * (1 + np.abs(points) / step), 0.0, 1.0)
    mass = log_mass + SLACK * (1 + np.abs(log_mass))
    with np.errstate(divide="ignore"):
        parts = np.stack([mass + np.log1p(-above), mass + np.log(above)], axis=1)
    index = np.stack([below, below + (above > 0)], axis=1).astype(np.int64)
    return index.ravel(), np.maximum(parts.ravel(), _NOTHING)


def raised(log_mass: float) -> float:
    """Round the logarithm of a mass up."""
    return log_mass + SLACK * (1 + abs(log_mass)) if log_mass > -np.inf else log_mass


def _from_tails(pair: Smooth, step: float, depth: float) -> Losses:
    low, high = pair.span(depth)
    if (high - low) / step > LONGEST:
        raise TooFine((high - low) / step / LONGEST)
    index = np.arange(floor(low / step) - 1, ceil(high / step) + 2, dtype=np.int64)
    points: Floats = index * np.float64(step)
    near, far = _monotone(*pair.tails(points), points)
    below, above = _ends(near, far, points, step)
    with np.errstate(divide="ignore"):
        start = np.log(-np.expm1(near[0])) if near[0] < 0 else -np.inf
        mass = np.logaddexp(
            np.append(near[:-1] + np.log(below), -np.inf), np.append(start, near[:-1] + np.log(above))
        )
    kept = mass > -np.inf
    return Losses(index[kept], mass[kept], float(near[-1]))


def _monotone(near: Floats, far: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Round the tails against us, and make them fall; with |e| at its largest, which adds no slope."""
    widest = 1 + max(abs(points[0]), abs(points[-1]))
    with np.errstate(invalid="ignore"):
        near = np.where(near > -np.inf, near + SLACK * (widest + np.abs(near)), near)
        far = np.where(far > -np.inf, far - SLACK * (widest + np.abs(far)), far)
    return np.maximum.accumulate(near[::-1])[::-1], np.minimum.accumulate(far)


def _ends(near: Floats, far: Floats, points: Floats, step: float) -> tuple[Floats, Floats]:
    """Return a and b of each cell, as parts of P's tail above its lower end."""
    top = near[:-1]
    with np.errstate(invalid="ignore"):
        p = -np.expm1(near[1:] - top)
        q = np.exp(far[:-1] + points[:-1] - top) * -np.expm1(far[1:] - far[:-1])
    p, q = np.where(top > -np.inf, p, 0.0), np.where(far[:-1] > -np.inf, q, 0.0)
    b = np.maximum((p - q) / -np.expm1(-step), 0.0)
    return np.maximum(p - b, 0.0), b
