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
   moved from one grid point to another, which is not hidden unless the bit is blurred:

Blurred (`flips`): each report tells the remembered bit, flipped with probability F / 2**32, afresh. Then, for
any two histories that differ on k days, whatever they are, k `day`:
1. The shift and the bits of all grid points could all be drawn beforehand: they do not look at the values.
2. Given them, the report of a day is a bit that this day's value names, flipped afresh: the odds for two
   values differ at most (2**32 - F) / F-fold, and `day` is the logarithm of that, rounded up. So k days that
   differ cost k `day`, all others nothing; a mixture over what was drawn keeps that.
3. One report alone: T_g becomes T_g (1 - F / 2**32) + (2**32 - T_g) F / 2**32, and `event` is the logarithm
   of the largest odds, rounded up. All about a value that stays still costs at most `permanent`.
Source: Ding, Kulkarni, Yekhanin 2017, sections 3 and 4. With one segment this is the one bit of Duchi et
al.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.bits import Bits, SystemBits
from deniable.brackets import logarithm
from deniable.errors import ParameterError
from deniable.exact import Number, exact, positive, text, whole
from deniable.guarantees import PureDP
from deniable.local.coins import ONE, bounded, hold, most, place, places, spread, truth
from deniable.local.estimates import Aggregate, Estimate
from deniable.local.parameters import Parameters
from deniable.local.payloads import Readable, checked, fit, one, statement
from deniable.local.reports import Reports
from deniable.local.telemetry import binomial
from deniable.local.telemetry.memo import Memo, MemoClient
from deniable.mechanisms.words import short

_GRID = 10**15


@dataclass(frozen=True, init=False, repr=False)
class OneBitMean(Readable):
    """A protocol for the mean of a number that is asked again and again.

    Args:    bounds: values outside are clamped by a device; no value at all is the middle.
             segments: fewer of them make it rarer that a small move shows: 1 to 1,024.
             flips: how likely each report's bit is flipped afresh, below 1/2.
    Raises:  ParameterError: an argument is out of range.
    """

    epsilon: Fraction
    bounds: tuple[Fraction, Fraction]
    segments: int
    flips: Fraction

    def __init__(
        self, *, epsilon: Number, bounds: tuple[Number, Number], segments: int = 1, flips: Number = 0
    ) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "bounds", bounded(bounds))
        object.__setattr__(self, "segments", whole(segments, "segments", at_least=1, at_most=1 << 10))
        object.__setattr__(self, "flips", _flips(flips))
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

    def told(self, point: Fraction | int) -> Fraction:
        """Return how likely a report is a 1 at a grid point, or between two on average."""
        likely = Fraction(self.odds(0), ONE) + point * Fraction(self.slope, ONE)
        return self.flips + (1 - 2 * self.flips) * likely

    @cached_property
    def event(self) -> PureDP:
        """What one report costs, looked at alone."""
        if not self.flips:
            return PureDP(epsilon=self.epsilon)
        return PureDP(epsilon=min(_cost(self.told(self.segments) / self.told(0)), self.epsilon))

    @cached_property
    def day(self) -> PureDP | None:
        """What the value of one day costs, among all reports of all days, whatever it was before and after.

        None without `flips`: then nothing bounds it.
        """
        return PureDP(epsilon=_cost((1 - self.flips) / self.flips)) if self.flips else None

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
            ("flips", str(self.flips)),
            ("segments", str(self.segments)),
            ("slope", f"{self.slope}/{ONE}"),
        )
        return Parameters("telemetry/1-bit-mean", self.event.epsilon, facts)

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
            f"stay near one of {self.segments + 1} grid points cost epsilon "
            f"{text(self.epsilon)} once. When the value moves to "
            f"another grid point, {self._shown()} One report:",
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
        return self._flipped(np.frombuffer(kept, np.uint8) & np.uint8(1), bits)

    def randomize(self, values: ArrayLike, *, bits: Bits | None = None) -> Reports:
        """Return one report for each number, each from a device of its own that answers for the first time.

        Raises:  ParameterError: some value is no number within the bounds.
        """
        source, at = bits or SystemBits(), places(values, self.bounds, self.segments)
        return Reports(self.parameters, self._flipped(self._drawn(spread(at, source), source), source))

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
        """Return the worst variance of one report, at the middle: length**2 / (4 (its change of odds)**2)."""
        length = self.bounds[1] - self.bounds[0]
        return (length / (self.told(self.segments) - self.told(0))) ** 2 / 4

    def interpret(self, aggregate: Aggregate, confidence: Fraction) -> Estimate:
        """Return low + length (ones/n - told(0)) / (told(S) - told(0)): unbiased.

        The standard error, from r (1 - r)/n with r the rate of ones, is at least that of n people with given
        values. The interval is exact at the bounds too (`binomial`).
        """
        n, rate = aggregate.n, Fraction(int(aggregate.totals[0]), aggregate.n)
        least = self.told(0)
        steep = (self.bounds[1] - self.bounds[0]) / (self.told(self.segments) - least)
        value = float(self.bounds[0] + steep * (rate - least))
        ones, many = aggregate.totals, one(n, np.int64)
        error = float(steep) * float(binomial.deviation(ones / n, many, float(least))[0])
        low, high = (
            float(self.bounds[0]) + float(steep) * (float(end[0]) - float(least))
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
        ones = self.told(Fraction(at, ONE))
        return {0: 1 - ones, 1: ones}

    def _shown(self) -> str:
        if self.day is None:
            return "that it moved is not hidden: a bit that changes proves it."
        cost = short(self.day.epsilon)
        return (
            "that shows in part: each report's bit is flipped afresh, so that the value of one day costs at "
            f"most epsilon {cost}, whatever the others are, and days that differ add up."
        )

    def _flipped(self, drawn: NDArray[np.uint8], bits: Bits) -> NDArray[np.uint8]:
        """Return the reports of remembered bits."""
        if not self.flips:
            return drawn
        flip = bits.uint32(len(drawn)).astype(np.int64) < int(self.flips * ONE)
        return drawn ^ flip.astype(np.uint8)

    def _drawn(self, points: NDArray[np.int64], bits: Bits) -> NDArray[np.uint8]:
        words = bits.uint32(len(points)).astype(np.int64)
        return (words < self.odds(0) + points * self.slope).astype(np.uint8)


def _flips(flips: object) -> Fraction:
    """Return the probability, rounded to whole words."""
    given = Fraction(round(exact(flips, "flips") * ONE), ONE)
    if not 0 <= given < Fraction(1, 2):
        raise ParameterError("flips", flips, "must be from 0 to below 1/2", "Give for example '0.2'.")
    return given


def _cost(odds: Fraction) -> Fraction:
    """Return the logarithm of the odds, rounded up."""
    return Fraction(ceil(logarithm(odds)[1] * _GRID), _GRID)
