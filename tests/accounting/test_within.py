"""What is proved, and that nothing else is claimed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest

from deniable import events
from deniable.accounting import calibrate, within
from deniable.accounting.within import parts, promise
from deniable.errors import ParameterError
from deniable.guarantees import Neighbours

mp.mp.dps = 60


def gaussian_delta(mu: Any, epsilon: Any) -> Any:
    """Balle and Wang 2018, at 60 digits."""
    mu, epsilon = mp.mpf(mu), mp.mpf(epsilon)
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def exactly(x: Any) -> Fraction:
    return Fraction(str(mp.nstr(x, 50)))


def test_ten_spends_of_a_tenth_fit_into_one_and_nothing_more() -> None:
    spent: list[events.Event] = [events.PureDP(epsilon="0.1")] * 10
    assert within(spent, epsilon=1)
    assert not within([*spent, events.PureDP(epsilon="5e-324")], epsilon=1)


@pytest.mark.parametrize("shares", [("0.7", "0.2", "0.1"), ("1/3", "1/3", "1/3")])
def test_shares_that_add_up_to_one_fit_exactly(shares: tuple[str, ...]) -> None:
    assert within([events.Laplace(scale=1, sensitivity=share) for share in shares], epsilon=1)


def test_masses_join_as_the_chance_of_any() -> None:
    spent: list[events.Event] = [events.Selection(delta="0.1"), events.ApproxDP(epsilon=1, delta="0.2")]
    assert within(spent, epsilon=1, delta="0.28")
    assert not within(spent, epsilon=1, delta=Fraction(28, 100) - Fraction(1, 10**30))


def test_a_gaussian_fits_at_its_own_delta_and_not_a_hair_below() -> None:
    delta = gaussian_delta("0.5", 1)
    event = events.Gaussian(sigma=2)
    assert within(event, epsilon=1, delta=exactly(delta * (1 + mp.mpf(10) ** -20)))
    assert not within(event, epsilon=1, delta=exactly(delta * (1 - mp.mpf(10) ** -20)))


def test_a_discrete_gaussian_is_not_a_gaussian() -> None:
    event = events.DiscreteGaussian(sigma="3.73064")
    assert within(events.Gaussian(sigma="3.73064"), epsilon=1, delta="1e-5")
    assert not within(event, epsilon=1, delta="1e-5")
    assert within(event, epsilon=1, delta="1.0346e-5")


def test_on_a_fine_grid_a_discrete_gaussian_costs_what_a_gaussian_costs() -> None:
    sigma = calibrate(events.Gaussian, epsilon=1, delta="1e-6").sigma
    fine = events.DiscreteGaussian(
        sigma=sigma * 2**20 * Fraction(1_000_001, 1_000_000), sensitivity=2**20, coordinates=40
    )
    assert within([fine, events.Selection(delta="1e-9")], epsilon=1, delta="1.001e-6")
    assert not within(fine, epsilon=1, delta="0.999e-6")


def test_pure_noise_beside_gaussian_noise_takes_its_epsilon_first() -> None:
    delta = exactly(gaussian_delta("0.25", 1) * (1 + mp.mpf(10) ** -20))
    spent: list[events.Event] = [events.DiscreteLaplace(scale=2), events.Gaussian(sigma=4)]
    assert within(spent, epsilon="1.5", delta=delta)
    assert not within(spent, epsilon="1.4999", delta=delta)


def test_concentrated_promises_are_never_priced_as_gaussian() -> None:
    rho = events.ZeroConcentratedDP(rho="0.1")
    assert not within(rho, epsilon="1.9946", delta="1e-6")
    assert not within(rho, epsilon="2.1419", delta="1e-6")
    assert within(rho, epsilon="2.14194", delta="1e-6")
    assert within([rho, events.Gaussian(sigma=10)], epsilon="2.21", delta="1e-6")


def test_a_gaussian_or_a_concentrated_promise_is_never_proved_at_delta_zero() -> None:
    for event in (events.Gaussian(sigma=100), events.ZeroConcentratedDP(rho="1e-9")):
        assert not within(event, epsilon=1000)


def test_what_needs_a_loss_distribution_is_not_proved() -> None:
    assert not within(events.Subsampled(events.Gaussian(sigma=100), "0.01"), epsilon=100, delta="0.5")


def test_a_sample_of_a_pure_event_is_proved() -> None:
    # ln(1 + (e - 1)/2) = .62011450695827752463...
    event = events.Subsampled(events.PureDP(epsilon=1), "1/2")
    assert within(event, epsilon="0.62011450695827752464")
    assert not within(event, epsilon="0.62011450695827752463")


def test_replacing_one_doubles_what_adding_one_costs() -> None:
    spent: list[events.Event] = [events.PureDP(epsilon=1), events.Selection(delta="1e-6")]
    assert within(spent, epsilon=2, delta="2e-6", neighbours=Neighbours.REPLACE_ONE)
    assert not within(spent, epsilon=2, delta="1.9999e-6", neighbours=Neighbours.REPLACE_ONE)


@pytest.mark.parametrize("epsilon", [None, True, "abc", float("nan"), float("inf"), -1])
def test_a_target_that_is_no_number_is_refused_by_name(epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        within(events.PureDP(epsilon=1), epsilon=epsilon)


def test_many_small_masses_are_joined_from_above() -> None:
    mass = parts({events.Selection(delta="1e-9"): 10**6}).mass
    truth = -mp.expm1(10**6 * mp.log1p(-mp.mpf("1e-9")))
    assert truth <= mp.mpf(mass.numerator) / mass.denominator <= truth * (1 + mp.mpf(10) ** -30)


def test_the_promise_of_a_composition_is_the_sum_of_its_promises() -> None:
    one = promise(events.Composed([events.PureDP(epsilon=1), events.Repeated(events.Laplace(scale=2), 3)]))
    assert one == events.ApproxDP(epsilon="2.5", delta=0)
