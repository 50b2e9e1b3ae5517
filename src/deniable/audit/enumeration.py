"""Decide a claim for a mechanism with finitely many outputs, in integers and rationals.

For two inputs with probabilities p(o) and q(o), let S = {o: p(o) > e**epsilon q(o)}. Among all sets of
outputs S has the largest p - e**epsilon q, which is

    delta(epsilon) = sum over o of max(0, p(o) - e**epsilon q(o)),

so (epsilon, delta) holds for this ordered pair if and only if delta(epsilon) <= delta.

e**epsilon is enclosed by rationals (`_powers`), probabilities may be: the sum is enclosed by
`hockey_stick`. A claim is `Proved` if the upper end is within it, `Violated` if the lower end is not. With
exact probabilities and rational epsilon > 0 the two cannot touch for ever: e**epsilon is irrational (Lambert
1761), so a sum over a set that q does not miss never equals delta; the enclosure is narrowed until decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from deniable.audit.distributions import Output, Row, Tabulated
from deniable.audit.verdict import Claim, Computed, Proved, Violated
from deniable.brackets import exponential, logarithm
from deniable.errors import ParameterError
from deniable.exact import Number, at_least_zero, probability

Pair = tuple[int, int]
_PRECISIONS = (160, 640, 2560)
_MOST_EPSILON = 1 << 16
_STEPS = 48


@dataclass(frozen=True, slots=True)
class Worst:
    """The ordered pair with the largest delta at some epsilon, enclosed."""

    pair: Pair
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True)
class Enumerated:
    """The curve of a tabulated mechanism over some ordered pairs of inputs (places in `table.inputs`)."""

    table: Tabulated
    pairs: Sequence[Pair]

    def delta(self, epsilon: Number) -> Fraction:
        """Return at least the least delta at this epsilon, within 2**-150 if the probabilities are exact."""
        return self.worst(_epsilon(epsilon)).high

    def epsilon(self, delta: Number = 0) -> Fraction:
        """Return at least the least epsilon at this delta, a hair above it.

        Raises:  ParameterError: no epsilon will do, as outputs are impossible on one input only.
        """
        allowed = probability(delta, "delta")
        alone, high = self._limits()
        if alone > allowed:
            problem = "is below what any epsilon allows: an output is impossible on one input only"
            fix = "Ask for the delta of an epsilon instead."
            raise ParameterError("delta", str(allowed), problem, fix)
        low = Fraction(0)
        if self.delta(low) <= allowed:
            return low
        for _ in range(_STEPS if allowed > alone else 0):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= allowed else (middle, high)
        return high

    def worst(self, epsilon: Fraction, precision: int = _PRECISIONS[0]) -> Worst:
        """Return a pair whose delta is the largest, as far as the upper ends tell."""
        power = exponential(epsilon, precision)
        found: Worst | None = None
        for pair in self.pairs:
            low, high = hockey_stick(*self._rows(pair), power)
            if found is None or high > found.high:
                found = Worst(pair, low, high)
        assert found is not None
        return found

    def set_of(
        self, pair: Pair, epsilon: Fraction, precision: int
    ) -> tuple[list[Output], Fraction, Fraction]:
        """Return S for this pair, at most its first and at least its second probability."""
        power = exponential(epsilon, precision)
        p, q = self._rows(pair)
        inside = [i for i in range(len(p.low)) if p.low[i] * q.one > power[1] * (q.high[i] * p.one)]
        first = Fraction(sum(p.low[i] for i in inside), p.one)
        second = Fraction(sum(q.high[i] for i in inside), q.one)
        return [self.table.outputs[i] for i in inside], first, second

    def _rows(self, pair: Pair) -> tuple[Row, Row]:
        return self.table.rows[pair[0]], self.table.rows[pair[1]]

    def _limits(self) -> tuple[Fraction, Fraction]:
        """Return the delta that no epsilon goes below, and an epsilon from which on delta is that."""
        most, largest = Fraction(0), Fraction(1)
        for pair in self.pairs:
            p, q = self._rows(pair)
            ends = list(zip(p.high, q.low, strict=True))
            most = max(most, Fraction(sum(high for high, low in ends if not low), p.one))
            ratios = (Fraction(high * q.one, low * p.one) for high, low in ends if high and low)
            largest = max(largest, max(ratios, default=largest))
        return most, logarithm(largest)[1]


def hockey_stick(p: Row, q: Row, power: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
    """Enclose the sum of max(0, p(o) - e**epsilon q(o)), given rationals around e**epsilon.

    Every term is a difference over the common denominator p.one * q.one * (that of the power): integers only.
    """
    low_top, high_top = power[0].numerator * p.one, power[1].numerator * p.one
    low_bottom, high_bottom = power[0].denominator * q.one, power[1].denominator * q.one
    most = sum(
        max(0, have * low_bottom - low_top * lack) for have, lack in zip(p.high, q.low, strict=True) if have
    )
    least = sum(
        max(0, have * high_bottom - high_top * lack) for have, lack in zip(p.low, q.high, strict=True) if have
    )
    return Fraction(least, high_bottom * p.one), Fraction(most, low_bottom * p.one)


def decided(table: Tabulated, pairs: Iterable[Pair] | None, claim: Claim) -> Proved | Violated | Computed:
    """Return the verdict on the claim for these ordered pairs of places; None: all of them."""
    curve = Enumerated(table, list(permutations(range(len(table.inputs)), 2) if pairs is None else pairs))
    sharp = all(row.sharp for row in table.rows)
    for precision in _precisions(sharp):
        worst = curve.worst(claim.epsilon, precision)
        if worst.high <= claim.delta:
            return Proved(claim, curve, _compared(curve, sharp))
        if worst.low > claim.delta:
            return _violated(curve, worst.pair, claim, precision)
        for pair in curve.pairs:
            ends = hockey_stick(*curve._rows(pair), exponential(claim.epsilon, precision))
            if ends[0] > claim.delta:
                return _violated(curve, pair, claim, precision)
    middle = (worst.low + worst.high) / 2
    how = "The enclosures of the probabilities are too wide to decide."
    return Computed(claim, float(middle), float(worst.high - worst.low), how)


def _precisions(sharp: bool) -> Iterator[int]:
    yield from _PRECISIONS if sharp else _PRECISIONS[:1]


def _violated(curve: Enumerated, pair: Pair, claim: Claim, precision: int) -> Violated:
    outputs, first, second = curve.set_of(pair, claim.epsilon, precision)
    inputs = curve.table.inputs[pair[0]], curve.table.inputs[pair[1]]
    return Violated(claim, inputs, tuple(outputs), first, second, "exact")


def _compared(curve: Enumerated, sharp: bool) -> str:
    outputs, pairs = len(curve.table.outputs), len(curve.pairs)
    kind = "in rationals" if sharp else "by enclosures in rationals"
    return f"{pairs:,} ordered pairs of inputs were compared on {outputs:,} outputs {kind}."


def _epsilon(value: object) -> Fraction:
    number = at_least_zero(value, "epsilon")
    if not number <= _MOST_EPSILON:
        raise ParameterError("epsilon", value, "is out of range", f"Give at most {_MOST_EPSILON:,}.")
    return number
