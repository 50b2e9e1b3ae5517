"""What a mean protocol promises, in words."""

from __future__ import annotations

from fractions import Fraction

from deniable.exact import text
from deniable.guarantees import PureDP
from deniable.mechanisms.words import promise, short
from deniable.publish.statement import wrapped

_NAMES = {
    "optimal": "the best integer table for this epsilon",
    "duchi": "Duchi's two answers",
    "piecewise": "the piecewise mechanism",
    "hybrid": "the hybrid mechanism",
    "laplace": "Laplace noise",
    "classified": "the window of the best width (classified response)",
}


def statement(
    mechanism: str, bounds: tuple[Fraction, Fraction], guarantee: PureDP, size: int, error: Fraction
) -> str:
    """Return the statement. size: bytes of a report without its head. error: of a report, squared."""
    low, high = map(text, bounds)
    said = [
        f"The mean of a number from {low} to {high}, by {_NAMES[mechanism]}: each device sends {size} "
        f"random byte{'s' * (size > 1)} about its own value, and nobody else ever sees that.",
        *promise(guarantee, local=True),
        f"The standard error of a mean of n people is at most {short(_root(error))} / sqrt(n).",
        "A number beyond the bounds counts as the nearer bound, a missing one as the middle.",
        "Each report costs this again: 30 daily reports cost 30 times epsilon.",
    ]
    return wrapped(" ".join(said)) + "\n"


def _root(square: Fraction) -> Fraction:
    return Fraction(float(square) ** 0.5)
