"""Flatten events into leaves with their number, and turn add-or-remove into replace-one.

What costs nothing is dropped here, once: no sensitivity, no epsilon and no delta, no repetition, rate 0.
A sample of a sample is one sample with the product of the rates; rate 1 is no sample.

Replacing a unit is removing one and adding another, so a value moves twice as far (Laplace, Gaussian: both
sensitivities double; a discrete Gaussian vector can also move in twice as many coordinates), rho counts four
times, a bounded range doubles (exponential mechanism), and
P <= e**epsilon (e**epsilon R + delta) + delta gives (2 epsilon, (1 + e**epsilon) delta) for a promise.
Randomised response is stated for any two answers already. Sampling is refused: see `_replaced`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import assert_never

from deniable.accounting.powers import negative_exponential, shortened
from deniable.errors import ParameterError
from deniable.events import (
    ApproxDP,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
    Repeated,
    Selection,
    Subsampled,
    ZeroConcentratedDP,
    checked,
)
from deniable.guarantees import Neighbours

Simple = (
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
)
Leaf = Simple | Subsampled
_DEEPEST = 64


def leaves(events: Event | Iterable[Event], neighbours: Neighbours) -> dict[Leaf, int]:
    """Return each different leaf that costs something, with how often it happened."""
    found: dict[Leaf, int] = {}
    given = [events] if isinstance(events, Event) else _listed(events)
    for event in given:
        _gather(checked(event), 1, found, _DEEPEST)
    match neighbours:
        case Neighbours.ADD_OR_REMOVE:
            return found
        case Neighbours.REPLACE_ONE:
            replaced: dict[Leaf, int] = {}
            for leaf, times in found.items():
                other = _replaced(leaf)
                replaced[other] = replaced.get(other, 0) + times
            return replaced
        case _:
            assert_never(neighbours)


def _listed(events: object) -> list[object]:
    if isinstance(events, str | bytes | Mapping) or not isinstance(events, Iterable):
        fix = "Give for example [events.Gaussian(sigma=100)] * 10."
        raise ParameterError("events", events, "must be an event or a list of events", fix)
    return list(events)


def _gather(event: Event, times: int, found: dict[Leaf, int], depth: int) -> None:
    if depth == 0:
        raise ParameterError("events", event, f"are nested more than {_DEEPEST} deep", "Flatten them.")
    match event:
        case Repeated(event=inner, times=more):
            if more:
                _gather(inner, times * more, found, depth - 1)
        case Composed(events=inner_events):
            for inner in inner_events:
                _gather(inner, times, found, depth - 1)
        case Subsampled(event=inner, rate=rate):
            _gather_sampled(inner, rate, times, found, depth - 1)
        case _:
            if not is_free(event):
                found[event] = found.get(event, 0) + times


def _gather_sampled(inner: Event, rate: Fraction, times: int, found: dict[Leaf, int], depth: int) -> None:
    """One sample of everything inside: what is drawn on it stays together."""
    within: dict[Leaf, int] = {}
    if rate:
        _gather(inner, 1, within, depth)
    if not within:
        return
    if rate == 1:
        for leaf, more in within.items():
            found[leaf] = found.get(leaf, 0) + times * more
        return
    parts = [leaf if more == 1 else Repeated(leaf, more) for leaf, more in within.items()]
    only = parts[0] if len(parts) == 1 else Composed(parts)
    sampled = (
        Subsampled(only.event, only.rate * rate) if isinstance(only, Subsampled) else Subsampled(only, rate)
    )
    found[sampled] = found.get(sampled, 0) + times


def is_free(event: Simple) -> bool:
    """Whether the event tells nothing: the output has the same law on both tables."""
    match event:
        case Laplace() | DiscreteLaplace() | Gaussian() | DiscreteGaussian():
            return event.sensitivity == 0
        case RandomizedResponse() | Exponential() | PureDP():
            return event.epsilon == 0
        case Selection() | ApproxDP():
            return event.epsilon == 0 and event.delta == 0
        case ZeroConcentratedDP():
            return event.rho == 0
        case _:
            assert_never(event)


def _replaced(leaf: Leaf) -> Leaf:
    """Return what the leaf is for neighbours that differ by one unit replaced."""
    match leaf:
        case Laplace(scale=scale, sensitivity=sensitivity):
            return Laplace(scale=scale, sensitivity=2 * sensitivity)
        case DiscreteLaplace(scale=scale, sensitivity=sensitivity):
            return DiscreteLaplace(scale=scale, sensitivity=2 * sensitivity)
        case Gaussian(sigma=sigma, sensitivity=sensitivity):
            return Gaussian(sigma=sigma, sensitivity=2 * sensitivity)
        case DiscreteGaussian(sigma=sigma, sensitivity=sensitivity, coordinates=coordinates):
            return DiscreteGaussian(sigma=sigma, sensitivity=2 * sensitivity, coordinates=2 * coordinates)
        case RandomizedResponse():
            return leaf
        case Exponential(epsilon=epsilon):
            return Exponential(epsilon=2 * epsilon)
        case PureDP(epsilon=epsilon):
            return PureDP(epsilon=2 * epsilon)
        case ZeroConcentratedDP(rho=rho):
            return ZeroConcentratedDP(rho=4 * rho)
        case ApproxDP(epsilon=epsilon, delta=delta) | Selection(epsilon=epsilon, delta=delta):
            return _replaced_promise(epsilon, delta)
        case Subsampled():
            fix = "Sampled events are priced for units that are added or removed only."
            raise ParameterError("neighbours", Neighbours.REPLACE_ONE.value, "does not go with sampling", fix)
        case _:
            assert_never(leaf)


def _replaced_promise(epsilon: Fraction, delta: Fraction) -> ApproxDP:
    growth = 1 / negative_exponential(epsilon, 96)[0] if epsilon <= 1 << 15 else None
    if delta == 0:
        return ApproxDP(epsilon=2 * epsilon, delta=0)
    if growth is None or (1 + growth) * delta >= 1:
        fix = "(1 + e**epsilon) delta must stay below 1: use a smaller epsilon or delta."
        raise ParameterError("events", str(ApproxDP(epsilon=epsilon, delta=delta)), "promise nothing", fix)
    return ApproxDP(epsilon=2 * epsilon, delta=shortened((1 + growth) * delta))
