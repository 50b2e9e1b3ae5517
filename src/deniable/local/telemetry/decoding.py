"""RAPPOR's other half: from bits of many reports to shares of candidates, by one linear regression.

Let X[(c, i), s] = 1 if candidate s sets bit i in cohort c. One more column, the average density of a
filter, stands for texts that are no candidate. With C cohorts and n reports, of which N_c in cohort c and
b_ci of those with bit i, let y_ci = (C / n) (b_ci - p* N_c) / (q* - p*).

1. A person with text v adds (C / n) X[(c, i), v] to y_ci on average over reports of cohort c, and is in
   cohort c with probability 1/C: so E[y] = X share, if all texts are candidates. This is exact.
2. share = A y with A = (X^T X)^-1 X^T is therefore unbiased: A X is the identity, and A is public.
3. Its variance has two parts. Coins: y_ci has (C/n)^2 N_c r (1 - r) / (q* - p*)^2 at most, r the rate of
   ones. Cohorts: a person with text v adds C/n sum_i A[s, (c, i)] X[(c, i), v], which varies with c around
   1/n or 0; for texts that are no candidate, bits set at random with the average density are taken.
4. The share of s is a mean of n independent parts, one of each report. Of people with another text v each
   has mean 0 (step 2), is at most B = C max_c sum_i max(A (1 - p*), -A p*) / (q* - p*) and has the second
   moment of step 3; let V be the largest over v. By Bernstein's inequality the share of a candidate that
   nobody has exceeds sqrt(2 V L / n) + B L / (3 n) with probability e**-L at most, for any n.
5. A candidate is *found* if its share does, with e**-L = (1 - confidence) / candidates (Bonferroni): so all
   candidates that are found are truly there together, with probability `confidence`.
6. Of candidates near that bound only those are found whose share came out too large. Intervals of one share
   each would miss the truth of these often, so all candidates have intervals that hold together: normal,
   each at 1 - (1 - confidence) / candidates (Bonferroni again). Whatever is picked among them, they hold.

What is not covered: a text that many have and nobody named sets bits like the candidates that share them.
The share of such texts, all together, is `other`.
Source: the model is that of Erlingsson, Pihur, Korolova 2014, section 4; they select with the lasso first,
whose errors have no closed form. Least squares on all candidates need none, where cohorts * bits exceed
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.exact import Number
from deniable.local.estimates import Aggregate, Estimate, confident
from deniable.local.payloads import normal
from deniable.local.telemetry import texts

if TYPE_CHECKING:
    from deniable.local.telemetry.rappor import RAPPOR

Floats = NDArray[np.float64]
_MOST = 2000
_TOGETHER = "The intervals of all candidates hold together, also those of the ones that are found."
_NAMED = "Shares are unbiased if every text is a candidate or rare; about {share:.1%} hold another text."


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Decoded(Estimate):
    """The share of each candidate, `(candidates,)`, and of all other texts together.

    found: which candidates are truly there, all together at `confidence`. So are the intervals (step 6).
    """

    candidates: tuple[str, ...]
    found: NDArray[np.bool_]
    other: Estimate

    def __str__(self) -> str:
        order = np.argsort(-np.asarray(self.value))
        lines = [f"{int(self.found.sum())} of {len(self.candidates)} candidates found in {self.n:,} reports"]
        low, high = np.asarray(self.low), np.asarray(self.high)
        for place in order[self.found[order]]:
            share = np.asarray(self.value)[place]
            name = self.candidates[place][:40]
            lines.append(f"  {name:<40} {share:7.2%}  {low[place]:7.2%} to {high[place]:7.2%}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """The public part: X as `(cohorts, bits, candidates + 1)`, A as `(candidates + 1, cohorts, bits)`."""

    protocol: RAPPOR
    design: Floats
    solution: Floats

    @classmethod
    def of(cls, protocol: RAPPOR, candidates: Sequence[str]) -> Regression:
        """Return X and A (step 2).

        Raises:  ParameterError: candidates are too many, twice the same, or not told apart by their bits.
        """
        told = texts.listed(candidates)
        most = min(_MOST, protocol.cohorts * protocol.bits // 2)
        if not 1 <= len(told) <= most or len(set(told)) != len(told):
            fix = "More cohorts or bits allow more candidates, up to 2,000."
            raise ParameterError("candidates", len(told), f"must be 1 to {most:,} different texts", fix)
        named = texts.design(told, protocol.cohorts, protocol.hashes, protocol.bits)
        density = 1 - (1 - 1 / protocol.bits) ** protocol.hashes
        whole = np.concatenate([named, np.full((*named.shape[:2], 1), density)], axis=2)
        flat = whole.reshape(-1, whole.shape[2])
        gram = flat.T @ flat
        sizes = np.linalg.eigvalsh(gram)
        if not sizes[0] > 1e-10 * sizes[-1]:
            fix = "Take more cohorts: then two texts rarely share all their bits."
            raise ParameterError("candidates", len(told), "cannot be told apart by their bits", fix)
        solution = np.linalg.solve(gram, flat.T)
        return cls(protocol, whole, solution.reshape(-1, *whole.shape[:2]))

    def worst(self) -> Floats:
        """Return the largest variance that coins can give to each candidate, times n."""
        p, q = (float(rate) for rate in self.protocol.rates)
        return np.asarray(
            self.protocol.cohorts * (self.solution[:-1] ** 2).sum(axis=(1, 2)) / (4 * (q - p) ** 2)
        )

    def shares(self, aggregate: Aggregate) -> tuple[Floats, Floats]:
        """Return the shares and their variances, the one of other texts last (steps 2 and 3)."""
        p, q = (float(rate) for rate in self.protocol.rates)
        many = aggregate.totals[:, -1:].astype(np.float64)
        scale = self.protocol.cohorts / aggregate.n / (q - p)
        excess = aggregate.totals[:, :-1] - p * many
        value = scale * np.einsum("sci,ci->s", self.solution, excess)
        ones = np.clip(excess / (q - p), 0, many)
        coins = many * p * (1 - p) + ones * (q * (1 - q) - p * (1 - p))
        variance = scale**2 * np.einsum("sci,ci->s", self.solution**2, coins)
        return value, variance + self._by_cohort(np.maximum(value, 0)) / aggregate.n

    def least(self, n: int, level: float) -> Floats:
        """Return what each share exceeds with this probability at most if nobody has that text (step 4)."""
        p, q = (float(rate) for rate in self.protocol.rates)
        cohorts, own, likely = self.protocol.cohorts, self.solution[:-1], -log(level)
        most = cohorts * np.maximum(own * (1 - p), -own * p).sum(axis=2).max(axis=1) / (q - p)
        coins = cohorts * (own**2).sum(axis=(1, 2)) * max(p * (1 - p), q * (1 - q)) / (q - p) ** 2
        square, spread = self._squares()
        others = square[:-1] * ~np.eye(*square[:-1].shape, dtype=np.bool_)
        others[:, -1] += spread[:-1]
        second = coins + others.max(axis=1)
        return np.asarray(np.sqrt(2 * second * likely / n) + most * likely / (3 * n))

    def _by_cohort(self, shares: Floats) -> Floats:
        """Return the variance of one person's part over cohorts, for people with these shares (step 3)."""
        square, spread = self._squares()
        return np.asarray(np.maximum(square - np.eye(len(shares)), 0) @ shares + spread * shares[-1])

    def _squares(self) -> tuple[Floats, Floats]:
        """Return the mean square over cohorts of a person's part, and what random bits add to it."""
        cohorts = self.protocol.cohorts
        square = np.zeros((len(self.solution), len(self.solution)))
        for cohort in range(cohorts):
            square += (cohorts * self.solution[:, cohort, :] @ self.design[cohort]) ** 2 / cohorts
        density = float(self.design[0, 0, -1])
        spread = cohorts * (self.solution**2).sum(axis=(1, 2)) * density * (1 - density)
        return square, spread


