"""Guarantees carry exact numbers and refuse what is none."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest

from deniable.errors import ParameterError
from deniable.guarantees import ApproxDP, Neighbours, PureDP, ZeroConcentratedDP, neighbours


def test_a_float_means_the_decimal_that_it_prints() -> None:
    assert ApproxDP(epsilon=0.1, delta=1e-8) == ApproxDP(epsilon="1/10", delta=Fraction(1, 10**8))


def test_a_claimed_logarithm_is_rounded_up() -> None:
    assert PureDP(epsilon="ln 3").epsilon > Fraction("1.0986122886681096913952452369225257046474905578")


@pytest.mark.parametrize("bad", [-1, "nan", None, True])
def test_every_parameter_is_named_when_it_is_wrong(bad: object) -> None:
    with pytest.raises(ParameterError, match="^epsilon"):
        PureDP(epsilon=bad)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="^delta"):
        ApproxDP(epsilon=1, delta=bad)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="^rho"):
        ZeroConcentratedDP(rho=bad)  # type: ignore[arg-type]


def test_delta_one_is_refused() -> None:
    with pytest.raises(ParameterError, match="delta must be at least 0 and below 1"):
        ApproxDP(epsilon=1, delta=1)


def test_a_guarantee_cannot_be_edited() -> None:
    with pytest.raises(FrozenInstanceError):
        PureDP(epsilon=1).epsilon = Fraction(0)  # type: ignore[misc]


def test_only_the_two_relations_exist() -> None:
    assert neighbours("replace one") is Neighbours.REPLACE_ONE
    with pytest.raises(ParameterError, match="Write 'add or remove' or 'replace one'"):
        neighbours("swap")
