"""The curve of continuous Gaussian noise, enclosed by rationals: no floating point decides.

For a shift of mu = sensitivity / sigma (mu**2 adds up over releases, adaptive ones too):

    delta(epsilon) = T(a) - e**epsilon T(b),  a = epsilon/mu - mu/2,  b = epsilon/mu + mu/2,  T = normal tail.

Proof of what the code computes.
1. b**2 - a**2 = 2 epsilon, so e**epsilon phi(b) = phi(a), and with R = T/phi (Mills' ratio)
   delta = phi(a) (R(a) - R(b)) for a >= 0, and 1 - T(-a) - phi(a) R(b) for a < 0: `_at`. Neither contains
   e**epsilon, so an epsilon of 10,000 is no harder than one of 1.
2. The derivative in mu is phi(a) > 0: the upper end of an enclosure of mu gives the upper end of delta.
3. R: `mills`. I(n) = integral over t > 0 of t**n exp(-x t - t**2/2) obeys I(1) + x I(0) = 1 and
   I(n+1) + x I(n) = n I(n-1), by parts, and R = I(0). So u(0) = 1/R and u(n) = n I(n-1) / I(n) obey
   u(n) = x + (n+1)/u(n+1), hence x <= u(n) <= x + (n+1)/x. Intervals carried down from a large n, where
   these two ends start, enclose u(0); they shrink by about exp(-2 x sqrt(n)) on the way.
Source: Balle, Wang 2018, Theorem 8; Dong, Roth, Su 2019 for the sum of squares.
"""

from __future__ import annotations

from fractions import Fraction

from deniable.accounting.powers import negative_exponential
from deniable.accounting.search import least, log_of
from deniable.brackets import logarithm, normal_tail, pi, square_root

PRECISION = 96
_SERIES_BELOW = 3


def delta(mu_squared: Fraction, epsilon: Fraction, precision: int = PRECISION) -> tuple[Fraction, Fraction]:
    """Return rationals around delta, about 2**-precision apart in proportion. epsilon >= 0.

    Where the exponent a**2/2 is above 2**15 the lower end is 0 and the upper one below 10**-13800.
    """
    if mu_squared == 0:
        return Fraction(0), Fraction(0)
    bits = precision + max(0, mu_squared.denominator.bit_length() - mu_squared.numerator.bit_length()) + 8
    low, high = square_root(mu_squared, bits)
    return max(Fraction(0), _at(low, epsilon, bits)[0]), min(Fraction(1), _at(high, epsilon, bits)[1])


def epsilon(mu_squared: Fraction, delta_: Fraction) -> Fraction:
    """Return an epsilon >= 0 with delta(mu_squared, epsilon) <= delta_, proved; about 2**-40 above the least.

    The search ends below mu**2/2 + mu sqrt(2 ln(1/delta_)), as delta < T(a) <= exp(-a**2/2).
    """

    def excess(candidate: Fraction) -> float:
        return log_of(delta(mu_squared, candidate)[1]) - log_of(delta_)

    def holds(candidate: Fraction) -> bool:
        return delta(mu_squared, candidate)[1] <= delta_

    if mu_squared == 0:
        return Fraction(0)
    if holds(Fraction(0)):
        return Fraction(0)
    top = square_root(2 * logarithm(1 / delta_, 64)[1], 64)[1]
    mu = square_root(mu_squared, 64)[1]
    return least(excess, holds, low=Fraction(0), high=mu * mu / 2 + mu * top)


def mills(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return rationals around T(x) / phi(x), x >= 0, about 2**-bits apart."""
    if x < _SERIES_BELOW:
        tail_low, tail_high = normal_tail(x, bits + 8)
        density_low, density_high = density(x, bits + 8)
        return tail_low / density_high, tail_high / density_low
    one = 1 << (bits + 8)
    x_low = x.numerator * one // x.denominator
    x_high = x_low + 1
    depth = 12 + int((bits * Fraction(37, 100) / x) ** 2)
    low, high = x_low, x_high + (depth + 1) * one * one // x_low + 1
    for n in range(depth, 0, -1):
        low, high = x_low + n * one * one // high, x_high + n * one * one // low + 1
    return Fraction(one, high), Fraction(one, low)


def density(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return rationals around phi(x) = exp(-x**2/2) / sqrt(2 pi), 2**-bits apart in proportion."""
    low, high = negative_exponential(x * x / 2, bits + 4)
    pi_low, pi_high = pi(bits + 8)
    return low / square_root(2 * pi_high, bits + 8)[1], high / square_root(2 * pi_low, bits + 8)[0]


def _at(mu: Fraction, epsilon_: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Enclose delta for a rational mu > 0."""
    a, b = epsilon_ / mu - mu / 2, epsilon_ / mu + mu / 2
    far_low, far_high = mills(b, bits)
    low, high = density(a, bits)
    if a >= 0:
        near_low, near_high = mills(a, bits)
        return low * max(Fraction(0), near_low - far_high), high * (near_high - far_low)
    tail_low, tail_high = normal_tail(-a, bits)
    return 1 - tail_high - high * far_high, 1 - tail_low - low * far_low


def largest_mu(epsilon_: Fraction, delta_: Fraction) -> Fraction:
    """Return a mu with delta(mu**2, epsilon_) <= delta_, proved; about 2**-40 below the largest.

    The search starts from a mu that is safe: the bound of `epsilon` solved for mu, or 2 delta_, as
    delta(mu**2, epsilon) <= delta(mu**2, 0) <= mu / sqrt(2 pi).
    """

    def excess(inverse: Fraction) -> float:
        return log_of(delta(1 / inverse**2, epsilon_)[1]) - log_of(delta_)

    def holds(inverse: Fraction) -> bool:
        return delta(1 / inverse**2, epsilon_)[1] <= delta_

    top = 2 * logarithm(1 / delta_, 64)[1]
    safe = square_root(top + 2 * epsilon_, 64)[0] - square_root(top, 64)[1]
    high = 1 / max(safe, 2 * delta_)
    low = high / 2
    while holds(low):
        low, high = low / 2, low
    return 1 / least(excess, holds, low=low, high=high)
