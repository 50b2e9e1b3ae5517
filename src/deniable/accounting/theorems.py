"""What each theorem says about the same events, side by side.

| name              | theorem                                               | source                        |
|-------------------|-------------------------------------------------------|-------------------------------|
| basic             | epsilons add, failures join                           | Dwork et al. 2006             |
| advanced          | sqrt(2 ln(1/d) sum of e**2) + sum of e (exp(e) - 1)   | Dwork, Rothblum, Vadhan 2010  |
| optimal           | the best if of each event only (epsilon, delta) known | Kairouz, Oh, Viswanath 2015   |
| zero-concentrated | rho adds; Proposition 12                              | Canonne, Kamath, Steinke 2020 |
| renyi             | divergences of each order add; the same conversion    | Mironov 2017                  |
| loss distribution | the sum of all losses itself                          | Sommer et al. 2019            |
| gaussian          | mu**2 adds; the exact curve                           | Dong, Roth, Su 2019           |

Each is true of events chosen adaptively, if how many and which numbers they have was fixed beforehand.
An event that keeps no (epsilon, delta) by itself (Gaussian noise, rho-zCDP) enters the first three with its
own curve, at an equal share of the delta that is left; half of that delta is then d. Where every event is a
promise, d is all of it. rho of an epsilon-private event is epsilon**2 / 2 (Bun, Steinke 2016, Proposition
1.4), of the exponential mechanism epsilon**2 / 8 (Cesar, Rogers 2021, Lemma 3.2). "optimal" without slack is
"basic": it is never above it. The others can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from deniable.accounting import closed, concentrated, distribution, pricing
from deniable.accounting.leaves import Leaf
from deniable.accounting.mixture import Items
from deniable.accounting.number import UpperBound, upward
from deniable.accounting.pairs import answers
from deniable.accounting.powers import negative_exponential
from deniable.accounting.within import parts, promise
from deniable.brackets import logarithm, square_root
from deniable.errors import ParameterError
from deniable.events import DiscreteGaussian, Exponential, Gaussian, ZeroConcentratedDP
from deniable.exact import text

Found = Mapping[Leaf, int]
_PLACES = 6


@dataclass(frozen=True, slots=True)
class Row:
    """One theorem: its epsilon, or None and why it says nothing."""

    theorem: str
    epsilon: UpperBound | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Theorems:
    """What every theorem says at one delta. `theorems["basic"]` is one row; `print` shows the table."""

    delta: Fraction
    rows: tuple[Row, ...]

    def __getitem__(self, theorem: str) -> Row:
        for row in self.rows:
            if row.theorem == theorem:
                return row
        names = ", ".join(row.theorem for row in self.rows)
        raise ParameterError("theorem", theorem, "is not in this table", f"Ask for one of: {names}.")

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __str__(self) -> str:
        lines = [f"{'theorem':<18} epsilon at delta {text(self.delta)}"]
        for row in self.rows:
            shown = row.note if row.epsilon is None else text(row.epsilon, digits=_PLACES)
            lines.append(f"{row.theorem:<18} {shown}")
        return "\n".join(lines)


def by_theorem(found: Found, delta: Fraction) -> Theorems:
    """Return every theorem's epsilon at delta."""
    rows = []
    for name, theorem in _theorems().items():
        try:
            rows.append(Row(name, upward(theorem(found, delta) if found else Fraction(0))))
        except Silent as reason:
            rows.append(Row(name, None, str(reason)))
    return Theorems(delta, tuple(rows))


def cost(theorem: str, found: Found, delta: Fraction) -> Fraction:
    """Return one theorem's epsilon at delta. Raises Silent where it says nothing."""
    return _theorems()[theorem](found, delta)


def _theorems() -> dict[str, Callable[[Found, Fraction], Fraction]]:
    return {
        "basic": _basic,
        "advanced": _advanced,
        "optimal": _optimal,
        "zero-concentrated": _concentrated,
        "renyi": _renyi,
        "loss distribution": _distribution,
        "gaussian": _gaussian,
    }


class Silent(Exception):  # noqa: N818
    """The theorem says nothing about these events; the message says why."""


def _rest(found: Found, delta: Fraction, *, share: Fraction = Fraction(1)) -> Fraction:
    """Return that share of what the failures of the promises leave of delta."""
    mass = parts(found).mass
    if delta < mass:
        raise Silent(f"infinite: the events fail with probability {text(mass)}")
    return share * (delta - mass) / (1 - mass)


