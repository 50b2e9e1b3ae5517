"""Exponentials and powers that keep their digits however small they are."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil

from deniable.brackets import logarithm
from deniable.brackets import negative_exponential as fixed_point

_FARTHEST = 1 << 15
_EXACT_BITS = 1 << 14
_BITS = 128
_LONGEST = 4000


def negative_exponential(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return rationals around exp(-x), x >= 0, about 2**-bits apart in proportion.

    exp(-x) = 2**-k exp(-(x - k ln 2)), k = floor(x / ln 2). Above x = 2**15: 0 and a bound below 10**-13800
    (2**-(1.4 * 2**15) >= exp(-2**15), as 1.4 < 1 / ln 2).
    """
    if x > _FARTHEST:
        return Fraction(0), Fraction(1, 1 << (_FARTHEST * 14 // 10))
    two_low, two_high = logarithm(Fraction(2), bits + 24)
    k = int(x / two_high)
    small, large = max(Fraction(0), x - k * two_high), x - k * two_low
    low = fixed_point(large.numerator, large.denominator, bits + 4)[0]
    high = fixed_point(small.numerator, small.denominator, bits + 4)[1]
    return Fraction(low, 1 << (bits + 4 + k)), Fraction(high, 1 << (bits + 4 + k))


def chance_of_any(delta: Fraction, times: int) -> Fraction:
    """Return 1 - (1 - delta)**times: exact where that is short, else above it by at most 2**-128 of it.

    The power is squared and multiplied in integers rounded down, with 160 bits to spare beyond delta.
    """
    if delta == 0 or times == 0:
        return Fraction(0)
    if times * delta.denominator.bit_length() <= _EXACT_BITS:
        return 1 - (1 - delta) ** times
    bits = 160 + delta.denominator.bit_length() + 2 * times.bit_length()
    keep = ((delta.denominator - delta.numerator) << bits) // delta.denominator
    power = 1 << bits
    for digit in bin(times)[2:]:
        power = power * power >> bits
        if digit == "1":
            power = power * keep >> bits
    return 1 - Fraction(power, 1 << bits)


def shortened(number: Fraction) -> Fraction:
    """Return the number, at least 0; if it has thousands of bits, one above it by at most 2**-512 of it.

    `exact`, the door for numbers, refuses what has more than 4,096 bits.
    """
    if max(number.numerator.bit_length(), number.denominator.bit_length()) <= _LONGEST:
        return number
    size = number.numerator.bit_length() - number.denominator.bit_length()
    grid = Fraction(2) ** (512 - size)
    return Fraction(ceil(number * grid)) / grid


def any_of(chances: Iterable[Fraction]) -> Fraction:
    """Return 1 - the product of (1 - chance): exact where that is short, else above by < 2**-16000."""
    keep = Fraction(1)
    for chance in chances:
        keep *= 1 - chance
        if keep.denominator.bit_length() > _EXACT_BITS:
            keep = Fraction((keep.numerator << _EXACT_BITS) // keep.denominator, 1 << _EXACT_BITS)
    return 1 - keep


def amplified(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Return ln(1 + rate (e**epsilon - 1)), rounded up: what a Poisson sample makes of a pure epsilon."""
    if epsilon > _FARTHEST:
        return epsilon
    growth = 1 / negative_exponential(epsilon, _BITS)[0] - 1
    return min(epsilon, logarithm(1 + rate * growth, _BITS)[1])
