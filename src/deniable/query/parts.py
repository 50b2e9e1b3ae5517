"""The noisy parts of a plan, in their order: what one unit can change of each, and its share of the budget.

| part          | one unit changes                       | share of epsilon, or of mu^2                     |
|---------------|----------------------------------------|--------------------------------------------------|
| each choice   | `ONE`                                  | 10 % together, in equal parts, if there are any  |
| columns       | `Contributions.l1` or `.l2`            | parts of what is left, as `weights` has them     |
| the histogram | `one`, in one class                    | 2 %, if there is one                             |
| the rest      | the same, as a unit in one group alone | 5 % together, in the same parts, if asked for    |

A choice is of a bound that nobody stated (`automatic`); then `one` is ONE, and the sensitivities of columns
are those of public bounds (`charged`). The rest is the one row of everything that was not found (`rest`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar, assert_never

from deniable.query.charged import ONE
from deniable.query.measures import Contributions, Measure, nodes

CHOICES_SHARE = Fraction(1, 10)
COVERAGE_SHARE = Fraction(1, 50)
REST_SHARE = Fraction(1, 20)

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Split(Generic[Part]):
    """One thing for each part."""

    choices: tuple[Part, ...]
    columns: tuple[Part, ...]
    coverage: Part | None
    rest: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """What is measured with noise. coverage: the histogram too. rest: the row of everything else too.

    weights: how columns share what they have, adding up to 1; () for equal parts.
    choices: for each bound that is chosen, in how many classes of its histogram a unit can be.
    """

    measures: tuple[Measure, ...]
    contributions: Contributions
    coverage: bool
    rest: bool
    weights: tuple[Fraction, ...] = ()
    choices: tuple[int, ...] = ()

    @property
    def shares(self) -> list[Fraction]:
        """The part of the budget of each."""
        number = len(self.measures)
        each = self.weights or (Fraction(1, number),) * number
        chosen = [CHOICES_SHARE / len(self.choices) for _ in self.choices]
        spent = sum(chosen, start=Fraction(0)) + COVERAGE_SHARE * self.coverage + REST_SHARE * self.rest
        columns = [(1 - spent) * weight for weight in each]
        rest = [REST_SHARE * weight for weight in each]
        return chosen + columns + [COVERAGE_SHARE] * self.coverage + rest * self.rest

    @property
    def moves(self) -> list[int]:
        """By how much one unit can change each, in the norm of its noise."""
        columns = [_moved(self.contributions, measure) for measure in self.measures]
        alone = [_moved(in_one_group(self.contributions), measure) for measure in self.measures]
        chosen = [ONE] * len(self.choices)
        return chosen + columns + [self.contributions.one] * self.coverage + alone * self.rest

    def touched(self, most: int) -> list[int]:
        """In how many entries of each a unit can be, if it is in at most so many groups."""
        columns = [most * nodes(measure) for measure in self.measures]
        alone = [nodes(measure) for measure in self.measures]
        return [*self.choices, *columns] + [most] * self.coverage + alone * self.rest

    def split(self, each: Sequence[Part]) -> Split[Part]:
        """Return what there is of each part, from a list in this order."""
        first, number = len(self.choices), len(self.measures)
        columns, others = each[first : first + number], each[first + number :]
        rest = tuple(others[self.coverage :])
        assert len(rest) == number * self.rest
        return Split(tuple(each[:first]), tuple(columns), others[0] if self.coverage else None, rest)


def weights(stated: Sequence[tuple[Fraction | None, Sequence[int]]], measures: int) -> tuple[Fraction, ...]:
    """Return how so many measures share the budget of all columns; () for equal parts.

    Args:    stated: for each output its share, None if it has none, and the places of its measures.
    An output's share is split equally among its measures; a measure of several outputs gets a part of each.
    What is left goes, in equal parts, to the measures that no stated share is for; if there are none, all
    shares grow alike.
    """
    found = [Fraction(0)] * measures
    for share, places in stated:
        for place in places:
            found[place] += Fraction(share or 0) / len(places)
    rest = [place for place, weight in enumerate(found) if not weight]
    total = sum(found, start=Fraction(0))
    if not total:
        return ()
    if not rest:
        return tuple(weight / total for weight in found)
    return tuple(weight or (1 - total) / len(rest) for weight in found)


def in_one_group(contributions: Contributions) -> Contributions:
    """Return the bounds where there is one group: everybody counts there in full."""
    return Contributions("drop", contributions.norm, 1, 1, contributions.one)


def _moved(contributions: Contributions, measure: Measure) -> int:
    match contributions.norm:
        case "l1":
            return contributions.l1(measure)
        case "l2":
            return contributions.l2(measure)
        case other:
            assert_never(other)
