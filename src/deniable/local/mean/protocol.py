"""`dn.local.Mean`: the mean of a number that everybody keeps to themselves.

    mean = dn.local.Mean(epsilon=1, bounds=(0, 100))
    mean.error().worst_variance                    # before any data
    report = mean.client().report(37.5)            # on a device
    mean.estimate(mean.randomize(values))          # Estimate(value, standard_error, low, high, n, ...)

Why epsilon is kept.
1. A value becomes a number in [-1, 1] (`_placed`, or `answer` on a device: any object at all becomes one).
2. That becomes a row of an integer table, or a mixture of two neighbouring rows (`Law.rows`).
3. The row's output is drawn with exactly the table's probabilities (`Table.sample`, `Window.sample`).
4. Every table was checked when it was built or loaded: no two entries of a column have a quotient above
   e**epsilon (`Table.check`, `Window.check`; `selecting.law_of`, `carried.restored`). Mixtures keep that.
So the odds of each report differ by at most e**epsilon between any two values that somebody may have; for
"laplace" the proof is in `laplace`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import nan, sqrt
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.bits import Bits, SystemBits
from deniable.errors import ParameterError
from deniable.exact import Number, exact, positive, text, written
from deniable.guarantees import PureDP
from deniable.local.arrays import unmasked
from deniable.local.client import Client, number
from deniable.local.estimates import Aggregate, Estimate
from deniable.local.mean import selecting, words
from deniable.local.mean.carried import restored
from deniable.local.mean.carried import written as written_table
from deniable.local.mean.intervals import ENOUGH, FEW, Range, quantile, standard_error
from deniable.local.mean.laplace import Noise
from deniable.local.mean.laws import Floats, Law
from deniable.local.mean.priors import Objective, Prior, prior, spoken
from deniable.local.parameters import Parameters
from deniable.local.payloads import checked, fit
from deniable.local.reports import Reports

_PIECE = 1 << 16
_LARGEST, _LEAST = Fraction(10) ** 100, 1e-100
Mechanism = Literal["optimal", "duchi", "piecewise", "hybrid", "laplace", "classified"]
MECHANISMS: tuple[Mechanism, ...] = get_args(Mechanism)


@dataclass(frozen=True, slots=True)
class Error:
    """How far off one report is, before any data: exact, in the units of the value, squared."""

    law: Law | Noise
    half: Fraction
    low: Fraction

    @property
    def worst_variance(self) -> Fraction:
        """The variance of a report on the value for which it is largest."""
        return self.law.worst * self.half**2

    @property
    def average_variance(self) -> Fraction:
        """The variance of a report, averaged over all values from low to high alike."""
        return self.law.average() * self.half**2

    def variance_at(self, value: Number) -> Fraction:
        """Return the variance of a report on this value, which is clamped to the bounds."""
        v = (exact(value, "value") - self.low) / self.half - 1
        return self.law.variance_at(min(max(v, Fraction(-1)), Fraction(1))) * self.half**2

    def standard_error(self, n: int) -> float:
        """Return the largest standard error of the mean of n reports."""
        return sqrt(float(self.worst_variance / n))


@dataclass(frozen=True, init=False, repr=False)
class Mean:
    """A protocol for the mean of a number between public bounds.

    Args:    bounds: (low, high). mechanism: see `selecting`, or "laplace". objective: what "optimal" is best
             at, see `priors`.
    Raises:  ParameterError: an argument is out of range; epsilon is below 2**-40.

    | value on a device                | counts as          |
    |----------------------------------|--------------------|
    | a number below low, above high   | low, high          |
    | missing, NaN, text, anything else| the middle         |
    """

    epsilon: Fraction
    bounds: tuple[Fraction, Fraction]
    mechanism: Mechanism
    objective: str
    law: Law | Noise

    def __init__(
        self,
        *,
        epsilon: Number,
        bounds: tuple[Number, Number],
        mechanism: Mechanism = "optimal",
        objective: Objective = "worst",
    ) -> None:
        budget, ends, assumed = _spendable(epsilon), _ends(bounds), prior(objective)
        name = selecting.named(mechanism)
        if assumed is not None and name != "optimal":
            fix = 'Leave objective out, or use mechanism="optimal".'
            raise ParameterError("objective", objective, "is for the optimal mechanism only", fix)
        worded = "worst" if assumed is None else str(assumed)
        self._set(budget, ends, name, worded, _law(name, budget, assumed))

    def _set(
        self,
        epsilon: Fraction,
        bounds: tuple[Fraction, Fraction],
        mechanism: Mechanism,
        objective: str,
        law: Law | Noise,
    ) -> None:
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "bounds", bounds)
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "objective", objective)
        object.__setattr__(self, "law", law)

    def to_json(self) -> dict[str, Any]:
        """Return the protocol as plain JSON values, with its table: for a file, or for the devices."""
        table = written_table(self.law) if isinstance(self.law, Law) else None
        return {
            "deniable": 1,
            "protocol": "mean",
            "epsilon": str(self.epsilon),
            "bounds": [str(end) for end in self.bounds],
            "mechanism": self.mechanism,
            "objective": self.objective,
            "table": table,
            "digest": self.law.digest,
        }

    @classmethod
    def from_json(cls, record: object) -> Mean:
        """Return the protocol that `to_json` wrote. A device may take it from anybody: it is checked here.

        Raises:  ParameterError: this is no such record, or its table does not keep its epsilon.
        """
        if not isinstance(record, Mapping) or (record.get("deniable"), record.get("protocol")) != (1, "mean"):
            raise ParameterError("record", "this", "is no mean protocol", "Give what to_json wrote.")
        epsilon, ends = _spendable(record.get("epsilon")), _ends(record.get("bounds"))
        name, assumed = selecting.named(record.get("mechanism")), spoken(record.get("objective"))
        table = record.get("table")
        law = _law(name, epsilon, assumed) if table is None else restored(table, epsilon)
        if law.digest != record.get("digest"):
            raise ParameterError("record", "this", "has another table than it says", "Write it again.")
        mean = cls.__new__(cls)
        mean._set(epsilon, ends, name, "worst" if assumed is None else str(assumed), law)
        return mean

    def __repr__(self) -> str:
        given = [f"epsilon={text(self.epsilon)}", "bounds=({}, {})".format(*map(text, self.bounds))]
        used = selecting.used(self.mechanism, self.epsilon)
        given += [f"mechanism={self.mechanism!r}" + f" (here {used!r})" * (used != self.mechanism)]
        given += [f"objective={self.objective!r}"] * (self.objective != "worst")
        return f"Mean({', '.join(given)})"

    def __hash__(self) -> int:
        return hash(self.parameters)

    @cached_property
    def parameters(self) -> Parameters:
        """What both ends must agree on."""
        low, high = map(written, self.bounds)
        facts = (("high", high), ("low", low), ("objective", self.objective))
        return Parameters(f"mean/{self.mechanism}", self.epsilon, facts, self.law.digest)

    @property
    def event(self) -> PureDP:
        """What one report costs. Reports of one person add up: `events.Repeated(mean.event, 30)`."""
        return PureDP(epsilon=self.epsilon)

    @property
    def statement(self) -> str:
        """What a report promises and how far off it is, in words."""
        size = np.dtype(self._dtype).itemsize
        used = selecting.used(self.mechanism, self.epsilon)
        return words.statement(used, self.bounds, self.event, size, self.error().worst_variance)

    def error(self) -> Error:
        """Return the exact error of one report, before any data."""
        return Error(self.law, self._half, self.bounds[0])

    def client(self, bits: Bits | None = None) -> Client:
        """Return what makes reports on a device."""
        return Client(self, bits)

    def answer(self, value: object, bits: Bits) -> NDArray[Any]:
        """Return the payload of one report, `(1,)`, for any object."""
        read = number(value)
        low, high = map(float, self.bounds)
        inside = low / 2 + high / 2 if read is None else min(max(read, low), high)
        return self._drawn(self._scaled(np.array([inside])), bits)

    def randomize(self, values: ArrayLike, *, bits: Bits | None = None) -> Reports:
        """Return one report for each value, `(n,)`.

        Raises:  ParameterError: a value is no number, missing or out of bounds. (A device would not raise.)
        """
        v, source = self._scaled(self._placed(values)), SystemBits() if bits is None else bits
        payload = np.empty(len(v), self._dtype)
        for start in range(0, len(v), _PIECE):
            payload[start : start + _PIECE] = self._drawn(v[start : start + _PIECE], source)
        return Reports(self.parameters, payload)

    def read(self, data: bytes | bytearray | memoryview | Iterable[str]) -> Reports:
        """Return reports from bytes, or from lines of JSON.

        Raises:  ReportError: they were made with other parameters, or are none.
        """
        if isinstance(data, bytes | bytearray | memoryview):
            return Reports.from_bytes(bytes(data), self.parameters, self._dtype)
        return Reports.from_json_lines(data, self.parameters, self._dtype)

    def aggregate(self, reports: Reports) -> Aggregate:
        """Return the totals of reports: how often each output came, or the sum.

        Raises:  ReportError: they have other parameters, or hold what is no report of this protocol.
        """
        fit(reports, self.parameters)
        payload = checked(reports, self._dtype, None, 1 << 64)
        return Aggregate(self, len(reports), self.law.totals(payload))

    def estimate(self, reports: Reports, confidence: Number = "0.95") -> Estimate:
        """Return the estimated mean of the values of those who reported, clamped to the bounds."""
        return self.aggregate(reports).estimate(confidence)

    @property
    def quantity(self) -> tuple[tuple[str, str], ...]:
        """What is estimated; equal ones combine, whatever their mechanism and epsilon."""
        low, high = map(written, self.bounds)
        return (("estimates", "mean"), ("high", high), ("low", low))

    @property
    def weight(self) -> Fraction:
        """1 / (worst-case variance of a report)."""
        return 1 / self.error().worst_variance

    def interpret(self, aggregate: Aggregate, confidence: Fraction) -> Estimate:
        """Return the estimate that totals give."""
        n, z = aggregate.n, quantile(confidence)
        mean = self.law.sums(aggregate.totals)[0] / n
        if isinstance(self.law, Law):
            square = self.law.sums(aggregate.totals)[1] / n
            error = standard_error(self._range, n, float(mean), float(square), z)
        else:
            error = sqrt(float(self.law.worst / n))
        value = float(self.bounds[0] + (mean + 1) * self._half)
        wide = error * float(self._half)
        notes = (FEW,) * (n < ENOUGH)
        return Estimate(value, wide, value - z * wide, value + z * wide, n, confidence, notes)

    def inputs(self) -> Sequence[Fraction]:
        """Return the values at which a row is drawn without a mixture; none for "laplace"."""
        if not isinstance(self.law, Law):
            return ()
        points = (self.law.point(place) for place in range(self.law.inputs))
        return [self.bounds[0] + (v + 1) * self._half for v in points]

    def probabilities(self, value: Fraction) -> dict[int, Fraction]:
        """Return the probability of each report for one of `inputs`, exactly."""
        if not isinstance(self.law, Law):
            raise ParameterError("mechanism", self.mechanism, "has no table", "Its noise has no end.")
        place = list(self.inputs()).index(value)
        one = 1 << self.law.drawn.bits
        return {output: Fraction(entry, one) for output, entry in enumerate(self.law.drawn.row(place))}

    @property
    def _half(self) -> Fraction:
        return (self.bounds[1] - self.bounds[0]) / 2

    @property
    def _dtype(self) -> type[np.unsignedinteger[Any]]:
        if not isinstance(self.law, Law):
            return np.uint64
        return np.uint8 if self.law.drawn.outputs <= 1 << 8 else np.uint16

    @cached_property
    def _range(self) -> Range:
        assert isinstance(self.law, Law)
        return Range(self.law)

    def _placed(self, values: ArrayLike) -> Floats:
        """Return the values as floats, `(n,)`; refuse what a device would clamp."""
        low, high = map(float, self.bounds)
        try:
            given = unmasked(values)
        except ParameterError:
            raise
        except ValueError:
            raise _unusable() from None
        if given.dtype.kind == "O":
            given = np.array([_or_nan(number(value)) for value in given.reshape(-1)])
        if given.dtype.kind not in "iuf" or np.ndim(values) != 1:
            raise _unusable()
        floats = given.astype(np.float64)
        if not bool(np.all((floats >= low) & (floats <= high))):
            raise _unusable()
        return floats

    def _scaled(self, values: Floats) -> Floats:
        """Return the values on the way from -1 to 1."""
        low, high = map(float, self.bounds)
        scaled = (values - low) * (2.0 / (high - low))
        scaled -= 1.0
        return np.clip(scaled, -1.0, 1.0, out=scaled)

    def _drawn(self, v: Floats, bits: Bits) -> NDArray[Any]:
        if isinstance(self.law, Law):
            return self.law.drawn.sample(self.law.rows(v, bits), bits)
        return self.law.draw(v, bits)


def _law(name: Mechanism, epsilon: Fraction, assumed: Prior | None) -> Law | Noise:
    return Noise(epsilon) if name == "laplace" else selecting.law_of(name, epsilon, assumed)


def _spendable(epsilon: object) -> Fraction:
    number = positive(epsilon, "epsilon")
    if not number >= selecting.LEAST:
        fix = "Give at least 1e-12: below, no number of people is enough for an estimate."
        raise ParameterError("epsilon", epsilon, "is too small", fix)
    return number


def _ends(bounds: object) -> tuple[Fraction, Fraction]:
    fix = "Give (low, high), two numbers, for example (0, 100)."
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ParameterError("bounds", bounds, "must be two numbers", fix)
    low, high = (exact(end, "bounds") for end in bounds)
    if not (float(high) - float(low) >= _LEAST and max(abs(low), abs(high)) <= _LARGEST):
        raise ParameterError("bounds", bounds, "must rise, by 1e-100 or more, within 1e100", fix)
    return low, high


def _or_nan(read: float | None) -> float:
    return nan if read is None else read


def _unusable() -> ParameterError:
    fix = "Give one row of numbers within the bounds, none missing; numpy.clip does what a device would."
    return ParameterError("values", "an array", "hold something else than numbers within the bounds", fix)
