"""Independent ways to the same numbers: mpmath at 60 digits, and enumeration in rationals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath as mp

mp.mp.dps = 60

Rational = Fraction
Law = dict[Any, Fraction]


def gaussian_delta(mu: Any, epsilon: Any) -> Any:
    """Balle and Wang 2018, Theorem 8."""
    mu, epsilon = mp.mpf(mu), mp.mpf(epsilon)
    return upper(epsilon / mu - mu / 2) - mp.exp(epsilon) * upper(epsilon / mu + mu / 2)


def upper(x: Any) -> Any:
    """The upper normal tail, precise far out."""
    return mp.erfc(mp.mpf(x) / mp.sqrt(2)) / 2


def number(x: Fraction) -> Any:
    """An mpmath number."""
    return mp.mpf(x.numerator) / x.denominator


def hockey_stick(p: Law, q: Law, growth: Fraction) -> Fraction:
    """The largest P(S) - growth Q(S), by summing what is positive."""
    return sum(
        (max(Fraction(0), p.get(x, Fraction(0)) - growth * q.get(x, Fraction(0))) for x in p), Fraction(0)
    )


def product(laws: Sequence[Law]) -> Law:
    """The law of independent draws, by listing every outcome."""
    joint: Law = {}
    for outcomes in itertools.product(*(law.items() for law in laws)):
        chance = Fraction(1)
        for _, part in outcomes:
            chance *= part
        joint[tuple(x for x, _ in outcomes)] = chance
    return joint


def mixture(p: Law, q: Law, rate: Fraction) -> Law:
    """(1 - rate) p + rate q."""
    return {x: (1 - rate) * p.get(x, Fraction(0)) + rate * q.get(x, Fraction(0)) for x in {*p, *q}}
