"""Local hashing with linear hash functions: any of 2**m cells can be asked for after one Walsh-Hadamard
transform.

A person's cell is x, m bits. The device draws t rows of m random bits, A, and tells them together with y: A
x over the field of two elements with probability K / 2**32, every other t bits with O / 2**32, K + (2**t -
1) O = 2**32.

Guarantee: A does not depend on x, and given A the odds of two cells differ by at most K / O, held to
e**epsilon in rationals (`fitting`).

Estimate. A report *supports* cell z if A z = y. For z other than x, A z - A x is uniform, so a report
supports z with probability 2**-t exactly; it supports x with K / 2**32 (Wang et al. 2017, local hashing,
with g = 2**t). The number S(z) that support z is the sum over c in {0, 1}**t of 2**-t (-1)**(c . (A z -
y)): each report adds (-1)**(c . y) at place A^T c of a table, for every c but 0, and S(z) = 2**-t (n +
transform(z)). A cell that nobody has is thus supported by a binomial number of reports, n and 2**-t.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.local.coins import ONE, most

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_MOST_ROWS = 6


@dataclass(frozen=True)
class Sketch:
    """cells: m. rows: t. other: O."""

    cells: int
    rows: int
    other: int

    @property
    def own(self) -> int:
        """K: how many of 2**32 words tell the truth."""
        return ONE - ((1 << self.rows) - 1) * self.other

    @property
    def steep(self) -> float:
        """E[transform] / n for a cell that everybody has."""
        return (self.own << self.rows) / ONE - 1

    @property
    def variance(self) -> float:
        """The variance of one report about a cell that nobody has."""
        return ((1 << self.rows) - 1) / self.steep**2

    def answers(self, cells: Ints, bits: Bits) -> NDArray[np.uint32]:
        """Return y, then the rows of A, for each person, `(n, 1 + t) uint32`."""
        n = len(cells)
        rows = bits.uint32(n * self.rows).reshape(n, self.rows) >> np.uint32(32 - self.cells)
        true = np.zeros(n, np.int64)
        for place in range(self.rows):
            product = np.bitwise_count(rows[:, place] & cells.astype(np.uint32)) & np.uint8(1)
            true |= product.astype(np.int64) << place
        words = bits.uint32(n).astype(np.int64)
        lie = np.where(words < self.own, 0, 1 + (words - self.own) // self.other)
        return np.concatenate([(true ^ lie).astype(np.uint32)[:, None], rows], axis=1)

    def table(self, answers: NDArray[np.uint32]) -> Ints:
        """Return what the reports add up to, `(2**m,) int64`."""
        found = np.zeros(1 << self.cells, np.int64)
        for chosen in range(1, 1 << self.rows):
            place = np.zeros(len(answers), np.int64)
            for row in range(self.rows):
                if chosen >> row & 1:
                    place ^= answers[:, 1 + row].astype(np.int64)
            odd = np.bitwise_count(answers[:, 0] & np.uint32(chosen)) & np.uint8(1)
            np.add.at(found, place, 1 - 2 * odd.astype(np.int64))
        return found

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """How likely a report supports the own cell, and any other."""
        return Fraction(self.own, ONE), Fraction(1, 1 << self.rows)

    def supporters(self, transformed: Ints, n: int) -> Ints:
        """Return how many of n reports support each asked cell, from transformed places."""
        return (n + transformed) >> self.rows

    def shares(self, transformed: Ints, n: int) -> tuple[Floats, Floats]:
        """Return the share of each asked cell and its standard error, from transformed places.

        The error is that of people drawn at random; at least that of a cell that nobody has, or everybody.
        """
        n, (own, other) = max(n, 1), self.rates
        supported = np.clip((1 + transformed / n) / (1 << self.rows), float(other), float(own))
        error = np.sqrt(supported * (1 - supported) / n) * (1 << self.rows) / self.steep
        return transformed / n / self.steep, error

    def chance(self, supporters: Ints, n: int, share: float = 0.0) -> Floats:
        """Return how likely so many or more of n reports support a cell that this share has: binomial."""
        from scipy.special import bdtrc

        own, other = (float(rate) for rate in self.rates)
        return np.asarray(bdtrc(supporters - 1.0, n, other + share * (own - other)), np.float64)

    def least(self, level: float, n: int, share: float = 0.0) -> int:
        """Return the least number of supporters whose `chance` is at most `level`; n + 1 if there is none."""
        return int(np.count_nonzero(~(self.chance(np.arange(n + 1), n, share) <= level)))


def fitting(epsilon: Fraction, cells: int) -> Sketch:
    """Return the sketch with the number of rows that gives the least variance; K / O <= e**epsilon."""
    ratio = most(epsilon)
    made = []
    for rows in range(1, min(_MOST_ROWS, 2 * cells) + 1):
        least = ONE / (ratio + (1 << rows) - 1)
        made.append(Sketch(cells, rows, -(-least.numerator // least.denominator)))
    return min(made, key=lambda one: one.variance if one.steep > 0 else np.inf)


def transform(table: Ints) -> Ints:
    """Return the Walsh-Hadamard transform: out[z] = sum of (-1)**(popcount of z & place) table[place]."""
    out, half = table.copy(), 1
    while half < len(out):
        pairs = out.reshape(-1, 2, half)
        upper = pairs[:, 0, :] - pairs[:, 1, :]
        pairs[:, 0, :] += pairs[:, 1, :]
        pairs[:, 1, :] = upper
        half *= 2
    return out


def cells(numbers: Ints, level: int, salt: int, bits: int) -> Ints:
    """Return the cell of each number at a level, by a public hash (multiply and shift, three rounds)."""
    mixed = numbers.astype(np.uint64) + np.uint64((0x9E3779B97F4A7C15 * (level + 1) + salt) % (1 << 64))
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93):
        mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(factor)
    return ((mixed ^ (mixed >> np.uint64(32))) >> np.uint64(64 - bits)).astype(np.int64)
