"""What the best mechanism is best at: the worst value, or the average under a public prior on values.

| objective          | least                                                                             |
|--------------------|-----------------------------------------------------------------------------------|
| "worst"            | the variance of the value for which it is largest                                 |
| "uniform"          | the average variance, all values from low to high being equally likely            |
| ("gaussian", sd)   | the same under a normal density around the middle, cut off at the bounds; sd in   |
|                    | half widths of the bounds: with bounds (0, 100), 0.25 is a deviation of 12.5      |

A bound for cells. Cut [-1, 1] into cells. A mechanism, averaged over a cell, is unbiased for the mean m_i of
the prior there and keeps epsilon; its variance is the average variance in the cell plus the cell's own. So no
mechanism has a lower average variance than the bound for the inputs m_i, less the average of the cells' own
variances (`Cells.spread`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import erf, exp, pi, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.exact import Number, positive, written

Floats = NDArray[np.float64]
Objective = Literal["worst", "uniform"] | tuple[Literal["gaussian"], Number]
_LEAST, _MOST = Fraction(1, 100), Fraction(100)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """A prior on cells of [0, 1], folded: masses `(n,)` sum to 1, means of |v|, and the variance inside."""

    masses: Floats
    means: Floats
    spread: float


@dataclass(frozen=True, slots=True)
class Prior:
    """A density on [-1, 1], even: normal with deviation sd, or uniform if sd is None."""

    sd: Fraction | None

    def __str__(self) -> str:
        return "uniform" if self.sd is None else f"gaussian {written(self.sd)}"

    def masses(self, inputs: Floats) -> Floats:
        """Return the shares of |v| that are nearest to each input; inputs rise from 0 to 1."""
        edges = np.concatenate([[0.0], (inputs[1:] + inputs[:-1]) / 2, [1.0]])
        parts = np.diff(self._until(edges)[0])
        return np.asarray(parts / parts.sum(), float)

    def cells(self, n: int) -> Cells:
        """Return the prior on n cells of one width, the first of which has 0 in its middle."""
        edges = np.concatenate([[0.0], (np.arange(n) + 0.5) / (n - 0.5)])
        zero, one, two = (np.diff(part) for part in self._until(edges))
        means = one / zero
        means[0] = 0.0
        return Cells(zero / zero.sum(), means, float((two - means**2 * zero).sum() / zero.sum()))

    def average(self, variance: Floats) -> float:
        """Return the average of a function that is given at the middles of equal cells of [0, 1]."""
        masses = np.diff(self._until(np.linspace(0, 1, len(variance) + 1))[0])
        return float(masses @ variance / masses.sum())

    def _until(self, v: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the integrals of 1, v and v**2 from 0 to v, each with the density times a constant."""
        if self.sd is None:
            return v, v**2 / 2, v**3 / 3
        sd = float(self.sd)
        mass = np.array([erf(x / sd / sqrt(2)) / 2 for x in v])
        height = np.array([exp(-((x / sd) ** 2) / 2) for x in v]) / sqrt(2 * pi)
        return mass, sd * (1 / sqrt(2 * pi) - height), sd**2 * mass - sd * v * height


def prior(objective: object) -> Prior | None:
    """Return the prior that an objective names, None for "worst".

    Raises:  ParameterError: it names none; sd is not from 1/100 to 100.
    """
    match objective:
        case "worst":
            return None
        case "uniform":
            return Prior(None)
        case ("gaussian", sd):
            deviation = positive(sd, "objective")
            if not _LEAST <= deviation <= _MOST:
                fix = "Give a deviation from 0.01 to 100, in half widths of the bounds."
                raise ParameterError("objective", objective, "is out of range", fix)
            return Prior(deviation)
        case _:
            fix = 'Write "worst", "uniform" or ("gaussian", 0.25).'
            raise ParameterError("objective", objective, "is unknown", fix)


def spoken(words: object) -> Prior | None:
    """Return the prior whose text this is, None for "worst"; the way back from `str(prior)`."""
    name, _, sd = words.partition(" ") if isinstance(words, str) else ("", "", "")
    return prior(("gaussian", sd) if name == "gaussian" else words)
