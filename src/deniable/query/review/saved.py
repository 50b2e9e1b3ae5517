"""A saved release, read back as the value that it was: what it wrote can then be written again and compared.

Nothing is trusted here and nothing is judged: a field that cannot be what a release writes is `Unreadable`,
everything else becomes part of the value. What derives from other fields (measures, scales, errors, the
statement) is not read but made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, cast, get_args

from sqlglot import exp

from deniable import events
from deniable.errors import DeniableError
from deniable.events import Event
from deniable.events.choices import Rule
from deniable.guarantees import ApproxDP, Neighbours, PureDP
from deniable.publish.facts import Kind, LedgerFacts
from deniable.query import aggregates, automatic, wording
from deniable.query import plan as planning
from deniable.query import release as releasing
from deniable.query.aggregates import Aggregate
from deniable.query.automatic import Argument, Choice
from deniable.query.choosing import Selection
from deniable.query.expressions import Expression
from deniable.query.joining import Join
from deniable.query.measures import Contributions
from deniable.query.parts import Parts
from deniable.query.plan import Plan
from deniable.query.pricing import Noise, NoiseEvent, together
from deniable.query.question import Groups, Query, asked
from deniable.query.release import Release
from deniable.query.review.fields import Fields, Unreadable
from deniable.query.review.selected import found
from deniable.query.schema import Column, Schema, Type
from deniable.query.sources.absent import Absent
from deniable.query.survey import Step, Survey

if TYPE_CHECKING:
    import pyarrow as pa


_MOST_GROUPS = 1 << 20
_MOST_DECLARED = 10_000_000
_BELOW_1 = 1 - Fraction(1, 1 << 80)


def check_versions(record: Fields) -> None:
    """Raise Unreadable unless this program knows the versions of the record and of its plan."""
    for name, fields, known in (
        ("release.json", record, releasing.VERSION),
        ("its plan", record.inside("plan"), wording.VERSION),
    ):
        found = fields.values.get("version")
        if isinstance(found, bool) or found != known:
            shown = found if isinstance(found, int) and 0 <= found < 1000 else "another"
            raise Unreadable(f"{name} has version {shown}; this program reads version {known}")


def release(record: Fields, table: pa.Table) -> Release:
    """Return the release that wrote the record; `table` is what it published.

    Raises:  Unreadable: names the field that no release writes like that.
    """
    plan = _plan(record)
    histogram = record.numbers_or_none("groups_of_a_unit")
    one = plan.price.contributions.one
    counts = None if histogram is None else tuple(count * one for count in histogram)
    if (counts is None) != (plan.classes is None) or len(counts or ()) != len(plan.classes or ()):
        raise record.wrong("groups_of_a_unit", "does not fit plan.coverage")
    if any(count.denominator != 1 for count in counts or ()):
        raise record.wrong("groups_of_a_unit", f"holds what is no multiple of 1/{one}")
    ledger = record.inside_or_none("ledger")
    return Release(
        plan=plan,
        table=table,
        histogram=None if counts is None else tuple(int(count) for count in counts),
        purpose=record.text_or_none("purpose"),
        when=record.text("when"),
        secure=record.flag("secure"),
        ledger=None
        if ledger is None
        else LedgerFacts(
            label=ledger.text("label"), remaining=ledger.text("remaining"), head=ledger.text("head")
        ),
    )


def _plan(record: Fields) -> Plan:
    fields = record.inside("plan")
    try:
        query = _query(fields)
        kind = cast("Noise", fields.choice("noise", *get_args(Noise)))
        contributions = planning.bounded(query, kind)
        rule = cast("Rule | None", fields.choice_or_none("selection", *get_args(Rule)))
        measures, outputs = planning.measured(query, contributions.one, selected=rule == "threshold")
        done = _events(fields)
    except DeniableError as error:
        raise Unreadable(f"plan: {str(error).splitlines()[0]}") from None
    classes = fields.wholes_or_none("coverage")
    if (rule is None) != (query.groups is None or query.groups.keys is not None):
        raise fields.wrong("selection", "does not fit plan.keys")
    other = query.groups is not None and query.groups.other
    selected, rest = found(fields, rule, done, contributions, rest=len(measures) * other)
    shared = planning.weighed(outputs, len(measures))
    parts = Parts(tuple(measures), contributions, classes is not None, other, shared)
    noise = _noise(fields, rest, contributions, len(parts.shares))
    epsilon, delta = _between(fields, "epsilon", Fraction(0), Fraction(1 << 20)), _chance(fields, "delta")
    choices = _choices(fields, 0 if query.groups is None else query.groups.max_keys, kind)
    price = together(parts, noise, selected, _guarantee(record.inside("guarantee")))
    price = replace(price, choices=tuple(choice.event for choice in choices))
    confidence = _between(fields, "confidence", Fraction(0), Fraction(1))
    return Plan(query, epsilon, delta, confidence, price, outputs, classes, choices)


def _choices(fields: Fields, max_keys: int, kind: Noise) -> tuple[Choice, ...]:
    """Return the bounds that were chosen; their classes follow from public facts."""
    found = []
    for choice in fields.several("choices"):
        argument = cast("Argument", choice.choice("argument", *get_args(Argument)))
        noise = _event(choice)
        if not isinstance(noise, events.DiscreteLaplace if kind == "laplace" else events.DiscreteGaussian):
            raise choice.wrong("event", "is not the noise that a bound is chosen with")
        named = choice.text_or_none("column")
        if (named is None) != (argument != "bounds") or (argument == "max_groups" and not max_keys):
            raise choice.wrong("column", "does not go with what was chosen")
        ends = automatic.ends_of(argument, max_keys)
        chosen = choice.numbers_or_none("chosen")
        wanted = choice.numbers_or_none("wanted")
        found.append(Choice(argument, named, ends, noise, chosen, choice.flag("found"), wanted))
    return tuple(found)


def _event(choice: Fields) -> Event:
    try:
        return events.from_json(choice.inside("event").values)
    except DeniableError:
        raise choice.wrong("event", "is none that a release uses") from None


def _query(fields: Fields) -> Query:
    types = fields.inside("types")
    schema = Schema(tuple(Column(name, Type(types.choice(name, *Type))) for name in types.values))
    source = Absent(fields.text("source"), schema, fields.texts("assumed"))
    unit = fields.text("unit")
    fields.choice("neighbours", Neighbours.ADD_OR_REMOVE.value)
    people = fields.whole_or_none("population", at_most=1 << 40)
    steps = tuple(_step(words) for words in fields.texts("steps"))
    survey = Survey(source, schema, None if unit == "row" else unit, people, steps)
    groups = _groups(fields, survey)
    columns = fields.several("columns")
    outputs = {column.text("name"): _shared(column) for column in columns}
    if len(outputs) != len(columns):
        raise fields.wrong("columns", "has one name twice")
    return Query(survey, groups, asked(outputs, survey, () if groups is None else groups.columns))


def _step(words: str) -> Step | Join:
    """Return a step that prints as these words; its SQL is gone, and so are the rows of a joined table."""
    if words.startswith("join "):
        return Join(words, "", (), (), None)
    where = words.startswith("where ")
    name, _, text = ("", "", words.removeprefix("where ")) if where else words.partition(" = ")
    return Step(Expression(text, Type.TEXT, exp.Null(), frozenset()), name or None)


def _groups(fields: Fields, survey: Survey) -> Groups | None:
    keys = fields.choice("keys", "none", "public", "unknown")
    names, declared = fields.texts("groups"), fields.whole_or_none("declared", at_most=_MOST_DECLARED)
    given = fields.flag("max_groups_given")
    if keys == "none":
        if names or any(fields.values.get(name) is not None for name in ("max_groups", "max_keys", "over")):
            raise fields.wrong("keys", "says that there are no groups, but some are named")
        return None
    if not names or (declared is None) != (keys == "unknown"):
        raise fields.wrong("keys", "does not fit plan.groups and plan.declared")
    return Groups(
        survey=survey,
        columns=tuple(survey.schema.find(name, "groups") for name in names),
        max_groups=fields.whole_or_none("max_groups", at_most=_MOST_GROUPS) or 0,
        max_groups_given=given,
        over=cast("Literal['weight', 'drop']", fields.choice("over", "weight", "drop")),
        max_keys=fields.whole_or_none("max_keys", at_most=_MOST_GROUPS) or 0,
        keys=None if declared is None else _rows(declared),
        selection=_selection(fields),
        share=_share(fields),
        other=_other(fields),
    )


def _selection(fields: Fields) -> Selection:
    rule = fields.choice_or_none("selection", *get_args(Rule))
    return "auto" if rule is None else cast("Rule", rule)


def _other(fields: Fields) -> bool:
    other = fields.flag("other")
    if other and fields.text("keys") != "unknown":
        raise fields.wrong("other", "does not fit plan.keys")
    return other


def _share(fields: Fields) -> Fraction | None:
    return None if fields.text_or_none("share") is None else _between(fields, "share", Fraction(0), _BELOW_1)


def _rows(number: int) -> pa.Table:
    import pyarrow as pa

    return pa.table({"declared": pa.nulls(number)})


def _shared(column: Fields) -> Aggregate:
    """Return what was asked, with its part of the budget, and with what was chosen of it."""
    stated = column.text_or_none("share") is not None
    share = _between(column, "share", Fraction(0), _BELOW_1) if stated else None
    auto = column.texts("auto")
    if not set(auto) <= {"bounds", "max_rows"}:
        raise column.wrong("auto", "names what is never chosen")
    return replace(_aggregate(column), share=share, auto=auto)


def _aggregate(column: Fields) -> Aggregate:
    bounds = column.numbers_or_none("bounds")
    named = column.text_or_none("column")
    rows = column.whole_or_none("max_rows")
    at = column.numbers_or_none("at") or ()
    values = column.whole_or_none("max_values")
    if values is not None and column.text("kind") != "distinct":
        raise column.wrong("max_values", "does not go with its kind")
    match column.choice("kind", *get_args(Kind)), named:
        case "units", None if bounds is None and rows is None and not at:
            return aggregates.units()
        case "count", _ if bounds is None and not at:
            return aggregates.count(named, max_rows=rows)
        case "distinct", str() if bounds is None and rows is None and not at:
            return aggregates.distinct(named, max_values=values)
        case "sum", str() if not at:
            return aggregates.sum(named, bounds=bounds, max_rows=rows)
        case "mean", str() if not at:
            return aggregates.mean(named, bounds=bounds, max_rows=rows)
        case "variance", str() if not at:
            return aggregates.variance(named, bounds=bounds, max_rows=rows)
        case "std", str() if not at:
            return aggregates.std(named, bounds=bounds, max_rows=rows)
        case "minimum", str() if not at:
            return aggregates.minimum(named, bounds=bounds, max_rows=rows)
        case "maximum", str() if not at:
            return aggregates.maximum(named, bounds=bounds, max_rows=rows)
        case "quantile", str() if len(at) == 1:
            return aggregates.quantile(named, at[0], bounds=bounds, max_rows=rows)
        case "histogram", str() if bounds is None and len(at) > 1:
            place = column.whole_or_none("bin", at_most=len(at) - 2) or 0
            found = aggregates.histogram(named, edges=at, max_rows=rows)
            return replace(found, several=False, place=place)
        case _:
            raise column.wrong("kind", "does not go with its column, bounds and max_rows")


def _events(fields: Fields) -> tuple[Event, ...]:
    """Return what was done after choices: without any, that is what was paid for."""
    name = "events" if fields.values.get("done") is None else "done"
    return tuple(events.from_json(event.values) for event in fields.several(name))


def _noise(
    fields: Fields, done: Sequence[Event], contributions: Contributions, number: int
) -> tuple[NoiseEvent, ...]:
    """Return the events that are left, if they are noise of the right kind, one for each column."""
    kind = events.DiscreteLaplace if contributions.norm == "l1" else events.DiscreteGaussian
    noise = tuple(event for event in done if isinstance(event, kind))
    if not len(noise) == len(done) == number:
        raise fields.wrong("events", f"do not hold just the {number} noisy columns that were asked for")
    if any(event.sensitivity == 0 for event in noise):
        raise fields.wrong("events", "hold noise for a column that nobody can change")
    return noise


def _guarantee(fields: Fields) -> PureDP | ApproxDP:
    epsilon = _between(fields, "epsilon", Fraction(0), Fraction(1 << 20))
    delta = _chance(fields, "delta")
    return ApproxDP(epsilon=epsilon, delta=delta) if delta else PureDP(epsilon=epsilon)


def _chance(fields: Fields, name: str) -> Fraction:
    number = fields.number(name)
    if not 0 <= number < 1:
        raise fields.wrong(name, "is not a probability below 1")
    return number


def _between(fields: Fields, name: str, low: Fraction, high: Fraction) -> Fraction:
    number = fields.number(name)
    if not low < number <= high:
        raise fields.wrong(name, f"is not above {low} and at most {high}")
    return number
