"""What a server makes of reports: sums that merge, and estimates with intervals.

An `Aggregate` is a count of reports and exact integer totals: a few numbers, whatever the number of people.
Two of the same parameters add up; `combine` joins those of different epsilon.

Mixed epsilon. With w(epsilon) fixed beforehand, the estimate is the sum over people of w * y divided by the
sum of w, where y is a person's unbiased report.
1. `weights="worst"`: w = 1 / (worst-case variance at that epsilon). The variance is nearly as small as it can
   be. What is estimated is the mean weighted by w: the mean of all people only if they chose epsilon
   independently of their value, so the estimate says so.
2. `weights="population"`: w = 1: unbiased for the mean of all people, whoever chose what.
Neither looks at a report: weights that did would favour some reports and bias the result.
Parts of equal parameters are one aggregate first. Of an item that a part knows nothing of, the others tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError, ReportError
from deniable.exact import Number, probability, text
from deniable.local.parameters import Parameters

Value = float | NDArray[np.float64]
_SHOWN = 10
NON_NEGATIVE = "Estimates below 0 were set to 0, which biases them."
SUM_TO_ONE = "Estimates were shifted to sum to 1."
_CHOSEN = (
    "Reports are weighted by the precision of their epsilon. That is the mean of all people only if they "
    'chose epsilon independently of their value; weights="population" needs no such assumption.'
)
_PARTLY = "Some reports tell nothing of some items; there the others stand for all."


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """An estimate for the n people who reported. Arrays have one entry an item, all of one shape.

    value: unbiased unless a note says otherwise. standard_error: of the randomisation alone.
    low, high: about a share `confidence` of such intervals, or more, hold the truth for these people (each
    entry by itself). Each protocol says by which law; tests hold most of them to it, with everybody at an
    end too. notes: sentences on what was assumed or done, and on too few reports where that matters.
    """

    value: Value
    standard_error: Value
    low: Value
    high: Value
    n: int
    confidence: Fraction
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        share = text(100 * self.confidence)
        if not isinstance(self.value, np.ndarray):
            return f"{self.value:.6g}, {self.low:.6g} to {self.high:.6g} ({share} %), from {_told(self.n)}"
        many, low, high = self.value.size, np.asarray(self.low), np.asarray(self.high)
        lines = [f"{many:,} estimate{'s' * (many != 1)} from {_told(self.n)} ({share} %)"]
        for at in islice(np.ndindex(self.value.shape), _SHOWN):
            name = ", ".join(map(str, at))
            lines.append(f"  {name}: {self.value[at]:.6g}, {low[at]:.6g} to {high[at]:.6g}")
        return "\n".join([*lines, *[f"  and {many - _SHOWN:,} more"] * (many > _SHOWN)])

    def non_negative(self) -> Estimate:
        """Return the estimate with everything below 0 set to 0. Biased: small values are rather too large.

        After `sum_to_one` the entries go on summing to 1: it is the same as both in the other order.
        """
        if SUM_TO_ONE in self.notes and isinstance(self.value, np.ndarray):
            return self._adjusted(_simplex(self.value), NON_NEGATIVE)
        return self._adjusted(np.maximum(self.value, 0.0), NON_NEGATIVE)

    def sum_to_one(self) -> Estimate:
        """Return the nearest estimate (least squares) whose entries sum to 1.

        After `non_negative` the entries stay at least 0 as well: the same amount is taken off all, and what
        falls below 0 is 0 (Wang et al. 2020 call it norm-sub). Intervals are widened to hold their entry.
        Raises:  ParameterError: this is a single number.
        """
        if not isinstance(self.value, np.ndarray):
            raise ParameterError("estimate", None, "is a single number", "Only shares of items sum to 1.")
        if NON_NEGATIVE in self.notes:
            return self._adjusted(_simplex(self.value), SUM_TO_ONE)
        return self._adjusted(self.value + (1 - self.value.sum()) / self.value.size, SUM_TO_ONE)

    def _adjusted(self, value: Any, note: str) -> Estimate:
        """Return the estimate with this value, its intervals widened to hold it and cut at 0 if it is."""
        notes = tuple(dict.fromkeys((*self.notes, note)))
        low, high = np.minimum(self.low, value), np.maximum(self.high, value)
        if NON_NEGATIVE in notes:
            low = np.maximum(low, 0.0)
        if not isinstance(self.value, np.ndarray):
            value, low, high = float(value), float(low), float(high)
        return replace(self, value=value, low=low, high=high, notes=notes)


class Estimator(Protocol):
    """What a protocol gives to its aggregates."""

    @property
    def parameters(self) -> Parameters:
        """The parameters of the reports."""
        ...

    @property
    def quantity(self) -> tuple[tuple[str, str], ...]:
        """What is estimated, as names and exact text: ("mean", "0 to 100"). Only equal ones combine."""
        ...

    @property
    def weight(self) -> Fraction:
        """1 / (worst-case variance of one report): a fixed function of the parameters."""
        ...

    def interpret(self, aggregate: Aggregate, confidence: Fraction) -> Estimate:
        """Return the estimate that the totals give; n is at least 1."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate:
    """Totals of n reports. totals: int64, of a shape that the protocol fixes; sums are exact or refused."""

    protocol: Estimator
    n: int
    totals: NDArray[np.int64]

    @property
    def parameters(self) -> Parameters:
        """The parameters of the reports."""
        return self.protocol.parameters

    def __repr__(self) -> str:
        return f"<aggregate of {_told(self.n)} of {self.parameters.protocol}>"

    def __add__(self, other: Aggregate) -> Aggregate:
        """Return the aggregate of both.

        Raises:  ReportError: another protocol, other parameters, or more reports than 64 bits can add up.
        """
        if not isinstance(other, Aggregate):
            return NotImplemented
        self.parameters.check(other.parameters)
        with np.errstate(over="ignore"):
            totals = self.totals + other.totals
        if bool(np.any((self.totals ^ totals) & (other.totals ^ totals) < 0)):
            raise ReportError("These are too many reports to add up in 64 bits.", differs="size")
        return Aggregate(self.protocol, self.n + other.n, totals)

    def estimate(self, confidence: Number = "0.95") -> Estimate:
        """Return the estimate.

        Raises:  ParameterError: there are no reports, or confidence is not in (0, 1).
        """
        sure = confident(confidence)
        if self.n < 1:
            raise ParameterError("aggregate", self, "holds no reports", "Collect at least one.")
        return self.protocol.interpret(self, sure)


