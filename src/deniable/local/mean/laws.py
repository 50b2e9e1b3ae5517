"""A finite mean mechanism on [-1, 1], in exact numbers: which rows it has, what its outputs stand for.

Row i draws output j with probability entry[i, j] / 2**bits; output j stands for y_j = values[j] * unit.

1. v_i = sum_j entry[i, j] y_j / 2**bits is what row i means *by definition*: an estimate that averages y_j is
   exactly unbiased for it. The v_i rise from at most -1 to at least 1 (checked when a law is made).
2. A value v between two neighbours v_i and v_(i+1) takes one of their rows, the upper one with probability
   (v - v_i) / (v_(i+1) - v_i): unbiased again, up to the 2**-53 of that coin, which is a float. The coin
   does not touch privacy: a mixture of rows keeps what all rows keep.
3. With S_i = sum_j entry[i, j] y_j**2 / 2**bits the second moment between two inputs is on the straight line
   from S_i to S_(i+1), so the variance there is that line minus v**2, a parabola: `worst` takes its exact
   highest value over all cells.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.errors import ParameterError, ReportError

Floats = NDArray[np.float64]
_FINEST = 1 << 20


class Drawn(Protocol):
    """The probabilities of a law: a `Table`, or one with so much structure that it is never written out."""

    @property
    def bits(self) -> int:
        """Each row sums to 2**bits."""
        ...

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        ...

    @property
    def digest(self) -> str:
        """A hash of all entries."""
        ...

    def check(self, epsilon: Fraction) -> None:
        """Raise unless epsilon is proved."""
        ...

    def ratio(self) -> Fraction:
        """Return the largest quotient of two entries of one column, or a bound on it."""
        ...

    def row(self, place: int) -> Sequence[int]:
        """Return the entries of a row."""
        ...

    def moments(self, values: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return for each row the sums of entry * value and of entry * value**2."""
        ...

    def sample(self, rows: NDArray[Any], bits: Bits) -> NDArray[Any]:
        """Return one output for each row number."""
        ...


