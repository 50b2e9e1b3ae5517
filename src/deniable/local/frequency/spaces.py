"""Vectors over a finite field, each written as one number: x = sum of digit[j] * q**j, the digits its
elements.

Digits are taken several at a time (a *limb* of at most 256 values) so that an inner product takes one look-up
a limb. A *line* is all multiples of a vector other than 0; it is named by its one member whose highest digit
other than 0 is 1, and these are numbered: first the line of 1, then those of q to 2 q - 1, of q**2 to ...
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.local.frequency.fields import Binary, Elements, Field

_LIMB = 256
Vectors = NDArray[Any]


@dataclass(frozen=True)
class Space:
    """All vectors of `dimension` elements. Vectors are numbers from 0 to size - 1, in arrays of int64."""

    field: Field
    dimension: int

    @property
    def size(self) -> int:
        """How many vectors there are."""
        return int(self.field.q**self.dimension)

    @property
    def lines(self) -> int:
        """How many lines through 0 there are."""
        return (self.size - 1) // (self.field.q - 1)

    def inner(self, a: Vectors, b: Vectors) -> Elements:
        """Return the inner products of pairs of vectors."""
        total: Elements | None = None
        for x, y in zip(self._limbs(a), self._limbs(b), strict=True):
            product = self._product(x, y)
            total = product if total is None else self.field.add(total, product)
        assert total is not None
        return total

    def scaled(self, factor: Elements, vectors: Vectors) -> Vectors:
        """Return each vector times its factor."""
        result: Vectors = np.zeros(np.broadcast(factor, vectors).shape, np.int64)
        for place, limb in enumerate(self._limbs(vectors)):
            result += self._multiple(factor, limb) * self._base**place
        return result

    def line(self, vectors: Vectors) -> NDArray[np.int64]:
        """Return the number of the line of each vector; none is 0."""
        leading = np.zeros(vectors.shape, np.int64)
        for limb in self._limbs(vectors):
            leading = np.where(limb > 0, self._first(limb), leading)
        named = self.scaled(self.field.inverses.take(leading), vectors)
        place = np.searchsorted(self._powers, named, side="right") - 1
        return named + self._shifts.take(place)

    @cached_property
    def named(self) -> Vectors:
        """The vector that names each line, in the order of their numbers."""
        q = self.field.q
        return np.concatenate([np.arange(q**j, 2 * q**j, dtype=np.int64) for j in range(self.dimension)])

    @cached_property
    def _powers(self) -> Vectors:
        return np.array([self.field.q**j for j in range(self.dimension)], np.int64)

    @cached_property
    def _shifts(self) -> Vectors:
        """What to add to the name of a line with its leading digit at place j to get its number."""
        q = self.field.q
        return np.array([(q**j - 1) // (q - 1) - q**j for j in range(self.dimension)], np.int64)

    @cached_property
    def _digits(self) -> int:
        digits = 1
        while self.field.q ** (digits + 1) <= _LIMB and digits < self.dimension:
            digits += 1
        return digits

    @cached_property
    def _base(self) -> int:
        return int(self.field.q**self._digits)

    def _limbs(self, vectors: Vectors) -> list[Vectors]:
        found = []
        for _ in range(-(-self.dimension // self._digits) - 1):
            rest = vectors // self._base
            found.append(vectors - rest * self._base)
            vectors = rest
        return [*found, vectors]

    def _product(self, a: Vectors, b: Vectors) -> Elements:
        if self._base > _LIMB:
            return self.field.multiply(a, b)
        return self._products.take(a * self._base + b)

    def _multiple(self, factor: Elements, limb: Vectors) -> Vectors:
        if self._base > _LIMB:
            return self.field.multiply(factor, limb)
        found: Vectors = self._multiples.take(factor * self._base + limb)
        return found

    def _first(self, limb: Vectors) -> Elements:
        """Return the highest digit other than 0 of each limb."""
        return limb if self._digits == 1 else self._highest.take(limb)

    @cached_property
    def _split(self) -> NDArray[np.int64]:
        """The digits of every limb, (limbs, digits)."""
        return np.arange(self._base)[:, None] // self.field.q ** np.arange(self._digits) % self.field.q

    @cached_property
    def _products(self) -> Elements:
        a, b = self._split[:, None, :], self._split[None, :, :]
        terms = self.field.multiply(a, b)
        if isinstance(self.field, Binary):
            mixed: Elements = np.bitwise_xor.reduce(terms, axis=2).ravel()
            return mixed
        summed: Elements = (terms.sum(axis=2) % self.field.q).ravel()
        return summed

    @cached_property
    def _multiples(self) -> Vectors:
        digits = self.field.multiply(np.arange(self.field.q)[:, None, None], self._split[None])
        found: Vectors = (digits * self.field.q ** np.arange(self._digits)).sum(axis=2).ravel()
        return found

    @cached_property
    def _highest(self) -> Elements:
        highest = np.zeros(self._base, np.int64)
        for digit in self._split.T:
            highest = np.where(digit > 0, digit, highest)
        return highest
