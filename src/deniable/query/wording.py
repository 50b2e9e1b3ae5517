"""A plan in words, as facts for the statement, and as JSON. Nothing here decides anything."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from operator import lt
from typing import TYPE_CHECKING, Any, assert_never

from deniable import __version__, accounting, events
from deniable.exact import text, written
from deniable.guarantees import Neighbours
from deniable.publish import odds
from deniable.publish.facts import ColumnFacts, Facts
from deniable.publish.statement import nouns, practically_nothing
from deniable.query import automatic
from deniable.query.measures import Bins, Spread, Summed, Total, Tree
from deniable.query.parts import CHOICES_SHARE, REST_SHARE
from deniable.query.pricing import Noisy, Price, sampler
from deniable.query.trees import far
from deniable.selection.geometric import TruncatedGeometric
from deniable.selection.sips import Rounds
from deniable.selection.thresholds import Threshold

if TYPE_CHECKING:
    from deniable.query.aggregates import Aggregate
    from deniable.query.plan import Output, Plan

VERSION = 6
"""1 rounded long numbers to twelve digits and did not say how many groups were declared.
2 knew one way to find groups, a threshold, and did not say at which shares or edges a column was asked.
3 knew no distinct values, no row for everything else, no bounds that were chosen and no
shares of columns.
4 priced choices apart from columns, and did not say which column has them.
5 had no events of choices among `events`, and did not say what was found where there was no room for it."""


MOST_ASKED = 200


def facts(plan: Plan) -> Facts:
    """Return everything public that a statement of the plan's release says."""
    query, groups, found = plan.query, plan.query.groups, plan.price.found
    keys = "none" if groups is None else "unknown" if groups.keys is None else "public"
    return Facts(
        unit=query.survey.unit or "row",
        guarantee=plan.guarantee,
        neighbours=Neighbours.ADD_OR_REMOVE,
        population=query.survey.population,
        source=query.survey.label,
        keys=keys,  # type: ignore[arg-type]
        max_groups=None if groups is None else plan.price.contributions.max_groups,
        max_keys=None if groups is None else plan.price.contributions.max_keys,
        over=None if groups is None else groups.over,
        columns=tuple(_column(plan, output) for output in plan.outputs),
        confidence=plan.confidence,
        threshold=plan.threshold,
        version=__version__,
        groups=() if groups is None else tuple(column.name for column in groups.columns),
        steps=tuple(str(step) for step in query.survey.steps),
        assumed=query.survey.assumed,
        composed=plan.price.composed,
        selection=plan.selection,
        rounds=tuple(one.people for one in found.rounds) if isinstance(found, Rounds) else (),
        certain=found.certain if isinstance(found, TruncatedGeometric) else None,
        other=bool(plan.price.rest),
        chosen=_chosen(plan),
        max_given=groups is None or groups.max_groups_given,
    )


def _chosen(plan: Plan) -> tuple[str, ...]:
    """Return a sentence for each bound that was, or will be, chosen privately."""
    one, many = nouns(plan.query.survey.unit or "row")
    said = []
    for choice in plan.choices:
        numbers = " to ".join(text(number) for number in choice.chosen or choice.fallback)
        cost = f"for {_part(plan)}, from a noisy histogram to which a {one} adds 1"
        if choice.chosen is None:
            said.append(f"{choice.name} is chosen {cost}; if nothing is found it is {numbers}.")
        elif choice.wanted is not None:
            wanted = " to ".join(text(number) for number in choice.wanted)
            said.append(
                f"{choice.name} = {numbers} is used instead of {wanted}, which was found {cost}: 64-bit "
                f"integers have no room for exact sums with {wanted}. {_room(plan)}"
            )
        elif choice.found:
            share = odds.percent(automatic.SHARE)
            what = "values" if choice.column is not None else many
            said.append(f"{choice.name} = {numbers} was chosen {cost}: about {share} of {what} are within.")
        else:
            said.append(
                f"{choice.name} = {numbers} is a public number: nothing stood out of the noise, {cost}."
            )
    return tuple(said)


