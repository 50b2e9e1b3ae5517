"""Mechanisms in words: what they are called, what they promise, how far off they may be."""

from __future__ import annotations

from fractions import Fraction

from deniable.exact import text
from deniable.guarantees import ApproxDP, PureDP
from deniable.mechanisms.grids import LIMIT, Grid
from deniable.publish import odds
from deniable.publish.statement import wrapped


def called(name: str, grid: Grid, **parameters: Fraction) -> str:
    """Return the call that makes an additive mechanism; numbers as short exact text."""
    given = [f"{key}={text(number)}" for key, number in parameters.items()]
    given += [f"shape={grid.shape}"] * (grid.shape != ()) + ["whole=True"] * grid.whole
    return f"{name}({', '.join(given)})"


def short(number: Fraction) -> str:
    """Return four significant digits, rounded up."""
    return odds.short(number)


def additive(
    noise: str, grid: Grid, sensitivity: Fraction, norm: str, guarantee: PureDP | ApproxDP, error: Fraction
) -> str:
    """Return the statement of noise on a number or an array."""
    single = grid.shape == ()
    what = "one number" if single else f"each of {grid.size:,} numbers"
    length = "" if single else f" in all ({norm})"
    moved = f"one unit moves {'the number' if single else 'them'} by at most {text(sensitivity)}{length}"
    steps = "" if grid.whole else f", in steps of {text(grid.step)}"
    said = [
        f"{noise} on {what}{steps}.",
        *promise(guarantee),
        f"In 95 % of cases a result is within {short(error)} of the value.",
        f"Taken for granted: {moved}.",
        f"What is missing counts as 0, what is beyond {float(LIMIT * grid.step):.3g} on either side as that.",
        "Each release costs this again.",
    ]
    return wrapped(" ".join(said)) + "\n"


def chosen(
    rule: str, sensitivity: Fraction, guarantee: PureDP, *, monotone: bool, reach: str | None = None
) -> str:
    """Return the statement of a choice among candidates."""
    same = ", all in the same direction" if monotone else ""
    said = [
        rule,
        *promise(guarantee),
        *([reach] if reach else []),
        f"Taken for granted: one unit moves each utility by at most {text(sensitivity)}{same}; the list of "
        f"candidates is public. A missing utility counts as 0. Each release costs this again.",
    ]
    return wrapped(" ".join(said)) + "\n"


def promise(guarantee: PureDP | ApproxDP, *, local: bool = False) -> list[str]:
    """Return the promise in two sentences: between two tables, or (local) two answers of one person."""
    compared = "for any two answers that somebody may have" if local else "with or without any one unit"
    held = "thinks two answers equally likely" if local else "holds both tables"
    epsilon, delta = odds.epsilon_text(guarantee.epsilon), text(guarantee.delta)
    risk = f", but for a risk of {odds.chance(guarantee.delta)}" if guarantee.delta else ""
    rate = odds.percent(odds.best_hit_rate(guarantee))
    return [
        f"Differential privacy with epsilon {epsilon}, delta {delta}: {compared}, the odds of a result "
        f"change at most {odds.fold(guarantee.epsilon)}-fold{risk}.",
        f"Somebody who {held} names the right one at most {rate} of the time; a coin gives 50 %.",
    ]
