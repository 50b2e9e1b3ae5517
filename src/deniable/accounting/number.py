"""The number that an account answers with: exact inside, never below the truth, upward when it must round."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, inf, nextafter

from deniable.exact import text

_EXACT_BITS = 1 << 14


class UpperBound(Fraction):
    """A `Fraction` that is at least the true epsilon or delta. `float()` and `str()` round it up."""

    __slots__ = ()

    def __float__(self) -> float:
        try:
            near = self.numerator / self.denominator
        except OverflowError:
            return inf
        return near if Fraction(near) >= self else nextafter(near, inf)

    def __str__(self) -> str:
        return text(Fraction(self), up=True)

    def __repr__(self) -> str:
        return f"UpperBound({self.numerator}, {self.denominator})"

    def __reduce__(self) -> tuple[type[UpperBound], tuple[int, int]]:
        return UpperBound, (self.numerator, self.denominator)


def upward(number: Fraction, bits: int = 96) -> UpperBound:
    """Return the number; if it is very long, the next one above it with about `bits` significant bits."""
    size = number.numerator.bit_length() - number.denominator.bit_length()
    if number.denominator.bit_length() <= _EXACT_BITS:
        return UpperBound(number)
    grid = Fraction(2) ** (bits - size)
    return UpperBound(Fraction(ceil(number * grid)) / grid)
