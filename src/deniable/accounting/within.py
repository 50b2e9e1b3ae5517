"""Is a promise kept? What rational arithmetic proves by itself.

What is proved, for events that may each be chosen after seeing the outputs of those before.
1. Pure parts add: their epsilons are subtracted first. (delta of both at epsilon is an average of the other
   part's delta at epsilon - loss, and the loss of the pure part is at most its epsilon.)
2. Chances that a promise fails, or that a group which only one unit has is shown, join as
   1 - (1 - d1)(1 - d2) (Kairouz, Oh, Viswanath 2015: such an event is a coin that fails with probability d,
   and otherwise pure); what is left for the rest is (delta - d) / (1 - d).
3. Gaussians add in mu**2. With discrete ones among them: by `discrete`, or by `lattice` where there is one
   alone that moves one coordinate.
4. All of these add in rho, with rho-zCDP events: by `concentrated`.
One of 3 and 4 must prove it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, assert_never

from deniable.accounting import concentrated, discrete, gaussian, lattice
from deniable.accounting.leaves import Leaf
from deniable.accounting.powers import amplified, any_of, chance_of_any
from deniable.events import (
    ApproxDP,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
    Repeated,
    Selection,
    Subsampled,
    ZeroConcentratedDP,
)


@dataclass(frozen=True, slots=True)
class Parts:
    """Events by the way in which they add up."""

    epsilon: Fraction
    mass: Fraction
    mu_squared: Fraction
    discrete: tuple[tuple[DiscreteGaussian, int], ...]
    rho: Fraction
    opaque: bool

    @property
    def is_pure(self) -> bool:
        """Whether epsilon and mass say all."""
        return not (self.mu_squared or self.discrete or self.rho or self.opaque)


def parts(found: Mapping[Leaf, int]) -> Parts:
    """Sort leaves. `opaque` tells that one of them has no place here: a sampled Gaussian, say."""
    epsilon = rho = mu_squared = Fraction(0)
    masses: list[Fraction] = []
    discretes: list[tuple[DiscreteGaussian, int]] = []
    opaque = False
    for leaf, times in found.items():
        match leaf:
            case Gaussian():
                mu_squared += times * leaf.sensitivity**2 / leaf.sigma**2
            case DiscreteGaussian():
                discretes.append((leaf, times))
            case ZeroConcentratedDP():
                rho += times * leaf.rho
            case _ if kept := promise(leaf):
                epsilon += times * kept.epsilon
                masses.append(chance_of_any(kept.delta, times))
            case _:
                opaque = True
    return Parts(epsilon, any_of(masses), mu_squared, tuple(discretes), rho, opaque)


class Kept(NamedTuple):
    """(epsilon, delta)-privacy, of any size: a guarantee that a person could write is `ApproxDP`."""

    epsilon: Fraction
    delta: Fraction


def promise(event: Event) -> Kept | None:
    """Return the (epsilon, delta) that the event keeps, where that needs no curve; else None."""
    match event:
        case Laplace() | DiscreteLaplace() | RandomizedResponse() | Exponential() | PureDP():
            return Kept(event.epsilon, Fraction(0))
        case ApproxDP() | Selection():
            return Kept(event.epsilon, event.delta)
        case Gaussian() | DiscreteGaussian() | ZeroConcentratedDP():
            return None
        case Subsampled(event=inner, rate=rate):
            one = promise(inner)
            return one and Kept(amplified(one.epsilon, rate), rate * one.delta)
        case Repeated(event=inner, times=times):
            one = promise(inner)
            return one and Kept(times * one.epsilon, chance_of_any(one.delta, times))
        case Composed(events=inner_events):
            all_of = [promise(inner) for inner in inner_events]
            kept = [one for one in all_of if one is not None]
            if len(kept) < len(all_of):
                return None
            total = sum((one.epsilon for one in kept), Fraction(0))
            return Kept(total, any_of(one.delta for one in kept))
        case _:
            assert_never(event)


def holds(given: Parts, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether rational arithmetic proves the parts to be (epsilon, delta)-private. False says "not here"."""
    room = epsilon - given.epsilon
    if given.opaque or room < 0 or delta < given.mass:
        return False
    rest = (delta - given.mass) / (1 - given.mass)
    if given.is_pure:
        return True
    if rest == 0:
        return False
    return _by_gaussian(given, room, rest) or _by_lattice(given, room, rest) or _by_rho(given, room, rest)


def _by_gaussian(given: Parts, epsilon: Fraction, delta: Fraction) -> bool:
    if given.rho:
        return False
    mu_squared, allowed = given.mu_squared, delta
    if given.discrete:
        coordinates = sum(times * event.coordinates for event, times in given.discrete)
        r_squared = discrete.smoothing(coordinates, epsilon, delta)
        smoothed = discrete.smoothed(given.discrete, r_squared)
        if smoothed is None:
            return False
        mu_squared, allowed = mu_squared + smoothed.mu_squared, delta * (1 - discrete.SHARE)
    return gaussian.delta(mu_squared, epsilon)[1] <= allowed


def _by_lattice(given: Parts, epsilon: Fraction, delta: Fraction) -> bool:
    if given.rho or given.mu_squared or len(given.discrete) != 1:
        return False
    event, times = given.discrete[0]
    return times == 1 and lattice.fits(event) and lattice.delta(event, epsilon)[1] <= delta


def _by_rho(given: Parts, epsilon: Fraction, delta: Fraction) -> bool:
    return concentrated.delta(total_rho(given), epsilon) <= delta


def total_rho(given: Parts) -> Fraction:
    """Return the rho of everything but the pure parts and the masses."""
    moves = sum(
        (times * event.sensitivity**2 / event.sigma**2 for event, times in given.discrete), Fraction(0)
    )
    return given.rho + (given.mu_squared + moves) / 2
