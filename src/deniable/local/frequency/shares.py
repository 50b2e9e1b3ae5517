"""`dn.local.Frequency`: how many people have each item, each one randomised on its owner's device."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits, SystemBits
from deniable.errors import ParameterError
from deniable.exact import Number, exact, text, whole
from deniable.guarantees import PureDP
from deniable.local.client import Client
from deniable.local.estimates import Aggregate, Estimate
from deniable.local.frequency.choice import NAMES, Name, best, named
from deniable.local.frequency.domain import Domain, Item, declared
from deniable.local.frequency.intervals import interval, spread
from deniable.local.frequency.odds import uniform, usable
from deniable.local.frequency.randomizer import Randomizer, report_bytes, total_variance, variances
from deniable.local.parameters import Parameters
from deniable.local.payloads import checked, fit, statement
from deniable.local.reports import Reports

Mechanism = Literal["auto", "response", "subset", "projective", "hadamard", "olh", "oue", "sue"]

_FEW = 8
_SMALL = 1 << 17


@dataclass(frozen=True, slots=True)
class FrequencyError:
    """The exact variance of estimated shares, for one report; n reports divide it by n.

    absent_variance, present_variance: of an item that nobody (everybody) has. worst_variance: the larger one.
    total_variance: the sum over all items, which is the same whatever the shares.
    """

    absent_variance: Fraction
    present_variance: Fraction
    total_variance: Fraction

    def __str__(self) -> str:
        absent, present, total = map(
            float, (self.absent_variance, self.present_variance, self.total_variance)
        )
        return (
            f"variance of one report: {absent:.6g} if nobody has the item to {present:.6g}; all: {total:.6g}"
        )

    @property
    def worst_variance(self) -> Fraction:
        """The variance of an item, at the worst share."""
        return max(self.absent_variance, self.present_variance)

    def variance_at(self, share: Number) -> Fraction:
        """Return the variance of an item that this share of the people has, 0 to 1."""
        f = exact(share, "share")
        if not 0 <= f <= 1:
            raise ParameterError("share", share, "must be from 0 to 1", "Give for example '0.1'.")
        return (1 - f) * self.absent_variance + f * self.present_variance

    def standard_error(self, n: int, share: Number = 0) -> float:
        """Return the standard error of an item of this share among n people, in shares."""
        people = whole(n, "n", at_least=1, at_most=1 << 62)
        return sqrt(self.variance_at(share) / people)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Frequency:
    """The shares of people who have each item of a declared domain.

    Args:    epsilon: of one report, at least 1e-6. domain: the items, in an order (`domain.Domain`).
             mechanism: see `choice`. other: the item that a device reports for a value outside the domain;
             a uniformly random item when omitted. report_bytes: the most that a report may take, for
             "auto": 64 when omitted.
    Guarantee: for any two items and any report, the probabilities differ at most by the exact factor
             `ratio`, which is at most e**epsilon: proved in the module of each protocol, checked in
             rationals when made.
    Raises:  ParameterError: an argument is out of range, or they do not go together.

    | value                     | on a device (`client`)        | in an array (`randomize`) |
    |---------------------------|-------------------------------|---------------------------|
    | an item                   | that item                     | that item                 |
    | anything else             | `other`, or a random item     | refused                   |
    """

    epsilon: Fraction
    domain: Domain
    randomizer: Randomizer = field(compare=False)
    parameters: Parameters

    def __init__(
        self,
        *,
        epsilon: Number,
        domain: Iterable[Item],
        mechanism: Mechanism = "auto",
        other: Item | None = None,
        report_bytes: int | None = None,
    ) -> None:
        spent, items = usable(epsilon), declared(domain, other)
        randomizer = _randomizer(mechanism, len(items), spent, report_bytes)
        facts = {"domain": items.digest, "items": str(len(items)), "other": items.rule, **randomizer.facts}
        agreed = Parameters(f"frequency/{randomizer.name}", spent, tuple(sorted(facts.items())))
        for name, value in (
            ("epsilon", spent),
            ("domain", items),
            ("randomizer", randomizer),
            ("parameters", agreed),
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return (
            f"Frequency(epsilon={text(self.epsilon)}, domain={len(self.domain):,} items, "
            f'mechanism="{self.mechanism}")'
        )

    @property
    def items(self) -> tuple[Item, ...]:
        """The items, in the order of estimates."""
        return self.domain.items

    @property
    def mechanism(self) -> Name:
        """The protocol that is used: never "auto"."""
        return next(name for name in NAMES if name == self.randomizer.name)

    @property
    def ratio(self) -> Fraction:
        """By which factor the probability of a report can differ between two items: at most e**epsilon."""
        return self.randomizer.ratio

    @property
    def form(self) -> tuple[np.dtype[Any], int | None]:
        """Type and width of a payload: `Reports.from_bytes(data, protocol.parameters, *protocol.form)`."""
        return self.randomizer.dtype, self.randomizer.width

    @property
    def report_bytes(self) -> int:
        """The size of a payload; in bytes on the wire a report has 9 more."""
        return report_bytes(self.randomizer)

    @property
    def event(self) -> PureDP:
        """What one report costs; a second one costs it again."""
        return PureDP(epsilon=self.epsilon)

    @property
    def statement(self) -> str:
        """What a report promises, in words."""
        rest = "a random item" if self.domain.other is None else f"the item {self.domain.rule}"
        return statement(
            self.event,
            f"A report names one of {len(self.domain):,} declared items, or a set of them, in which the "
            f"person's own is more likely ({self.mechanism}). Any other value counts as {rest}.",
        )

    @property
    def quantity(self) -> tuple[tuple[str, str], ...]:
        """What is estimated: only equal quantities combine."""
        return (("domain", self.domain.digest), ("shares", str(len(self.domain))))

    @property
    def weight(self) -> Fraction:
        """1 / (total variance of one report), whatever the shares are."""
        return 1 / total_variance(self.randomizer)

    def error(self) -> FrequencyError:
        """Return how far off estimates are expected to be, before there are any data."""
        return FrequencyError(*variances(self.randomizer), total_variance(self.randomizer))

    def client(self, bits: Bits | None = None) -> Client:
        """Return the device's end."""
        return Client(self, bits)

    def answer(self, value: object, bits: Bits) -> NDArray[Any]:
        """Return the payload of one report on any object at all. Never raises.

        The random item is drawn whether it is needed or not.
        """
        place, random = self.domain.place(value), uniform(1, len(self.domain), bits)
        if place is None:
            place = self.domain.fallback()
        own = random if place is None else np.array([place], np.int64)
        return self.randomizer.randomize(own, bits)

    def randomize(self, values: object, *, bits: Bits | None = None) -> Reports:
        """Return a report for each value of a list or array.

        Raises:  ParameterError: some value is no item of the domain. It is not shown: it is somebody's.
        """
        places = self.domain.places(values)
        return Reports(self.parameters, self.randomizer.randomize(places, bits or SystemBits()))

    def read(self, data: bytes | Iterable[str]) -> Reports:
        """Return reports from bytes, or from lines of JSON.

        Raises:  ReportError: they were made with other parameters, or are none.
        """
        if isinstance(data, bytes):
            return Reports.from_bytes(data, self.parameters, *self.form)
        return Reports.from_json_lines(data, self.parameters, *self.form)

    def aggregate(self, reports: Reports) -> Aggregate:
        """Return totals that merge: their size depends on the domain, never on the number of reports.

        Raises:  ReportError: other parameters, or a report that no device of this protocol sends.
        """
        fit(reports, self.parameters)
        below = 1 << (8 * self.randomizer.dtype.itemsize)
        payload = checked(reports, self.randomizer.dtype, self.randomizer.width, below)
        return Aggregate(self, len(reports), self.randomizer.tally(payload))

    def estimate(self, reports: Reports, confidence: Number = "0.95") -> Estimate:
        """Return the share of each item, `(items,)`, with an interval for each.

        Raises:  ReportError: other parameters. ParameterError: there are no reports.
        """
        return self.aggregate(reports).estimate(confidence)

    def interpret(self, aggregate: Aggregate, confidence: Fraction) -> Estimate:
        """Return the estimate of an aggregate: unbiased, so single shares may be below 0."""
        n, true, false = aggregate.n, self.randomizer.true, self.randomizer.false
        supported = self.randomizer.supported(aggregate.totals)
        value = (supported / n - float(false)) / float(true - false)
        low, high = interval(supported, n, true, false, confidence)
        return Estimate(value, spread(value, true, false) / n**0.5, low, high, n, confidence)

    def inputs(self) -> list[Item]:
        """Return items to compare in an audit: the first few, and the last."""
        return [*self.items[: _FEW - 1], self.items[-1]] if len(self.domain) > _FEW else list(self.items)

    def probabilities(self, value: object) -> Mapping[Hashable, Fraction]:
        """Return the exact probability of every payload for a value, as a device reports it.

        Raises:  ParameterError: there are too many different reports to list.
        """
        if self.randomizer.outputs > _SMALL:
            raise ParameterError(
                "domain", len(self.domain), "has too many different reports", "Take fewer items."
            )
        place = self.domain.place(value)
        place = self.domain.fallback() if place is None else place
        if place is not None:
            return self.randomizer.law(place)
        laws = [self.randomizer.law(item) for item in range(len(self.domain))]
        return {report: sum((law[report] for law in laws), Fraction(0)) / len(laws) for report in laws[0]}


def _randomizer(mechanism: object, items: int, epsilon: Fraction, size: int | None) -> Randomizer:
    if mechanism == "auto":
        return best(items, epsilon, size)
    for name in NAMES:
        if mechanism == name:
            made = named(name, items, epsilon)
            if size is not None and report_bytes(made) > whole(
                size, "report_bytes", at_least=1, at_most=1 << 20
            ):
                fix = f"Give at least {report_bytes(made)}, or take mechanism='auto'."
                raise ParameterError("report_bytes", size, f"is too small for {name}", fix)
            return made
    fix = f"Write 'auto', or one of {', '.join(NAMES)}."
    raise ParameterError("mechanism", mechanism, "is unknown", fix)
