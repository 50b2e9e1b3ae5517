"""What an account answers, against published and independent numbers, both ways round."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from accounting_mixes import five_hundred
from accounting_oracles import gaussian_delta, number

from deniable import events
from deniable.accounting import account
from deniable.errors import ParameterError

TIGHT = Fraction(1001, 1000)


def assert_between(found: Fraction, low: str, *, above: Fraction = TIGHT) -> None:
    """At least the printed value minus a unit of its last digit, at most 0.1 % (or 1e-9) above it."""
    printed = Fraction(low)
    unit = Fraction(1, 10 ** len(low.partition(".")[2])) if "." in low else Fraction(0)
    assert printed - unit <= found <= max(printed * above + unit, Fraction(1, 10**9))


# times, sigma, delta, epsilon: the analytic Gaussian, to the digits that are printed.
GAUSSIAN = [
    (1, "1", "1e-5", "4.37717809568"),
    (1, "0.5", "1e-5", "9.99725614643"),
    (1, "10", "1e-6", "0.396857377644"),
    (100, "10", "1e-6", "4.88655411746"),
    (1000, "100", "1e-9", "1.78802482694"),
    (1000, "100", "1e-5", "1.19936957375"),
    (10000, "1000", "1e-12", "0.647008125925"),
    (1000, "50", "1e-6", "2.92160059043"),
    (1000, "50", "1e-15", "5.01470938637"),
    (1000, "50", "1e-18", "5.54353318216"),
    (1000, "50", "1e-100", "13.5490443006"),
    (1, "1", "1e-15", "8.1655796955"),
    (1, "1", "1e-30", "11.7438830252"),
    (1, "1", "1e-100", "21.6275080936"),
    (1, "1", "1e-300", "37.4488479121"),
    (1, "1", "0.3", "0.276617398897"),
    (1, "1", "0.4", "0.0"),
    (1, "1000", "1e-3", "0.0"),
    (1, "0.01", "1e-5", "5425.50984615"),
    (1000000, "1000", "1e-9", "6.17393504667"),
]


@pytest.mark.parametrize(("times", "sigma", "delta", "epsilon"), GAUSSIAN)
def test_gaussian_noise_costs_what_the_analytic_curve_says(
    times: int, sigma: str, delta: str, epsilon: str
) -> None:
    found = account(events.Repeated(events.Gaussian(sigma=sigma), times))
    assert_between(found.epsilon(delta), epsilon)
    if Fraction(epsilon):
        mu = mp.sqrt(times) / mp.mpf(sigma)
        truth = gaussian_delta(mu, mp.mpf(epsilon))
        assert truth <= number(found.delta(epsilon=epsilon)) <= truth * (1 + mp.mpf(10) ** -12)


@pytest.mark.parametrize(
    ("mu", "epsilon", "delta"),
    [("1", "0", "0.382924922548"), ("1", "1", "0.126936737507"), ("40", "800", "0.490032664812")],
)
def test_the_delta_of_gaussian_noise(mu: str, epsilon: str, delta: str) -> None:
    found = account(events.Gaussian(sigma=1, sensitivity=mu))
    assert_between(found.delta(epsilon=epsilon), delta)
    assert abs(found.epsilon(found.delta(epsilon=epsilon)) - Fraction(epsilon)) <= Fraction(epsilon) / 10**9


@pytest.mark.parametrize(
    ("epsilon", "times", "delta", "total"),
    [
        ("0.1", 100, "1e-6", "4.77456758811"),
        ("0.01", 1000, "1e-6", "1.36544670999"),
        ("1", 10, "1e-6", "9.99997706582"),
        ("0.5", 2, "1e-5", "0.999974190259"),
    ],
)
def test_any_pure_mechanism_costs_what_optimal_composition_says(
    epsilon: str, times: int, delta: str, total: str
) -> None:
    found = account(events.Repeated(events.PureDP(epsilon=epsilon), times))
    assert_between(found.epsilon(delta), total)
    assert_between(found.delta(epsilon=total), delta, above=Fraction(1001, 1000))


def test_pure_events_add_up_exactly_at_delta_zero() -> None:
    assert account([events.Laplace(scale=10)] * 10).epsilon() == 1
    assert account([events.PureDP(epsilon="1/3")] * 3).epsilon(0) == 1


@pytest.mark.parametrize(
    ("epsilon", "times", "low", "high"),
    [("0.1", 100, "4.69244", "4.69267"), ("0.01", 1000, "1.36267", "1.36293")],
)
def test_laplace_noise_costs_a_little_less_than_any_pure_mechanism(
    epsilon: str, times: int, low: str, high: str
) -> None:
    event = events.Laplace(scale=1, sensitivity=epsilon)
    found = account(events.Repeated(event, times)).epsilon("1e-6")
    assert Fraction(low) <= found <= Fraction(high) * TIGHT


@pytest.mark.parametrize(
    ("epsilon", "times", "total"),
    [("0.00345", 10000, "1.50284873247"), ("0.01234", 1000, "1.71608979884")],
)
def test_discrete_laplace_noise(epsilon: str, times: int, total: str) -> None:
    event = events.DiscreteLaplace(scale=1 / Fraction(epsilon))
    found = account(events.Repeated(event, times))
    assert_between(found.epsilon("1e-6"), total)
    assert_between(found.delta(epsilon=total), "1e-6")


def test_discrete_gaussian_noise_by_the_lattice_and_by_the_continuous_one() -> None:
    by_lattice = account(events.Repeated(events.DiscreteGaussian(sigma=100), 10000)).epsilon("1e-6")
    assert Fraction("4.88655") <= by_lattice <= Fraction("4.8870") * TIGHT
    two = events.DiscreteGaussian(sigma=100, coordinates=2)
    by_smoothing = account(events.Repeated(two, 10000)).epsilon("1e-6")
    assert Fraction("4.88655") <= by_smoothing <= Fraction("4.8874") * (1 + Fraction(1, 10**5))


@pytest.mark.parametrize(
    ("rho", "delta", "simple", "optimal", "gaussian"),
    [
        ("0.1", "1e-6", "2.450788", "2.141938928", "1.994526901"),
        ("0.5", "1e-5", "5.298526", "4.728386985", "4.377178096"),
        ("0.005", "1e-6", "0.530652", "0.429941469", "0.396857378"),
    ],
)
def test_a_concentrated_promise_is_converted_optimally_and_never_as_if_gaussian(
    rho: str, delta: str, simple: str, optimal: str, gaussian: str
) -> None:
    found = account(events.ZeroConcentratedDP(rho=rho)).epsilon(delta)
    assert_between(found, optimal)
    assert Fraction(gaussian) < found < Fraction(simple)


@pytest.mark.parametrize(
    ("rate", "sigma", "steps", "delta", "epsilon", "unit"),
    [
        ("0.01", 4, 10000, "1e-5", "0.946869", "1e-6"),
        ("256/60000", "1.1", 14062, "1e-5", "2.381598", "1e-6"),
        ("0.2", 3, 50, "1/48000", "1.9608", "1e-4"),
        ("0.2", 1, 10, "1e-5", "4.9842", "1e-4"),
    ],
)
def test_gaussian_noise_on_samples(
    rate: str, sigma: Any, steps: int, delta: str, epsilon: str, unit: str
) -> None:
    event = events.Subsampled(events.Gaussian(sigma=sigma), rate)
    found = account(events.Repeated(event, steps))
    printed = Fraction(epsilon)
    assert printed - Fraction(unit) <= found.epsilon(delta) <= printed * TIGHT + Fraction(unit)
    assert found.delta(epsilon=found.epsilon(delta)) <= Fraction(delta) * Fraction(1001, 1000)


def test_gaussian_noise_on_samples_at_a_delta_where_others_say_infinity() -> None:
    event = events.Subsampled(events.Gaussian(sigma=4), "0.00033")
    found = account(events.Repeated(event, 10000)).epsilon("1.13e-18")
    assert 0 < found <= Fraction("0.146")


def test_replacing_one_moves_gaussian_noise_twice_as_far() -> None:
    found = account(events.Gaussian(sigma=1), neighbours="replace one").epsilon("1e-5")
    assert_between(found, "9.99726")
    assert found == account(events.Gaussian(sigma=1, sensitivity=2)).epsilon("1e-5")


@pytest.mark.parametrize(
    ("sigma", "epsilon", "delta"), [("1", "0", "0.39894"), ("3.73063", "1", "0.000010346")]
)
def test_discrete_gaussian_noise_is_not_gaussian(sigma: str, epsilon: str, delta: str) -> None:
    found = account(events.DiscreteGaussian(sigma=sigma)).delta(epsilon=epsilon)
    assert abs(found / Fraction(delta) - 1) < Fraction(1, 10**4)
    assert found > account(events.Gaussian(sigma=sigma)).delta(epsilon=epsilon)


def test_epsilon_never_falls_as_delta_falls() -> None:
    spent: list[events.Event] = [
        events.Laplace(scale=2),
        events.Gaussian(sigma=1),
        events.PureDP(epsilon="0.3"),
    ]
    found = [
        account(spent).epsilon(f"1e-{digits}") for digits in (3, 6, 9, 12, 15, 18, 30, 60, 100, 200, 300)
    ]
    assert found == sorted(found)
    assert found[-1] < 40


def test_five_hundred_mixed_mechanisms() -> None:
    found = account(five_hundred()).epsilon("1e-6")
    assert Fraction("2.8026") <= found <= Fraction("2.8027") * TIGHT


def test_what_costs_nothing_costs_nothing() -> None:
    nothing: list[events.Event] = [
        events.Composed([]),
        events.Repeated(events.Gaussian(sigma=1), 0),
        events.Subsampled(events.Laplace(scale=1), 0),
        events.Gaussian(sigma=1, sensitivity=0),
        events.DiscreteGaussian(sigma=1, sensitivity=0),
        events.Laplace(scale=1, sensitivity=0),
        events.PureDP(epsilon=0),
        events.Selection(delta=0),
        events.ZeroConcentratedDP(rho=0),
        events.RandomizedResponse(epsilon=0),
        events.Exponential(epsilon=0),
    ]
    assert account(nothing).epsilon() == 0
    assert account(nothing).delta(epsilon=0) == 0
    assert account([]).epsilon() == 0


def test_sampling_everybody_is_no_sampling() -> None:
    event = events.Gaussian(sigma=2)
    assert account(events.Subsampled(event, 1)).epsilon("1e-6") == account(event).epsilon("1e-6")


def test_a_sample_of_a_sample_is_one_sample() -> None:
    event = events.Gaussian(sigma=2)
    twice = account(events.Subsampled(events.Subsampled(event, "0.1"), "0.2"))
    once = account(events.Subsampled(event, "0.02"))
    assert twice.leaves == once.leaves


@pytest.mark.parametrize(
    ("spent", "delta"),
    [
        ([events.Gaussian(sigma=100)], 0),
        ([events.ZeroConcentratedDP(rho=1)], 0),
        ([events.Subsampled(events.Gaussian(sigma=100), "0.1")], 0),
        ([events.Laplace(scale=1), events.Selection(delta="1e-8")], "1e-9"),
        ([events.Subsampled(events.ApproxDP(epsilon=1, delta="1e-6"), "0.1")] * 5, "1e-7"),
    ],
    ids=str,
)
def test_an_infinite_epsilon_is_said_in_words(spent: list[events.Event], delta: Any) -> None:
    with pytest.raises(ParameterError, match=r"^delta .*epsilon is infinite"):
        account(spent).epsilon(delta)


@pytest.mark.parametrize("delta", [None, True, "abc", float("nan"), 1, -1, [1]])
def test_a_delta_that_is_none_is_refused_by_name(delta: Any) -> None:
    with pytest.raises(ParameterError, match="delta"):
        account(events.PureDP(epsilon=1)).epsilon(delta)


@pytest.mark.parametrize("epsilon", [None, True, "abc", float("inf"), -1])
def test_an_epsilon_that_is_none_is_refused_by_name(epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        account(events.Gaussian(sigma=1)).delta(epsilon=epsilon)


@pytest.mark.parametrize("given", [None, 3, "gaussian", [1], [events.Gaussian], {"event": "gaussian"}])
def test_what_is_no_event_is_refused(given: Any) -> None:
    with pytest.raises(ParameterError, match="event"):
        account(given)


@pytest.mark.parametrize("neighbours", ["other", None, 3])
def test_an_unknown_relation_is_refused(neighbours: Any) -> None:
    with pytest.raises(ParameterError, match="neighbours"):
        account([], neighbours=neighbours)


def test_sampling_does_not_go_with_replacing_one() -> None:
    with pytest.raises(ParameterError, match="sampling"):
        account(events.Subsampled(events.Gaussian(sigma=1), "0.1"), neighbours="replace one")


def test_the_answer_is_exact_and_rounds_up() -> None:
    found = account(events.Gaussian(sigma=1)).epsilon("1e-5")
    assert isinstance(found, Fraction)
    assert Fraction(float(found)) >= found
    assert Fraction(str(found)) >= found
