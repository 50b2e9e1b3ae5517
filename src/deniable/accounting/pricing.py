"""Which way leads to epsilon and delta: closed forms where they are tight, else a loss distribution.

| events                                             | way                                                   |
|----------------------------------------------------|-------------------------------------------------------|
| nothing but promises, and delta no more than theirs| their sum, exactly                                    |
| Gaussians, discrete ones with sigma > LATTICE      | the Gaussian curve, proved in rationals               |
| one discrete Gaussian on one integer               | the sum over its lattice, proved in rationals         |
| rho-zCDP events alone                              | the conversion of `concentrated`, proved in rationals |
| all else                                           | `distribution`; for promises, never above their sum   |

A chance of failing beside all of these, `mass`, joins as 1 - (1 - mass)(1 - delta). Of several true answers
about the same events the least is true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import inf, isfinite

from deniable.accounting import closed, discrete, distribution
from deniable.accounting.leaves import Leaf, leaves
from deniable.accounting.mixture import Items
from deniable.accounting.powers import negative_exponential, shortened
from deniable.accounting.recipe import LATTICE, Question, Recipe, recipe
from deniable.accounting.search import log_of
from deniable.accounting.within import Parts, parts
from deniable.errors import ParameterError
from deniable.events import DiscreteGaussian, Exponential, Gaussian, Subsampled, ZeroConcentratedDP
from deniable.guarantees import Neighbours

_SPARE = 40.0
_ROUNDING = 2.0**-45
_LARGEST = 1 << 20
_MOST_EVENTS = 10**9
_ANYTHING = 1 << 40
_TINIEST = Fraction(1, 10**650)


def epsilon(found: Mapping[Leaf, int], delta_: Fraction) -> Fraction:
    """Return an epsilon that the leaves keep at delta, as small as we know.

    Raises:  ParameterError: it is infinite; says in words why.
    """
    given = parts(found)
    rest = closed.remaining(given, delta_)
    if tells_everything(found):
        fix = "Noise this small hides nothing: use more of it."
        raise ParameterError("events", dict(found), "tell everything", fix)
    if not given.opaque and (rest == 0 or is_closed(given)):
        return closed.epsilon(given, delta_)
    if delta_ > 0 and in_range(found):
        known = [one for one in (_known(way, delta_) for way in _ways(found)) if one is not None]
        if known:
            return min(*known, given.epsilon) if given.is_pure else min(known)
    if not given.opaque:
        return closed.epsilon(given, delta_)
    if not in_range(found):
        fix = "With sampling among them, at most 10**9 events, none above epsilon 2**20, can be priced."
        raise ParameterError("events", sum(found.values()), "are too many or too large", fix)
    raise closed.infinite(delta_, given.mass, "Noise on samples promises nothing there: give a larger delta.")


def _known(found: Mapping[Leaf, int], delta_: Fraction) -> Fraction | None:
    """Return epsilon by the closed form if there is one, else by the distribution; None if infinite."""
    given = parts(found)
    if is_closed(given):
        return closed.epsilon(given, delta_)
    known = by_distribution(found, delta_)
    return Fraction(known) if isfinite(known) else None


def delta(found: Mapping[Leaf, int], epsilon_: Fraction) -> Fraction:
    """Return a delta that the leaves keep at epsilon, as small as we know; 1 says nothing."""
    given = parts(found)
    if tells_everything(found):
        return Fraction(1)
    if is_closed(given) or (given.is_pure and epsilon_ >= given.epsilon):
        return closed.delta(given, epsilon_)
    if in_range(found) and epsilon_ <= _LARGEST:
        return min(delta_by_distribution(way, epsilon_) for way in _ways(found))
    return Fraction(1) if given.opaque else closed.delta(given, epsilon_)


def in_range(found: Mapping[Leaf, int]) -> bool:
    """Whether floats can hold the losses: none above 2**20, at most 10**9 of them."""
    return sum(found.values()) <= _MOST_EVENTS and all(_largest(leaf) <= _LARGEST for leaf in found)


def tells_everything(found: Mapping[Leaf, int]) -> bool:
    """Whether some noise is so small that no delta helps: rho above 2**40."""
    return any(times * _rho(leaf) > _ANYTHING for leaf, times in found.items())


def _rho(leaf: Leaf) -> Fraction:
    """Return rho of noise that has no largest loss; 0 for the others."""
    match leaf:
        case Gaussian() | DiscreteGaussian():
            return leaf.sensitivity**2 / (2 * leaf.sigma**2)
        case ZeroConcentratedDP():
            return leaf.rho
        case _:
            return Fraction(0)


def _largest(leaf: Leaf) -> Fraction:
    """Return about the largest loss that counts, without the unit for noise that has no largest."""
    match leaf:
        case Subsampled():
            return max(map(_largest, leaves(leaf.event, Neighbours.ADD_OR_REMOVE)), default=Fraction(0))
        case Gaussian() | DiscreteGaussian() | ZeroConcentratedDP():
            return _rho(leaf)
        case _:
            return leaf.epsilon


def _ways(found: Mapping[Leaf, int]) -> list[Mapping[Leaf, int]]:
    """Return the leaves, and once more with the exponential mechanism as rho = epsilon**2 / 8.

    Its curve takes the worst place of the range for each epsilon; of several, rho may know more (Cesar,
    Rogers 2021, Lemma 3.2: a bounded range of epsilon is (epsilon**2 / 8)-zCDP).
    """
    ways: list[Mapping[Leaf, int]] = [found]
    chosen = {leaf: times for leaf, times in found.items() if isinstance(leaf, Exponential)}
    if sum(chosen.values()) > 1:
        others = {leaf: times for leaf, times in found.items() if leaf not in chosen}
        rho = sum((times * leaf.epsilon**2 / 8 for leaf, times in chosen.items()), Fraction(0))
        promised = ZeroConcentratedDP(rho=shortened(rho))
        ways.append({**others, promised: 1 + others.get(promised, 0)})
    return ways


def is_closed(given: Parts) -> bool:
    """Whether the closed forms are as tight as anything."""
    if given.opaque or given.epsilon:
        return False
    if given.rho:
        return not given.mu_squared and not given.discrete
    return closed.is_alone(given) or not any(_on_lattice(event) for event, _ in given.discrete)


def _on_lattice(event: DiscreteGaussian) -> bool:
    return event.coordinates == 1 and event.sigma <= LATTICE


def by_distribution(
    found: Mapping[Leaf, int],
    delta_: Fraction,
    way: Callable[[Items, float], float] = distribution.epsilon,
) -> float:
    """Return epsilon from the pairs, or infinity: the larger of the two directions.

    Distances of `discrete` are kept below SHARE of delta; r**2 is chosen for a guess of epsilon, and again
    for a larger one if the result is above it.
    """
    guess = Fraction(16)
    while True:
        made = _made(found, guess, delta_)
        rest = (delta_ - made.mass) / (1 - made.mass)
        if rest <= 0:
            return inf
        allowed = level(rest * (1 - discrete.SHARE) if made.distance else rest)
        known = max(way(items, allowed) if items else 0.0 for items in made.directions)
        if not made.distance or known <= guess or not isfinite(known):
            return known
        guess = Fraction(known) * 2


def level(delta_: Fraction) -> float:
    """Return a float below ln(delta_)."""
    near = log_of(delta_)
    return near - _ROUNDING * (1 + abs(near))


def delta_by_distribution(found: Mapping[Leaf, int], epsilon_: Fraction) -> Fraction:
    """Return delta by the privacy loss distribution; distances cost SHARE of it.

    The pairs are made for a delta `about` as small as this. Where the answer is smaller, they are made again:
    tables end, and distances are kept, where `about` says. Each answer is true, the least is returned.
    """
    about, best, asked = Fraction(1, 10**9), Fraction(1), float(epsilon_)
    while True:
        made = _made(found, epsilon_, about)
        known = _exponential(max(distribution.log_delta(items, asked) for items in made.directions if items))
        rest = known + (discrete.SHARE * about if made.distance else 0)
        best = min(best, 1 - (1 - made.mass) * (1 - min(rest, Fraction(1))))
        if known >= about or not known or not _ends(found) or about < _TINIEST:
            return best
        about = known / 2 if made.distance else shortened(known**2)


def _ends(found: Mapping[Leaf, int]) -> bool:
    """Return whether some pair is made only as far as a delta that is asked for."""
    return any(isinstance(leaf, DiscreteGaussian | ZeroConcentratedDP | Subsampled) for leaf in found)


def _made(found: Mapping[Leaf, int], epsilon_: Fraction, delta_: Fraction) -> Recipe:
    coordinates = sum(
        times * leaf.coordinates for leaf, times in found.items() if isinstance(leaf, DiscreteGaussian)
    )
    r_squared = discrete.smoothing(max(coordinates, 1), epsilon_, delta_)
    return recipe(found, Question(_SPARE - log_of(delta_), r_squared))


def _exponential(logarithm: float) -> Fraction:
    """Return a rational just above exp(logarithm), 1 at most; 0 for minus infinity."""
    if logarithm == -inf:
        return Fraction(0)
    raised = min(logarithm + _ROUNDING * (1 + abs(logarithm)), 0.0)
    return negative_exponential(Fraction(-raised), 64)[1]
