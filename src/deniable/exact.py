"""The one door for numbers: whatever a person writes becomes an exact `Fraction`, or a clear error.

| given                     | becomes                                                        |
|---------------------------|----------------------------------------------------------------|
| 1, Fraction(1, 3)         | itself                                                         |
| 0.1, numpy.float32(0.1)   | 1/10: a float means the shortest decimal that it prints        |
| Decimal("0.1"), "0.1"     | 1/10                                                           |
| "1/3", "1e-8", " 2 "      | 1/3, 1/100000000, 2                                            |
| "ln 3", "2 ln 3", "ln 3/2"| a rational within 2**-120, below the truth (above with up=True)|
| True, None, "abc", nan, inf, an array | ParameterError                                     |
| 10**5000, "1e-9999", Fraction(1, 10**5000) | ParameterError: beyond 1e308, or over 1,200 digits |
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real

from deniable.brackets import logarithm
from deniable.errors import ParameterError

Number = int | float | str | Fraction | Decimal
"""What the door accepts in signatures; NumPy scalars are welcome too."""

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?")
_RATIO = re.compile(r"([+-]?\d+)\s*/\s*(\d+)")
_LOGARITHM = re.compile(r"(?:(?P<factor>[\d./]+)\s*\*?\s*)?ln\s*\(?\s*(?P<of>[\d.]+(?:/[\d.]+)?)\s*\)?")
_LARGEST = 10**308
_MOST_BITS = 1 << 12
_DIGITS_A_PIECE = 600
_FIX = "Write it as 1, 0.1, '0.1', '1/3', 'ln 3' or Fraction(1, 10)."


def exact(value: object, argument: str, *, up: bool = False) -> Fraction:
    """Return the number that `value` means, exactly.

    Args:    argument: the name to use in an error. up: round "ln" upwards (for a claim), not downwards
             (for a budget).
    Raises:  ParameterError: not a finite number, text of more than 400 characters, a number beyond 1e308, or
             one whose numerator or denominator has more than about 1,200 digits.
    """
    number = _meant(value, argument, up=up)
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > _MOST_BITS:
        fix = "Give one with fewer digits, between 1e-1000 and 1e308."
        raise ParameterError(argument, value, "must be a number of fewer digits", fix)
    if abs(number) > _LARGEST:
        raise ParameterError(argument, value, "is too large to compute with", "Give at most 1e308.")
    return number


def _meant(value: object, argument: str, *, up: bool) -> Fraction:
    if isinstance(value, bool) or type(value).__name__ == "bool_" or value is None:
        raise ParameterError(argument, value, "must be a number", _FIX)
    if isinstance(value, str):
        return _from_text(value, argument, up=up)
    if isinstance(value, Decimal):
        if not value.is_finite() or not -5000 <= value.adjusted() <= 5000:
            raise ParameterError(argument, value, "must be a finite number", _FIX)
        return Fraction(value)
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Real):
        if not math.isfinite(value):
            raise ParameterError(argument, value, "must be a finite number", _FIX)
        return Fraction(str(value))
    raise ParameterError(argument, value, "must be a number", _FIX)


def _from_text(text: str, argument: str, *, up: bool) -> Fraction:
    stripped = text.strip()
    if len(stripped) > 400 or not stripped.isascii():
        raise ParameterError(argument, text, "must be a number", _FIX)
    if _DECIMAL.fullmatch(stripped):
        return Fraction(stripped)
    if (ratio := _RATIO.fullmatch(stripped)) and int(ratio[2]) != 0:
        return Fraction(int(ratio[1]), int(ratio[2]))
    if parts := _LOGARITHM.fullmatch(stripped):
        try:
            factor, of = Fraction(parts["factor"] or 1), _quotient(parts["of"])
        except (ValueError, ZeroDivisionError):
            raise ParameterError(argument, text, "must be a number", _FIX) from None
        if of > 0:
            low, high = (factor * end for end in logarithm(of))
            grid = 1 << 124
            return Fraction(math.ceil(high * grid) if up else math.floor(low * grid), grid)
    raise ParameterError(argument, text, "must be a finite number", _FIX)


def _quotient(text: str) -> Fraction:
    top, _, bottom = text.partition("/")
    return Fraction(top) / Fraction(bottom or 1)


def positive(value: object, argument: str, *, up: bool = False) -> Fraction:
    """Return `exact(value)`; refuse what is not above 0."""
    number = exact(value, argument, up=up)
    if not number > 0:
        raise ParameterError(argument, value, "must be greater than 0", "Give a number above 0.")
    return number


def at_least_zero(value: object, argument: str, *, up: bool = False) -> Fraction:
    """Return `exact(value)`; refuse what is below 0."""
    number = exact(value, argument, up=up)
    if not number >= 0:
        raise ParameterError(argument, value, "must be at least 0", "Give 0 or a number above it.")
    return number


def probability(value: object, argument: str) -> Fraction:
    """Return `exact(value)`; refuse what is not in [0, 1)."""
    number = exact(value, argument)
    if not 0 <= number < 1:
        raise ParameterError(argument, value, "must be at least 0 and below 1", "Give for example '1e-8'.")
    return number


def whole(value: object, argument: str, *, at_least: int, at_most: int) -> int:
    """Return an int between the two ends; refuse fractions, bool, text and all else."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ParameterError(argument, value, "must be a whole number", "Give for example 3.")
    if not at_least <= int(value) <= at_most:
        fix = f"Give a whole number from {at_least:,} to {at_most:,}."
        raise ParameterError(argument, value, "is out of range", fix)
    return int(value)


