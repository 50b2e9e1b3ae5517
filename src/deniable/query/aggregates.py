"""What can be asked of each group: `units`, `count`, `sum`, `mean`, `std`; arguments are checked here.

    dn.units()                                             how many units have a row in the group
    dn.count(max_rows=2)                                   rows, at most two of each unit
    dn.count("spend", max_rows=2)                          rows with a value in `spend`
    dn.sum("spend", bounds=(0, 100), max_rows=2)           their sum, each value clamped to the bounds
    dn.mean("spend", bounds=(0, 100), max_rows=2)          sum (centred) and count, each with its noise
    dn.variance("spend", bounds=(0, 100), max_rows=2)      squares (centred), sum and count, the same
    dn.quantile("spend", [0.1, 0.9], bounds=(0, 100), max_rows=2)  from a noisy tree over the values; also
                                                           dn.median, dn.minimum, dn.maximum
    dn.histogram("spend", edges=[0, 10, 100], max_rows=2)  rows by value
    dn.std("spend", bounds=(0, 100), max_rows=2)           the root of the variance
    dn.distinct("shop", max_values=5)                      how many different values, five of each unit

Bounds are required because they decide how much noise is needed; they must come from knowledge of the
subject, or be chosen privately: bounds="auto", max_rows="auto" (`automatic`). `max_rows` (of distinct:
`max_values`) is required with a unit column and absent when a row is the unit. `share` is the part of the
budget of all columns that one is to have: less noise for it, more for the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import assert_never

from deniable.errors import ParameterError
from deniable.exact import Number, exact, positive, text, whole
from deniable.publish.facts import Kind
from deniable.query.automatic import AUTO, FALLBACK, FALLBACK_BOUNDS
from deniable.query.grids import check_room, squares, total, tree
from deniable.query.measures import Bins, Count, Distinct, Measure, Rank, Squares, Total, Tree, Units

Bounds = Sequence[object]

MOST_ROWS = 1 << 30
MOST_EDGES = 201
_LARGEST = Fraction(10) ** 150


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One question about each group; made by the functions below.

    column: what is counted, summed or averaged; None for units and for all rows.
    bounds: the two exact numbers that each value is clamped to; None for units and counts.
    at: the shares of quantiles, or the edges of a histogram. several: given as a list, not as one number.
    place: which bin of a histogram. max_values: of one unit in a group; only of distinct.
    auto: which of "bounds" and "max_rows" are chosen privately (`automatic`); till then they hold the public
    numbers that serve where nothing is found.
    share: the part of the budget of all columns; None: an equal part of what is left.
    """

    kind: Kind
    column: str | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    max_rows: int | None = None
    at: tuple[Fraction, ...] = ()
    several: bool = False
    place: int = 0
    max_values: int | None = None
    auto: tuple[str, ...] = ()
    share: Fraction | None = None

    def columns(self, name: str) -> Iterator[tuple[str, Aggregate]]:
        """Yield the published columns: one, or one for each quantile of a list or for each bin."""
        parts = len(self.at) - (self.kind == "histogram")
        part = None if self.share is None else self.share / max(1, parts)
        match self.kind:
            case "quantile" if self.several:
                for share in self.at:
                    yield f"{name}_{text(share)}", replace(self, at=(share,), several=False, share=part)
            case "histogram" if self.several:
                for place, (low, high) in enumerate(pairwise(self.at)):
                    yield (
                        f"{name}_{text(low)}_to_{text(high)}",
                        replace(self, several=False, place=place, share=part),
                    )
            case _:
                yield name, self

    @property
    def rank(self) -> Rank | None:
        """Which of the sorted values is published: a share, or an end; None for anything else."""
        match self.kind:
            case "quantile":
                return self.at[0]
            case "minimum" | "maximum":
                return self.kind
            case _:
                return None

    def measures(self, *, whole_numbers: bool, one: int, population: int | None) -> tuple[Measure, ...]:
        """Return the integers that this question is answered from.

        A mean takes (total, count), a variance (squares, total, count): the total is the same for both.

        whole_numbers: the column is declared an integer. one: what counting in full is written as.
        population: units there may be, as stated; it decides how fine the grid can be.
        """
        match self.kind:
            case "units":
                return (Units(),)
            case "count":
                return (Count(self.column, self.max_rows),)
            case "sum" | "mean":
                centred = self.kind == "mean"
                added = self._total(
                    centred=centred, whole_numbers=whole_numbers, one=one, population=population
                )
                return (added, Count(self.column, self.max_rows)) if centred else (added,)
            case "quantile" | "minimum" | "maximum":
                assert self.column is not None
                assert self.bounds is not None
                return (
                    tree(
                        self.column,
                        self.bounds,
                        whole_numbers=whole_numbers,
                        max_rows=self.max_rows,
                        one=one,
                        population=population,
                    ),
                )
            case "histogram":
                assert self.column is not None
                check_room(self.max_rows, one, population)
                return (Bins(self.column, self.max_rows, self.at),)
            case "distinct":
                assert self.column is not None
                check_room(self.max_values, one, population, argument="max_values")
                return (Distinct(self.column, self.max_values),)
            case "variance" | "std":
                added = self._total(centred=True, whole_numbers=False, one=one, population=population)
                squared = squares(added, one=one, population=population)
                return squared, added, Count(self.column, self.max_rows)
            case other:
                assert_never(other)

    def asks(self, measure: Measure) -> object:
        """Return what a measure of this question is, whatever is chosen: equal if two questions share it."""
        if isinstance(measure, Units):
            return measure
        bounds = AUTO if "bounds" in self.auto else self.bounds
        return (
            type(measure),
            measure.column,
            AUTO if "max_rows" in self.auto else self.max_rows,
            bounds if isinstance(measure, Total | Squares | Tree) else None,
            isinstance(measure, Total) and self.kind == "sum",
            self.at if isinstance(measure, Bins) else (),
            self.max_values,
        )

    def _total(self, *, centred: bool, whole_numbers: bool, one: int, population: int | None) -> Total:
        assert self.column is not None
        assert self.bounds is not None
        return total(
            self.column,
            self.bounds,
            centred=centred,
            whole_numbers=whole_numbers,
            max_rows=self.max_rows,
            one=one,
            population=population,
        )

    def __str__(self) -> str:
        parts = [] if self.column is None else [repr(self.column)]
        if self.kind == "quantile":
            parts.append(f"[{', '.join(text(share) for share in self.at)}]")
        if self.kind == "histogram":
            parts.append(f"{text(self.at[self.place])} to {text(self.at[self.place + 1])}")
        if self.bounds is not None:
            parts.append(f"bounds=({self.bounds[0]}, {self.bounds[1]})")
        if self.max_rows is not None:
            parts.append(f"max_rows={self.max_rows}")
        if self.max_values is not None:
            parts.append(f"max_values={self.max_values}")
        if self.share is not None:
            parts.append(f"share={text(self.share)}")
        return f"{self.kind}({', '.join(parts)})"


