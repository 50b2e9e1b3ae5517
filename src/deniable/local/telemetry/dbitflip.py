"""dBitFlip: the share of each item, from a few flipped bits a person, the same bits day after day.

1. The device draws d of the k items once and names them in every report.
2. It sends one bit for each: whether its value is that item, kept with probability K / 2**32, else flipped.
3. The d bits are drawn once for each of the drawn items that the value may be, and once for a value that is
   none of them: these are remembered. So one memo can give at most d + 1 different answers.

Guarantee, for two items of one person and everything reported while the value stays the one or the other:
1. Which items are drawn does not depend on the value.
2. Two values differ in at most two of the bits, and each bit's odds are at most K / (2**32 - K): the
   probabilities of an answer differ by at most its square, which `__init__` holds to e**epsilon in rationals.
3. Between two histories that, whichever items are drawn, change at the same times among the drawn ones and
   none of them, epsilon for each of those classes (`memo`, step 1). With d = k these are histories whose
   items change at the same times; with fewer bits hardly any but constant ones: where 1 is drawn and 0, 2, 5
   are not, (0, 5, 0) gives one answer and (1, 2, 1) two. Between others there is no such bound: bits that
   change prove that the value did, which is not hidden.
Source: Ding, Kulkarni, Yekhanin 2017, sections 3.2 and 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import comb

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits, SystemBits
from deniable.errors import ParameterError
from deniable.exact import Number, positive, text, whole
from deniable.guarantees import PureDP
from deniable.local.coins import ONE, chosen, hold, most, truth
from deniable.local.estimates import Aggregate, Estimate
from deniable.local.frequency.domain import Domain, declared
from deniable.local.parameters import Parameters
from deniable.local.payloads import Readable, checked, fit, one, statement
from deniable.local.reports import Reports
from deniable.local.telemetry import binomial
from deniable.local.telemetry.memo import Memo, MemoClient

_MOST = 1 << 14


@dataclass(frozen=True, init=False, repr=False)
class DBitFlip(Readable):
    """A protocol for the shares of items that is asked again and again.

    Args:    domain: the items. bits: d, how many of them a device speaks of.
             other: the item that a value outside counts as; a random one (drawn once) when omitted.
    Raises:  ParameterError: an argument is out of range.
    """

    epsilon: Fraction
    domain: Domain
    bits: int

    def __init__(
        self, *, epsilon: Number, domain: Iterable[object], bits: int = 4, other: object = None
    ) -> None:
        items = declared(domain, other)
        if len(items) > _MOST:
            raise ParameterError("domain", len(items), "has too many items", f"Give at most {_MOST:,}.")
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "domain", items)
        object.__setattr__(self, "bits", whole(bits, "bits", at_least=1, at_most=min(len(items), 64)))
        hold(Fraction(self.kept, ONE - self.kept) ** 2, self.epsilon)

    def __repr__(self) -> str:
        return f"DBitFlip(epsilon={text(self.epsilon)}, domain={len(self.domain)} items, bits={self.bits})"

    @cached_property
    def kept(self) -> int:
        """K: a bit is told as it is with probability K / 2**32."""
        return truth(most(self.epsilon / 2))

    @property
    def event(self) -> PureDP:
        """What one report costs, looked at alone."""
        return PureDP(epsilon=self.epsilon)

    @property
    def permanent(self) -> PureDP:
        """What everything costs that is ever reported about one item that does not change."""
        return PureDP(epsilon=self.epsilon)

    @property
    def most_answers(self) -> int:
        """How many permanent answers one memo can draw. No price: the times of changes have none (`memo`)."""
        return self.bits + 1

    @cached_property
    def parameters(self) -> Parameters:
        """What travels with the reports."""
        facts = (
            ("bits", str(self.bits)),
            ("domain", self.domain.digest),
            ("items", str(len(self.domain))),
            ("kept", f"{self.kept}/{ONE}"),
            ("other", self.domain.rule),
        )
        return Parameters("telemetry/d-bit-flip", self.epsilon, facts)

    @property
    def form(self) -> tuple[type[np.uint16], int]:
        """Type and width of a payload: for each drawn item, twice its place plus its bit, rising."""
        return np.uint16, self.bits

    @property
    def quantity(self) -> tuple[tuple[str, str], ...]:
        """What is estimated."""
        return (("shares", self.domain.digest),)

    @property
    def weight(self) -> Fraction:
        """1 / (variance of the share of an item that nobody has, from one report)."""
        return 1 / self.error()

    @property
    def statement(self) -> str:
        """What a report promises, alone and with all others, in words."""
        return statement(
            self.event,
            f"A report speaks of {self.bits} of {len(self.domain):,} items, drawn once: one flipped bit "
            "each, whether the value is that item. The bits are remembered: all reports about one item cost "
            "this once. When the value becomes another of the drawn items, or none of them, that it changed "
            "is not hidden: bits that change prove it. For a value that stays:",
            again=False,
        )

    def client(self, memo: Memo | None = None, *, bits: Bits | None = None) -> MemoClient:
        """Return what makes reports on a device."""
        return MemoClient(self, memo, bits)

    def remembered(self, value: object, memo: Memo, bits: Bits) -> NDArray[np.uint16]:
        """Return the payload of one report, from the drawn items and the bits in the memo."""
        drawn = self._subset(1, bits)[0]
        items = np.frombuffer(memo.settle(b"items", drawn.astype("<u2").tobytes()), "<u2").astype(np.int64)
        place = self.domain.place(value)
        if place is None:
            place = self.domain.fallback()
        if place is None:
            random = int(chosen(1, len(self.domain), bits)[0])
            place = int.from_bytes(memo.settle(b"outside", random.to_bytes(2, "little")), "little")
        answers = self._answered(one(items, np.int64), one(place, np.int64), bits)
        named = np.flatnonzero(items == place)
        key = b"none" if not len(named) else b"item %d" % int(named[0])
        kept = np.frombuffer(memo.remember(key, answers.tobytes()), np.uint8) & 1
        return (2 * items + kept)[None, :].astype(np.uint16)

    def randomize(self, values: Iterable[object], *, bits: Bits | None = None) -> Reports:
        """Return one report for each item, each from a device of its own that answers for the first time.

        Raises:  ParameterError: some value is no item.
        """
        at, source = self.domain.places(values), bits or SystemBits()
        items = self._subset(len(at), source)
        return Reports(self.parameters, (2 * items + self._answered(items, at, source)).astype(np.uint16))

    def aggregate(self, reports: Reports) -> Aggregate:
        """Return for each item how many reports speak of it and how many say 1, `(2, items) int64`.

        Raises:  ReportError: the reports were made with other parameters.
        """
        fit(reports, self.parameters)
        words = checked(reports, *self.form, 2 * len(self.domain)).ravel()
        counts = np.bincount(words, minlength=2 * len(self.domain)).reshape(-1, 2).astype(np.int64)
        return Aggregate(self, len(reports), np.stack([counts.sum(axis=1), counts[:, 1]]))

    def estimate(self, reports: Reports, confidence: Number = "0.95") -> Estimate:
        """Return the share of each item."""
        return self.aggregate(reports).estimate(confidence)

    def error(self) -> Fraction:
        """Return the variance of the share of an item that nobody has, from one report."""
        kept = Fraction(self.kept, ONE)
        return Fraction(len(self.domain), self.bits) * kept * (1 - kept) / (2 * kept - 1) ** 2

    def interpret(self, aggregate: Aggregate, confidence: Fraction) -> Estimate:
        """Return (rate of ones - (1 - kept)) / (2 kept - 1), over those who speak of an item: unbiased.

        The interval covers the coins and who was drawn to speak of an item (`binomial`). Of an item that
        nobody speaks of nothing is known: NaN, between 0 and 1.
        """
        many, ones = aggregate.totals
        flipped = (ONE - self.kept) / ONE
        with np.errstate(invalid="ignore", divide="ignore"):
            value = (ones / many - flipped) / (1 - 2 * flipped)
            error = binomial.deviation(ones / many, many, flipped) / (1 - 2 * flipped)
        low, high = ((end - flipped) / (1 - 2 * flipped) for end in binomial.rates(ones, many, confidence))
        low, high = np.where(many > 0, low, 0.0), np.where(many > 0, high, 1.0)
        return Estimate(value, error, low, high, aggregate.n, confidence, binomial.few(many))

    def inputs(self) -> list[object]:
        """Return the first items, up to three, and the last."""
        return [*self.domain.items[:3], self.domain.items[-1]]

    def probabilities(self, value: object) -> dict[tuple[int, ...], Fraction]:
        """Return the law of one report alone, as if all choices of d items were equally likely."""
        place, count = self.domain.place(value), len(self.domain)
        kept, law = Fraction(self.kept, ONE), {}
        for items in combinations(range(count), self.bits):
            for answer in product((0, 1), repeat=self.bits):
                likely = Fraction(1, comb(count, self.bits))
                for item, bit in zip(items, answer, strict=True):
                    likely *= kept if (item == place) == bool(bit) else 1 - kept
                law[tuple(2 * item + bit for item, bit in zip(items, answer, strict=True))] = likely
        return law

    def _subset(self, n: int, bits: Bits) -> NDArray[np.int64]:
        """Return d different items for each of n devices, `(n, d)`, rising: Floyd's way to draw a subset."""
        found = np.full((n, self.bits), -1, np.int64)
        for number in range(self.bits):
            last = len(self.domain) - self.bits + number
            drawn = chosen(n, last + 1, bits)
            found[:, number] = np.where((found == drawn[:, None]).any(axis=1), last, drawn)
        return np.sort(found, axis=1)

    def _answered(self, items: NDArray[np.int64], at: NDArray[np.int64], bits: Bits) -> NDArray[np.uint8]:
        keep = bits.uint32(items.size).reshape(items.shape) < np.uint32(self.kept)
        return np.asarray(keep == (items == at[:, None]), np.uint8)
