"""What events cost under each rule: the charge that a ledger writes beside them.

`accounting.leaves` has flattened the events and turned them into what they are for the ledger's neighbours;
what costs nothing is gone. Let P, Q be the laws of a leaf on two neighbours.

| leaf                       | concentrated: rho               | gaussian: mu**2           | basic           |
|----------------------------|---------------------------------|---------------------------|-----------------|
| pure epsilon               | epsilon**2 / 2 (1)              | refused                   | epsilon         |
| exponential mechanism      | epsilon**2 / 8 (1)              | refused                   | epsilon         |
| Gaussian, DiscreteGaussian | sensitivity**2 / (2 sigma**2)   | `discrete` (2)            | must be claimed |
| ZeroConcentratedDP         | rho                             | refused                   | must be claimed |
| ApproxDP, Selection        | of epsilon, and the mass        | the mass, if epsilon is 0 | epsilon, mass   |
| Subsampled                 | of what is sampled, or less (3) | of what is sampled        | amplified       |

1. f = ln(P/Q) lies in an interval of length w: w = 2 epsilon, for the exponential mechanism w = epsilon.
   psi(s) = ln E_Q[exp(s f)] has psi(0) = psi(1) = 0 and psi'' <= w**2/4 (the variance of a number in that
   interval), so psi(a) <= a (a - 1) w**2/8 for a > 1: rho = w**2/8. (Bun, Steinke 2016; Cesar, Rogers 2021.)
2. Discrete noise is within a distance d of a function of slightly smaller continuous noise (the lemma of
   `accounting.discrete`); distances of releases that follow one another add. So "P'(S) <= e**eps Q'(S) + c"
   for the continuous ones gives P(S) <= e**eps Q(S) + c + (1 + e**eps) d with the ledger's eps: a mass.
3. A Poisson sample turns P into (1 - q) Q + q P: a function of the old output, which replaces it by a draw
   of Q with probability 1 - q. So the charge of what was sampled covers it; where its epsilon, amplified, is
   cheaper, that is taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from deniable.accounting import discrete, within
from deniable.accounting.leaves import Leaf, leaves
from deniable.accounting.within import promise
from deniable.brackets import exponential
from deniable.errors import ParameterError
from deniable.events import (
    ApproxDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
    Selection,
    Subsampled,
    ZeroConcentratedDP,
)
from deniable.exact import text
from deniable.guarantees import Neighbours
from deniable.ledger.filters import Rule, Spending

Cost = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """What charges depend on, besides the events: the ledger's rule, neighbours and whole budget."""

    rule: Rule
    neighbours: Neighbours
    epsilon: Fraction
    delta: Fraction

    def charge(self, events: Iterable[Event]) -> Spending:
        """Return the sum of what the events cost, exact or rounded up.

        Raises:  ParameterError: an event that the rule cannot price.
        """
        return self._sum(leaves(events, self.neighbours))

    def claim(self, events: Iterable[Event], *, epsilon: Fraction, delta: Fraction) -> Spending:
        """Return (epsilon, delta) as the charge of the basic rule, once it is proved to cover the events.

        Raises:  ParameterError: it is not.
        """
        what = tuple(events)
        if not within(what, epsilon=epsilon, delta=delta, neighbours=self.neighbours):
            fix = "Give what dn.account(events) says, or more."
            raise ParameterError("epsilon", text(epsilon), "is not proved to cover these events", fix)
        return Spending(rule=self.rule, amount=epsilon, delta=delta)

    def _sum(self, found: dict[Leaf, int]) -> Spending:
        amount = delta = Fraction(0)
        for leaf, times in found.items():
            if isinstance(leaf, DiscreteGaussian) and self.rule is Rule.GAUSSIAN:
                continue
            cost = self._cost(leaf)
            amount, delta = amount + times * cost[0], delta + times * cost[1]
        if self.rule is Rule.GAUSSIAN:
            pairs = [(leaf, times) for leaf, times in found.items() if isinstance(leaf, DiscreteGaussian)]
            cost = self._smoothed(pairs)
            amount, delta = amount + cost[0], delta + cost[1]
        return Spending(rule=self.rule, amount=amount, delta=delta)

    def _cost(self, leaf: Leaf) -> Cost:
        match self.rule:
            case Rule.BASIC:
                return _basic(leaf)
            case Rule.CONCENTRATED:
                return self._concentrated(leaf)
            case Rule.GAUSSIAN:
                return self._gaussian(leaf)
            case _:
                assert_never(self.rule)

    def _concentrated(self, leaf: Leaf) -> Cost:
        match leaf:
            case Gaussian() | DiscreteGaussian():
                return leaf.sensitivity**2 / (2 * leaf.sigma**2), Fraction(0)
            case ZeroConcentratedDP():
                return leaf.rho, Fraction(0)
            case Exponential():
                return leaf.epsilon**2 / 8, Fraction(0)
            case Laplace() | DiscreteLaplace() | RandomizedResponse() | PureDP():
                return leaf.epsilon**2 / 2, Fraction(0)
            case Selection() | ApproxDP():
                return leaf.epsilon**2 / 2, leaf.delta
            case Subsampled():
                whole = self._sum(leaves(leaf.event, Neighbours.ADD_OR_REMOVE))
                kept = promise(leaf)
                if kept is not None and kept.epsilon**2 / 2 <= whole.amount:
                    return kept.epsilon**2 / 2, kept.delta
                return whole.amount, whole.delta
            case _:
                assert_never(leaf)

    def _gaussian(self, leaf: Leaf) -> Cost:
        match leaf:
            case Gaussian():
                return leaf.sensitivity**2 / leaf.sigma**2, Fraction(0)
            case Selection(epsilon=epsilon, delta=delta) | ApproxDP(epsilon=epsilon, delta=delta) if (
                not epsilon
            ):
                return Fraction(0), delta
            case Subsampled():
                whole = self._sum(leaves(leaf.event, Neighbours.ADD_OR_REMOVE))
                return whole.amount, whole.delta
            case _:
                fix = "It sums Gaussian noise and selection; use rule='concentrated' or 'basic' for others."
                raise ParameterError("event", leaf, "is refused by the gaussian rule", fix)

    def _smoothed(self, pairs: list[tuple[DiscreteGaussian, int]]) -> Cost:
        """Price discrete Gaussians by step 2."""
        if not pairs:
            return Fraction(0), Fraction(0)
        coordinates = sum(times * event.coordinates for event, times in pairs)
        smoothed = discrete.smoothed(pairs, discrete.smoothing(coordinates, self.epsilon, self.delta))
        if smoothed is None:
            fix = "Use rule='concentrated', or a finer grid (sigma and sensitivity larger by one factor)."
            coarse = min((event for event, _ in pairs), key=lambda event: event.sigma)
            raise ParameterError("event", coarse, "is too coarse for the gaussian rule", fix)
        return smoothed.mu_squared, (1 + exponential(self.epsilon)[1]) * smoothed.distance


def _basic(leaf: Leaf) -> Cost:
    kept = promise(leaf)
    if kept is None:
        fix = "Say what it costs: reserve(..., epsilon=, delta=)."
        raise ParameterError("event", leaf, "has no epsilon of its own", fix)
    return kept.epsilon, kept.delta
