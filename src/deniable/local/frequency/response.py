"""k-ary randomised response: the item itself with probability p, else one of the k - 1 others, all alike.

A report y supports the item y: the coin of `odds` with one report inside and k - 1 outside. So p is the
largest dyadic at most R / (R + k - 1), false = (1 - p) / (k - 1), and for k = 2 this is Warner's randomised
response: the truth with R / (R + 1), and a lie is never the truth (`randomize` skips the item itself).
Sources: Warner 1965; Kairouz, Bonawitz, Ramage 2016.
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
class Response(Tossed):
    """k-ary randomised response."""

    items: int
    coin: Coin
    name: str = "response"
    width: None = None

    @property
    def false(self) -> Fraction:
        """(1 - p) / (k - 1)."""
        return (1 - self.coin.share) / (self.items - 1)

    @property
    def facts(self) -> dict[str, str]:
        """The threshold."""
        return {"threshold": str(self.coin.threshold)}

    @property
    def outputs(self) -> int:
        """How many different reports there are."""
        return self.items

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of an item's number."""
        return smallest(self.items)

    def randomize(self, items: Items, bits: Bits) -> NDArray[Any]:
        """Return the number of one item for each."""
        out = np.empty(len(items), self.dtype)
        for part in blocks(len(items)):
            own = items[part]
            other = uniform(len(own), self.items - 1, bits)
            other += other >= own
            out[part] = np.where(self.coin.toss(len(own), bits), own, other)
        return out

    def tally(self, payload: NDArray[Any]) -> Counts:
        """Return how often each item is reported."""
        return counted(payload, self.items)

    def supported(self, totals: Counts) -> Counts:
        """Return the totals: a report supports what it names."""
        return totals

    def law(self, item: int) -> dict[Hashable, Fraction]:
        """Return the probability of each report."""
        return {y: self.true if y == item else self.false for y in range(self.items)}


def response(items: int, epsilon: Fraction) -> Response:
    """Return k-ary randomised response that keeps epsilon."""
    return Response(items, coin(epsilon, 1, items - 1))
