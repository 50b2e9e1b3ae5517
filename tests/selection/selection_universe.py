"""Every table of up to four units in three groups, all pairs of neighbours, how far two laws are apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import mpmath

GROUPS = 3
UNITS = 4

MP: Any = mpmath.MPContext()
MP.prec = 600

Unit = frozenset[int]
"""The groups that a unit is in."""

Table = tuple[Unit, ...]
Law = Mapping[Any, tuple[Fraction | int, Fraction | int]]
"""For each output, numbers around its probability; all in the same scale."""

EVERY_UNIT = tuple(frozenset(g for g in range(GROUPS) if bits >> g & 1) for bits in range(1, 1 << GROUPS))


def tables(most: int = UNITS) -> list[Table]:
    """Every table of at most so many units; their order does not matter."""
    return [table for size in range(most + 1) for table in combinations_with_replacement(EVERY_UNIT, size)]


def neighbours() -> Iterator[tuple[Table, Table]]:
    """Every table of at most three units, with each unit that can be added, written as `tables` does."""
    for table in tables(UNITS - 1):
        for unit in EVERY_UNIT:
            yield table, tuple(sorted((*table, unit), key=EVERY_UNIT.index))


def floor_exp(x: Fraction, bits: int = 1400) -> Fraction:
    """A rational below exp(x) by at most 2**(1 - bits): closer to it than any that the package uses."""
    with MP.workprec(bits + 200):
        power = MP.exp(MP.mpf(x.numerator) / x.denominator)
        return Fraction(int(MP.floor(power * 2**bits)) - 1, 2**bits)


def excess(first: Law, second: Law, factor: Fraction) -> Fraction:
    """The most that the sum of (first - factor * second)+ over all outputs can be."""
    top, bottom = factor.as_integer_ratio()
    gaps = (high * bottom - second.get(output, (0, 0))[0] * top for output, (_, high) in first.items())
    return Fraction(sum(gap for gap in gaps if gap > 0)) / bottom


def worst_excess(laws: Mapping[Table, Law], epsilon: Fraction) -> Fraction:
    """The largest excess over all pairs of neighbours, in both directions."""
    factor = floor_exp(epsilon, bits=200)
    return max(
        max(excess(laws[less], laws[more], factor), excess(laws[more], laws[less], factor))
        for less, more in neighbours()
    )
