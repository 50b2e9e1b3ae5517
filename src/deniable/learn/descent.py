"""The server's side of one training: weights, moved by one mean gradient a round.

    w <- (w - step * clip * mean) / (1 + step * penalty)

`mean` is in units of the clip. Dividing, instead of adding penalty * w to the gradient, is the same step
taken implicitly: it shrinks for every penalty, where the explicit one diverges once step * penalty > 2.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.errors import ParameterError
from deniable.learn.losses import clipped, gradients
from deniable.learn.plan import Plan

Floats = NDArray[np.float64]
Collect = Callable[[Floats], Floats]
"""From the clipped gradients of a group, `(batch, d)`, to an estimate of their mean, `(d,)`."""


class Descent:
    """Weights from 0 on; `advance` once a round, `weights` at any time."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.current: Floats = np.zeros(plan.dimension)
        self.round = 0
        self._sum: Floats = np.zeros(plan.dimension)
        self._summed = 0

    @property
    def finished(self) -> bool:
        """Whether all rounds are done."""
        return self.round >= self.plan.rounds

    def advance(self, mean: Floats) -> None:
        """Take the step of one round.

        Raises:  ParameterError: all rounds are done.
        """
        plan = self.plan
        if self.finished:
            fix = "Make a new plan: people who took part may not be asked again."
            raise ParameterError("round", self.round, "is beyond the last one", fix)
        self.current = (self.current - plan.step * plan.clip * mean) / (1 + plan.step * plan.penalty)
        self.round += 1
        if plan.averaging == "all" or (plan.averaging == "half" and 2 * self.round > plan.rounds):
            self._sum, self._summed = self._sum + self.current, self._summed + 1

    @property
    def weights(self) -> Floats:
        """The average that the plan asks for, as far as there is one yet; else the current weights."""
        return self._sum / self._summed if self._summed else self.current


def reported(plan: Plan, bits: Bits) -> Collect:
    """Return the private way to a mean: one report each, decoded, over the batch that the plan fixes."""

    def collect(rows: Floats) -> Floats:
        decoded = plan.vector.decode(plan.vector.randomize(rows, bits=bits))
        mean: Floats = decoded.sum(axis=0) / plan.batch
        return mean

    return collect


def descend(
    plan: Plan, features: Floats, targets: Floats, order: NDArray[np.int64], collect: Collect
) -> Descent:
    """Run all rounds over people in this order: round t asks the t-th group of `batch`, nobody twice.

    features: as people have them, `(n, attributes)`; each group's are completed when it is asked.
    """
    state = Descent(plan)
    for start in range(0, plan.people, plan.batch):
        group = order[start : start + plan.batch]
        rows = gradients(plan.loss, state.current, plan.completed(features[group]), targets[group])
        state.advance(collect(clipped(rows, norm=plan.vector.norm, clip=plan.clip)))
    return state


def shuffled(n: int, bits: Bits) -> NDArray[np.int64]:
    """Return 0 to n - 1 in an order drawn from the bits (a sort by 64-bit words; a tie keeps the order)."""
    return np.argsort(bits.uint64(n), kind="stable")
