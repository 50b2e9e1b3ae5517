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
from deniable.accounting.leaves import Leaf
from deniable.accounting.mixture import Items
from deniable.accounting.powers import negative_exponential
from deniable.accounting.recipe import LATTICE, Question, Recipe, recipe
from deniable.accounting.search import log_of
from deniable.accounting.within import Parts, parts
from deniable.events import DiscreteGaussian

_SPARE = 40.0
_ROUNDING = 2.0**-45


def epsilon(found: Mapping[Leaf, int], delta_: Fraction) -> Fraction:
    """Return an epsilon that the leaves keep at delta, as small as we know.

    Raises:  ParameterError: it is infinite; says in words why.
    """
    given = parts(found)
    rest = closed.remaining(given, delta_)
    if not given.opaque and (rest == 0 or is_closed(given)):
        return closed.epsilon(given, delta_)
    if delta_ > 0 and isfinite(known := by_distribution(found, delta_)):
        return min(Fraction(known), given.epsilon) if given.is_pure else Fraction(known)
    if not given.opaque:
        return closed.epsilon(given, delta_)
    raise closed.infinite(
        delta_, given.mass, "Sampled Gaussian noise promises nothing there: give a larger delta."
    )


def delta(found: Mapping[Leaf, int], epsilon_: Fraction) -> Fraction:
    """Return a delta that the leaves keep at epsilon, as small as we know; 1 says nothing."""
    given = parts(found)
    if is_closed(given) or (given.is_pure and epsilon_ >= given.epsilon):
        return closed.delta(given, epsilon_)
    return delta_by_distribution(found, epsilon_)


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
    """Return delta by the privacy loss distribution; distances cost SHARE of it."""
    about = Fraction(1, 10**9)
    while True:
        made = _made(found, epsilon_, about)
        asked = float(epsilon_)
        known = _exponential(max(distribution.log_delta(items, asked) for items in made.directions if items))
        if not made.distance or known >= about:
            break
        about = known / 2
    rest = known + (discrete.SHARE * about if made.distance else 0)
    return min(Fraction(1), 1 - (1 - made.mass) * (1 - min(rest, Fraction(1))))


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
