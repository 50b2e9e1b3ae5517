"""Proposals that lean towards the cap, so that few of them are needed.

At most 5 or so on average in 90 dimensions and more, at any epsilon; up to 46 in 3 or 4, at epsilon 12.

Lengths are in standard deviations of a draw; x is a vector, r = |x| and t = <x, u>. Directions of the base
law are uniform; its lengths have the weight h(r) besides that of independent normal coordinates: h = 0 below
`near`, exp(-shift gamma (top - r)) from there to `top`, 1 above. (Gaussian form: h = 1.)

1. An upright proposal is a draw, kept with probability h(r). Kept ones have the density phi(x) h(r).
2. A leaning one is a draw that is turned to the side of u, then moved by `shift` along u. Its density is
   2 phi(x) exp(shift t - shift**2 / 2) for t >= shift. It is kept, in the cap alone, with probability
   exp(-shift (t - level)), level = gamma min(r, top): this leaves phi(x) h(r) in the cap, times
   2 exp(shift gamma top - shift**2 / 2) = 1/B. No t < shift is missing: in the cap t >= gamma r, r >= near,
   and shift = gamma near. (Gaussian form: level = shift = gamma, B = exp(-gamma**2 / 2) / 2.)
3. So if the two are proposed with odds 1 : x, x = B (1 - a)/a, what is kept has the base law with weight 1
   outside the cap and 1/a inside it, as if draws outside it were kept with probability a (`_upright`).
4. A proposal is kept with probability share (a + (1 - a) Q) / (a + (1 - a) B), Q the mass of the cap; `best`
   makes that as large as a grid of `near` and `top` allows: at d = 90 it is .89, .45, .25, .20 for epsilon
   1, 4, 8, 12. Upright proposals alone would be kept with a + (1 - a) Q: .59, .083, .0035, .001.
Source: Devroye 1986, II.3 (rejection), V.1 (radially symmetric laws).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, lgamma, log, sqrt

import numpy as np
from numpy.typing import NDArray

from deniable.brackets import negative_exponential

Reals = NDArray[np.float64]

_WORD = 64
_PRECISION = 128
_STEP = 0.25
_DOWN, _UP = 16, 12
_LEAST_SHARE = 0.5
_POINTS = 400


@dataclass(frozen=True, slots=True)
class Tilt:
    """near, top, shift: as above. upright: the chance of an upright proposal, times 2**64.

    share: the mean of h. edge: the density of r at `near`, times h there.
    """

    near: float
    top: float
    shift: float
    upright: int
    share: float
    edge: float


@lru_cache(maxsize=256)
def best(gamma: float, dimension: int, odds: int) -> Tilt:
    """Return the tilt with the fewest proposals a report among those with a share of 1/2. odds: a * 2**64.

    It is no part of the protocol: reports have the same law under all of them (`proposals`).
    """
    root, outside = sqrt(dimension), odds / 2.0**_WORD
    found, most = (root, root), 0.0
    for near in (max(root - _STEP * down, root / 4) for down in range(_DOWN + 1)):
        for top in (root + _STEP * up for up in range(_UP + 1)):
            share, shift = _share(gamma, dimension, near, top), gamma * near
            bound = exp(shift * (shift / 2 - gamma * top)) / 2
            chance = share / (outside + (1 - outside) * bound)
            if share >= _LEAST_SHARE and chance > most:
                found, most = (near, top), chance
    near, top = found
    steep = gamma * gamma * near
    edge = exp(float(_log_density(dimension, np.array([near]))[0]) - steep * (top - near))
    share, shift = _share(gamma, dimension, near, top), gamma * near
    return Tilt(near, top, shift, _upright(shift, gamma * top, odds), share, edge)


def half_space(gamma: float, odds: int) -> Tilt:
    """Return the tilt of the Gaussian form."""
    return Tilt(0.0, 1.0, gamma, _upright(gamma, gamma, odds), 1.0, 0.0)


def _share(gamma: float, dimension: int, near: float, top: float) -> float:
    """Return the mean of h, good to three digits, which is all that it needs (as has `edge`)."""
    middles = np.arange(0.5, _POINTS, dtype=np.float64)
    lengths: Reals = near + middles * ((sqrt(dimension) + 8 - near) / _POINTS)
    fall = gamma * gamma * near * np.maximum(top - lengths, 0.0)
    weights = np.exp(_log_density(dimension, lengths) - fall)
    return float(weights.sum()) * float(lengths[1] - lengths[0])


def _log_density(dimension: int, lengths: Reals) -> Reals:
    """Return the logarithm of the density of the length of `dimension` independent normal coordinates."""
    constant = (dimension / 2 - 1) * log(2) + lgamma(dimension / 2)
    logs: Reals = (dimension - 1) * np.log(lengths) - lengths**2 / 2 - constant
    return logs


def _upright(shift: float, level: float, odds: int) -> int:
    """Return the least U with (2**64 - U)/U <= B (1 - a)/a, for B at the highest level; proved (step 3)."""
    exponent = Fraction(shift) * (Fraction(level) - Fraction(shift) / 2)
    low = negative_exponential(exponent.numerator, exponent.denominator, _PRECISION)[0]
    ratio = Fraction(low * ((1 << _WORD) - odds), odds << (_PRECISION + 1))
    whole = (1 << _WORD) * ratio.denominator
    return -(-whole // (ratio.numerator + ratio.denominator))
