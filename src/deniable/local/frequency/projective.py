"""Projective geometry response: items and reports are both points of a projective space; a report supports
the items that are orthogonal to it.

The points are the lines through 0 of a space over a field of q elements (`spaces`): K of them, at least as
many as items; of these B are orthogonal to a given point, whatever it is, and to two points together (B -
1) / q.

1. A report is the coin of `odds` with B points inside and K - B outside: its ratio is that of the coin.
2. Points are symmetric, so a uniform point orthogonal to x is orthogonal to x' with probability r / B, and
   one not orthogonal to x with probability (B - r) / (K - B), r = (B - 1) / q: false = p r / B + (1 - p) (B
   - r) / (K - B).
3. `randomize`: the vector x that names the item's point has the digit 1 at its leading place i. All other
   digits of y are drawn uniformly; digit i is set so that <x, y> is 0 (inside: then not all drawn digits
   may be 0) or 1 (outside). Each orthogonal line is then met by q - 1 of its vectors, each other line by
   exactly one. So both are uniform; the report is the number of y's line.
4. The server counts reports by point. Number them as pairs (u, v): y = q * u + v, u naming a line of one
   dimension less, v the last digit, and the point 1 apart. x = q * z + w with w other than 0 is orthogonal
   to (u, v) if v = <u, z'>, z' = -z / w: `planes.point_sums`, for all x at once. If w = 0 it is orthogonal
   if <u, z> = 0, and to the point 1: the same question in one dimension less. The point 1 is orthogonal to
   those with v = 0.

A report takes log2 K bits, hardly more than the item itself. q is the size that has the least variance
among primes and powers of 2 near R + 1, with a bound on the server's work.
Source: Feldman, Nelson, Nguyen, Talwar 2022.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.local.frequency.fields import Elements, field
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
from deniable.local.frequency.sizes import above, near
from deniable.local.frequency.spaces import Space

_WORK = 1 << 28


@dataclass(frozen=True)
class Projective(Tossed):
    """Projective geometry response; the space has at least two dimensions."""

    items: int
    space: Space
    coin: Coin
    name: str = "projective"
    width: None = None

    @property
    def false(self) -> Fraction:
        """By step 2."""
        both = (self.coin.inside - 1) // self.space.field.q
        inside = Fraction(both, self.coin.inside)
        outside = Fraction(self.coin.inside - both, self.coin.outside)
        return self.coin.share * inside + (1 - self.coin.share) * outside

    @property
    def facts(self) -> dict[str, str]:
        """The field, the dimension and the threshold."""
        return {
            "dimension": str(self.space.dimension),
            "field": str(self.space.field.q),
            "threshold": str(self.coin.threshold),
        }

    @property
    def outputs(self) -> int:
        """How many different reports there are."""
        return self.space.lines

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of a point's number."""
        return smallest(self.space.lines)

    @cached_property
    def _leading(self) -> NDArray[np.int64]:
        """q to the power of the leading place of each item's vector."""
        places = [self.space.field.q**j for j in range(self.space.dimension)]
        found: NDArray[np.int64] = np.repeat(places, places)[: self.items]
        return found

    def randomize(self, items: Items, bits: Bits) -> NDArray[Any]:
        """Return a point for each item (step 3)."""
        out = np.empty(len(items), self.dtype)
        free = self.space.size // self.space.field.q
        for part in blocks(len(items)):
            own = items[part]
            inside, outside = uniform(len(own), free - 1, bits) + 1, uniform(len(own), free, bits)
            toss = self.coin.toss(len(own), bits)
            out[part] = self._point(own, np.where(toss, inside, outside), np.where(toss, 0, 1))
        return out

    def _point(self, items: Items, drawn: NDArray[np.int64], product: Elements) -> NDArray[np.int64]:
        """Return the line of the y with this inner product whose other digits are those that were drawn."""
        x, power = self.space.named.take(items), self._leading.take(items)
        y = drawn + drawn // power * power * (self.space.field.q - 1)  # digit i is now 0
        missing = self.space.field.subtract(product, self.space.inner(x, y))
        return self.space.line(y + missing * power)

    def tally(self, payload: NDArray[Any]) -> Counts:
        """Return how often each point is reported."""
        return counted(payload, self.space.lines)

    def supported(self, totals: Counts) -> Counts:
        """Return the supports (step 4)."""
        return orthogonal(self.space, totals)[: self.items]

    def law(self, item: int) -> dict[Hashable, Fraction]:
        """Return the probability of every point."""
        products = self.space.inner(np.full(self.space.lines, self.space.named[item]), self.space.named)
        p = self.coin.share
        return {
            y: (1 - p) / self.coin.outside if product else p / self.coin.inside
            for y, product in enumerate(products.tolist())
        }


def orthogonal(space: Space, counts: Counts) -> Counts:
    """Return for each point the sum of the counts of the points orthogonal to it (step 4)."""
    if space.dimension == 1:
        return np.zeros(1, np.int64)
    q, less = space.field.q, Space(space.field, space.dimension - 1)
    pairs = counts[1:].reshape(less.lines, q)
    result = np.empty_like(pairs)
    result[:, 0] = counts[0] + orthogonal(less, pairs.sum(axis=1))
    sums = point_sums(less, pairs)
    factors = space.field.subtract(np.zeros(q, np.int64), space.field.inverses)
    for w in range(1, q):
        result[:, w] = sums[less.scaled(factors[w : w + 1], less.named)]
    return np.concatenate(([pairs[:, 0].sum()], result.ravel()))


def projective(items: int, epsilon: Fraction) -> Projective | None:
    """Return projective geometry response that keeps epsilon, on the best plane; None if no size fits."""
    wanted = int(largest_ratio(min(epsilon, Fraction(8)))) + 1
    tried = [*near(min(wanted, items)), *islice(above(items - 1), 1)]
    found = [_on(items, Space(field(q), dimension), epsilon) for q in tried for dimension in _least(items, q)]
    return min(found, key=total_variance, default=None)


def _on(items: int, space: Space, epsilon: Fraction) -> Projective:
    inside = Space(space.field, space.dimension - 1).lines
    return Projective(items, space, coin(epsilon, inside, space.lines - inside))


def _least(items: int, q: int) -> list[int]:
    """Return the least dimension from 2 with so many points, if it takes a server no more than `_WORK`."""
    dimension = 2
    while (q**dimension - 1) // (q - 1) < items:
        dimension += 1
    fits = q**dimension <= q * MOST_CELLS and (dimension - 2) * q**dimension <= max(_WORK, 256 * items)
    return [dimension] if fits else []
