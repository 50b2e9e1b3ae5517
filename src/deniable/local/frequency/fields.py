"""Finite fields of q elements, 0 to q - 1: the integers modulo a prime, and polynomials over {0, 1}.

An element of `Binary(2**m)` is the polynomial whose coefficients are its bits, modulo the least polynomial of
degree m that has no divisor; addition is XOR. All functions work on arrays of any integer type.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

Elements = NDArray[Any]


@dataclass(frozen=True)
class Prime:
    """The integers modulo a prime below 2**31."""

    q: int

    def add(self, a: Elements | int, b: Elements | int) -> Elements:
        """Return a + b."""
        return self._below(np.asarray(a, np.int64) + b)

    def subtract(self, a: Elements | int, b: Elements | int) -> Elements:
        """Return a - b."""
        return self._below(np.asarray(a, np.int64) + (self.q - np.asarray(b, np.int64)))

    def multiply(self, a: Elements | int, b: Elements | int) -> Elements:
        """Return a times b."""
        product: Elements = np.asarray(a, np.int64) * b % self.q
        return product

    def _below(self, total: NDArray[np.int64]) -> Elements:
        """Return a total from 0 to 2 q - 1, modulo q: below 0 an unsigned number is large."""
        unsigned = total.view(np.uint64)
        below: Elements = np.minimum(unsigned, unsigned - np.uint64(self.q)).view(np.int64)
        return below

    @cached_property
    def inverses(self) -> Elements:
        """The inverse of each element; of 0 it is 0."""
        found = [0, 1]
        for a in range(2, self.q):  # q = (q // a) a + q % a, so 1/a = -(q // a) / (q % a)
            found.append(-(self.q // a) * found[self.q % a] % self.q)
        return np.array(found, np.int64)


@dataclass(frozen=True)
class Binary:
    """The field of 2**m elements, 1 <= m <= 8."""

    q: int

    def add(self, a: Elements | int, b: Elements | int) -> Elements:
        """Return a + b."""
        return np.asarray(a, np.int64) ^ b

    def subtract(self, a: Elements | int, b: Elements | int) -> Elements:
        """Return a - b, which is a + b."""
        return np.asarray(a, np.int64) ^ b

    def multiply(self, a: Elements | int, b: Elements | int) -> Elements:
        """Return a times b."""
        found: Elements = self._products.take(np.asarray(a, np.int64) * self.q + b)
        return found

    @cached_property
    def inverses(self) -> Elements:
        """The inverse of each element; of 0 it is 0."""
        found: Elements = (self._products.reshape(self.q, self.q) == 1).argmax(axis=1)
        return found

    @cached_property
    def _products(self) -> Elements:
        degree = self.q.bit_length() - 1
        divisor = next(p for p in range(self.q, 2 * self.q) if _irreducible(p))
        return np.array(
            [_modulo(_times(a, b), divisor, degree) for a in range(self.q) for b in range(self.q)], np.int64
        )


Field = Prime | Binary


def field(q: int) -> Field:
    """Return the field of q elements: q is a prime, or a power of 2 up to 256."""
    return Prime(q) if q & (q - 1) or q == 2 else Binary(q)


def exists(q: int) -> bool:
    """Whether `field` makes one of q elements."""
    if q & (q - 1) == 0:
        return 2 <= q <= 256
    return q > 2 and all(q % divisor for divisor in range(2, isqrt(q) + 1))


def _times(a: int, b: int) -> int:
    """Return the product of two polynomials over {0, 1}."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a, b = a << 1, b >> 1
    return product


def _modulo(a: int, divisor: int, degree: int) -> int:
    while a.bit_length() > degree:
        a ^= divisor << (a.bit_length() - 1 - degree)
    return a


def _irreducible(p: int) -> bool:
    """Whether no polynomial of a degree from 1 to half of p's divides p."""
    half = (p.bit_length() - 1) // 2
    return all(_modulo(p, d, d.bit_length() - 1) for d in range(2, 2 << half))
