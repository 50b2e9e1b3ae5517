"""Events: exact, frozen, and closed to numbers that are none."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable import events
from deniable.errors import ParameterError

ODD: list[Any] = [None, True, "abc", float("nan"), float("inf"), -1, [1], 1j, ""]


def test_numbers_are_kept_as_the_decimals_that_they_print() -> None:
    float32: Any = np.float32(0.1)
    assert events.Gaussian(sigma=0.1).sigma == Fraction(1, 10)
    assert events.Laplace(scale=float32).scale == Fraction(1, 10)
    assert events.Laplace(scale="1/3", sensitivity="0.7").epsilon == Fraction(21, 10)
    assert events.DiscreteLaplace(scale=5, sensitivity=3).epsilon == Fraction(3, 5)


def test_a_logarithm_is_rounded_against_us() -> None:
    below, above = Fraction("1.09861228866810969139"), Fraction("1.09861228866810969140")
    assert below < events.Laplace(scale="ln 3").scale < events.PureDP(epsilon="ln 3").epsilon < above


@pytest.mark.parametrize("value", [*ODD, 0])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (events.Laplace, "scale"),
        (events.DiscreteLaplace, "scale"),
        (events.Gaussian, "sigma"),
        (events.DiscreteGaussian, "sigma"),
    ],
)
def test_noise_of_no_size_is_refused(kind: Any, name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        kind(**{name: value})


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("kind", [events.Laplace, events.DiscreteLaplace])
def test_a_sensitivity_that_is_none_is_refused(kind: Any, value: Any) -> None:
    with pytest.raises(ParameterError, match="sensitivity"):
        kind(scale=1, sensitivity=value)


def test_integers_move_by_whole_numbers() -> None:
    with pytest.raises(ParameterError, match="whole number"):
        events.DiscreteLaplace(scale=1, sensitivity="1.5")
    with pytest.raises(ParameterError, match="0 or at least 1"):
        events.DiscreteGaussian(sigma=1, sensitivity="0.5")
    assert events.DiscreteGaussian(sigma=1, sensitivity="1.5", coordinates=2).sensitivity == Fraction(3, 2)


@pytest.mark.parametrize("value", [*ODD, 0, 1.5, 2**63])
def test_a_number_of_coordinates_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match="coordinates"):
        events.DiscreteGaussian(sigma=1, coordinates=value)


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("kind", [events.RandomizedResponse, events.Exponential, events.PureDP])
def test_an_epsilon_that_is_none_is_refused(kind: Any, value: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        kind(epsilon=value)


@pytest.mark.parametrize("value", [*ODD, 0, 1, 1.5])
def test_fewer_than_two_answers_are_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match="options"):
        events.RandomizedResponse(epsilon=1, options=value)


@pytest.mark.parametrize("value", [*ODD, 1, 2])
def test_a_selection_that_always_fails_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match="delta"):
        events.Selection(delta=value)


def test_an_unknown_rule_of_selection_is_refused() -> None:
    rule: Any = "guess"
    with pytest.raises(ParameterError, match="rule"):
        events.Selection(delta="1e-8", rule=rule)


@pytest.mark.parametrize("value", [*ODD, 2, "1.0001"])
def test_a_rate_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match="rate"):
        events.Subsampled(events.Gaussian(sigma=1), value)


@pytest.mark.parametrize("value", [*ODD, 1.5, 10**13])
def test_a_number_of_times_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match="times"):
        events.Repeated(events.Gaussian(sigma=1), value)


@pytest.mark.parametrize("inner", [None, 1, "gaussian", events.Gaussian])
def test_only_events_are_combined(inner: Any) -> None:
    for make in (
        lambda: events.Subsampled(inner, "0.1"),
        lambda: events.Repeated(inner, 2),
        lambda: events.Composed([inner]),
    ):
        with pytest.raises(ParameterError, match="event"):
            make()


def test_events_are_frozen_equal_by_value_and_usable_as_keys() -> None:
    one, other = events.Gaussian(sigma=2), events.Gaussian(sigma="2.0")
    assert one == other
    assert {one: 1}[other] == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.sigma = Fraction(1)  # type: ignore[misc]


def test_combined_events_are_equal_by_value() -> None:
    one = events.Subsampled(events.Composed([events.Gaussian(sigma=2)]), "0.1")
    other = events.Subsampled(events.Composed((events.Gaussian(sigma=2),)), Fraction(1, 10))
    assert one == other
    assert hash(one) == hash(other)
