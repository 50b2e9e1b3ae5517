"""Advice in words, 80 columns wide."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.exact import text
from deniable.guarantees import PureDP
from deniable.publish import odds
from deniable.publish.statement import wrapped

if TYPE_CHECKING:
    from deniable.advice.facts import Advice, Example


def written(advice: Advice) -> str:
    """Return the advice as text: what to do, both kinds of noise, the worked example, and why."""
    found = "found in the data" if advice.keys == "unknown" else "named beforehand"
    numbers, groups = _many(advice.queries, "number"), _many(advice.max_groups, "group")
    lines = [
        f"Advice for {_people(advice.population)}, epsilon {odds.epsilon_text(advice.epsilon)}: "
        f"{numbers} in each group,",
        f"a person in at most {groups}, groups {found}",
        "",
        f"  model      {advice.model}",
        f"  noise      {advice.noise}",
        f"  delta      {text(advice.delta)}",
    ]
    if advice.threshold is not None:
        lines.append(f"  threshold  {_people(advice.threshold)}")
    lines += ["", *_choices(advice), "", *_examples(advice.examples), ""]
    return "\n".join([*lines, *map(wrapped, advice.why)])


def reasons(advice: Advice) -> tuple[str, ...]:
    """Return why, a paragraph each."""
    best = advice.curator
    if advice.model == "local":
        return _without_trust(advice)
    said = [_model(advice)]
    if best.delta:
        said.append(_delta(advice))
    said.append(_noise(advice))
    if best.threshold is not None:
        said.append(
            f"Threshold: groups are found in the data, and one that only one person is in would give that "
            f"person away however noisy its count is. So a group is published from about "
            f"{_people(best.threshold)} on. Name the groups beforehand, and none is needed."
        )
    said.append(_epsilon(advice))
    if advice.columns > 1:
        said.append(
            "Many numbers: price them together, not one by one. `deniable account split` shows what each "
            "theorem allows; where questions depend on earlier answers, keep a ledger."
        )
    if 10 * best.error > advice.population:
        said.append("Beware: the noise is large for so few people. Ask for less, or allow a larger epsilon.")
    return tuple(said)


def _model(advice: Advice) -> str:
    return (
        f"Model: somebody is trusted with what people said, so noise is added once, to the result. If nobody "
        f"were, each person would report by randomised response, and a count of all "
        f"{_people(advice.population)} would be off by up to about {odds.short(advice.local_error, 2)}, "
        f"{_times(advice)} times as much."
    )


def _delta(advice: Advice) -> str:
    delta, people = advice.curator.delta, advice.population
    allowed = advice.risk / people
    usual = f" (Your risk would allow {odds.short(allowed, 2)}; 1e-6 or less is usual.)"
    return (
        f"delta {text(delta)}: in the worst case {odds.expected_harm(delta, people)} of {_people(people)} "
        f"are exposed, on average. For one person that is {odds.tosses(delta)}."
        f"{usual if allowed >= 2 * delta else ''}"
    )


def _noise(advice: Advice) -> str:
    laplace, gaussian = advice.choices
    near, far = odds.short(laplace.error, 3), odds.short(gaussian.error, 3)
    if advice.curator is gaussian:
        return (
            f"Noise: a person counts in up to {_many(advice.columns, 'number')}. Laplace noise grows with "
            f"that, Gaussian noise with its square root: {far} against {near}."
        )
    pure = ", and its promise is pure: no delta at all" if laplace.delta == 0 else ""
    return f"Noise: Laplace noise is the more precise one here, {near} against {far}{pure}."


def _epsilon(advice: Advice) -> str:
    rate = odds.percent(odds.best_hit_rate(PureDP(epsilon=advice.epsilon)))
    return (
        f"epsilon {odds.epsilon_text(advice.epsilon)}: the odds of any outcome change at most "
        f"{odds.fold(advice.epsilon)}-fold; the best test of whether somebody took part is right {rate} of "
        f"the time. 0.1 to 10 is usual."
    )


def _without_trust(advice: Advice) -> tuple[str, ...]:
    return (
        f"Model: nobody is trusted, so each person reports by randomised response (dn.RandomizedResponse, "
        f"dn.local). A count of all {_people(advice.population)} is then off by up to about "
        f"{odds.short(advice.local_error, 2)}.",
        "No delta and no threshold are needed: every report is protected before it is sent.",
        f"If somebody can be trusted with what people said, errors shrink about {_times(advice)}-fold: the "
        f"first table shows the noise that this curator would add.",
        _epsilon(advice),
    )


def _choices(advice: Advice) -> list[str]:
    lines = ["  noise     delta    scale       mean error  95 % within  threshold"]
    for choice in advice.choices:
        threshold = "none" if choice.threshold is None else f"{choice.threshold:,}"
        lines.append(
            f"  {choice.noise:<9} {text(choice.delta):<8} {_short(choice.scale):<11} "
            f"{_short(choice.expected):<11} {_short(choice.error):<12} {threshold}"
        )
    return lines


def _examples(examples: tuple[Example, ...]) -> list[str]:
    lines = [f"  A true count of {examples[0].true:,} at epsilon 1 comes out, in 95 % of cases, between"]
    for example in examples:
        textbook = "" if example.textbook is None else f" (textbook: {odds.short(example.textbook, 3)})"
        lines.append(
            f"  {example.noise:<9} delta {text(example.delta):<6} {example.low:>5,} and {example.high:<5,}  "
            f"noise {odds.short(example.scale, 3)}{textbook}"
        )
    return lines


def _short(number: Fraction) -> str:
    return odds.short(number, 3) if number < 10**9 else f"{float(number):.2e}"


def _times(advice: Advice) -> str:
    return f"{max(1, round(advice.local_error / advice.curator.error)):,}"


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def _many(number: int, of: str) -> str:
    return f"{number:,} {of}{'' if number == 1 else 's'}"
