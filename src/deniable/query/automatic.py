"""Bounds that nobody stated, chosen privately: max_groups="auto", max_rows="auto", bounds="auto".

| argument   | of each unit                                    | chosen                                     |
|------------|-------------------------------------------------|--------------------------------------------|
| max_groups | in how many groups it is, cut at max_keys       | the least k that SHARE of units are within |
| max_rows   | its rows in the group where it has most, cut at | the same                                   |
|            | MOST_ROWS                                       |                                            |
| bounds     | the share of its values in each class between   | the least run of classes that leaves at    |
|            | powers of two                                   | most (1 - SHARE)/2 of it on either side    |

Each is read from one noisy histogram over classes that are fixed beforehand. Where no class stands out of
the noise, a public number is taken (`FALLBACK`): never an error. Where 64-bit integers have no room for what
was found, the largest class is taken that they have room for, or a public number (`settling`): then a
`Choice` says what was found too.

Proof that a release with such bounds costs epsilon and delta.
1. `tallies`: a unit adds ONE to one class of max_groups, and of max_rows, and to all classes of bounds
   together at most ONE: c of its n values are in a class, and it adds floor(ONE * c / n) there. The classes
   follow from public facts. So one unit more moves the whole histogram by at most ONE in L1, and so in L2:
   the event is `DiscreteLaplace` or `DiscreteGaussian`, the kind of the plan, with sensitivity ONE. Its scale
   is fixed beforehand, with that of all columns (`parts`). Every class gets noise, empty ones too.
2. What is chosen follows from the noisy numbers (`Choice.settled`): it is published.
3. Whatever was chosen, the columns are measured with the noise that they were planned with, grown with what
   one unit can change (`Plan.settled`); where that cannot be, for less than was chosen (`settling.most`).
   What is carried out follows from public facts and from what was chosen.
4. So all is one composition: the choices, then columns that are dominated by the same references whatever was
   chosen (proved in `charged`). `accounting.within` is asked about choices and references together, before
   anything is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, assert_never

import numpy as np
from numpy.typing import NDArray

from deniable.exact import text
from deniable.query import charged
from deniable.query.coverage import classes

if TYPE_CHECKING:
    from deniable.query.aggregates import Aggregate
    from deniable.query.question import Query

AUTO = "auto"
SHARE = Fraction(95, 100)
"""How much of what units have should count in full."""

ONE = charged.ONE
MOST_ROWS = 1024
FALLBACK = {"max_groups": 4, "max_rows": 1}
FALLBACK_BOUNDS = (Fraction(0), Fraction(1))

Argument = Literal["max_groups", "max_rows", "bounds"]
_EXPONENTS = range(-10, 64)
_CLASSES = 20
_CHANCE = Fraction(1, 100)


@dataclass(frozen=True, slots=True)
class Choice:
    """One bound that is chosen from a noisy histogram.

    column: whose values are bounded; None but for bounds. ends: the largest number in each class; of bounds
    the edges between them. chosen: the number, or the two, that columns are measured with; None before the
    data were read. found: they are what stood out of the noise. wanted: what stood out, if there is no room
    for it; then `chosen` are other numbers. Not found and not wanted: nothing stood out.
    """

    argument: Argument
    column: str | None
    ends: tuple[Fraction, ...]
    event: charged.Noise
    chosen: tuple[Fraction, ...] | None = None
    found: bool = False
    wanted: tuple[Fraction, ...] | None = None

    @property
    def name(self) -> str:
        """What is chosen, in words."""
        return self.argument if self.column is None else f"{self.argument} of {self.column}"

    @property
    def size(self) -> int:
        """How many classes there are."""
        return len(self.ends) - (self.argument == "bounds")

    @property
    def fallback(self) -> tuple[Fraction, ...]:
        """The public numbers where nothing is found."""
        if self.argument == "bounds":
            return FALLBACK_BOUNDS
        return (min(Fraction(FALLBACK[self.argument]), self.ends[-1]),)

    def settled(self, noisy: NDArray[np.int64], width: int) -> Choice:
        """Return the choice that follows from the noisy histogram. Classes up to `width` count as empty."""
        counts = [int(count) if count > width else 0 for count in noisy]
        total = sum(counts)
        if not total:
            return replace(self.unread(), chosen=self.fallback)
        match self.argument:
            case "max_groups" | "max_rows":
                chosen: tuple[Fraction, ...] = (self.ends[_first(counts, SHARE * total)],)
            case "bounds":
                outside = (1 - SHARE) / 2 * total
                low = _first(counts, outside, beyond=True)
                high = self.size - _first(counts[::-1], outside, beyond=True)
                chosen = self.ends[low], self.ends[high]
            case other:
                assert_never(other)
        return replace(self.unread(), chosen=chosen, found=True)

    @property
    def read(self) -> tuple[Fraction, ...] | None:
        """What stood out of the noise; None if nothing did, or nothing was read."""
        return self.chosen if self.found else self.wanted

    def instead(self, numbers: tuple[Fraction, ...]) -> Choice:
        """Return the choice of these numbers; it keeps what stood out, if that is another."""
        found = numbers == self.read
        return replace(self, chosen=numbers, found=found, wanted=None if found else self.read)

    def missed(self) -> Choice:
        """Return the choice of the public numbers."""
        return self.instead(self.fallback)

    def unread(self) -> Choice:
        """Return the choice as it was before anything was read."""
        return replace(self, chosen=None, found=False, wanted=None)

    def lower(self) -> Iterator[Choice]:
        """Yield what stood out, then, for a number, every smaller class above the public number."""
        if self.read is None:
            return
        yield self.instead(self.read)
        if self.argument != "bounds":
            for end in reversed(self.ends):
                if self.fallback[0] < end < self.read[0]:
                    yield self.instead((end,))

    @property
    def width_confidence(self) -> Fraction:
        """How sure it is that the noise of one class is within the width."""
        return 1 - _CHANCE / self.size

    def __str__(self) -> str:
        numbers = self.fallback if self.chosen is None else self.chosen
        return f"{self.name} = {' to '.join(map(text, numbers))}"


Asked = tuple[Argument, str | None, tuple[Fraction, ...]]
"""A bound that is to be chosen: the first three fields of a `Choice`."""


def asked(query: Query) -> tuple[Asked, ...]:
    """Return what is to be chosen."""
    wanted: dict[tuple[Argument, str | None], tuple[Fraction, ...]] = {}
    if query.groups is not None and query.groups.auto:
        wanted["max_groups", None] = _whole(query.groups.max_keys)
    for _, aggregate in query.outputs:
        if "max_rows" in aggregate.auto:
            wanted["max_rows", None] = _whole(MOST_ROWS)
        if "bounds" in aggregate.auto:
            wanted["bounds", aggregate.column] = edges()
    return tuple((argument, column, ends) for (argument, column), ends in wanted.items())


def touched(argument: Argument, ends: Sequence[Fraction]) -> int:
    """Return in how many classes one unit can be."""
    return len(ends) - 1 if argument == "bounds" else 1


def ends_of(argument: Argument, max_keys: int) -> tuple[Fraction, ...]:
    """Return the classes of a choice."""
    match argument:
        case "max_groups":
            return _whole(max_keys)
        case "max_rows":
            return _whole(MOST_ROWS)
        case "bounds":
            return edges()
        case other:
            assert_never(other)


def edges() -> tuple[Fraction, ...]:
    """Return the edges that bounds are chosen from: 0, and powers of two on both sides."""
    sizes = [Fraction(2) ** exponent for exponent in _EXPONENTS]
    return (*(-size for size in reversed(sizes)), Fraction(0), *sizes)


def answered(query: Query, settled: Sequence[Choice]) -> Query:
    """Return the query with what was chosen in place of "auto"."""
    found = {(choice.argument, choice.column): choice.chosen for choice in settled}
    groups, outputs = query.groups, []
    if groups is not None and (most := found.get(("max_groups", None))):
        groups = replace(groups, max_groups=int(most[0]))
    for name, aggregate in query.outputs:
        changed = aggregate
        if "max_rows" in aggregate.auto and (most := found.get(("max_rows", None))):
            changed = replace(changed, max_rows=int(most[0]))
        if "bounds" in aggregate.auto and (bounds := found.get(("bounds", aggregate.column))):
            changed = replace(changed, bounds=(bounds[0], bounds[1]))
        outputs.append((name, changed))
    return replace(query, groups=groups, outputs=tuple(outputs))


def differing(query: Query, settled: Sequence[Choice]) -> Iterator[str]:
    """Yield a sentence for everything that a query does not take from what was chosen."""
    for choice in settled:
        if choice.chosen is None:
            yield f"{choice.name}: nothing was chosen"
        elif not set(choice.chosen) <= {*choice.ends, *choice.fallback}:
            yield f"{choice.name}: what was chosen is none of its classes"
        elif choice.wanted is not None and (choice.found or not set(choice.wanted) <= set(choice.ends)):
            yield f"{choice.name}: what was found beside it is none of its classes, or was chosen"
        elif choice.argument == "max_groups":
            if query.groups is None or query.groups.max_groups != _within_keys(query, choice.chosen[0]):
                yield f"{choice.name}: it is not what was chosen"
        elif not any(_has(aggregate, choice) for _, aggregate in query.outputs):
            yield f"{choice.name}: no column has what was chosen"


def _within_keys(query: Query, most: Fraction) -> Fraction:
    """Return the number that a record has: a unit is in no more groups than were declared."""
    keys = None if query.groups is None else query.groups.keys
    return most if keys is None else min(most, Fraction(keys.num_rows))


def _has(aggregate: Aggregate, choice: Choice) -> bool:
    if choice.argument == "bounds":
        return (
            getattr(aggregate, "column", None) == choice.column
            and getattr(aggregate, "bounds", None) == choice.chosen
        )
    return (getattr(aggregate, "max_rows", None),) == choice.chosen


def _whole(most: int) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, classes(most, _CLASSES)))


def _first(counts: Sequence[int], reached: Fraction, *, beyond: bool = False) -> int:
    """Return the first class at which the sum so far reaches this much (or goes beyond it)."""
    below = 0
    for place, count in enumerate(counts):
        below += count
        if below > reached or (below >= reached and not beyond):
            return place
    return len(counts) - 1
