"""`dn.account`: what events cost together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from deniable.accounting import pricing, theorems
from deniable.accounting.curve import Curve, Point
from deniable.accounting.leaves import Leaf, leaves
from deniable.accounting.number import UpperBound, upward
from deniable.accounting.theorems import Theorems
from deniable.accounting.within import parts
from deniable.events import Event
from deniable.exact import Number, at_least_zero, probability
from deniable.guarantees import Neighbours
from deniable.guarantees import neighbours as relation

_POINTS = 25
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
        """Return delta at several epsilons: the given ones, or 25 from 0 to where delta is about 1e-12.

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
