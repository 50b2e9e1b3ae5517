"""Do the events follow from the plan? Every bound is derived again, and every share and threshold.

What `multiplier` searches for, the common multiplier itself, is not searched again: whether it is enough is
what `accounting` says about the events.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from deniable import events
from deniable.brackets import square_root
from deniable.errors import ParameterError
from deniable.query import automatic, charged
from deniable.query.coverage import classes
from deniable.query.parts import Parts
from deniable.query.plan import Plan, weighed
from deniable.query.pricing import NoiseEvent, Price
from deniable.query.review import selected
from deniable.query.stages import shares_in_rounds, with_rounds
from deniable.selection import sips
from deniable.selection.sips import Rounds

_ROUNDED = Fraction(1, 1 << 15)


def problems(plan: Plan) -> Iterator[str]:
    """Yield a sentence for everything in the events that does not follow from the plan."""
    price = plan.price
    names = _names(plan)
    yield from _promise(plan)
    yield from _choices(plan)
    parts = _parts(plan)
    for name, event, (moved, touched) in zip(names, price.noises, _moves(price, parts), strict=True):
        if event.sensitivity != moved:
            yield f"{name}: the event's sensitivity is {event.sensitivity}, but one unit can change {moved}"
        if isinstance(event, events.DiscreteGaussian) and event.coordinates != touched:
            yield f"{name}: the event counts {event.coordinates} entries of a unit, but {touched} can change"
    yield from _shares(price, parts, names, None if plan.query.groups is None else plan.query.groups.share)
    if plan.classes is not None and plan.classes != classes(price.contributions.max_keys):
        yield "the classes of the histogram are not those of max_keys"
    yield from selected.problems(price)
    yield from _room(plan)


def _choices(plan: Plan) -> Iterator[str]:
    """Yield what is wrong with bounds that were chosen."""
    yield from automatic.differing(plan.query, plan.choices)
    if not plan.choices or charged.may_compose(plan.price.contributions.one):
        return
    if any(isinstance(event, events.Laplace | events.DiscreteGaussian) for event in plan.events):
        yield "columns have less reach than their price takes them to have"


def _room(plan: Plan) -> Iterator[str]:
    """Yield what does not follow from what was found and from the room that 64-bit integers have for it."""
    if not plan.choices or any(choice.chosen is None for choice in plan.choices):
        return
    found = [
        choice.missed() if choice.read is None else choice.instead(choice.read) for choice in plan.choices
    ]
    try:
        settled = plan.unread.settled(found)
    except ParameterError:
        yield "there is no plan for public numbers that costs the same"
        return
    for choice, other in zip(plan.choices, settled.choices, strict=True):
        if choice != other:
            yield f"{choice.name}: it does not follow from what was found and what there is room for"


def _promise(plan: Plan) -> Iterator[str]:
    promised = plan.price.guarantee
    if promised.epsilon != plan.epsilon:
        yield "the epsilon that is promised is not the one that was planned"
    if promised.delta not in (0, plan.delta):
        yield "the delta that is promised is not the one that was planned"


def _names(plan: Plan) -> list[str]:
    """Return a name for each noisy column: the first output that uses it."""
    named: dict[int, str] = {}
    for output in plan.outputs:
        for place in output.parts:
            named.setdefault(place, output.name)
    rounds = plan.price.found.rounds if isinstance(plan.price.found, Rounds) else ()
    columns = [choice.name for choice in plan.choices]
    columns += [f"round {place}" for place, _ in enumerate(rounds, 1)]
    measured = [named.get(place, "the number of units") for place in range(len(plan.price.measured))]
    columns += measured
    columns += [] if plan.price.coverage is None else ["the histogram of groups"]
    return columns + [f"{name} of all others" for name in measured if plan.price.rest]


def _moves(price: Price, parts: Parts) -> Iterator[tuple[int, int]]:
    """Yield for each round and noisy column by how much one unit can change it, and in how many entries."""
    bounds = price.contributions
    touched = bounds.groups if bounds.over == "drop" else bounds.max_keys
    each = list(zip(parts.moves, parts.touched(touched), strict=True))
    if isinstance(price.found, Rounds):
        touched = bounds.max_keys
        each = with_rounds(parts, [(sips.ONE, touched)] * len(price.found.rounds), each)
    yield from each


def _parts(plan: Plan) -> Parts:
    price, measures = plan.price, tuple(noisy.measure for noisy in plan.price.measured)
    shared = weighed(plan.outputs, len(measures))
    choices = tuple(automatic.touched(choice.argument, choice.ends) for choice in plan.choices)
    return Parts(measures, price.contributions, price.coverage is not None, bool(price.rest), shared, choices)


def _shares(price: Price, parts: Parts, names: list[str], share: Fraction | None) -> Iterator[str]:
    shares = shares_in_rounds(parts, share) if isinstance(price.found, Rounds) else parts.shares
    found = [_multiplier(event, share) for event, share in zip(price.noises, shares, strict=True)]
    for name, multiplier in zip(names, found, strict=True):
        if not abs(multiplier - max(found)) <= _ROUNDED * max(found):
            yield f"{name}: its noise is not in proportion to that of the other columns"


def _multiplier(event: NoiseEvent, share: Fraction) -> Fraction:
    """Return z of `multiplier`; of Gaussian noise up to the rounding of sigma."""
    moved = event.sensitivity or Fraction(1)
    if isinstance(event, events.DiscreteLaplace):
        return event.scale * share / moved
    return square_root(event.sigma**2 * share / moved**2)[1]
