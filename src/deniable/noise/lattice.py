"""Sums of f(x) = exp(-x**2 / (2 v)) over integers, enclosed: what the discrete Gaussian is made of.

v = sigma**2 is rational. Z is the sum over all integers, and P(X >= m) = (sum of f(x), x >= m) / Z, m >= 1.

Small v (`_summed`): f(x + 1)/f(x) falls by the same factor exp(-1/v) at every step, so enclosures follow by
multiplication (`falling`), and what is left behind a term is at most term * ratio / (1 - ratio).

Large v (`_expanded`), without a sum over sigma many terms:
1. Euler and Maclaurin, with c(k) = B(k)/k! (`_coefficients`): the sum over x >= m of f is
   I + f(m)/2 - sum over j = 1 ... J of c(2j) f^(2j-1)(m) + R, where I is the integral of f from m on and
   abs(R) <= abs(c(2J)) * A(2J), A(n) the integral of abs(f^(n)) from m on (f and its derivatives vanish at
   infinity, and the Bernoulli polynomial of even degree 2J is at most abs(B(2J)) on [0, 1]).
2. f^(n)(x) = (-1)**n h(n) f(x), with h(0) = 1, h(1) = x/v, h(n+1) = (x h(n) - n h(n-1))/v (Hermite
   polynomials, scaled). So -c(2j) f^(2j-1)(m) = c(2j) h(2j-1) f(m): with rational v all of this is exact.
3. With g the same recurrence with plus for minus (all coefficients made positive), abs(h(n)) <= g(n) for
   x >= 0. From g'(n) = (n/v) g(n-1) and x g(n)/v = g(n+1) - (n/v) g(n-1), the derivative of -g(n) f is
   (g(n+1) - (2n/v) g(n-1)) f; so the integrals a(n) of g(n) f satisfy a(n+1) = g(n)(m) f(m) + (2n/v) a(n-1),
   a(0) = I. Divided by f(m), with I/f(m) <= v/m (the integrand is at most (x/m) f(x)): `_expansion` adds
   terms until abs(c(2J)) a(2J)/f(m) is small enough.
4. Poisson: Z = sigma sqrt(2 pi) (1 + theta), 0 < theta = 2 sum over k >= 1 of exp(-2 pi**2 k**2 v)
   < 3 exp(-2 pi**2 v) < 2**(-27 v) for v >= 2, since 2 pi**2 / ln 2 > 28.4.
5. I/(sigma sqrt(2 pi)) is the normal tail at m/sigma, enclosed by `brackets.normal_tail` at the two ends of
   an enclosure of m/sigma.

P(X >= m) <= exp(-m**2/(2v)): f(m + y) <= f(m) f(y) for y >= 0, summed over y >= 0.

Source: Graham, Knuth, Patashnik, Concrete Mathematics, 9.5 (step 1); NIST DLMF 1.8(iv) (step 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import factorial

from deniable.brackets import exponential, negative_exponential, normal_tail, pi, square_root
from deniable.noise.tails import FARTHEST, SMALLEST

_SUMMED = 1 << 10
_GUARD = 32

Ends = tuple[int, int]
Enclosure = tuple[Fraction, Fraction]


def falling(v: Fraction, start: int, step: int, first: Ends, working: int) -> Iterator[tuple[int, int, int]]:
    """Yield, for x = start, start + step, ...: enclosures of f(x), and a bound on f(x + step)/f(x).

    All are times 2**working; `first` encloses f(start), or 1 for values relative to it. The bounds fall.

    f(x + step) = f(x) * ratio(x), ratio(x) = exp(-step (2x + step)/(2v)), and ratio(x + step) =
    ratio(x) * exp(-step**2/v). Low ends are multiplied and floored, high ends multiplied, floored and
    increased by one.
    """
    unit, over = v.denominator, 2 * v.numerator
    low, high = first
    ratio = negative_exponential(unit * step * (2 * start + step), over, working)
    fall = negative_exponential(unit * 2 * step * step, over, working)
    while True:
        yield low, high, ratio[1]
        low, high = low * ratio[0] >> working, (high * ratio[1] >> working) + 1
        ratio = ratio[0] * fall[0] >> working, (ratio[1] * fall[1] >> working) + 1


def tail(v: Fraction, m: int, precision: int) -> Enclosure:
    """Enclose P(X >= m), m >= 1, relatively: high - low <= high * 2**-precision, or (0, 2**-4096)."""
    if m * m > 2 * v * FARTHEST:
        return Fraction(0), SMALLEST
    return _summed(v, m, precision) if v < _SUMMED else _expanded(v, m, precision)


def _summed(v: Fraction, m: int, precision: int) -> Enclosure:
    """As `tail`, term by term: f(m) * (sum relative to f(m)) / (1 + 2 * (sum from 1 on))."""
    working = precision + _GUARD
    one = 1 << working
    first = exponential(-Fraction(m * m) / (2 * v), working)
    above = _sum_from(v, m, (one, one), working)
    ones = negative_exponential(v.denominator, 2 * v.numerator, working)
    rest = _sum_from(v, 1, ones, working)
    low = first[0] * Fraction(above[0], one + 2 * rest[1])
    return low, first[1] * Fraction(above[1], one + 2 * rest[0])


def _sum_from(v: Fraction, start: int, first: Ends, working: int) -> Ends:
    """Enclose the sum over x >= start of f(x), where `first` encloses f(start), times 2**working."""
    one = 1 << working
    low_sum = high_sum = 0
    for low, high, ratio in falling(v, start, 1, first, working):
        low_sum, high_sum = low_sum + low, high_sum + high
        if low == 0:
            return low_sum, high_sum + high * ratio // (one - ratio) + 1
    raise AssertionError("the terms never end")


def _expanded(v: Fraction, m: int, precision: int) -> Enclosure:
    """As `tail`, by steps 1 to 5: (normal tail + f(m)/(sigma sqrt(2 pi)) * expansion) / (1 + theta)."""
    bits = precision + 8
    rarity = 3 * m * m // (4 * v.numerator // v.denominator) + 4
    sigma = square_root(v, bits + 16)
    ends = _down(m / sigma[1], bits + 16), _up(m / sigma[0], bits + 16)
    beyond = normal_tail(ends[1], bits + rarity)[0], normal_tail(ends[0], bits + rarity)[1]
    first = exponential(-Fraction(m * m) / (2 * v), bits)
    circle = pi(bits)
    norm = square_root(2 * circle[0] * v, bits)[0], square_root(2 * circle[1] * v, bits)[1]
    series = _expansion(v, m, bits)
    theta = Fraction(1, 1 << min(27 * int(v), 2 * bits))
    low = (beyond[0] + first[0] * series[0] / norm[1]) / (1 + theta)
    return low, beyond[1] + first[1] * series[1] / norm[0]


def _expansion(v: Fraction, m: int, bits: int) -> Enclosure:
    """Enclose (sum over x >= m of f - I)/f(m), to within 2**-bits (steps 2 and 3)."""
    h, g = [Fraction(1), m / v], [Fraction(1), m / v]
    a = [v / m, Fraction(1)]
    total, order = Fraction(1, 2), 1
    while True:
        coefficient = _coefficients(order + 1)[order + 1]
        total += coefficient * h[order]
        a.append(g[order] + 2 * order / v * a[order - 1])
        error = abs(coefficient) * a[order + 1]
        if error * (1 << bits) <= 1:
            return total - error, total + error
        for _ in range(2):
            h.append((m * h[-1] - (len(h) - 1) * h[-2]) / v)
            g.append((m * g[-1] + (len(g) - 1) * g[-2]) / v)
        a.append(g[order + 1] + 2 * (order + 1) / v * a[order])
        order += 2


@lru_cache(maxsize=128)
def _coefficients(n: int) -> tuple[Fraction, ...]:
    """Return B(k)/k! for k = 0 ... n: the series of z/(exp(z) - 1)."""
    if n == 0:
        return (Fraction(1),)
    known = _coefficients(n - 1)
    rest = sum((c / factorial(n + 1 - k) for k, c in enumerate(known)), Fraction(0))
    return (*known, -rest)


def _down(x: Fraction, bits: int) -> Fraction:
    return Fraction((x.numerator << bits) // x.denominator, 1 << bits)


def _up(x: Fraction, bits: int) -> Fraction:
    return -_down(-x, bits)