def _room(plan: Plan) -> str:
    """Return what to do where there was no room for what was found."""
    stated = plan.query.survey.population is not None
    return f"To have room, {'' if stated else 'state the population, or '}state fewer rows (max_rows)."


def _part(plan: Plan) -> str:
    """Return in words what each choice has of the budget."""
    return f"{CHOICES_SHARE / len(plan.choices)} of {_budget(plan)}"


def _choice(plan: Plan, choice: automatic.Choice) -> str:
    """Return in short what is chosen, or was."""
    numbers = " to ".join(text(number) for number in choice.chosen or choice.fallback)
    if choice.chosen is None:
        return f"{choice.name}: chosen first, for {_part(plan)}; {numbers} if nothing is found"
    if choice.wanted is not None:
        wanted = " to ".join(text(number) for number in choice.wanted)
        return (
            f"{choice.name}: {numbers}, as there is no room for {wanted}, which was found for {_part(plan)}"
        )
    how = "chosen" if choice.found else "as nothing was found,"
    return f"{choice.name}: {numbers}, {how} for {_part(plan)}"


def asked(plan: Plan) -> str:
    """Return in short what was asked: "units, mean of age by clinic". From public facts alone."""
    outputs = dict.fromkeys(_named(output.aggregate) for output in plan.outputs)
    groups = plan.query.groups
    by = "" if groups is None else f" by {', '.join(column.name for column in groups.columns)}"
    words = ", ".join(outputs) + by
    return words if len(words) <= MOST_ASKED else f"{words[: MOST_ASKED - 1]}\N{HORIZONTAL ELLIPSIS}"


def _named(aggregate: Aggregate) -> str:
    if aggregate.column is None:
        return "rows" if aggregate.kind == "count" else aggregate.kind
    kind = {"distinct": "distinct values"}.get(aggregate.kind, aggregate.kind)
    return f"{kind} of {aggregate.column}"


def half_width(plan: Plan, noisy: Noisy) -> Fraction:
    """Return half the width of an interval around the noisy number, in units of the output."""
    return noisy.step * noisy.half_width(plan.confidence)


def coverage_error(price: Price, confidence: Fraction) -> Fraction:
    """Return by how many units one class of the coverage histogram may be off."""
    assert price.coverage is not None
    return Fraction(sampler(price.coverage).quantile(confidence), price.contributions.one)


def _column(plan: Plan, output: Output) -> ColumnFacts:
    noisy = plan.price.measured[output.parts[0]]
    aggregate = output.aggregate
    return ColumnFacts(
        name=output.name,
        kind=aggregate.kind,
        column=aggregate.column,
        max_rows=aggregate.max_rows,
        max_values=aggregate.max_values,
        bounds=aggregate.bounds,
        noise=plan.noise,
        scale=noisy.scale,
        rank=_rank(plan, output),
        error=_error(plan, output),
        rest=_error(plan.of_rest, output) if plan.price.rest else None,
    )


def _rank(plan: Plan, output: Output) -> str | None:
    """Return in words which of the sorted values is published."""
    noisy, rank = plan.price.measured[output.parts[0]], output.aggregate.rank
    if rank is None or not isinstance(noisy.measure, Tree):
        return None
    if isinstance(rank, Fraction):
        if rank == Fraction(1, 2):
            return "the value at or below which half of all rows lie"
        return f"the value at or below which a share of {text(rank)} of all rows lies"
    rows = ceil(noisy.step * far(noisy, noisy.measure, plan.confidence))
    end = "low or lower" if rank == "minimum" else "high or higher"
    return f"a value with about {rows:,} rows as {end}, so that noise alone does not make it"


def _error(plan: Plan, output: Output) -> str | None:
    """Return half the width of an interval, rounded up; None where it depends on what is released."""
    if len(output.parts) > 1 or output.aggregate.rank:
        return None
    width = half_width(plan, plan.price.measured[output.parts[0]])
    return f"{ceil(width):,}" if output.whole else odds.short(odds.rounded_up(width, 4))


