"""A plan: what a query will publish, with how much noise and at what price. Made from public facts alone.

`make` checks the budget, prices the query in each way that may serve (`choosing`), and keeps the one whose
intervals are narrower. A plan is a value: it prints, it is saved, and `release` carries it out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any, Literal, assert_never

from deniable import accounting
from deniable.bits import Bits
from deniable.errors import ParameterError
from deniable.exact import Number, exact, positive, probability, text
from deniable.guarantees import ApproxDP, PureDP
from deniable.publish.statement import nouns
from deniable.query import automatic, settling, wording
from deniable.query.aggregates import Aggregate
from deniable.query.automatic import Choice
from deniable.query.choosing import Way, others, priced, ways
from deniable.query.coverage import classes
from deniable.query.measures import Contributions, Measure, Spread, Total, Tree, Units
from deniable.query.parts import weights
from deniable.query.pricing import Noise, Price, for_reach
from deniable.query.release import Release
from deniable.query.run import carried_out
from deniable.query.saving import written_whole
from deniable.query.schema import Type
from deniable.query.trees import Reading
from deniable.selection.geometric import TruncatedGeometric
from deniable.selection.sips import Rounds
from deniable.selection.thresholds import Threshold

if TYPE_CHECKING:
    from deniable.accounting import Account
    from deniable.events import Event
    from deniable.events.choices import Rule
    from deniable.publish.facts import Facts
    from deniable.query.question import Query

_MOST_EPSILON = 1 << 20
_LEAST_DELTA = Fraction(1, 10**300)
_SURE = Fraction(1, 10**9)
_FULL = 1 << 20
_MANY = 8
_POPULATION_PER_ERROR = 20


@dataclass(frozen=True, slots=True)
class Output:
    """One published column: its question, and the places of its measures in `Price.measured`.

    whole: published as 64-bit integers (counts, and sums of declared integers), else as floats.
    """

    name: str
    aggregate: Aggregate
    parts: tuple[int, ...]
    whole: bool


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """What will be published and what it costs. `print` it, `save` it, `release` it.

    epsilon, delta: what was asked for. confidence: of the intervals. price: noise, events, threshold.
    classes: the largest number of groups in each class of the coverage histogram; None without one.
    choices: bounds that are chosen privately, before anything else.
    """

    query: Query
    epsilon: Fraction
    delta: Fraction
    confidence: Fraction
    price: Price
    outputs: tuple[Output, ...]
    classes: tuple[int, ...] | None
    choices: tuple[Choice, ...] = ()

    @property
    def guarantee(self) -> PureDP | ApproxDP:
        """What the release will promise: epsilon, and delta where any is needed."""
        return self.price.guarantee

    @property
    def events(self) -> tuple[Event, ...]:
        """What will be done with private data, exactly: `dn.account(plan.events)` prices it again.

        Where bounds are chosen first, these are the choices, and no less than what then comes (`charged`).
        """
        return self.price.events

    @property
    def total(self) -> Account:
        """What the events cost together, priced again: `plan.total.epsilon(delta="1e-8")`."""
        return accounting.account(self.events)

    @property
    def facts(self) -> Facts:
        """Everything that a statement of the release will say, as values."""
        return wording.facts(self)

    @property
    def noise(self) -> Noise:
        """The kind of noise: "laplace" or "gaussian"."""
        return self.price.noise

    @property
    def threshold(self) -> Fraction | None:
        """About how many units a group needs to be published (`Price.people`); None if keys are declared."""
        return self.price.people

    @property
    def selection(self) -> Rule | None:
        """How groups are found; None if they are declared, or there are none."""
        match self.price.found:
            case None:
                return None
            case Threshold():
                return "threshold"
            case TruncatedGeometric():
                return "truncated-geometric"
            case Rounds():
                return "sips"
            case other:
                assert_never(other)

    @property
    def alternatives(self) -> tuple[Plan, ...]:
        """The same query for the same price, its groups found in the other ways; those that can be priced."""
        groups, found = self.query.groups, []
        if groups is None or self.selection is None or self.choices:
            return ()
        for other in others(groups, self.selection):
            with suppress(ParameterError):
                found.append(
                    make(
                        replace(self.query, groups=other),
                        epsilon=self.epsilon,
                        delta=self.delta,
                        confidence=self.confidence,
                        noise="auto",
                        coverage=self.classes is not None,
                        allow_large_delta=True,
                    )
                )
        return tuple(found)

    @property
    def readings(self) -> dict[int, Reading]:
        """What is read from each tree of noisy numbers, by its place in `price.measured`."""
        found: dict[int, Reading] = {}
        for place, noisy in enumerate(self.price.measured):
            if isinstance(noisy.measure, Spread):
                ranks = [output.aggregate.rank for output in self.outputs if place in output.parts]
                each = tuple(dict.fromkeys(rank for rank in ranks if rank is not None))
                found[place] = Reading(noisy, each, self.confidence)
        return found

    def settled(self, choices: Sequence[Choice]) -> Plan:
        """Return the plan for what was chosen, for the same events; never an error (step 3 in `automatic`).

        Where 64-bit integers have no room for all of it, as much is carried out as has room
        (`settling.most`). Each column keeps its place, its kind of noise and its part of the budget; the
        noise grows with what one unit can change. What finds groups stays as it is, and what it rests on
        must too (`settling.selection_holds`; step 6 in `charged`).
        """
        planned = self.unread
        found = settling.most(choices, planned._with)
        return found or replace(planned, choices=tuple(choice.missed() for choice in choices))

    @property
    def unread(self) -> Plan:
        """The plan as it was before anything was read, with the public numbers in place of what was chosen.

        Raises:  ParameterError: that plan cannot be had from this one.
        """
        choices = tuple(choice.unread() for choice in self.choices)
        if choices == self.choices:
            return self
        found = self._with([choice.missed() for choice in self.choices])
        if found is None:
            fix = "Ask the query again, with what is to be chosen, and release the plan of that."
            raise ParameterError("plan", "this one", "is for what was chosen already", fix)
        return replace(found, choices=choices)

    def _with(self, choices: Sequence[Choice]) -> Plan | None:
        """Return the plan for these numbers and the same events; None if there is no room for them."""
        query = automatic.answered(self.query, choices)
        try:
            contributions = bounded(query, self.noise)
            by_units = isinstance(self.price.found, Threshold)
            measures, outputs = measured(query, contributions.one, selected=by_units)
            price = for_reach(self.price, measures, contributions)
        except ParameterError:
            return None
        if price.events != self.price.events:
            return None
        if not settling.selection_holds(self.price, price):
            return None
        return replace(self, query=query, price=price, outputs=outputs, choices=tuple(choices))

    @property
    def of_rest(self) -> Plan:
        """The plan as it holds for the row of everything else: other noise, and no threshold."""
        return replace(self, price=replace(self.price, measured=self.price.rest, found=None, rest=()))

    def release(
        self,
        *,
        purpose: str | None = None,
        bits: Bits | None = None,
        memory_limit: str | None = None,
        threads: int | None = None,
    ) -> Release:
        """Read the data once, add noise, and return what may be published.

        The plan of a release whose bounds were chosen starts anew: they are chosen again, and paid again.

        Args:    purpose: why, in a sentence; part of the statement. bits: where noise comes from; fresh
                 bits of the operating system when omitted. memory_limit ("500MB"), threads: for the engine.
        Raises:  EngineError: the engine failed; why is private. SourceError: a file changed meanwhile.
        """
        return carried_out(
            self.unread, purpose=purpose, bits=bits, memory_limit=memory_limit, threads=threads
        )

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain values; numbers that matter are exact text."""
        return wording.record(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan as JSON; the file appears whole or not at all."""
        words = json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"
        written_whole(path, lambda file: file.write_text(words, "utf-8"))

    def __str__(self) -> str:
        return wording.described(self)

    __repr__ = __str__


def make(
    query: Query,
    *,
    epsilon: Number,
    delta: Number,
    confidence: Number,
    noise: str,
    coverage: bool,
    allow_large_delta: bool,
) -> Plan:
    """Return the plan with the narrower intervals among the ways that may serve.

    Raises:  ParameterError: an argument is out of range; a delta is needed, or too large.
    """
    _check_chosen(query)
    spend = _epsilon(epsilon)
    risk = _delta(query, delta, noise, allow_large_delta=allow_large_delta)
    sure = _confidence(confidence)
    return _made(query, spend, risk, sure, _noise(noise), coverage=coverage)


def _made(
    query: Query,
    epsilon: Fraction,
    delta: Fraction,
    confidence: Fraction,
    noise: Noise | Literal["auto"],
    *,
    coverage: bool,
) -> Plan:
    refused = []
    for preferred in ways(query, noise, delta=delta):
        plans = []
        for way in preferred:
            try:
                plans.append(_priced(query, way, epsilon, delta, confidence, coverage=coverage))
            except ParameterError as error:
                refused.append(error)
        if plans:
            return min(plans, key=_width)
    raise refused[0]


def unknown(query: Query) -> bool:
    """Return whether groups are found in the data."""
    return query.groups is not None and query.groups.keys is None


def _check_chosen(query: Query) -> None:
    """Refuse to choose max_groups where a threshold or chance finds groups: these rest on it."""
    groups = query.groups
    if groups is not None and groups.auto and groups.keys is None and groups.selection != "sips":
        fix = "Write selection='sips', or state max_groups."
        raise ParameterError("max_groups", automatic.AUTO, f"does not go with '{groups.selection}'", fix)


def _epsilon(value: object) -> Fraction:
    number = positive(value, "epsilon")
    if not number <= _MOST_EPSILON:
        raise ParameterError("epsilon", value, "is out of range", f"Give at most {_MOST_EPSILON:,}.")
    return number


def _confidence(value: object) -> Fraction:
    number = exact(value, "confidence")
    if not _SURE <= number <= 1 - _SURE:
        fix = "Give a probability, for example 0.95."
        raise ParameterError("confidence", value, "must be between 0 and 1", fix)
    return number


def _delta(query: Query, value: object, noise: str, *, allow_large_delta: bool) -> Fraction:
    _noise(noise)
    number = probability(value, "delta")
    if number == 0 and unknown(query):
        problem = "cannot be 0 when groups are found in the data: a group of one person would give them away"
        fix = "Name the keys, or allow a delta: group_by(..., keys=[...]) or delta='1e-8'."
        raise ParameterError("delta", value, problem, fix)
    if number == 0 and noise == "gaussian":
        fix = "Allow a delta, for example '1e-8', or ask for noise='laplace'."
        raise ParameterError("delta", value, "cannot be 0 with Gaussian noise", fix)
    if 0 < number < _LEAST_DELTA:
        raise ParameterError("delta", value, "is too small to compute with", "Give 0, or at least 1e-300.")
    _check_population(query, value, number, allow_large_delta=allow_large_delta)
    return number


def _check_population(query: Query, value: object, delta: Fraction, *, allow_large_delta: bool) -> None:
    people = query.survey.population
    if people is None or delta * people < 1 or allow_large_delta:
        return
    _, many = nouns(query.survey.unit or "row")
    problem = f"may expose about {int(delta * people):,} of {people:,} {many} in the worst case"
    fix = f"Give much less than {text(Fraction(1, people))}, or insist with allow_large_delta=True."
    raise ParameterError("delta", value, problem, fix)


def _noise(noise: str) -> Noise | Literal["auto"]:
    match noise:
        case "auto" | "laplace" | "gaussian":
            return noise
        case _:
            raise ParameterError("noise", noise, "is not known", "Write 'auto', 'laplace' or 'gaussian'.")


def _priced(
    query: Query, way: Way, epsilon: Fraction, delta: Fraction, confidence: Fraction, *, coverage: bool
) -> Plan:
    rule, kind = way
    contributions = bounded(query, kind)
    measures, outputs = measured(query, contributions.one, selected=rule == "threshold")
    wanted, asked = coverage and _worth_asking(query, contributions), automatic.asked(query)
    bought = priced(
        rule,
        measures,
        contributions,
        epsilon=epsilon,
        delta=delta,
        coverage=wanted,
        share=None if query.groups is None else query.groups.share,
        rest=query.groups is not None and query.groups.other,
        weights=weighed(outputs, len(measures)),
        choices=tuple(automatic.touched(argument, ends) for argument, _, ends in asked),
    )
    if wanted and _drowned(query, bought, confidence):
        return _priced(query, way, epsilon, delta, confidence, coverage=False)
    ends = classes(contributions.max_keys) if wanted else None
    choices = tuple(Choice(*one, event) for one, event in zip(asked, bought.choices, strict=True))
    return Plan(query, epsilon, delta, confidence, bought, outputs, ends, choices)


def bounded(query: Query, kind: Noise) -> Contributions:
    """Return how a unit is cut down. With declared keys it is in no more groups than there are keys.

    Where bounds are chosen, the losses of Laplace columns are composed if there are many: that takes `_FULL`.
    """
    norm: Literal["l1", "l2"] = "l1" if kind == "laplace" else "l2"
    groups = query.groups
    over = "drop" if groups is None else groups.over
    shared = any(aggregate.at or aggregate.rank for _, aggregate in query.outputs)
    many = len(query.outputs) >= _MANY and any(aggregate.auto for _, aggregate in query.outputs)
    one = 1 if norm == "l1" and over == "drop" and not shared and not many else _FULL
    if groups is None:
        return Contributions("drop", norm, 1, 1, one)
    most = groups.max_keys if groups.keys is None else min(groups.max_keys, groups.keys.num_rows)
    return Contributions(groups.over, norm, min(groups.max_groups, most), most, one)


def measured(query: Query, one: int, *, selected: bool) -> tuple[list[Measure], tuple[Output, ...]]:
    """Return the distinct measures, and where each output finds its own.

    Groups that are selected by their number of units have it measured whether it is asked for or not; an
    output of units is the same noisy number. Where bounds are chosen, measures are the same if they are for
    every choice.
    """
    places: dict[object, int] = {Units(): 0} if selected else {}
    found: list[Measure] = [Units()] if selected else []
    chosen = any(aggregate.auto for _, aggregate in query.outputs)
    outputs = []
    for name, aggregate in query.outputs:
        parts = aggregate.measures(
            whole_numbers=_is_integer(query, aggregate), one=one, population=query.survey.population
        )
        keys = [aggregate.asks(part) if chosen else part for part in parts]
        found += [part for key, part in zip(keys, parts, strict=True) if key not in places]
        own = tuple(places.setdefault(key, len(places)) for key in keys)
        outputs.append(Output(name, aggregate, own, _is_whole(query, aggregate, parts)))
    return found, tuple(outputs)


def weighed(outputs: Sequence[Output], measures: int) -> tuple[Fraction, ...]:
    """Return how so many measures share the budget of all columns; () for equal parts."""
    return weights([(output.aggregate.share, output.parts) for output in outputs], measures)


def _is_whole(query: Query, aggregate: Aggregate, parts: Sequence[Measure]) -> bool:
    match parts:
        case [Total(grid=grid)]:
            return grid == 1
        case [Tree(of=of)]:
            return of.grid == 1 and _is_integer(query, aggregate)
        case _:
            return len(parts) == 1


def _is_integer(query: Query, aggregate: Aggregate) -> bool:
    if aggregate.column is None:
        return False
    return query.survey.schema.find(aggregate.column, "column").type is Type.INTEGER


def _worth_asking(query: Query, contributions: Contributions) -> bool:
    """Return whether a unit can be in more groups than it counts in full."""
    return query.groups is not None and contributions.max_groups < contributions.max_keys


def _drowned(query: Query, bought: Price, confidence: Fraction) -> bool:
    """Return whether the stated population is too small for the noise of the histogram."""
    people = query.survey.population
    if people is None or bought.coverage is None:
        return False
    return people < _POPULATION_PER_ERROR * wording.coverage_error(bought, confidence)


def _width(plan: Plan) -> Fraction:
    """Return the product of everything that should be small: the reach of all noise, the threshold."""

    def widths() -> Iterator[Fraction]:
        for noisy in plan.price.measured:
            yield noisy.reach(plan.confidence)
        if plan.threshold is not None:
            yield max(Fraction(1), plan.threshold)

    return prod(widths(), start=Fraction(1))
