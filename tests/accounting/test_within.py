"""What is proved, and that nothing else is claimed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest

from deniable import events
from deniable.accounting import calibrate, within
from deniable.accounting.within import Kept, parts, promise
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


def test_pure_noise_beside_gaussian_noise_is_proved_with_it() -> None:
    spent: list[events.Event] = [events.DiscreteLaplace(scale=2), events.Gaussian(sigma=4)]
    true = 1 / (1 + mp.exp(mp.mpf("-0.5")))
    truth = true * gaussian_delta("0.25", 1) + (1 - true) * gaussian_delta("0.25", 2)
    assert within(spent, epsilon="1.5", delta=exactly(truth * (1 + mp.mpf(10) ** -3)))
    assert not within(spent, epsilon="1.5", delta=exactly(truth * (1 - mp.mpf(10) ** -9)))


def test_concentrated_promises_are_never_priced_as_gaussian() -> None:
    rho = events.ZeroConcentratedDP(rho="0.1")
    assert not within(rho, epsilon="1.9946", delta="1e-6")
    assert not within(rho, epsilon="2.1419", delta="1e-6")
    assert within(rho, epsilon="2.14194", delta="1e-6")
    assert within([rho, events.Gaussian(sigma=10)], epsilon="2.21", delta="1e-6")


def test_a_gaussian_or_a_concentrated_promise_is_never_proved_at_delta_zero() -> None:
    for event in (events.Gaussian(sigma=100), events.ZeroConcentratedDP(rho="1e-9")):
        assert not within(event, epsilon=1000)


def steps_delta(times: int, each: Any, epsilon: Any) -> Any:
    """Randomised response many times: the sum over how often the answer is true, at 60 digits."""
    each, epsilon = mp.mpf(each), mp.mpf(epsilon)
    true = 1 / (1 + mp.exp(-each))
    total = mp.mpf(0)
    for right in range(times + 1):
        chance = mp.binomial(times, right) * true**right * (1 - true) ** (times - right)
        total += max(mp.mpf(0), chance * (1 - mp.exp(epsilon - (2 * right - times) * each)))
    return total


@pytest.mark.parametrize(("times", "epsilon"), [(2, "0.3"), (20, "1"), (20, "3.9"), (300, "5")])
def test_noise_many_times_is_proved_as_a_whole_and_not_below_the_truth(times: int, epsilon: str) -> None:
    spent: list[events.Event] = [events.DiscreteLaplace(scale=5)] * times
    truth = steps_delta(times, "0.2", epsilon)
    assert not within(spent, epsilon=epsilon, delta=exactly(truth * (1 - mp.mpf(10) ** -12)))
    assert within(spent, epsilon=epsilon, delta=exactly(truth * (1 + mp.mpf(10) ** -3)))


def test_the_mass_of_a_selection_joins_what_the_noise_may_lose() -> None:
    noise: list[events.Event] = [events.DiscreteLaplace(scale=5)] * 20
    lost = exactly(steps_delta(20, "0.2", "1") * (1 + mp.mpf(10) ** -3))
    mass = Fraction(1, 1000)
    joint = 1 - (1 - lost) * (1 - mass)
    spent = [*noise, events.Selection(delta=mass)]
    assert within(spent, epsilon=1, delta=joint)
    assert not within(spent, epsilon=1, delta=joint - lost * Fraction(1, 100))
    assert not within(spent, epsilon=1, delta=mass)


def test_noise_on_a_sample_is_proved_by_its_losses() -> None:
    sampled = events.Subsampled(events.Gaussian(sigma=2), "0.1")
    truth = max(sampled_deltas("0.5", "0.1", "0.05"))
    assert within(sampled, epsilon="0.05", delta=exactly(truth * (1 + mp.mpf(10) ** -6)))
    assert not within(sampled, epsilon="0.05", delta=exactly(truth * (1 - mp.mpf(10) ** -6)))


def sampled_deltas(mu: Any, rate: Any, epsilon: Any) -> tuple[Any, Any]:
    """One sampled Gaussian in both directions, from where the two densities cross."""
    mu, rate, growth = mp.mpf(mu), mp.mpf(rate), mp.exp(mp.mpf(epsilon))

    def crossing(ratio: Any) -> Any:
        return mp.log(ratio) / mu + mu / 2

    def above(x: Any) -> tuple[Any, Any]:
        return mp.ncdf(mu - x), mp.ncdf(-x)

    far, near = above(crossing((growth - 1 + rate) / rate))
    removed = rate * far + (1 - rate) * near - growth * near
    far, near = above(crossing((1 / growth - 1 + rate) / rate))
    return removed, (1 - near) - growth * (1 - rate * far - (1 - rate) * near)


@pytest.mark.parametrize(
    "spent",
    [
        [events.Laplace(scale=Fraction(1, 10**320)), events.Laplace(scale=1)],
        [events.DiscreteLaplace(scale=10**300, sensitivity=10**299), events.Laplace(scale=2)],
        [events.Gaussian(sigma=10**300), events.Laplace(scale=1)],
        [events.Repeated(events.Laplace(scale=2), 10**12)],
    ],
)
def test_what_floats_cannot_hold_is_not_proved(spent: list[events.Event]) -> None:
    assert not within(spent, epsilon="0.3", delta="1e-9")


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
    assert one == Kept(Fraction(5, 2), Fraction(0))
