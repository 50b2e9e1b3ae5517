"""The tour that `deniable demo` gives: release a survey, then attack it with and without its threshold.

Everything shown is computed here and now by the library: the release from `colours.csv`, the attacks on
that file and the same file without one person.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from deniable import examples
from deniable.bits import SystemBits
from deniable.exact import exact
from deniable.examples.attack import Outcome, answers, attack
from deniable.guarantees import PureDP
from deniable.noise.laplace import DiscreteLaplace
from deniable.publish import odds, statement, svg, terminal
from deniable.publish.facts import Facts, Table
from deniable.publish.page import Figure
from deniable.query.aggregates import units
from deniable.query.release import Release
from deniable.query.survey import protect

EPSILON = "ln 3"
DELTA = "1e-7"
POPULATION = 20_000
COMMON = "blue"
RARE = "ultramarine"
TRIALS = 10_000
COMMAND = (
    "deniable release answers.csv --unit person --group-by colour --units \\",
    f'    --epsilon "{EPSILON}" --delta {DELTA} --out colours',
)

_LAST = 20
_HALF = 38


@dataclass(frozen=True, slots=True)
class Tour:
    """What was released, and what the attacker found: same colours, different colours, and this release."""

    release: Release
    same: Outcome
    different: Outcome
    hidden: Outcome


def tour() -> Tour:
    """Release the survey and run the three attacks. Takes about a second."""
    survey = protect(examples.colours(), unit="person", population=POPULATION)
    query = survey.derive(hue="lower(trim(colour))").group_by("hue", max_groups=1).aggregate(people=units())
    release = query.release(epsilon=EPSILON, delta=DELTA, purpose="demonstration")
    facts = release.facts
    given, bits = answers(examples.colours()), SystemBits()

    def attacked(colour: str, scale: Fraction, threshold: int | None) -> Outcome:
        return attack(given, colour, scale=scale, threshold=threshold, trials=TRIALS, bits=bits)

    naive = 1 / exact(EPSILON, "epsilon")
    return Tour(
        release=release,
        same=attacked(COMMON, naive, None),
        different=attacked(RARE, naive, None),
        hidden=attacked(RARE, facts.columns[0].scale, statement.least_group(facts)),
    )


def screen(shown: Tour, page: Path, *, plain: bool = False) -> str:
    """Return the whole tour as one screen of text, 80 columns wide."""
    parts = [
        ["deniable: publish statistics about people; each of them can deny taking part."],
        _released(shown, plain),
        _promise(shown.release.facts),
        _attacks(shown, plain),
        [f"Page   {page}   (open it in a browser)", f"Yours  {COMMAND[0]}", f"       {COMMAND[1]}"],
    ]
    text = "\n\n".join("\n".join(part) for part in parts) + "\n"
    return text.encode("ascii", "replace").decode() if plain else text


def _released(shown: Tour, plain: bool) -> list[str]:
    facts, published = shown.release.facts, _table(shown.release)
    intro = f"{POPULATION:,} people were asked for their favourite colour. This may be published:"
    lines = terminal.lines(published, facts, plain=plain, most=8)
    more = f"... and {len(published) - 8:,} more colours." if len(published) > 8 else ""
    rule = (
        f"A colour that fewer than about {statement.least_group(facts)} people gave is left out; how many "
        "were left out is not said: that would itself say something. Somebody who gave several colours "
        "counts in one. Intervals cover the noise only."
    )
    return [intro, "", *lines[:9], *statement.wrapped(f"{more} {rule}".strip()).splitlines()]


def _promise(facts: Facts) -> list[str]:
    guarantee = odds.in_words(facts.guarantee)
    words = (
        f"The promise: with you or without you, the odds of any outcome change at most "
        f"{odds.fold(guarantee.epsilon)}-fold. A test that you answered is right at most "
        f"{_best(facts)} of the time (a coin: 50 %). Beyond that, a risk of {odds.chance(guarantee.delta)}: "
        f"{odds.expected_harm(guarantee.delta, POPULATION)} of {POPULATION:,} people."
    )
    return statement.wrapped(words).splitlines()


def _best(facts: Facts) -> str:
    return odds.percent(odds.best_hit_rate(facts.guarantee))


def _attacks(shown: Tour, plain: bool) -> list[str]:
    same, different = shown.same, shown.different
    theory = odds.percent(odds.best_hit_rate(PureDP(epsilon=EPSILON)))
    intro = (
        f"The attack without it: noise on every colour that occurs, two files that differ in one person, "
        f"{TRIALS:,} tries. How often does the attacker name the right file?"
    )
    left = [
        f'Same colours: you said "{COMMON}"',
        f"  with you     {COMMON} {same.people:,} + noise",
        f"  without you  {COMMON} {same.people - 1:,} + noise",
        f"  right {rate(same)} (in theory {theory})",
        "  The noise hides you.",
    ]
    right = [
        f'Different: only you said "{RARE}"',
        f"  with you     {RARE} {different.people:,} + noise",
        "  without you  no such line",
        f"  right {rate(different)}: caught",
        "  No noise hides that a line is there.",
    ]
    gap = "|" if plain else "│"
    beside = [f"{one:<{_HALF}} {gap} {other}" for one, other in zip(left, right, strict=True)]
    last = f"With the threshold above, the second attack is right {rate(shown.hidden)} of the time: a coin."
    return [*statement.wrapped(intro).splitlines(), *beside, last]


def rate(outcome: Outcome) -> str:
    """Return how often an attack was right, as measured, to a tenth of a percent."""
    return f"{float(100 * outcome.rate):.1f} %".replace(".0 %", " %")


def write_page(shown: Tour, path: Path) -> None:
    """Write the release with its two pictures: the attacks, and the chance against the threshold."""
    title = f"Favourite colours of {POPULATION:,} people"
    shown.release.page(path, title=title, figures=[_attack_figure(shown), _line_figure(shown.release)])


def _attack_figure(shown: Tour) -> Figure:
    theory = odds.percent(odds.best_hit_rate(PureDP(epsilon=EPSILON)))
    cases = (
        (f"noise alone, one of many who said {COMMON}", shown.same, theory),
        (f"noise alone, the only one who said {RARE}", shown.different, "100 %"),
        (f"this release, the only one who said {RARE}", shown.hidden, _best(shown.release.facts)),
    )
    nothing = math.nan
    bars = [svg.Bar(_short(name), rate(out), float(out.rate), nothing, nothing) for name, out, _ in cases]
    return Figure(
        title="Was this person in the survey?",
        paragraphs=(
            f"An attacker holds two files that differ in one person, sees a histogram of one of them, chosen "
            f"by a coin, and says which. This was done {TRIALS:,} times for each line.",
            "Noise hides one among many. It cannot hide that a line is there at all: a colour that one "
            "person gave appears in one histogram and never in the other. The threshold of this release "
            "hides it.",
        ),
        caption=f"How often the attacker was right in {TRIALS:,} tries, and the most that is possible",
        headings=("case", "right", "in theory at most"),
        rows=tuple((name, rate(outcome), most) for name, outcome, most in cases),
        drawing=svg.bars(
            bars,
            name="attack",
            title="How often the attacker was right",
            description="Three bars: noise hides one of many, not the only one; the threshold hides both.",
        ),
    )


def _short(name: str) -> str:
    return name.replace("one of many who said ", "").replace("the only one who said ", "")


def chances(scale: Fraction, last: int) -> list[tuple[int, Fraction]]:
    """Return the chance that a colour of one person is published, for thresholds 1 to `last`, rounded up.

    P(1 + X >= T) = q**(T - 1)/(1 + q), q = exp(-1/scale): each step multiplies it by q.
    """
    noise = DiscreteLaplace(scale)
    return [(threshold, noise.tail(threshold - 1)[1]) for threshold in range(1, last + 1)]


def _line_figure(release: Release) -> Figure:
    facts, delta = release.facts, release.guarantee.delta
    least = statement.least_group(facts) or 1
    points = chances(facts.columns[0].scale, max(_LAST, least + 3))
    return Figure(
        title="The price of a threshold",
        paragraphs=(
            "The higher the threshold, the less likely noise lifts a colour of one person over it, and the "
            "more colours are lost. On a log scale the chance falls along a straight line; it must be at "
            "most delta.",
        ),
        caption="The chance that a colour which one person gave is published, rounded up",
        headings=("threshold", "chance"),
        rows=tuple((str(threshold), _chance(chance)) for threshold, chance in points),
        drawing=svg.decline(
            [(threshold, float(chance)) for threshold, chance in points],
            name="line",
            title="Chance that a colour of one person is published, against the threshold",
            description="A straight line on a log scale; it is below delta at the threshold of the release.",
            across="threshold",
            down=svg.Mark(least, f"threshold here: {least}"),
            level=svg.Mark(float(delta), f"delta: {odds.chance(delta)}"),
        ),
    )


def _chance(chance: Fraction) -> str:
    return f"{odds.short(100 * chance, 3)} %" if chance >= Fraction(1, 1000) else odds.chance(chance)


def _table(release: Release) -> Table:
    return Table(
        tuple(release.table.column_names), tuple(column.to_pylist() for column in release.table.columns)
    )
