"""Discrete Gaussian noise on vectors of integers, by way of the continuous Gaussian. (Route b.)

The discrete Gaussian is *not* priced as the continuous one: at sigma 1 and epsilon 0 its delta is .39894,
not .38292. It is close to a post-processing of a slightly smaller continuous one:

Lemma. Let X have the discrete law proportional to exp(-(x - f)**2 / (2 sigma**2)) on the integers, f an
integer. Let G be continuous Gaussian around f with variance sigma**2 - r**2, and Y an integer drawn, given
G, with weight exp(-(y - G)**2 / (2 r**2)). With t = exp(-2 pi**2 r**2) <= 1/8, X and Y differ by at most 4 t
in total variation.
Proof.
1. Z(g) = sum over y of exp(-(y - g)**2 / (2 r**2)) = r sqrt(2 pi) (1 + e(g)), by Poisson's summation, with
   |e(g)| <= eta = sum over k >= 1 of 2 t**(k**2) <= 2 t / (1 - t).
2. P(Y = y) = integral of the density of G times exp(-(y - g)**2 / (2 r**2)) / Z(g). Without e this is the
   convolution of two Gaussians, n(y) = the density of variance sigma**2 at y. So P(Y = y) is between
   n(y) / (1 + eta) and n(y) / (1 - eta).
3. P(X = y) = n(y) / S with S = sum of n(y). If S <= 1: total variation = sum of (P(Y = y) - P(X = y))+
   <= S / (1 - eta) - 1 <= eta / (1 - eta); else sum of (P(X = y) - P(Y = y))+ <= 1 - S / (1 + eta) <= eta.
4. eta / (1 - eta) <= 16/5 t <= 4 t for t <= 1/8.

What follows. f is a vector of integers of which one unit moves at most N coordinates; the others have the
same law on both tables and are independent of these. On each table the vector X is within N * 4 t of a
post-processing of the continuous mechanism with sigma**2 - r**2 and the same L2 sensitivity. Releases that
follow one another add these distances, the later ones chosen from earlier outputs as they may be. So
P(S) <= P'(S) + d <= e**epsilon Q'(S) + delta' + d <= e**epsilon Q(S) + delta' + (1 + e**epsilon) d,
d = sum of N * 4 t: `price`. r**2 is chosen so that the last term is below 2**-40 of the delta in question:
on a grid where sigma is 2**16 this costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from deniable.accounting.powers import negative_exponential
from deniable.brackets import logarithm, pi
from deniable.events import DiscreteGaussian

SHARE = Fraction(1, 1 << 40)
"""The part of a delta that smoothing may use."""

_GRID = 1 << 10


@dataclass(frozen=True, slots=True)
class Smoothed:
    """Discrete releases seen as continuous ones: the sum of mu**2, and the total distance d of the lemma."""

    mu_squared: Fraction
    distance: Fraction


def smoothing(coordinates: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return an r**2 with (1 + e**epsilon) * coordinates * 4 exp(-2 pi**2 r**2) <= SHARE * delta. delta > 0.

    `coordinates` is N summed over releases. ln(1 + e**epsilon) <= epsilon + ln 2; r**2 is rounded up to a
    multiple of 2**-10, and is at least 1/8, where exp(-2 pi**2 r**2) <= 1/8.
    """
    exponent = epsilon + logarithm(8 * coordinates / (SHARE * delta), 32)[1]
    least = exponent / (2 * pi(64)[0] ** 2)
    return max(Fraction(1, 8), Fraction(-(-least.numerator * _GRID // least.denominator), _GRID))


def smoothed(events: Iterable[tuple[DiscreteGaussian, int]], r_squared: Fraction) -> Smoothed | None:
    """Return the continuous price of releases (event, times), or None if one has sigma**2 <= r_squared."""
    pairs = list(events)
    if any(event.sigma**2 <= r_squared for event, _ in pairs):
        return None
    mu_squared = sum(
        (times * event.sensitivity**2 / (event.sigma**2 - r_squared) for event, times in pairs), Fraction(0)
    )
    coordinates = sum(times * event.coordinates for event, times in pairs)
    t = negative_exponential(2 * pi(64)[0] ** 2 * r_squared, 64)[1]
    return Smoothed(mu_squared, 4 * coordinates * t)
