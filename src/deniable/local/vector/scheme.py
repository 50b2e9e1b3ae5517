"""What `Vector` needs of a mechanism: a randomiser and its estimator as one value."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deniable.bits import Bits

Reals = NDArray[np.float64]


class Scheme(Protocol):
    """One mechanism at one epsilon and dimension d. Payloads are `(n, width)` of `dtype`."""

    @property
    def name(self) -> str:
        """The name in `Vector(mechanism=)`."""
        ...

    @property
    def facts(self) -> Mapping[str, str]:
        """The public numbers that both ends must share, besides epsilon, dimension and norm."""
        ...

    @property
    def table(self) -> str | None:
        """The digest of the integer table, if there is one."""
        ...

    @property
    def dtype(self) -> DTypeLike:
        """The unsigned type of a payload."""
        ...

    @property
    def width(self) -> int:
        """How many numbers a payload has."""
        ...

    @property
    def unit(self) -> float:
        """What 1 in `totals` is worth in an unbiased vector."""
        ...

    @property
    def square_unit(self) -> float:
        """What 1 in the sums of squares of `totals` is worth."""
        ...

    @property
    def spread(self) -> float:
        """The largest variance that an entry of `totals` can have, divided by its count, in squared value."""
        ...

    def seconds(self, mean: Reals) -> tuple[Reals, Reals]:
        """Return bounds on the second moment of an entry of `totals`, for means of any shape in [-1, 1].

        The first: the least average over people whose values average to `mean`. The second: the most for one
        person whose value it is.
        """
        ...

    @property
    def jump(self) -> float:
        """How far apart two entries of `totals` can be, where few different ones exist; else 0."""
        ...

    @property
    def largest(self) -> float:
        """The largest mean squared error of one decoded report: E |decoded - v|**2, over all v."""
        ...

    @property
    def described(self) -> str:
        """What a report is, in one or two sentences."""
        ...

    def payload(self, vectors: Reals, bits: Bits) -> NDArray[Any]:
        """Return one payload for each row of `(n, d)`; rows lie within the norm."""
        ...

    def decoded(self, payload: NDArray[Any]) -> Reals:
        """Return an unbiased vector for each payload, `(n, d)`."""
        ...

    def totals(self, payload: NDArray[Any]) -> NDArray[np.int64]:
        """Return `(3, d)`: how many reports speak of a coordinate, their sum, their sum of squares."""
        ...

    def variance_at(self, vector: Reals) -> Reals:
        """Return the variance of each coordinate of a decoded report about this vector, `(d,)`."""
        ...

    def probabilities(self, vector: Reals) -> Mapping[tuple[int, ...], Fraction]:
        """Return the exact law of the payload; ParameterError where it is too large to list."""
        ...
