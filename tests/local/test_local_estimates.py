"""Estimates: totals that merge, mixed epsilon, and explicit steps that say what they did."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import ParameterError, ReportError
from deniable.local import Aggregate, Estimate, Parameters, combine
from deniable.local.estimates import confident


@dataclass(frozen=True)
class Known:
    """A protocol whose estimate is the total over n, with a standard error of 1/n."""

    epsilon: Fraction
    variance: Fraction
    what: str = "mean"

    @property
    def parameters(self) -> Parameters:
        return Parameters("known", self.epsilon)

    @property
    def quantity(self) -> tuple[tuple[str, str], ...]:
        return (("estimates", self.what),)

    @property
    def weight(self) -> Fraction:
        return 1 / self.variance

    def interpret(self, aggregate: Aggregate, confidence: Fraction) -> Estimate:
        value = float(aggregate.totals) / aggregate.n
        error = 1 / aggregate.n
        return Estimate(value, error, value - 2 * error, value + 2 * error, aggregate.n, confidence)


STRICT, LOOSE = Known(Fraction(1, 2), Fraction(9)), Known(Fraction(4), Fraction(1))


def totals(protocol: Known, n: int, total: int) -> Aggregate:
    return Aggregate(protocol, n, np.array(total))


def shares(*values: float) -> Estimate:
    value = np.array(values)
    return Estimate(value, value * 0 + 0.1, value - 0.2, value + 0.2, 100, Fraction("0.95"))


def test_aggregates_add_up_and_others_are_refused() -> None:
    both = totals(STRICT, 10, 3) + totals(STRICT, 30, -1)
    assert (both.n, int(both.totals)) == (40, 2)
    assert both.estimate().value == 2 / 40
    with pytest.raises(ReportError, match="epsilon"):
        totals(STRICT, 10, 3) + totals(LOOSE, 10, 3)


def test_no_reports_give_no_estimate() -> None:
    with pytest.raises(ParameterError, match="no reports"):
        totals(STRICT, 0, 0).estimate()
    with pytest.raises(ParameterError, match="no reports"):
        combine([totals(STRICT, 0, 0)])


@pytest.mark.parametrize("confidence", [0, 1, "1.5", None, "nan", -1])
def test_confidence_lies_between_0_and_1(confidence: object) -> None:
    with pytest.raises(ParameterError):
        confident(confidence)  # type: ignore[arg-type]


def test_reports_of_mixed_epsilon_are_weighted_by_their_worst_variance_or_equally() -> None:
    parts = [totals(STRICT, 10, 5), totals(LOOSE, 10, -5), totals(LOOSE, 0, 0)]
    weighted, equal = combine(parts), combine(parts, weights="population")
    assert weighted.value == pytest.approx((10 / 9 * 0.5 - 10 * 0.5) / (10 / 9 + 10))
    assert equal.value == 0
    assert equal.standard_error == pytest.approx((2 * (0.1 / 2) ** 2) ** 0.5)
    assert (equal.low, equal.high) == pytest.approx((-2 * 0.05 * 2**0.5, 2 * 0.05 * 2**0.5))
    assert any("independently" in note for note in weighted.notes)
    assert not equal.notes
    assert equal.n == 20


def test_only_estimates_of_one_quantity_combine() -> None:
    with pytest.raises(ReportError, match="same thing"):
        combine([totals(STRICT, 1, 1), totals(Known(Fraction(1), Fraction(1), "share"), 1, 1)])
    with pytest.raises(ParameterError, match="weights"):
        combine([totals(STRICT, 1, 1)], weights="best")  # type: ignore[arg-type]


def test_negative_estimates_stay_until_somebody_asks() -> None:
    found = shares(-0.1, 0.4, 0.5)
    step = found.non_negative()
    assert isinstance(step.value, np.ndarray)
    assert step.value.tolist() == [0, 0.4, 0.5]
    assert "set to 0" in step.notes[0]
    assert not found.notes
    one = Estimate(-0.5, 0.1, -0.7, -0.3, 4, Fraction("0.95")).non_negative()
    assert (one.value, one.low, one.high) == (0, 0, 0)


def test_shares_are_shifted_to_sum_to_one() -> None:
    step = shares(-0.1, 0.3, 0.5).sum_to_one()
    assert isinstance(step.value, np.ndarray)
    assert step.value == pytest.approx([0, 0.4, 0.6])
    with pytest.raises(ParameterError, match="single number"):
        Estimate(0.5, 0.1, 0.3, 0.7, 4, Fraction("0.95")).sum_to_one()


def test_the_two_steps_give_the_nearest_shares_in_either_order() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        found = shares(*rng.normal(0.3, 0.3, 5))
        assert isinstance(found.value, np.ndarray)
        orders = found.non_negative().sum_to_one(), found.sum_to_one().non_negative()
        for step in orders:
            assert isinstance(step.value, np.ndarray)
            assert step.value.sum() == pytest.approx(1)
            assert step.value.min() >= 0
            assert len(step.notes) == 2
        nearest = orders[1].value
        others = rng.dirichlet(np.ones(5), 2000)
        distance = ((others - found.value) ** 2).sum(1)
        assert ((nearest - found.value) ** 2).sum() <= distance.min() + 1e-12


def test_intervals_still_hold_their_estimate_after_each_step() -> None:
    step = shares(-0.4, 0.1, 0.2).non_negative().sum_to_one()
    assert np.all(step.low <= step.value)
    assert np.all(step.value <= step.high)


def test_one_report_and_one_estimate_are_not_many() -> None:
    one = np.array([0.5])
    assert str(Estimate(one, one, one, one, 1, Fraction(1, 2))).startswith(
        "1 estimate from 1 report (50 %)\n"
    )
    two = np.array([0.5, 0.5])
    assert str(Estimate(two, two, two, two, 2, Fraction(1, 2))).startswith("2 estimates from 2 reports")


def test_an_estimate_of_many_shows_some_with_their_intervals() -> None:
    few = np.array([[0.5, 0.25]])
    shown = str(Estimate(few, few, few - 0.1, few + 0.1, 3_000, Fraction(19, 20)))
    assert shown.splitlines() == [
        "2 estimates from 3,000 reports (95 %)",
        "  0, 0: 0.5, 0.4 to 0.6",
        "  0, 1: 0.25, 0.15 to 0.35",
    ]
    many = np.zeros(2_000)
    lines = str(Estimate(many, many, many, many, 1, Fraction(19, 20))).splitlines()
    assert len(lines) == 12
    assert lines[-1] == "  and 1,990 more"
