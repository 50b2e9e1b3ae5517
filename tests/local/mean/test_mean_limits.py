"""The limit of mean estimation, and how near the mechanisms come to it, against published numbers."""

from __future__ import annotations

from fractions import Fraction
from math import exp, sinh, tanh
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.local import Mean
from deniable.local.mean import MECHANISMS, large, limit
from deniable.local.mean.limits import certificate, lower
from deniable.local.mean.priors import Prior
from deniable.local.mean.program import Certificate
from deniable.local.mean.shipped import certificate as stored

LIMITS = {
    "0.1": (399.999, 400.002),
    "0.5": (16.0026, 16.0033),
    "1": (3.99060, 3.99090),
    "1.5": (1.69147, 1.69176),
    "2": (0.865425, 0.865590),
    "3": (0.304036, 0.304142),
    "4": (0.127074, 0.127149),
    "5": (0.0573743, 0.0574177),
    "6": (0.0271317, 0.0271624),
    "8": (0.00649171, 0.00650659),
}
UNIFORM = dict(
    zip(LIMITS, (400.0, 16.003, 3.886, 1.564, 0.778, 0.261, 0.1057, 0.0468, 0.0219, 0.00520), strict=True)
)
TIMES = {
    "laplace": (2.00, 2.00, 2.00, 2.10, 2.31, 2.92, 3.93, 5.58, 8.19, 19.3),
    "duchi": (1.002, 1.042, 1.173, 1.466, 1.992, 4.01, 8.47, 17.9, 37.2, 154),
    "piecewise": (1.333, 1.326, 1.309, 1.338, 1.419, 1.621, 1.899, 2.264, 2.710, 3.904),
    "hybrid": (1.002, 1.042, 1.075, 1.119, 1.204, 1.421, 1.723, 2.117, 2.593, 3.836),
}


def value(epsilon: str, mechanism: Any = "optimal", objective: Any = "worst") -> Any:
    return Mean(epsilon=epsilon, bounds=(-1, 1), mechanism=mechanism, objective=objective).error()


@pytest.mark.parametrize("epsilon", LIMITS)
def test_the_limit_is_the_published_one_and_the_best_table_within_half_a_percent(epsilon: str) -> None:
    found, (low, high) = limit(epsilon), LIMITS[epsilon]
    assert 0.9985 * low <= found.lower <= high
    assert low <= found.upper <= 1.005 * found.lower
    assert float(value(epsilon).worst_variance) == pytest.approx(found.upper)
    assert found.times(found.upper) <= 1.005
    assert found.tight


@pytest.mark.parametrize("epsilon", LIMITS)
def test_under_a_uniform_prior_the_average_variance_is_within_a_percent(epsilon: str) -> None:
    found = limit(epsilon, "uniform")
    assert found.upper <= 1.01 * found.lower
    assert found.upper == pytest.approx(float(value(epsilon, objective="uniform").average_variance))
    assert found.lower <= 1.003 * UNIFORM[epsilon]
    assert found.upper <= 1.01 * UNIFORM[epsilon]


@pytest.mark.parametrize("epsilon", ["0.13", "ln 2", "1.2", "1.7", "3.3"])
def test_tables_that_do_not_ship_are_as_good(epsilon: str) -> None:
    found = limit(epsilon)
    assert found.upper <= 1.0075 * found.lower
    assert found.lower > 1 / sinh(float(found.epsilon) / 2) ** 2


@pytest.mark.parametrize("mechanism", TIMES)
def test_each_mechanism_is_as_many_times_above_the_limit_as_is_known(mechanism: str) -> None:
    for (epsilon, (low, _)), times in zip(LIMITS.items(), TIMES[mechanism], strict=True):
        assert float(value(epsilon, mechanism).worst_variance) / low == pytest.approx(times, rel=6e-3)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_no_mechanism_goes_below_the_limit(mechanism: Any) -> None:
    for epsilon in ("1e-6", "0.01", "0.1", "1", "2", "4", "6"):
        assert float(value(epsilon, mechanism).worst_variance) >= limit(epsilon).lower
    for epsilon in ("0.1", "0.5", "2"):
        assert float(value(epsilon, mechanism).average_variance) >= limit(epsilon, "uniform").lower


