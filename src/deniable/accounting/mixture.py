"""Many pairs at once: put on one grid, and how fine that grid must be.

A grid of any step gives a true answer; a coarse one is only loose. The looseness is known: on a grid each
smooth loss gets about step**2 / 6 more variance, which moves epsilon by (tilt + 1 + 1/deviation) step**2 /
12. Where losses lie on a lattice, the grid can be made to fit it, and it adds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from deniable.accounting.composition import Stack
from deniable.accounting.losses import Losses, losses, raised, split
from deniable.accounting.pairs import Atoms, Floats, Pair, Smooth

Items = Sequence[tuple[Pair, int]]


class Mixture:
    """Pairs with their numbers: the finite ones first, as flat arrays."""

    def __init__(self, items: Items) -> None:
        atoms = [(pair, count) for pair, count in items if isinstance(pair, Atoms)]
        self._smooth: list[tuple[Smooth, int]] = [
            (pair, count) for pair, count in items if not isinstance(pair, Atoms)
        ]
        self.repeats = [count for _, count in atoms] + [count for _, count in self._smooth]
        self._losses = np.concatenate([np.zeros(0), *(pair.losses for pair, _ in atoms)])
        self._log_mass = np.concatenate([np.zeros(0), *(pair.log_mass for pair, _ in atoms)])
        self._infinite = [raised(pair.log_infinite) for pair, _ in atoms]
        sizes = [len(pair.losses) for pair, _ in atoms]
        self._starts = np.cumsum([0, *sizes])[:-1].astype(np.int64)
        self._ends = np.cumsum(sizes).astype(np.int64)
        self.counts = np.array(self.repeats, dtype=np.float64)
        self.variances = np.concatenate([self._spread(), [pair.variance for pair, _ in self._smooth]])

    @property
    def variance(self) -> float:
        """About the variance of the sum of all losses."""
        return float(self.counts @ self.variances)

    def stack(self, step: float, depth: float) -> Stack:
        """Return all losses on the grid; about exp(-depth) in all is called infinite. May raise TooFine."""
        deep = depth + float(np.log(self.counts.sum()))
        index, mass = split(self._losses, self._log_mass, step)
        found = [
            Losses(index[2 * start : 2 * end], mass[2 * start : 2 * end], infinite)
            for start, end, infinite in zip(self._starts, self._ends, self._infinite, strict=True)
        ]
        found += [losses(pair, step, deep) for pair, _ in self._smooth]
        return Stack(found, self.repeats, step)

    def off(self, step: float, tilt: float) -> float:
        """Return about what the grid adds to epsilon: at most a step for each loss that is off the grid."""
        blur = np.minimum(1.0, 6 * np.sqrt(self.variances) / step)
        blur[: len(self._starts)][self._fitting(step)] = 0.0
        number = float(self.counts @ blur)
        return number * min(step, (tilt + 1 + 1 / sqrt(self.variance)) * step**2 / 12)

    def step(self, tilt: float, allowed: float) -> float:
        """Return a step at which `off` is about `allowed`, on a lattice if there is one that is no finer."""
        number = float(self.counts.sum())
        step = sqrt(12 * allowed / (number * (tilt + 1 + 1 / sqrt(self.variance))))
        step = min(step * min(30.0, sqrt(allowed / max(self.off(step, tilt), 1e-300))), 0.5 / (tilt + 1))
        step = max(step, allowed / number)
        if len(self._starts):
            weights = self.counts[: len(self._starts)] * self.variances[: len(self._starts)]
            first = int(np.argmax(weights))
            places = np.abs(self._losses[self._starts[first] : self._ends[first]])
            period = float(places[places > 0].min(initial=np.inf))
            if step <= period < np.inf:
                return period / ceil(period / step)
        return step

    def _fitting(self, step: float) -> NDArray[np.bool_]:
        """Tell which finite pairs lie on the grid."""
        if not len(self._starts):
            return np.zeros(0, dtype=np.bool_)
        places = self._losses / step
        fits: NDArray[np.bool_] = np.maximum.reduceat(np.abs(places - np.round(places)), self._starts) < 1e-6
        return fits

    def _spread(self) -> Floats:
        """Return the variance of each finite pair."""
        if not len(self._starts):
            return np.zeros(0)
        weights, sizes = np.exp(self._log_mass), self._ends - self._starts
        mean = np.add.reduceat(weights * self._losses, self._starts)
        away = (self._losses - np.repeat(mean, sizes)) ** 2
        spread: Floats = np.add.reduceat(weights * away, self._starts)
        return spread