def units(*, share: Number | None = None) -> Aggregate:
    """Count the units (people, say) that have a row in the group."""
    return Aggregate("units", share=_share(share))


def count(
    column: str | None = None, *, max_rows: int | str | None = None, share: Number | None = None
) -> Aggregate:
    """Count rows that have a value in `column` (all rows if None), at most `max_rows` of each unit."""
    auto = _auto(None, max_rows)
    return Aggregate(
        "count",
        None if column is None else _column(column),
        None,
        _rows(max_rows),
        auto=auto,
        share=_share(share),
    )


def sum(  # noqa: A001
    column: str,
    *,
    bounds: Bounds | str | None = None,
    max_rows: int | str | None = None,
    share: Number | None = None,
) -> Aggregate:
    """Sum `column`, each value clamped to `bounds`, at most `max_rows` rows of each unit.

    A unit with n > max_rows rows counts its sum times max_rows / n: no row is chosen over another.
    """
    return _of_values("sum", column, bounds, max_rows, share)


def mean(
    column: str,
    *,
    bounds: Bounds | str | None = None,
    max_rows: int | str | None = None,
    share: Number | None = None,
) -> Aggregate:
    """Average `column` over rows, each value clamped to `bounds`, at most `max_rows` rows of each unit.

    It is a noisy sum, centred on the middle of the bounds, over a noisy count.
    """
    return _of_values("mean", column, bounds, max_rows, share)


