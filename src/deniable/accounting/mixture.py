"""Many pairs at once: put on one grid, and how fine that grid must be.

A grid of any step gives a true answer; a coarse one is only loose, and by how much is known. A loss that lies
anywhere between two grid points has its E[exp(t loss)] raised by a factor of about 1 + (cosh(t step) - 1)/6
(its variance by step**2 / 6, for a small step), and epsilon at tilt t by the logarithm of that over t, plus
(1 + 1/deviation) step**2 / 12. A loss that moves by less than a step is raised less, and one that lies on a
lattice which the grid fits is not raised at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, cosh, log, sqrt

import numpy as np
from numpy.typing import NDArray

from deniable.accounting.composition import Stack
from deniable.accounting.losses import Losses, losses, raised, split
from deniable.accounting.pairs import Atoms, Floats, Pair, Smooth

Items = Sequence[tuple[Pair, int]]
_STEEP, _NUDGE = 300.0, 1.08


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
        self.variances = np.concatenate([self._squares(), [pair.variance for pair, _ in self._smooth]])

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
        """Return about what the grid adds to epsilon."""
        blur = np.minimum(1.0, 6 * np.sqrt(self.variances) / step)
        blur[: len(self._starts)][self._fitting(step)] = 0.0
        grown = np.log1p(blur * (cosh(min(tilt * step, _STEEP)) - 1) / 6) / tilt
        return float(self.counts @ (grown + blur * (1 + 1 / sqrt(self.variance)) * step**2 / 12))

    def is_coarse(self, step: float) -> bool:
        """Whether some loss moves by less than a step, off the grid: then `off` may be far off itself."""
        small = np.sqrt(self.variances) < step
        small[: len(self._starts)] &= ~self._fitting(step)
        return bool(small.any())

    def log_above(self, epsilon: float, depth: float) -> float:
        """Return the log of a bound on delta if the losses stay below epsilon, but for little; else 0.

        They end where `span` says, but for what the tails say is beyond: a table may end long
        before exp(-depth).
        """
        tops = (
            [float(part.max()) for part in np.split(self._losses, self._ends[:-1])] if len(self._ends) else []
        )
        beyond = [log(float(self.counts.sum())) - depth, *self._infinite_logs()]
        for pair, count in self._smooth:
            top = pair.span(depth)[1]
            tops.append(top + 2.0**-44 * abs(top))
            beyond.append(raised(float(pair.tails(np.array(tops[-1:]))[0][0])) + log(count))
        if epsilon <= float(self.counts @ np.array(tops)):
            return 0.0
        return min(0.0, float(np.logaddexp.reduce(beyond)))

    def _infinite_logs(self) -> list[float]:
        return [infinite + log(count) for infinite, count in zip(self._infinite, self.repeats, strict=False)]

    def step(self, tilt: float, allowed: float) -> float:
        """Return a step at which `off` is about `allowed`, on a lattice if there is one that is no finer."""
        number = float(self.counts.sum())
        step = sqrt(12 * allowed / (number * (tilt + 1 + 1 / sqrt(self.variance))))
        widest = min(30 * step, 0.5 / (tilt + 1) + allowed / number)
        step = max(min(step, widest), allowed / number)
        while step * _NUDGE < widest and self.off(_NUDGE * step, tilt) <= allowed:
            step *= _NUDGE
        while step > allowed / number and self.off(step, tilt) > allowed:
            step /= _NUDGE
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

    def _squares(self) -> Floats:
        """Return the mean square of the losses of each finite pair: its variance, or more."""
        if not len(self._starts):
            return np.zeros(0)
        squares: Floats = np.add.reduceat(np.exp(self._log_mass) * self._losses**2, self._starts)
        return squares
