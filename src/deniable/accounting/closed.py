"""Closed forms: epsilon and delta of events that need no privacy loss distribution, proved as in `within`."""

from __future__ import annotations

from fractions import Fraction

from deniable.accounting import concentrated, discrete, gaussian, lattice
from deniable.accounting.search import least, log_of
from deniable.accounting.within import Parts, total_rho
from deniable.errors import ParameterError


def epsilon(given: Parts, delta: Fraction) -> Fraction:
    """Return the least epsilon that the closed forms prove at delta. `given` is not opaque.

    Raises:  ParameterError: epsilon is infinite at this delta; says why and what delta is needed.
    """
    rest = remaining(given, delta)
    if given.is_pure:
        return given.epsilon
    if rest <= 0:
        fix = "Gaussian noise and rho-zCDP promise nothing at delta 0: give a delta above it."
        raise infinite(delta, given.mass, fix)
    found = [concentrated.epsilon(total_rho(given), rest)]
    if not given.rho:
        found += _gaussian(given, found[0], rest) + _lattice(given, found[0], rest)
    return given.epsilon + min(found)


def delta(given: Parts, epsilon_: Fraction) -> Fraction:
    """Return the least delta that the closed forms prove at epsilon; 1 if the pure parts alone cost more."""
    room = epsilon_ - given.epsilon
    if room < 0:
        return Fraction(1)
    if given.is_pure:
        return given.mass
    found = [concentrated.delta(total_rho(given), room)]
    if not given.rho:
        found += _gaussian_delta(given, room)
        if is_alone(given):
            found.append(lattice.delta(given.discrete[0][0], room)[1])
    return 1 - (1 - given.mass) * (1 - min(found))


def remaining(given: Parts, delta_: Fraction) -> Fraction:
    """Return what the masses leave of delta: (delta - mass) / (1 - mass).

    Raises:  ParameterError: they need more than delta.
    """
    if delta_ < given.mass:
        fix = "Some events fail with that probability whatever epsilon is: give a delta of at least it."
        raise infinite(delta_, given.mass, fix)
    return (delta_ - given.mass) / (1 - given.mass)


def infinite(delta_: Fraction, mass: Fraction, fix: str) -> ParameterError:
    """Return the error that says in words that no epsilon exists."""
    return ParameterError(
        "delta", str(delta_), f"must be more than {float(mass):.6g}, or epsilon is infinite", fix
    )


def _gaussian(given: Parts, most: Fraction, rest: Fraction) -> list[Fraction]:
    """By the continuous curve; `most` is an epsilon that is proved already, so larger ones need no care."""
    if not given.discrete:
        return [gaussian.epsilon(given.mu_squared, rest)]
    coordinates = sum(times * event.coordinates for event, times in given.discrete)
    r_squared = discrete.smoothing(coordinates, most, rest)
    smoothed = discrete.smoothed(given.discrete, r_squared)
    if smoothed is None:
        return []
    return [gaussian.epsilon(given.mu_squared + smoothed.mu_squared, rest * (1 - discrete.SHARE))]


def _gaussian_delta(given: Parts, room: Fraction) -> list[Fraction]:
    if not given.discrete:
        return [gaussian.delta(given.mu_squared, room)[1]]
    coordinates = sum(times * event.coordinates for event, times in given.discrete)
    about = gaussian.delta(2 * total_rho(given), room)[1]
    smoothed = discrete.smoothed(given.discrete, discrete.smoothing(coordinates, room, about))
    if smoothed is None:
        return []
    return [gaussian.delta(given.mu_squared + smoothed.mu_squared, room)[1] + discrete.SHARE * about]


def is_alone(given: Parts) -> bool:
    """Whether one discrete Gaussian that can be summed is all there is."""
    if given.rho or given.mu_squared or len(given.discrete) != 1:
        return False
    event, times = given.discrete[0]
    return times == 1 and lattice.fits(event)


def _lattice(given: Parts, most: Fraction, rest: Fraction) -> list[Fraction]:
    if not is_alone(given):
        return []
    event = given.discrete[0][0]

    def excess(candidate: Fraction) -> float:
        return log_of(lattice.delta(event, candidate)[1]) - log_of(rest)

    def holds(candidate: Fraction) -> bool:
        return lattice.delta(event, candidate)[1] <= rest

    if holds(Fraction(0)):
        return [Fraction(0)]
    return [least(excess, holds, low=Fraction(0), high=most)] if most else []
