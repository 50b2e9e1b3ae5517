"""From a private number, or an array of them, to integers on a public grid, and back.

The value in a curator's hand is private, so nothing that depends on it may fail: an error would tell. Its
type and its shape count as public (they follow from the program), and only those are refused.

| given                                    | counts as                                                  |
|------------------------------------------|------------------------------------------------------------|
| int, Fraction, Decimal, a NumPy integer  | itself                                                     |
| float, a NumPy float                     | the binary number that it is, exactly                      |
| nan, None, pandas.NA, a masked entry     | 0                                                          |
| inf, or more than 2**61 steps            | 2**61 steps, with its sign                                 |
| bool, text, another type or shape        | ParameterError, which names the type or shape alone        |

What rounding does to the sensitivity. r(x) = floor(x/step + 1/2), on the exact rational.
1. r(x) - r(y) < (x - y)/step + 1, as floor(a) <= a and floor(b) > b - 1. So where one number moves by at
   most D it moves by at most ceil(D/step) steps: the integer below D/step + 1.
2. d numbers whose L1 distance is at most D: the same, summed over those that move, gives an integer below
   D/step + d, hence at most ceil(D/step) + d - 1.
3. In L2: the vector of (x - y)/step, each entry lengthened by less than 1, is shorter than D/step + sqrt(d).
4. Clamping to [-2**61, 2**61] and replacing what is missing by 0 move no two integers apart, given that the
   stated sensitivity holds with 0 in the place of what is missing.
5. Whole numbers (`whole=True`) are not rounded: L1 and L2 stay what they are. (One number that is not whole
   after all is rounded, and step 1 covers it. For arrays the sensitivity is that of the rounded numbers.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, isinf, isnan, ldexp, prod
from numbers import Integral, Rational, Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from deniable.brackets import square_root
from deniable.errors import ParameterError
from deniable.exact import text
from deniable.exact import whole as whole_number

Integers = NDArray[np.int64]
Result = int | float | NDArray[np.int64] | NDArray[np.float64]

LIMIT = 1 << 61
_FINE = 10
_SPREAD = 54
_LARGEST_SCALE = 1 << 56
_LOWEST, _HIGHEST = -1000, 900
_DECIMAL_REACH = 700


@dataclass(frozen=True, slots=True)
class Grid:
    """The multiples of 2**exponent, for values of one shape; () is a single number."""

    exponent: int
    shape: tuple[int, ...]
    whole: bool

    @property
    def step(self) -> Fraction:
        """The distance of neighbouring results."""
        return Fraction(2) ** self.exponent

    @property
    def size(self) -> int:
        """How many numbers a value has."""
        return prod(self.shape)

    @property
    def rounding(self) -> Fraction:
        """How far a value is moved by being put on the grid, at most."""
        return Fraction(0) if self.whole else self.step / 2

    def integers(self, value: object) -> Integers:
        """Return the value in steps, `(size,) int64`, rounded and clamped: see the table above.

        Raises:  ParameterError: the type or shape is not that of the mechanism.
        """
        if self.shape == ():
            single = _array(value)[()] if isinstance(value, np.ndarray) and value.shape == () else value
            return np.array([_one(single, self.exponent)], np.int64)
        array = _array(value)
        if array.shape != self.shape:
            fix = f"The mechanism was made for shape {self.shape}."
            raise ParameterError("value", f"shape {array.shape}", "has another shape", fix)
        return _many(array.ravel(), self.exponent)

    def result(self, integers: Integers) -> Result:
        """Return noisy steps as a number or array: int where values are whole, else the nearest float."""
        if self.shape == ():
            steps = int(integers[0])
            return steps if self.whole else ldexp(steps, self.exponent)
        if self.whole:
            return integers.reshape(self.shape)
        return np.ldexp(integers.astype(np.float64), self.exponent).reshape(self.shape)

    def l1(self, sensitivity: Fraction) -> Fraction:
        """Return the L1 sensitivity in steps, a whole number (steps 1, 2 and 5)."""
        moved = sensitivity / self.step
        if self.whole and self.shape != ():
            return Fraction(floor(moved))
        return Fraction(ceil(moved) + self.size - 1)

    def l2(self, sensitivity: Fraction) -> Fraction:
        """Return the L2 sensitivity in steps, rounded up (steps 1, 3 and 5)."""
        moved = sensitivity / self.step
        if self.shape == ():
            return Fraction(ceil(moved))
        return moved if self.whole else moved + square_root(Fraction(self.size), 32)[1]


def whole_grid(sensitivity: Fraction, shape: tuple[int, ...]) -> Grid:
    """Return the grid of whole numbers.

    Raises:  ParameterError: sensitivity is below 1.
    """
    if not sensitivity >= 1:
        fix = "Whole numbers move by at least 1; for others leave out whole=True."
        raise ParameterError("sensitivity", str(sensitivity), "must be at least 1", fix)
    return Grid(0, shape, True)


def fine_grid(sensitivity: Fraction, scale: Fraction, shape: tuple[int, ...], spare: int) -> Grid:
    """Return a grid on which rounding costs little: 2**10 steps for the noise and for each spare step.

    Noise too large for 64-bit integers gets a coarser grid, up to the sensitivity.

    Args:    scale: of the noise. spare: how many steps rounding adds to the sensitivity, at most.
    Raises:  ParameterError: results on this grid are not all floats.
    """
    exponent = max(_log2(min(sensitivity / spare, scale)) - _FINE, _log2(scale) - _SPREAD)
    exponent = min(exponent, _log2(sensitivity))
    if not _LOWEST <= exponent <= _HIGHEST:
        fix = "Give values in other units."
        raise ParameterError("sensitivity", str(sensitivity), "leaves the range of floating point", fix)
    return Grid(exponent, shape, False)


def checked_shape(shape: object) -> tuple[int, ...]:
    """Return the shape as a tuple; a whole number is the length of a vector.

    Raises:  ParameterError: it is neither a whole number above 0 nor a tuple of them.
    """
    lengths = shape if isinstance(shape, tuple | list) else (shape,)
    found = tuple(whole_number(length, "shape", at_least=1, at_most=1 << 32) for length in lengths)
    whole_number(prod(found), "shape", at_least=1, at_most=1 << 32)
    return found


def _log2(number: Fraction) -> int:
    """Return floor(log2(number)), number > 0."""
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    return guess if Fraction(2) ** guess <= number else guess - 1


def check_scale(scale: Fraction, epsilon: Fraction) -> None:
    """Refuse noise, in steps, that 64-bit integers do not hold: epsilon is then too small."""
    if not scale <= _LARGEST_SCALE:
        fix = "Give a larger one, or values in coarser units."
        raise ParameterError("epsilon", text(epsilon), "needs more noise than 64-bit integers hold", fix)


def _one(value: object, exponent: int) -> int:
    """Return one number in steps of 2**exponent, rounded and clamped."""
    if value is None or type(value).__name__ == "NAType":
        return 0
    if isinstance(value, bool):
        raise _refused(value)
    if isinstance(value, Integral):
        return _rounded(int(value), 1, exponent)
    if isinstance(value, Rational):
        return _rounded(int(value.numerator), int(value.denominator), exponent)
    if isinstance(value, Decimal):
        return _decimal(value, exponent)
    if isinstance(value, Real):
        if isnan(value):
            return 0
        if isinf(value):
            return LIMIT if float(value) > 0 else -LIMIT
        return _rounded(*cast("float", value).as_integer_ratio(), exponent)
    raise _refused(value)


def _decimal(value: Decimal, exponent: int) -> int:
    """Far beyond the grid's reach, or far below half a step, the digits do not matter."""
    if value.is_nan():
        return 0
    if value.is_infinite() or (value and value.adjusted() > _DECIMAL_REACH):
        return LIMIT if value > 0 else -LIMIT
    if value.adjusted() < -_DECIMAL_REACH:
        return 0
    return _rounded(*value.as_integer_ratio(), exponent)


