"""How to learn, decided from public numbers alone: people n, coordinates d, epsilon, norm and mechanism.

The rule. E is the largest mean squared error of one decoded report, in units of the clip (`Vector.error()`);
G is the largest squared length of a clipped gradient: 1 for "l2", d for "linf".

1. batch: the least for which the noise of a round's mean is no longer than a gradient may be:
   E / batch <= G; at least n / 1000 (so at most 1000 rounds), at most n / 10 (so at least ten).
2. rounds: floor(n / batch), so each person takes part at most once.
3. step: 1 / (clip sqrt(rounds (G + E / batch))): for weights that start 1 away from the best ones, the
   step with the least bound on the loss of the average (Shalev-Shwartz, Ben-David 2014, theorem 14.8).
4. averaging: the weights are the mean over the second half of the rounds (Rakhlin, Shamir, Sridharan 2012).
Each can be set by hand; none may be chosen after looking at data.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.exact import Number, at_least_zero, positive, whole
from deniable.guarantees import PureDP
from deniable.learn.losses import LOSSES, Loss
from deniable.local.vector import Vector
from deniable.local.vector.reading import Norm
from deniable.local.vector.vector import Mechanism
from deniable.publish.statement import wrapped

Floats = NDArray[np.float64]
Averaging = Literal["half", "all", "last"]
MOST_ROUNDS = 1000
LEAST_ROUNDS = 10
_MOST = 1 << 40


@dataclass(frozen=True, slots=True)
class Plan:
    """What server and clients agree on.

    clip: of a gradient, in `vector.norm`. penalty: lambda. attributes: what a person has; the coordinates of
    `vector` beyond them are a constant 1 (the intercept) and zeros that fill up to two.
    """

    loss: Loss
    vector: Vector
    clip: float
    batch: int
    rounds: int
    step: float
    penalty: float
    averaging: Averaging
    attributes: int
    intercept: bool

    @property
    def dimension(self) -> int:
        """How many weights there are, the intercept and filling included."""
        return self.vector.dimension

    def completed(self, features: Floats) -> Floats:
        """Return features `(n, attributes)` with the constant and the filling, `(n, dimension)`."""
        n = len(features)
        constant = np.ones((n, 1)) if self.intercept else np.zeros((n, 0))
        filling = np.zeros((n, self.dimension - self.attributes - constant.shape[1]))
        return np.hstack([features, constant, filling])

    @property
    def event(self) -> PureDP:
        """What taking part costs a person: one report."""
        return self.vector.event

    @property
    def people(self) -> int:
        """How many people send a report; the rest of n, less than a batch, is not asked."""
        return self.batch * self.rounds

    @property
    def statement(self) -> str:
        """What taking part means, in words."""
        said = (
            f"Each person sends one report about a gradient, in one of {self.rounds:,} rounds of "
            f"{self.batch:,} people: {self.event}. {self.vector.statement}"
        )
        return wrapped(" ".join(said.split())) + "\n"


def planned(
    *,
    people: int,
    attributes: int,
    epsilon: Number,
    loss: Loss,
    norm: Norm = "l2",
    mechanism: Mechanism = "auto",
    mean: str = "optimal",
    clip: Number = 1,
    penalty: Number = "1e-4",
    batch: int | None = None,
    step: Number | None = None,
    averaging: Averaging = "half",
    intercept: bool = True,
) -> Plan:
    """Return the plan by the rule at the top, with whatever was set by hand.

    Raises:  ParameterError: an argument is out of range, or the mechanism is made for the other norm.
    """
    if loss not in LOSSES:
        raise ParameterError("loss", loss, "is unknown", "Write 'squared', 'logistic' or 'hinge'.")
    if averaging not in ("half", "all", "last"):
        raise ParameterError("averaging", averaging, "is unknown", "Write 'half', 'all' or 'last'.")
    n = whole(people, "people", at_least=1, at_most=_MOST)
    known = whole(attributes, "attributes", at_least=1, at_most=1 << 16)
    dimension = max(2, known + bool(intercept))
    vector = Vector(epsilon=epsilon, dimension=dimension, norm=norm, mechanism=mechanism, mean=mean)
    size, noise = _clip(clip), vector.error().mean_squared_error
    longest = 1.0 if norm == "l2" else float(dimension)
    many = _batch(n, noise / longest) if batch is None else whole(batch, "batch", at_least=1, at_most=n)
    rounds = n // many
    by_rule = 1 / (size * sqrt(rounds * (longest + noise / many)))
    chosen = by_rule if step is None else float(positive(step, "step"))
    weight = float(at_least_zero(penalty, "penalty"))
    return Plan(loss, vector, size, many, rounds, chosen, weight, averaging, known, bool(intercept))


def _clip(clip: Number) -> float:
    size = positive(clip, "clip")
    if not Fraction(1, 10**100) <= size <= 10**100:
        raise ParameterError("clip", clip, "is out of range", "Give a number from 1e-100 to 1e100.")
    return float(size)


def _batch(people: int, noise: float) -> int:
    """Return the size of a round (rule 1), for noise in units of the longest gradient."""
    least, most = ceil(people / MOST_ROUNDS), max(1, people // LEAST_ROUNDS)
    return max(1, min(most, max(least, ceil(noise))))
