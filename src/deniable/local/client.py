"""The device's end. A device never falls silent: an error, or no report, would tell who has an odd value.

So `Client.report` takes anything at all and returns one report of constant size. What a value means when it
is missing, out of range or no value at all is a public rule of each protocol; `number` is the rule by which
protocols on numbers read them.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import inf, isnan
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits, SystemBits
from deniable.local.parameters import Parameters
from deniable.local.reports import Reports

_LARGE = 1000


class Device(Protocol):
    """What a protocol gives to its clients."""

    @property
    def parameters(self) -> Parameters:
        """The parameters that travel with the report."""
        ...

    def answer(self, value: object, bits: Bits) -> NDArray[Any]:
        """Return the payload of one report, `(1,)` or `(1, width)`, for any object: this never raises."""
        ...


class Client:
    """Makes the reports of one person. Each report costs the protocol's epsilon again.

    Args:    bits: fresh ones of the operating system when omitted; safe in threads and after a fork.
    """

    def __init__(self, protocol: Device, bits: Bits | None = None) -> None:
        self._protocol = protocol
        self._bits = SystemBits() if bits is None else bits

    @property
    def parameters(self) -> Parameters:
        """The public parameters, for the full form of a report."""
        return self._protocol.parameters

    def report(self, value: object) -> bytes:
        """Return exactly one report, always of the same size, whatever the value is. Never raises.

        Not even where the program around it has told NumPy to raise: whether a number is lost in rounding
        depends on the value.
        """
        with np.errstate(all="ignore"):
            return Reports(self.parameters, self._protocol.answer(value, self._bits)).to_bytes()


def number(value: object) -> float | None:
    """Return the number that a value is, or None if it is none. Never raises; runs no method of the value.

    | value                                              | number                                |
    |----------------------------------------------------|---------------------------------------|
    | int, float, Decimal, Fraction, NumPy numbers       | the nearest float                     |
    | beyond 1e308, infinity                             | infinity with its sign                |
    | NaN, None, True, text, arrays, any other object    | None                                  |

    A subclass may override anything, so methods are taken from the known classes, never from the value.
    """
    given: Any = value
    kind: Any = type(value)
    if issubclass(kind, bool | np.bool_ | np.timedelta64):
        return None
    if issubclass(kind, float):
        return _real(float.__float__(given))
    if issubclass(kind, int):
        return _ratio(int.__int__(given), 1)
    if issubclass(kind, Decimal):
        return None if Decimal.is_nan(given) else Decimal.__float__(given)
    if kind is Fraction:
        return _ratio(given.numerator, given.denominator)
    if issubclass(kind, np.floating | np.integer):
        return _real(np.generic.__float__(given))
    return None


def _real(read: float) -> float | None:
    return None if isnan(read) else read


def _ratio(top: int, bottom: int) -> float:
    if top.bit_length() - bottom.bit_length() > _LARGE:
        return inf if top > 0 else -inf
    return top / bottom
