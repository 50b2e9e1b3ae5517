"""Hadamard response: one column of a Hadamard matrix, in which the item's row more likely has a 1.

K is the least power of 2 above k; item x has row x + 1 of the K x K matrix H[r, y] = (-1)**(number of ones
in r & y). A report y supports x if H[x + 1, y] = 1: K/2 reports inside, K/2 outside, whatever K is, so k
need not be a power of 2; row 0, all ones, is nobody's.

1. Any two rows agree in K/2 places: half of the reports inside S(x) support x' too, and half of those
   outside. So false = 1/2, and true = p, the largest dyadic at most R / (R + 1).
2. `randomize` draws y uniform. If H[x + 1, y] is not what the coin says, flipping the lowest bit of x + 1
   in y changes the parity of (x + 1) & y; that maps the wrong half onto the right one, one to one.
3. The supports of all items are (n + counts H) / 2: the fast transform, K log2 K additions.
Source: Acharya, Sun, Zhang 2019.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.local.frequency.odds import Coin, Tossed, coin, uniform
from deniable.local.frequency.randomizer import Counts, Items, blocks, counted, smallest


@dataclass(frozen=True)
class Hadamard(Tossed):
    """Hadamard response. order: K."""

    items: int
    coin: Coin
    name: str = "hadamard"
    width: None = None

    @property
    def order(self) -> int:
        """The least power of 2 above the number of items."""
        return 1 << self.items.bit_length()

    @property
    def false(self) -> Fraction:
        """1/2: step 1."""
        return Fraction(1, 2)

    @property
    def facts(self) -> dict[str, str]:
        """The order of the matrix and the threshold."""
        return {"order": str(self.order), "threshold": str(self.coin.threshold)}

    @property
    def outputs(self) -> int:
        """How many different reports there are."""
        return self.order

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of a column's number."""
        return smallest(self.order)

    def randomize(self, items: Items, bits: Bits) -> NDArray[Any]:
        """Return a column for each item (step 2)."""
        out = np.empty(len(items), self.dtype)
        for part in blocks(len(items)):
            row = items[part] + 1
            column = uniform(len(row), self.order, bits)
            odd = (np.bitwise_count(row & column) & 1).astype(np.bool_)
            wrong = odd == self.coin.toss(len(row), bits)
            out[part] = column ^ np.where(wrong, row & -row, 0)
        return out

    def tally(self, payload: NDArray[Any]) -> Counts:
        """Return how often each column is reported."""
        return counted(payload, self.order)

    def supported(self, totals: Counts) -> Counts:
        """Return the supports (step 3)."""
        table, half = totals.copy(), 1
        while half < self.order:
            pairs = table.reshape(-1, 2, half)
            table = np.stack((pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]), axis=1).ravel()
            half *= 2
        supports: Counts = (totals.sum() + table[1 : self.items + 1]) // 2
        return supports

    def law(self, item: int) -> dict[Hashable, Fraction]:
        """Return the probability of each column."""
        half, p = self.order // 2, self.coin.share
        return {y: (1 - p if ((item + 1) & y).bit_count() % 2 else p) / half for y in range(self.order)}


def hadamard(items: int, epsilon: Fraction) -> Hadamard:
    """Return Hadamard response that keeps epsilon."""
    half = (1 << items.bit_length()) // 2
    return Hadamard(items, coin(epsilon, half, half))
