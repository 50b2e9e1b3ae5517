"""Publish a group only if its noisy number of units reaches a threshold: the least one, exactly.

A group that only one unit is in appears in one table and never in its neighbour, whatever noise its
count gets. So every group that is present has its number of units measured with noise X, and is
published if and only if the noisy number is at least T. `delta` pays for the rest.

Proof that noise with (epsilon, a) and a threshold of mass b give (epsilon, 1 - (1 - a)(1 - b)), in both
directions. D' is D plus all rows of one unit; G are the groups present in D.
1. In D' the unit is in m groups and counts W[m] in each; t <= m of them are not in G. W falls, so
   W[m] <= W[t]: each new group is published with probability at most p(t) = P(W[t] + X >= T), each with
   its own X. Let b(t) = 1 - (1 - p(t))**t and b = max of b(t) over every t that can occur:
   `least_threshold` takes the least T with b <= delta, and reports b.
2. Let A' run on D' and be forbidden to publish new groups. On G it is the noisy vector of the same
   groups as on D, so for every set S of outputs P[A(D) in S] <= e**epsilon P[A'(D') in S] + a, and back.
3. Adding: P[A(D') in S] <= (1 - b) P[A'(D') in S] + b <= e**epsilon P[A(D) in S] + (1 - b) a + b,
   and (1 - b) a + b = 1 - (1 - a)(1 - b). (With b(t) < b the right side only grows.)
4. Removing: P[A(D') in S] >= (1 - b) x with x = P[A'(D') in S], new groups being independent of G. If
   e**epsilon x + a <= 1, then P[A(D) in S] - e**epsilon (1 - b) x <= a + b e**epsilon x <= a + b (1 - a).
   Otherwise P[A(D) in S] - e**epsilon (1 - b) x <= 1 - (1 - b)(1 - a).

Probabilities are enclosed by rationals; floating point decides nothing. Counts are in steps of 1/one of a
unit, one being what a unit counts in full.
Source: Korolova, Kenthapadi, Mishra, Ntoulas 2009; Wilson et al. 2020; the weights and the rule for
every t are our own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from typing import Protocol

from deniable.errors import ParameterError

_SPARE_BITS = 64
_QUICK_BITS = 48
_CLOSE = Fraction(1, 1 << 40)
_TRIES = 4


class Tail(Protocol):
    """Noise on the integers whose upper tail can be enclosed."""

    def tail(self, m: int, precision: int = ...) -> tuple[Fraction, Fraction]:
        """Return rationals low <= P(X >= m) <= high, at most 2**-precision apart; fast if in proportion."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """Publish if and only if the noisy number is at least `least` (steps of 1/one of a unit).

    delta: at least the probability that any group of one unit alone is published; at most what was asked.
    """

    least: int
    delta: Fraction


def least_threshold(noise: Tail, weights: Sequence[int], *, delta: Fraction) -> Threshold:
    """Return the least T with 1 - (1 - P(W[t] + X >= T))**t <= delta for every t = 1 .. len(weights).

    Args:    weights: W[1], W[2], ...: what a unit that is in t groups counts in each; never rising.
             delta: above 0 and below 1.
    Raises:  ParameterError: delta is out of range. ValueError: weights rise, or there are none.

    Proof that T is the least. `_least_for` gives the least T that serves one t, so T is at least their
    maximum over the t looked at; the loop ends only when `_worst` proves that this maximum serves all.
    """
    if not 0 < delta < 1:
        raise ParameterError("delta", delta, "must be above 0 and below 1", "Give for example '1e-8'.")
    if not weights or any(later > earlier for earlier, later in pairwise(weights)):
        raise ValueError("weights must be given and must never rise")
    groups = len(weights)
    least = _least_for(noise, groups, weights[-1], delta)
    while True:
        groups, high = _worst(noise, weights, least, delta)
        if high <= delta:
            return Threshold(least, _short(high, delta))
        least = max(least + 1, _least_for(noise, groups, weights[groups - 1], delta))


def chance(noise: Tail, *, count: int, threshold: int, precision: int = 128) -> tuple[Fraction, Fraction]:
    """Return rationals around P(count + X >= threshold): how likely a group of `count` is published."""
    return noise.tail(threshold - count, precision)


def _worst(noise: Tail, weights: Sequence[int], least: int, delta: Fraction) -> tuple[int, Fraction]:
    """Return the t with the largest upper end of b(t), and that end.

    Best first: on the block first <= t <= last, b(t) is at most b of `last` groups at weight W[first], as b
    rises with both. The block with the largest bound is split; a single t is pushed back once with the
    end that decides it. When such a t comes out first, no other t can be above it.
    """
    bits = _bits(delta, len(weights))

    def entry(first: int, last: int) -> tuple[Fraction, int, int, bool]:
        return (
            -_any_of(noise.tail(least - weights[first - 1], _QUICK_BITS)[1], last, bits, up=True),
            first,
            last,
            False,
        )

    heap = [entry(1, len(weights))]
    while True:
        end, first, last, decided = heappop(heap)
        if decided:
            return first, -end
        if first == last:
            high = _decided(noise, first, weights[first - 1], least, delta)[1]
            heappush(heap, (-high, first, last, True))
        else:
            middle = (first + last) // 2
            heappush(heap, entry(first, middle))
            heappush(heap, entry(middle + 1, last))


def _least_for(noise: Tail, groups: int, weight: int, delta: Fraction) -> int:
    """Return the least T that serves a unit in exactly `groups` groups: doubling, then halving."""
    return _first(lambda least: _decided(noise, groups, weight, least, delta)[1] <= delta, start=weight)


def _first(holds: Callable[[int], bool], *, start: int) -> int:
    """Return the least integer at which `holds` is true; it is false below and true from there on."""
    step = 1
    if holds(start):
        while holds(start - step):
            step *= 2
        low, high = start - step, start - step // 2
    else:
        while not holds(start + step):
            step *= 2
        low, high = start + step // 2, start + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _decided(noise: Tail, groups: int, weight: int, least: int, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Enclose b(t) until it is clear on which side of delta it is; at worst the upper end decides.

    A tail that is known in proportion is clear at once; another may need all the bits that delta has.
    """
    bits = _bits(delta, groups)
    for precision in (_QUICK_BITS, *(bits << doubling for doubling in range(_TRIES))):
        low, high = noise.tail(least - weight, precision)
        fine = max(bits, precision)
        ends = _any_of(low, groups, fine, up=False), _any_of(high, groups, fine, up=True)
        clear = ends[1] <= delta or ends[0] > delta
        if clear and (precision >= bits or ends[1] - ends[0] <= ends[1] * _CLOSE):
            break
    return ends


