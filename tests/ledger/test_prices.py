"""What events cost under each rule, held against Renyi divergences that are computed here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import pytest

from deniable.errors import ParameterError
from deniable.events import (
    ApproxDP,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
    Repeated,
    Selection,
    Subsampled,
    ZeroConcentratedDP,
)
from deniable.guarantees import Neighbours
from deniable.ledger.filters import Rule
from deniable.ledger.prices import Tariff

ORDERS = [1.001, 1.1, 1.5, 2, 3, 5, 10, 30, 100]


def tariff(counted: Rule, relation: Neighbours = Neighbours.ADD_OR_REMOVE) -> Tariff:
    return Tariff(rule=counted, neighbours=relation, epsilon=Fraction(1), delta=Fraction(1, 10**6))


def rho(event: Event, relation: Neighbours = Neighbours.ADD_OR_REMOVE) -> Fraction:
    return tariff(Rule.CONCENTRATED, relation).charge([event]).rho


def per_order(p: Sequence[float], q: Sequence[float]) -> float:
    """The largest Renyi divergence divided by its order, both ways round, over some orders."""

    def divergence(a: Sequence[float], b: Sequence[float], order: float) -> float:
        logs = [order * math.log(x) + (1 - order) * math.log(y) for x, y in zip(a, b, strict=True)]
        top = max(logs)
        return (top + math.log(sum(math.exp(one - top) for one in logs))) / (order - 1)

    return max(divergence(*pair, order) / order for pair in ((p, q), (q, p)) for order in ORDERS)


def lie_or_truth(epsilon: float) -> tuple[list[float], list[float]]:
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    return [truth, 1 - truth], [1 - truth, truth]


def candidates(utilities: Sequence[float], epsilon: float) -> list[float]:
    odds = [math.exp(epsilon * utility / 2) for utility in utilities]
    return [one / sum(odds) for one in odds]


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 3, 10])
def test_rho_of_a_pure_guarantee_covers_randomised_response(epsilon: float) -> None:
    seen, charged = per_order(*lie_or_truth(epsilon)), float(rho(PureDP(epsilon=epsilon)))
    assert seen <= charged * (1 + 1e-9)
    assert charged == pytest.approx(epsilon**2 / 2)
    assert rho(RandomizedResponse(epsilon=epsilon)) == rho(PureDP(epsilon=epsilon))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 3])
def test_rho_of_the_exponential_mechanism_covers_every_change_of_utilities(epsilon: float) -> None:
    """Utilities move by at most 1 each. A pure mechanism would not be covered by its epsilon**2/8."""
    charged = float(rho(Exponential(epsilon=epsilon)))
    for moved in [(1, -1, -1, -1), (1, 1, -1, -1), (1, -1), (1,) * 9 + (-1,) * 91, (1,) + (-1,) * 999]:
        before = candidates([0.0] * len(moved), epsilon)
        assert per_order(before, candidates(moved, epsilon)) <= charged * (1 + 1e-6)
    assert charged == pytest.approx(epsilon**2 / 8)
    assert per_order(*lie_or_truth(epsilon)) > charged * 1.5


def test_rho_covers_laplace_noise() -> None:
    """Discrete Laplace, summed; the continuous one on a fine grid is the same with a larger scale."""
    for scale, moved in [(1, 1), (0.5, 2), (10, 3), (200, 100)]:
        t = math.exp(-1 / scale)
        span = range(-int(30 * scale) - 30, int(30 * scale) + 30 + moved)
        p = [(1 - t) / (1 + t) * t ** abs(x) for x in span]
        q = [(1 - t) / (1 + t) * t ** abs(x - moved) for x in span]
        for event in (
            DiscreteLaplace(scale=scale, sensitivity=moved),
            Laplace(scale=scale, sensitivity=moved),
        ):
            assert per_order(p, q) <= float(rho(event)) * (1 + 1e-9)


def test_rho_of_discrete_gaussian_noise_is_met_by_integer_moves() -> None:
    for sigma, moved in [(1, 1), (0.5, 1), (3, 2)]:
        weights = {x: math.exp(-(x**2) / (2 * sigma**2)) for x in range(-40, 41)}
        total = sum(weights.values())
        span = [x for x in range(-30, 31) if weights[x] > 1e-200 and weights[x - moved] > 1e-200]
        p, q = [weights[x] / total for x in span], [weights[x - moved] / total for x in span]
        charged = float(rho(DiscreteGaussian(sigma=sigma, sensitivity=moved, coordinates=7)))
        two = math.log(sum(a * a / b for a, b in zip(p, q, strict=True))) / 2
        assert two == pytest.approx(charged, rel=1e-6)
    assert rho(Gaussian(sigma=3, sensitivity=2)) == Fraction(2, 9)


def test_masses_add_beside_the_amount() -> None:
    events: list[Event] = [
        Selection(delta="1e-7"),
        Repeated(ApproxDP(epsilon="0.1", delta="1e-8"), 3),
        Gaussian(sigma=10),
    ]
    charge = tariff(Rule.CONCENTRATED).charge([Composed(events)])
    assert charge.rho == 3 * Fraction(1, 200) + Fraction(1, 200)
    assert charge.delta == Fraction(13, 10**8)
    geometric = tariff(Rule.CONCENTRATED).charge(
        [Selection(delta="1e-7", epsilon=1, rule="truncated-geometric")]
    )
    assert (geometric.rho, geometric.delta) == (Fraction(1, 2), Fraction(1, 10**7))


def test_a_sample_costs_no_more_than_the_whole_and_less_where_its_epsilon_is_known() -> None:
    gaussian = Subsampled(Repeated(Gaussian(sigma=2), 3), "0.01")
    assert rho(gaussian) == rho(Repeated(Gaussian(sigma=2), 3))
    assert tariff(Rule.GAUSSIAN).charge([gaussian]).mu_squared == Fraction(3, 4)
    pure = float(rho(Subsampled(PureDP(epsilon=1), "0.1")))
    assert pure == pytest.approx(math.log(1 + 0.1 * (math.e - 1)) ** 2 / 2, rel=1e-12)
    assert rho(Subsampled(PureDP(epsilon=1), 1)) == Fraction(1, 2)
    assert rho(Subsampled(PureDP(epsilon=1), 0)) == 0
    q, (p_yes, _), (q_yes, _) = 0.1, *lie_or_truth(1)
    mixed = q * p_yes + (1 - q) * q_yes
    assert per_order([mixed, 1 - mixed], [q_yes, 1 - q_yes]) <= pure * (1 + 1e-9)


def test_replacing_a_unit_costs_four_times_the_rho() -> None:
    one = Neighbours.REPLACE_ONE
    for event in (
        PureDP(epsilon=1),
        Laplace(scale=2),
        Exponential(epsilon=1),
        Gaussian(sigma=3),
        DiscreteGaussian(sigma=3),
        ZeroConcentratedDP(rho="0.1"),
    ):
        assert rho(event, one) == 4 * rho(event)
    assert rho(RandomizedResponse(epsilon=1), one) == rho(RandomizedResponse(epsilon=1))
    charge = tariff(Rule.CONCENTRATED, one).charge([ApproxDP(epsilon=1, delta="1e-8")])
    assert charge.rho == 2
    assert float(charge.delta) == pytest.approx((1 + math.e) * 1e-8, rel=1e-12)
    assert tariff(Rule.GAUSSIAN, one).charge([Gaussian(sigma=3)]).mu_squared == Fraction(4, 9)
    with pytest.raises(ParameterError, match="sampling"):
        rho(Subsampled(Gaussian(sigma=3), "0.1"), one)


def test_smoothing_pays_for_what_discrete_noise_differs_from_continuous_noise() -> None:
    """The charge is mu**2 = 1/(sigma**2 - r**2), and its mass covers the distance, computed at 400 bits."""
    sigma = Fraction(40)
    charge = tariff(Rule.GAUSSIAN).charge([DiscreteGaussian(sigma=sigma, coordinates=5)])
    r_squared = sigma**2 - 1 / charge.mu_squared
    assert 1 < r_squared < 10
    exact = (1 + math.e) * 5 * 4 * math.exp(-2 * math.pi**2 * float(r_squared))
    assert exact * (1 - 1e-9) <= float(charge.delta) <= exact * (1 + 1e-6)
    assert charge.delta <= Fraction(1, 10**6) / 2**40
    twice = tariff(Rule.GAUSSIAN).charge([DiscreteGaussian(sigma=sigma, coordinates=5)] * 2)
    assert twice.mu_squared > 2 / sigma**2


def test_under_the_basic_rule_pure_parts_add_up() -> None:
    basic = tariff(Rule.BASIC).charge(
        [Laplace(scale=4), Exponential(epsilon=1), RandomizedResponse(epsilon="0.5"), Selection(delta="1e-9")]
    )
    assert (basic.epsilon, basic.delta) == (Fraction(7, 4), Fraction(1, 10**9))
    for event in (Gaussian(sigma=1), DiscreteGaussian(sigma=1), ZeroConcentratedDP(rho=1)):
        with pytest.raises(ParameterError, match="has no epsilon of its own"):
            tariff(Rule.BASIC).charge([event])