def _points(found: Found, rest: Fraction) -> list[tuple[Fraction, int]]:
    """Return the epsilon of each event and its number; those without a promise share `rest` equally."""
    sharing = sum(times for leaf, times in found.items() if promise(leaf) is None)
    points = []
    for leaf, times in found.items():
        kept = promise(leaf)
        if kept is not None:
            points.append((kept.epsilon, times))
        elif rest == 0:
            raise Silent("infinite: needs a larger delta")
        else:
            points.append((_alone(leaf, rest / sharing), times))
    return points


def _alone(leaf: Leaf, delta: Fraction) -> Fraction:
    try:
        return pricing.epsilon({leaf: 1}, delta)
    except ParameterError:
        raise Silent("infinite: needs a larger delta") from None


def _all_pure(found: Found) -> bool:
    return all(promise(leaf) is not None for leaf in found)


def _basic(found: Found, delta: Fraction) -> Fraction:
    points = _points(found, _rest(found, delta))
    return sum((times * epsilon for epsilon, times in points), Fraction(0))


def _slack(found: Found, delta: Fraction) -> tuple[list[tuple[Fraction, int]], Fraction]:
    """Return the points, and the delta that is left for the theorem."""
    rest = _rest(found, delta, share=Fraction(1) if _all_pure(found) else Fraction(1, 2))
    return _points(found, rest), rest


def _advanced(found: Found, delta: Fraction) -> Fraction:
    points, rest = _slack(found, delta)
    if rest == 0:
        raise Silent("needs a larger delta")
    squares = sum((times * epsilon**2 for epsilon, times in points), Fraction(0))
    drift = Fraction(0)
    for epsilon, times in points:
        low = negative_exponential(epsilon, 96)[0]
        if low == 0:
            raise Silent("larger than anyone can use")
        drift += times * epsilon * (1 / low - 1)
    return square_root(2 * squares * logarithm(1 / rest)[1])[1] + drift


def _optimal(found: Found, delta: Fraction) -> Fraction:
    """Without slack it is basic composition, with all of delta for the events: the lesser of the two."""
    return min(_basic(found, delta), _with_slack(found, delta))


def _with_slack(found: Found, delta: Fraction) -> Fraction:
    points, rest = _slack(found, delta)
    items = [(answers(float(epsilon)), times) for epsilon, times in points if epsilon]
    total = sum((times * epsilon for epsilon, times in points), Fraction(0))
    if rest == 0 or not items:
        return total
    known = distribution.epsilon(items, pricing.level(rest))
    return min(total, Fraction(known)) if isfinite(known) else total


def _concentrated(found: Found, delta: Fraction) -> Fraction:
    rest, rho = _rest(found, delta), Fraction(0)
    for leaf, times in found.items():
        kept = promise(leaf)
        match leaf:
            case Gaussian() | DiscreteGaussian():
                rho += times * leaf.sensitivity**2 / leaf.sigma**2 / 2
            case ZeroConcentratedDP():
                rho += times * leaf.rho
            case Exponential():
                rho += times * leaf.epsilon**2 / 8
            case _ if kept is not None:
                rho += times * kept.epsilon**2 / 2
            case _:
                raise Silent("knows no rho for what was drawn on a sample")
    if rest == 0 and rho:
        raise Silent("needs a larger delta")
    return concentrated.epsilon(rho, rest)


def _renyi(found: Found, delta: Fraction) -> Fraction:
    return _composed(found, delta, distribution.renyi)


def _distribution(found: Found, delta: Fraction) -> Fraction:
    return _composed(found, delta, distribution.epsilon)


def _composed(found: Found, delta: Fraction, way: Callable[[Items, float], float]) -> Fraction:
    if _rest(found, delta) == 0:
        return _basic(found, delta)
    if not pricing.in_range(found):
        raise Silent("is for fewer and smaller events")
    known = pricing.by_distribution(found, delta, way)
    if not isfinite(known):
        raise Silent("infinite: needs a larger delta")
    return Fraction(known)


def _gaussian(found: Found, delta: Fraction) -> Fraction:
    given = parts(found)
    if given.opaque or given.rho or given.epsilon or not (given.mu_squared or given.discrete):
        raise Silent("is for Gaussian noise alone")
    if _rest(found, delta) == 0:
        raise Silent("needs a larger delta")
    return closed.epsilon(given, delta)
