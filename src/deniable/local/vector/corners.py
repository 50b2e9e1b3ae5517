"""Duchi, Jordan and Wainwright's mechanism for vectors in [-1, 1]**d: one corner of a cube.

v is rounded to a corner V at random, P(V_j = 1) = (1 + v_j)/2. A corner T is drawn that agrees with V in more
than half of its coordinates with probability p, in fewer with 1 - p. The estimate is B T.

The guarantee: for any two v, w and any corner t, P(t | v) <= e**epsilon P(t | w).
1. T starts uniform on all 2**d corners (`bits`). With S = the sum of T_j V_j, S > 0 for as many corners as
   S < 0 (T and -T change places). If S is not of the wanted sign, T is replaced by -T (`_turned`).
2. The wanted sign is + with probability p = P / 2**64, P integer. So each corner with S > 0 has probability
   2 p / 2**d, each with S < 0 has 2 (1 - p) / 2**d, and each with S = 0 has 1 / 2**d: whichever sign is
   wanted, -T is as good as T.
3. 1 - p <= 1/2 <= p, so any two of these differ by a factor of at most p / (1 - p), and
   P / (2**64 - P) <= e**epsilon is proved by a rational enclosure (`_chance`).
4. V is random and independent of that: a mixture over V, and a bound between all pairs holds for mixtures.

The published form for even d puts the corners with S = 0 into both halves. Then they have probability
1/|half| beside (1 - p)/|half|: a factor e**epsilon + 1, which is not epsilon-LDP. (Step 2 is the repair.)

Unbiased: E[T_j V_j] = (2 p - 1) E|S| / d by symmetry, and E|S| = d C(d - 1, floor((d - 1)/2)) / 2**(d - 1);
so B is the reciprocal of (2 p - 1) C(...) / 2**(d - 1), exactly. (V is drawn from 53 bits: off by 2**-53.)
Source: Duchi, Jordan, Wainwright 2018; Wang et al. 2019, Algorithm 3 (the published form).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.brackets import negative_exponential
from deniable.errors import ParameterError
from deniable.exact import text
from deniable.local.vector.scheme import Reals

_WORD = 64
_PIECE = 1 << 18
_LISTED = 8


@dataclass(frozen=True, slots=True)
class Corners:
    """The mechanism in d dimensions, as `Scheme` says. P = chance: see step 2."""

    dimension: int
    chance: int

    name = "duchi"
    table = None
    dtype = np.uint8
    described = "A report is a random corner of a cube: one bit for each coordinate."

    @classmethod
    def at(cls, epsilon: Fraction, dimension: int) -> Corners:
        """Return the mechanism with the largest P that keeps epsilon.

        Raises:  ParameterError: epsilon is too small for 64 bits to tell p from 1/2.
        """
        chance = _chance(epsilon)
        if not 2 * chance > 1 << _WORD:
            raise ParameterError("epsilon", text(epsilon), "is too small", "Give at least 1e-15.")
        return cls(dimension, chance)

    @property
    def facts(self) -> Mapping[str, str]:
        """Return P."""
        return {"chance": str(self.chance)}

    @property
    def width(self) -> int:
        """Eight corners' coordinates in a byte."""
        return -(-self.dimension // 8)

    @property
    def scale(self) -> Fraction:
        """B, exactly."""
        d = self.dimension
        gain = Fraction(2 * self.chance - (1 << _WORD), 1 << _WORD)
        return Fraction(1 << (d - 1), comb(d - 1, (d - 1) // 2)) / gain

    @property
    def unit(self) -> float:
        """B."""
        return float(self.scale)

    @property
    def square_unit(self) -> float:
        """The square of `unit`."""
        return self.unit**2

    @property
    def spread(self) -> float:
        """The variance of one coordinate at 0: B**2."""
        return self.unit**2

    def seconds(self, mean: Reals) -> tuple[Reals, Reals]:
        """Return B**2 twice: it is that of every value."""
        square = np.full(mean.shape, self.spread)
        return square, square

    @property
    def jump(self) -> float:
        """From -B to B."""
        return 2 * self.unit

    @property
    def largest(self) -> float:
        """The error of a whole report at 0."""
        return self.dimension * self.spread

    def payload(self, vectors: Reals, bits: Bits) -> NDArray[np.uint8]:
        """Return one corner for each vector, packed."""
        room = max(1, _PIECE // self.dimension)
        parts = [self._some(vectors[at : at + room], bits) for at in range(0, len(vectors), room)]
        return np.concatenate(parts) if parts else np.empty((0, self.width), np.uint8)

    def decoded(self, payload: NDArray[Any]) -> Reals:
        """Return B or -B for each coordinate."""
        signs: Reals = self._unpacked(payload).astype(np.float64)
        return signs * (2 * self.unit) - self.unit

    def totals(self, payload: NDArray[Any]) -> NDArray[np.int64]:
        """Return count, sum and sum of squares of the signs."""
        n, d, ones = len(payload), self.dimension, np.zeros(self.dimension, np.int64)
        room = max(1, _PIECE // d)
        for start in range(0, n, room):
            ones += self._unpacked(payload[start : start + room]).sum(axis=0, dtype=np.int64)
        return np.stack([np.full(d, n), 2 * ones - n, np.full(d, n)])

    def variance_at(self, vector: Reals) -> Reals:
        """Return B**2 - v_j**2."""
        variance: Reals = self.spread - vector**2
        return variance

    def probabilities(self, vector: Reals) -> Mapping[tuple[int, ...], Fraction]:
        """Return the law of the payload, for up to 8 dimensions.

        Raises:  ParameterError: more dimensions.
        """
        d = self.dimension
        if d > _LISTED:
            raise ParameterError("dimension", d, "is too large to list", f"Up to {_LISTED}.")
        ups = [Fraction(ceil(float(1 + entry) * 2.0**52), 1 << 53) for entry in vector]
        corners = list(product((0, 1), repeat=d))
        law = dict.fromkeys(corners, Fraction(0))
        for rounded in corners:
            share = prod(up if bit else 1 - up for up, bit in zip(ups, rounded, strict=True))
            for corner, part in self._given(rounded, corners):
                law[corner] += share * part
        return {tuple(np.packbits(corner).tolist()): part for corner, part in law.items()}

    def _given(
        self, rounded: tuple[int, ...], corners: list[tuple[int, ...]]
    ) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        """Yield the corners with their probabilities, once v is rounded (step 2)."""
        total = (1 << _WORD) * (1 << self.dimension)
        for corner in corners:
            agree = sum(a == b for a, b in zip(rounded, corner, strict=True)) * 2 - self.dimension
            weight = 1 << _WORD
            if agree:
                weight = 2 * (self.chance if agree > 0 else (1 << _WORD) - self.chance)
            yield corner, Fraction(weight, total)

    def _some(self, vectors: Reals, bits: Bits) -> NDArray[np.uint8]:
        n, d = vectors.shape
        uniform = (bits.uint64(n * d) >> np.uint64(11)).reshape(n, d) * 2.0**-53
        rounded = 2 * uniform < 1 + vectors
        octets = np.empty((n, self.width), np.uint8)
        bits.fill(octets)
        corner = self._unpacked(octets).astype(np.bool_)
        agree = (corner == rounded).sum(axis=1) * 2 - d
        wanted = bits.uint64(n) < np.uint64(self.chance)
        return np.packbits(_turned(corner, agree, wanted), axis=1)

    def _unpacked(self, payload: NDArray[Any]) -> NDArray[np.uint8]:
        return np.unpackbits(payload, axis=1, count=self.dimension)


def _turned(corner: NDArray[np.bool_], agree: NDArray[Any], wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return each corner, or the opposite one where the sign of S is not the wanted one (step 1)."""
    turned: NDArray[np.bool_] = corner ^ ((agree > 0) != wanted)[:, None]
    return turned


def _chance(epsilon: Fraction) -> int:
    """Return the largest P that is proved to keep P / (2**64 - P) <= e**epsilon; below 2**64 (step 3).

    p = 1 / (1 + e**-epsilon); with an upper bound on e**-epsilon that is rounded down.
    """
    spare = 1 << (_WORD + 64)
    high = negative_exponential(epsilon.numerator, epsilon.denominator, _WORD + 64)[1]
    return min((spare << _WORD) // (spare + high), (1 << _WORD) - 1)
