"""The statement: what a release promises, to whom and at which risk, in words, 80 columns wide.

It says what can be known from public facts and from the released numbers, and nothing else: how many
groups or rows were left out, for example, is private and is never said.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Literal, assert_never

from deniable.exact import text
from deniable.guarantees import ApproxDP, Neighbours, PureDP, ZeroConcentratedDP
from deniable.publish import cells, odds
from deniable.publish.facts import ColumnFacts, Facts

WIDTH = 80
MEANINGFUL = 20
"""The epsilon above which the words say that practically nothing is promised: e**20 is 485 million."""

_PEOPLE = {"person": "people", "child": "children", "man": "men", "woman": "women"}

_COUNTED = ("units", "count", "histogram", "distinct")
_OF = {
    "mean": " of its sum",
    "variance": " of its sum of squares",
    "std": " of its sum of squares",
    **dict.fromkeys(("quantile", "minimum", "maximum"), " in rows, of each node of a tree over the values"),
}


def write(facts: Facts) -> str:
    """Return the statement as plain text: a title, then one paragraph a subject, ending in a newline."""
    title = "What this release promises, to whom, and how it is to be read"
    blocks = [f"{title}\n{'=' * len(title)}"]
    for heading, sentences in paragraphs(facts):
        blocks.append(f"{heading}\n{wrapped(' '.join(sentences), indent=2)}")
    return "\n\n".join(blocks) + "\n"


def paragraphs(facts: Facts) -> list[tuple[str, list[str]]]:
    """Return the statement as headings with their sentences, those which apply."""
    one, _ = nouns(facts.unit)
    parts = [
        ("Only a test", _insecure(facts)),
        ("Who is protected", _protected(facts)),
        ("The promise", promise(facts)),
        ("The remaining risk", _risk(facts)),
        ("What was asked", _asked(facts)),
        (f"What one {one} can contribute", _contribution(facts)),
        ("How bounds were chosen", list(facts.chosen)),
        ("How much was counted", _coverage(facts)),
        ("What is left out", left_out(facts)),
        ("How to read the numbers", _numbers(facts)),
        ("What was assumed to be public", list(facts.assumed)),
        ("Ledger", _ledger(facts)),
        ("How this can be checked", _checks(facts)),
    ]
    return [(heading, sentences) for heading, sentences in parts if sentences]


def blocks(words: str) -> list[tuple[str, str]]:
    """Return a written statement as headings with their words, each on one line; the title comes first."""
    parts = [block.split("\n", 1) for block in words.strip().split("\n\n")]
    return [(heading, " ".join(rest[0].split()) if rest else "") for heading, *rest in parts]


def nouns(unit: str) -> tuple[str, str]:
    """Return singular and plural of what a unit column names: person, people; user_id: user, users."""
    word = re.sub(r"_?id$", "", unit.strip().lower())
    if word in _PEOPLE:
        return word, _PEOPLE[word]
    if re.fullmatch(r"[a-z]+[a-rt-wz]", word):
        return word, f"{word}s"
    return "unit", "units"


def least_group(facts: Facts) -> int | None:
    """Return the least whole noisy number of units with which a group is published, None without one."""
    return None if facts.threshold is None else math.ceil(facts.threshold)


def confidence(facts: Facts) -> str:
    """Return the confidence of the intervals as a percentage, rounded down to four decimals."""
    return f"{text(Fraction(math.floor(facts.confidence * 10**6), 10**4))} %"


def _insecure(facts: Facts) -> list[str]:
    if facts.secure:
        return []
    return [
        "The noise of this release came from a seed. Whoever knows the seed can take the noise away: "
        "nobody is protected. Do not publish it."
    ]


def _protected(facts: Facts) -> list[str]:
    one, many = nouns(facts.unit)
    source = cells.visible(facts.source)
    if facts.unit == "row":
        rows = "one row"
        who = f"Every single row of {source}. Somebody with several rows is protected row by row only."
    else:
        rows = f"all the rows of one {one}"
        column = cells.visible(facts.unit)
        who = f'Every {one} in {source}: all the rows with one value in the column "{column}".'
    match facts.neighbours:
        case Neighbours.ADD_OR_REMOVE:
            compared = f"the same table with {rows} added or removed"
        case Neighbours.REPLACE_ONE:
            compared = f"the same table with {rows} replaced by any others"
        case _:
            assert_never(facts.neighbours)
    return [
        who,
        f"The table is compared with any table that could stand in its place: {compared}. From both, this "
        f"release would come out in nearly the same way, whatever else is known about the {many}.",
    ]


def promise(facts: Facts) -> list[str]:
    """Return the promise in words: the most by which odds change, and the best attacker's hit rate."""
    one, _ = nouns(facts.unit)
    guarantee = odds.in_words(facts.guarantee)
    factor = odds.fold(guarantee.epsilon)
    except_for = " (but for the risk below)" if guarantee.delta else ""
    both = f" Changing rows is removing and adding: at most {odds.fold(2 * guarantee.epsilon)}-fold."
    changed = both if facts.neighbours is Neighbours.ADD_OR_REMOVE else ""
    rate = odds.percent(odds.best_hit_rate(facts.guarantee))
    return [
        f"{_named(facts)}.",
        f"The odds of any outcome change at most {factor}-fold between tables that differ in one "
        f"{one}{except_for}.{changed}",
        f"Somebody who holds both tables, thinks each equally likely and sees this release names the right "
        f"one at most {rate} of the time; tossing a coin gives 50 %. So a test of whether a certain {one} "
        f"took part is right no more often than that.",
        *practically_nothing(guarantee.epsilon),
    ]


