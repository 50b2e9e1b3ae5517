"""What can be asked of each group: `units`, `count`, `sum`, `mean`, `std`; arguments are checked here.

    dn.units()                                             how many units have a row in the group
    dn.count(max_rows=2)                                   rows, at most two of each unit
    dn.count("spend", max_rows=2)                          rows with a value in `spend`
    dn.sum("spend", bounds=(0, 100), max_rows=2)           their sum, each value clamped to the bounds
    dn.mean("spend", bounds=(0, 100), max_rows=2)          sum (centred) and count, each with its noise
    dn.variance("spend", bounds=(0, 100), max_rows=2)      squares (centred), sum and count, the same
    dn.std("spend", bounds=(0, 100), max_rows=2)           the root of the variance

Bounds are required because they decide how much noise is needed; they must come from knowledge of the
subject, never from the data. `max_rows` is required with a unit column and absent when a row is the unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, assert_never

from deniable.errors import ParameterError
from deniable.exact import exact, whole
from deniable.query.grids import squares, total
from deniable.query.measures import Count, Measure, Total, Units

Kind = Literal["units", "count", "sum", "mean", "variance", "std"]
Bounds = Sequence[object]

MOST_ROWS = 1 << 30
_LARGEST = Fraction(10) ** 150


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One question about each group; made by the functions below.

    column: what is counted, summed or averaged; None for units and for all rows.
    bounds: the two exact numbers that each value is clamped to ; None for units and counts.
    """

    kind: Kind
    column: str | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    max_rows: int | None = None

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
            case "variance" | "std":
                added = self._total(centred=True, whole_numbers=False, one=one, population=population)
                squared = squares(added, one=one, population=population)
                return squared, added, Count(self.column, self.max_rows)
            case other:
                assert_never(other)

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
        if self.bounds is not None:
            parts.append(f"bounds=({self.bounds[0]}, {self.bounds[1]})")
        if self.max_rows is not None:
            parts.append(f"max_rows={self.max_rows}")
        return f"{self.kind}({', '.join(parts)})"


def units() -> Aggregate:
    """Count the units (people, say) that have a row in the group."""
    return Aggregate("units")


def count(column: str | None = None, *, max_rows: int | None = None) -> Aggregate:
    """Count rows that have a value in `column` (all rows if None), at most `max_rows` of each unit."""
    return Aggregate("count", None if column is None else _column(column), None, _rows(max_rows))


def sum(column: str, *, bounds: Bounds | None = None, max_rows: int | None = None) -> Aggregate:  # noqa: A001
    """Sum `column`, each value clamped to `bounds`, at most `max_rows` rows of each unit.

    A unit with n > max_rows rows counts its sum times max_rows / n: no row is chosen over another.
    """
    return Aggregate("sum", _column(column), _bounds(bounds), _rows(max_rows))


def mean(column: str, *, bounds: Bounds | None = None, max_rows: int | None = None) -> Aggregate:
    """Average `column` over rows, each value clamped to `bounds`, at most `max_rows` rows of each unit.

    It is a noisy sum, centred on the middle of the bounds, over a noisy count.
    """
    return Aggregate("mean", _column(column), _bounds(bounds), _rows(max_rows))


def variance(column: str, *, bounds: Bounds | None = None, max_rows: int | None = None) -> Aggregate:
    """Return how far values are from their mean: the average squared distance, over rows (divided by n).

    It is a noisy sum of centred squares, a noisy centred sum and a noisy count; a mean of the same column
    uses the same noisy sum and count. What one unit changes is proved in `measures` for each of the three.
    """
    return Aggregate("variance", _column(column), _bounds(bounds), _rows(max_rows))


def std(column: str, *, bounds: Bounds | None = None, max_rows: int | None = None) -> Aggregate:
    """Return the standard deviation: the root of `variance`, from the same noisy numbers."""
    return Aggregate("std", _column(column), _bounds(bounds), _rows(max_rows))


def _column(column: object) -> str:
    if not isinstance(column, str) or not column:
        raise ParameterError("column", column, "must be the name of a column", "Give for example 'spend'.")
    return column


def _rows(max_rows: object) -> int | None:
    return None if max_rows is None else whole(max_rows, "max_rows", at_least=1, at_most=MOST_ROWS)


def _bounds(bounds: object) -> tuple[Fraction, Fraction]:
    fix = "Give the least and the largest value that should count, for example bounds=(0, 100)."
    if bounds is None:
        raise ParameterError("bounds", bounds, "are missing", fix)
    if isinstance(bounds, str) or not isinstance(bounds, Sequence) or len(bounds) != 2:
        raise ParameterError("bounds", bounds, "must be two numbers", fix)
    low, high = exact(bounds[0], "bounds[0]"), exact(bounds[1], "bounds[1]")
    if not low < high:
        raise ParameterError("bounds", bounds, "must rise from low to high", fix)
    if not max(abs(low), abs(high)) <= _LARGEST or not high - low >= 1 / _LARGEST:
        fix = "Give bounds within 1e150 of 0 and at least 1e-150 apart."
        raise ParameterError("bounds", bounds, "are out of range", fix)
    return low, high
