"""1BitMean: the mean of a number from one bit a person, the same bit day after day.

1. The bounds are cut into S equal segments by S + 1 grid points. The device draws a shift once, uniform below
   one segment; a value between two grid points counts as the upper one if value + shift reaches it, else as
   the lower one (alpha-point rounding). Over the shift that is right on average.
2. For grid point g the bit is 1 with probability T_g / 2**32, T_g = (2**32 - S d)/2 + g d: a straight line.
3. The bit for each grid point is drawn once and remembered. A value that stays near one grid point costs
   epsilon once, however often it is reported and however it moves there.

Guarantee, for two values of one person and everything reported while either counts as one grid point:
1. The shift is drawn apart from the value; given it, the bits are those of two grid points.
2. T_g and 2**32 - T_g lie between 2**32 - T_S and T_S, and T_S <= K (`slope`), K / (2**32 - K) <=
   e**epsilon: the largest odds of a bit, so the odds change at most e**epsilon-fold. A mixture over shifts
   keeps that.
3. Between two histories that reach k grid points and, whatever the shift, change them at the same times, k
   epsilon (`memo`, step 1). Between others there is no such bound: a bit that changes proves that the value
   moved from one grid point to another, which is not hidden.
Source: Ding, Kulkarni, Yekhanin 2017, sections 3 and 4. With one segment this is the one bit of Duchi et
al.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.bits import Bits, SystemBits
from deniable.exact import Number, positive, text, whole
from deniable.guarantees import PureDP
from deniable.local.coins import ONE, bounded, hold, most, place, places, spread, truth
from deniable.local.estimates import Aggregate, Estimate
from deniable.local.parameters import Parameters
from deniable.local.payloads import checked, fit, one, statement
from deniable.local.reports import Reports
from deniable.local.telemetry import binomial
from deniable.local.telemetry.memo import Memo, MemoClient


@dataclass(frozen=True, init=False, repr=False)
class OneBitMean:
    """A protocol for the mean of a number that is asked again and again.

    Args:    bounds: values outside are clamped by a device; no value at all is the middle.
             segments: fewer of them make it rarer that a small move shows: 1 to 1,024.
    Raises:  ParameterError: an argument is out of range.
    """

    epsilon: Fraction
    bounds: tuple[Fraction, Fraction]
    segments: int

    def __init__(self, *, epsilon: Number, bounds: tuple[Number, Number], segments: int = 1) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "bounds", bounded(bounds))
        object.__setattr__(self, "segments", whole(segments, "segments", at_least=1, at_most=1 << 10))
        hold(Fraction(self.odds(self.segments), self.odds(0)), self.epsilon)

    def __repr__(self) -> str:
        low, high = map(text, self.bounds)
        return f"OneBitMean(epsilon={text(self.epsilon)}, bounds=({low}, {high}), segments={self.segments})"

    @cached_property
    def slope(self) -> int:
        """d: how much the odds rise from one grid point to the next, even."""
        return (2 * truth(most(self.epsilon)) - ONE) // (2 * self.segments) * 2

    def odds(self, point: int) -> int:
        """T_g: how many of 2**32 words give a 1 at a grid point."""
        return (ONE - self.segments * self.slope) // 2 + point * self.slope

    @property
    def event(self) -> PureDP:
        """What one report costs, looked at alone."""
        return PureDP(epsilon=self.epsilon)

    @property
    def permanent(self) -> PureDP:
        """What everything costs that is ever reported about a value that stays near one grid point."""
        return PureDP(epsilon=self.epsilon)

    @property
    def most_answers(self) -> int:
        """How many permanent answers one memo can draw. No price: the times of changes have none (`memo`)."""
        return self.segments + 1

    @cached_property
    def parameters(self) -> Parameters:
        """What travels with the reports."""
        low, high = self.bounds
        facts = (
            ("bounds", f"{low} to {high}"),
            ("segments", str(self.segments)),
            ("slope", f"{self.slope}/{ONE}"),
        )
        return Parameters("telemetry/1-bit-mean", self.epsilon, facts)

    @property
    def form(self) -> tuple[type[np.uint8], None]:
        """Type and width of a payload: one bit in a byte."""
        return np.uint8, None

    @property
    def quantity(self) -> tuple[tuple[str, str], ...]:
        """What is estimated."""
        return (("mean", f"{self.bounds[0]} to {self.bounds[1]}"),)

    @property
    def weight(self) -> Fraction:
        """1 / (worst variance of one report)."""
        return 1 / self.error()

    @property
    def statement(self) -> str:
        """What a report promises, alone and with all others, in words."""
        low, high = map(text, self.bounds)
        return statement(
            self.event,
            f"A report is one bit; a larger value between {low} and {high} gives a 1 more often. A value "
            "outside counts as the nearer bound, no value as the middle. The bit is remembered: reports that "
            f"stay near one of {self.segments + 1} grid points cost this once. When the value moves to "
            "another grid point, that it moved is not hidden: a bit that changes proves it. For a value that "
            "stays:",
            again=False,
        )

    def client(self, memo: Memo | None = None, *, bits: Bits | None = None) -> MemoClient:
        """Return what makes reports on a device."""
        return MemoClient(self, memo, bits)

    def remembered(self, value: object, memo: Memo, bits: Bits) -> NDArray[np.uint8]:
        """Return the payload of one report, from the shift and the bits in the memo."""
        shift = int.from_bytes(memo.settle(b"shift", bits.integer(32).to_bytes(4, "little")), "little")
        point = (place(value, self.bounds, self.segments) + shift) >> 32
        drawn = self._drawn(one(point, np.int64), bits)
        kept = memo.remember(b"point %d" % point, drawn.tobytes())
        return np.asarray(np.frombuffer(kept, np.uint8) & 1, np.uint8)

    def randomize(self, values: ArrayLike, *, bits: Bits | None = None) -> Reports:
        """Return one report for each number, each from a device of its own that answers for the first time.

        Raises:  ParameterError: some value is no number within the bounds.
        """
        source, at = bits or SystemBits(), places(values, self.bounds, self.segments)
        return Reports(self.parameters, self._drawn(spread(at, source), source))

    def read(self, data: bytes) -> Reports:
        """Return the reports that clients made, one after the other.

        Raises:  ReportError: the size, the version or the parameters are not those of this protocol.
        """
        return Reports.from_bytes(data, self.parameters, *self.form)

    def aggregate(self, reports: Reports) -> Aggregate:
        """Return how many ones there are, `(1,) int64`.

        Raises:  ReportError: the reports were made with other parameters.
        """
        fit(reports, self.parameters)
        ones = int(checked(reports, *self.form, 2).sum(dtype=np.int64))
        return Aggregate(self, len(reports), np.array([ones], np.int64))

    def estimate(self, reports: Reports, confidence: Number = "0.95") -> Estimate:
        """Return the mean."""
        return self.aggregate(reports).estimate(confidence)

    def error(self) -> Fraction:
        """Return the worst variance of one report, at the middle: length**2 / (4 (S d / 2**32)**2)."""
        length = self.bounds[1] - self.bounds[0]
        return (length * ONE / (self.segments * self.slope)) ** 2 / 4

    def interpret(self, aggregate: Aggregate, confidence: Fraction) -> Estimate:
        """Return low + length (ones/n - T_0/2**32) / (S d / 2**32): unbiased.

        The standard error, from r (1 - r)/n with r the rate of ones, is at least that of n people with given
        values. The interval is exact at the bounds too (`binomial`).
        """
        n, rate = aggregate.n, Fraction(int(aggregate.totals[0]), aggregate.n)
        steep = (self.bounds[1] - self.bounds[0]) * ONE / (self.segments * self.slope)
        value = float(self.bounds[0] + steep * (rate - Fraction(self.odds(0), ONE)))
        ones, many = aggregate.totals, one(n, np.int64)
        error = float(steep) * float(binomial.deviation(ones / n, many, self.odds(0) / ONE)[0])
        low, high = (
            float(self.bounds[0]) + float(steep) * (float(end[0]) - self.odds(0) / ONE)
            for end in binomial.rates(ones, many, confidence)
        )
        return Estimate(value, error, low, high, n, confidence, binomial.few(many))

    def inputs(self) -> list[float]:
        """Return the grid points."""
        low, high = self.bounds
        return [float(low + (high - low) * g / self.segments) for g in range(self.segments + 1)]

    def probabilities(self, value: float) -> dict[int, Fraction]:
        """Return the law of one report alone."""
        at = place(value, self.bounds, self.segments)
        ones = Fraction(self.odds(0), ONE) + Fraction(at * self.slope, ONE * ONE)
        return {0: 1 - ones, 1: ones}

    def _drawn(self, points: NDArray[np.int64], bits: Bits) -> NDArray[np.uint8]:
        words = bits.uint32(len(points)).astype(np.int64)
        return (words < self.odds(0) + points * self.slope).astype(np.uint8)
