"""What a mechanism with countably few outputs may say of itself: tables, step densities, enclosures.

| a mechanism returns, for an input         | meaning                                                       |
|-------------------------------------------|---------------------------------------------------------------|
| {"yes": Fraction(3, 4), "no": "1/4"}      | the probability of each output; they must sum to 1             |
| {"yes": 3, "no": 1}                       | whole numbers: weights, divided by their sum                   |
| [3, 1]                                    | the same for the outputs 0, 1, ...                             |
| {"yes": Between(low, high), ...}          | probabilities that are only enclosed, as with e**epsilon       |
| Steps([0, 1, 3], [Fraction(1, 2), "1/4"]) | a density on the line, constant between these edges            |

Numbers pass the door `exact`: text, int, Fraction, Decimal, and floats that mean the decimal they print.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any

from deniable.errors import ParameterError
from deniable.exact import Number, at_least_zero, exact

Output = Hashable


@dataclass(frozen=True, slots=True)
class Between:
    """A probability that is known to lie between two rationals."""

    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True, init=False)
class Steps:
    """A piecewise constant density: height[i] from edges[i] to edges[i + 1], 0 elsewhere; its area is 1.

    Raises:  ParameterError: edges do not rise, heights are not one fewer, an area is negative, the sum is not
             1.
    """

    edges: tuple[Fraction, ...]
    heights: tuple[Fraction, ...]

    def __init__(self, edges: Iterable[Number], heights: Iterable[Number]) -> None:
        ends = tuple(exact(edge, "edges") for edge in edges)
        tops = tuple(at_least_zero(height, "heights") for height in heights)
        if len(ends) != len(tops) + 1 or any(right <= left for left, right in pairwise(ends)):
            fix = "Give edges that rise, and one height between each two."
            raise ParameterError("edges", [str(end) for end in ends], "do not fit the heights", fix)
        object.__setattr__(self, "edges", ends)
        object.__setattr__(self, "heights", tops)
        area = sum(((b - a) * h for (a, b), h in zip(pairwise(ends), tops, strict=True)), Fraction(0))
        if area != 1:
            raise ParameterError("heights", str(area), "must have area 1", "Divide them by their area.")

    def on(self, cuts: Sequence[Fraction]) -> dict[Output, Fraction]:
        """Return the probability of each interval between neighbouring cuts, all edges being among them."""
        areas: dict[Output, Fraction] = {}
        place = 0
        for left, right in pairwise(cuts):
            while place < len(self.heights) and self.edges[place + 1] <= left:
                place += 1
            inside = place < len(self.heights) and self.edges[place] <= left
            areas[left, right] = (right - left) * self.heights[place] if inside else Fraction(0)
        return areas


Distribution = Mapping[Any, Number | Between] | Sequence[Number | Between] | Steps


@dataclass(frozen=True, slots=True)
class Row:
    """A distribution over the outputs of a `Tabulated`: integers low[i] <= P(output i) * one <= high[i]."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    one: int

    @property
    def sharp(self) -> bool:
        """Whether the probabilities are exact."""
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class Tabulated:
    """All distributions of a mechanism over the same outputs, one row an input."""

    inputs: tuple[object, ...]
    outputs: tuple[Output, ...]
    rows: tuple[Row, ...]


def tabulated(inputs: Sequence[object], distributions: Sequence[Distribution]) -> Tabulated:
    """Return the distributions of all inputs over the union of their outputs.

    Step densities are cut at all edges: between two cuts every density is constant, so the ratio of two is
    the same on every part of the piece, and the pieces are as good as the points (no post-processing loss).
    Raises:  ParameterError: probabilities do not sum to 1, or are negative; kinds are mixed.
    """
    tables = _tables(distributions)
    outputs = tuple(dict.fromkeys(output for table in tables for output in table))
    pairs = zip(inputs, tables, strict=True)
    return Tabulated(tuple(inputs), outputs, tuple(_row(given, table, outputs) for given, table in pairs))


def _tables(distributions: Sequence[Distribution]) -> list[Mapping[Output, Number | Between]]:
    steps = [one for one in distributions if isinstance(one, Steps)]
    if steps:
        if len(steps) < len(distributions):
            fix = "Return Steps for every input, or a table for every input."
            raise ParameterError("mechanism", "both", "mixes step densities and tables", fix)
        cuts = sorted({edge for one in steps for edge in one.edges})
        return [one.on(cuts) for one in steps]
    return [one if isinstance(one, Mapping) else dict(enumerate(one)) for one in distributions]  # type: ignore[arg-type]


def _row(given: object, table: Mapping[Output, Number | Between], outputs: Sequence[Output]) -> Row:
    ends = {output: _ends(value) for output, value in table.items()}
    if any(low < 0 or high < low for low, high in ends.values()):
        raise ParameterError(
            "mechanism", given, "has a probability below 0", "Check the table of this input."
        )
    lows, highs = (sum((pair[side] for pair in ends.values()), Fraction(0)) for side in (0, 1))
    if lows == highs and lows > 0 and all(isinstance(value, int) for value in table.values()):
        ends = {output: (pair[0] / lows, pair[1] / lows) for output, pair in ends.items()}
    elif not lows <= 1 <= highs:
        total = str(lows) if lows == highs else f"{float(lows)} to {float(highs)}"
        problem = f"has probabilities that sum to {total}, not 1, on this input"
        raise ParameterError(
            "mechanism", given, problem, "Give exact fractions, or whole numbers as weights."
        )
    one = lcm(*(end.denominator for pair in ends.values() for end in pair))
    nothing = (Fraction(0), Fraction(0))
    pairs = [ends.get(output, nothing) for output in outputs]
    return Row(tuple(int(low * one) for low, _ in pairs), tuple(int(high * one) for _, high in pairs), one)


def _ends(value: Number | Between) -> tuple[Fraction, Fraction]:
    if isinstance(value, Between):
        return exact(value.low, "low"), exact(value.high, "high")
    number = exact(value, "probability")
    return number, number
