"""From the law of noisy reports back to the law of the values behind them.

Let M[j, i] be the probability of report j when the value lies in bucket i, and y the shares of the reports.

`maximised` finds the shares x that make the reports most likely, by expectation maximisation:
x_i <- x_i * sum_j M[j, i] y_j / (M x)_j. With smoothing, each step is followed by the weights 1/4, 1/2, 1/4
over neighbours (the ends reflect), which flattens what noise made rough: EMS of Li et al. 2020.

`Functional` is another route, without bias: for a question f(i) about the bucket of a person, any weights h
with M^T h = f give E[h(report)] = f(i), whatever the distribution. Among them it takes those of least
variance over equally likely buckets, h = D^-1 M (M^T D^-1 M)^-1 f with D the report shares that such
people would give. h depends on public numbers only, so the estimate is a mean of n independent terms, and
its interval assumes nothing about the distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.local.mean.intervals import CAUTION

Floats = NDArray[np.float64]
MOST_STEPS = 10_000


def maximised(law: Floats, counts: NDArray[np.int64], *, smooth: bool, stop: float) -> Floats:
    """Return the shares of the buckets.

    Args:    law: M, `(reports, buckets)`. counts: of each report. stop: a step that gains less log-likelihood
             than this is the last one.
    """
    shares = np.full(law.shape[1], 1 / law.shape[1])
    seen = counts / counts.sum()
    before = -np.inf
    fitted = law @ shares
    for _ in range(MOST_STEPS):
        shares = shares * (law.T @ (seen / fitted))
        if smooth:
            padded = np.concatenate([shares[:1], shares, shares[-1:]])
            shares = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
        shares /= shares.sum()
        fitted = law @ shares
        now = float(counts @ np.log(fitted))
        if abs(now - before) < stop:
            break
        before = now
    return shares


@dataclass(frozen=True, slots=True, eq=False)
class Functional:
    """Unbiased weights for questions f, one a column. law: M; questions: `(buckets, k)`."""

    law: Floats
    questions: Floats
    weights: Floats

    @classmethod
    def of(cls, law: Floats, questions: Floats) -> Functional:
        """Return the weights of least variance over equally likely buckets."""
        usual = 1 / law.mean(axis=1)
        weighted = law * usual[:, None]
        return cls(law, questions, weighted @ np.linalg.solve(law.T @ weighted, questions))

    def variance(self) -> Floats:
        """Return the variance of one report's term, `(buckets, k)`: for a person in each bucket."""
        return np.asarray(self.law.T @ self.weights**2 - (self.law.T @ self.weights) ** 2)

    def estimate(self, counts: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return the estimates and their standard errors, `(k,)` each.

        The error is that of n terms of the spread that was seen: it includes the choice of people, so it is
        rather too large for these n people. Terms that happen to be alike say too little: where that is less,
        the spread is averaged with 100 terms of the worst variance; and it is at least the least variance
        that a term has for any bucket, of which that of n people is an average.
        """
        n = int(counts.sum())
        seen, variance = counts / n, self.variance()
        value = self.weights.T @ seen
        found = self.weights.T**2 @ seen - value**2
        careful = found + np.maximum(variance.max(axis=0) - found, 0.0) * CAUTION / (n + CAUTION)
        return value, np.sqrt(np.maximum(careful, variance.min(axis=0)) / n)