def practically_nothing(epsilon: Fraction) -> list[str]:
    """Return a blunt sentence where epsilon is above what protects anybody in practice; else nothing."""
    if epsilon <= MEANINGFUL:
        return []
    return [f"An epsilon above {MEANINGFUL} promises practically nothing to anybody."]


def _named(facts: Facts) -> str:
    match facts.guarantee:
        case PureDP(epsilon=epsilon):
            return f"Differential privacy with epsilon {odds.epsilon_text(epsilon)}, delta 0"
        case ApproxDP(epsilon=epsilon, delta=delta):
            return f"Differential privacy with epsilon {odds.epsilon_text(epsilon)}, delta {text(delta)}"
        case ZeroConcentratedDP(rho=rho):
            epsilon = odds.in_words(facts.guarantee).epsilon
            return (
                f"Zero-concentrated differential privacy with rho {odds.epsilon_text(rho)}, which implies "
                f"epsilon {odds.short(epsilon)} with delta {text(odds.ZERO_CONCENTRATED_DELTA)}"
            )
        case _:
            assert_never(facts.guarantee)


def _risk(facts: Facts) -> list[str]:
    one, many = nouns(facts.unit)
    delta = odds.in_words(facts.guarantee).delta
    if delta == 0:
        return ["None beyond the promise: delta is 0, and the promise holds for every outcome."]
    said = [
        f"delta is {text(delta)}, {odds.chance(delta)}. Except for a part of the outcomes of that "
        f"probability the promise holds as it stands; on that part anything may happen to one {one}.",
    ]
    if facts.population is None:
        said.append(f"The number of {many} was not stated, so delta was not compared with it.")
    else:
        harm = odds.expected_harm(delta, facts.population)
        said.append(f"In the worst case that exposes {harm} of {facts.population:,} {many} on average.")
        if delta * facts.population >= 1:
            said.append("That is one or more: the publisher insisted on it.")
    said.append(f"The risk for one {one} is {odds.tosses(delta)}.")
    return said


def _asked(facts: Facts) -> list[str]:
    said = []
    if facts.purpose:
        said.append(f"Purpose: {cells.visible(facts.purpose)}.")
    if facts.steps:
        said.append(f"Rows were prepared by: {'; '.join(cells.visible(step) for step in facts.steps)}.")
    if facts.groups:
        groups = " and ".join(f'"{cells.visible(name)}"' for name in facts.groups)
        named = {"public": "the groups named beforehand", "unknown": "the groups found in the data"}
        said.append(f"One line for each value of {groups}: {named.get(facts.keys, 'all')}.")
    return said


def _contribution(facts: Facts) -> list[str]:
    one, _ = nouns(facts.unit)
    said = []
    if facts.max_groups is not None:
        said.append(_groups_rule(facts, one, facts.max_groups))
    for column in facts.columns:
        bound = _bound(column, one, facts.over)
        if bound:
            said.append(bound)
    return said


def _groups_rule(facts: Facts, one: str, most: int) -> str:
    groups = f"{most:,} group{'' if most == 1 else 's'}"
    found = f"{most:,} of the groups that were found" if facts.selection == "sips" else groups
    match facts.over:
        case "weight":
            rule = f"A {one} in more than {found} counts less in each, as much as {groups} in all."
        case "drop" | None:
            rule = f"Each {one} counts in at most {found}; where there are more, chance decides which."
        case _:
            assert_never(facts.over)
    if facts.max_keys is not None and facts.max_keys > most:
        rule += f" No more than {facts.max_keys:,} groups of one {one} are looked at."
    return rule


