"""PrivUnit for vectors of length at most 1: a direction near the vector's own, more often than not.

The guarantee, and what each line of it rests on, is proved in `proposals`; the numbers are those of `caps`.
A report is d codes of 16 bits: the kept direction on a grid. Decoded, it is divided by the cap's slope.

Unbiased: E[decoded | v] = v, in each coordinate off by less than 2e-9 times 1/slope, the length of what is
decoded: 1e-12 for the slope in floating point, twice `Cap.slack` for proposals that are not exactly uniform,
2**-32 for the dither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.errors import ParameterError
from deniable.local.vector.caps import Cap
from deniable.local.vector.proposals import directions, lifted, step
from deniable.local.vector.scheme import Reals

_PIECE = 1 << 18
_LIFTED = 1 << 16
_AT_ONCE = 1 << 22
_ZERO = 1 << 15


@dataclass(frozen=True, slots=True)
class Ball:
    """PrivUnit (on the sphere) or PrivUnitG (with a normal vector), as `Scheme` says."""

    cap: Cap

    dtype = np.uint16
    table = None

    @property
    def name(self) -> str:
        """Return "privunit" or "privunitg"."""
        return "privunitg" if self.cap.gaussian else "privunit"

    @property
    def facts(self) -> Mapping[str, str]:
        """Return the cap and the odds outside it."""
        return {"height": str(self.cap.height), "odds": str(self.cap.odds)}

    @property
    def width(self) -> int:
        """One code for each coordinate."""
        return self.cap.dimension

    @property
    def unit(self) -> float:
        """One step of the grid, over the slope."""
        return step(self.cap) / self.cap.slope

    @property
    def square_unit(self) -> float:
        """The square of `unit`."""
        return self.unit**2

    @property
    def spread(self) -> float:
        """The variance along the vector or across it, whichever is larger."""
        return max(self.cap.square, self.cap.across) / self.cap.slope**2 + self.unit**2 / 4

    def seconds(self, mean: Reals) -> tuple[Reals, Reals]:
        """Return the least and the most second moment, from those along a direction u and across it.

        The unit vector u that a person's vector became has E u_j = v_j, so the average of u_j**2 lies between
        mean**2 and 1; and the second moment is linear in u_j**2.
        """
        across, along = self.cap.across, self.cap.square
        some = (across + mean**2 * (along - across)) / self.cap.slope**2
        ends = np.full(mean.shape, along / self.cap.slope**2)
        return np.minimum(some, ends), np.maximum(some, ends) + self.unit**2 / 4

    @property
    def jump(self) -> float:
        """0: directions are too many for one to be rare."""
        return 0.0

    @property
    def largest(self) -> float:
        """The squared length of what is decoded: its error for v = 0."""
        cap = self.cap
        return (cap.square + (cap.dimension - 1) * cap.across) / cap.slope**2 + self.width * self.unit**2 / 4

    @property
    def described(self) -> str:
        """What a report is."""
        return (
            f"A report is a random {'vector' if self.cap.gaussian else 'direction'} in "
            f"{self.cap.dimension:,} dimensions, as if proposed at random and kept if its inner product with "
            f"the vector's own direction is at least {self.cap.gamma:.4g}, otherwise with probability "
            f"{self.cap.outside:.4g}."
        )

    def payload(self, vectors: Reals, bits: Bits) -> NDArray[np.uint16]:
        """Return the codes of one direction for each vector."""
        out = np.empty(vectors.shape, np.uint16)
        many, few = (max(1, size // self.width) for size in (_AT_ONCE, _LIFTED))
        for start in range(0, len(vectors), many):
            some = vectors[start : start + many]
            unit = np.concatenate([lifted(some[at : at + few], bits) for at in range(0, len(some), few)])
            out[start : start + many] = directions(unit, self.cap, bits)
        return out

    def decoded(self, payload: NDArray[Any]) -> Reals:
        """Return an unbiased vector for each report."""
        centred: Reals = payload.astype(np.float64)
        centred -= _ZERO
        centred *= self.unit
        return centred

    def totals(self, payload: NDArray[Any]) -> NDArray[np.int64]:
        """Return count, sum and sum of squares of each coordinate."""
        found = np.zeros((3, self.width), np.int64)
        found[0] = len(payload)
        room = max(1, _PIECE // self.width)
        for start in range(0, len(payload), room):
            part = payload[start : start + room].astype(np.int64) - _ZERO
            found[1] += part.sum(axis=0)
            found[2] += np.einsum("nd,nd->d", part, part)
        return found

    def variance_at(self, vector: Reals) -> Reals:
        """Return the variance of each coordinate: more along the vector than across it."""
        length = float(np.sqrt((vector**2).sum()))
        along = (vector / length) ** 2 if length else np.full(self.width, 1 / self.width)
        second = self.cap.across + along * (self.cap.square - self.cap.across)
        variance: Reals = second / self.cap.slope**2 - vector**2
        return variance

    def probabilities(self, vector: Reals) -> Mapping[tuple[int, ...], Fraction]:  # noqa: ARG002
        """Directions are too many to list.

        Raises:  ParameterError: always.
        """
        fix = "Audit it with dn.audit.sampled."
        raise ParameterError("mechanism", self.name, "has too many outputs to list", fix)
