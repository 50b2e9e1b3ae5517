"""`dn.local.KeyValue`: how many people hold each key, and the mean of the numbers that they have beside it.

    ratings = dn.local.KeyValue(epsilon=2, keys=["film", "song"], bounds=(0, 5))
    report = ratings.client().report({"film": 4.5})
    found = ratings.estimate(ratings.randomize(people));  found.value, found.mean.value

| mechanism | report        | answers       | mean                                               |
|-----------|---------------|---------------|----------------------------------------------------|
| pckv-grr  | one number    | once          | unbiased parts; best for few keys or large epsilon |
| pckv-ue   | 2 bits a key  | once          | unbiased parts; best for many keys                 |
| privkvm   | one number    | in each round | biased towards the round before; rounds add up     |
| auto      | the one of the first two with the least `error`: epsilon, keys and padding decide    |

Guarantee: `schemes` and `rounds`; the exact largest quotient of probabilities is held against e**epsilon
when a protocol is made. A person who holds more than `padding` keys answers about `padding` of them as
likely as about the others: then shares come out too small, which the notes say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits, SystemBits
from deniable.errors import ParameterError
from deniable.exact import Number, positive, text, whole
from deniable.guarantees import PureDP
from deniable.local.client import Client
from deniable.local.coins import ONE, bounded, hold, most, places
from deniable.local.estimates import Aggregate, Estimate, confident
from deniable.local.frequency.domain import Domain, declared
from deniable.local.frequency.intervals import interval, spread
from deniable.local.keyvalue.pairs import one_person, people
from deniable.local.keyvalue.ratio import allowance, drawn, quotient
from deniable.local.keyvalue.rounds import Lying, Means, lying
from deniable.local.keyvalue.schemes import Direct, Rates, Unary, direct, unary
from deniable.local.mean.intervals import ENOUGH, FEW
from deniable.local.parameters import Parameters
from deniable.local.payloads import Readable, checked, fit, normal, statement
from deniable.local.reports import Reports

MOST_PADDING = 64
_MECHANISMS = ("pckv-grr", "pckv-ue", "privkvm")
_MOST = {"pckv-grr": 1 << 16, "pckv-ue": 1 << 12, "privkvm": 1 << 16}
_PADDED = "Unbiased where nobody holds more than {padding} of the keys; else shares are rather too small."
_BIASED = "Means are biased towards those of the round before: see the documentation of PrivKVM."
_CLIPPED = "Means are quotients, cut to the bounds; where nobody seems to hold a key they are the middle."


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Held(Estimate):
    """The share of people who hold each key, `(keys,)`, and the mean of their numbers, `(keys,)`."""

    mean: Estimate

    def __str__(self) -> str:
        return f"Shares: {Estimate.__str__(self)}\nMeans: {self.mean}"


@dataclass(frozen=True, init=False, repr=False)
class KeyValue(Readable):
    """A protocol for keys with a number each.

    Args:    keys: all that may be told, beforehand. bounds: of the numbers. mechanism: see the table above;
             afterwards it is the one that "auto" took.
             rounds: of PrivKVM; each costs epsilon / rounds. padding: of PCKV, how many keys a person is
             thought to hold at most: 1 to 64. means: what PrivKVM's people who lack a key take: `next`.
    Raises:  ParameterError: an argument is out of range.
    """

    epsilon: Fraction
    keys: Domain
    bounds: tuple[Fraction, Fraction]
    mechanism: str
    rounds: int
    padding: int
    means: Means | None

    def __init__(
        self,
        *,
        epsilon: Number,
        keys: Iterable[object],
        bounds: tuple[Number, Number] = (-1, 1),
        mechanism: str = "auto",
        rounds: int = 1,
        padding: int = 1,
    ) -> None:
        if mechanism not in (*_MECHANISMS, "auto"):
            fix = "Write 'pckv-grr', 'pckv-ue', 'privkvm' or 'auto'."
            raise ParameterError("mechanism", mechanism, "is unknown", fix)
        many = whole(rounds, "rounds", at_least=1, at_most=100)
        if many > 1 and mechanism != "privkvm":
            raise ParameterError("rounds", rounds, "are for privkvm", "Leave it out: PCKV answers once.")
        spent, known, pads = positive(epsilon, "epsilon"), declared(keys), _padding(padding)
        name = _best(spent, len(known), pads) if mechanism == "auto" else mechanism
        self._set(spent, known, bounded(bounds), name, many, pads, None)

    def _set(
        self,
        epsilon: Fraction,
        keys: Domain,
        bounds: tuple[Fraction, Fraction],
        mechanism: str,
        rounds: int,
        padding: int,
        means: Means | None,
    ) -> None:
        if len(keys) > _MOST[mechanism]:
            fix = f"{mechanism} takes at most {_MOST[mechanism]:,}."
            raise ParameterError("keys", len(keys), "are too many", fix)
        known = {"epsilon": epsilon, "keys": keys, "bounds": bounds, "mechanism": mechanism, "rounds": rounds}
        known |= {"padding": padding, "means": means}
        for name, value in known.items():
            object.__setattr__(self, name, value)
        hold(self.scheme.ratio, self.epsilon / self.rounds)

    def __repr__(self) -> str:
        more = f", rounds={self.rounds}" if self.mechanism == "privkvm" else f", padding={self.padding}"
        return f"KeyValue(epsilon={text(self.epsilon)}, {len(self.keys)} keys, {self.mechanism}{more})"

    @cached_property
    def scheme(self) -> Direct | Unary | Lying:
        """What makes the reports, of one round."""
        ratio, keys = most(self.epsilon / self.rounds), len(self.keys)
        if self.mechanism == "privkvm":
            return lying(keys, self.epsilon / self.rounds, self.means)
        return (direct if self.mechanism == "pckv-grr" else unary)(keys, self.padding, ratio)

    @property
    def event(self) -> PureDP:
        """What one report costs: a round of PrivKVM costs its part."""
        return PureDP(epsilon=self.epsilon / self.rounds)

    @property
    def total(self) -> PureDP:
        """What all rounds cost together."""
        return PureDP(epsilon=self.epsilon)

    @cached_property
    def parameters(self) -> Parameters:
        """What travels with the reports."""
        low, high = self.bounds
        common = (("bounds", f"{low} to {high}"), ("items", str(len(self.keys))), ("keys", self.keys.digest))
        facts = tuple(sorted((*common, ("rounds", str(self.rounds)), *self.scheme.facts)))
        table = self.scheme.table.digest if isinstance(self.scheme, Lying) else None
        return Parameters(f"key-value/{self.mechanism}", self.event.epsilon, facts, table)

    @property
    def form(self) -> tuple[Any, int | None]:
        """Type and width of a payload."""
        return self.scheme.form

    @property
    def quantity(self) -> tuple[tuple[str, str], ...]:
        """What is estimated."""
        return (("key-value", f"{self.keys.digest}, {self.bounds[0]} to {self.bounds[1]}"),)

    @property
    def weight(self) -> Fraction:
        """1 / (variance of the share of a key that nobody holds, from one report)."""
        return 1 / Fraction(self.error())

    @property
    def statement(self) -> str:
        """What a report promises, in words."""
        rounds = (
            f"It is one of {self.rounds} rounds, which together cost epsilon {text(self.epsilon)}. "
            if self.rounds > 1
            else ""
        )
        return statement(
            self.event,
            f"A report speaks of {len(self.keys):,} keys, of which a person may hold several, each with a "
            f"number. {rounds}A key that is not among them counts as not held, a number outside the bounds "
            "as the nearer one, none as the middle.",
        )

    def client(self, bits: Bits | None = None) -> Client:
        """Return what makes reports on a device."""
        return Client(self, bits)

    def answer(self, value: object, bits: Bits) -> NDArray[Any]:
        """Return the payload of one report."""
        return self.scheme.reports(one_person(value, self.keys, self.bounds), bits)

    def randomize(self, values: object, *, bits: Bits | None = None) -> Reports:
        """Return one report of each person, of one round.

        Args:    values: a list of dicts, key to number; or `Pairs`.
        Raises:  ParameterError: an entry is no dict, holds another key, or a number outside the bounds.
        """
        pairs = people(values, self.keys, self.bounds)
        return Reports(self.parameters, self.scheme.reports(pairs, bits or SystemBits()))

    def aggregate(self, reports: Reports) -> Aggregate:
        """Return how many reports said + and - (and "lacks it", for PrivKVM) of each key, `(2 or 3, keys)`.

        Raises:  ReportError: the reports were made with other parameters.
        """
        fit(reports, self.parameters)
        payload = checked(reports, *self.form, self.scheme.below)
        return Aggregate(self, len(reports), self.scheme.counts(payload))

    def estimate(self, reports: Reports, confidence: Number = "0.95") -> Held:
        """Return the share that holds each key, and their mean."""
        found = self.aggregate(reports).estimate(confidence)
        assert isinstance(found, Held)
        return found

    def next(self, found: Held) -> KeyValue:
        """Return the next round of PrivKVM, in which people who lack a key take these means.

        Raises:  ParameterError: this is no PrivKVM.
        """
        if self.mechanism != "privkvm":
            raise ParameterError("mechanism", self.mechanism, "has no rounds", "Only PrivKVM has.")
        means = np.clip(np.asarray(found.mean.value), float(self.bounds[0]), float(self.bounds[1]))
        at = tuple(int(mean) for mean in places(means, self.bounds, 1))
        after = object.__new__(KeyValue)
        after._set(self.epsilon, self.keys, self.bounds, self.mechanism, self.rounds, self.padding, at)
        return after

    def collect(self, values: object, *, bits: Bits | None = None, confidence: Number = "0.95") -> Held:
        """Return the estimate after all rounds, in each of which every person answers: for research.

        Shares come from the reports of all rounds, means from those of the last one.
        """
        source, now, pairs = bits or SystemBits(), self, people(values, self.keys, self.bounds)
        aggregates = [now.aggregate(now.randomize(pairs, bits=source))]
        for _ in range(self.rounds - 1):
            now = now.next(_as_held(now.interpret(aggregates[-1], confident(confidence))))
            aggregates.append(now.aggregate(now.randomize(pairs, bits=source)))
        last = _as_held(aggregates[-1].estimate(confidence))
        if self.rounds == 1:
            return last
        totals = np.sum([one.totals for one in aggregates], axis=0)
        together = Aggregate(self, aggregates[0].n, np.asarray(totals, np.int64))
        shares = self.interpret(together, confident(confidence))
        return Held(
            shares.value, shares.standard_error, shares.low, shares.high, shares.n, shares.confidence,
            shares.notes, mean=last.mean,
        )  # fmt: skip

    def error(self) -> float:
        """Return the variance of the share of a key that nobody holds, from one report of each round."""
        return self._rates.variance * (len(self.keys) if self.mechanism == "privkvm" else 1)

    def inputs(self) -> list[dict[Any, float]]:
        """Return people who hold nothing, one key at either bound and in the middle, another, and two."""
        (first, *_, last), (low, high) = self.keys.items, map(float, self.bounds)
        one = [{first: low}, {first: high}, {first: (low + high) / 2}]
        return [{}, *one, {last: high}, {first: high, last: low}]

    def probabilities(self, value: object) -> dict[Any, Fraction]:
        """Return the law of one report."""
        return dict(self.scheme.law(one_person(value, self.keys, self.bounds)))

    def interpret(self, aggregate: Aggregate, confidence: Fraction) -> Held:
        """Return shares and means (`schemes.Rates`, `ratio`).

        Variances are those of the law at the estimates, these cut to what exists; so reports that happen to
        be alike do not make them 0. Those of means, and of PrivKVM's shares, are of people drawn anew.
        """
        plus, minus = aggregate.totals[0].astype(np.float64), aggregate.totals[1].astype(np.float64)
        many = aggregate.totals.sum(axis=0) if self.mechanism == "privkvm" else aggregate.n
        rates, z = self._rates, normal(confidence)
        n = np.maximum(np.asarray(many, np.float64), 1.0)
        said, turned = (plus + minus) / n, (plus - minus) / n
        share, shown = (said - rates.base) / rates.steep, rates.likely((said - rates.base) / rates.steep)
        error = np.sqrt(shown * (1 - shown) / n) / rates.steep
        notes: tuple[str, ...] = (_BIASED if self.mechanism == "privkvm" else self._padded, _CLIPPED)
        notes += (FEW,) if float(np.min(n)) < ENOUGH else ()
        if self.mechanism == "privkvm":
            mean = self._lied(plus, minus, z)
            low, high = ((end - rates.base) / rates.steep for end in drawn(plus + minus, n, z))
        else:
            turn = np.clip(turned, rates.base - shown, shown - rates.base)
            mean = quotient(
                turned / rates.turn, share, (shown - turn**2) / n / rates.turn**2, shown * (1 - shown) / n
                / rates.steep**2, turn * (1 - shown) / n / rates.steep / rates.turn, z,
                2 * allowance(z) / aggregate.n / rates.turn,
            )  # fmt: skip
            low, high = self._reached(aggregate, confidence)
            error = self._spread(share) / np.sqrt(n)
        return Held(
            share, error, np.minimum(low, share), np.maximum(high, share), aggregate.n, confidence, notes,
            mean=self._scaled(mean, z, aggregate.n, confidence, notes),
        )  # fmt: skip

    @property
    def _padded(self) -> str:
        return _PADDED.format(padding=self.padding)

    def _odds(self) -> tuple[Fraction, Fraction]:
        """Return how likely a report speaks of a key that its person has, and of one that they lack."""
        base, steep = Fraction(self._rates.base), Fraction(self._rates.steep)
        return base + steep, base

    def _reached(self, aggregate: Aggregate, confidence: Fraction) -> tuple[Any, Any]:
        """Return the interval of PCKV's shares, as for items (`frequency.intervals`)."""
        return interval(aggregate.totals.sum(axis=0), aggregate.n, *self._odds(), confidence)

    def _spread(self, share: Any) -> Any:
        return spread(share, *self._odds())

    @cached_property
    def _rates(self) -> Rates:
        if isinstance(self.scheme, Lying):
            told = self.scheme.presence / ONE
            return Rates(1 - told, 2 * told - 1, 2 * self.scheme.sign / ONE - 1)
        return self.scheme.rates

    def _lied(self, plus: Any, minus: Any, z: float) -> tuple[Any, Any, Any]:
        """Return PrivKVM's mean sign of those who said that they hold a key, and its interval."""
        said = np.maximum(plus + minus, 1.0)
        rate, turn = plus / said, self._rates.turn
        value = (2 * rate - 1) / turn
        reach = z * 2 * np.sqrt(np.maximum(rate * (1 - rate), 1 / said) / said) / turn
        low, middle, high = (np.clip(end, -1, 1) for end in (value - reach, value, value + reach))
        return middle, low, high

    def _scaled(
        self, mean: tuple[Any, Any, Any], z: float, n: int, sure: Fraction, notes: tuple[str, ...]
    ) -> Estimate:
        low, high = map(float, self.bounds)
        value, least, most_ = ((high - low) * (end + 1) / 2 + low for end in mean)
        return Estimate(value, (most_ - least) / (2 * z), least, most_, n, sure, notes)


def _as_held(estimate: Estimate) -> Held:
    assert isinstance(estimate, Held)
    return estimate


def _padding(padding: object) -> int:
    return whole(padding, "padding", at_least=1, at_most=MOST_PADDING)


def _best(epsilon: Fraction, keys: int, padding: int) -> str:
    """Return the PCKV with the least variance; of equal ones GRR, whose reports are smaller.

    Raises:  ParameterError: there are too many keys for both.
    """
    ratio = most(epsilon)
    far = unary(keys, padding, ratio) if keys <= _MOST["pckv-ue"] else None
    try:
        near = direct(keys, padding, ratio)
    except ParameterError:
        if far is None:
            raise
        return "pckv-ue"
    return "pckv-ue" if far is not None and far.rates.variance < near.rates.variance else "pckv-grr"