def _bound(column: ColumnFacts, one: str, over: Literal["weight", "drop"] | None) -> str:
    name, rows, most = cells.visible(column.name), _rows(column, one), column.max_rows
    cap = f"{rows}, more are scaled down to as many" if most is not None else rows
    match column.kind:
        case "units":
            return f"{name}: each {one} counts once in a group."
        case "count":
            return f"{name}: {rows}."
        case "histogram":
            return f"{name}: rows in this bin; {cap}."
        case "distinct":
            return f"{name}: {_different(column, one, over)}"
        case "sum" | "mean" | "variance" | "std" | "quantile" | "minimum" | "maximum":
            assert column.bounds is not None
            low, high = (text(end) for end in column.bounds)
            return (
                f"{name}: each value is moved into {low} to {high}{f'; {cap}' if most is not None else ''}."
            )
        case _:
            assert_never(column.kind)


def _rows(column: ColumnFacts, one: str) -> str:
    """Return which rows count, a sentence without its end."""
    value = "" if column.column is None else f' with a value in "{cells.visible(column.column)}"'
    match column.max_rows:
        case None:
            return f"every row{value} counts"
        case 1:
            return f"of one {one}, at most 1 row{value} counts in a group"
        case most:
            return f"of one {one}, at most {most:,} rows{value} count in a group"


def _different(column: ColumnFacts, one: str, over: Literal["weight", "drop"] | None) -> str:
    """Return how different values are counted."""
    assert column.column is not None
    said = f'different values of "{cells.visible(column.column)}", each once however many have it'
    if column.max_values is not None:
        said += f"; at most {column.max_values:,} of one {one} in a group count, chosen by chance"
    if over == "weight":
        said += f"; a value counts as much as the {one} who counts most among those who have it"
    return f"{said}."


def _coverage(facts: Facts) -> list[str]:
    if facts.coverage is None:
        if facts.max_groups is None or facts.max_groups == facts.max_keys:
            return []
        return [
            "The share that these bounds left uncounted was not measured: the numbers can fall short of the "
            "whole by more than their intervals."
        ]
    of = " in the groups that were found" if facts.selection == "sips" else ""
    said = [] if facts.max_given else [f"max_groups {facts.max_groups} (not given)."]
    said.append(f"From noisy counts: {facts.coverage.share} of all answers{of} were counted in full.")
    for groups, share in facts.coverage.would:
        said.append(f"max_groups = {groups:,} would count {share}.")
    return said


def shortfall(facts: Facts) -> list[str]:
    """Return a sentence if so little was counted in full that numbers mislead; it stands by the table."""
    measured, most = facts.coverage, facts.max_groups
    if most is None or (not measured.would if measured is not None else facts.max_given):
        return []
    one, _ = nouns(facts.unit)
    bound = f"max_groups {most:,}{'' if facts.max_given else ', not given'}"
    groups = f"{most:,} group{'' if most == 1 else 's'}"
    said = {
        "weight": f"A {one} in more than {groups} counts less in each ({bound})",
        "drop": f"A {one} counts in {groups} only ({bound})",
    }[facts.over or "drop"]
    if measured is None:
        return [f"{said}; how much that left out was not measured, and the intervals do not cover it."]
    larger = any(column.kind in _COUNTED for column in facts.columns)
    true = "true numbers are larger than those shown, and " if larger else ""
    of = " in the groups that were found" if facts.selection == "sips" else ""
    full = f"{measured.share} of all answers{of} were counted in full"
    return [f"{said}: {full}; {true}no interval covers that."]


def left_out(facts: Facts) -> list[str]:
    """Return the rule by which a group is left out, never how many were."""
    least = least_group(facts)
    _, many = nouns(facts.unit)
    match facts.keys:
        case "none":
            return []
        case "public":
            return [
                "The groups were named beforehand. Each is published, with noise, also if nobody is in it; "
                "any other group in the data is left out."
            ]
        case "unknown":
            assert least is not None
            rule = _found(facts, least)
            own = "not published by themselves" if facts.other else "not published"
            out = "left to the last row" if facts.other else "left out"
            return [
                f"Rarely given values are {own}. A group with fewer than about {least:,} {many} is "
                f"{out}: {rule} How many were {out} is not said: that would itself say something.",
                *_others(facts),
            ]
        case _:
            assert_never(facts.keys)


