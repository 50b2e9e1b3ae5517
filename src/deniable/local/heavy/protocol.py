"""`dn.local.HeavyHitters`: what many people say in their own words, without a list of what there is.

    protocol = dn.local.HeavyHitters(epsilon=2)
    found = protocol.estimate(protocol.randomize(texts));  print(found)

1. Each device draws one of `levels` + 1 groups and reports once, about the beginning of its text that
   belongs to the group: `step` symbols more at each level (`codes`); the last group reports on the whole
   code.
2. A beginning is hashed to one of 2**cells cells, by another public hash in each group, and told by
   `sketch`.
3. The server starts from all beginnings of the first level, keeps up to `keep` that seem to be there, and
   lengthens only those (Bassily et al. 2017; Wang et al. 2021). Whole codes are then asked of the last
   group alone, whose people had no part in choosing them.

Guarantee: one report, of one group that is drawn apart from the text: `sketch` keeps epsilon.

What is listed: codes that more people of the last group support than chance allows at level (1 - confidence)
/ 10 / keep, by the exact law of that number where a share c of the people said other codes of the same cell
(`sketch.chance`); at most `keep` are asked. In the last hash these others are 2**-cells of all people on
average, so more than c with probability 1 / (c 2**cells) at most; c is so large that this is (1 - confidence)
/ 10 / keep too. So, whatever epsilon and however few people, the probability that anything is listed which
nobody in the last group said is at most a fifth of 1 - confidence. With few cells c is 1: nothing is listed.

What is missed: texts that fewer people say than `threshold(n)` tells, without a word. A beginning is
followed if it is among the `keep` best of up to keep * E that are asked, E the number of ways to go on:
noise alone brings one in E above the normal quantile of 1 - 1/E, so a share must reach that many standard
errors in every group.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits, SystemBits
from deniable.errors import ParameterError, ReportError
from deniable.exact import Number, positive, text, whole
from deniable.guarantees import PureDP
from deniable.local.client import Client
from deniable.local.coins import ONE, chosen, hold
from deniable.local.estimates import Aggregate, Estimate, confident
from deniable.local.heavy import codes
from deniable.local.heavy.sketch import Sketch, cells, fitting, transform
from deniable.local.parameters import Parameters
from deniable.local.payloads import Readable, checked, fit, normal, one, statement
from deniable.local.reports import Reports
from deniable.local.telemetry import binomial

Ints = NDArray[np.int64]
_LONGEST = 12
_LIKELY = 2.5
_COUNTED = 1 << 16
_ONE_PIECE = 1 << 16


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Hitters(Estimate):
    """The texts that are listed and their shares, largest first. threshold: what a share must reach to be
    listed."""

    items: tuple[str, ...]
    threshold: float

    def __str__(self) -> str:
        if not self.items:
            return f"Nothing was said by enough of {self.n:,} people (about {self.threshold:.1%})."
        value, low, high = (np.asarray(side) for side in (self.value, self.low, self.high))
        return "\n".join(
            f"{item or '(nothing)':<24} {share:7.2%}  {least:7.2%} to {most:7.2%}"
            for item, share, least, most in zip(self.items, value, low, high, strict=True)
        )


@dataclass(frozen=True, init=False, repr=False)
class HeavyHitters(Readable):
    """A protocol for texts that are not known beforehand.

    Args:    length: of a code in symbols, a multiple of step, up to 12. step: symbols a level, 1 to 3.
             cells: 2**cells cells, 2 to 22. keep: how many beginnings are followed. salt: of the hashes,
             public, from 0 to 2**64 - 1.
    Raises:  ParameterError: an argument is out of range.
    """

    epsilon: Fraction
    length: int
    step: int
    cells: int
    keep: int
    salt: int

    def __init__(
        self,
        *,
        epsilon: Number,
        length: int = 12,
        step: int = 3,
        cells: int = 20,
        keep: int = 64,
        salt: int = 0,
    ) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "step", whole(step, "step", at_least=1, at_most=3))
        object.__setattr__(self, "length", whole(length, "length", at_least=1, at_most=_LONGEST))
        object.__setattr__(self, "cells", whole(cells, "cells", at_least=2, at_most=22))
        object.__setattr__(self, "keep", whole(keep, "keep", at_least=1, at_most=1000))
        object.__setattr__(self, "salt", whole(salt, "salt", at_least=0, at_most=(1 << 64) - 1))
        if self.length % self.step:
            raise ParameterError("length", length, f"must be a multiple of {step}", "Give for example 12.")
        sketch = self.sketch
        hold(Fraction(sketch.own, sketch.other), self.epsilon)
        if not sketch.steep > 0:
            raise ParameterError("epsilon", epsilon, "is too small to learn anything", "Give at least 1e-6.")

    def __repr__(self) -> str:
        return f"HeavyHitters(epsilon={text(self.epsilon)}, length={self.length}, step={self.step})"

    @property
    def levels(self) -> int:
        """How many beginnings there are; the last is the whole code."""
        return self.length // self.step

    @cached_property
    def sketch(self) -> Sketch:
        """How a cell is told."""
        return fitting(self.epsilon, self.cells)

    @cached_property
    def parameters(self) -> Parameters:
        """What travels with the reports."""
        facts = {
            "cells": self.cells,
            "length": self.length,
            "other": f"{self.sketch.other}/{ONE}",
            "rows": self.sketch.rows,
            "salt": self.salt,
            "step": self.step,
        }
        listed = tuple((name, str(fact)) for name, fact in facts.items())
        return Parameters("heavy-hitters/linear-hashing", self.epsilon, listed)

    @property
    def form(self) -> tuple[type[np.uint32], int]:
        """Type and width of a payload: the group, y, then the rows of A."""
        return np.uint32, 2 + self.sketch.rows

    @property
    def event(self) -> PureDP:
        """What one report costs."""
        return PureDP(epsilon=self.epsilon)

    @property
    def quantity(self) -> tuple[tuple[str, str], ...]:
        """What is estimated: transforms of one sketch, which only reports of one kind add up to."""
        return (("texts", repr(self.parameters)),)

    @property
    def weight(self) -> Fraction:
        """1 / (variance of one report)."""
        return 1 / Fraction(self.error())

    @property
    def statement(self) -> str:
        """What a report promises, in words."""
        return statement(
            self.event,
            "A report speaks of a beginning of a text, hashed and sometimes told wrong. Texts are cut after "
            f"{self.length} symbols (a letter is one); capitals and spaces around do not count; what is no "
            "text counts as empty.",
        )

    def client(self, bits: Bits | None = None) -> Client:
        """Return what makes reports on a device."""
        return Client(self, bits)

    def answer(self, value: object, bits: Bits) -> NDArray[np.uint32]:
        """Return the payload of one report."""
        return self._reports(one(codes.code(value, self.length), np.int64), bits)

    def randomize(self, values: Iterable[str], *, bits: Bits | None = None) -> Reports:
        """Return one report for each text.

        Raises:  ParameterError: an entry is no text.
        """
        given, source = codes.codes(values, self.length), bits or SystemBits()
        parts = [
            self._reports(given[start : start + _ONE_PIECE], source)
            for start in range(0, len(given), _ONE_PIECE)
        ]
        return Reports(self.parameters, np.concatenate([np.zeros((0, self.form[1]), np.uint32), *parts]))

    def aggregate(self, reports: Reports) -> Aggregate:
        """Return the table of each group, then its number of reports, `(levels + 1, 2**cells + 1)`.

        Raises:  ReportError: the reports were made with other parameters.
        """
        fit(reports, self.parameters)
        payload = checked(reports, *self.form, 1 << max(self.cells, self.sketch.rows, 3))
        groups, answers = payload[:, 0], payload[:, 1:]
        if len(payload) and (groups.max() > self.levels or answers[:, 0].max() >> self.sketch.rows):
            raise ReportError("Some report is none that a device of this protocol sends.", differs="report")
        totals = np.zeros((self.levels + 1, (1 << self.cells) + 1), np.int64)
        for group in range(self.levels + 1):
            own = answers[groups == group]
            totals[group, :-1], totals[group, -1] = self.sketch.table(own), len(own)
        return Aggregate(self, len(payload), totals)

    def estimate(self, reports: Reports, confidence: Number = "0.95") -> Hitters:
        """Return what many people said."""
        found = self.aggregate(reports).estimate(confidence)
        assert isinstance(found, Hitters)
        return found

    def error(self) -> float:
        """Return the variance of the share of a text that nobody said, times the number of people."""
        return self.sketch.variance * (self.levels + 1)

    def threshold(self, n: int, confidence: Number = "0.95") -> float:
        """Return the share that a text must reach to be listed, about, among n people.

        At twice this share it is nearly always listed, at 1.5 times in about four of five cases.
        """
        many = whole(n, "n", at_least=1, at_most=1 << 40)
        followed = normal(1 - Fraction(2, len(codes.extensions(self.step))))
        last = max(many // (self.levels + 1), 1)
        counted = min(last, _COUNTED)
        sure = confident(confidence)
        apart = self._colliding(sure)
        least = self.sketch.least(self._level(sure), counted, apart)
        above = ((least << self.sketch.rows) / counted - 1) / self.sketch.steep - apart
        listed = apart + above * sqrt(counted / last)
        return min(1.0, max(followed * sqrt(self.error() / many), listed))

    def inputs(self) -> list[str]:
        """Return texts whose cells differ in every group, and the empty one."""
        return ["", "a", "b", "blue", "ab"]

    def probabilities(self, value: object) -> dict[tuple[int, ...], Fraction]:
        """Return the law of one report: for sketches with few cells and rows."""
        given, law = one(codes.code(value, self.length), np.int64), {}
        count = self.levels + 1
        for group in range(count):
            ends = [-(-number * ONE // count) for number in (group, group + 1)]
            likely = Fraction(ends[1] - ends[0], ONE) / (1 << self.cells) ** self.sketch.rows
            cell = int(self._cells(given, group)[0])
            for rows in product(range(1 << self.cells), repeat=self.sketch.rows):
                true = sum(((row & cell).bit_count() & 1) << place for place, row in enumerate(rows))
                for told in range(1 << self.sketch.rows):
                    odds = self.sketch.own if told == true else self.sketch.other
                    law[(group, told, *rows)] = likely * Fraction(odds, ONE)
        return law

    def interpret(self, aggregate: Aggregate, confidence: Fraction) -> Hitters:
        """Return the texts that are listed (step 3 above)."""
        found = self._followed(aggregate.totals)
        transformed = transform(aggregate.totals[-1, :-1])[self._cells(found, self.levels)]
        many = int(aggregate.totals[-1, -1])
        share, error = self.sketch.shares(transformed, many)
        supporters = self.sketch.supporters(transformed, many)
        chance = self.sketch.chance(supporters, many, self._colliding(confidence))
        listed = np.flatnonzero(chance <= self._level(confidence))
        order = listed[np.argsort(-share[listed], kind="stable")]
        ends = binomial.rates(supporters[order], np.full(len(order), many), confidence)
        low, high = (((1 << self.sketch.rows) * end - 1) / self.sketch.steep for end in ends)
        notes = ("Texts that fewer people said are missing; shares are of those who reported.",)
        return Hitters(
            share[order], error[order], low, high, aggregate.n, confidence, notes,
            items=tuple(codes.text(int(number), self.length) for number in found[order]),
            threshold=self.threshold(aggregate.n, confidence),
        )  # fmt: skip

    def _followed(self, totals: Ints) -> Ints:
        """Return the whole codes that the groups before the last lead to."""
        found, more = np.zeros(1, np.int64), codes.extensions(self.step)
        width = codes.BITS * self.step
        for level in range(self.levels):
            ended = ((found & 31) == 0) & (level > 0)
            longer = np.concatenate([found[ended] << width, (found[~ended, None] << width | more).ravel()])
            at = self._level_cells(longer, level)
            many = max(int(totals[level, -1]), 1)
            share, _ = self.sketch.shares(transform(totals[level, :-1])[at], many)
            seen = share / sqrt(self.sketch.variance / many)
            best = np.argsort(-seen, kind="stable")[: self.keep]
            found = longer[best[seen[best] > _LIKELY]]
        return found

    def _level(self, confidence: Fraction) -> float:
        """Return how likely noise may list one text that nobody said; a collision likewise."""
        return float((1 - confidence) / (10 * self.keep))

    def _colliding(self, confidence: Fraction) -> float:
        """Return which share of people may have the cell of a text that they did not say."""
        return min(1.0, 1 / (self._level(confidence) * (1 << self.cells)))

    def _reports(self, given: Ints, bits: Bits) -> NDArray[np.uint32]:
        groups = chosen(len(given), self.levels + 1, bits)
        where = np.zeros(len(given), np.int64)
        for group in range(self.levels + 1):
            own = groups == group
            where[own] = self._cells(given[own], group)
        told = self.sketch.answers(where, bits)
        return np.concatenate([groups.astype(np.uint32)[:, None], told], axis=1)

    def _cells(self, given: Ints, group: int) -> Ints:
        """Return the cell of each whole code in a group."""
        symbols = min((group + 1) * self.step, self.length)
        return self._level_cells(given >> codes.BITS * (self.length - symbols), group)

    def _level_cells(self, beginnings: Ints, group: int) -> Ints:
        return cells(beginnings, group, self.salt, self.cells)
