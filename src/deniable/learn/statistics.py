"""Linear regression in one round: each person reports the products of all pairs of their numbers, once.

With z = (attributes, 1, target), scaled into the unit ball:
1. A person's report is about the upper half of the matrix z z', off-diagonal entries times sqrt(2): a vector
   of D = m (m + 1) / 2 coordinates for m numbers, of length |z|**2 <= 1, through `Vector(norm="l2")`.
2. The mean of the decoded reports is an unbiased estimate of the mean of z z'. Its noise has entries of
   standard deviation s = sqrt(E / (D n)) on the diagonal and s / sqrt(2) elsewhere, E being the mean squared
   error of a report, so a spectral norm of about s sqrt(2 m) (Wigner). What is added to the diagonal of the
   part about attributes lifts its least eigenvalue to that norm, if it is below; then comes `penalty`. This
   looks at the noisy matrix only: post-processing.
3. The weights solve these normal equations.
Scaling z keeps x.w - y = 0 for whoever fits exactly: it weighs people, it does not bend the model.
Source: Vu, Slavkovic 2009, and Wang 2018 (AdaSSP), for the idea; PrivUnit for the reports.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.exact import Number
from deniable.local.vector import Vector
from deniable.local.vector.reading import fitted
from deniable.local.vector.vector import Mechanism

Floats = NDArray[np.float64]
_AT_ONCE = 1 << 20
_HUGE = 1e300


def protocol(*, epsilon: Number, numbers: int, mechanism: Mechanism) -> Vector:
    """Return the protocol of the reports, for people with so many numbers (attributes, constant, target)."""
    return Vector(epsilon=epsilon, dimension=numbers * (numbers + 1) // 2, norm="l2", mechanism=mechanism)


def products(rows: Floats) -> Floats:
    """Return what each person reports about, `(n, D)`, from their numbers `(n, m)`: within the unit ball."""
    scaled = fitted(np.clip(rows, -_HUGE, _HUGE), "l2")
    first, second = np.triu_indices(rows.shape[1])
    weights = np.where(first == second, 1.0, sqrt(2.0))
    found: Floats = scaled[:, first] * scaled[:, second] * weights
    return found


def solved(rows: Floats, *, vector: Vector, penalty: float, bits: Bits) -> Floats:
    """Return the weights of all numbers but the last, the target; each row sends one report."""
    n, m = rows.shape
    total, some = np.zeros(vector.dimension), max(1, _AT_ONCE // vector.dimension)
    for start in range(0, n, some):
        reports = vector.randomize(products(rows[start : start + some]), bits=bits)
        total += vector.decode(reports).sum(axis=0)
    noise = sqrt(vector.error().mean_squared_error / vector.dimension / n)
    return normal_equations(total / n, m, least=noise * sqrt(2.0 * m), penalty=penalty)


def normal_equations(mean: Floats, m: int, *, least: float, penalty: float) -> Floats:
    """Return the weights from the mean of `products`; no eigenvalue counts as less than `least`."""
    first, second = np.triu_indices(m)
    matrix = np.zeros((m, m))
    matrix[first, second] = mean / np.where(first == second, 1.0, sqrt(2.0))
    matrix[second, first] = matrix[first, second]
    inner, target = matrix[:-1, :-1], matrix[:-1, -1]
    values, directions = np.linalg.eigh(inner)
    kept = values + max(0.0, least - values[0]) + penalty
    weights: Floats = directions @ ((directions.T @ target) / kept)
    return weights
