"""Coins with whole-number odds, and numbers as places on a public scale.

| function   | returns                                                                                    |
|------------|--------------------------------------------------------------------------------------------|
| most       | a rational R <= e**epsilon, and at most e**40: what probabilities may differ by            |
| truth      | the largest K with K <= R * (2**32 - K): a bit is told as it is with probability K / 2**32  |
| hold       | nothing; raises unless a ratio of probabilities is proved to keep epsilon                  |
| places     | the place of each number of an array on a scale; refuses what is no number in the bounds   |
| place      | the same for any object, on a device: it never raises                                      |
| spread     | one of the two whole numbers beside each place, at random, right on average                |

A place is counted in units of 2**-32 of a step; `steps` steps lead from the lower bound to the upper one.
What a value is turned into before it is randomised is a public rule: it may use floats, and costs nothing.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.bits import Bits
from deniable.brackets import exponential
from deniable.errors import WITHHELD, ParameterError
from deniable.exact import exact
from deniable.local.arrays import unmasked
from deniable.local.client import number

ONE = 1 << 32
_LARGEST = Fraction(40)
_FURTHEST = Fraction(400)
_WIDEST, _CLOSEST = Fraction(10) ** 100, 1e-100


def most(epsilon: Fraction) -> Fraction:
    """Return a rational at most e**epsilon (step 1 of every proof here), within 2**-120 of it up to e**40."""
    low = exponential(min(epsilon, _LARGEST))[0]
    return Fraction((low.numerator << 128) // low.denominator, 1 << 128)


def truth(ratio: Fraction, argument: str = "epsilon") -> int:
    """Return the largest K below 2**32 with K / (2**32 - K) <= ratio.

    Raises:  ParameterError: the ratio is so close to 1 that K would be one half: reports would say nothing.
    """
    keep = min(ONE * ratio.numerator // (ratio.numerator + ratio.denominator), ONE - 1)
    if not keep > ONE // 2:
        raise ParameterError(argument, None, "is too small to learn anything", "Give at least 1e-6.")
    return keep


def hold(ratio: Fraction, epsilon: Fraction) -> None:
    """Raise unless it is proved that probabilities which differ `ratio`-fold keep epsilon.

    Raises:  ParameterError.
    """
    if not ratio <= exponential(min(epsilon, _FURTHEST))[0]:
        raise ParameterError(
            "epsilon", str(epsilon), "is not kept by the odds", "This is a fault; report it."
        )


def bounded(bounds: object, argument: str = "bounds") -> tuple[Fraction, Fraction]:
    """Return the two bounds exactly; refuse all but two numbers that rise, by 1e-100 or more, within 1e100.

    So the difference of two numbers between them, and its share of the whole, are floats that exist.
    Raises:  ParameterError.
    """
    fix = "Give two numbers that rise, for example (0, 100)."
    if not (isinstance(bounds, tuple | list) and len(bounds) == 2):
        raise ParameterError(argument, bounds, "must be two numbers", fix)
    low, high = exact(bounds[0], argument), exact(bounds[1], argument)
    if not (max(abs(low), abs(high)) <= _WIDEST and float(high) - float(low) >= _CLOSEST):
        raise ParameterError(argument, bounds, "must rise, by 1e-100 or more, within 1e100", fix)
    return low, high


def places(values: ArrayLike, bounds: tuple[Fraction, Fraction], steps: int) -> NDArray[np.int64]:
    """Return the place of each number, `(n,) int64`, from 0 to steps * 2**32.

    Raises:  ParameterError: some entry is no number within the bounds. It is not shown: it is somebody's.
    """
    given = unmasked(values)
    if given.ndim != 1 or given.dtype.kind not in "iuf":
        fix = "Give one number for each person, or use client().report, which takes anything."
        raise ParameterError("values", WITHHELD, "must be a one-dimensional array of numbers", fix)
    numbers = given.astype(np.float64)
    low, high = float(bounds[0]), float(bounds[1])
    if not bool(np.all((numbers >= low) & (numbers <= high))):
        fix = "Clip them, or use client().report, which takes anything."
        raise ParameterError("values", WITHHELD, "must all lie within the bounds", fix)
    return np.asarray(np.rint((numbers - low) / (high - low) * (steps * ONE)), np.int64)


def place(value: object, bounds: tuple[Fraction, Fraction], steps: int) -> int:
    """Return the place of any object: numbers are clamped to the bounds, all else is the middle."""
    read = number(value)
    if read is None:
        return steps * ONE // 2
    low, high = float(bounds[0]), float(bounds[1])
    return round((min(max(read, low), high) - low) / (high - low) * (steps * ONE))


def spread(at: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
    """Return the whole number below each place or the one above, so that its mean is the place."""
    return np.asarray((at + bits.uint32(len(at)).astype(np.int64)) >> 32, np.int64)


def chosen(n: int, count: int, bits: Bits) -> NDArray[np.int64]:
    """Return n numbers from 0 to count - 1, each with a probability within 2**-32 of 1/count."""
    return np.asarray((bits.uint32(n).astype(np.uint64) * np.uint64(count)) >> np.uint64(32), np.int64)