def confident(confidence: Number) -> Fraction:
    """Return the confidence, exactly; refuse what is not between 0 and 1."""
    sure = probability(confidence, "confidence")
    if not sure > 0:
        raise ParameterError("confidence", confidence, "must be above 0", "Give for example '0.95'.")
    return sure


def combine(
    aggregates: Iterable[Aggregate],
    *,
    weights: Literal["worst", "population"] = "worst",
    confidence: Number = "0.95",
) -> Estimate:
    """Return one estimate from aggregates at different epsilon (see the top of this module).

    Raises:  ParameterError: no reports, other weights. ReportError: they do not estimate the same thing.
    """
    if weights not in ("worst", "population"):
        raise ParameterError("weights", weights, "is unknown", "Write 'worst' or 'population'.")
    parts = _alike(aggregates)
    sure = confident(confidence)
    if len(parts) == 1:
        return parts[0].estimate(sure)
    found = [part.estimate(sure) for part in parts]
    shares = [part.n * (part.protocol.weight if weights == "worst" else Fraction(1)) for part in parts]
    factors = [float(share / sum(shares, Fraction(0))) for share in shares]
    notes = tuple(dict.fromkeys(note for one in found for note in one.notes))
    if weights == "worst" and len({part.protocol.weight for part in parts}) > 1:
        notes = (*notes, _CHOSEN)
    if not all(bool(np.all(np.isfinite(one.value))) for one in found):
        notes = (*notes, _PARTLY)
    return Estimate(*_weighted(factors, found), sum(part.n for part in parts), sure, notes)


def _alike(aggregates: Iterable[Aggregate]) -> list[Aggregate]:
    """Return the aggregates that hold reports, one of each parameters; refuse none, and other quantities."""
    parts: dict[bytes, Aggregate] = {}
    for part in aggregates:
        if part.n:
            key = part.parameters.fingerprint
            parts[key] = parts[key] + part if key in parts else part
    if not parts:
        raise ParameterError("aggregates", [], "hold no reports", "Collect at least one.")
    first, *others = parts.values()
    if any(other.protocol.quantity != first.protocol.quantity for other in others):
        raise ReportError("These reports do not estimate the same thing.", differs="quantity")
    return [first, *others]


def _weighted(factors: Sequence[float], found: Sequence[Estimate]) -> tuple[Value, Value, Value, Value]:
    """Return value, standard error, low and high of a weighted sum of independent estimates.

    Each entry is weighed among the parts that know it; what none knows keeps the ends of the first part.
    """
    values = np.array([one.value for one in found], float)
    known = np.isfinite(values)
    weights = np.where(known, np.reshape(factors, (-1, *[1] * (values.ndim - 1))), 0.0)
    told, total = known.any(axis=0), weights.sum(axis=0)
    weights = weights / np.where(told, total, 1.0)

    def joined(sides: list[Value]) -> NDArray[np.float64]:
        return np.asarray(np.sqrt((np.where(known, weights * np.array(sides, float), 0.0) ** 2).sum(axis=0)))

    value = np.where(told, np.where(known, weights * values, 0.0).sum(axis=0), np.nan)
    error = np.where(told, joined([one.standard_error for one in found]), np.nan)
    above = joined([one.high - one.value for one in found])
    below = joined([one.value - one.low for one in found])
    low = np.where(told, value - below, found[0].low)
    high = np.where(told, value + above, found[0].high)
    first, second, third, fourth = (float(one) if one.ndim == 0 else one for one in (value, error, low, high))
    return first, second, third, fourth


def _told(reports: int) -> str:
    return f"{reports:,} report{'s' * (reports != 1)}"


def _simplex(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the nearest vector of numbers at least 0 that sum to 1 (Duchi et al. 2008)."""
    falling = np.sort(value, axis=None)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, falling.size + 1)
    last = np.flatnonzero(falling > excess)[-1]
    nearest: NDArray[np.float64] = np.maximum(value - excess[last], 0.0)
    return nearest