def described(plan: Plan) -> str:
    """Return the plan as text: what is protected, the price, the bounds, then a line for each column."""
    query = plan.query
    one, _ = nouns(query.survey.unit or "row")
    read = any(choice.chosen is not None for choice in plan.choices)
    state = "as carried out, with what was chosen from its data" if read else "nothing has been read"
    heading = f"Plan for {query.survey.label}: {state}"
    lines = [heading, *(f"  {name:<11} {said}" for name, said in _entries(plan, one))]
    parts = [lines, _table(plan), alternatives(plan), _notes(plan)]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _entries(plan: Plan, one: str) -> list[tuple[str, str]]:
    query, groups = plan.query, plan.query.groups
    rows = "one row" if query.survey.unit is None else f"all rows of one {one}"
    entries = [
        ("promise", f"{plan.guarantee}, for {rows}, added or removed"),
        ("costs", _total(plan)),
        ("noise", plan.noise),
    ]
    if plan.price.composed is not None:
        entries.append(("composed", _composed(plan.price)))
    entries += [("rows", str(step)) for step in query.survey.steps]
    if groups is not None:
        entries += [("groups", _groups(plan)), ("max_groups", _bound(plan, one))]
        most = plan.price.contributions.max_keys
        entries.append(("max_keys", f"{most:,}: of a {one} in more groups, so many by chance are looked at"))
    entries += [("auto", _choice(plan, choice)) for choice in plan.choices]
    if plan.price.rest:
        entries.append(
            ("other", f"{text(100 * REST_SHARE)} % of {_budget(plan)}: one row for all that is not found")
        )
    if any(output.aggregate.max_rows is not None for output in plan.outputs):
        entries.append(
            ("max_rows", f"of a {one} with more rows in a group, so many count; sums shrink alike")
        )
    if any(output.aggregate.max_values is not None for output in plan.outputs):
        entries.append(("max_values", f"of a {one} with more values in a group, so many by chance count"))
    if plan.price.coverage is not None:
        entries.append(
            ("coverage", f"how much was counted in full is measured too, for 2 % of {_budget(plan)}")
        )
    return entries


def _budget(plan: Plan) -> str:
    return "epsilon" if plan.noise == "laplace" else "the squared budget"


def _total(plan: Plan) -> str:
    """Return what the events cost, priced again, rounded up."""
    account = accounting.account(plan.events)
    epsilon = odds.epsilon_text(account.epsilon(delta=plan.guarantee.delta))
    if not plan.guarantee.delta:
        return f"epsilon {epsilon}"
    both = f"epsilon {epsilon} with delta {text(plan.guarantee.delta)}"
    found = plan.price.found
    match found:
        case None:
            return both
        case Threshold():
            return f"{both}; the threshold alone {_short(found.delta)}"
        case Rounds():
            return f"{both}; the thresholds alone {_short(found.delta)}"
        case TruncatedGeometric():
            return (
                f"{both}; the choice of groups alone {_short(found.epsilon)} with delta {_short(found.delta)}"
            )
        case other:
            assert_never(other)


def _short(number: Fraction) -> str:
    return odds.short(odds.rounded_up(number, 4))


def _composed(price: Price) -> str:
    """Return how the noise of all columns is priced together."""
    rounds = len(price.found.rounds) if isinstance(price.found, Rounds) else 0
    columns = f"{rounds} rounds, " * bool(rounds) + f"{len(price.noises) - rounds} noisy columns"
    match price.composed:
        case "basic" | None:
            return f"{columns}, by adding their epsilons (basic composition)"
        case "gaussian":
            return f"{columns}, as one Gaussian"
        case "loss distribution":
            less = text(100 * price.saved, up=False, digits=2)
            return f"{columns}, by their privacy losses: {less} % less noise than by adding their epsilons"
        case other:
            assert_never(other)


