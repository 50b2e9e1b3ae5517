"""PCKV: one pair of each person, key and value perturbed together, in unary or direct form (Gu et al. 2020).

A pair is sampled with padding (`pairs.sampled`), its number becomes a sign, + with probability place /
2**32. With d keys, l = padding and d' = d + l (dummies included), R a rational <= e**epsilon, all odds in
units of 2**-32:

Direct (PCKV-GRR): the report is one of 2 d' signed keys: the own one with A, every other one with B.
1. A + (2 d' - 1) B = 2**32. A pair is sampled with probability at most w = `pairs.share(l)`, so any report
   has, for any person, a probability between B and w A + (1 - w) B.
2. `direct` takes the least B with w A + (1 - w) B <= R B. So sampling buys accuracy: A/B is about l (R - 1)
   + 1.

Unary (PCKV-UE): each of d' keys gets +, - or nothing. The own key: alpha for its sign, 2**31 - alpha for
the other; all others: beta for either.
1. Two people with the same sampled key and other signs differ in one cell, by alpha / (2**31 - alpha) at
   most.
2. With other keys they differ in two cells: by (alpha / beta) * max(2 (2**31 - beta) / 2**31, beta / (2**31
   - alpha)) at most, since cells are independent.
3. `unary` takes the largest alpha for step 1 and the least beta for step 2; sampling is a mixture and only
   helps. Both ratios are computed again in rationals (`ratio`), and held against e**epsilon by `KeyValue`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.errors import ParameterError
from deniable.local.coins import ONE, spread, truth
from deniable.local.keyvalue.pairs import Pairs, choices, sampled, share

_HALF = ONE // 2
_CELLS = 1 << 22
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rates:
    """How counts speak, as shares of n reports. With f the share of people with a key and m their mean sign:

    E[plus + minus] = base + steep f,  E[plus - minus] = turn f m.
    """

    base: float
    steep: float
    turn: float

    @property
    def variance(self) -> float:
        """The variance of the share of a key that nobody holds, from one report."""
        return self.base * (1 - self.base) / self.steep**2

    def likely(self, share: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return E[plus + minus] for each share, cut to [0, 1]."""
        return np.asarray(self.base + self.steep * np.clip(share, 0, 1), np.float64)


