"""`dn.local.Vector`: the mean of vectors, from people who trust nobody.

    vector = dn.local.Vector(epsilon=1, dimension=90, norm="l2")
    report = vector.client().report(gradient)                 # on a device
    estimate = vector.estimate(vector.randomize(vectors))     # arrays, for research

| norm   | vectors           | mechanism                                                                   |
|--------|-------------------|-----------------------------------------------------------------------------|
| "l2"   | of length <= 1    | "privunit": a direction near the vector's (`ball`, proof in `proposals`)     |
|        |                   | "privunitg": the same with normal vectors; default above 1,024 dimensions   |
| "linf" | entries in [-1,1] | "sampling": k entries, each by `dn.local.Mean` at epsilon/k (`attributes`)  |
|        |                   | "harmony": one entry, one bit (sampling with k = 1 and Duchi's mechanism)   |
|        |                   | "duchi": a corner of the cube (`corners`)                                   |

The guarantee (epsilon-LDP, between any two vectors) is proved in the module of each mechanism.
"auto" is the one with the least error of a whole report at worst (up to 2 %); it looks at epsilon, dimension
and norm alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits, SystemBits
from deniable.exact import Number, text, whole
from deniable.guarantees import PureDP
from deniable.local import payloads
from deniable.local.client import Client
from deniable.local.estimates import Aggregate, Estimate
from deniable.local.mean.intervals import CAUTION, ENOUGH, FEW
from deniable.local.parameters import Parameters
from deniable.local.reports import Reports
from deniable.local.vector import choosing, reading
from deniable.local.vector.reading import Norm
from deniable.local.vector.scheme import Reals, Scheme
from deniable.mechanisms.additive import spendable

Mechanism = Literal["auto", "privunit", "privunitg", "sampling", "harmony", "duchi"]

_MOST = 1 << 16
_MANY = 50
_NEAR = 9
_UNASKED = "Nobody was asked about some coordinates: they are given as 0, from -1 to 1."


@dataclass(frozen=True, slots=True)
class VectorError:
    """How far off reports and estimates are expected to be, before there are any data.

    worst_variance: of one coordinate among those who report on it, per report, over all vectors.
    mean_squared_error: the most that E |decoded report - v|**2 can be, over all vectors v.
    """

    scheme: Scheme
    worst_variance: float
    mean_squared_error: float

    def variance_at(self, vector: object) -> Reals:
        """Return the variance of each coordinate of one decoded report about this vector, `(d,)`."""
        return self.scheme.variance_at(np.asarray(vector, np.float64))

    def standard_error(self, n: int) -> float:
        """Return the root of the worst mean squared error of the mean of n decoded reports."""
        return float(np.sqrt(self.mean_squared_error / n))


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Vector:
    """Vectors in R**dimension, each within the unit ball of `norm`.

    Args:    epsilon: of one report. dimension: 2 to 65,536. norm: "l2" or "linf".
             mechanism: see the table above.
             k: "sampling": how many entries each person reports: a number, "wang" for floor(epsilon/2.5), at
             least 1, or the best by exact worst-case variance when omitted. mean: the mechanism of each.
    Raises:  ParameterError: an argument is out of range, or they do not go together.

    | value                                  | on a device (`client`)    | in an array (`randomize`)  |
    |----------------------------------------|---------------------------|----------------------------|
    | NaN, None or text as an entry          | 0                         | refused                    |
    | longer than 1, or an entry beyond 1    | scaled, or clipped        | refused                    |
    | another length, or no vector           | the vector of zeros       | refused                    |
    """

    epsilon: Fraction
    dimension: int
    norm: Norm
    scheme: Scheme = field(compare=False)
    parameters: Parameters

    def __init__(
        self,
        *,
        epsilon: Number,
        dimension: int,
        norm: Norm,
        mechanism: Mechanism = "auto",
        k: int | Literal["wang"] | None = None,
        mean: str = "optimal",
    ) -> None:
        spent = spendable(epsilon)
        d = whole(dimension, "dimension", at_least=2, at_most=_MOST)
        scheme = choosing.scheme(spent, d, norm, mechanism, k, mean)
        facts = {"dimension": str(d), "norm": norm, **scheme.facts}
        agreed = Parameters(f"vector/{scheme.name}", spent, tuple(sorted(facts.items())), scheme.table)
        for name, value in (
            ("epsilon", spent),
            ("dimension", d),
            ("norm", norm),
            ("scheme", scheme),
            ("parameters", agreed),
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        shown = f'epsilon={text(self.epsilon)}, dimension={self.dimension}, norm="{self.norm}"'
        shown += f', mechanism="{self.scheme.name}"'
        if self.scheme.name == "sampling":
            shown += ', k={k}, mean="{mean}"'.format(**self.scheme.facts)
        return f"Vector({shown})"

    @property
    def event(self) -> PureDP:
        """What one report costs; a second one costs it again."""
        return PureDP(epsilon=self.epsilon)

    @property
    def quantity(self) -> tuple[tuple[str, str], ...]:
        """What is estimated: only equal quantities combine."""
        return (("dimension", str(self.dimension)), ("mean of vectors", self.norm))

    @property
    def weight(self) -> Fraction:
        """1 / (worst mean squared error of a report)."""
        return 1 / Fraction(self.scheme.largest)

    @property
    def statement(self) -> str:
        """What a report promises, in words."""
        return payloads.statement(
            self.event,
            self.scheme.described,
            "What is no vector counts as zeros, what is too long is shortened.",
        )

    def client(self, bits: Bits | None = None) -> Client:
        """Return the device's end."""
        return Client(self, bits)

    def answer(self, value: object, bits: Bits) -> NDArray[Any]:
        """Return the payload of one report on any object at all, `(1, width)`. Never raises."""
        return self.scheme.payload(reading.one(value, self.dimension, self.norm), bits)

    def randomize(self, values: object, *, bits: Bits | None = None) -> Reports:
        """Return a report for each row of an array `(n, dimension)`.

        Raises:  ParameterError: another shape, or a row that is not within the norm.
        """
        vectors = reading.many(values, self.dimension, self.norm)
        return Reports(self.parameters, self.scheme.payload(vectors, bits or SystemBits()))

    def decode(self, reports: Reports) -> Reals:
        """Return an unbiased vector for each report, `(n, dimension)`: much longer than what it stands for.

        Raises:  ReportError: they were made with other parameters.
        """
        return self.scheme.decoded(self._checked(reports))

    def aggregate(self, reports: Reports) -> Aggregate:
        """Return totals that merge.

        Raises:  ReportError: the reports were made with other parameters.
        """
        payload = self._checked(reports)
        return Aggregate(self, len(payload), self.scheme.totals(payload))

    def estimate(self, reports: Reports, confidence: Number = "0.95") -> Estimate:
        """Return the mean of the vectors, `(dimension,)`, with an interval for each coordinate.

        Raises:  ReportError: other parameters. ParameterError: there are no reports.
        """
        return self.aggregate(reports).estimate(confidence)

    def interpret(self, aggregate: Aggregate, confidence: Fraction) -> Estimate:
        """Return the estimate of an aggregate.

        Each coordinate is the average over those who reported on it, which never depends on the value. Its
        standard error follows from what the reports and the law say together (`_variance`). The interval
        allows for whole numbers and skewness besides, as that of items (`frequency.intervals`).
        """
        counts, sums, squares = aggregate.totals.astype(np.float64)
        asked = np.maximum(counts, 1)
        value = sums / asked * self.scheme.unit
        found = (squares / asked * self.scheme.square_unit - value**2) * asked / np.maximum(counts - 1, 1)
        z = payloads.normal(confidence)
        error = np.sqrt(self._variance(value, found, asked, z) / asked)
        reach = z * error + (0.5 + (z * z + 2) / 6) * self.scheme.jump / asked
        low, high = value - reach, value + reach
        notes: tuple[str, ...] = (FEW,) if float(counts.min()) < ENOUGH else ()
        nobody = counts == 0
        if nobody.any():
            value, error = np.where(nobody, 0.0, value), np.where(nobody, 1.0, error)
            notes = (*notes, _UNASKED)
            low, high = np.where(nobody, -1.0, low), np.where(nobody, 1.0, high)
        return Estimate(value, error, low, high, aggregate.n, confidence, notes)

    def _variance(self, value: Reals, found: Reals, asked: Reals, z: float) -> Reals:
        """Return the variance of an entry of one report, `(d,)`.

        Reports that happen to be alike vary less than the law does. So what was found is averaged with 100
        reports of the most variance that the law has for a value near the estimate, where that is more; and
        is at least what people of this mean give (`Scheme.seconds`). Below 50 reports it is the worst of all.
        """
        reach = z * np.sqrt(self.scheme.spread / asked)
        near = np.linspace(np.clip(value - reach, -1, 1), np.clip(value + reach, -1, 1), _NEAR)
        most = (self.scheme.seconds(near)[1] - near**2).max(axis=0)
        shown = np.clip(value, -1, 1)
        least = self.scheme.seconds(shown)[0] - shown**2
        careful = found + np.maximum(most - found, 0) * CAUTION / (asked + CAUTION)
        variance: Reals = np.where(asked < _MANY, self.scheme.spread, np.maximum(careful, least))
        return variance

    def read(self, data: bytes) -> Reports:
        """Return the reports that clients made, one after the other.

        Raises:  ReportError: the size, the version or the parameters are not those of this protocol.
        """
        return Reports.from_bytes(data, self.parameters, self.scheme.dtype, self.scheme.width)

    def error(self) -> VectorError:
        """Return the expected error, from public parameters alone."""
        return VectorError(self.scheme, self.scheme.spread, self.scheme.largest)

    def inputs(self) -> list[Reals]:
        """Return vectors that an audit compares: ends of the norm's ball, and its middle."""
        first = np.zeros(self.dimension)
        first[0] = 1.0
        full = np.ones(self.dimension)
        if self.norm == "l2":
            full /= np.sqrt(self.dimension)
        return [first, -first, full, -full, np.zeros(self.dimension)]

    def probabilities(self, vector: object) -> Mapping[tuple[int, ...], Fraction]:
        """Return the exact law of a report's payload, where that is small enough to list.

        Raises:  ParameterError: it is not, or this is no vector.
        """
        return self.scheme.probabilities(reading.many([vector], self.dimension, self.norm)[0])

    def _checked(self, reports: Reports) -> NDArray[Any]:
        payloads.fit(reports, self.parameters)
        most = int(np.iinfo(self.scheme.dtype).max)
        return payloads.checked(reports, self.scheme.dtype, self.scheme.width, most + 1)
