"""The best mean mechanism there is, near enough: the linear program on a grid, made into an integer table.

| epsilon        | law                                                                                     |
|----------------|-----------------------------------------------------------------------------------------|
| below 0.1      | Duchi's two outputs; for the worst value within 1 + epsilon**2 / 4 of the limit (`limits`)|
| 0.1 to 8       | the linear program, or Duchi's where that has less variance                              |
| above 8        | the best window (`windows`): no table of useful size reaches the limit there             |

How good any mechanism can be at all is in `limits`.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from math import tanh

import numpy as np

from deniable.brackets import exponential
from deniable.exact import text
from deniable.local.mean import windows
from deniable.local.mean.integers import rounded
from deniable.local.mean.laws import Law
from deniable.local.mean.priors import Prior
from deniable.local.mean.program import solve

LEAST, MOST = Fraction(1, 10), Fraction(8)
_SLOW = Fraction(5)
_FAR = 1.65
_MIDDLES = 2048


@dataclass(frozen=True, slots=True)
class Grid:
    """A size that suffices up to an epsilon: inputs from 0 to 1, outputs, and how far the outputs reach."""

    epsilon: Fraction
    inputs: int
    outputs: int
    reach: float


GRIDS = (
    Grid(Fraction(1, 10), 7, 24, 1.1),
    Grid(Fraction(1, 2), 9, 32, 1.25),
    Grid(Fraction(1), 17, 32, 1.28),
    Grid(Fraction(3, 2), 17, 32, 1.3),
    Grid(Fraction(2), 17, 32, 1.27),
    Grid(Fraction(3), 33, 64, 1.3),
    Grid(Fraction(4), 33, 64, 1.25),
    Grid(Fraction(5), 49, 96, 1.15),
    Grid(Fraction(6), 65, 128, 1.1),
    Grid(Fraction(7), 97, 192, 1.075),
    Grid(Fraction(8), 129, 256, 1.05),
)
"""Grids for the worst case; reach is in units of 1 / tanh(epsilon / 2), that of Duchi's outputs."""


def grid_for(epsilon: Fraction) -> Grid:
    """Return the grid for an epsilon from 0.1 to 8: the size of the next one listed, its reach in between."""
    above = next(grid for grid in GRIDS if grid.epsilon >= epsilon)
    below = max((grid for grid in GRIDS if grid.epsilon <= epsilon), key=lambda grid: grid.epsilon)
    span = above.epsilon - below.epsilon
    share = float((epsilon - below.epsilon) / span) if span else 1.0
    reach = below.reach + share * (above.reach - below.reach)
    return Grid(epsilon, above.inputs, above.outputs, reach)


def build(epsilon: Fraction, prior: Prior | None, grid: Grid | None = None) -> Law:
    """Solve the program, round it to integers, check it.

    Raises:  ArithmeticError: no solution, or none that can be rounded.
    """
    used = grid or grid_for(epsilon)
    inputs = np.linspace(0, 1, used.inputs)
    far = (used.reach if prior is None else _FAR) / tanh(float(epsilon) / 2)
    outputs = np.linspace(-far, far, used.outputs)
    weights = None if prior is None else prior.masses(inputs)
    start = time.monotonic()
    _say(epsilon >= _SLOW, f"deniable: building the table for epsilon {text(epsilon)} ...")
    found = solve(float(epsilon), inputs, outputs, weights)
    law = rounded(found, exponential(epsilon)[0])
    law.drawn.check(epsilon)
    _say(epsilon >= _SLOW, f" {time.monotonic() - start:.0f} s\n")
    return law


def better(epsilon: Fraction, prior: Prior | None, law: Law) -> Law:
    """Return the law, or Duchi's where that is no worse."""
    return min((windows.duchi(epsilon), law), key=lambda one: achieved(one, prior))


def achieved(law: Law, prior: Prior | None) -> float:
    """Return what a law achieves: its worst variance, or its average variance under the prior."""
    if prior is None:
        return float(law.worst)
    if prior.sd is None:
        return float(law.average())
    middles = (np.arange(_MIDDLES) + 0.5) / _MIDDLES
    both = law.variances(middles) + law.variances(-middles)
    return prior.average(both / 2)


def _say(slow: bool, words: str) -> None:
    """Write a note of progress where somebody can see it."""
    if slow and sys.stderr.isatty():
        sys.stderr.write(words)
        sys.stderr.flush()
