"""What two probabilities of one set of outputs say about privacy, rounded so that nothing is overstated.

Let S be a set of outputs, p at most its probability on one input, q at least its probability on a neighbour.
Whoever claims (epsilon, delta) claims p <= e**epsilon q + delta; whoever claims mu-Gaussian privacy claims
that z(p) - z(q) <= mu, z being the quantile of the standard normal law. Solved for each number, these are
lower bounds on it.

| p, q                       | epsilon at delta     | delta at epsilon           | mu            |
|----------------------------|----------------------|----------------------------|---------------|
| p <= q                     | 0                    | p - e**epsilon q, or 0     | 0             |
| q = 0 < p - delta          | infinite             | p                          | infinite      |

Source: Dwork, Roth 2014, definition 2.4; Dong, Roth, Su 2022, for mu.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter

from deniable.brackets import exponential, logarithm, normal_tail

_HAIR = Fraction(1, 10**9)
_MOST_EPSILON = 1 << 20


def epsilon_at_least(p: Fraction, q: Fraction, delta: Fraction) -> float:
    """Return at most ln((p - delta) / q), and at least 0."""
    if p - delta <= q:
        return 0.0
    if q == 0:
        return inf
    return max(0.0, downward(logarithm((p - delta) / q)[0]))


def refuted(p: Fraction, q: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Return whether p > e**epsilon q + delta is certain."""
    if q == 0 or epsilon > _MOST_EPSILON:
        return q == 0 and p > delta
    return p - exponential(epsilon)[1] * q > delta


def delta_at_least(p: Fraction, q: Fraction, epsilon: Fraction) -> float:
    """Return at most p - e**epsilon q, and at least 0."""
    if q == 0:
        return downward(p)
    if epsilon > _MOST_EPSILON:
        return 0.0
    return max(0.0, downward(p - exponential(epsilon)[1] * q))


def mu_at_least(p: Fraction, q: Fraction) -> float:
    """Return at most z(p) - z(q), and at least 0.

    Floating point proposes both quantiles; they are moved apart by 1e-9 until `normal_tail` proves them.
    """
    if p <= q:
        return 0.0
    if q == 0 or p == 1:
        return inf
    return max(0.0, downward(_quantile_below(p) + _quantile_below(1 - q)))


def _quantile_below(p: Fraction) -> Fraction:
    """Return x with P(Z <= x) <= p: then x is at most the quantile of p."""
    from scipy.special import ndtri

    x = Fraction(float(ndtri(min(max(float(p), 1e-300), 1 - 2.0**-53))))
    hair = _HAIR
    while normal_tail(x)[0] < 1 - p:
        x, hair = x - hair, 2 * hair
    return x


def downward(number: Fraction) -> float:
    """Return the largest double that is not above the number."""
    near = number.numerator / number.denominator
    return near if Fraction(near) <= number else nextafter(near, -inf)
