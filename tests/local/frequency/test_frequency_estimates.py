"""Estimates: intervals with their true coverage, merging, mixed epsilon, explicit steps, memory."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from frequency_oracles import EVERY, made
from scipy.stats import binom

from deniable.bits import SeededBits
from deniable.errors import ParameterError, ReportError
from deniable.local import Reports, combine
from deniable.local.frequency import Frequency
from deniable.local.frequency.intervals import interval


def coverage(n: int, owners: int, true: Fraction, false: Fraction, confidence: str) -> float:
    """How often an interval holds owners/n: the law of the supports is a sum of two binomials."""
    law = np.convolve(
        binom.pmf(np.arange(owners + 1), owners, float(true)),
        binom.pmf(np.arange(n - owners + 1), n - owners, float(false)),
    )
    low, high = interval(np.arange(n + 1), n, true, false, Fraction(confidence))
    share = owners / n
    return float(law[(low <= share + 1e-12) & (share - 1e-12 <= high)].sum())


@pytest.mark.parametrize("confidence", ["0.5", "0.9", "0.95", "0.999"])
@pytest.mark.parametrize(
    ("mechanism", "items", "epsilon"),
    [
        ("response", 2, 0.1), ("response", 2, 1), ("response", 2, 6), ("response", 100, 4),
        ("response", 1000, 2), ("response", 10, 30), ("subset", 100, 1), ("subset", 1000, 6), ("oue", 10, 5),
        ("oue", 10, 12), ("sue", 10, 1), ("hadamard", 10, 3),
    ],
)  # fmt: skip
def test_intervals_hold_the_share_at_least_as_often_as_they_say(
    mechanism: str, items: int, epsilon: float, confidence: str
) -> None:
    one = made(mechanism, items, epsilon)
    for n in (1, 2, 3, 10, 30, 100, 1000, 3000):
        for owners in {0, 1, n // 10, n // 2, n - 1, n}:
            assert coverage(n, owners, one.true, one.false, confidence) >= float(confidence)


@pytest.mark.parametrize(
    ("mechanism", "items", "epsilon"), [("response", 2, 1), ("oue", 100, 1), ("sue", 9, 0.5)]
)
def test_intervals_are_hardly_wider_than_they_must_be(mechanism: str, items: int, epsilon: float) -> None:
    one = made(mechanism, items, epsilon)
    for owners in (0, 300, 1500, 3000):
        assert coverage(3000, owners, one.true, one.false, "0.95") < 0.965


@pytest.mark.parametrize("mechanism", EVERY)
def test_aggregates_of_parts_add_up_to_that_of_the_whole(mechanism: Any) -> None:
    protocol = Frequency(epsilon=1, domain=[f"item {i}" for i in range(30)], mechanism=mechanism)
    values = [f"item {i % 7}" for i in range(5000)]
    reports = protocol.randomize(values, bits=SeededBits(1, insecure=True))
    whole = protocol.aggregate(reports)
    parts = (
        protocol.aggregate(reports[:1])
        + protocol.aggregate(reports[1:3000])
        + protocol.aggregate(reports[3000:])
    )
    assert (parts.n, parts.totals.tolist()) == (whole.n, whole.totals.tolist())
    estimate = whole.estimate()
    assert estimate.value.tolist() == protocol.estimate(reports).value.tolist()  # type: ignore[union-attr]
    assert np.shape(estimate.value) == np.shape(estimate.low) == np.shape(estimate.standard_error) == (30,)
    assert np.all(estimate.low < estimate.value)
    assert np.all(estimate.value < np.asarray(estimate.high))
    for back in (
        Reports.from_bytes(reports.to_bytes(), protocol.parameters, *protocol.form),
        protocol.read(reports.to_bytes()),
        protocol.read(reports.to_json_lines()),
    ):
        assert protocol.aggregate(back).totals.tolist() == whole.totals.tolist()


def test_steps_that_bias_are_taken_one_by_one_and_say_so() -> None:
    protocol = Frequency(epsilon=0.5, domain=range(40), mechanism="sue")
    raw = protocol.estimate(protocol.randomize([0] * 2000, bits=SeededBits(3, insecure=True)))
    assert np.min(raw.value) < 0
    assert raw.notes == ()
    positive = raw.non_negative()
    assert np.min(positive.value) == 0
    assert np.sum(positive.value) > 1
    both = positive.sum_to_one()
    assert np.sum(both.value) == pytest.approx(1)
    assert np.min(both.value) >= 0
    assert len(both.notes) == 2


@pytest.mark.parametrize("mechanism", ["response", "subset"])
def test_sets_of_one_size_give_shares_that_sum_to_one_by_themselves(mechanism: Any) -> None:
    protocol = Frequency(epsilon=0.5, domain=range(11), mechanism=mechanism)
    estimate = protocol.estimate(protocol.randomize(np.arange(2000) % 11))
    assert np.sum(estimate.value) == pytest.approx(1, abs=1e-12)


def test_reports_of_mixed_epsilon_combine() -> None:
    """Half the people (all "a") chose epsilon 4, half (all "b") 1/2: only equal weights see one half each."""
    domain = ["a", "b", "c"]
    strong, weak = Frequency(epsilon=0.5, domain=domain), Frequency(epsilon=4, domain=domain)
    parts = [
        strong.aggregate(strong.randomize(["b"] * 40_000, bits=SeededBits(1, insecure=True))),
        weak.aggregate(weak.randomize(["a"] * 40_000, bits=SeededBits(2, insecure=True))),
    ]
    fair = combine(parts, weights="population")
    assert fair.value == pytest.approx([0.5, 0.5, 0], abs=6 * float(np.max(fair.standard_error)))
    assert fair.notes == ()
    weighted = combine(parts)
    ratio = float(strong.error().total_variance / weak.error().total_variance)
    assert weighted.value == pytest.approx([ratio / (1 + ratio), 1 / (1 + ratio), 0], abs=0.03)
    assert "independently" in weighted.notes[0]
    assert np.max(weighted.standard_error) < np.max(fair.standard_error)


def test_protocols_of_one_domain_combine_and_of_two_do_not() -> None:
    first = Frequency(epsilon=1, domain=["a", "b"], mechanism="response")
    second = Frequency(epsilon=1, domain=["a", "b"], mechanism="oue")
    other = Frequency(epsilon=1, domain=["a", "c"], mechanism="response")
    joined = combine([one.aggregate(one.randomize(["a"] * 100)) for one in (first, second)])
    assert joined.n == 200
    with pytest.raises(ReportError):
        combine([one.aggregate(one.randomize(["a"] * 100)) for one in (first, other)])


def test_errors_are_known_before_any_data() -> None:
    error = Frequency(epsilon="ln 3", domain=["no", "yes"]).error()
    assert float(error.variance_at(0)) == pytest.approx(3 / 4)
    assert error.variance_at("0.5") == error.worst_variance
    assert error.standard_error(300) == pytest.approx(0.05)
    response = Frequency(epsilon=1, domain=range(10), mechanism="response").error()
    assert str(response) == "variance of one report: 3.63025 if nobody has the item to 8.28606; all: 40.9583"
    assert response.worst_variance == response.variance_at(1) > response.variance_at(0)
    assert response.total_variance == response.variance_at(1) + 9 * response.variance_at(0)
    for share in (-1, "1.1", float("nan"), True):
        with pytest.raises(ParameterError):
            response.variance_at(share)
    with pytest.raises(ParameterError):
        response.standard_error(0)


@pytest.mark.parametrize("epsilon", [40, 800, "10000", "1e308"])
@pytest.mark.parametrize("mechanism", ["response", "subset", "projective"])
def test_a_huge_epsilon_gives_the_truth_and_stays_finite(mechanism: Any, epsilon: Any) -> None:
    protocol = Frequency(epsilon=epsilon, domain=range(100), mechanism=mechanism)
    estimate = protocol.estimate(protocol.randomize(np.arange(1000) % 4))
    assert estimate.value[:4] == pytest.approx([0.25] * 4, abs=1e-9)  # type: ignore[index]
    assert all(np.all(np.isfinite(side)) for side in (estimate.low, estimate.high, estimate.standard_error))
    assert protocol.event.epsilon == Fraction(epsilon)


def test_no_reports_give_no_estimate() -> None:
    protocol = Frequency(epsilon=1, domain=range(5))
    with pytest.raises(ParameterError, match="no reports"):
        protocol.estimate(protocol.randomize([]))
    joined = protocol.aggregate(protocol.randomize([])) + protocol.aggregate(protocol.randomize([1]))
    assert joined.estimate().n == 1


def test_the_statement_says_what_is_promised() -> None:
    words = " ".join(Frequency(epsilon=1, domain=["a", "b", "c"], other="c").statement.split())
    assert "3 declared items" in words
    assert 'Any other value counts as the item "c"' in words
    assert "Each report costs this again" in words


@pytest.mark.parametrize("mechanism", ["response", "subset", "projective", "hadamard", "olh", "oue"])
def test_memory_does_not_grow_with_the_number_of_reports(mechanism: str) -> None:
    """Beyond the payload itself, 16 times the reports take at most a little more."""
    one = made(mechanism, 100, 1)
    bits = SeededBits(1, insecure=True)
    peaks = []
    one.supported(one.tally(one.randomize(np.zeros(10, np.int64), bits)))
    for n in (50_000, 800_000):
        own = np.zeros(n, np.int64)
        tracemalloc.start()
        payload = one.randomize(own, bits)
        made_peak = tracemalloc.get_traced_memory()[1] - payload.nbytes
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        one.tally(payload)
        peaks.append(made_peak + tracemalloc.get_traced_memory()[1] - before)
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] + 300_000
