"""Subset selection: report d of N points, more likely with the item's point among them.

The report is the *set*, named by one number; no order of its members exists that could give the item away.
Two families of sets do the same with different N and size of report; both are 2-designs, which is all that
the estimate needs:

1. In a family in which each point is in equally many sets and each two points are together in equally many, a
   uniform set that holds x holds x' with probability (d - 1) / (N - 1), and a uniform set without x holds x'
   with probability d / (N - 1) [counting pairs]. So with P(the set holds x) = p,
   false = (p (d - 1) + (1 - p) d) / (N - 1), for both families (`_false`).
2. `Listed`: all d-subsets of the k = N items themselves, at most 8,192 sets of 128 items, in lexicographic
   order. Given the coin of `odds` a set is drawn uniformly from those with the item, or those without
   (inside : outside = d : k - d).
3. `Affine`: items are vectors x over a field of q elements, N = q**dimension. A report (u, b), u not 0, is
   the set of all x for which <u, x> + b is one of the first s elements of the field. u is uniform whatever
   x is; given u, b = v - <u, x> with v uniform among the first s (coin: inside) or the others (outside): so
   d = s N/q and inside : outside = s : q - s.
4. It is a 2-design: b uniform makes each point be in s of q sets for each u; for x other than x' the pair
   (<u, x> + b, <u, x'> + b) over all (u, b) takes every two different values equally often, and equal values
   equally often.
5. The server adds up, per u, the counts of all b that put an inner product w into the set: E[u, w] = the
   sum of counts[u, v - w] over the first s elements v. Folded over multiples (`hashing.folded`), all
   supports are `planes.point_sums`. Where that takes too many cells, dimension is 1 and s small: a report
   is then counted for each of the s points x = (v - b) / u that it supports.

So a report takes log2 of q**(dimension + 1) bits where a list of d of k items takes thousands, at the
variance of subset selection on N points; `subset` takes the family and size with the least variance.
Sources: Wang et al. 2016; Ye, Barg 2018; Feldman, Talwar 2021 (affine maps); Park, Nam, Lee 2023 (designs).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.local.frequency.fields import Prime, field
from deniable.local.frequency.hashing import folded
from deniable.local.frequency.odds import Coin, Tossed, coin, largest_ratio, uniform
from deniable.local.frequency.planes import point_sums
from deniable.local.frequency.randomizer import (
    MOST_CELLS,
    Counts,
    Items,
    blocks,
    counted,
    smallest,
    strange,
    total_variance,
)
from deniable.local.frequency.sizes import above, root
from deniable.local.frequency.spaces import Space

_LISTED = 1 << 13
_LISTABLE = 128
_FEW = 32
_FIELDS = 4


def _false(p: Fraction, size: int, points: int) -> Fraction:
    """Return P(the set holds another point), by step 1."""
    return (p * (size - 1) + (1 - p) * size) / (points - 1)


@dataclass(frozen=True)
class Listed(Tossed):
    """All subsets of `size` of the items themselves."""

    items: int
    size: int
    coin: Coin
    name: str = "subset"
    width: None = None

    @property
    def false(self) -> Fraction:
        """By step 1."""
        return _false(self.coin.share, self.size, self.items)

    @property
    def facts(self) -> dict[str, str]:
        """The size of the sets and the threshold."""
        return {"size": str(self.size), "threshold": str(self.coin.threshold)}

    @property
    def outputs(self) -> int:
        """How many different reports there are."""
        return comb(self.items, self.size)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of a set's number."""
        return smallest(comb(self.items, self.size))

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """Which set holds which item, `(sets, items)`."""
        held = np.zeros((comb(self.items, self.size), self.items), np.bool_)
        for place, chosen in enumerate(combinations(range(self.items), self.size)):
            held[place, list(chosen)] = True
        return held

    @cached_property
    def _sets(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of the sets with each item, and of those without it, `(items, sets)`."""
        holds = [np.flatnonzero(column) for column in self.members.T]
        lacks = [np.flatnonzero(~column) for column in self.members.T]
        return np.array(holds), np.array(lacks)

    def randomize(self, items: Items, bits: Bits) -> NDArray[Any]:
        """Return a set for each item (step 2)."""
        holds, lacks = self._sets
        out = np.empty(len(items), self.dtype)
        for part in blocks(len(items)):
            own = items[part]
            inside = holds[own, uniform(len(own), holds.shape[1], bits)]
            outside = lacks[own, uniform(len(own), lacks.shape[1], bits)]
            out[part] = np.where(self.coin.toss(len(own), bits), inside, outside)
        return out

    def tally(self, payload: NDArray[Any]) -> Counts:
        """Return how often each set is reported."""
        return counted(payload, len(self.members))

    def supported(self, totals: Counts) -> Counts:
        """Return how many reported sets hold each item."""
        supports: Counts = totals @ self.members.astype(np.int64)
        return supports

    def law(self, item: int) -> dict[Hashable, Fraction]:
        """Return the probability of every set."""
        holds, lacks = self._sets
        p = self.coin.share
        inside: dict[Hashable, Fraction] = {int(y): p / holds.shape[1] for y in holds[item]}
        return inside | {int(y): (1 - p) / lacks.shape[1] for y in lacks[item]}


@dataclass(frozen=True)
class Affine(Tossed):
    """The sets of step 3. size: s."""

    items: int
    space: Space
    size: int
    coin: Coin
    name: str = "subset"
    width: None = None

    @property
    def false(self) -> Fraction:
        """By step 1, for q**dimension points."""
        points = self.space.size
        return _false(self.coin.share, self.size * points // self.space.field.q, points)

    @property
    def facts(self) -> dict[str, str]:
        """The field, the dimension, s and the threshold."""
        return {
            "dimension": str(self.space.dimension),
            "field": str(self.space.field.q),
            "size": str(self.size),
            "threshold": str(self.coin.threshold),
        }

    @property
    def cells(self) -> int:
        """One more than the largest report; the report (u, b) is the number u * q + b."""
        return self.space.size * self.space.field.q

    @property
    def outputs(self) -> int:
        """How many different reports there are."""
        return (self.space.size - 1) * self.space.field.q

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of a report's number."""
        return smallest(self.cells)

    def randomize(self, items: Items, bits: Bits) -> NDArray[Any]:
        """Return (u, b) for each item (step 3)."""
        q = self.space.field.q
        out = np.empty(len(items), self.dtype)
        for part in blocks(len(items)):
            own = items[part]
            u = uniform(len(own), self.space.size - 1, bits) + 1
            first, other = uniform(len(own), self.size, bits), uniform(len(own), q - self.size, bits)
            v = np.where(self.coin.toss(len(own), bits), first, other + self.size)
            out[part] = u * q + self.space.field.subtract(v, self.space.inner(u, own))
        return out

    def tally(self, payload: NDArray[Any]) -> Counts:
        """Return how often each report occurs; how often each point is supported if there are too many."""
        if self.cells <= MOST_CELLS:
            return counted(payload, self.cells, least=self.space.field.q)
        if len(payload) and not self.space.field.q <= int(payload.min()) <= int(payload.max()) < self.cells:
            raise strange()
        total = np.zeros(self.space.size, np.int64)
        for part in blocks(len(payload)):
            total += self._points(payload[part].astype(np.int64))
        return total

    def _points(self, reports: NDArray[np.int64]) -> Counts:
        q = self.space.field.q
        u = reports // q
        b, inverse = reports - u * q, self.space.field.inverses.take(u)
        total = np.zeros(q, np.int64)
        for v in range(self.size):
            x = self.space.field.multiply(self.space.field.subtract(v, b), inverse)
            total += np.bincount(x, minlength=q)
        return total

    def supported(self, totals: Counts) -> Counts:
        """Return the supports (step 5)."""
        if self.cells > MOST_CELLS:
            return totals[: self.items]
        windows = self._windows(totals.reshape(self.space.size, self.space.field.q))
        return point_sums(self.space, folded(self.space, windows))[: self.items]

    def _windows(self, counts: Counts) -> Counts:
        """Return E[u, w]: for a prime field a difference of running sums, as s neighbours are added."""
        q = self.space.field.q
        w = np.arange(q)
        if not isinstance(self.space.field, Prime):
            total = np.zeros_like(counts)
            for v in range(self.size):
                total += counts[:, self.space.field.subtract(v, w)]
            return total
        running = np.zeros((len(counts), q + self.size), np.int64)
        np.cumsum(counts, axis=1, out=running[:, 1 : q + 1])
        running[:, q + 1 :] = running[:, q : q + 1] + running[:, 1 : self.size]
        start = -w % q
        sums: Counts = running[:, start + self.size] - running[:, start]
        return sums

    def law(self, item: int) -> dict[Hashable, Fraction]:
        """Return the probability of every report."""
        q, p = self.space.field.q, self.coin.share
        u = np.repeat(np.arange(1, self.space.size), q)
        b = np.tile(np.arange(q), self.space.size - 1)
        held = self.space.field.add(self.space.inner(u, np.full(len(u), item)), b) < self.size
        inside, outside = p / self.size, (1 - p) / (q - self.size)
        each = Fraction(1, self.space.size - 1)
        return {
            int(report): each * (inside if yes else outside)
            for report, yes in zip(u * q + b, held, strict=True)
        }


def subset(items: int, epsilon: Fraction) -> Listed | Affine:
    """Return the subset selection that keeps epsilon with the least variance; if equal, the smaller one."""
    found: list[Listed | Affine] = [*_listed(items, epsilon), *_affine(items, epsilon)]
    return min(found, key=lambda one: (total_variance(one), one.dtype.itemsize))


def _listed(items: int, epsilon: Fraction) -> Iterator[Listed]:
    for size in _sizes(items, epsilon) if items <= _LISTABLE else ():
        if comb(items, size) <= _LISTED:
            yield Listed(items, size, coin(epsilon, size, items - size))


def _affine(items: int, epsilon: Fraction) -> Iterator[Affine]:
    for dimension in range(1, items.bit_length() + 1):
        for q in islice(above(root(items, dimension)), _FIELDS):
            fits = q ** (dimension + 1) <= MOST_CELLS
            for size in _sizes(q, epsilon):
                if fits or (dimension == 1 and size <= _FEW):
                    yield Affine(items, Space(field(q), dimension), size, coin(epsilon, size, q - size))


def _sizes(points: int, epsilon: Fraction) -> list[int]:
    """Return the two sizes around points / (R + 1), the best real one for many points."""
    best = int(points / (largest_ratio(epsilon) + 1))
    return sorted({min(max(size, 1), points - 1) for size in (best, best + 1)})