def dips(found: Certificate, epsilon: float) -> NDArray[np.float64]:
    """G on a grid of outputs, one term after the other."""
    y = np.concatenate([np.linspace(-6, 6, 40_001) / tanh(epsilon / 2), [-1e4, -50, 50, 1e4]])
    total = np.zeros_like(y)
    for v, w, slope, level in zip(found.inputs, found.weights, found.slopes, found.levels, strict=True):
        for sign in (1, -1):
            height = w / 2 * y**2 - sign * slope / 2 * y - level / 2
            total += np.where(height >= 0, height, exp(epsilon) * height) + 0 * v
    return total


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4", "8"])
@pytest.mark.parametrize("prior", [None, Prior(None)])
def test_what_ships_as_a_proof_of_the_limit_proves_it(epsilon: str, prior: Prior | None) -> None:
    found = stored(Fraction(epsilon), prior)
    assert found is not None
    assert np.all(found.weights >= 0)
    assert found.weights.sum() == pytest.approx(1)
    scale = float(limit(epsilon).lower)
    assert dips(found, float(epsilon)).min() >= -1e-9 * scale
    start = sum(
        level + slope * v - w * v * v
        for v, w, slope, level in zip(found.inputs, found.weights, found.slopes, found.levels, strict=True)
    )
    assert found.bound(float(epsilon)) <= start
    assert found.bound(float(epsilon)) == pytest.approx(start, rel=1e-6)


def test_a_proof_that_claims_too_much_proves_less() -> None:
    found = stored(Fraction(2), None)
    assert found is not None
    greedy = Certificate(found.inputs, found.weights, found.slopes, found.levels + 1e-4)
    assert dips(greedy, 2.0).min() < 0
    assert greedy.bound(2.0) < found.bound(2.0)


def test_a_prior_that_is_given_to_the_bound_is_the_one_that_is_meant() -> None:
    prior = Prior(Fraction(1, 4))
    found = lower(Fraction(1), prior)
    best = float(limit("1", ("gaussian", "0.25")).upper)
    assert found <= best <= 1.01 * found
    assert best == pytest.approx(3.55, abs=0.01)


def test_an_error_ten_times_below_the_piecewise_mechanism_at_one_needs_more_than_epsilon_five() -> None:
    assert limit(5).lower > 0.037


def test_the_bound_grows_with_the_grid() -> None:
    coarse, fine = (certificate(Fraction(2), None, finer=finer).bound(2.0) for finer in (1.0, 3.0))
    assert coarse < fine < 0.86559


def test_small_epsilon_has_a_closed_form_on_both_sides() -> None:
    for epsilon in ("1e-9", "0.001", "0.09"):
        found = limit(epsilon)
        assert found.lower == pytest.approx(1 / sinh(float(epsilon) / 2) ** 2)
        assert found.upper == pytest.approx(1 / tanh(float(epsilon) / 2) ** 2, rel=1e-5)
        assert found.upper <= (1 + float(epsilon) ** 2 / 4 + 1e-5) * found.lower


def test_above_epsilon_eight_the_limit_is_bounded_and_the_best_window_is_near() -> None:
    for epsilon in (8.5, 10, 14):
        found = limit(epsilon)
        assert not found.tight
        assert 1.2 < found.times(found.upper) < 1.5
    assert 2 < limit(21).times(limit(21).upper) < 4


@pytest.mark.parametrize(("epsilon", "share"), [("4", 0.55), ("6", 0.78), ("8", 0.88)])
def test_the_bounds_for_large_epsilon_are_below_the_limit_and_not_far(epsilon: str, share: float) -> None:
    known, e = limit(epsilon).upper, float(epsilon)
    assert share * known < large.certificate(e).bound(e) < known
    assert 0.3 * known < large.flat(e) < known


def test_the_certificate_for_large_epsilon_holds_at_outputs_of_a_grid() -> None:
    found = large.certificate(9.0)
    assert dips(found, 9.0).min() >= -1e-12
    assert found.weights.sum() == pytest.approx(1)
    v = np.linspace(-1, 1, 200_001)

    def least(k: float) -> float:
        heights = ((y - v) ** 2 - k for y in np.linspace(0, 1.5, 51))
        return min(float(np.trapezoid(np.where(h >= 0, h, exp(9.0) * h), v)) for h in heights)

    assert least(large.flat(9.0)) > -1e-6
    assert least(1.01 * large.flat(9.0)) < -1e-3


def test_many_numbers_are_best_sampled_at_about_epsilon_two_each_or_four_under_a_prior() -> None:
    worst = {e: float(e) * (limit(e).upper + 1) for e in ("1.5", "2", "2.2", "2.5", "3")}
    prior = {e: float(e) * (limit(e, "uniform").upper + 1 / 3) for e in ("3", "4", "5")}
    assert min(worst, key=worst.__getitem__) == "2.2"
    assert min(prior, key=prior.__getitem__) == "4"


@pytest.mark.parametrize(
    ("epsilon", "objective"), [(0, "worst"), (601, "worst"), (9, "uniform"), ("0.05", "uniform")]
)
def test_a_limit_that_is_not_known_is_refused(epsilon: Any, objective: Any) -> None:
    with pytest.raises(ParameterError):
        limit(epsilon, objective)
