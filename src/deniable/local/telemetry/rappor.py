"""RAPPOR: text, told by a Bloom filter whose bits are flipped once for ever and once again for each report.

1. The device has a cohort, drawn once and sent along; it decides which hash functions are used.
2. Its text sets `hashes` of `bits` bits (`texts.bloom`).
3. Permanent answer, drawn once for each text and remembered: each bit is kept with probability K / 2**32 and
   flipped with the rest, from 0 to 1 and from 1 to 0 alike. In the paper's letters K / 2**32 = 1 - f/2.
4. Report: each bit is 1 with probability Q / 2**32 if the permanent bit is 1, and P / 2**32 if it is 0.

Guarantee, for two texts v, w of one person and h hashes:
1. Everything reported about one text is made from its permanent answer by coins that do not look at the text,
   so it tells no more than the answer does.
2. Filters of v and w differ in at most 2h bits: h that v alone sets, h that w alone sets. Bits are flipped
   independently, so the probabilities of an answer differ by at most (K / (2**32 - K))**(2h), which
   `__init__` holds to e**epsilon in rationals.
3. One report alone: a bit is 1 with probability q* = kept Q + (1 - kept) P where the filter has 1, and
   p* = (1 - kept) Q + kept P where it has 0. By the same count the probabilities of a report differ by at
   most (q* (1 - p*) / (p* (1 - q*)))**h: `event`, rounded up.
4. The cohort is drawn apart from the text, so it changes neither.
5. Another text, or a forgotten answer, is another permanent answer. Two histories of k texts that change at
   the same times keep k epsilon (`memo`, step 1). Between others there is no such bound: with coins (0, 1) a
   report that changes proves that the text did; other coins hide that partly, for a few reports.
Source: Erlingsson, Pihur, Korolova 2014.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from math import ceil

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits, SystemBits
from deniable.brackets import logarithm
from deniable.errors import ParameterError
from deniable.exact import Number, exact, positive, text, whole
from deniable.guarantees import PureDP
from deniable.local.coins import ONE, chosen, hold, most, truth
from deniable.local.estimates import Aggregate, Estimate
from deniable.local.frequency.intervals import interval, spread
from deniable.local.parameters import Parameters
from deniable.local.payloads import Readable, checked, fit, statement
from deniable.local.reports import Reports
from deniable.local.telemetry import binomial, decoding, texts
from deniable.local.telemetry.memo import Memo, MemoClient

_CELLS = 1 << 22
_GRID = 10**15


@dataclass(frozen=True, init=False, repr=False)
class RAPPOR(Readable):
    """A protocol for text whose candidates need not be known beforehand.

    Args:    epsilon: of everything ever reported about one text that stays. bits: of the filter, in octets.
             coins: (p, q), the paper's: how likely a report's bit is 1 where the permanent bit is 0, and 1.
             (0, 1) reports the permanent answer itself.
    Raises:  ParameterError: an argument is out of range.
    """

    epsilon: Fraction
    bits: int
    hashes: int
    cohorts: int
    coins: tuple[int, int]

    def __init__(
        self,
        *,
        epsilon: Number,
        bits: int = 128,
        hashes: int = 2,
        cohorts: int = 64,
        coins: tuple[Number, Number] = ("0.5", "0.75"),
    ) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "bits", _octets(bits))
        object.__setattr__(self, "hashes", whole(hashes, "hashes", at_least=1, at_most=8))
        object.__setattr__(self, "cohorts", whole(cohorts, "cohorts", at_least=1, at_most=1 << 12))
        object.__setattr__(self, "coins", _coins(coins))
        hold(Fraction(self.kept, ONE - self.kept) ** (2 * self.hashes), self.epsilon)

    def __repr__(self) -> str:
        sizes = f"bits={self.bits}, hashes={self.hashes}, cohorts={self.cohorts}"
        return f"RAPPOR(epsilon={text(self.epsilon)}, {sizes})"

    @cached_property
    def kept(self) -> int:
        """K: a permanent bit is as the filter's with probability K / 2**32."""
        return truth(most(self.epsilon / (2 * self.hashes)))

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """p* and q*: how likely a report's bit is 1 where the filter has 0, and 1."""
        (p, q), kept = self.coins, self.kept
        return (
            Fraction((ONE - kept) * q + kept * p, ONE * ONE),
            Fraction(kept * q + (ONE - kept) * p, ONE * ONE),
        )

    @cached_property
    def event(self) -> PureDP:
        """What one report costs, looked at alone."""
        p, q = self.rates
        high = logarithm((q * (1 - p) / (p * (1 - q))) ** self.hashes)[1]
        return PureDP(epsilon=min(Fraction(ceil(high * _GRID), _GRID), self.epsilon))

    @property
    def permanent(self) -> PureDP:
        """What everything costs that is ever reported about one text that does not change."""
        return PureDP(epsilon=self.epsilon)

    @cached_property
    def parameters(self) -> Parameters:
        """What travels with the reports; its epsilon is that of one report."""
        facts = {
            "bits": self.bits,
            "cohorts": self.cohorts,
            "hashes": self.hashes,
            "kept": f"{self.kept}/{ONE}",
            "p": f"{self.coins[0]}/{ONE}",
            "q": f"{self.coins[1]}/{ONE}",
        }
        return Parameters(
            "telemetry/rappor", self.event.epsilon, tuple((k, str(v)) for k, v in facts.items())
        )

    @property
    def form(self) -> tuple[type[np.uint8], int]:
        """Type and width of a payload: two bytes for the cohort, then the bits, the first the lowest."""
        return np.uint8, 2 + self.bits // 8

    @property
    def quantity(self) -> tuple[tuple[str, str], ...]:
        """What is estimated by `estimate`."""
        return (("bits of filters", f"{self.cohorts} x {self.bits}, {self.hashes} hashes"),)

    @property
    def weight(self) -> Fraction:
        """1 / (variance of one bit of one report), at most."""
        p, q = self.rates
        return 4 * (q - p) ** 2

    @property
    def statement(self) -> str:
        """What a report promises, alone and with all others, in words."""
        return statement(
            self.event,
            f"A report is {self.bits} bits of which a text sets {self.hashes}, flipped twice: once for ever, "
            f"once for this report. All reports about one text together keep epsilon {text(self.epsilon)}, "
            "however many they are; a forgotten answer costs that again. That the text changes, and when, is "
            "not hidden for longer than a few reports. One report alone:",
            again=False,
        )

    def client(self, memo: Memo | None = None, *, bits: Bits | None = None) -> MemoClient:
        """Return what makes reports on a device."""
        return MemoClient(self, memo, bits)

    def remembered(self, value: object, memo: Memo, bits: Bits) -> NDArray[np.uint8]:
        """Return the payload of one report, from the permanent answer in the memo."""
        drawn = int(chosen(1, self.cohorts, bits)[0])
        cohort = int.from_bytes(memo.settle(b"cohort", drawn.to_bytes(2, "little")), "little")
        told = texts.octets(value)
        filled = np.zeros((1, self.bits), np.bool_)
        filled[0, texts.bloom(told, cohort, self.hashes, self.bits)] = True
        fresh = np.packbits(self._flipped(filled, bits), bitorder="little").tobytes()
        kept = np.frombuffer(memo.remember(b"text " + told, fresh), np.uint8)
        answer = np.unpackbits(kept, bitorder="little").astype(np.bool_)[None, :]
        return self._payload(np.array([cohort]), self._reported(answer, bits))

    def randomize(self, values: Sequence[str], *, bits: Bits | None = None) -> Reports:
        """Return one report for each text, each from a device of its own that answers for the first time.

        Raises:  ParameterError: an entry is no text.
        """
        told, source = texts.listed(values), bits or SystemBits()
        cohorts = chosen(len(told), self.cohorts, source)
        places, piece = self._places(told, cohorts), _CELLS // self.bits
        parts = [
            self._first(places[start : start + piece], cohorts[start : start + piece], source)
            for start in range(0, len(told), piece)
        ]
        empty = np.zeros((0, self.form[1]), np.uint8)
        return Reports(self.parameters, np.concatenate([empty, *parts]))

    def aggregate(self, reports: Reports) -> Aggregate:
        """Return how many reports of each cohort had each bit, and (last column) how many there were.

        Raises:  ReportError: the reports were made with other parameters.
        """
        fit(reports, self.parameters)
        payload = checked(reports, *self.form, 256)
        cohorts = payload[:, 0].astype(np.int64) + 256 * payload[:, 1].astype(np.int64)
        checked(Reports(self.parameters, cohorts.astype(np.uint16)), np.uint16, None, self.cohorts)
        totals = np.zeros((self.cohorts, self.bits + 1), np.int64)
        totals[:, -1] = np.bincount(cohorts, minlength=self.cohorts)
        order = np.argsort(cohorts, kind="stable")
        ends = np.cumsum(totals[:, -1])
        for cohort in np.flatnonzero(totals[:, -1]):
            own = payload[order[ends[cohort] - totals[cohort, -1] : ends[cohort]], 2:]
            totals[cohort, :-1] = np.unpackbits(own, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
        return Aggregate(self, len(reports), totals)

    def estimate(self, reports: Reports, confidence: Number = "0.95") -> Estimate:
        """Return the share of filters with each bit, `(cohorts, bits)`: see `decode` for candidates."""
        return self.aggregate(reports).estimate(confidence)

    def decode(
        self, reports: Reports | Aggregate, candidates: Sequence[str], confidence: Number = "0.95"
    ) -> decoding.Decoded:
        """Return the share of each candidate and which of them somebody certainly has (see `decoding`).

        Raises:  ParameterError: candidates are too many, not texts, twice the same, or not told apart.
                 ReportError: the reports were made with other parameters.
        """
        aggregate = self.aggregate(reports) if isinstance(reports, Reports) else reports
        self.parameters.check(aggregate.parameters)
        return decoding.decode(self, aggregate, candidates, confidence)

    def error(self, candidates: Sequence[str]) -> NDArray[np.float64]:
        """Return the worst variance of each candidate's share from one report, before any data."""
        return decoding.Regression.of(self, candidates).worst()

    def interpret(self, aggregate: Aggregate, confidence: Fraction) -> Estimate:
        """Return the share of filters with each bit; NaN, between 0 and 1, in a cohort without reports."""
        seen, many = aggregate.totals[:, :-1], aggregate.totals[:, -1:]
        p, q = self.rates
        low, high = np.zeros(seen.shape), np.ones(seen.shape)
        for cohort in np.flatnonzero(many):
            ends = interval(seen[cohort], int(many[cohort, 0]), q, p, confidence)
            low[cohort], high[cohort] = ends
        with np.errstate(invalid="ignore", divide="ignore"):
            value = (seen / many - float(p)) / float(q - p)
            error = spread(value, q, p) / np.sqrt(many)
        return Estimate(value, error, low, high, aggregate.n, confidence, binomial.few(many))

    def inputs(self) -> list[str]:
        """Return two texts whose filters differ as much as any, in some cohort."""
        words = [str(number) for number in range(200)]
        filters = [set(texts.bloom(word.encode(), 0, self.hashes, self.bits)) for word in words]
        apart = [(len(a ^ filters[0]), word) for word, a in zip(words, filters, strict=True)]
        return [words[0], max(apart)[1]]

    def probabilities(self, value: str) -> dict[tuple[int, ...], Fraction]:
        """Return the law of one report alone; payloads as tuples of bytes. For filters of up to 16 bits."""
        return dict(self._law(value, *self.rates))

    def answers(self, value: str) -> dict[tuple[int, ...], Fraction]:
        """Return the law of the permanent answer with its cohort, as payloads, likewise."""
        kept = Fraction(self.kept, ONE)
        return dict(self._law(value, 1 - kept, kept))

    def _law(self, value: str, p: Fraction, q: Fraction) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        for cohort in range(self.cohorts):
            own = set(texts.bloom(texts.octets(value), cohort, self.hashes, self.bits))
            for pattern in product((0, 1), repeat=self.bits):
                likely = Fraction(_parts(self.cohorts)[cohort], ONE)
                for place, bit in enumerate(pattern):
                    rate = q if place in own else p
                    likely *= rate if bit else 1 - rate
                packed = np.packbits(np.array(pattern, np.uint8), bitorder="little")
                yield (cohort % 256, cohort // 256, *packed.tolist()), likely

    def _places(self, told: list[bytes], cohorts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the bits that each text sets in its cohort, `(n, hashes)`; each pair is hashed once."""
        distinct = list(dict.fromkeys(told))
        number = {one: place for place, one in enumerate(distinct)}
        pairs = np.array([number[one] for one in told], np.int64) * self.cohorts + cohorts
        once, back = np.unique(pairs, return_inverse=True)
        sets = [
            texts.bloom(distinct[pair // self.cohorts], pair % self.cohorts, self.hashes, self.bits)
            for pair in once.tolist()
        ]
        return np.array(sets, np.int64).reshape(-1, self.hashes)[back]

    def _first(self, places: NDArray[np.int64], cohorts: NDArray[np.int64], bits: Bits) -> NDArray[np.uint8]:
        """Return the first reports of devices whose texts set these bits."""
        filled = np.zeros((len(places), self.bits), np.bool_)
        filled[np.arange(len(places))[:, None], places] = True
        return self._payload(cohorts, self._reported(self._flipped(filled, bits), bits))

    def _flipped(self, filled: NDArray[np.bool_], bits: Bits) -> NDArray[np.bool_]:
        """Return permanent answers: each bit kept with probability K / 2**32, else flipped."""
        keep = bits.uint32(filled.size).reshape(filled.shape) < np.uint32(self.kept)
        return np.asarray(keep == filled)

    def _reported(self, answers: NDArray[np.bool_], bits: Bits) -> NDArray[np.bool_]:
        """Return reports: 1 with probability Q / 2**32 where the answer is 1, P / 2**32 where it is 0."""
        words = bits.uint32(answers.size).reshape(answers.shape)
        p, q = self.coins
        return np.asarray(np.where(answers, words <= np.uint32(q - 1), words < np.uint32(p)))

    def _payload(self, cohorts: NDArray[np.int64], reported: NDArray[np.bool_]) -> NDArray[np.uint8]:
        payload = np.empty((len(cohorts), self.form[1]), np.uint8)
        payload[:, 0], payload[:, 1] = cohorts % 256, cohorts // 256
        payload[:, 2:] = np.packbits(reported, axis=1, bitorder="little")
        return payload


def _octets(bits: object) -> int:
    """Return the number of bits if it fills octets."""
    number = whole(bits, "bits", at_least=8, at_most=4096)
    if number % 8:
        raise ParameterError("bits", bits, "must be a multiple of 8", "Give for example 128.")
    return number


def _coins(coins: object) -> tuple[int, int]:
    """Return P and Q in units of 2**-32."""
    fix = "Give (p, q) with 0 <= p < q <= 1, for example ('0.5', '0.75')."
    if not (isinstance(coins, tuple | list) and len(coins) == 2):
        raise ParameterError("coins", coins, "must be two probabilities", fix)
    p, q = (round(exact(coin, "coins") * ONE) for coin in coins)
    if not 0 <= p < q <= ONE:
        raise ParameterError("coins", coins, "must be two probabilities that rise", fix)
    return p, q


def _parts(count: int) -> list[int]:
    """Return how many of 2**32 words `coins.chosen` turns into each number below count."""
    starts = [-(-(number * ONE) // count) for number in range(count + 1)]
    return [end - start for start, end in pairwise(starts)]