def text(number: Fraction, *, up: bool = True, digits: int = 12) -> str:
    """Return the number as exact decimal or fraction text where that is short, else rounded.

    | number                    | text                                                       |
    |---------------------------|------------------------------------------------------------|
    | 1/10                      | "0.1"                                                      |
    | 1/3                       | "1/3"                                                      |
    | 1/10**8                   | "1e-8"                                                     |
    | a long one                | `digits` significant digits, rounded up (down with up=False)|
    """
    bottom = number.denominator
    ends = _places(bottom) is not None
    if bottom < 10_000 and not ends:
        return f"{'-' if number < 0 else ''}{_digits(abs(number.numerator))}/{bottom}"
    if ends:
        short = _decimal(number)
        if len(short) <= digits + 8:
            return short
    return _decimal(_rounded(number, digits, up=up))


def written(number: Fraction) -> str:
    """Return text that `exact` reads back as this very number: as `text` writes it, or else as a fraction.

    For files. Where the fraction has more than 400 characters, `exact` refuses it.
    """
    shown = text(number)
    if "/" in shown or Fraction(shown) == number:
        return shown
    top, bottom = _digits(abs(number.numerator)), _digits(number.denominator)
    return f"{'-' if number < 0 else ''}{top}" + ("" if bottom == "1" else f"/{bottom}")


def _places(denominator: int) -> int | None:
    """Return how many decimal places n/denominator has in lowest terms; None if they never end."""
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def _digits(number: int) -> str:
    """Return the decimal digits of a number of any size; Python's own `str` refuses more than 4,300."""
    pieces: list[str] = []
    grid = 10**_DIGITS_A_PIECE
    while number >= grid:
        number, piece = divmod(number, grid)
        pieces.append(f"{piece:0{_DIGITS_A_PIECE}d}")
    return str(number) + "".join(reversed(pieces))


def _rounded(number: Fraction, digits: int, *, up: bool) -> Fraction:
    exponent = 0
    magnitude = abs(number)
    if magnitude:
        exponent = math.floor(
            (magnitude.numerator.bit_length() - magnitude.denominator.bit_length()) * 0.30103
        )
    grid = Fraction(10) ** (digits - 1 - exponent)
    return Fraction(math.ceil(number * grid) if up else math.floor(number * grid)) / grid


def _decimal(number: Fraction) -> str:
    """Write a number whose denominator has only the factors 2 and 5."""
    if number == 0:
        return "0"
    places = _places(number.denominator)
    assert places is not None
    digits = _digits(abs((number * 10**places).numerator))
    sign = "-" if number < 0 else ""
    point = len(digits) - places
    if point < -3 or point > 16:
        mantissa = digits.rstrip("0")
        head, tail = mantissa[0], mantissa[1:]
        return f"{sign}{head}{'.' + tail if tail else ''}e{point - 1}"
    if places == 0:
        return sign + digits
    padded = digits.rjust(places + 1, "0")
    return f"{sign}{padded[:-places]}.{padded[-places:]}"