def variance(
    column: str,
    *,
    bounds: Bounds | str | None = None,
    max_rows: int | str | None = None,
    share: Number | None = None,
) -> Aggregate:
    """Return how far values are from their mean: the average squared distance, over rows (divided by n).

    It is a noisy sum of centred squares, a noisy centred sum and a noisy count; a mean of the same column
    uses the same noisy sum and count. What one unit changes is proved in `measures` for each of the three.
    """
    return _of_values("variance", column, bounds, max_rows, share)


def std(
    column: str,
    *,
    bounds: Bounds | str | None = None,
    max_rows: int | str | None = None,
    share: Number | None = None,
) -> Aggregate:
    """Return the standard deviation: the root of `variance`, from the same noisy numbers."""
    return _of_values("std", column, bounds, max_rows, share)


def quantile(
    column: str,
    shares: object,
    *,
    bounds: Bounds | str | None = None,
    max_rows: int | str | None = None,
    share: Number | None = None,
) -> Aggregate:
    """Return the value that this share of rows is not above: 0.5 for the median, [0.25, 0.75] for two.

    A list publishes one column for each share. All quantiles of one column, with the same bounds and
    max_rows, are read from one noisy tree over the values between the bounds, at one price (see `trees`).
    Values are told apart in at most 4,096 steps of a power of two; declared integers in steps of 1 if few.
    """
    several = isinstance(shares, Sequence) and not isinstance(shares, str)
    given = list(shares) if isinstance(shares, Sequence) and several else [shares]
    fix = "Give shares between 0 and 1, for example [0.25, 0.5]; for the ends use dn.minimum and dn.maximum."
    found = [exact(share, "shares") for share in given]
    if not found or not all(0 < share < 1 for share in found) or len(set(found)) < len(found):
        raise ParameterError("shares", shares, "must be different numbers between 0 and 1", fix)
    auto = _auto(bounds, max_rows)
    return Aggregate(
        "quantile",
        _column(column),
        _bounds(bounds),
        _rows(max_rows),
        tuple(found),
        several,
        auto=auto,
        share=_share(share),
    )


def median(
    column: str,
    *,
    bounds: Bounds | str | None = None,
    max_rows: int | str | None = None,
    share: Number | None = None,
) -> Aggregate:
    """Return the value that half of the rows are not above: `quantile(column, 0.5, ...)`."""
    return quantile(column, Fraction(1, 2), bounds=bounds, max_rows=max_rows, share=share)


def minimum(
    column: str,
    *,
    bounds: Bounds | str | None = None,
    max_rows: int | str | None = None,
    share: Number | None = None,
) -> Aggregate:
    """Return a low value that is no noise: the plan says how many rows are about as low or lower.

    The very least value is one person's; this is the least that the noise of the tree lets stand out.
    """
    return _of_values("minimum", column, bounds, max_rows, share)


def maximum(
    column: str,
    *,
    bounds: Bounds | str | None = None,
    max_rows: int | str | None = None,
    share: Number | None = None,
) -> Aggregate:
    """Return a high value that is no noise: the plan says how many rows are about as high or higher."""
    return _of_values("maximum", column, bounds, max_rows, share)


