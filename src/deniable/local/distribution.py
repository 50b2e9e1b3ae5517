"""`dn.local.Distribution`: how a number is distributed, from reports that are near it more often than far.

    protocol = dn.local.Distribution(epsilon=1, bounds=(0, 100))
    found = protocol.estimate(protocol.randomize(values))
    found.value, found.quantile("0.5"), found.mean

Square Wave (Li et al. 2020), in whole numbers. The bounds are cut into d buckets; reports are 0 to
d + 2B - 1. Bucket i answers i, ..., i + 2B ("near") with probability P / 2**32 each, every other report with
Q / 2**32 (or Q + 1, so that the row sums to 2**32). B, their half-width, is the floor of d times
(epsilon e**epsilon - e**epsilon + 1) / (2 e**epsilon (e**epsilon - 1 - epsilon)).

Guarantee, for two values v, w of one person and any report:
1. A value becomes a bucket by a public rule (`_bucket`), so only rows of the table are compared.
2. `_row` chooses the largest P <= R Q with R <= e**epsilon, and Q + 1 <= P: two entries of one column differ
   by at most P / Q <= e**epsilon. `Table.check` holds this again, for every column, in rationals.
3. The report is drawn from the row exactly (`Table.sample`).

| estimate       | how                                 | its interval, for any distribution             |
|----------------|-------------------------------------|------------------------------------------------|
| value (shares) | EMS or EM: too smooth, or too rough | of an unbiased estimate, widened to the value  |
| mean           | unbiased, for bucket middles        | half a bucket is added                         |
| quantile       | from the shares                     | see `Shape.quantile`                           |
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.bits import Bits, SystemBits
from deniable.errors import ParameterError
from deniable.exact import Number, positive, probability, text, whole
from deniable.guarantees import PureDP
from deniable.local.client import Client
from deniable.local.coins import ONE, bounded, most, place, places
from deniable.local.deconvolution import Floats, Functional, maximised
from deniable.local.estimates import Aggregate, Estimate
from deniable.local.mean.intervals import ENOUGH, FEW
from deniable.local.parameters import Parameters
from deniable.local.payloads import Readable, checked, fit, normal, one, statement
from deniable.local.reports import Reports
from deniable.local.tables import Table

_SMOOTH = "Shares were smoothed: narrow peaks come out flatter than they are."
_ROUGH = "Shares are those that make the reports most likely: with noise they are rougher than the truth."
_SURE = "Intervals are those of unbiased estimates and assume nothing about the distribution."
_LARGE = 40


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shape(Estimate):
    """The shares of the buckets, `(buckets,)`, with their edges, `(buckets + 1,)`, and the mean.

    band: for each edge the least and the most that the share of people below it can be, pointwise at
    `confidence`, for any distribution (`Distribution.interpret`).
    """

    edges: Floats
    mean: Estimate
    band: tuple[Floats, Floats]

    def quantile(self, q: Number) -> Estimate:
        """Return the value that a share q of people lie below: from the shares, but within its interval.

        Why the interval, which is taken from the band, holds the true quantile t, with probability
        `confidence`: `low` is the first edge at which the band's upper end reaches q. Were it above t, the
        upper end at the edge just above t would be below q, which is at most the true share there: that has
        probability (1 - confidence)/2. `high` likewise.
        """
        at = float(probability(q, "q"))
        below = np.concatenate([[0.0], np.cumsum(self.value)])
        value = float(np.interp(at, below, self.edges))
        low = self.edges[max(int(np.argmax(self.band[1] >= at)) - 1, 0)]
        under = np.flatnonzero(self.band[0] <= at)
        high = self.edges[min(int(under[-1]) + 1 if len(under) else 0, len(self.edges) - 1)]
        low, high = float(low), max(float(high), float(low))
        error = (high - low) / (2 * normal(self.confidence))
        return Estimate(min(max(value, low), high), error, low, high, self.n, self.confidence, self.notes)


@dataclass(frozen=True, init=False, repr=False)
class Distribution(Readable):
    """A protocol for the distribution of a number.

    Args:    bounds: values outside are clamped by a device; no value at all is the middle. buckets: 2 to 512.
             method: "ems" (smooth) or "em".
    Raises:  ParameterError: an argument is out of range.
    """

    epsilon: Fraction
    bounds: tuple[Fraction, Fraction]
    buckets: int
    method: str

    def __init__(
        self, *, epsilon: Number, bounds: tuple[Number, Number], buckets: int = 256, method: str = "ems"
    ) -> None:
        if method not in ("ems", "em"):
            raise ParameterError("method", method, "is unknown", "Write 'ems' or 'em'.")
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "bounds", bounded(bounds))
        object.__setattr__(self, "buckets", whole(buckets, "buckets", at_least=2, at_most=512))
        object.__setattr__(self, "method", method)
        self.table.check(self.epsilon)

    def __repr__(self) -> str:
        low, high = map(text, self.bounds)
        return f"Distribution(epsilon={text(self.epsilon)}, bounds=({low}, {high}), buckets={self.buckets})"

    @cached_property
    def reach(self) -> int:
        """B: a report is near when it is at most so many buckets from the value's own."""
        return _reach(self.epsilon, self.buckets)

    @cached_property
    def table(self) -> Table:
        """The law of a report for each bucket."""
        near = 2 * self.reach + 1
        high, low = _odds(most(self.epsilon), near, self.buckets - 1)
        return Table([_row(place, near, high, low, self.buckets) for place in range(self.buckets)])

    @cached_property
    def parameters(self) -> Parameters:
        """What travels with the reports."""
        low, high = self.bounds
        facts = (("bounds", f"{low} to {high}"), ("buckets", str(self.buckets)), ("reach", str(self.reach)))
        return Parameters("distribution/square-wave", self.epsilon, facts, self.table.digest)

    @property
    def form(self) -> tuple[type[np.uint16], None]:
        """Type and width of a payload: `Reports.from_bytes(data, protocol.parameters, *protocol.form)`."""
        return np.uint16, None

    @property
    def event(self) -> PureDP:
        """What one report costs."""
        return PureDP(epsilon=self.epsilon)

    @property
    def statement(self) -> str:
        """What a report promises, in words."""
        low, high = map(text, self.bounds)
        return statement(
            self.event,
            f"A report is a number near the value's place between {low} and {high} ({self.buckets} "
            "buckets) more often than any other number. A value outside counts as the nearer bound, no "
            "value as the middle.",
        )

    @property
    def quantity(self) -> tuple[tuple[str, str], ...]:
        """What is estimated."""
        return (("distribution", f"{self.bounds[0]} to {self.bounds[1]}, {self.buckets} buckets"),)

    @property
    def weight(self) -> Fraction:
        """1 / (worst variance of the mean from one report)."""
        return 1 / Fraction(self.error())

    def client(self, bits: Bits | None = None) -> Client:
        """Return what makes reports on a device."""
        return Client(self, bits)

    def answer(self, value: object, bits: Bits) -> NDArray[np.uint16]:
        """Return the payload of one report."""
        bucket = min(place(value, self.bounds, self.buckets) >> 32, self.buckets - 1)
        return self.table.sample(one(bucket, np.int64), bits).astype(np.uint16)

    def randomize(self, values: ArrayLike, *, bits: Bits | None = None) -> Reports:
        """Return one report for each number.

        Raises:  ParameterError: some value is no number within the bounds.
        """
        at = np.minimum(places(values, self.bounds, self.buckets) >> 32, self.buckets - 1)
        return Reports(self.parameters, self.table.sample(at, bits or SystemBits()).astype(np.uint16))

    def aggregate(self, reports: Reports) -> Aggregate:
        """Return how often each report was given, `(buckets + 2 * reach,) int64`.

        Raises:  ReportError: the reports were made with other parameters.
        """
        fit(reports, self.parameters)
        codes = checked(reports, *self.form, self.table.outputs)
        return Aggregate(self, len(codes), np.bincount(codes, minlength=self.table.outputs).astype(np.int64))

    def estimate(self, reports: Reports, confidence: Number = "0.95") -> Shape:
        """Return shares, mean and quantiles."""
        found = self.aggregate(reports).estimate(confidence)
        assert isinstance(found, Shape)
        return found

    def error(self) -> float:
        """Return the worst variance of the mean from one report, in squared units of the value."""
        return float(self._mean.variance().max()) * float(self.bounds[1] - self.bounds[0]) ** 2

    def inputs(self) -> list[float]:
        """Return the middle of every bucket: all that a value can become."""
        low, high = self.bounds
        return [
            float(low + (high - low) * Fraction(2 * at + 1, 2 * self.buckets)) for at in range(self.buckets)
        ]

    def probabilities(self, value: float) -> dict[int, Fraction]:
        """Return the law of a report."""
        bucket = min(place(value, self.bounds, self.buckets) >> 32, self.buckets - 1)
        return {report: Fraction(weight, ONE) for report, weight in enumerate(self.table.entries[bucket])}

    def interpret(self, aggregate: Aggregate, confidence: Fraction) -> Shape:
        """Return shares by EM or EMS; intervals by unbiased estimates.

        band: F_w(k) is the share of people below edge k, counted with a weight that falls from 1 to 0 over w
        buckets around it. It has an unbiased estimate whose variance is in proportion to 1/w, and lies
        between the shares below the edges k - w/2 and k + w/2: so the band at an edge is taken from w/2
        buckets further on either side. w is chosen from n and epsilon alone (`_width`).
        """
        counts, sure = aggregate.totals, normal(confidence)
        stop = 1e-3 * exp(min(float(self.epsilon), 10.0))
        shares = maximised(self._law, counts, smooth=self.method == "ems", stop=stop)
        value, error = self._shares.estimate(counts)
        low = np.clip(np.minimum(value - sure * error, shares), 0, 1)
        high = np.clip(np.maximum(value + sure * error, shares), 0, 1)
        notes: tuple[str, ...] = (_SMOOTH if self.method == "ems" else _ROUGH, _SURE)
        notes += (FEW,) if aggregate.n < ENOUGH else ()
        return Shape(
            shares, error, low, high, aggregate.n, confidence, notes,
            edges=self._edges, mean=self._centre(counts, confidence, notes[2:]),
            band=self._band(counts, sure),
        )  # fmt: skip

    def _centre(self, counts: NDArray[np.int64], confidence: Fraction, notes: tuple[str, ...]) -> Estimate:
        """Return the mean of the bucket middles; half a bucket is added to its interval."""
        value, error = (float(part[0]) for part in self._mean.estimate(counts))
        low, length = float(self.bounds[0]), float(self.bounds[1] - self.bounds[0])
        reach = normal(confidence) * error + 0.5 / self.buckets
        ends = (low + length * (value - reach), low + length * (value + reach))
        return Estimate(low + length * value, length * error, *ends, int(counts.sum()), confidence, notes)

    def _band(self, counts: NDArray[np.int64], sure: float) -> tuple[Floats, Floats]:
        half = self._width(int(counts.sum())) // 2
        edges = np.arange(self.buckets + 1)
        middles = np.arange(self.buckets) + 0.5
        falls = np.clip(0.5 + (edges - middles[:, None]) / max(2 * half, 1), 0, 1)
        asked = falls if half else (middles[:, None] < edges).astype(np.float64)
        value, error = Functional.of(self._law, asked).estimate(counts)
        low, high = np.clip(value - sure * error, 0, 1), np.clip(value + sure * error, 0, 1)
        low, high = np.concatenate([np.zeros(half), low])[: len(edges)], np.append(high, np.ones(half))[half:]
        low[0], high[0], low[-1], high[-1] = 0.0, 0.0, 1.0, 1.0
        return low, high

    def _width(self, n: int) -> int:
        """Return w in buckets: where the error of a step's estimate is about as wide as its blur."""
        share: float = (4 * self._steepness / n) ** (1 / 3)
        return min(max(round(share * self.buckets), 1), self.buckets)

    @cached_property
    def _law(self) -> Floats:
        return np.array(self.table.entries, np.float64).T / ONE

    @cached_property
    def _edges(self) -> Floats:
        return np.linspace(float(self.bounds[0]), float(self.bounds[1]), self.buckets + 1)

    @cached_property
    def _mean(self) -> Functional:
        return Functional.of(self._law, (np.arange(self.buckets)[:, None] + 0.5) / self.buckets)

    @cached_property
    def _shares(self) -> Functional:
        return Functional.of(self._law, np.eye(self.buckets))

    @cached_property
    def _steepness(self) -> float:
        """The worst variance of an unbiased step in the middle, times the width of a bucket."""
        step = (np.arange(self.buckets)[:, None] < self.buckets // 2).astype(np.float64)
        return float(Functional.of(self._law, step).variance().max()) / self.buckets


def _reach(epsilon: Fraction, buckets: int) -> int:
    """Return the half-width B in buckets (the formula at the top of this module)."""
    e = float(min(epsilon, Fraction(_LARGE)))
    if e < 1e-3:
        return buckets // 2
    grown = exp(e)
    return int(buckets * (e * grown - grown + 1) / (2 * grown * (grown - 1 - e)))


def _odds(ratio: Fraction, near: int, far: int) -> tuple[int, int]:
    """Return P, the largest with P <= ratio * Q, and Q = floor((2**32 - near P) / far)."""
    high = ONE * ratio.numerator // (near * ratio.numerator + far * ratio.denominator)
    while not high * ratio.denominator <= ratio.numerator * ((ONE - near * high) // far):
        high -= 1
    low = (ONE - near * high) // far
    if not high > low:
        raise ParameterError("epsilon", None, "is too small to learn anything", "Give at least 1e-6.")
    return high, low


def _row(place: int, near: int, high: int, low: int, buckets: int) -> list[int]:
    """Return the weights of all reports for one bucket; the first far ones take what is left over."""
    far = buckets - 1
    left = ONE - near * high - far * low
    others = [low + (number < left) for number in range(far)]
    return [*others[:place], *[high] * near, *others[place:]]
