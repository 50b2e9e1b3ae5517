"""Inverse-CDF sampling by table, exact given uniform bits.

A law on atoms 0, 1, 2, ... has F(k) = P(atom <= k). With U uniform in [0, 1), the atom is the number of k
with F(k) <= U. U is written bit by bit, and no bit is drawn before it is needed:

1. `Law.cumulative(precision)` encloses F(k) * 2**precision in integers, for every k in turn. Nothing else is
   assumed of them: wide ends cost time, not truth.
2. `_thresholds` keeps low[k] <= F(k) * 2**64 < high[k] + 1 for k = 0 ... K-1 (the enclosures at 128 bits,
   floored), and stops at the first k whose high[k] is 2**64 - 1, the largest word; larger ones are cut there.
   F rises, so the largest low so far and the smallest high still to come are as true: then both lists rise.
3. Let `word` be the first 64 bits of U: word <= U * 2**64 < word + 1. If word < low[k], then U < F(k). If
   word > high[k], then word >= high[k] + 1 > F(k) * 2**64, so U > F(k). So if no k has
   low[k] <= word <= high[k], the atom is the number of k with low[k] <= word; as both lists rise, it is
   enough that the last such k has high[k] < word (`Table._decide`; with no such k, word 0 counts as
   undecided, which is allowed). K itself is never decided so, because word <= 2**64 - 1 = high[K-1].
4. A bucket is the 2**48 words with the same first 16 bits. It is settled if the number of k with
   high[k] in an earlier bucket equals the number with low[k] in this or an earlier one: then no [low[k],
   high[k]] touches it, and by step 3 every word in it means the same atom, whose value the 65,536-entry
   array holds. `sample` reads 16 bits, and 48 more where the bucket is not settled.
5. Otherwise `_extend` appends 64 bits at a time to the word, and walks the enclosures at that precision to
   the first k with prefix < high: all before it have F <= U by their high ends. If prefix + 1 <= low(k) too,
   U < F(k) and the atom is k; if not, more bits are drawn. Wrongly undecided is possible, wrongly decided is
   not. Each round leaves at most a few in 2**64 of the possible prefixes undecided.

Source: Knuth and Yao 1976 (lazily extended bits); Devroye 1986, III.2 (inversion).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits

_TABLED = 128
_TOP = (1 << 64) - 1
_OPEN = -(1 << 15)


class Law(Protocol):
    """A distribution on atoms 0, 1, 2, ..., each of which stands for an integer."""

    def cumulative(self, precision: int) -> Iterator[tuple[int, int]]:
        """Yield integers low <= F(k) * 2**precision <= high for k = 0, 1, 2, ...

        Endless, or the last high is 2**precision (F(k) itself may be less: atoms too rare to list follow).
        """
        ...

    def value(self, atom: int) -> int:
        """Return the integer for which the atom stands."""
        ...


class Table:
    """Draws integers with exactly the law's probabilities, given uniform bits."""

    def __init__(self, law: Law) -> None:
        self._law = law
        self.low, self.high = _thresholds(law)
        self._passed = np.concatenate([np.zeros(1, np.uint64), self.high])
        self._values = np.array([law.value(atom) for atom in range(len(self.low))], np.int16)
        self._buckets = self._settle()

    def _settle(self) -> NDArray[np.int16]:
        """Return the value of each bucket, `_OPEN` where 16 bits do not settle it (step 4)."""
        first_low, first_high = (
            np.bincount((ends >> np.uint64(48)).astype(np.int64), minlength=1 << 16)
            for ends in (self.low, self.high)
        )
        until = np.cumsum(first_low)
        before = np.cumsum(first_high) - first_high
        atoms = np.minimum(before, len(self._values) - 1)
        return np.where(until == before, self._values[atoms], _OPEN).astype(np.int16)

    def sample(self, n: int, bits: Bits) -> NDArray[np.int16] | NDArray[np.int64]:
        """Return n draws: 16-bit integers, or 64-bit ones where a value beyond 2**15 came up."""
        first = bits.uint16(n)
        drawn = self._buckets.take(first)
        places = np.flatnonzero(drawn == _OPEN)
        if not places.size:
            return drawn
        decided = self._decide(first[places], bits)
        if np.abs(decided).max() >= -_OPEN:
            wide = drawn.astype(np.int64)
            wide[places] = decided
            return wide
        drawn[places] = decided
        return drawn

    def _decide(self, first: NDArray[np.uint16], bits: Bits) -> NDArray[np.int64]:
        """Return the values of words with these first 16 bits (step 3)."""
        words = bits.uint64(len(first)) >> np.uint64(16)
        words |= first.astype(np.uint64) << np.uint64(48)
        atoms = np.searchsorted(self.low, words, side="right")
        undecided = np.flatnonzero(words <= self._passed[atoms])
        values = self._values[np.minimum(atoms, len(self._values) - 1)].astype(np.int64)
        for place in undecided:
            values[place] = self._extend(int(words[place]), bits)
        return values

    def _extend(self, word: int, bits: Bits) -> int:
        """Return the value for a U that starts with these 64 bits, drawing the rest as needed (step 5)."""
        prefix, precision = word, 64
        while True:
            prefix, precision = prefix << 64 | bits.integer(64), precision + 64
            for atom, (low, high) in enumerate(self._law.cumulative(precision)):
                if prefix < high:
                    if prefix + 1 <= low:
                        return self._law.value(atom)
                    break


def _thresholds(law: Law) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return enclosures of F(k) * 2**64, floored and rising, until one reaches the top (step 2)."""
    lows, highs = [], []
    shift = _TABLED - 64
    for low, high in law.cumulative(_TABLED):
        lows.append(min(low >> shift, _TOP))
        highs.append(min(high >> shift, _TOP))
        if highs[-1] == _TOP:
            break
    backwards = np.array(highs[::-1], np.uint64)
    return np.maximum.accumulate(np.array(lows, np.uint64)), np.minimum.accumulate(backwards)[::-1].copy()