def _groups(plan: Plan) -> str:
    groups = plan.query.groups
    assert groups is not None
    names = ", ".join(column.name for column in groups.columns)
    if groups.keys is not None:
        return f"{names}: {groups.keys.num_rows:,} declared, all published"
    assert plan.threshold is not None
    _, many = nouns(plan.query.survey.unit or "row")
    people = _needed(plan.threshold)
    match plan.selection:
        case None | "threshold":
            return f"{names}: found; published if the noisy number of {many} is at least {people}"
        case "truncated-geometric":
            return f"{names}: found; chance decides, of groups of {people} {many} every second is published"
        case "sips":
            return f"{names}: found in rounds, each before it is measured; about {people} {many} are needed"
        case other:
            assert_never(other)


def _bound(plan: Plan, one: str) -> str:
    groups = plan.query.groups
    assert groups is not None
    given = "" if groups.max_groups_given else " (not given)"
    rule = "counts less in each" if groups.over == "weight" else "is left out of some, by chance"
    more = "more of the groups that were found" if plan.selection == "sips" else "more groups"
    most = plan.price.contributions.max_groups
    return f"{most:,}{given}: a {one} in {more} {rule}"


def _table(plan: Plan) -> list[str]:
    sure = odds.percent(plan.confidence)
    rows = [("column", "asked", "noise scale", f"error in {sure}")]
    for output in plan.outputs:
        column = _column(plan, output)
        error = "with the release" if column.error is None else f"at most {column.error}"
        rows.append((output.name, str(output.aggregate), odds.short(column.scale), error))
    widths = [max(len(row[place]) for row in rows) for place in range(4)]
    return [
        f"  {row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}"
        for row in rows
    ]


def alternatives(plan: Plan) -> list[str]:
    """Return a line for each way to find groups: this one, marked, then the others for the same price."""
    others = plan.alternatives
    if not others:
        return []
    _, many = nouns(plan.query.survey.unit or "row")
    names = [output.name for output in plan.outputs]
    rows = [("", "selection", "noise", f"{many} needed", *names)]
    for mark, one in [("*", plan), *((" ", other) for other in others)]:
        assert one.threshold is not None
        assert one.selection is not None
        needed = f"about {_needed(one.threshold)}"
        scales = [odds.short(_column(one, output).scale) for output in one.outputs]
        rows.append((mark, one.selection, one.noise, needed, *scales))
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = [
        "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows
    ]
    return [
        "Other ways to find groups, with their noise scales (* is this plan):",
        *(line.rstrip() for line in lines),
        *_quieter(plan, others),
    ]


def _needed(people: Fraction) -> str:
    """Return how many units a group needs, as the statement says it too."""
    return f"{ceil(people):,}"


def _quieter(plan: Plan, others: Sequence[Plan]) -> list[str]:
    """Return a line for each way to find groups that has less noise in every column than this plan."""
    mine = [_column(plan, output).scale for output in plan.outputs]
    _, many = nouns(plan.query.survey.unit or "row")
    lines = []
    for other in others:
        theirs = [_column(other, output).scale for output in other.outputs]
        if other.threshold is not None and all(map(lt, theirs, mine)):
            less = f"{plan.outputs[0].name} {odds.short(theirs[0])} against {odds.short(mine[0])}"
            lines.append(
                f"Selection {other.selection} has less noise ({less}), for groups of about "
                f"{_needed(other.threshold)} {many} or more."
            )
    return lines


def _notes(plan: Plan) -> list[str]:
    people = plan.query.survey.population
    notes = list(practically_nothing(plan.guarantee.epsilon))
    delta = plan.guarantee.delta
    if delta and people is None:
        notes.append("The population is not stated: delta was not compared with it.")
    elif delta and people is not None and delta * people > Fraction(1, 1000):
        harm = odds.expected_harm(delta, people)
        _, many = nouns(plan.query.survey.unit or "row")
        notes.append(f"delta: about {harm} of {people:,} {many} may be exposed in the worst case.")
    for output in plan.outputs:
        measure = plan.price.measured[output.parts[0]].measure
        if isinstance(measure, Tree):
            step = odds.short(measure.of.grid)
            notes.append(f"{output.name}: {_rank(plan, output)}; values are told apart in steps of {step}.")
        if isinstance(measure, Total) and measure.grid > 1:
            notes.append(f"{output.name}: values are rounded to multiples of {int(measure.grid):,}.")
    return notes


