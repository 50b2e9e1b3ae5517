"""How much of what people gave was counted in full: from a noisy histogram of the groups a unit is in.

Each unit is in m groups (at most max_keys are looked at) and falls into one of a few fixed classes of m,
about equally wide on a log scale. One unit changes one class by 1. What is said here comes from the noisy
counts alone. A class that noise alone could have filled counts as empty, at `SURE`, whatever the intervals
of the table are at: the classes of many groups weigh most and hold the fewest units, so that one that noise
filled would make the share a false one. Within a class m is taken to be as common as 1/m.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor
from typing import Literal, assert_never

from deniable.publish.facts import Coverage

SURE = 1 - Fraction(1, 10**5)
_ENOUGH = 0.9


def classes(max_keys: int, most: int = 8) -> tuple[int, ...]:
    """Return the largest m of each class: rising, from 1 to max_keys, at most `most` of them."""
    ends = {round(max_keys ** (place / (most - 1))) for place in range(most)}
    return tuple(sorted(ends | {1, max_keys}))


def described(
    counts: Sequence[float],
    ends: Sequence[int],
    max_groups: int,
    over: Literal["weight", "drop"],
    noise: float,
) -> Coverage | None:
    """Return the share of all (unit, group) pairs that were counted in full, in words.

    Args:    counts: noisy number of units in each class. ends: largest m of each class.
             noise: how far off each count is at most, at `SURE`; None comes back if no count is above it.
    """
    number = [count if count > noise else 0.0 for count in counts]
    if not any(number):
        return None
    share = _share(number, ends, max_groups, over)
    would = []
    for end in ends:
        if share < _ENOUGH and end > max_groups and (larger := _share(number, ends, end, over)) >= _ENOUGH:
            would.append((end, _percent(larger)))
            break
    return Coverage(share=_percent(share), would=tuple(would))


def _share(number: Sequence[float], ends: Sequence[int], k: int, over: Literal["weight", "drop"]) -> float:
    counted = given = 0.0
    first = 1
    for units, last in zip(number, ends, strict=True):
        weights = sum(1 / m for m in range(first, last + 1))
        for m in range(first, last + 1):
            given += units / weights
            counted += units / weights * _in_full(m, k, over) / m
        first = last + 1
    return counted / given


def _in_full(m: int, k: int, over: Literal["weight", "drop"]) -> int:
    """Return how many of a unit's m groups it counts in as if there were no bound."""
    match over:
        case "drop":
            return min(m, k)
        case "weight":
            return m if m <= k else 0
        case other:
            assert_never(other)


def _percent(share: float) -> str:
    return f"about {floor(100 * share + 1e-9)} %"
