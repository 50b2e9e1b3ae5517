"""Everything that ships, as subjects: what `deniable audit --all` looks at.

Claims are taken from the package (its events, accountant, plans and mechanisms); what they are held against
is not: interval arithmetic, enumeration, integration and sampling that are written for the audit.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from math import exp, pi, sqrt
from typing import Any

from deniable import events, mechanisms
from deniable.accounting import account, calibrate
from deniable.audit.additive import AdditiveCurve
from deniable.audit.collected import collected
from deniable.audit.distributions import Between, Distribution
from deniable.audit.quadrature import Density
from deniable.audit.subjects import Asked, BlackBox, Known, Subject
from deniable.audit.verdict import Claim
from deniable.bits import Bits
from deniable.exact import text
from deniable.guarantees import ApproxDP, PureDP
from deniable.noise.gaussian import DiscreteGaussian
from deniable.noise.laplace import DiscreteLaplace
from deniable.query import aggregates
from deniable.query.survey import ROW, protect
from deniable.selection.geometric import TruncatedGeometric
from deniable.selection.thresholds import least_threshold

_MANY, _SOME, _FEW = 50, 10, 3
_BATCH = 20_000
_RISK = Fraction(1, 20)


def shipped() -> list[Subject]:
    """Return all subjects, from events to whole releases."""
    parts = (_additive(), _priced(), _choices(), _groups(), _noise(), _mechanisms(), _queries(), collected())
    return [subject for part in parts for subject in part]


def _additive() -> Iterator[Subject]:
    """Yield additive events, priced by the accountant at epsilon 1, and calibrated ones."""
    for event in (
        events.Laplace(scale=2, sensitivity=3),
        events.DiscreteLaplace(scale=3, sensitivity=4),
        events.Gaussian(sigma=2),
        events.DiscreteGaussian(sigma=2, sensitivity=3),
        events.DiscreteGaussian(sigma=100, sensitivity=7),
    ):
        yield Known(_named(event), _price(event), event)
    yield Known(
        "calibrate Gaussian",
        ApproxDP(epsilon=1, delta="1e-5"),
        calibrate(events.Gaussian, epsilon=1, delta="1e-5"),
    )
    yield Known("calibrate Laplace", PureDP(epsilon="1/3"), calibrate(events.Laplace, epsilon="1/3"))


def _priced() -> Iterator[Subject]:
    """Yield compositions with another description: four Gaussians are one, a sampled one is a mixture."""
    four = events.Repeated(events.Gaussian(sigma=4), 4)
    yield Known("Repeated(Gaussian(4), 4)", _price(four), events.Gaussian(sigma=2))
    rate, sigma = Fraction(1, 10), 1.0
    thinned = events.Subsampled(events.Gaussian(sigma=1), rate)

    def mixture(people: int) -> Density:
        def height(x: float) -> float:
            moved = exp(-((x - 1) ** 2) / (2 * sigma**2))
            still = exp(-(x**2) / (2 * sigma**2))
            share = float(rate) * people
            return (share * moved + (1 - share) * still) / (sigma * sqrt(2 * pi))

        return Density(height, breaks=(0.0, 1.0))

    yield Known("Subsampled(Gaussian(1), 1/10)", _price(thinned), mixture, (0, 1))


def _choices() -> Iterator[Subject]:
    """Yield randomised response and the exponential mechanism by their tables, with rational odds."""
    answer = events.RandomizedResponse(epsilon="ln 3", options=3)
    cost = PureDP(epsilon=account(answer).epsilon())
    yield Known(
        "RandomizedResponse(ln 3)",
        cost,
        lambda true: {a: 3 if a == true else 1 for a in range(3)},
        range(3),
    )
    scores = list(product(range(3), repeat=3))
    near = [
        (a, b)
        for a, b in product(scores, scores)
        if a < b and max(abs(x - y) for x, y in zip(a, b, strict=True)) == 1
    ]
    odds = PureDP(epsilon="2 ln 2")
    yield Known("exponential mechanism", odds, lambda utilities: [2**u for u in utilities], scores, near)


def _groups() -> Iterator[Subject]:
    """Yield the rules that show found groups, for a group that one unit makes."""
    risk = Fraction(1, 10**6)
    laplace = least_threshold(DiscreteLaplace(3), [1], delta=risk)
    yield _threshold(
        "threshold, Laplace noise", events.DiscreteLaplace(scale=3), laplace.least, laplace.delta
    )
    gaussian = least_threshold(DiscreteGaussian(9), [1], delta=risk)
    yield _threshold(
        "threshold, Gaussian noise", events.DiscreteGaussian(sigma=3), gaussian.least, gaussian.delta
    )
    rule = TruncatedGeometric(epsilon=1, delta=risk, max_groups=1)
    sizes = range(rule.certain + 2)
    claim = ApproxDP(epsilon=1, delta=risk)
    yield Known(
        "truncated geometric",
        claim,
        lambda n: [rule.chance(n), 1 - rule.chance(n)],
        sizes,
        list(pairwise(sizes)),
    )


def _threshold(
    name: str, noise: events.DiscreteLaplace | events.DiscreteGaussian, least: int, delta: Fraction
) -> Known:
    """Return the group of one unit as a mechanism: it is shown if 1 + noise >= least; without it, never."""

    def law(people: int) -> Distribution:
        if people == 0:
            return {"hidden": 1}
        low, high = AdditiveCurve(noise).tails(least - Fraction(1, 2))[0]
        return {"shown": Between(low, high), "hidden": Between(1 - high, 1 - low)}

    return Known(name, ApproxDP(epsilon=0, delta=delta), law, (0, 1))


def _noise() -> Iterator[Subject]:
    """Yield the samplers: small ones, drawn from one table, and wide ones, which are put together."""
    for size in (1, 5000):
        laplace, gaussian = DiscreteLaplace(size), DiscreteGaussian((2 * size) ** 2)
        claim = _price(events.DiscreteGaussian(sigma=2 * size, sensitivity=size), epsilon=Fraction(1, 2))
        for name, promise, noise in (("laplace", PureDP(epsilon=1), laplace), ("gaussian", claim, gaussian)):
            run = partial(_with, noise)
            yield BlackBox(f"noise.{name}, size {size:,}", promise, run, 0, size, _BATCH, _MANY)


def _with(noise: DiscreteLaplace | DiscreteGaussian, value: int, n: int, bits: Bits) -> Any:
    return value + noise.sample(n, bits=bits)


def _mechanisms() -> Iterator[Subject]:
    """Yield the mechanisms for one question."""
    for whole in (True, False):
        kind = "whole numbers" if whole else "real numbers"
        laplace = mechanisms.Laplace(epsilon=1, sensitivity=1, whole=whole)
        gaussian = mechanisms.Gaussian(epsilon=1, delta=_RISK, sensitivity=1, whole=whole)
        yield BlackBox(f"dn.Laplace, {kind}", laplace.guarantee, laplace.release, 0, 1, times=_SOME)
        yield BlackBox(f"dn.Gaussian, {kind}", gaussian.guarantee, gaussian.release, 0, 1, times=_SOME)
    answer = mechanisms.RandomizedResponse(epsilon=1, options=3)
    yield BlackBox("dn.RandomizedResponse", answer.guarantee, answer.release, 0, 1, times=_SOME)
    choice = mechanisms.Exponential(epsilon=1, sensitivity=1, candidates=3, whole=True)
    yield BlackBox("dn.Exponential", choice.guarantee, choice.release, (0, 0, 0), (1, -1, -1), times=_SOME)
    best = mechanisms.NoisyMax(epsilon=1, sensitivity=1, candidates=3, whole=True)
    yield BlackBox("dn.NoisyMax", best.guarantee, best.release, (0, 0, 0), (1, -1, -1), times=_SOME)


def _queries() -> Iterator[Subject]:
    """Yield whole releases: every kind of noise, of keys and of contribution bound.

    Epsilon is 3: a column has a part of it only, and with a smaller one so few runs show nothing. With a
    larger one they could refute nothing: e**3 times what 900 runs leave possible for a set never seen is 1/2.
    """
    import pyarrow as pa

    empty = pa.table(
        {
            "person": pa.array([], pa.string()),
            "colour": pa.array([], pa.string()),
            "spend": pa.array([], pa.float64()),
            "comment": pa.array([], pa.string()),
        }
    )
    people, rows = protect(empty, unit="person"), protect(empty, unit=ROW)
    units, count = aggregates.units(), aggregates.count(max_rows=2)
    total = aggregates.sum("spend", bounds=(0, 10), max_rows=2)
    mean = aggregates.mean("comment", bounds=(-5, 10), max_rows=2)
    pure, approximate = PureDP(epsilon=3), ApproxDP(epsilon=3, delta=_RISK)
    keyed = people.group_by("colour", keys=["red", "blue"])
    found = people.group_by("colour", max_groups=2, over="weight", selection="threshold")
    dropped = people.group_by("colour", max_groups=2, over="drop")
    yield Asked("release: totals", pure, people.aggregate(people=units, spend=total), "laplace", _FEW)
    yield Asked("release: declared groups", pure, keyed.aggregate(rows=count, average=mean), "laplace", _FEW)
    yield Asked(
        "release: found groups, dropped",
        approximate,
        dropped.aggregate(people=units, spend=total),
        "laplace",
        _FEW,
    )
    yield Asked(
        "release: found groups, weighted", approximate, found.aggregate(people=units), "gaussian", _FEW
    )
    by_chance = people.group_by("colour", max_groups=1, selection="truncated-geometric")
    yield Asked("release: groups by chance", approximate, by_chance.aggregate(people=units), "laplace", _FEW)
    in_rounds = people.group_by("colour", max_groups=2, selection="sips").aggregate(spend=total)
    yield Asked("release: groups in rounds", approximate, in_rounds, "gaussian", 2 * _FEW)
    middle = aggregates.quantile("spend", [0.5], bounds=(0, 10), max_rows=2)
    spread = aggregates.std("spend", bounds=(0, 10), max_rows=2)
    yield Asked("release: spread and median", pure, keyed.aggregate(spread=spread, middle=middle), "laplace")
    ends = {
        "least": aggregates.minimum("spend", bounds=(0, 10), max_rows=1),
        "most": aggregates.maximum("spend", bounds=(0, 10), max_rows=1),
        "bins": aggregates.histogram("spend", edges=[0, 5, 10], max_rows=1),
    }
    yield Asked("release: extremes and bins", pure, people.aggregate(**ends), "laplace", _FEW)
    shades = pa.table({"colour": ["red", "blue"], "shade": ["warm", "cold"], "weight": [3, -2]})
    joined = people.join(shades, on="colour").group_by("shade", keys=["warm", "cold"])
    weighed = aggregates.sum("weight", bounds=(-3, 3), max_rows=1)
    yield Asked(
        "release: a public table joined",
        pure,
        joined.aggregate(people=units, weighed=weighed),
        "laplace",
        _FEW,
    )
    different = aggregates.distinct("comment", max_values=2)
    yield Asked("release: different values", pure, keyed.aggregate(values=different), "laplace", _FEW)
    other = people.group_by("colour", max_groups=2, other=True).aggregate(people=units, spend=total)
    yield Asked("release: and everything else", approximate, other, "laplace", 2 * _FEW)
    few = people.group_by("colour", max_groups="auto").aggregate(people=units)
    yield Asked("release: chosen groups", approximate, few, "gaussian")
    bounded = aggregates.sum("spend", bounds="auto", max_rows="auto")
    yield Asked("release: chosen rows and bounds", pure, people.aggregate(spend=bounded), "laplace")
    each = rows.aggregate(rows=aggregates.count(), spend=aggregates.sum("spend", bounds=(-5, 10)))
    yield Asked("release: rows for themselves", pure, each, "laplace", _FEW)


def _price(event: events.Event, epsilon: Fraction = Fraction(1)) -> Claim:
    """Return what the accountant says of an event at this epsilon."""
    delta = account(event).delta(epsilon=epsilon)
    return ApproxDP(epsilon=epsilon, delta=delta) if delta else PureDP(epsilon=epsilon)


def _named(event: Any) -> str:
    size = event.scale if hasattr(event, "scale") else event.sigma
    return f"{type(event).__name__}({text(size)}) moved by {text(event.sensitivity)}"
