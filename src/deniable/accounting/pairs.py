"""Pairs of laws that stand for events: the worst two laws of an output, one for each of two neighbours.

For a pair (P, Q) the loss is ln(P/Q) of the output that came. The pair *dominates* an event if for every
epsilon

    delta(epsilon) = P[loss > epsilon] - e**epsilon Q[loss > epsilon]

is at least that of the event on any two neighbours; a composition of pairs then dominates the composition of
the events, adaptive or not (Zhu, Dong, Wang 2022, Theorem 10). `Smooth` pairs (see `curves`) answer with the
two tails, `Atoms` list finitely many losses. All in logarithms, so that 1e-300 keeps its digits.

Sampling. With probability `rate` the unit takes part. Removing it compares (1 - rate) Q + rate P with Q,
adding it compares P with (1 - rate) P + rate Q, where (P, Q) dominates the event in the same direction: the
loss l becomes ln(1 - rate + rate e**l), and -ln(1 - rate + rate e**-l).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_LINEAR_BELOW = 30.0


class Smooth(Protocol):
    """A pair that is known by its tails."""

    @property
    def variance(self) -> float:
        """About the variance of the loss; it decides the first grid, never a result."""

    def tails(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """Return log P[loss > epsilon] and log Q[loss > epsilon]; epsilon rises.

        Promise: each is off by less than `losses.SLACK` (1 + |epsilon| + |itself|).
        """

    def span(self, depth: float) -> tuple[float, float]:
        """Return (low, high): P[loss > high] <= exp(-depth), and about that for P and Q[loss <= low]."""


@dataclass(frozen=True, slots=True)
class Atoms:
    """A pair with finitely many losses, and parts that one side alone can produce.

    losses, log_mass: each loss and log P of it (Q is P times exp(-loss)).
    log_infinite: log of P's part where Q has none. log_missing: log of Q's part where P has none.
    """

    losses: Floats
    log_mass: Floats
    log_infinite: float = -np.inf
    log_missing: float = -np.inf

    def removed(self, rate: float) -> Atoms:
        """Return the pair on a sample, for a unit that is removed.

        Mass: P' = (1 - rate) Q + rate P = P (rate + (1 - rate) e**-l). What only Q produces has loss ln(1 -
        rate).
        """
        keep, take = float(np.log1p(-rate)), float(np.log(rate))
        losses = mixed(self.losses, rate)
        mass = self.log_mass + np.logaddexp(take, keep - self.losses) + 2.0**-50 * np.abs(self.losses)
        if self.log_missing > -np.inf:
            losses, mass = np.append(losses, keep), np.append(mass, keep + self.log_missing)
        return Atoms(losses, mass, take + self.log_infinite)

    def added(self, rate: float) -> Atoms:
        """Return the pair on a sample, for a unit that is added.

        P stays. What only P produced has loss -ln(1 - rate) now; what only Q produces is rate times that.
        """
        keep, take = float(np.log1p(-rate)), float(np.log(rate))
        losses, mass = -mixed(-self.losses, rate), self.log_mass
        if self.log_infinite > -np.inf:
            losses, mass = np.append(losses, -keep), np.append(mass, self.log_infinite)
        return Atoms(losses, mass, log_missing=take + self.log_missing)


Pair = Smooth | Atoms


def mixed(losses: Floats, rate: float) -> Floats:
    """Return ln(1 - rate + rate e**loss) for each loss, precise where it is small and where it is large."""
    small = np.minimum(losses, _LINEAR_BELOW)
    return np.where(
        losses < _LINEAR_BELOW,
        np.log1p(rate * np.expm1(small)),
        np.log(rate) + losses + np.log1p((1 / rate - 1) * np.exp(-np.maximum(losses, _LINEAR_BELOW))),
    )


def unmixed(losses: Floats, rate: float) -> Floats:
    """Return the l with ln(1 - rate + rate e**l) = loss; minus infinity where there is none."""
    ratio = np.expm1(np.minimum(losses, _LINEAR_BELOW)) / rate
    with np.errstate(divide="ignore"):
        near = np.log1p(np.maximum(ratio, -1.0))
    far = losses - np.log(rate) + np.log1p(-(1 - rate) * np.exp(-np.maximum(losses, _LINEAR_BELOW)))
    return np.where(losses < _LINEAR_BELOW, near, far)


def answers(epsilon: float, options: int = 2) -> Atoms:
    """Return randomised response; with two options, what dominates every epsilon-private event.

    P(true) = 1 / (1 + (options - 1) e**-epsilon); P and Q swap two answers and agree on the others.
    """
    total = float(np.log1p((options - 1) * np.exp(-epsilon)))
    losses = [epsilon, -epsilon] if options == 2 else [epsilon, 0.0, -epsilon]
    mass = [-total, -epsilon - total]
    if options > 2:
        mass.insert(1, float(np.log(options - 2)) - epsilon - total)
    return Atoms(np.array(losses), np.array(mass))


def steps(shift: int, scale: float) -> Atoms:
    """Return discrete Laplace noise moved by `shift`: losses (shift - 2 x) / scale, x = 0 .. shift.

    t = exp(-1/scale): P(x <= 0) = 1 / (1 + t), P(x) = (1 - t) / (1 + t) t**x between, P(x >= shift) =
    t**shift / (1 + t). A vector moved by d1, d2, ... is dominated by one number moved by d1 + d2 + ...: see
    `curves`.
    """
    x = np.arange(shift + 1)
    mass = -x / scale - np.log1p(np.exp(-1 / scale))
    mass[1:-1] += np.log(-np.expm1(-1 / scale))
    return Atoms((shift - 2 * x) / scale, mass)
