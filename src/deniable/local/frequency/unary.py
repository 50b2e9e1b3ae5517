"""Unary encoding: one bit an item, each flipped for itself. The bit of the person's item is 1 with
probability a, every other bit with probability b.

1. Between items x and x' a report differs in two bits. Its probability changes at most by
   a (1 - b) / (b (1 - a)) (`Unary.ratio`), reached where bit x is 1 and bit x' is 0.
2. *Symmetric* (`sue`): a is the largest dyadic at most h / (h + 1), h <= sqrt(R) a rational, and b = 1 - a;
   the ratio is (a / (1 - a))**2 <= h**2 <= R. *Optimised* (`oue`): a = 1/2 and b the least dyadic at least
   1 / (R + 1); the ratio is (1 - b) / b <= R. `Unary.__post_init__` checks the ratio again, in rationals.
3. a and b are integers over 2**64. All bits are drawn with b; then the one of the item is drawn anew with a.
4. `biased` compares 64 words' worth of random numbers with b at once, one binary digit of all of them at a
   time, from the top: the first digit in which a number differs from b decides. Hardly any are open after
   `_DENSE` digits; only their words go on. What is left open at the end equals b, and is not below it.

Bit i of a report is bit i % 8 of byte i // 8; the bits above the last item are 0.
Sources: Erlingsson, Pihur, Korolova 2014; Wang, Blocki, Li, Jha 2017.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.brackets import square_root
from deniable.errors import ParameterError
from deniable.local.frequency.odds import WORD, largest_ratio
from deniable.local.frequency.randomizer import Counts, Items, blocks, strange

_DENSE = 11
_WORDS = 1 << 14
_STACK = 255


@dataclass(frozen=True)
class Unary:
    """Unary encoding. own, others: the integers a and b of step 3.

    Raises:  ParameterError: the ratio is above `most`.
    """

    name: str
    items: int
    own: int
    others: int
    most: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.others < self.own < WORD or not self.ratio <= self.most:
            raise ParameterError("thresholds", None, "do not keep epsilon", "Use `symmetric` or `optimised`.")

    @property
    def true(self) -> Fraction:
        """a."""
        return Fraction(self.own, WORD)

    @property
    def false(self) -> Fraction:
        """b."""
        return Fraction(self.others, WORD)

    @property
    def ratio(self) -> Fraction:
        """a (1 - b) / (b (1 - a))."""
        return Fraction(self.own * (WORD - self.others), self.others * (WORD - self.own))

    @property
    def facts(self) -> dict[str, str]:
        """The thresholds."""
        return {"others": str(self.others), "own": str(self.own)}

    @property
    def outputs(self) -> int:
        """How many different reports there are."""
        return 1 << self.items

    @property
    def dtype(self) -> np.dtype[Any]:
        """Bytes."""
        return np.dtype(np.uint8)

    @property
    def width(self) -> int:
        """Bytes of a report."""
        return -(-self.items // 8)

    def randomize(self, items: Items, bits: Bits) -> NDArray[Any]:
        """Return the bits for each item, packed, `(n, width)`."""
        out = np.empty((len(items), self.width), np.uint8)
        for part in blocks(len(items), max(1, 8 * _WORDS // self.width)):
            out[part] = self._encoded(items[part], bits)
        return out

    def _encoded(self, items: Items, bits: Bits) -> NDArray[np.uint8]:
        rows = biased(len(items) * self.width, self.others, bits).reshape(len(items), self.width)
        if self.items % 8:
            rows[:, -1] &= (1 << self.items % 8) - 1
        own = bits.uint64(len(items)) < np.uint64(self.own)
        flat = rows.reshape(-1)
        place, bit = np.arange(len(items)) * self.width + (items >> 3), (items & 7).astype(np.uint8)
        flat[place] = flat[place] & ~(np.uint8(1) << bit) | own.astype(np.uint8) << bit
        return rows

    def tally(self, payload: NDArray[Any]) -> Counts:
        """Return how often each bit is 1."""
        if self.items % 8 and (payload[:, -1] >> np.uint8(self.items % 8)).any():
            raise strange()
        total = np.zeros((8, self.width), np.int64)
        for part in blocks(len(payload), _STACK * max(1, 4096 // self.width)):
            total += _ones(payload[part])
        return total.T.ravel()[: self.items]

    def supported(self, totals: Counts) -> Counts:
        """Return the totals: a report supports the items whose bits are 1."""
        return totals

    def law(self, item: int) -> dict[Hashable, Fraction]:
        """Return the probability of every packed report, as a tuple of its bytes."""
        law: dict[Hashable, Fraction] = {}
        for report in product((0, 1), repeat=self.items):
            ones = [self.true if place == item else self.false for place in range(self.items)]
            packed = np.packbits(report, bitorder="little").tolist()
            law[tuple(packed)] = prod(
                (p if bit else 1 - p for p, bit in zip(ones, report, strict=True)), start=Fraction(1)
            )
        return law


def symmetric(items: int, epsilon: Fraction) -> Unary:
    """Return symmetric unary encoding that keeps epsilon (step 2)."""
    most = largest_ratio(epsilon)
    root = square_root(most)[0]
    own = min(int(WORD * root / (root + 1)), WORD - 1)
    return Unary("sue", items, own, WORD - own, most)


def optimised(items: int, epsilon: Fraction) -> Unary:
    """Return optimised unary encoding that keeps epsilon (step 2)."""
    most = largest_ratio(epsilon)
    return Unary("oue", items, WORD // 2, ceil(WORD / (most + 1)), most)


def biased(octets: int, threshold: int, bits: Bits) -> NDArray[np.uint8]:
    """Return bytes in which each bit is 1 with probability threshold / 2**64 (step 4)."""
    words = np.empty(-(-octets // 8), np.uint64)
    for part in blocks(len(words), _WORDS):
        words[part] = _biased(len(words[part]), threshold, bits)
    return words.view(np.uint8)[:octets]


def _biased(n: int, threshold: int, bits: Bits) -> NDArray[np.uint64]:
    """Return words of 64 such bits. below: numbers below the threshold; undecided: those not compared yet."""
    below, undecided = np.zeros(n, np.uint64), np.full(n, WORD - 1, np.uint64)
    rest = threshold
    for _ in range(_DENSE):
        if not rest:
            return below
        rest = _digit(below, undecided, rest, bits)
    places = np.flatnonzero(undecided)
    while rest and len(places):
        some, still = below[places], undecided[places]
        rest = _digit(some, still, rest, bits)
        below[places], undecided[places] = some, still
        places = places[still != 0]
    return below


def _digit(below: NDArray[np.uint64], undecided: NDArray[np.uint64], rest: int, bits: Bits) -> int:
    """Compare one digit of all numbers with the top one of `rest`, in place; return the digits after it."""
    drawn = bits.uint64(len(below))
    drawn &= undecided
    undecided ^= drawn  # those that drew 0
    if rest >= WORD // 2:
        below |= undecided
        undecided[...] = drawn
    return 2 * rest % WORD


def _ones(rows: NDArray[np.uint8]) -> Counts:
    """Return how often each bit of each column is 1, `(8, width)`: sums of up to 255 rows fit a byte."""
    n, width = rows.shape
    tall = min(n, _STACK)
    full = n // tall * tall
    stacked = rows[:full].reshape(tall, -1)
    total = np.empty((8, width), np.int64)
    for bit in range(8):
        each = np.add.reduce(stacked >> np.uint8(bit) & np.uint8(1), axis=0, dtype=np.uint8)
        rest = rows[full:] >> np.uint8(bit) & np.uint8(1)
        total[bit] = each.reshape(-1, width).sum(axis=0, dtype=np.int64) + rest.sum(axis=0, dtype=np.int64)
    return total
