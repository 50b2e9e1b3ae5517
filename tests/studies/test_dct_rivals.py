"""What the study compares, measured and expected: against closed forms, published tables and audits."""

from __future__ import annotations

from math import exp, log, sqrt
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.local.mean.limits import limit
from deniable.studies.dct import adult, analysis, measures, rivals, samples, tables
from deniable.studies.dct.parametrisations import DUCHI, PIECEWISE, SCALED
from deniable.studies.dct.privacy import bounds

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult.data"
GAUSS = ["GAUSS", 4000, 5, None, ""]
WISDM = ["WISDM", 1500, 5, None, ""]


def closed(name: str, epsilon: float, v: float) -> float:
    """The variance at v, from the papers."""
    root, power = exp(epsilon / 2), exp(epsilon)
    pm = v * v / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
    duchi = ((power + 1) / (power - 1)) ** 2 - v * v
    share = 1 - 1 / root if epsilon > 0.61 else 0
    forms = {"PM": pm, "Duchi": duchi, "HM": share * pm + (1 - share) * duchi, "Laplace": 8 / epsilon**2}
    return forms[name]


@pytest.mark.parametrize("name", ["PM", "Duchi", "HM", "Laplace"])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "4"])
def test_variances_match_the_closed_forms_of_the_papers(name: str, epsilon: str) -> None:
    values = np.array([-1.0, -0.4, 0.0, 0.3, 1.0])
    expected = float(np.mean([closed(name, float(epsilon), float(v)) for v in values]))
    assert rivals.variance(name, epsilon, values) == pytest.approx(expected, rel=0.01)
    one = np.array([0.3])
    assert rivals.variance(name, epsilon, one) == pytest.approx(closed(name, float(epsilon), 0.3), rel=0.01)


def test_the_average_variance_is_that_of_the_single_values() -> None:
    values = np.array([-0.93, -0.2, 0.11, 0.5])
    for name in rivals.PRIVATE:
        mean = rivals.private(name, "1")
        each = [float(mean.error().variance_at(float(value))) for value in values]
        assert rivals.variance(name, "1", values) == pytest.approx(float(np.mean(each)), rel=1e-5)


@pytest.mark.parametrize("name", [*rivals.PRIVATE, SCALED.name])
def test_reports_vary_as_expected_and_are_unbiased(name: str) -> None:
    values = np.full(40_000, 0.3)
    bits = dn.SeededBits(6, insecure=True)
    runs = [rivals.estimate(name, "1", values, bits) for _ in range(60)]
    variance = rivals.variance(name, "1", values) / len(values)
    assert float(np.mean(runs)) == pytest.approx(0.3, abs=6.2 * sqrt(variance / 60))
    share = float(np.mean((np.array(runs) - 0.3) ** 2)) / variance
    assert share == pytest.approx(1, abs=6.2 * sqrt(2 / 60))


def test_a_measured_error_is_within_its_tolerance_and_not_within_that_of_twice_the_noise() -> None:
    found = measures.mean_error("PM", "1", GAUSS, 100, 3)
    assert found["inside"]
    assert abs(2 * found["measured"] - found["expected"]) > found["tolerance"]


def test_the_best_gain_over_pm_that_privacy_permits() -> None:
    """Published with the study: 1.06, 1.03, 1.06, 1.21 at epsilon 0.5, 1, 2, 4."""
    for epsilon, gain in (("0.5", 1.06), ("1", 1.03), ("2", 1.06), ("4", 1.21)):
        assert bounds(epsilon, 1)["gain"] == pytest.approx(gain, abs=0.011)


def test_the_table_of_limits_is_what_is_proved_rounded_down() -> None:
    for epsilon, lower in analysis.LIMITS:
        assert lower <= limit(str(epsilon)).lower <= lower * (1 + 2e-5)


def test_the_repair_is_near_the_limit_everywhere() -> None:
    """Published: 21.06, 5.07, 1.092, 0.162 at epsilon 0.5, 1, 2, 4; 1.26 to 1.32 times the limit."""
    for epsilon, worst in (("0.5", 21.06), ("1", 5.07), ("2", 1.092), ("4", 0.162)):
        assert rivals.worst("repair", epsilon) == pytest.approx(worst, rel=0.002)
        assert 1.25 < rivals.worst("repair", epsilon) / analysis.limit(float(epsilon)) < 1.33


