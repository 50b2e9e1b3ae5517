"""Prices against the theorems written out in mpmath, and what must never be cheaper."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import mpmath
import pytest

from deniable import accounting, events
from deniable.errors import ParameterError
from deniable.exact import exact
from deniable.guarantees import ApproxDP, PureDP
from deniable.noise.laplace import DiscreteLaplace
from deniable.query.measures import Contributions, Count, Measure, Total, Units
from deniable.query.pricing import Price, price
from deniable.selection.thresholds import least_threshold

mpmath.mp.prec = 200
FULL = 1 << 20
SURVEY = [("1", "1e-6", 15), ("1", "1e-10", 24), ("0.1", "1e-6", 133), ("10", "1e-6", 3)]
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
    limit = mpmath.mpf("1e-8") * (mpmath.mpf(3) / 4 if unknown else 1)
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


WIDE: tuple[Measure, ...] = (Units(), *(Total(f"c{i}", 1, Fraction(1), 0, -100, 100) for i in range(24)))


def test_many_laplace_columns_and_their_threshold_are_priced_as_one() -> None:
    made = priced("l1", measures=WIDE, delta="1e-6")
    assert made.composed == "loss distribution"
    assert made.threshold is not None
    noise = made.events[:-1]
    lost = accounting.account(noise).delta(epsilon=1)
    assert 1 - (1 - lost) * (1 - made.threshold.delta) <= Fraction(1, 10**6)
    assert not accounting.within(
        [*scaled(noise, Fraction(999, 1000)), made.events[-1]], epsilon=1, delta="1e-6"
    )


def scaled(noise: Sequence[events.Event], by: Fraction) -> list[events.Event]:
    return [
        events.DiscreteLaplace(scale=by * event.scale, sensitivity=event.sensitivity)
        for event in noise
        if isinstance(event, events.DiscreteLaplace)
    ]


@pytest.mark.parametrize("delta", ["1e-10", "1e-8", "1e-6", "1e-4"])
@pytest.mark.parametrize("columns", [1, 3, 10, 25])
def test_a_plan_is_never_worse_than_adding_epsilons(columns: int, delta: str) -> None:
    made = priced("l1", measures=WIDE[:columns], delta=delta)
    basic = columns  # the scale of the number of units if epsilons are added
    threshold = least_threshold(DiscreteLaplace(basic), [1], delta=exact(delta, "delta"))
    assert made.threshold is not None
    scale = made.measured[0].scale
    assert scale <= basic
    assert scale * made.threshold.least <= basic * threshold.least


def test_with_declared_groups_all_of_delta_serves_the_noise() -> None:
    made = priced("l1", measures=WIDE, unknown=False, delta="1e-6")
    assert made.guarantee == ApproxDP(epsilon=1, delta="1e-6")
    assert made.composed == "loss distribution"
    assert Fraction(1, 5) < made.saved < Fraction(1, 4)
    exactly = priced("l1", measures=WIDE, unknown=False, delta="0")
    assert exactly.guarantee == PureDP(epsilon=1)
    assert exactly.composed == "basic"
    assert exactly.saved == 0
    assert exactly.measured[0].scale == 25


def test_what_a_threshold_leaves_of_delta_goes_to_the_noise() -> None:
    made = priced("l1", measures=WIDE[:12], delta="1e-4")
    assert made.threshold is not None
    spent = accounting.account(made.events[:-1]).delta(epsilon=1)
    left = 1 - (1 - Fraction(1, 10**4)) / (1 - made.threshold.delta)
    assert left * Fraction(97, 100) < spent <= left


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_noise_that_is_not_proved_is_never_returned(
    norm: Literal["l1", "l2"], monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_little(moves: Sequence[int], shares: object, *_: object, **__: object) -> list[events.Event]:
        if norm == "l1":
            return [events.DiscreteLaplace(scale=2 * move, sensitivity=move) for move in moves]
        return [events.DiscreteGaussian(sigma=7 * move, sensitivity=move, coordinates=1) for move in moves]

    monkeypatch.setattr("deniable.query.multiplier.laplace", too_little)
    monkeypatch.setattr("deniable.query.multiplier.gaussian", too_little)
    with pytest.raises(ParameterError, match="could not be proved"):
        priced(norm)


def test_how_columns_are_composed_is_named() -> None:
    assert priced("l1").composed == "basic"
    assert priced("l2").composed == "gaussian"
    assert priced("l1", measures=(Units(),)).composed is None
    assert priced("l1", measures=(Units(),), coverage=True).composed == "basic"


@pytest.mark.parametrize(("epsilon", "delta", "least"), SURVEY)
def test_one_column_has_the_known_thresholds(epsilon: str, delta: str, least: int) -> None:
    made = priced("l1", measures=(Units(),), epsilon=epsilon, delta=delta)
    assert made.people == least


def test_one_gaussian_column_has_about_the_least_threshold() -> None:
    made = priced("l2", measures=(Units(),))
    assert float(made.people or 0) == pytest.approx(30.9, abs=0.05)


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
