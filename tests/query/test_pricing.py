"""Prices against the theorems written out in mpmath, and what must never be cheaper."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import mpmath
import pytest

from deniable import events
from deniable.errors import ParameterError
from deniable.exact import exact
from deniable.guarantees import ApproxDP, PureDP
from deniable.query.measures import Contributions, Count, Measure, Total, Units
from deniable.query.pricing import Price, price

mpmath.mp.prec = 200
FULL = 1 << 20
MEASURES: tuple[Measure, ...] = (
    Units(),
    Count(None, 2),
    Total("spend", 2, Fraction(1, 1 << 10), 0, 0, 102_400),
)


def priced(
    norm: Literal["l1", "l2"],
    *,
    over: Literal["weight", "drop"] = "drop",
    max_groups: int = 1,
    measures: tuple[Measure, ...] = MEASURES,
    epsilon: str = "1",
    delta: str = "1e-8",
    unknown: bool = True,
    coverage: bool = False,
) -> Price:
    one = 1 if (norm, over) == ("l1", "drop") else FULL
    return price(
        measures,
        Contributions(over, norm, max_groups, 100, one),
        epsilon=exact(epsilon, "epsilon"),
        delta=exact(delta, "delta"),
        unknown=unknown,
        coverage=coverage,
    )


def gaussian_delta(mu: mpmath.mpf, epsilon: mpmath.mpf) -> mpmath.mpf:
    """Balle and Wang 2018, Theorem 8."""
    left = mpmath.ncdf(mu / 2 - epsilon / mu)
    return left - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize("over", ["weight", "drop"])
@pytest.mark.parametrize("coverage", [True, False])
def test_laplace_columns_cost_epsilon_exactly(over: Literal["weight", "drop"], coverage: bool) -> None:
    made = priced("l1", over=over, max_groups=3, coverage=coverage, epsilon="ln 3")
    spent = Fraction(0)
    for event in made.events[:-1]:
        assert isinstance(event, events.DiscreteLaplace)
        spent += event.sensitivity / event.scale
    assert spent == exact("ln 3", "epsilon")
    assert len(made.events) == 4 + coverage


def test_each_column_is_priced_with_its_whole_bound() -> None:
    made = priced("l1", over="drop", max_groups=3)
    sensitivities = [
        event.sensitivity for event in made.events[:-1] if isinstance(event, events.DiscreteLaplace)
    ]
    assert sensitivities == [3, 3 * 2, 3 * 2 * 102_400]
    heavy = priced("l2", over="weight", max_groups=4)
    moves = [event.sensitivity for event in heavy.events[:-1] if isinstance(event, events.DiscreteGaussian)]
    assert moves == [2 * FULL, 2 * 2 * FULL, 2 * 2 * 102_400 * FULL]
    assert all(
        event.coordinates == 100 for event in heavy.events if isinstance(event, events.DiscreteGaussian)
    )


@pytest.mark.parametrize("epsilon", ["0.1", "1", "8"])
@pytest.mark.parametrize("unknown", [True, False])
def test_gaussian_columns_are_one_gaussian_within_the_budget_and_no_more_noisy(
    epsilon: str, unknown: bool
) -> None:
    made = priced("l2", over="weight", max_groups=3, epsilon=epsilon, unknown=unknown, coverage=True)
    noise = [event for event in made.events if isinstance(event, events.DiscreteGaussian)]
    mu = mpmath.sqrt(
        sum(
            (mpmath.mpf(e.sensitivity.numerator) / (e.sigma.numerator / mpmath.mpf(e.sigma.denominator))) ** 2
            for e in noise
        )
    )
    limit = mpmath.mpf("1e-8") / (2 if unknown else 1)
    spent = gaussian_delta(mu, mpmath.mpf(epsilon))
    assert limit * mpmath.mpf("0.9999") < spent < limit * (1 + mpmath.mpf("1e-7"))


def test_the_two_parts_of_delta_join_to_no_more_than_was_asked() -> None:
    made = priced("l2", delta="0.1", epsilon="0.5")
    assert made.threshold is not None
    noise = [event for event in made.events if isinstance(event, events.DiscreteGaussian)]
    mu = mpmath.sqrt(sum((float(e.sensitivity) / float(e.sigma)) ** 2 for e in noise))
    lost = 1 - (1 - gaussian_delta(mu, mpmath.mpf("0.5"))) * (1 - mpmath.mpf(float(made.threshold.delta)))
    assert float(lost) <= 0.1
    assert float(lost) > 0.0999


def test_the_histogram_of_groups_gets_two_percent() -> None:
    laplace = priced("l1", coverage=True)
    assert isinstance(laplace.coverage, events.DiscreteLaplace)
    assert laplace.coverage.sensitivity / laplace.coverage.scale == Fraction(1, 50)
    gaussian = priced("l2", coverage=True)
    squares = [
        (event.sensitivity / event.sigma) ** 2
        for event in gaussian.events
        if isinstance(event, events.DiscreteGaussian)
    ]
    assert float(squares[-1] / sum(squares)) == pytest.approx(0.02, rel=1e-6)
    assert float(squares[0] / sum(squares)) == pytest.approx(0.98 / 3, rel=1e-6)


def test_gaussian_columns_lie_on_a_grid_of_at_least_two_to_the_sixteen() -> None:
    made = priced("l2", epsilon="10", max_groups=1)
    for event in made.events:
        if isinstance(event, events.DiscreteGaussian):
            assert event.sigma >= 1 << 16
            assert event.sigma.denominator == 1


def test_laplace_noise_leaves_delta_to_the_threshold() -> None:
    made = priced("l1", measures=(Units(),), delta="1e-6")
    assert made.threshold is not None
    assert made.threshold.least == 15
    assert made.people == 15
    assert made.guarantee == ApproxDP(epsilon=1, delta="1e-6")
    assert made.events[-1] == events.Selection(delta=made.threshold.delta)


def test_laplace_noise_without_a_threshold_is_pure() -> None:
    assert priced("l1", unknown=False).guarantee == PureDP(epsilon=1)
    assert priced("l2", unknown=False).guarantee == ApproxDP(epsilon=1, delta="1e-8")


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_more_noise_than_64_bits_hold_names_epsilon(norm: Literal["l1", "l2"]) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        priced(norm, over="weight", max_groups=100, epsilon="1e-12", unknown=False)


@pytest.mark.parametrize("epsilon", ["5e-324", "1e-320", "1e-12", "710", "1e4"])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_an_extreme_epsilon_is_right_or_refused_by_name(epsilon: str, norm: Literal["l1", "l2"]) -> None:
    try:
        made = priced(norm, epsilon=epsilon, measures=(Units(),))
    except ParameterError as error:
        assert error.argument in ("epsilon", "delta")  # noqa: PT017
        assert exact(epsilon, "epsilon") < Fraction(1, 10**6)
    else:
        assert made.guarantee.epsilon == exact(epsilon, "epsilon")


def test_gaussian_noise_without_delta_is_refused() -> None:
    with pytest.raises(ParameterError, match="delta"):
        priced("l2", delta="0", unknown=False)