def _others(facts: Facts) -> list[str]:
    """Return what the row of everything else holds."""
    if not facts.other:
        return []
    one, _ = nouns(facts.unit)
    keys = "a missing key" if len(facts.groups) == 1 else "keys that are all missing"
    return [
        f"The last row ({cells.ALL_OTHERS[1:-1]}) holds everything else, as one group: whatever was not "
        f"found, and rows with {keys}. However many such groups a {one} is in, it counts as being in one. "
        "The row is always published, with noise of its own."
    ]


def _found(facts: Facts, least: int) -> str:
    """Return the rule by which groups are found, the end of a sentence."""
    one, many = nouns(facts.unit)
    again = (
        "The numbers of the table are measured apart from that, with noise of their own: they can be lower."
    )
    match facts.selection:
        case None | "threshold":
            weights = ", counted by these weights and" if facts.over == "weight" else ","
            return f"one is published if its number of {many}{weights} with its noise, is {least:,} or more."
        case "truncated-geometric":
            return (
                f"chance decides by the number of {many} who count in it. Of groups of {least:,} every "
                f"second is published, of {facts.certain or least:,} or more every one. {again}"
            )
        case "sips":
            marks = ", ".join(f"{math.ceil(people):,}" for people in facts.rounds)
            rounds = "1 round" if len(facts.rounds) == 1 else f"{len(facts.rounds)} rounds"
            return (
                f"groups are found in {rounds}, before anything else is measured. In each, "
                f"the {many} in every group that was not found before are counted, with noise; found are "
                f"those with {marks} or more, in this order. A {one} in m of these groups counts 1/sqrt(m) "
                f"in each: groups of {many} who are in many rare groups need more of them. {again}"
            )
        case other:
            assert_never(other)


def _numbers(facts: Facts) -> list[str]:
    said = ["Every number has random noise in it; the figures below are the noise alone."]
    share = confidence(facts)
    for column in facts.columns:
        name, kind = cells.visible(column.name), column.noise.capitalize()
        spread = "scale" if column.noise == "laplace" else "standard deviation"
        of = _OF.get(column.kind, "")
        most = f", at most {column.error} in {share} of cases" if column.error is not None else ""
        rank = f" It is {column.rank}." if column.rank is not None else ""
        rest = f" In the last row: at most {column.rest}." if column.rest is not None else ""
        said.append(f"{name}: {kind}, {spread} {odds.short(column.scale)}{of}{most}.{rank}{rest}")
    said.append(
        f"An interval (_low to _high) holds the value without its noise in {share} of cases. It covers the "
        f"noise only, for the value as it was bounded, over all groups whether published or not"
        + ("; among the published ones more can miss." if facts.keys == "unknown" else ".")
    )
    said.append("Where nothing below 0 is possible, a number below 0 is noise, left so that sums stay right.")
    return said


def _ledger(facts: Facts) -> list[str]:
    if facts.ledger is None:
        return []
    name, left, head = facts.ledger.label, facts.ledger.remaining, facts.ledger.head
    return [f'Recorded in "{cells.visible(name)}". Left after this release: {left}. Head: {head}.']


def _checks(facts: Facts) -> list[str]:
    when = f" on {facts.when}" if facts.when else ""
    return [
        _planned(facts) + " dn.account(release.events) prices again what was done.",
        *_composed(facts),
        f"Made by deniable {facts.version}{when}.",
    ]


def _planned(facts: Facts) -> str:
    if facts.chosen:
        return (
            "The guarantee and the rule follow from the plan, which reads no data. Choices and columns have "
            "one price, whatever is chosen: the noise of columns grows with what one may contribute."
        )
    return (
        "The guarantee, the noise and the rule follow from the plan, which reads no data: planning the same "
        "query again gives the same numbers."
    )


def _composed(facts: Facts) -> list[str]:
    match facts.composed:
        case None:
            return []
        case "basic":
            how = "by adding their epsilons"
        case "gaussian":
            how = "as one Gaussian"
        case "loss distribution":
            how = "by their privacy loss distributions"
        case other:
            assert_never(other)
    return [f"The noise of all columns is priced together, {how}."]


def wrapped(words: str, *, indent: int = 0, columns: int = WIDTH) -> str:
    """Return the text broken at spaces into lines of at most `columns` terminal columns."""
    lines: list[str] = []
    line = ""
    for word in words.split(" "):
        longer = f"{line} {word}" if line else " " * indent + word
        if line and cells.width(longer) > columns:
            lines.append(line)
            longer = " " * indent + word
        line = longer
    return "\n".join([*lines, line])