def _rounded(numerator: int, denominator: int, exponent: int) -> int:
    """Return floor(x / 2**exponent + 1/2), clamped to +-2**61."""
    if exponent < 0:
        numerator <<= -exponent
    else:
        denominator <<= exponent
    return min(max((2 * numerator + denominator) // (2 * denominator), -LIMIT), LIMIT)


def _array(value: object) -> NDArray[Any]:
    if isinstance(value, np.ma.MaskedArray):
        return cast("NDArray[Any]", value.filled(0))
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        array = np.empty(len(value), object)
        for place, entry in enumerate(value):
            array[place] = entry
        return array
    raise _refused(value)


def _many(array: NDArray[Any], exponent: int) -> Integers:
    """Return a flat array in steps, as `_one` does for each entry."""
    match array.dtype.kind:
        case "i" | "u" if -60 <= exponent <= 0:
            most, limits = LIMIT >> -exponent, np.iinfo(array.dtype)
            inside = np.clip(array, max(-most, limits.min), min(most, limits.max))
            return cast("Integers", inside.astype(np.int64) << -exponent)
        case "f" if array.dtype.itemsize <= 8:
            return _floats(array.astype(np.float64), exponent)
        case "i" | "u" | "f" | "O":
            return np.array([_one(entry, exponent) for entry in array], np.int64)
        case _:
            raise ParameterError("value", f"an array of {array.dtype}", "must hold numbers", _FIX)


def _floats(array: NDArray[np.float64], exponent: int) -> Integers:
    """Round exactly, as `_one` does.

    1. y = x / 2**exponent is exact, but for overflow (to an infinity, which is clamped) and underflow (which
       keeps y between -1/2 and 1/2, where the answer is 0).
    2. y - floor(y) >= 1/2 is decided rightly: for abs(y) >= 1/2 the difference is exact, as both are
       multiples of the last place of y and it is below 1; else it is y >= 0, or 1 + y rounded, which is at
       least 1/2 together with the exact one, because rounding is monotone and 1/2 is a float.
    """
    with np.errstate(all="ignore"):
        y = np.ldexp(array, -exponent)
    y = np.clip(np.where(np.isnan(y), 0.0, y), -float(LIMIT), float(LIMIT))
    below = np.floor(y)
    return below.astype(np.int64) + (y - below >= 0.5)


_FIX = "Give a number, or a NumPy array of numbers."


def _refused(value: object) -> ParameterError:
    return ParameterError("value", f"a value of type {type(value).__name__}", "must be a number", _FIX)
