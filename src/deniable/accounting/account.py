"""`dn.account`: what events cost together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from deniable.accounting import pricing
from deniable.accounting.leaves import Leaf, leaves
from deniable.accounting.number import UpperBound, upward
from deniable.events import Event
from deniable.exact import Number, at_least_zero, probability
from deniable.guarantees import Neighbours
from deniable.guarantees import neighbours as relation


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


def account(
    events: Event | Iterable[Event], *, neighbours: Neighbours | str = Neighbours.ADD_OR_REMOVE
) -> Account:
    """Return what the events cost together. Later ones may have been chosen from the outputs of earlier ones.

    Raises:  ParameterError: something is not an event; an unknown relation; sampling with "replace one".
    """
    between = relation(neighbours)
    return Account(leaves(events, between), between)
