"""The limit: how small the variance of one report can be, whatever the mechanism.

For unbiased mechanisms that keep epsilon, of a value in [-1, 1]. `lower` is proved for all of them by the
dual of a linear program (`program`); `upper` is what a mechanism of this package achieves.

| epsilon      | worst case, lower                                     | average under a prior, lower |
|--------------|-------------------------------------------------------|------------------------------|
| below 0.1    | 1 / sinh(epsilon / 2)**2 (see below)                  | not known                    |
| 0.1 to 8     | the dual                                              | the dual                     |
| 8 to 20      | a certificate (`large`), some 10 % below the limit    | not known                    |
| above 20     | a closed form (`large`), about half of that           | not known                    |

The closed form for small epsilon. Let P and Q be the laws of reports on 1 and -1. Their means differ by 2, so
by the inequality of Cauchy and Schwarz 4 <= chi2(P, Q) * (variance on -1). With e**-epsilon <= p/q <=
e**epsilon the divergence is at most that of two-point ratios, (e**epsilon - 1)**2 / e**epsilon = 4 sinh**2,
sinh at epsilon / 2. Duchi's mechanism has variance 1 / sinh**2 at both ends and 1 / tanh**2 = 1 + 1 / sinh**2
in the middle: for small epsilon the two differ by a factor below 1 + epsilon**2 / 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sinh, tanh

import numpy as np

from deniable.errors import ParameterError
from deniable.exact import Number, positive
from deniable.local.mean import large, shipped
from deniable.local.mean.optimal import LEAST, MOST, achieved, grid_for
from deniable.local.mean.priors import Objective, Prior, prior
from deniable.local.mean.program import Certificate, solve
from deniable.local.mean.selecting import LEAST as SMALLEST
from deniable.local.mean.selecting import optimal

_WIDER = 1.1
_FAR = 2.3
_LARGE, _CLOSED = Fraction(20), Fraction(600)


@dataclass(frozen=True, slots=True)
class Limit:
    """What the variance of one report on a value in [-1, 1] can be at best: between lower and upper.

    As a float it is `lower`.
    """

    epsilon: Fraction
    objective: str
    lower: float
    upper: float

    def __float__(self) -> float:
        return self.lower

    @property
    def tight(self) -> bool:
        """Whether lower and upper are within 1 %, so that the limit is known and not only bounded."""
        return self.upper <= 1.01 * self.lower

    def times(self, variance: float) -> float:
        """Return how many times the limit a variance is, at most."""
        return float(variance) / self.lower


def limit(epsilon: Number, objective: Objective = "worst") -> Limit:
    """Return the limit for an epsilon.

    Raises:  ParameterError: epsilon is not from 2**-40 to 600; for a prior, not from 0.1 to 8.
    """
    number, assumed = positive(epsilon, "epsilon"), prior(objective)
    if not SMALLEST <= number <= _CLOSED or (assumed is not None and not LEAST <= number <= MOST):
        fix = "The limit is known from epsilon 1e-12 to 600; under a prior from 0.1 to 8."
        raise ParameterError("epsilon", epsilon, "is out of range", fix)
    upper = achieved(optimal(number, assumed), assumed)
    name = "worst" if assumed is None else str(assumed)
    return Limit(number, name, lower(number, assumed), upper)


@lru_cache(maxsize=64)
def lower(epsilon: Fraction, assumed: Prior | None) -> float:
    """Return the proved lower bound."""
    e = float(epsilon)
    if epsilon < LEAST:
        return 1 / sinh(e / 2) ** 2
    if epsilon > MOST:
        return max(large.flat(e), large.certificate(e).bound(e) if epsilon <= _LARGE else 0.0)
    spread = 0.0 if assumed is None else assumed.cells(grid_for(epsilon).inputs).spread
    stored = shipped.certificate(epsilon, assumed)
    proof = stored or certificate(epsilon, assumed)
    return proof.bound(e) - spread


def certificate(epsilon: Fraction, assumed: Prior | None, *, finer: float = 1.5) -> Certificate:
    """Return the numbers that prove a bound; finer: how many times more outputs than a mechanism has."""
    grid = grid_for(epsilon)
    count = round(grid.outputs * finer / 2) * 2
    far = (grid.reach * _WIDER if assumed is None else _FAR) / tanh(float(epsilon) / 2)
    outputs = np.linspace(-far, far, count)
    if assumed is None:
        return solve(float(epsilon), np.linspace(0, 1, grid.inputs), outputs).certificate.lifted(
            float(epsilon)
        )
    cells = assumed.cells(grid.inputs)
    inputs, weights = np.append(cells.means, 1.0), np.append(cells.masses, 0.0)
    return solve(float(epsilon), inputs, outputs, weights).certificate.lifted(float(epsilon))
