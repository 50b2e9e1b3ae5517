"""Find the least number that is proved to do, in few tries: floating point proposes, the proof decides."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import inf, log

_CLOSE = 2.0**-44
_LEVEL = 1e-13
_MOST_STEPS = 80
_LEAST = Fraction(1, 1 << 200)
_GOLDEN = 0.6180339887498949


def least(
    excess: Callable[[Fraction], float],
    holds: Callable[[Fraction], bool],
    *,
    low: Fraction,
    high: Fraction,
) -> Fraction:
    """Return a number in (low, high] for which `holds` is true, close to the least such number.

    `holds` is false at low, true at high and monotone; `excess` is continuous, falls, and is about 0 where
    `holds` begins to be true. Only `holds` decides: a bad `excess` costs tightness or time, nothing else.
    The result is above the least by about 2**-43 of it, or by what a change of 1e-13 in `excess` means.
    """
    width = high - low
    near = Fraction(crossing(lambda share: excess(low + width * Fraction(share)), 0.0, 1.0))
    step = max(near / 2**43, _LEAST)
    while near < 1:
        if near > 0 and holds(low + width * near):
            return low + width * near
        near, step = near + step, 2 * step
    return high


def crossing(excess: Callable[[float], float], left: float, right: float) -> float:
    """Return about where `excess` crosses 0: false position that halves the weight of an end that stays.

    `excess` falls, and is above 0 at left and below it at right.
    """
    above, below = excess(left), excess(right)
    stayed = 0
    for _ in range(_MOST_STEPS):
        if right - left <= right * _CLOSE:
            break
        middle = (left * below - right * above) / (below - above) if below < above < inf else left
        if not left < middle < right:
            middle = left + (right - left) / 2
        value = excess(middle)
        if abs(value) < _LEVEL:
            return middle
        if value > 0:
            left, above = middle, value
            below, stayed = (below / 2, 1) if stayed == 1 else (below, 1)
        else:
            right, below = middle, value
            above, stayed = (above / 2, -1) if stayed == -1 else (above, -1)
    return right


def log_of(number: Fraction) -> float:
    """Return ln(number), number >= 0, as a float: for proposals only. ln 0 is minus infinity."""
    if number <= 0:
        return -inf
    return log(number.numerator) - log(number.denominator)


def lowest(f: Callable[[float], float], *, low: float, high: float) -> float:
    """Return about where f is lowest between two ends: a grid, then golden section. For proposals only."""
    width = (high - low) / 64
    start = min((low + i * width for i in range(65)), key=f)
    left, right = max(low, start - width), min(high, start + width)
    while right - left > 1e-7 * (1 + abs(left)):
        a, b = right - (right - left) * _GOLDEN, left + (right - left) * _GOLDEN
        left, right = (left, b) if f(a) <= f(b) else (a, right)
    return (left + right) / 2
