"""Enclosures: pairs of numbers that are proved to lie below and above a real number.

Floating point never decides what is published, so exp, ln, pi, square roots and the normal tail are
enclosed here by integers or rationals, with nothing but integer arithmetic. Each function states how
far apart its two ends may be; each proof is in the docstring, and the tests hold both ends against an
independent library at 600 bits.

"Units" below means units of the last place, 2**-precision.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt

PRECISION = 128


def negative_exponential(numerator: int, denominator: int, precision: int) -> tuple[int, int]:
    """Return integers low <= exp(-numerator/denominator) * 2**precision <= high, high - low <= 2.

    numerator >= 0, denominator > 0.

    Proof. Let x = numerator/denominator. If x >= precision then exp(-x) < 2**-precision: (0, 1).
    1. r = floor(x * 2**(guard - halvings)) stands for x/2**halvings < 2**-8 with an error below one
       guard unit; exp is 1-Lipschitz there, so this costs below one guard unit.
    2. Taylor terms: each is floored twice and inherits at most 2**-8 of the error before it, so each is
       off by less than 3; the series alternates and decreases, so what is cut off is below the first
       term that vanished, itself below 3. With `terms` terms: below 3 * terms + 4, step 1 included.
    3. A squaring of s with error e (e * e < 2**guard) has an error below 2e + 2, as |s| <= 1.
    4. After all squarings e < (3 * terms + 6) * 2**halvings, and guard - precision = 2 * halvings +
       terms.bit_length() bound below makes that less than one unit: so the ends are 2 units apart at most.
    """
    if numerator >= denominator * precision:
        return (0, 1) if numerator else (1 << precision, 1 << precision)
    if numerator == 0:
        return 1 << precision, 1 << precision
    halvings = (numerator // denominator).bit_length() + 8
    guard = precision + 2 * halvings + precision.bit_length() + 8
    r = (numerator << guard) // (denominator << halvings)
    term, total, terms = 1 << guard, 0, 0
    while term:
        total += term if terms % 2 == 0 else -term
        terms += 1
        term = (term * r >> guard) // terms
    error = 3 * terms + 4
    for _ in range(halvings):
        total = total * total >> guard
        error = 2 * error + 2
    shift = guard - precision
    return max(0, (total - error) >> shift), min(1 << precision, ((total + error) >> shift) + 1)


def exponential(x: Fraction, precision: int = PRECISION) -> tuple[Fraction, Fraction]:
    """Return rationals low <= exp(x) <= high with high/low <= 1 + 2**(2 - precision).

    For x < 0 the integers of `negative_exponential` are taken at precision + ceil(-x / ln 2) + 1 bits, so
    that the lower one is at least 2**precision; for x > 0 the reciprocals of exp(-x) swap ends.
    x is refused by callers long before it is so large that this becomes slow; above 2**20 it raises.
    """
    if not abs(x) <= 1 << 20:
        raise OverflowError("exp is only enclosed for |x| <= 2**20")
    magnitude = abs(x)
    bits = precision + int(magnitude * 3 / 2) + 2
    low, high = negative_exponential(magnitude.numerator, magnitude.denominator, bits)
    below, above = Fraction(low, 1 << bits), Fraction(high, 1 << bits)
    return (1 / above, 1 / below) if x > 0 else (below, above)


def _atanh_of_reciprocal(numerator: int, denominator: int, precision: int) -> tuple[int, int]:
    """Enclose atanh(z) * 2**precision for z = numerator/denominator, 0 <= z <= 1/3.

    Lower end: the floored terms z**(2k+1)/(2k+1). Each is low by less than 2, and once a power vanishes
    the rest of the series is below 2 (ratio 1/9); so the upper end is the lower one plus 2 * terms + 2.
    """
    power = (numerator << precision) // denominator
    square_n, square_d = numerator * numerator, denominator * denominator
    total, terms = 0, 0
    while power:
        total += power // (2 * terms + 1)
        power = power * square_n // square_d
        terms += 1
    return total, total + 2 * terms + 2


def logarithm(x: Fraction, precision: int = PRECISION) -> tuple[Fraction, Fraction]:
    """Return rationals low <= ln(x) <= high, x > 0, no further apart than 2**-precision.

    ln x = shift * ln 2 + ln m, m in [2/3, 4/3]; ln m = 2 atanh((m - 1)/(m + 1)), |z| <= 1/5;
    ln 2 = 2 atanh(1/3). The guard bits cover |shift| + 1 copies of an error below 2 * terms + 2.
    """
    if not x > 0:
        raise ValueError("ln needs a number above 0")
    shift = x.numerator.bit_length() - x.denominator.bit_length()
    mantissa = x / Fraction(2) ** shift
    while mantissa > Fraction(4, 3):
        mantissa, shift = mantissa / 2, shift + 1
    while mantissa < Fraction(2, 3):
        mantissa, shift = mantissa * 2, shift - 1
    guard = precision + abs(shift).bit_length() + precision.bit_length() + 8
    two_low, two_high = _atanh_of_reciprocal(1, 3, guard)
    z = (mantissa - 1) / (mantissa + 1)
    low, high = _atanh_of_reciprocal(abs(z.numerator), z.denominator, guard)
    if z < 0:
        low, high = -high, -low
    ends = (low + shift * two_low, low + shift * two_high, high + shift * two_low, high + shift * two_high)
    return Fraction(2 * min(ends), 1 << guard), Fraction(2 * max(ends), 1 << guard)


def square_root(x: Fraction, precision: int = PRECISION) -> tuple[Fraction, Fraction]:
    """Return rationals low <= sqrt(x) <= high, x >= 0, 2**-precision apart (relative for large x)."""
    scaled = (x.numerator << (2 * precision)) // x.denominator
    root = isqrt(scaled)
    exact = root * root * x.denominator == x.numerator << (2 * precision)
    return Fraction(root, 1 << precision), Fraction(root + (0 if exact else 1), 1 << precision)


@lru_cache(maxsize=16)
def pi(precision: int = PRECISION) -> tuple[Fraction, Fraction]:
    """Return rationals around pi, 2**-precision apart: Machin's 16 atan(1/5) - 4 atan(1/239).

    Each alternating term is floored, off by less than 2; the cut-off is below 2: error 2 * terms + 2.
    """
    guard = precision + precision.bit_length() + 16

    def atan_reciprocal(n: int) -> tuple[int, int]:
        power, total, terms = (1 << guard) // n, 0, 0
        while power:
            total += power // (2 * terms + 1) * (1 if terms % 2 == 0 else -1)
            power //= n * n
            terms += 1
        return total - 2 * terms - 2, total + 2 * terms + 2

    (five_low, five_high), (low, high) = atan_reciprocal(5), atan_reciprocal(239)
    one = 1 << guard
    return Fraction(16 * five_low - 4 * high, one), Fraction(16 * five_high - 4 * low, one)


def normal_tail(x: Fraction, precision: int = PRECISION) -> tuple[Fraction, Fraction]:
    """Return rationals low <= P(Z >= x) <= high for a standard normal Z, 2**-precision apart.

    For a tail probability p that must be known to a relative 2**-k, ask for precision k + log2(1/p).

    Proof. For x >= 0, P(Z < x) - 1/2 = phi(x) * sum_k x**(2k+1) / (1 * 3 * ... * (2k+1)), all terms
    positive. With integer terms floored (lower) and ceiled (upper); once 2k + 3 >= 2 x**2 each term is at
    most half of the one before, so the rest is at most the last term. phi(x) = exp(-x**2/2)/sqrt(2 pi) is
    enclosed by the functions above. The sum is at most 1/(2 phi(x)) <= 1.26 * exp(x**2/2), so working
    with x**2/2 * 1.45 extra bits keeps the error of phi times the sum below one unit.
    For x**2/2 >= precision the tail is below exp(-x**2/2)/2 < 2**-precision: (0, 2**-precision).
    Far out, where 1/2 minus the sum would cancel, it is phi(x) times Mills' ratio instead: as the tail is
    below exp(-x**2/2)/2 <= 2**(-0.72 x**2), so many bits fewer are needed in proportion.
    """
    if x < 0:
        low, high = normal_tail(-x, precision)
        return 1 - high, 1 - low
    unit = Fraction(1, 1 << precision)
    if x * x >= 2 * precision:
        return Fraction(0), unit
    relative = max(0, precision - x * x * 18 // 25) + 8
    if x * x >= relative:
        low, high = _far_tail(x, relative)
        return _down(low, precision + 2), _up(high, precision + 2)
    working = precision + int(x * x) + 40
    low_sum, high_sum = _odd_series(x, working)
    square = x * x / 2
    low_exp, high_exp = negative_exponential(square.numerator, square.denominator, working)
    pi_low, pi_high = pi(working)
    root_low, root_high = square_root(2 * pi_low, working)[0], square_root(2 * pi_high, working)[1]
    scale = 1 << (2 * working)
    below = Fraction(low_exp * low_sum, scale) / root_high
    above = Fraction(high_exp * high_sum, scale) / root_low
    half = Fraction(1, 2)
    return max(Fraction(0), _down(half - above, precision + 2)), _up(half - below, precision + 2)


def _odd_series(x: Fraction, working: int) -> tuple[int, int]:
    """Enclose 2**working * sum_k x**(2k+1) / (1 * 3 * ... * (2k+1))."""
    a, b = x.numerator**2, x.denominator**2
    low = (x.numerator << working) // x.denominator
    high = low + 1
    low_sum = high_sum = k = 0
    while True:
        low_sum, high_sum, k = low_sum + low, high_sum + high, k + 1
        low = low * a // (b * (2 * k + 1))
        high = -(-high * a // (b * (2 * k + 1)))
        if high <= 1 and (2 * k + 3) * b >= 2 * a:
            return low_sum, high_sum + 2 * high


def _far_tail(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Enclose P(Z >= x) to within a few 2**-bits of itself: exp(-x**2/2)/sqrt(2 pi) times Mills' ratio."""
    power, ratio, circle = exponential(-x * x / 2, bits), _mills_ratio(x, bits), pi(bits)
    roots = square_root(2 * circle[0], bits)[0], square_root(2 * circle[1], bits)[1]
    return power[0] * ratio[0] / roots[1], power[1] * ratio[1] / roots[0]