def _any_of(p: Fraction, times: int, bits: int, *, up: bool) -> Fraction:
    """Return 1 - (1 - p)**times rounded up (or down) in fixed point, within (2 * times + 1) * 2**-bits.

    1 - p is rounded down (for up) to a multiple of 2**-bits, then raised by squaring, each product rounded
    the same way: all factors are in [0, 1], so each rounding moves the result the safe way only.
    """
    one = 1 << bits
    p = min(max(p, Fraction(0)), Fraction(1))
    scaled = (1 - p) * one
    base = scaled.__floor__() if up else scaled.__ceil__()
    power = one
    while times:
        if times & 1:
            power = _product(power, base, bits, up=up)
        base = _product(base, base, bits, up=up)
        times >>= 1
    return Fraction(one - power, one)


def _product(a: int, b: int, bits: int, *, up: bool) -> int:
    return (a * b) >> bits if up else -((-a * b) >> bits)


def _bits(delta: Fraction, groups: int) -> int:
    """Return enough bits for delta to be met to a relative 2**-64, after `groups` factors."""
    smallness = delta.denominator.bit_length() - delta.numerator.bit_length() + 1
    return _SPARE_BITS + max(0, smallness) + 2 * groups.bit_length()


def _short(high: Fraction, delta: Fraction) -> Fraction:
    """Round up to about 16 digits, so that what is stored stays short; never above delta."""
    grid = 10 ** (16 + max(0, len(str(high.denominator)) - len(str(high.numerator))))
    return min(delta, Fraction((high * grid).__ceil__(), grid))
