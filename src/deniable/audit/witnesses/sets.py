"""What every witness is made of: features of outcomes, sets of outcomes, and sweeps over many sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.audit.outcomes import Outcomes

Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pilot:
    """Outcomes of runs that come before the test: as many of the first input as of the second."""

    first: Outcomes
    second: Outcomes

    def halves(self) -> tuple[Pilot, Pilot]:
        """Return one half to fit something to, and one to count on: what was fitted flatters its own runs."""
        return Pilot(self.first[::2], self.second[::2]), Pilot(self.first[1::2], self.second[1::2])

    @property
    def trials(self) -> tuple[int, int]:
        """How many runs of the first input, and of the second."""
        return len(self.first), len(self.second)


@dataclass(frozen=True, slots=True)
class Feature:
    """A number for each outcome, NaN where the outcome has none. words: names it in a sentence."""

    words: str
    of: Callable[[Outcomes], Reals]


@dataclass(frozen=True, slots=True)
class Event:
    """A set of outcomes: any function of one outcome to yes or no.

    words: says which outcomes; otherwise: which not.
    """

    words: str
    holds: Callable[[Outcomes], Flags]
    otherwise: str = ""

    def other(self) -> Event:
        """Return the complement."""
        words = self.otherwise or f"anything but [{self.words}]"
        return Event(words, lambda outcomes: ~self.holds(outcomes), self.words)


@dataclass(frozen=True, slots=True)
class Sweep:
    """Many sets at once. `event(i)` is the i-th; it came up hits[0][i] times in trials[0] runs of the first
    input, and hits[1][i] times in trials[1] of the second.
    """

    hits: tuple[Counts, Counts]
    trials: tuple[int, int]
    event: Callable[[int], Event]


def counted(events: Sequence[Event], pilot: Pilot) -> Sweep:
    """Return these sets with their counts in the pilot."""
    first, second = (
        np.array([int(event.holds(side).sum()) for event in events], np.int64)
        for side in (pilot.first, pilot.second)
    )
    return Sweep((first, second), pilot.trials, events.__getitem__)
