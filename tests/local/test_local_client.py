"""A device never falls silent: whatever the value, one report of constant size."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.bits import Bits, SeededBits
from deniable.local import Client, Parameters
from deniable.local.client import number


class Echo:
    """A protocol that reports whether a value is a number (no privacy: a test double)."""

    parameters = Parameters("echo", Fraction(1))

    def answer(self, value: object, bits: Bits) -> NDArray[Any]:
        return np.array([number(value) is not None], np.uint8)


class Hostile(type):
    def __subclasscheck__(cls, other: type) -> NoReturn:
        raise RuntimeError

    def __instancecheck__(cls, other: object) -> NoReturn:
        raise RuntimeError


class Trap(metaclass=Hostile):
    def __getattribute__(self, name: str) -> NoReturn:
        raise KeyboardInterrupt

    def __float__(self) -> float:
        raise SystemExit

    __int__ = __index__ = __eq__ = __hash__ = __bool__ = __repr__ = __float__  # type: ignore[assignment]


class TrapFloat(float):
    def __float__(self) -> float:
        raise RuntimeError

    __eq__ = __lt__ = __repr__ = __float__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class TrapInt(int):
    def __float__(self) -> float:
        raise RuntimeError

    __int__ = __index__ = __float__  # type: ignore[assignment]


class TrapDecimal(Decimal):
    def __float__(self) -> float:
        raise RuntimeError

    is_nan = __float__  # type: ignore[assignment]


class TrapFraction(Fraction):
    def __float__(self) -> float:
        raise RuntimeError


NUMBERS: list[tuple[object, float]] = [
    (0, 0.0),
    (-3, -3.0),
    (2.5, 2.5),
    (10**5000, math.inf),
    (-(10**5000), -math.inf),
    (Fraction(10**5001, 10**5000), 10.0),
    (Fraction(1, 10**5000), 0.0),
    (Fraction(-(10**5000), 3), -math.inf),
    (Decimal("0.1"), 0.1),
    (Decimal("1e99999"), math.inf),
    (Decimal("-Infinity"), -math.inf),
    (math.inf, math.inf),
    (np.float32(0.5), 0.5),
    (np.float16("inf"), math.inf),
    (np.int8(-7), -7.0),
    (np.uint64(2**64 - 1), 2.0**64),
    (np.longdouble("1e4000"), math.inf),
    (TrapFloat(1.5), 1.5),
    (TrapInt(4), 4.0),
    (TrapDecimal("4.5"), 4.5),
]
NOTHING: list[object] = [
    None,
    True,
    np.True_,
    math.nan,
    np.float32("nan"),
    np.longdouble("nan"),
    Decimal("nan"),
    Decimal("sNaN"),
    "3",
    b"3",
    [3],
    np.array(3),
    np.array([1, 2]),
    np.timedelta64(3, "s"),
    np.datetime64("2020-01-01"),
    1j,
    TrapFraction(1, 2),
    Trap(),
    Trap,
    object,
]


@pytest.mark.parametrize(("value", "expected"), NUMBERS, ids=lambda one: type(one).__name__)
def test_a_number_is_read_from_every_kind_of_number(value: object, expected: float) -> None:
    assert number(value) == expected


def test_what_is_no_number_is_none_and_never_an_error() -> None:
    for value in NOTHING:
        assert number(value) is None


def test_every_value_gives_one_report_of_one_size() -> None:
    client = Client(Echo())
    sizes = {len(client.report(value)) for value in [*NOTHING, *(value for value, _ in NUMBERS)]}
    assert sizes == {10}


def test_bits_can_be_given_for_a_test() -> None:
    assert Client(Echo(), SeededBits(1, insecure=True)).report(1)[-1] == 1
