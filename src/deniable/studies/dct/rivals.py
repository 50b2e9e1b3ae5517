"""The mechanisms that the study compares, under the names of its figures, with what is expected of each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.local import Mean
from deniable.local.mean.protocol import Mechanism
from deniable.studies.dct import parametrisations
from deniable.studies.dct.parametrisations import Parametrisation
from deniable.studies.dct.specimen import NotPrivateDCT

Floats = NDArray[np.float64]
PRIVATE: dict[str, Mechanism] = {
    "PM": "piecewise",
    "Duchi": "duchi",
    "HM": "hybrid",
    "Laplace": "laplace",
    "repair": "classified",
    "optimal": "optimal",
}
"""Name in the figures -> name in `dn.local.Mean`."""

SPECIMENS: dict[str, Parametrisation] = {reading.name: reading for reading in parametrisations.MAIN}
NAMES = (*SPECIMENS, *PRIVATE)


@lru_cache(maxsize=128)
def private(name: str, epsilon: str) -> Mean:
    """Return a mechanism that keeps epsilon, for values in [-1, 1]."""
    return Mean(epsilon=epsilon, bounds=(-1, 1), mechanism=PRIVATE[name])


@lru_cache(maxsize=128)
def specimen(name: str, epsilon: str, alpha: str = "1/4") -> NotPrivateDCT:
    """Return a reading of DCT, which keeps none."""
    return SPECIMENS[name].specimen(epsilon, alpha=alpha)


def estimate(name: str, epsilon: str, values: Floats, bits: Bits, *, alpha: str = "1/4") -> float:
    """Return the mean that one report of each person gives."""
    if name in SPECIMENS:
        return float(np.mean(specimen(name, epsilon, alpha).report(values, bits)))
    mean = private(name, epsilon)
    totals = mean.aggregate(mean.randomize(values, bits=bits))
    return float(mean.law.sums(totals.totals)[0] / totals.n)


def variance(name: str, epsilon: str, values: Floats, *, alpha: str = "1/4") -> float:
    """Return the variance of a report, averaged over these values.

    Between two inputs of a law its second moment is a straight line (`local.mean.laws`), so that
    interpolation is exact; Laplace noise and the specimens have one variance for all values.
    """
    if name in SPECIMENS:
        return float(specimen(name, epsilon, alpha).variance)
    points, seconds = _moments(name, epsilon)
    if not len(points):
        return float(private(name, epsilon).error().worst_variance)
    return float(np.mean(np.interp(values, points, seconds) - values**2))


@lru_cache(maxsize=128)
def _moments(name: str, epsilon: str) -> tuple[Floats, Floats]:
    """Return the inputs of a law, as far as they are values, and its second moment at each."""
    mean = private(name, epsilon)
    error, ends = mean.error(), (Fraction(-1), Fraction(1))
    points = sorted({min(max(point, ends[0]), ends[1]) for point in mean.inputs()})
    seconds = [float(error.variance_at(point) + point**2) for point in points]
    return np.array([float(point) for point in points]), np.array(seconds)


def worst(name: str, epsilon: str) -> float:
    """Return the variance of a report on the value for which it is largest."""
    if name in SPECIMENS:
        return float(specimen(name, epsilon).variance)
    return float(private(name, epsilon).error().worst_variance)


@dataclass(frozen=True, slots=True)
class Reporter:
    """A mechanism as `dn.audit.sampled` runs it: n reports on one value."""

    name: str
    epsilon: str

    def __call__(self, value: float, n: int, bits: Bits) -> Floats:
        """Return the reports as numbers, `(n,)`."""
        values = np.full(n, float(value))
        if self.name in SPECIMENS:
            return specimen(self.name, self.epsilon).report(values, bits)
        return private(self.name, self.epsilon).randomize(values, bits=bits).payload.astype(np.float64)


def exactly(name: str, epsilon: str) -> str:
    """Return the verdict on epsilon from the exact probabilities, between -1 and 1 and 0."""
    from deniable import audit

    if name in SPECIMENS:
        return audit.exact(specimen(name, epsilon).density, [-1, 0, 1], epsilon=epsilon).word
    mean = private(name, epsilon)
    points = mean.inputs()
    if not points:
        return "not finite"
    ends = [points[0], points[len(points) // 2], points[-1]]
    return audit.exact(mean.probabilities, sorted(set(ends)), epsilon=epsilon).word