@dataclass(frozen=True)
class Direct:
    """PCKV-GRR. own, other: A and B."""

    keys: int
    padding: int
    own: int
    other: int

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What both ends must agree on."""
        return (("other", f"{self.other}/{ONE}"), ("padding", str(self.padding)))

    @property
    def form(self) -> tuple[type[np.uint32], None]:
        """A report is twice the key, plus 1 for the sign +."""
        return np.uint32, None

    @property
    def below(self) -> int:
        """No report is as large as this."""
        return 2 * (self.keys + self.padding)

    @property
    def ratio(self) -> Fraction:
        """The largest quotient of the probabilities of one report (step 1)."""
        likely = share(self.padding)
        return (likely * self.own + (1 - likely) * self.other) / self.other

    @property
    def rates(self) -> Rates:
        """How counts speak."""
        apart = (self.own - self.other) / ONE / self.padding
        return Rates(2 * self.other / ONE, apart, apart)

    def reports(self, pairs: Pairs, bits: Bits) -> NDArray[np.uint32]:
        """Return one report of each person."""
        key, at = sampled(pairs, self.padding, self.keys, bits)
        own = 2 * key + np.minimum(spread(at, bits), 1)
        words = bits.uint32(len(pairs)).astype(np.int64)
        away = 1 + (words - self.own) // self.other
        return np.where(words < self.own, own, (own + away) % self.below).astype(np.uint32)

    def counts(self, payload: NDArray[Any]) -> Counts:
        """Return how many reports said + and - for each key, `(2, keys)`."""
        both = np.bincount(payload, minlength=self.below).reshape(-1, 2)[: self.keys]
        return np.stack([both[:, 1], both[:, 0]]).astype(np.int64)

    def law(self, pairs: Pairs) -> dict[int, Fraction]:
        """Return the law of the report of one person."""
        own = choices(pairs, self.padding, self.keys)
        law = {}
        for report in range(self.below):
            mine = own.get((report // 2, report % 2), Fraction(0))
            law[report] = (mine * self.own + (1 - mine) * self.other) / ONE
        return law


@dataclass(frozen=True)
class Unary:
    """PCKV-UE. alpha, beta: as above."""

    keys: int
    padding: int
    alpha: int
    beta: int

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What both ends must agree on."""
        return (
            ("alpha", f"{self.alpha}/{ONE}"),
            ("beta", f"{self.beta}/{ONE}"),
            ("padding", str(self.padding)),
        )

    @property
    def form(self) -> tuple[type[np.uint8], int]:
        """Two bits a key, the lowest first: 0 nothing, 1 +, 2 -."""
        return np.uint8, -(-(self.keys + self.padding) // 4)

    @property
    def below(self) -> int:
        """No byte is as large as this."""
        return 256

    @property
    def ratio(self) -> Fraction:
        """The largest quotient of the probabilities of one report (steps 1 and 2)."""
        minus = _HALF - self.alpha
        rows = ((self.alpha, minus, _HALF), (self.beta, self.beta, ONE - 2 * self.beta))
        up = max(Fraction(own, other) for own, other in zip(*rows, strict=True))
        down = max(Fraction(other, own) for own, other in zip(*rows, strict=True))
        return max(up * down, Fraction(self.alpha, minus))

    @property
    def rates(self) -> Rates:
        """How counts speak."""
        steep = (_HALF - 2 * self.beta) / ONE / self.padding
        return Rates(2 * self.beta / ONE, steep, (2 * self.alpha - _HALF) / ONE / self.padding)

    def reports(self, pairs: Pairs, bits: Bits) -> NDArray[np.uint8]:
        """Return one report of each person."""
        piece = self._piece
        parts = [self._some(pairs.part(start, start + piece), bits) for start in range(0, len(pairs), piece)]
        return np.concatenate([np.zeros((0, self.form[1]), np.uint8), *parts])

    def counts(self, payload: NDArray[Any]) -> Counts:
        """Return how many reports said + and - for each key, `(2, keys)`."""
        found = np.zeros((2, self.keys), np.int64)
        for start in range(0, len(payload), self._piece):
            cells = np.unpackbits(payload[start : start + self._piece], axis=1, bitorder="little")
            sums = cells.sum(axis=0, dtype=np.int64)
            found += sums[: 2 * self.keys].reshape(-1, 2).T
        return found

    def law(self, pairs: Pairs) -> dict[tuple[int, ...], Fraction]:
        """Return the law of the report of one person: for few keys."""
        own, width = choices(pairs, self.padding, self.keys), self.keys + self.padding
        minus, law = _HALF - self.alpha, {}
        cells = {None: (ONE - 2 * self.beta, self.beta, self.beta), 1: (_HALF, self.alpha, minus)}
        cells[0] = (_HALF, minus, self.alpha)
        for report in product(range(3), repeat=width):
            likely = Fraction(0)
            for (key, sign), chance in own.items():
                term = chance
                for place, code in enumerate(report):
                    term *= Fraction(cells[sign if place == key else None][code], ONE)
                likely += term
            law[tuple(self._packed(np.array([report], np.uint8))[0].tolist())] = likely
        return law

    @property
    def _piece(self) -> int:
        """How many people are told of at a time: as many as fit in memory."""
        return max(1, _CELLS // (self.keys + self.padding))

    def _some(self, pairs: Pairs, bits: Bits) -> NDArray[np.uint8]:
        key, at = sampled(pairs, self.padding, self.keys, bits)
        sign = np.minimum(spread(at, bits), 1)
        shape = (len(pairs), self.keys + self.padding)
        words = bits.uint32(shape[0] * shape[1]).reshape(shape)
        codes = np.where(words < self.beta, np.uint8(1), np.uint8(2))
        codes[words >= 2 * self.beta] = 0
        rows = np.arange(len(pairs))
        own = words[rows, key]
        plus = np.where(sign == 1, self.alpha, _HALF - self.alpha)
        codes[rows, key] = np.where(own < plus, 1, np.where(own < _HALF, 2, 0))
        return self._packed(codes)

    def _packed(self, codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
        both = np.zeros((len(codes), self.form[1] * 8), np.uint8)
        both[:, 0 : 2 * codes.shape[1] : 2], both[:, 1 : 2 * codes.shape[1] : 2] = codes & 1, codes >> 1
        return np.packbits(both, axis=1, bitorder="little")


def direct(keys: int, padding: int, ratio: Fraction) -> Direct:
    """Return PCKV-GRR with the least B that keeps the ratio (step 2)."""
    likely, others = share(padding), 2 * (keys + padding) - 1
    least = ONE * likely / (ratio - 1 + likely + others * likely)
    other = -(-least.numerator // least.denominator)
    own = ONE - others * other
    if not own > other:
        raise ParameterError("epsilon", None, "is too small for so many keys", "Give a larger one.")
    return Direct(keys, padding, own, other)


def unary(keys: int, padding: int, ratio: Fraction) -> Unary:
    """Return PCKV-UE with the largest alpha and the least beta that keep the ratio (step 3)."""
    alpha = truth(ratio) // 2
    least = Fraction(2 * alpha * _HALF) / (ratio * _HALF + 2 * alpha)
    beta = -(-least.numerator // least.denominator)
    return Unary(keys, padding, alpha, beta)