def record(plan: Plan) -> dict[str, Any]:
    """Return the plan as plain JSON values; numbers as exact decimal or fraction text."""
    query, groups, told = plan.query, plan.query.groups, facts(plan)
    return {
        "version": VERSION,
        "deniable": __version__,
        "source": told.source,
        "unit": told.unit,
        "neighbours": told.neighbours.value,
        "population": told.population,
        "steps": list(told.steps),
        "groups": list(told.groups),
        "keys": told.keys,
        "declared": None if groups is None or groups.keys is None else groups.keys.num_rows,
        "max_groups": told.max_groups,
        "max_groups_given": groups is not None and groups.max_groups_given,
        "over": told.over,
        "max_keys": told.max_keys,
        "epsilon": written(plan.epsilon),
        "delta": written(plan.delta),
        "confidence": written(plan.confidence),
        "guarantee": {"epsilon": written(plan.guarantee.epsilon), "delta": written(plan.guarantee.delta)},
        "noise": plan.noise,
        "composed": told.composed,
        "selection": told.selection,
        "share": None if groups is None or groups.share is None else written(groups.share),
        "threshold": None if plan.threshold is None else written(plan.threshold),
        "rounds": [written(people) for people in told.rounds],
        "certain": told.certain,
        "other": told.other,
        "choices": [_choice_record(choice) for choice in plan.choices],
        "coverage": None if plan.classes is None else list(plan.classes),
        "columns": [
            _column_record(column, output) for column, output in zip(told.columns, plan.outputs, strict=True)
        ],
        "measured": [_measured_record(noisy) for noisy in plan.price.measured],
        "events": [events.to_json(event) for event in plan.events],
        "done": [events.to_json(event) for event in plan.price.done] if plan.choices else None,
        "assumed": list(told.assumed),
        "types": {column.name: column.type.value for column in query.survey.schema.columns},
    }


def _choice_record(choice: automatic.Choice) -> dict[str, Any]:
    chosen = None if choice.chosen is None else [written(number) for number in choice.chosen]
    return {
        "argument": choice.argument,
        "column": choice.column,
        "event": events.to_json(choice.event),
        "chosen": chosen,
        "found": choice.found,
        "wanted": None if choice.wanted is None else [written(number) for number in choice.wanted],
    }


def _column_record(column: ColumnFacts, output: Output) -> dict[str, Any]:
    return {
        "name": column.name,
        "kind": column.kind,
        "column": column.column,
        "max_rows": column.max_rows,
        "max_values": column.max_values,
        "bounds": None if column.bounds is None else [written(end) for end in column.bounds],
        "at": [written(number) for number in output.aggregate.at] or None,
        "share": None if output.aggregate.share is None else written(output.aggregate.share),
        "auto": list(output.aggregate.auto),
        "bin": output.aggregate.place if column.kind == "histogram" else None,
        "scale": written(column.scale),
        "error": column.error,
        "rest": column.rest,
        "type": "integer" if output.whole else "float",
        "measured": list(output.parts),
    }


def _measured_record(noisy: Noisy) -> dict[str, Any]:
    measure = noisy.measure
    found: dict[str, Any] = {"measure": type(measure).__name__.lower(), "step": written(noisy.step)}
    for name in ("column", "max_rows", "max_values", "centre", "low", "high", "shift"):
        if hasattr(measure, name):
            found[name] = getattr(measure, name)
    if isinstance(measure, Spread):
        found |= {"levels": measure.levels, "leaves": measure.leaves, "nodes": measure.nodes}
    if isinstance(measure, Tree):
        found |= {"grid": written(measure.of.grid), "low": measure.of.centre, "branching": measure.branching}
    if isinstance(measure, Bins):
        found["edges"] = [written(edge) for edge in measure.edges]
    if isinstance(measure, Summed):
        found["grid"] = written(measure.grid)
    return found
