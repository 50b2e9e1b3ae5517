"""Sums over hyperplanes, for all points at once: how a server turns counted reports into supports of items.

W[u, v] is a count for the hyperplane of all x with <u, x> = v; u runs over the vectors that name lines
(`spaces`), v over the field. `point_sums` returns, for every x, the sum over u of W[u, <u, x>].

1. If the leading digit of u is at place i, <u, x> = x[i] + sum of u[j] x[j] over j < i; digits of x above i
   do not matter. The part of W with leading place i has axes u[i-1], ..., u[0], v.
2. The sum over u[0] is taken for every value of x[0], then that over u[1] for every x[1], and so on. Before
   step j the table is P[u[i-1..j], s, x[j-1..0]], s what the rest of the inner product must be; after it
   P'[..., s, x[j], ...] = sum over u[j] of P[..., u[j], s + u[j] x[j], ...]. Its size never changes.
3. After step i - 1 what is left is s = x[i].
That takes q additions a cell and step: (dimension - 1) q**(dimension + 1) in all, for any number of reports.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.local.frequency.fields import Field
from deniable.local.frequency.spaces import Space

Counts = NDArray[np.int64]


def point_sums(space: Space, weights: NDArray[Any]) -> Counts:
    """Return for every vector x the sum over lines u of weights[u, <u, x>], `(size,) int64`.

    weights: `(lines, q)`, integers; exact.
    """
    q = space.field.q
    total = np.zeros(space.size, np.int64)
    start = 0
    for place in range(space.dimension):
        part = np.asarray(weights[start : start + q**place], np.int64)
        start += q**place
        for step in range(place):
            part = _summed(space.field, part.reshape(q ** (place - 1 - step), q, q, q**step))
        total.reshape(-1, q ** (place + 1))[...] += part.reshape(1, -1)
    return total


def _summed(field: Field, table: Counts) -> Counts:
    """Take step 2 once: `(outer, u, s, inner)` becomes `(outer, s, x, inner)`."""
    outer, q, _, inner = table.shape
    result = np.zeros((outer, q * q, inner), np.int64)
    s, x = np.arange(q)[:, None], np.arange(q)
    for u in range(q):
        places = field.add(s, field.multiply(u, x)).ravel()
        result += table[:, u].take(places, axis=1)
    return result
