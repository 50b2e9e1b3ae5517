"""Optimised local hashing: hash the item to one of g groups with a function of the report's own, and answer
the group by g-ary randomised response.

Items are vectors x over a field of g elements (`spaces`); the functions are x -> <u, x>, u uniform over all
vectors, reported in full. A report (u, y) supports the items that u hashes to y.

1. u is drawn without looking at x; given u the report is the coin of `odds` with 1 of g answers inside. So
   the ratio is that of the coin.
2. For x other than x', <u, x - x'> is uniform over the field: exactly one in g functions makes the two meet.
   (Functions from a general hash family would only make this nearly so, and the estimate nearly unbiased.)
   So false = p / g + (1 - 1/g) (1 - p) / (g - 1) = 1 / g.
3. The server counts reports in g * g**dimension cells. Reports with u = c u' (u' the name of a line,
   `spaces`) and y support what (u', y / c) supports: folded so, the supports of all items are
   `planes.point_sums`, in a time that does not depend on the number of reports. u = 0 supports every item
   if y = 0, else none.

g is the size of a field near R + 1 with the least variance, among primes and powers of 2 for which the cells
fit: that keeps g to a few hundred at 10,000 items, so beyond epsilon 6 other protocols are better.
Source: Wang, Blocki, Li, Jha 2017 (the protocol).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.local.frequency.fields import field
from deniable.local.frequency.odds import Coin, Tossed, coin, largest_ratio, uniform
from deniable.local.frequency.planes import point_sums
from deniable.local.frequency.randomizer import (
    MOST_CELLS,
    Counts,
    Items,
    blocks,
    counted,
    smallest,
    total_variance,
)
from deniable.local.frequency.sizes import dimensions, near
from deniable.local.frequency.spaces import Space


@dataclass(frozen=True)
class Hashing(Tossed):
    """Local hashing into as many groups as the field of the space has elements."""

    items: int
    space: Space
    coin: Coin
    name: str = "olh"
    width: None = None

    @property
    def groups(self) -> int:
        """g."""
        return self.space.field.q

    @property
    def false(self) -> Fraction:
        """1 / g: step 2."""
        return Fraction(1, self.groups)

    @property
    def facts(self) -> dict[str, str]:
        """The field, the dimension and the threshold."""
        return {
            "dimension": str(self.space.dimension),
            "field": str(self.groups),
            "threshold": str(self.coin.threshold),
        }

    @cached_property
    def cells(self) -> int:
        """How many different reports there are; the report (u, y) is the number u * g + y."""
        return self.space.size * self.groups

    @property
    def outputs(self) -> int:
        """How many different reports there are."""
        return self.cells

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of a cell's number."""
        return smallest(self.cells)

    def randomize(self, items: Items, bits: Bits) -> NDArray[Any]:
        """Return a function and an answer for each item."""
        out = np.empty(len(items), self.dtype)
        for part in blocks(len(items)):
            own = items[part]
            function = uniform(len(own), self.space.size, bits)
            group = self.space.inner(function, own)
            other = uniform(len(own), self.groups - 1, bits)
            other += other >= group
            out[part] = function * self.groups + np.where(self.coin.toss(len(own), bits), group, other)
        return out

    def tally(self, payload: NDArray[Any]) -> Counts:
        """Return how often each cell is reported."""
        return counted(payload, self.cells)

    def supported(self, totals: Counts) -> Counts:
        """Return the supports (step 3)."""
        counts = totals.reshape(self.space.size, self.groups)
        sums = point_sums(self.space, folded(self.space, counts)) + counts[0, 0]
        supports: Counts = sums[: self.items]
        return supports

    def law(self, item: int) -> dict[Hashable, Fraction]:
        """Return the probability of every cell."""
        law: dict[Hashable, Fraction] = {}
        functions = np.arange(self.space.size)
        hashed = self.space.inner(functions, np.full(self.space.size, item)).tolist()
        true, lie = self.coin.share, (1 - self.coin.share) / (self.groups - 1)
        for u, group in enumerate(hashed):
            for y in range(self.groups):
                law[u * self.groups + y] = (true if y == group else lie) / self.space.size
        return law


def folded(space: Space, counts: Counts) -> Counts:
    """Return counts of (u, v) added up over the multiples (c u, c v), c not 0: `(lines, q)`; u = 0 is left
    out.

    counts: `(size, q)`, for all vectors u.
    """
    total = np.zeros((space.lines, space.field.q), np.int64)
    elements = np.arange(space.field.q)
    for factor in range(1, space.field.q):
        rows = space.scaled(np.array([factor]), space.named)
        total += counts[rows[:, None], space.field.multiply(factor, elements)]
    return total


def hashing(items: int, epsilon: Fraction) -> Hashing | None:
    """Return local hashing that keeps epsilon, with the best number of groups; None if no size fits."""
    wanted = int(largest_ratio(epsilon)) + 1
    found = [
        Hashing(items, Space(field(q), dimension), coin(epsilon, 1, q - 1))
        for q in near(min(wanted, 256))
        for dimension in dimensions(items, q)
        if q ** (dimension + 1) <= MOST_CELLS
    ]
    return min(found, key=total_variance, default=None)
