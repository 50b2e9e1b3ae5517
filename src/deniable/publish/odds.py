"""Guarantees in words and numbers that people can weigh, each rounded against ourselves.

Every number comes from rational enclosures (`deniable.brackets`) and is rounded up. One exception, so that
ln 3 reads as "3-fold": a number above a short one by less than one part in 2**90 is written as the short
one. (An epsilon of "ln 3" is itself a rational within 2**-120 of the logarithm.)

| asked               | PureDP, ApproxDP                      | ZeroConcentratedDP                    |
|---------------------|---------------------------------------|---------------------------------------|
| most an odds changes| e**epsilon                            | that of its epsilon at delta 1e-9     |
| best hit rate       | (e**epsilon + delta)/(1 + e**epsilon) | 1/2 + sqrt(rho/2)/2                   |

Proof of the hit rates. An attacker holds both neighbouring tables, thinks each equally likely, sees one
release and names its table.
1. It is right with probability (1 + V)/2 at best, V the total variation distance of the two outputs.
2. (epsilon, delta): let p and q be the probabilities of the best set. p <= e**epsilon q + delta, and for
   its complement 1 - q <= e**epsilon (1 - p) + delta. Their sum is
   (p - q)(1 + e**epsilon) <= e**epsilon - 1 + 2 delta, so
   (1 + V)/2 <= (e**epsilon + delta)/(1 + e**epsilon): `best_hit_rate`.
3. rho: the Kullback-Leibler divergence is the limit of Renyi divergences at order 1, at most rho, and
   V <= sqrt(divergence/2) (Pinsker).
Conversion of rho: epsilon = rho + 2 sqrt(rho ln(1/delta)) (Bun, Steinke 2016, proposition 1.3).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import assert_never

from deniable.brackets import exponential, logarithm, square_root
from deniable.exact import text
from deniable.guarantees import ApproxDP, Guarantee, PureDP, ZeroConcentratedDP

ZERO_CONCENTRATED_DELTA = Fraction(1, 10**9)
"""The delta at which a zero-concentrated guarantee is put into words."""

_SLACK = Fraction(1, 1 << 90)
_LARGEST = Fraction(1000)


def in_words(guarantee: Guarantee) -> PureDP | ApproxDP:
    """Return the (epsilon, delta) that the words speak of; that of rho at delta 1e-9, rounded up."""
    match guarantee:
        case PureDP() | ApproxDP():
            return guarantee
        case ZeroConcentratedDP(rho=rho):
            log = logarithm(1 / ZERO_CONCENTRATED_DELTA)[1]
            epsilon = rho + 2 * square_root(rho * log)[1]
            return ApproxDP(epsilon=epsilon, delta=ZERO_CONCENTRATED_DELTA)
        case _:
            assert_never(guarantee)


def fold(epsilon: Fraction) -> str:
    """Return e**epsilon as the text of a number that is at least that: "3", "1.11", "22,100", "10^44".

    | e**epsilon       | digits                                              |
    |------------------|-----------------------------------------------------|
    | 1                | "1"                                                 |
    | below 2          | two significant digits of what exceeds 1            |
    | up to e**14      | three significant digits                            |
    | above            | the next power of ten, "10^7"                       |
    """
    if epsilon == 0:
        return "1"
    if epsilon <= 14:
        high = exponential(epsilon)[1]
        return _decimal(1 + rounded_up(high - 1, 2) if high < 2 else rounded_up(high, 3))
    return f"10^{math.ceil(epsilon / logarithm(Fraction(10))[0])}"


def best_hit_rate(guarantee: Guarantee) -> Fraction:
    """Return an upper bound of how often the best attacker is right, in [1/2, 1]."""
    half = Fraction(1, 2)
    match guarantee:
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon):
            if epsilon > _LARGEST:
                return Fraction(1)
            odds = exponential(epsilon)[1]
            return min(Fraction(1), (odds + guarantee.delta) / (1 + odds))
        case ZeroConcentratedDP(rho=rho):
            return min(Fraction(1), half + square_root(rho / 2)[1] / 2)
        case _:
            assert_never(guarantee)


def percent(share: Fraction) -> str:
    """Return a share of 1 as a percentage rounded up: "75 %", "73.2 %", "75.000003 %", "99.9955 %".

    One decimal. What exceeds a decimal by less than a hundredth of it is written out, one digit of it, and
    from 99.9 % on two digits of what is missing to 100 %; never more than nine decimals.
    """
    scaled = 100 * (share - _SLACK)
    floor = Fraction(math.floor(10 * scaled), 10)
    if 100 * (1 - share) < Fraction(1, 10):
        up = max(100 + rounded_up(scaled - 100, 2), _ceil(scaled, 9))
    elif scaled - floor < Fraction(1, 1000):
        up = floor + max(rounded_up(scaled - floor, 1), Fraction(1, 10**9))
    else:
        up = _ceil(scaled, 1)
    return f"{_decimal(min(up, Fraction(100)))} %"


def _ceil(number: Fraction, decimals: int) -> Fraction:
    return Fraction(math.ceil(number * 10**decimals), 10**decimals)


def expected_harm(delta: Fraction, population: int) -> str:
    """Return population * delta, rounded up to two significant digits: "0.1", "1,000"."""
    return _decimal(rounded_up(delta * population, 2))


def chance(delta: Fraction) -> str:
    """Return a probability above 0 as "1 in 10,000,000"; the odds are rounded down, so the chance up."""
    odds = math.floor((1 / delta) * (1 + _SLACK))
    return f"1 in {odds:,}" if odds < 10**15 else f"1 in 10^{len(str(odds)) - 1}"


def tosses(delta: Fraction) -> str:
    """Return a probability above 0 beside that of a fair coin which shows heads every time, in words.

    n tosses are all heads with chance 2**-n; n is the largest with 2**-n >= delta.
    """
    times = math.floor(1 / delta).bit_length() - 1
    if times == 0:
        return "more than that of a coin showing heads"
    if times == 1:
        return "no more than that of a coin showing heads"
    return f"no more than that of {times:,} tosses of a coin all showing heads"


def epsilon_text(epsilon: Fraction) -> str:
    """Return epsilon as exact text where that is short, else five digits rounded up; "ln 3" where it is.

    It is named a logarithm if e**epsilon is within one part in 2**90 of a whole number from 2 to 1000.
    """
    exact = text(epsilon)
    if len(exact) <= 8:
        return exact
    shown = _decimal(rounded_up(epsilon, 5))
    if epsilon < 7:
        whole = round(exponential(epsilon)[1])
        if whole >= 2 and abs(exponential(epsilon)[1] / whole - 1) < _SLACK:
            return f"{shown} (ln {whole})"
    return shown


def short(number: Fraction, digits: int = 4) -> str:
    """Return a number with that many significant digits, rounded up."""
    return _decimal(rounded_up(number, digits))


def rounded_up(number: Fraction, digits: int) -> Fraction:
    """Return the least number of that many significant digits that is >= number, less the slack of 2**-90."""
    if number == 0:
        return number
    magnitude = abs(number)
    exponent = len(str(magnitude.numerator)) - len(str(magnitude.denominator))
    if magnitude < Fraction(10) ** exponent:
        exponent -= 1
    grid = Fraction(10) ** (digits - 1 - exponent)
    return math.ceil((number - magnitude * _SLACK) * grid) / grid


def _decimal(number: Fraction) -> str:
    """Write a terminating number with thousands separators; below 1/10,000 in scientific notation."""
    if number.denominator == 1 and abs(number) < 10**15:
        return f"{int(number):,}"
    if not Fraction(1, 10**4) <= abs(number) < 10**15:
        return text(number)
    whole, point, decimals = text(number).removeprefix("-").partition(".")
    return f"{'-' if number < 0 else ''}{int(whole):,}{point if decimals else ''}{decimals}"