def _mills_ratio(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Enclose P(Z >= x)/phi(x) for x >= 1, to a relative 2**-bits.

    Proof. Let J(k) be the integral over t >= x of (t - x)**k / k! * phi(t), and J(-1) = phi(x). By parts,
    J(k - 1) = x J(k) + (k + 1) J(k + 1). So r(k) = J(k - 1)/J(k) has r(k) = x + (k + 1)/r(k + 1), is at least
    x, hence at most x + (k + 1)/x; and the ratio is 1/r(0). From those ends of r(n) the equation leads down
    to r(0), each end rounded outwards; a step shrinks the gap, as r(k + 1)**2 > k + 1. If it is still too
    wide, a larger n is taken.
    """
    point = bits + 40
    least, most = (x.numerator << point) // x.denominator, -((-x.numerator << point) // x.denominator)
    terms = 8
    while True:
        low, high = least, most - (-(terms + 1 << 2 * point) // least)
        for k in range(terms, 0, -1):
            low, high = least + (k << 2 * point) // high, most - (-(k << 2 * point) // low)
        if (high - low) << bits <= low:
            return Fraction(1 << point, high), Fraction(1 << point, low)
        terms *= 2


def _down(x: Fraction, precision: int) -> Fraction:
    return Fraction((x.numerator << precision) // x.denominator, 1 << precision)


def _up(x: Fraction, precision: int) -> Fraction:
    return Fraction(-((-x.numerator << precision) // x.denominator), 1 << precision)
