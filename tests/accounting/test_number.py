"""The number that an account answers with."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import pytest

from deniable.accounting import UpperBound
from deniable.accounting.number import upward
from deniable.exact import exact


@pytest.mark.parametrize("number", [Fraction(1, 3), Fraction(2, 3), Fraction(1, 10), Fraction(10**40 + 1, 7)])
def test_as_a_float_and_as_text_it_is_never_below_itself(number: Fraction) -> None:
    found = UpperBound(number)
    assert Fraction(float(found)) >= number
    assert math.nextafter(float(found), 0) < number
    assert Fraction(str(found)) >= number


def test_the_smallest_and_the_largest() -> None:
    assert float(UpperBound(0)) == 0
    assert float(UpperBound(1, 10**400)) == 5e-324
    assert float(UpperBound(10**400)) == math.inf


def test_it_is_an_exact_fraction() -> None:
    assert UpperBound(1, 3) == Fraction(1, 3)
    assert UpperBound(1, 3) + UpperBound(2, 3) == 1
    assert hash(UpperBound(1, 3)) == hash(Fraction(1, 3))


def test_it_survives_copies() -> None:
    found = UpperBound(10**30 + 1, 10**30)
    assert pickle.loads(pickle.dumps(found)) == found
    assert type(copy.copy(found)) is UpperBound
    assert copy.deepcopy(found) == found


def test_only_very_long_numbers_are_shortened_and_upwards() -> None:
    long = Fraction(3, 7) ** 2000
    assert upward(Fraction(1, 3**1000)) == Fraction(1, 3**1000)
    assert long < upward(long) < long * (1 + Fraction(1, 2**500))
    assert exact(upward(long), "epsilon") == upward(long)
