"""The number that an account answers with: exact inside, never below the truth, upward when it must round."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter

from deniable.accounting.powers import shortened
from deniable.exact import text


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


def upward(number: Fraction) -> UpperBound:
    """Return the number; if it is longer than the door for numbers lets in, one above it by 2**-512 of it."""
    return UpperBound(shortened(number))
