"""From a promise to the noise: kept, and with little to spare."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable import events
from deniable.accounting import account, calibrate, split
from deniable.errors import ParameterError

KINDS: list[Any] = [
    events.Laplace,
    events.DiscreteLaplace,
    events.Gaussian,
    events.DiscreteGaussian,
    events.RandomizedResponse,
    events.Exponential,
    events.PureDP,
    events.ZeroConcentratedDP,
]


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [
        ("1", "1e-5", "3.73063163482"),
        ("0.1", "1e-6", "36.3046904262"),
        ("1e-3", "1e-6", "2436.55249375"),
        ("10", "1e-5", "0.499888619709"),
        ("100", "1e-5", "0.0946699070147"),
        ("1", "1e-12", "6.55782206746"),
    ],
)
def test_the_least_gaussian_noise(epsilon: str, delta: str, sigma: str) -> None:
    event = calibrate(events.Gaussian, epsilon=epsilon, delta=delta)
    assert abs(event.sigma / Fraction(sigma) - 1) < Fraction(1, 10**11)
    assert account(event).delta(epsilon=epsilon) <= Fraction(delta)


def random_target(random: np.random.Generator) -> tuple[Any, Fraction, Fraction, int]:
    kind = KINDS[int(random.integers(len(KINDS)))]
    epsilon = Fraction(str(round(10 ** random.uniform(-2, 1.2), 4)))
    delta = Fraction(1, 10 ** int(random.integers(2, 20)))
    return kind, epsilon, delta, int(10 ** random.uniform(0, 3))


@pytest.mark.parametrize("seed", range(50))
def test_a_random_target_is_kept_and_missed_by_at_most_one_percent(seed: int) -> None:
    kind, epsilon, delta, times = random_target(np.random.default_rng(seed))
    event = calibrate(kind, epsilon=epsilon, delta=delta, times=times)
    found = account(events.Repeated(event, times)).epsilon(delta)
    assert found <= epsilon
    assert found >= epsilon * Fraction(99, 100)


@pytest.mark.parametrize("kind", [events.Laplace, events.DiscreteGaussian, events.Exponential])
def test_a_hundred_thousand_releases(kind: Any) -> None:
    event = calibrate(kind, epsilon=1, delta="1e-6", times=100_000)
    found = account(events.Repeated(event, 100_000)).epsilon("1e-6")
    assert Fraction(99, 100) <= found <= 1


@pytest.mark.parametrize(
    "kind", [events.Laplace, events.DiscreteLaplace, events.PureDP, events.RandomizedResponse]
)
def test_without_a_delta_pure_noise_is_exact(kind: Any) -> None:
    event = calibrate(kind, epsilon="1/3", times=7)
    assert account(events.Repeated(event, 7)).epsilon() == Fraction(1, 3)


def test_seven_equal_shares_of_a_rho_fit() -> None:
    shares: list[events.Event] = [events.ZeroConcentratedDP(rho=Fraction(1, 70))] * 7
    assert account(shares).epsilon("1e-6") == account(events.ZeroConcentratedDP(rho="0.1")).epsilon("1e-6")


@pytest.mark.parametrize("kind", [events.Gaussian, events.Laplace, events.DiscreteGaussian])
def test_epsilon_zero_needs_noise_that_delta_pays_for(kind: Any) -> None:
    event = calibrate(kind, epsilon=0, delta="0.01")
    found = account(event)
    assert found.epsilon("0.01") == 0
    assert Fraction(99, 10000) <= found.delta(epsilon=0) <= Fraction(1, 100)


def test_the_sensitivity_scales_the_noise() -> None:
    one = calibrate(events.Laplace, epsilon=1, times=3)
    seven = calibrate(events.Laplace, epsilon=1, times=3, sensitivity=7)
    assert seven.scale == 7 * one.scale
    wide = calibrate(events.DiscreteGaussian, epsilon=1, delta="1e-6", sensitivity=2**20, coordinates=30)
    flat = calibrate(events.Gaussian, epsilon=1, delta="1e-6", sensitivity=2**20)
    assert flat.sigma <= wide.sigma <= flat.sigma * Fraction(1_000_001, 1_000_000)


def test_replacing_one_takes_twice_the_noise() -> None:
    add = calibrate(events.Gaussian, epsilon=1, delta="1e-6")
    replace = calibrate(events.Gaussian, epsilon=1, delta="1e-6", neighbours="replace one")
    assert replace.sigma == 2 * add.sigma


@pytest.mark.parametrize("kind", [events.Gaussian, events.DiscreteGaussian, events.ZeroConcentratedDP])
def test_noise_that_needs_a_delta_is_refused_without_one(kind: Any) -> None:
    with pytest.raises(ParameterError, match="^delta"):
        calibrate(kind, epsilon=1)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": float("nan"), "delta": "1e-6"}, "epsilon"),
        ({"epsilon": float("inf"), "delta": "1e-6"}, "epsilon"),
        ({"epsilon": -1, "delta": "1e-6"}, "epsilon"),
        ({"epsilon": True, "delta": "1e-6"}, "epsilon"),
        ({"epsilon": 1, "delta": 1}, "delta"),
        ({"epsilon": 1, "delta": None}, "delta"),
        ({"epsilon": 1, "delta": "1e-6", "times": 0}, "times"),
        ({"epsilon": 1, "delta": "1e-6", "times": 1.5}, "times"),
        ({"epsilon": 1, "delta": "1e-6", "sensitivity": 0}, "sensitivity"),
        ({"epsilon": 1, "delta": "1e-6", "sensitivity": float("nan")}, "sensitivity"),
        ({"epsilon": 1, "delta": "1e-6", "neighbours": "none"}, "neighbours"),
    ],
)
def test_a_bad_number_is_refused_by_name(given: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name}"):
        calibrate(events.Gaussian, **given)


@pytest.mark.parametrize("kind", [events.Composed, events.ApproxDP, int, None, "gaussian"])
def test_a_kind_that_has_no_noise_is_refused(kind: Any) -> None:
    with pytest.raises(ParameterError, match="kind"):
        calibrate(kind, epsilon=1, delta="1e-6")


def test_a_sensitivity_is_for_added_noise() -> None:
    with pytest.raises(ParameterError, match="sensitivity"):
        calibrate(events.Exponential, epsilon=1, sensitivity=2)


@pytest.mark.parametrize("epsilon", ["5e-324", "1e-320", "1e-12", "710", "10000"])
def test_odd_sizes_of_epsilon_are_right(epsilon: str) -> None:
    event = calibrate(events.Gaussian, epsilon=epsilon, delta="1e-6")
    found = account(event).delta(epsilon=epsilon)
    assert Fraction(999_999, 10**12) <= found <= Fraction(1, 10**6)


@pytest.mark.parametrize("epsilon", ["1e-300", "1e-12", "710", "10000"])
def test_odd_sizes_of_epsilon_are_exact_without_a_delta(epsilon: str) -> None:
    assert account(calibrate(events.Laplace, epsilon=epsilon)).epsilon() == Fraction(epsilon)


def test_an_epsilon_that_needs_noise_beyond_numbers_is_refused_by_name() -> None:
    with pytest.raises(ParameterError, match="^epsilon"):
        calibrate(events.Laplace, epsilon="5e-324", sensitivity=100)


def test_a_split_without_delta_says_which_theorems_need_one() -> None:
    lines = str(split(epsilon=1, queries=7)).splitlines()
    assert "optimal            epsilon 1/7 each" in lines
    assert [line.split()[0] for line in lines if line.endswith(" needs a delta")] == [
        "advanced",
        "zero-concentrated",
        "gaussian",
    ]


def test_what_no_noise_keeps_is_refused_in_the_numbers_that_were_given() -> None:
    with pytest.raises(ParameterError, match="got '5e-324 and 1e-6'"):
        split(epsilon=5e-324, delta="1e-6", queries=10)