def test_an_audit_can_certify_about_ten_at_most() -> None:
    """100,000 reports a side, a tenth for the pilot, 95 %: 10.10 where supports do not meet, 8.13 for
    the reading with the range of PM at epsilon 0.5."""
    rest = 90_000
    most = log(0.025 ** (1 / rest) / (1 - 0.025 ** (1 / rest)))
    assert most == pytest.approx(10.10, abs=0.005)
    apart = measures.audit(SCALED.name, "1", 100_000, 1)
    assert most - 0.02 < apart["bound"] <= most
    near = measures.audit(PIECEWISE.name, "0.5", 100_000, 1)
    assert near["bound"] == pytest.approx(8.13, abs=0.1)
    for found in (apart, near):
        assert found["refuted"]
        assert found["exact"] == "violated"


@pytest.mark.parametrize("name", rivals.PRIVATE)
def test_an_audit_does_not_refute_what_keeps_its_promise(name: str) -> None:
    found = measures.audit(name, "1", 4000, 2)
    assert not found["refuted"]
    assert found["exact"] == ("not finite" if name == "Laplace" else "proved")
    assert found["bound"] < 1.2


@pytest.mark.skipif(not DATA.exists(), reason="the UCI Adult extract is not in ../shared/data")
def test_errors_on_adult_ages_are_measured_as_they_were_published() -> None:
    """Expected at epsilon 1: PM 0.00901, Duchi 0.00925, the third reading 0.00098; 20 runs."""
    data = ["ADULT age", 0, 0, str(DATA), ""]
    for name, expected in (("PM", 0.00901), ("Duchi", 0.00925), (SCALED.name, 0.00098)):
        found = measures.mean_error(name, "1", data, 20, 9)
        assert found["expected"] == pytest.approx(expected, rel=0.01)
        assert found["inside"]
    assert len(samples.ages(adult.read(DATA)).values) == 32_561


def test_learners_are_ranked_by_what_they_may_see() -> None:
    free, clipped = (
        measures.errors_of_regression(name, "none", WISDM, "1e-4", 5, 2, 0, 1)["mean"]
        for name in ("least squares", "clipped")
    )
    average = measures.errors_of_regression("mean", "none", WISDM, "1e-4", 5, 2, 0, 1)["mean"]
    assert free < clipped < average


@pytest.mark.parametrize("name", [*measures.LEARNERS, "statistics", SCALED.name, DUCHI.name])
def test_every_learner_trains(name: str) -> None:
    data = ["WISDM", 300, 5, None, ""]
    found = measures.errors_of_regression(name, "4", data, "1e-4", 5, 1, 3, 1)
    assert found["repeat"] == 3
    assert 0 < found["mean"] < 2
    assert len(found["errors"]) == 1


def test_an_enormous_lambda_leaves_weights_near_zero() -> None:
    table = tables.stand_in("WISDM", 1000, 1)
    bits = dn.SeededBits(1, insecure=True)
    weights = measures.fitted("PrivUnit", "4", table.features, table.target, "10", bits)
    freely = measures.fitted("PrivUnit", "4", table.features, table.target, "1e-4", bits)
    assert float(np.abs(weights).max()) < 0.5 * float(np.abs(freely).max())


def test_sampled_entries_of_the_specimen_are_unbiased() -> None:
    rows = np.tile(np.array([[0.5, -0.25, 0.0, 1.0]]), (50_000, 1))
    part = SCALED.specimen(4)
    found = measures._sampled(rows, part, 2, dn.SeededBits(2, insecure=True))
    assert ((found != 0).sum(axis=1) <= 2).all()
    assert found.mean(axis=0) == pytest.approx(rows[0], abs=0.05)


def test_groups_of_one_are_trained_too() -> None:
    found = measures.batches("PrivUnit", "4", ["WISDM", 200, 5, None, ""], 1, 2, 1)
    assert len(found["errors"]) == 2
