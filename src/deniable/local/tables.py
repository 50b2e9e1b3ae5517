"""Integer tables: the whole law of a finite mechanism, checked by arithmetic and drawn exactly.

Row i holds integers that sum to 2**bits; P(output j | row i) = entry[i, j] / 2**bits, with nothing rounded.

What a table promises, and why.

1. `Table.ratio` is the largest quotient of two entries of one column, an exact rational. So for every two
   rows and every set of outputs, P(set | row) <= ratio * P(set | other row): sums keep a common factor.
2. `Table.check` demands ratio <= e**epsilon, with the lower end of a rational enclosure for the right side.
3. An input that is turned into a row at random (by any rule that does not look at other people) is a mixture
   of rows; a mixture's columns lie between the least and the largest entry, so step 1 holds for it too.
4. `Table.sample` draws by the alias method, in integers. The columns are filled up with empty ones to 2**k;
   of each row every column j gets a bucket of 2**(bits - k) equally likely words, of which the first
   kept[i, j] mean j and the others mean alias[i, j]. `_aliases` moves whole words only, and `_exact` adds up
   again, for every row, how many words mean each column: it must be the entry itself. A uniform word of
   `bits` bits names a bucket by its first k bits and a place in it by the rest.
Source: Walker 1977 (the alias method).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.brackets import exponential
from deniable.errors import NoiseError, ParameterError
from deniable.exact import text

_PIECE = 1 << 16


class Table:
    """The law of a finite mechanism. entries: integers, `(rows, outputs)`; each row sums to 2**bits.

    Raises:  ParameterError: an entry is negative, a row has another sum, or there are over 65,536 outputs.
    """

    def __init__(
        self, entries: Sequence[Sequence[int]] | NDArray[Any], *, bits: Literal[32, 64] = 32
    ) -> None:
        self.bits = bits
        rows = [[int(entry) for entry in row] for row in entries]
        if not rows or len({len(row) for row in rows}) != 1 or not 1 <= len(rows[0]) <= 1 << 16:
            raise ParameterError("entries", None, "are no table", "Give rows of one length, up to 65,536.")
        if any(min(row) < 0 or sum(row) != 1 << bits for row in rows):
            fix = f"Each row must hold whole numbers from 0 that sum to 2**{bits}."
            raise ParameterError("entries", None, "are not the law of a mechanism", fix)
        self.entries: tuple[tuple[int, ...], ...] = tuple(map(tuple, rows))

    def __repr__(self) -> str:
        return f"Table({len(self.entries)} rows, {len(self.entries[0])} outputs, bits={self.bits})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and (self.bits, self.entries) == (other.bits, other.entries)

    def __hash__(self) -> int:
        return hash((self.bits, self.entries))

    @property
    def outputs(self) -> int:
        """How many outputs there are; the reports are 0 to one less."""
        return len(self.entries[0])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the table in hexadecimal: of bits, rows, outputs and entries, each as 16 bytes."""
        numbers = [self.bits, len(self.entries), self.outputs, *(e for row in self.entries for e in row)]
        return hashlib.sha256(b"".join(number.to_bytes(16, "little") for number in numbers)).hexdigest()

    def ratio(self) -> Fraction:
        """Return the largest quotient of two entries of one column (step 1); columns of zeros do not count.

        Raises:  ParameterError: an output is possible for one row and impossible for another.
        """
        largest = Fraction(1)
        for column in zip(*self.entries, strict=True):
            low, high = min(column), max(column)
            if high and not low:
                fix = "Every output must be possible for every row."
                raise ParameterError("entries", None, "tell rows apart for certain", fix)
            if high * largest.denominator > low * largest.numerator:
                largest = Fraction(high, low)
        return largest

    def check(self, epsilon: Fraction) -> None:
        """Raise unless the table is proved to keep epsilon (step 2).

        Raises:  ParameterError: a quotient exceeds e**epsilon, as far as 128 bits can tell.
        """
        ratio, allowed = self.ratio(), exponential(min(epsilon, Fraction(self.bits)))[0]
        if not (ratio <= allowed):
            fix = f"It keeps no epsilon below ln({float(ratio)})."
            raise ParameterError("entries", None, f"do not keep epsilon {text(epsilon)}", fix)

    def row(self, place: int) -> tuple[int, ...]:
        """Return the entries of a row."""
        return self.entries[place]

    def moments(self, values: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return for each row the sums of entry * value and of entry * value**2; values: one an output."""
        squares = [y * y for y in values]
        first, second = (
            [sum(map(mul, row, amounts)) for row in self.entries] for amounts in (values, squares)
        )
        return first, second

    def sample(self, rows: NDArray[Any], bits: Bits) -> NDArray[Any]:
        """Return one output for each row number, `(n,)`, uint8 or uint16 (step 4)."""
        kept, alias, shift = self._drawn
        width = len(kept) // len(self.entries)
        out = np.empty(len(rows), alias.dtype)
        for start in range(0, len(rows), _PIECE):
            part = np.asarray(rows[start : start + _PIECE], np.int64)
            words: NDArray[Any] = bits.uint32(len(part)) if self.bits == 32 else bits.uint64(len(part))
            bucket = (words >> words.dtype.type(shift)).astype(np.int64)
            places = part * width + bucket
            words &= words.dtype.type((1 << shift) - 1)
            keep = words < kept.take(places)
            out[start : start + _PIECE] = np.where(keep, bucket.astype(alias.dtype), alias.take(places))
        return out

    @cached_property
    def _drawn(self) -> tuple[NDArray[Any], NDArray[Any], int]:
        """Return kept and alias, each flattened to rows * 2**k, and the bits of a place in a bucket."""
        k = max(self.outputs - 1, 1).bit_length()
        shift = self.bits - k
        pairs = [_aliases(row, k, 1 << shift) for row in self.entries]
        if not all(_exact(row, *pair, 1 << shift) for row, pair in zip(self.entries, pairs, strict=True)):
            raise NoiseError("A table is not drawn as it is written. This is a fault; report it.")
        word, small = (np.uint32 if self.bits == 32 else np.uint64), np.uint8 if k <= 8 else np.uint16
        kept = np.array([number for pair in pairs for number in pair[0]], word)
        return kept, np.array([place for pair in pairs for place in pair[1]], small), shift


def _aliases(row: Sequence[int], k: int, bucket: int) -> tuple[list[int], list[int]]:
    """Return for each of 2**k columns how many words of its bucket mean it, and what the others mean."""
    left = [*row, *[0] * ((1 << k) - len(row))]
    kept, alias = [bucket] * (1 << k), list(range(1 << k))
    short = [place for place, size in enumerate(left) if size < bucket]
    long = [place for place, size in enumerate(left) if size > bucket]
    while short:
        place, donor = short.pop(), long[-1]
        kept[place], alias[place] = left[place], donor
        left[donor] -= bucket - left[place]
        if left[donor] <= bucket:
            long.pop()
        if left[donor] < bucket:
            short.append(donor)
    return kept, alias


def _exact(row: Sequence[int], kept: Sequence[int], alias: Sequence[int], bucket: int) -> bool:
    """Whether as many words mean each column as its entry says."""
    words = [0] * len(kept)
    for place, (number, other) in enumerate(zip(kept, alias, strict=True)):
        words[place] += number
        words[other] += bucket - number
    return words == [*row, *[0] * (len(kept) - len(row))]