@dataclass(frozen=True)
class Law:
    """A finite mechanism. values: one a output, in units of `unit`.

    Raises:  ParameterError: the inputs do not rise (by 2**-20 at least), or do not reach -1 and 1.
    """

    drawn: Drawn
    values: tuple[int, ...]
    unit: Fraction

    def __init__(self, drawn: Drawn, values: Sequence[int], unit: Fraction) -> None:
        object.__setattr__(self, "drawn", drawn)
        object.__setattr__(self, "values", tuple(values))
        object.__setattr__(self, "unit", unit)
        rising = all(low < high for low, high in pairwise(self._means))
        if len(self._means) < 2 or not rising or self.point(0) > -1 or self.point(-1) < 1 or self._narrow():
            fix = "Build the table on a finer grid."
            raise ParameterError("inputs", len(self._means), "of the table do not rise from -1 to 1", fix)

    def _narrow(self) -> bool:
        return bool(np.diff(self.points).min() <= 1 / _FINEST)

    @cached_property
    def _moments(self) -> tuple[list[int], list[int]]:
        return self.drawn.moments(self.values)

    @property
    def _means(self) -> list[int]:
        return self._moments[0]

    @property
    def inputs(self) -> int:
        """How many rows there are."""
        return len(self._means)

    def point(self, place: int) -> Fraction:
        """Return v_i, the value that a row means."""
        return self._means[place] * self.unit / (1 << self.drawn.bits)

    def square(self, place: int) -> Fraction:
        """Return S_i, the mean of the squared output of a row."""
        return self._moments[1][place] * self.unit**2 / (1 << self.drawn.bits)

    @cached_property
    def digest(self) -> str:
        """SHA-256 in hexadecimal of the probabilities and of what the outputs stand for."""
        told = f"{self.drawn.digest} {self.unit} {' '.join(map(str, self.values))}"
        return hashlib.sha256(told.encode()).hexdigest()

    @cached_property
    def worst(self) -> Fraction:
        """The largest variance of a report over all values in [-1, 1], exactly.

        Floats choose the cells that can hold it (they are good to 1e-14 of the second moment).
        """
        near = np.flatnonzero(self._heights >= self._heights.max() - 1e-12 * float(self.square(0)))
        return max(self._cell(int(place)).highest() for place in near)

    @cached_property
    def _squares(self) -> Floats:
        """The S_i as floats."""
        return np.array([float(self.square(place)) for place in range(self.inputs)])

    @property
    def _heights(self) -> Floats:
        """The largest variance in each cell, in floats."""
        points = self.points
        squares = self._squares
        slopes = np.diff(squares) / np.diff(points)
        best = np.clip(slopes / 2, np.maximum(points[:-1], -1.0), np.minimum(points[1:], 1.0))
        heights: Floats = squares[:-1] + slopes * (best - points[:-1]) - best**2
        return heights

    def variance_at(self, v: Fraction) -> Fraction:
        """Return the variance of a report on v, -1 <= v <= 1, exactly."""
        place = int(np.searchsorted(self.points, float(v), side="right")) - 1
        place = min(max(place, 0), self.inputs - 2)
        while place and v < self.point(place):
            place -= 1
        while place < self.inputs - 2 and v > self.point(place + 1):
            place += 1
        return self._cell(place).at(v)

    def variances(self, v: Floats) -> Floats:
        """Return the variance of a report on each value, in floats."""
        line = np.interp(v, self.points, self._squares)
        return np.asarray(line - v**2, float)

    def average(self) -> Fraction:
        """Return the variance of a report averaged over all values in [-1, 1] alike, exactly."""
        return sum((cell.area() for cell in self.cells()), Fraction(0)) / 2

    def cells(self) -> Iterator[Cell]:
        """Yield the parabolas of the variance from left to right."""
        return map(self._cell, range(self.inputs - 1))

    def _cell(self, place: int) -> Cell:
        left, right, low = self.point(place), self.point(place + 1), self.square(place)
        slope = (self.square(place + 1) - low) / (right - left)
        return Cell(max(left, Fraction(-1)), min(right, Fraction(1)), low - slope * left, slope)

    @cached_property
    def points(self) -> Floats:
        """The v_i as floats."""
        return np.array([float(self.point(place)) for place in range(self.inputs)])

    def totals(self, payload: NDArray[Any]) -> NDArray[np.int64]:
        """Return how often each output came.

        Raises:  ReportError: there is no such output.
        """
        counts = np.bincount(payload, minlength=self.drawn.outputs)
        if payload.ndim != 1 or len(counts) > self.drawn.outputs:
            raise ReportError("Some reports are none of this table's outputs.", differs="report")
        return counts.astype(np.int64)

    def sums(self, totals: NDArray[np.int64]) -> tuple[Fraction, Fraction]:
        """Return the sums of what the reports stand for and of its squares, exactly."""
        pairs = [(count, y) for count, y in zip(totals.tolist(), self.values, strict=True) if count]
        first, second = sum(n * y for n, y in pairs), sum(n * y * y for n, y in pairs)
        return first * self.unit, second * self.unit**2

    def rows(self, v: Floats, bits: Bits) -> NDArray[np.int64]:
        """Return the row that each value takes, `(n,)`; values must lie in [-1, 1] (step 2)."""
        points, first, widths = self._found
        places = first.take(((v + 1.0) * (len(first) // 2 - 1)).astype(np.int64))
        places += v >= points.take(places + 1)
        coins = (bits.uint64(len(v)) >> np.uint64(11)).astype(np.float64)
        coins *= widths.take(places)
        coins += points.take(places)
        places += coins < v
        return places

    @cached_property
    def _found(self) -> tuple[Floats, NDArray[np.int64], Floats]:
        """Return the points, the cell in which each piece of [-1, 1] begins, and 2**-53 times the widths.

        There are 2 * k + 2 pieces of length 1/k, each with at most one point inside.
        """
        points, k = self.points, 2
        while 1 / k >= np.diff(points).min():
            k *= 2
        starts = np.arange(2 * k + 2) / k - 1
        first = np.clip(np.searchsorted(points, starts, side="right") - 1, 0, len(points) - 2)
        widths = np.append(np.diff(points), 0.0) * 2.0**-53
        return np.append(points[:-1], np.inf), first.astype(np.int64), widths


@dataclass(frozen=True, slots=True)
class Cell:
    """The variance of values from left to right: level + slope * v - v**2."""

    left: Fraction
    right: Fraction
    level: Fraction
    slope: Fraction

    def at(self, v: Fraction) -> Fraction:
        """Return the variance at v."""
        return self.level + self.slope * v - v * v

    def highest(self) -> Fraction:
        """Return the largest variance in the cell: at its peak slope / 2, or at the nearer end."""
        return self.at(min(max(self.slope / 2, self.left), self.right))

    def area(self) -> Fraction:
        """Return the integral of the variance over the cell."""
        a, b = self.left, self.right
        return self.level * (b - a) + self.slope * (b * b - a * a) / 2 - (b**3 - a**3) / 3
