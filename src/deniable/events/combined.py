"""Events made of events: on a random sample, several times, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from deniable.errors import ParameterError
from deniable.events.additive import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from deniable.events.choices import Exponential, RandomizedResponse, Selection
from deniable.exact import Number, exact, whole
from deniable.guarantees import ApproxDP, PureDP, ZeroConcentratedDP

MOST_TIMES = 10**12
_LEAST_RATE = Fraction(1, 10**300)


@dataclass(frozen=True, slots=True, init=False)
class Subsampled:
    """`event` happened on a Poisson sample: each unit was in it with probability `rate`, independently.

    With P the law of the output with the unit and Q without: the pairs are ((1 - rate) Q + rate P, Q) when
    the unit is removed and (Q, (1 - rate) Q + rate P) when it is added. Not for samples of a fixed size.
    """

    event: Event
    rate: Fraction

    def __init__(self, event: Event, rate: Number) -> None:
        object.__setattr__(self, "event", checked(event))
        number = exact(rate, "rate")
        if not (number == 0 or _LEAST_RATE <= number <= 1):
            fix = "Give 0, or 1e-300 to 1, for example '0.01'."
            raise ParameterError("rate", rate, "must be between 0 and 1", fix)
        object.__setattr__(self, "rate", number)


@dataclass(frozen=True, slots=True, init=False)
class Repeated:
    """`event` happened `times` times, each with fresh noise; later ones may depend on earlier outputs."""

    event: Event
    times: int

    def __init__(self, event: Event, times: int) -> None:
        object.__setattr__(self, "event", checked(event))
        object.__setattr__(self, "times", whole(times, "times", at_least=0, at_most=MOST_TIMES))


@dataclass(frozen=True, slots=True, init=False)
class Composed:
    """All of `events` happened, each with fresh noise; later ones may depend on earlier outputs."""

    events: tuple[Event, ...]

    def __init__(self, events: Iterable[Event]) -> None:
        object.__setattr__(self, "events", tuple(checked(event) for event in events))


Event = (
    Laplace
    | DiscreteLaplace
    | Gaussian
    | DiscreteGaussian
    | RandomizedResponse
    | Exponential
    | Selection
    | PureDP
    | ApproxDP
    | ZeroConcentratedDP
    | Subsampled
    | Repeated
    | Composed
)
"""What can be priced. The guarantees count as events: something happened that kept that promise."""


def checked(event: object) -> Event:
    """Return the event; refuse anything else."""
    if isinstance(event, Event):
        return event
    fix = "Give for example events.Gaussian(sigma=100)."
    raise ParameterError("event", event, "must be an event", fix)