def decode(protocol: RAPPOR, aggregate: Aggregate, candidates: Sequence[str], confidence: Number) -> Decoded:
    """Return the shares of the candidates (steps 1 to 6)."""
    sure = confident(confidence)
    if aggregate.n < 1:
        raise ParameterError("reports", aggregate, "are none", "Collect at least one.")
    regression = Regression.of(protocol, candidates)
    value, variance = regression.shares(aggregate)
    error = np.sqrt(variance)
    each = normal(1 - (1 - sure) / len(candidates))
    reach = error * np.append(np.full(len(candidates), each), normal(sure))
    least = regression.least(aggregate.n, float(1 - sure) / len(candidates))
    notes = (_NAMED.format(share=max(float(value[-1]), 0.0)), _TOGETHER)
    other = _estimate(value[-1:], error[-1:], reach[-1:], aggregate.n, sure)
    return Decoded(
        value[:-1],
        error[:-1],
        (value - reach)[:-1],
        (value + reach)[:-1],
        aggregate.n,
        sure,
        notes,
        candidates=tuple(str(one) for one in candidates),
        found=np.asarray(value[:-1] > least),
        other=other,
    )


def _estimate(value: Floats, error: Floats, reach: Floats, n: int, sure: Fraction) -> Estimate:
    middle, half = float(value[0]), float(reach[0])
    return Estimate(middle, float(error[0]), middle - half, middle + half, n, sure)
