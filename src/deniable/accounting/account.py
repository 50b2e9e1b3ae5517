"""`dn.account`: what events cost together. `within`: whether they keep a promise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.accounting import pricing, theorems
from deniable.accounting.curve import Curve, Point
from deniable.accounting.leaves import Leaf, leaves
from deniable.accounting.number import UpperBound, upward
from deniable.accounting.theorems import Theorems
from deniable.accounting.within import holds, parts
from deniable.events import Event
from deniable.exact import Number, at_least_zero, probability
from deniable.guarantees import Neighbours
from deniable.guarantees import neighbours as relation

_POINTS = 17
_SMALLEST = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True)
class Account:
    """What some events cost together, for one relation of neighbours.

    leaves: each different event that costs something, with how often it happened.
    """

    leaves: Mapping[Leaf, int]
    neighbours: Neighbours

    def epsilon(self, delta: Number = 0) -> UpperBound:
        """Return an epsilon such that the events together are (epsilon, delta)-private.

        Guarantee: never below the least such epsilon.
        Raises:  ParameterError: epsilon is infinite at this delta; or delta is no number in [0, 1).
        """
        return upward(pricing.epsilon(self.leaves, probability(delta, "delta")))

    def delta(self, *, epsilon: Number) -> UpperBound:
        """Return a delta such that the events together are (epsilon, delta)-private.

        Guarantee: never below the least such delta.
        Raises:  ParameterError: epsilon is no number of at least 0.
        """
        return upward(pricing.delta(self.leaves, at_least_zero(epsilon, "epsilon")))

    def by_theorem(self, *, delta: Number) -> Theorems:
        """Return what each theorem of composition says at this delta, side by side.

        Raises:  ParameterError: delta is no number in [0, 1).
        """
        return theorems.by_theorem(self.leaves, probability(delta, "delta"))

    def curve(self, *, epsilons: Iterable[Number] | None = None) -> Curve:
        """Return delta at several epsilons: the given ones, or 17 from 0 to where delta is about 1e-12.

        Raises:  ParameterError: an epsilon is no number of at least 0, or there are none.
        """
        if epsilons is None:
            asked = self._even_steps()
        else:
            asked = [at_least_zero(epsilon, "epsilons") for epsilon in epsilons]
        return Curve(tuple(Point(epsilon, self.delta(epsilon=epsilon)) for epsilon in sorted(asked)))

    def _even_steps(self) -> list[Fraction]:
        mass = parts(self.leaves).mass
        end = self.epsilon(mass + (1 - mass) * _SMALLEST) or Fraction(1)
        return [end * i / (_POINTS - 1) for i in range(_POINTS)]


def account(
    events: Event | Iterable[Event], *, neighbours: Neighbours | str = Neighbours.ADD_OR_REMOVE
) -> Account:
    """Return what the events cost together. Later ones may have been chosen from the outputs of earlier ones.

    Raises:  ParameterError: something is not an event; an unknown relation; sampling with "replace one".
    """
    between = relation(neighbours)
    return Account(leaves(events, between), between)


def within(
    events: Event | Iterable[Event],
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbours: Neighbours | str = Neighbours.ADD_OR_REMOVE,
) -> bool:
    """Whether the events together are proved to be (epsilon, delta)-private. False says "not proved".

    Rational arithmetic alone proves what it can (`within.holds`), at delta 0 everything. Where that is not
    enough, `pricing.delta` decides: its floats have their rounding and tails added, so that the rational
    made from them is not below the truth, and rationals are compared.
    Raises:  ParameterError: epsilon or delta is no number, or out of range; the events are none.
    """
    target, allowed = at_least_zero(epsilon, "epsilon"), probability(delta, "delta")
    found = leaves(events, relation(neighbours))
    given = parts(found)
    if holds(given, target, allowed):
        return True
    return allowed > given.mass and _by_losses(found, target, allowed)


def _by_losses(found: Mapping[Leaf, int], epsilon: Fraction, delta: Fraction) -> bool:
    """Whether loss distributions prove it; what leaves the range of floats on the way is not proved."""
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return pricing.delta(found, epsilon) <= delta
    except (ArithmeticError, ValueError):
        return False
