"""Vectors in [-1, 1]**d by sampling: each person reports k of the d entries, each with epsilon/k.

The guarantee: for any two v, w and any report r, P(r | v) <= e**epsilon P(r | w).
1. Which k entries, is drawn without looking at v (`_chosen`): every set is equally likely.
2. Given the set, each of its entries is drawn from the law of a mean mechanism whose table keeps epsilon/k
   (`Table.check`, exact). Independent draws multiply, so the product keeps epsilon; the average over sets of
   laws that keep epsilon keeps it too.

The estimate of entry j averages the outputs of those who reported on j: unbiased, since who did does not
depend on values. As a vector for each person (`decoded`), an output counts d/k times and the other entries
are 0: unbiased too, with the variance (d/k) S(v_j) - v_j**2, S = the second moment of an output.

Which k: the one with the least error at worst, the largest (d/k) S(v) - v**2 over v, exactly. For k far below
d that is min x (L(x) + v**2) at x = epsilon/k for the worst v, L the variance of an output. (`k="wang"` is
floor(epsilon / 2.5), at least 1, as published for the piecewise mechanism.)

Which mean mechanism: Duchi's has the least max S of all. With t = (e**x - 1) / (e**x + 1) the laws p, q at 1
and -1 have |p - q| <= t (p + q), so 2 = sum of y (p - q) <= t (E_p |y| + E_q |y|) <= 2 t sqrt(max S), both
ends included: max S is at least 1/t**2 at 1 or -1, which is Duchi's for every v. So another mechanism is
better by less than 1 in each entry, at worst. "optimal" has the least max L instead: better where k is near
d, and where entries are small or alike (by up to 17 % at epsilon 1).
Harmony is k = 1 with Duchi's mechanism for one number.
Source: Nguyen et al. 2016 (Harmony); Wang et al. 2019, Algorithm 4 (sampling).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.errors import ParameterError, ReportError
from deniable.exact import text
from deniable.local.mean import selecting
from deniable.local.mean.intervals import hull
from deniable.local.mean.laws import Cell, Law
from deniable.local.vector.scheme import Reals

_LISTED = 1 << 16
_CELLS = 1 << 22
_FINE = 1 << 20
_TARGET = Fraction(11, 5)
_WANG = Fraction(5, 2)


@dataclass(frozen=True, slots=True)
class Attributes:
    """Sampling of k entries, each by one law, as `Scheme` says. Payload: k entry numbers, then k outputs."""

    dimension: int
    k: int
    mean: str
    law: Law
    name: str = "sampling"

    @property
    def facts(self) -> Mapping[str, str]:
        """Return k and the mean mechanism."""
        return {"k": str(self.k), "mean": self.mean}

    @property
    def table(self) -> str:
        """The digest of the law."""
        return self.law.digest

    @property
    def dtype(self) -> Any:
        """One byte where that is enough."""
        return np.uint8 if max(self.dimension, self.law.drawn.outputs) <= 256 else np.uint16

    @property
    def width(self) -> int:
        """Two numbers for each entry that is reported."""
        return 2 * self.k

    @property
    def unit(self) -> float:
        """The unit of the law's values."""
        return float(self.law.unit)

    @property
    def square_unit(self) -> float:
        """The largest squared value, over 2**20."""
        return (self.unit * max(map(abs, self.law.values))) ** 2 / _FINE

    @property
    def spread(self) -> float:
        """The largest second moment of an output."""
        return float(largest_square(self.law))

    def seconds(self, mean: Reals) -> tuple[Reals, Reals]:
        """Return the greatest convex function below the second moment (Jensen), and itself."""
        v = np.array(self.law.points, np.float64)
        square = np.array([float(self.law.square(place)) for place in range(self.law.inputs)])
        below = hull(v, -square)
        return np.interp(mean, v[below], square[below]), np.interp(mean, v, square)

    @property
    def jump(self) -> float:
        """From the least output to the largest."""
        return self.unit * (max(self.law.values) - min(self.law.values))

    @property
    def largest(self) -> float:
        """The worst error of a decoded report, d times that of its worst entry."""
        return float(self.dimension * _worst(self.law, Fraction(self.dimension, self.k)))

    @property
    def described(self) -> str:
        """What a report is."""
        entries = "entry" if self.k == 1 else "entries"
        return (
            f"A report is about {self.k:,} {entries} of {self.dimension:,}, drawn at random, each randomised "
            f"by the mean mechanism {self.mean!r} with an equal part of epsilon."
        )

    def payload(self, vectors: Reals, bits: Bits) -> NDArray[Any]:
        """Return the entries that each vector's report is about, and the outputs."""
        places = _chosen(len(vectors), self.dimension, self.k, bits)
        entries = np.take_along_axis(vectors, places, axis=1).ravel()
        drawn = self.law.drawn.sample(self.law.rows(entries, bits), bits).reshape(places.shape)
        return np.concatenate([places.astype(self.dtype), drawn.astype(self.dtype)], axis=1)

    def decoded(self, payload: NDArray[Any]) -> Reals:
        """Return d/k times each output in its place, 0 elsewhere."""
        places, outputs = self._parts(payload)
        found = np.zeros((len(payload), self.dimension))
        worth = np.array(self.law.values, np.float64) * (self.unit * self.dimension / self.k)
        np.put_along_axis(found, places, worth[outputs], axis=1)
        return found

    def totals(self, payload: NDArray[Any]) -> NDArray[np.int64]:
        """Return count, sum and (rounded, in `square_unit`) sum of squares of each entry."""
        places, outputs = (part.ravel() for part in self._parts(payload))
        values = np.array(self.law.values, np.int64)
        squares = np.rint((values * self.unit) ** 2 / self.square_unit).astype(np.int64)
        rows = np.stack([np.ones_like(values), values, squares])
        wide = self.law.drawn.outputs
        if self.dimension * wide <= _CELLS:
            seen = np.bincount(places * wide + outputs, minlength=self.dimension * wide)
            return rows @ seen.reshape(self.dimension, wide).T
        found = np.zeros((3, self.dimension), np.int64)
        for row, total in zip(rows, found, strict=True):
            np.add.at(total, places, row[outputs])
        return found

    def variance_at(self, vector: Reals) -> Reals:
        """Return (d/k) S(v_j) - v_j**2."""
        squares = [float(self.law.square(place)) for place in range(self.law.inputs)]
        second = np.interp(vector, self.law.points, squares)
        variance: Reals = second * (self.dimension / self.k) - vector**2
        return variance

    def probabilities(self, vector: Reals) -> Mapping[tuple[int, ...], Fraction]:
        """Return the law of the payload, where it has at most 65,536 outputs.

        Raises:  ParameterError: it has more.
        """
        sets = comb(self.dimension, self.k)
        if sets * self.law.drawn.outputs**self.k > _LISTED:
            raise ParameterError("dimension", self.dimension, "is too large to list", "Take a smaller one.")
        laws = [_mixed(self.law, Fraction(float(entry))) for entry in vector]
        return {
            (*places, *outputs): prod(
                (laws[place][output] for place, output in zip(places, outputs, strict=True)),
                start=Fraction(1, sets),
            )
            for places in combinations(range(self.dimension), self.k)
            for outputs in product(range(self.law.drawn.outputs), repeat=self.k)
        }

    def _parts(self, payload: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return entry numbers and outputs; refuse what no device sends."""
        whole = payload.astype(np.int64)
        places, outputs = whole[:, : self.k], whole[:, self.k :]
        if len(whole) and not (places.max() < self.dimension and outputs.max() < self.law.drawn.outputs):
            raise ReportError("Some report is none that a device of this protocol sends.", differs="report")
        return places, outputs


def chosen(epsilon: Fraction, dimension: int, k: object, mean: str) -> Attributes:
    """Return sampling with this k; the best one if it is None.

    Raises:  ParameterError: k is no whole number from 1 to the dimension, "wang" or None; mean is unknown.
    """
    if k is None:
        k = _best(epsilon, dimension, mean)
    elif k == "wang":
        k = max(1, min(dimension, int(epsilon / _WANG)))
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= dimension:
        fix = f'Give a whole number from 1 to {dimension:,}, "wang", or leave it out.'
        raise ParameterError("k", k, "is no number of entries", fix)
    return Attributes(dimension, k, mean, law_of(mean, epsilon / k))


def harmony(epsilon: Fraction, dimension: int) -> Attributes:
    """Return Harmony: one entry, one bit."""
    return Attributes(dimension, 1, "duchi", law_of("duchi", epsilon), "harmony")


def largest_square(law: Law) -> Fraction:
    """Return the largest second moment of an output over values in [-1, 1], exactly."""
    return max(cell.level + cell.slope * end for cell in law.cells() for end in (cell.left, cell.right))


def _worst(law: Law, times: Fraction) -> Fraction:
    """Return the largest value of times * S(v) - v**2, exactly."""
    cells = (Cell(cell.left, cell.right, times * cell.level, times * cell.slope) for cell in law.cells())
    return max(cell.highest() for cell in cells)


@lru_cache(maxsize=16)
def _best(epsilon: Fraction, dimension: int, mean: str) -> int:
    """Return the k with the least error at worst. It falls, then rises: downhill from 2.2 a part."""

    def cost(k: int) -> Fraction:
        return _worst(law_of(mean, epsilon / k), Fraction(dimension, k))

    k = max(1, min(dimension, int(epsilon / _TARGET)))
    while k < dimension and cost(k + 1) < cost(k):
        k += 1
    while k > 1 and cost(k - 1) < cost(k):
        k -= 1
    return k


def _chosen(n: int, d: int, k: int, bits: Bits) -> NDArray[np.int64]:
    """Return k different numbers below d for each of n people, rising; all sets equally likely (Floyd)."""
    found = np.empty((n, k), np.int64)
    for place, top in enumerate(range(d - k, d)):
        drawn = _below(top + 1, n, bits)
        taken = (found[:, :place] == drawn[:, None]).any(axis=1)
        found[:, place] = np.where(taken, top, drawn)
    return np.sort(found, axis=1)


def _below(count: int, n: int, bits: Bits) -> NDArray[np.int64]:
    """Return n numbers, uniform from 0 to count - 1: 32-bit words beyond the last multiple are drawn anew."""
    limit = (1 << 32) // count * count
    words = bits.uint32(n).astype(np.int64)
    again = np.flatnonzero(words >= limit)
    while len(again):
        words[again] = bits.uint32(len(again))
        again = again[words[again] >= limit]
    return words % count


def _mixed(law: Law, v: Fraction) -> list[Fraction]:
    """Return the law of the output for a value: two rows, mixed."""
    place = max(0, min(int(np.searchsorted(law.points, float(v), side="right")) - 1, law.inputs - 2))
    left, right = law.point(place), law.point(place + 1)
    upper = min(max((v - left) / (right - left), Fraction(0)), Fraction(1))
    low, high = law.drawn.row(place), law.drawn.row(place + 1)
    total = 1 << law.drawn.bits
    return [((1 - upper) * a + upper * b) / total for a, b in zip(low, high, strict=True)]


@lru_cache(maxsize=32)
def law_of(mean: str, epsilon: Fraction) -> Law:
    """Return the law of `dn.local.Mean` on [-1, 1] with this mechanism and epsilon.

    Raises:  ParameterError: there is no such mechanism, or it has no table.
    """
    name = selecting.named(mean)
    if name == "laplace":
        fix = 'Use another mechanism, such as "optimal".'
        raise ParameterError("mean", mean, "has no table of outputs", fix)
    if not epsilon >= selecting.LEAST:
        raise ParameterError("epsilon", text(epsilon), "is too small for an entry", "Give at least 1e-6.")
    return selecting.law_of(name, epsilon, None)
