"""Discrete Gaussian noise on one integer: the exact sum over the lattice. (Route a.)

An integer moves by d = floor(sensitivity) at most. P is the noise around 0, Q around d.
1. The loss ln(P(x)/Q(x)) = (d**2 - 2 d x) / (2 sigma**2) falls in x, so the best tests are {x < c}, and
   delta(epsilon) = P(X < c) - e**epsilon Q(X < c),  c = d/2 - epsilon sigma**2 / d,  Q(X < c) = P(X < c - d).
2. Moving by e < d costs no more: on every set {x < c} the second term falls in the shift. The other
   direction is the mirror image.
3. With k the largest integer below c and w(x) = exp(-x**2 / (2 sigma**2)): e**epsilon w(k - d) is
   w(k) exp(epsilon - loss(k)), and loss(k) > epsilon, so nothing overflows. The upper tail from m >= 0 is
   w(m) S(m) / Z, S(m) = sum over j >= 0 of w(m + j) / w(m), Z = 2 S(0) - 1; lower tails are its mirror.
4. `_tail` encloses S: term(j+1) = term(j) ratio(j), ratio(j+1) = ratio(j) exp(-1/sigma**2), integers rounded
   outwards; once a term is small, the rest is below term / (1 - ratio), as the ratios fall.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from deniable.accounting.powers import negative_exponential
from deniable.brackets import negative_exponential as fixed_point
from deniable.events import DiscreteGaussian

_BITS = 160
_ONE = 1 << _BITS
_SMALL = 1 << 24
LARGEST_SIGMA = 1 << 10
"""Above this the sums are long, and route b is within 2**-18 of the truth."""


def fits(event: DiscreteGaussian) -> bool:
    """Whether the event moves one integer, with a noise that can be summed."""
    return event.coordinates == 1 and event.sigma <= LARGEST_SIGMA


def delta(event: DiscreteGaussian, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Return rationals around delta(epsilon), epsilon >= 0, for one release."""
    d, square = floor(event.sensitivity), event.sigma**2
    k = ceil(Fraction(d, 2) - epsilon * square / d) - 1
    total_low, total_high = _total(square)
    low, high = _weight(k, square)
    shrink = (d * d - 2 * d * k) / (2 * square) - epsilon
    far_low, far_high = _product(negative_exponential(shrink, _BITS), _tail(d - k, square))
    if k < 0:
        near_low, near_high = _tail(-k, square)
        top = low * max(Fraction(0), near_low - far_high), high * (near_high - far_low)
        return top[0] / total_high, top[1] / total_low
    above_low, above_high = _product(_weight(k + 1, square), _tail(k + 1, square))
    return 1 - (above_high + high * far_high) / total_low, 1 - (above_low + low * far_low) / total_high


def _product(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
    return a[0] * b[0], a[1] * b[1]


def _weight(x: int, square: Fraction) -> tuple[Fraction, Fraction]:
    return negative_exponential(x * x / (2 * square), _BITS)


@lru_cache(maxsize=16)
def _total(square: Fraction) -> tuple[Fraction, Fraction]:
    """Enclose Z = sum over all integers of w."""
    low, high = _tail(0, square)
    return 2 * low - 1, 2 * high - 1


def _tail(m: int, square: Fraction) -> tuple[Fraction, Fraction]:
    """Enclose S(m), m >= 0."""
    first, step = Fraction(2 * m + 1) / (2 * square), 1 / square
    ratio_low, ratio_high = fixed_point(first.numerator, first.denominator, _BITS)
    step_low, step_high = fixed_point(step.numerator, step.denominator, _BITS)
    low = high = _ONE
    low_sum = high_sum = 0
    while high > _SMALL:
        low_sum, high_sum = low_sum + low, high_sum + high
        low, high = low * ratio_low >> _BITS, (high * ratio_high >> _BITS) + 1
        ratio_low, ratio_high = ratio_low * step_low >> _BITS, (ratio_high * step_high >> _BITS) + 1
    rest = high * _ONE // (_ONE - ratio_high) + 1
    return Fraction(low_sum, _ONE), Fraction(high_sum + rest, _ONE)
