"""How a saved release found its groups: read back from its events, and derived again from its plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import assert_never

from deniable import events
from deniable.errors import DeniableError
from deniable.events import Event
from deniable.events.choices import Rule
from deniable.query.measures import Contributions, Units
from deniable.query.pricing import Found, Price, group_weights, sampler
from deniable.query.review.fields import Fields
from deniable.selection import sips
from deniable.selection.geometric import TruncatedGeometric
from deniable.selection.sips import Round, Rounds
from deniable.selection.thresholds import Threshold, least_threshold


def found(
    fields: Fields, rule: Rule | None, done: Sequence[Event], contributions: Contributions, *, rest: int
) -> tuple[Found | None, Sequence[Event]]:
    """Return how groups were found, and the events that are left: the noise of columns and histogram.

    rest: how many events the row of everything else has; they are the last.
    Raises:  Unreadable: the events are not those of this rule, or the fields do not go with them.
    """
    least = fields.number("threshold") if fields.text_or_none("threshold") is not None else None
    if (rule is None) != (least is None):
        raise fields.wrong("threshold", "does not fit plan.selection")
    match rule:
        case None:
            return None, done
        case "threshold":
            assert least is not None
            place = max(0, len(done) - rest - 1)
            mass = _mass(fields, done[place : place + 1], rule)
            threshold = Threshold(_steps(fields, "threshold", least, contributions.one), mass.delta)
            return threshold, [*done[:place], *done[place + 1 :]]
        case "truncated-geometric":
            mass = _mass(fields, done[:1], rule)
            try:
                by_chance = TruncatedGeometric(
                    epsilon=mass.epsilon, delta=mass.delta, max_groups=contributions.groups
                )
            except DeniableError:
                raise fields.wrong("events", "hold a selection that cannot be made") from None
            return by_chance, done[1:]
        case "sips":
            return _rounds(fields, done, contributions.max_keys)
        case other:
            assert_never(other)


def _rounds(fields: Fields, done: Sequence[Event], max_keys: int) -> tuple[Rounds, Sequence[Event]]:
    people = fields.numbers_or_none("rounds") or ()
    if len(people) != len(sips.SHARES) or len(done) < 2 * len(people):
        raise fields.wrong("rounds", f"are not {len(sips.SHARES)}, with two events each")
    rounds, weights = [], sips.weights_of(max_keys)
    for place, number in enumerate(people):
        noise = done[2 * place]
        if not isinstance(noise, events.DiscreteGaussian):
            raise fields.wrong("events", f"do not begin with {len(people)} rounds of Gaussian noise")
        mass = _mass(fields, done[2 * place + 1 : 2 * place + 2], "sips")
        least = _steps(fields, "rounds", number, sips.ONE)
        rounds.append(Round(weights, noise, Threshold(least, mass.delta)))
    return Rounds(tuple(rounds)), done[2 * len(people) :]


def _mass(fields: Fields, one: Sequence[Event], rule: Rule) -> events.Selection:
    selection = one[0] if one else None
    if not isinstance(selection, events.Selection) or selection.rule != rule:
        raise fields.wrong("events", f"do not hold the selection by {rule} in its place")
    if (selection.epsilon == 0) != (rule != "truncated-geometric") or not 0 < selection.delta < 1:
        raise fields.wrong("events", "hold a selection that is none that a release uses")
    return selection


def _steps(fields: Fields, name: str, people: Fraction, one: int) -> int:
    least = people * one
    if least.denominator != 1:
        raise fields.wrong(name, "is none that a release uses")
    return int(least)


def problems(price: Price) -> Iterator[str]:
    """Yield a sentence for every threshold that is too low for its mass."""
    match price.found:
        case None | TruncatedGeometric():
            return
        case Threshold() as threshold:
            measures = [noisy.measure for noisy in price.measured]
            noise, weights = price.measured[measures.index(Units())].event, group_weights(price.contributions)
            yield from _too_low("the threshold", noise, threshold, weights, price.contributions.one)
        case Rounds(rounds=rounds):
            for place, one in enumerate(rounds, 1):
                name = f"the threshold of round {place}"
                yield from _too_low(name, one.noise, one.threshold, one.weights[1:], sips.ONE)
        case other:
            assert_never(other)


def _too_low(
    name: str,
    noise: events.DiscreteLaplace | events.DiscreteGaussian,
    found: Threshold,
    weights: Sequence[int],
    one: int,
) -> Iterator[str]:
    try:
        needed = least_threshold(sampler(noise), weights, delta=found.delta)
    except DeniableError:
        yield f"{name}: none goes with this noise"
        return
    if found.least < needed.least:
        least = Fraction(needed.least, one)
        yield f"{name} is too low for its mass: it takes {float(least):.6g}"