def histogram(
    column: str, *, edges: object = None, max_rows: int | str | None = None, share: Number | None = None
) -> Aggregate:
    """Count rows by value, in bins between rising edges: one column for each bin.

    A bin holds its lower edge, the last one its upper edge too; values outside count nowhere. All bins
    together cost what one count costs, as a row is in one of them.
    """
    fix = f"Give at least two rising numbers, at most {MOST_EDGES}, for example edges=[0, 18, 65, 120]."
    if isinstance(edges, str) or not isinstance(edges, Sequence) or not 2 <= len(edges) <= MOST_EDGES:
        raise ParameterError("edges", edges, "must be a list of numbers", fix)
    found = tuple(exact(edge, "edges") for edge in edges)
    if not all(float(low) < float(high) for low, high in pairwise(found)) or max(map(abs, found)) > _LARGEST:
        raise ParameterError("edges", edges, "must rise, and be told apart as 64-bit floats", fix)
    auto, part = _auto(None, max_rows), _share(share)
    return Aggregate("histogram", _column(column), None, _rows(max_rows), found, True, auto=auto, share=part)


def distinct(column: str, *, max_values: int | None = None, share: Number | None = None) -> Aggregate:
    """Count the different values of `column`, at most `max_values` of each unit in a group.

    A value that several units have counts once. Of a unit with more values, chance chooses those that count;
    a value is lost only if no unit brings it. What one unit changes is proved in `measures` (step 5).
    """
    return Aggregate(
        "distinct", _column(column), max_values=_rows(max_values, "max_values"), share=_share(share)
    )


def _of_values(kind: Kind, column: object, bounds: object, max_rows: object, share: object) -> Aggregate:
    auto, part = _auto(bounds, max_rows), _share(share)
    return Aggregate(kind, _column(column), _bounds(bounds), _rows(max_rows), auto=auto, share=part)


def _share(share: object) -> Fraction | None:
    """Return the part of the budget of all columns that a column is to have."""
    number = None if share is None else positive(share, "share")
    if number is not None and not number < 1:
        fix = "Give the part of the budget of all columns, for example 0.5."
        raise ParameterError("share", share, "must be between 0 and 1", fix)
    return number


def _auto(bounds: object, max_rows: object) -> tuple[str, ...]:
    """Return what is to be chosen privately."""
    given = {"bounds": bounds, "max_rows": max_rows}
    return tuple(name for name, value in given.items() if isinstance(value, str) and value == AUTO)


def _column(column: object) -> str:
    if not isinstance(column, str) or not column:
        raise ParameterError("column", column, "must be the name of a column", "Give for example 'spend'.")
    return column


def _rows(most: object, argument: str = "max_rows") -> int | None:
    if argument == "max_rows" and isinstance(most, str) and most == AUTO:
        return FALLBACK[argument]
    return None if most is None else whole(most, argument, at_least=1, at_most=MOST_ROWS)


def _bounds(bounds: object) -> tuple[Fraction, Fraction]:
    fix = "Give the least and the largest value that should count, for example bounds=(0, 100)."
    if bounds is None:
        raise ParameterError("bounds", bounds, "are missing", fix)
    if isinstance(bounds, str) and bounds == AUTO:
        return FALLBACK_BOUNDS
    if isinstance(bounds, str) or not isinstance(bounds, Sequence) or len(bounds) != 2:
        raise ParameterError("bounds", bounds, "must be two numbers", fix)
    low, high = exact(bounds[0], "bounds[0]"), exact(bounds[1], "bounds[1]")
    if not low < high:
        raise ParameterError("bounds", bounds, "must rise from low to high", fix)
    if not max(abs(low), abs(high)) <= _LARGEST or not high - low >= 1 / _LARGEST:
        fix = "Give bounds within 1e150 of 0 and at least 1e-150 apart."
        raise ParameterError("bounds", bounds, "are out of range", fix)
    return low, high
