"""From zero-concentrated to approximate privacy: every rho-zCDP mechanism, nothing else assumed.

For every order a > 1 (Canonne, Kamath, Steinke 2020, Proposition 12):

    delta(epsilon) <= exp((a - 1)(a rho - epsilon)) (1 - 1/a)**a / (a - 1)
    epsilon(delta) <= a rho + ln(1 - 1/a) + (ln(1/delta) - ln a) / (a - 1)

(the second is the first solved for epsilon). Floating point proposes a; the bound, true for every a, is then
enclosed by rationals. rho adds up over releases, also when each is chosen after seeing the others' outputs.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, log1p

from deniable.accounting.powers import negative_exponential
from deniable.accounting.search import log_of, lowest
from deniable.brackets import logarithm

_BITS = 96
_LOW, _HIGH = -40.0, 80.0


def epsilon(rho: Fraction, delta_: Fraction) -> Fraction:
    """Return an epsilon >= 0 such that rho-zCDP implies (epsilon, delta_), rounded up. delta_ > 0."""
    if rho == 0:
        return Fraction(0)
    slope, level = float(rho), -log_of(delta_)

    def bound(u: float) -> float:
        return slope * (1 + exp(u)) - log1p(exp(-u)) + (level - log1p(exp(u))) / exp(u)

    excess = Fraction(exp(lowest(bound, low=_LOW, high=_HIGH)))
    order = 1 + excess
    shrink = logarithm(excess / order, _BITS)[1]
    rest = logarithm(1 / delta_, _BITS)[1] - logarithm(order, _BITS)[0]
    return max(Fraction(0), order * rho + shrink + rest / excess)


def delta(rho: Fraction, epsilon_: Fraction) -> Fraction:
    """Return a delta <= 1 such that rho-zCDP implies (epsilon_, delta), rounded up."""
    if rho == 0:
        return Fraction(0)
    slope, target = float(rho), float(epsilon_)

    def bound(u: float) -> float:
        return exp(u) * (slope * (1 + exp(u)) - target - log1p(exp(-u))) - log1p(exp(u))

    excess = Fraction(exp(lowest(bound, low=_LOW, high=_HIGH)))
    order = 1 + excess
    inside = order * rho - epsilon_ + logarithm(excess / order, _BITS)[1]
    exponent = excess * inside - logarithm(order, _BITS)[0]
    return Fraction(1) if exponent >= 0 else min(Fraction(1), negative_exponential(-exponent, _BITS)[1])
