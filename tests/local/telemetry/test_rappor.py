"""RAPPOR: its two prices, bits that flip both ways, and candidates decoded within the stated error."""

from __future__ import annotations

import math
import os
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.bits import SeededBits
from deniable.brackets import exponential
from deniable.errors import ParameterError, ReportError
from deniable.local import Reports
from deniable.local.telemetry import RAPPOR
from deniable.local.telemetry.decoding import Regression
from deniable.local.telemetry.texts import bloom, octets

ALPHA = 1e-9
ZIPF = 1 / np.arange(1, 101)
ZIPF /= ZIPF.sum()
NAMES = [f"site{number}" for number in range(100)]


def seeded(seed: int) -> SeededBits:
    return SeededBits(seed, insecure=True)


def test_both_prices_are_the_published_ones() -> None:
    """f = 1/2, p = 1/2, q = 3/4, two hashes: 4 ln 3 for ever, 2 ln(q*(1 - p*) / (p*(1 - q*))) once."""
    found = RAPPOR(epsilon="4 ln 3")
    assert found.kept / 2**32 == pytest.approx(0.75, abs=1e-9)
    f, p, q = 0.5, 0.5, 0.75
    one, zero = f / 2 * (p + q) + (1 - f) * q, f / 2 * (p + q) + (1 - f) * p
    assert [float(rate) for rate in found.rates] == pytest.approx([zero, one], abs=1e-9)
    assert float(found.event.epsilon) == pytest.approx(2 * math.log(one * (1 - zero) / (zero * (1 - one))))
    assert found.permanent.epsilon == found.epsilon
    assert found.parameters.epsilon == found.event.epsilon


@pytest.mark.parametrize("hashes", [1, 2])
def test_the_permanent_answer_keeps_epsilon_by_enumeration(hashes: int) -> None:
    found = RAPPOR(epsilon=2, bits=8, hashes=hashes, cohorts=2)
    first, second = (found.answers(value) for value in found.inputs())
    assert sum(first.values()) == 1
    ratio = max(first[answer] / second[answer] for answer in first)
    assert ratio <= exponential(Fraction(2))[0]
    assert float(ratio) == pytest.approx(math.exp(2), rel=1e-6)


def test_one_report_keeps_its_epsilon_also_with_two_hashes() -> None:
    found = RAPPOR(epsilon=2, bits=8, hashes=2, cohorts=1)
    first, second = (found.probabilities(value) for value in found.inputs())
    ratio = max(first[report] / second[report] for report in first)
    low, high = exponential(found.event.epsilon)
    assert ratio <= high
    assert ratio >= low * Fraction(999_999, 1_000_000)


@pytest.mark.parametrize("filled", [True, False])
def test_permanent_bits_flip_both_ways(filled: bool) -> None:
    """f/2 = 1/4 of the bits flip, from 1 to 0 as from 0 to 1; a published package never flipped a 1."""
    found = RAPPOR(epsilon="2 ln 3", hashes=1, bits=8, cohorts=1, coins=(0, 1))
    own = bloom(b"blue", 0, 1, 8)[0]
    payload = found.randomize(["blue"] * 40_000, bits=seeded(1)).payload[:, 2]
    places = [own] if filled else [place for place in range(8) if place != own]
    flipped = np.mean([(payload >> place & 1) != filled for place in places])
    many = 40_000 * len(places)
    assert abs(flipped - 0.25) < 6.2 * math.sqrt(0.25 * 0.75 / many)


def test_reports_have_the_rates_of_the_two_coins() -> None:
    found = RAPPOR(epsilon=2, hashes=2, bits=32, cohorts=3)
    reports = found.randomize(["blue"] * 30_000, bits=seeded(2))
    totals = found.aggregate(reports).totals
    for cohort in range(3):
        own = set(bloom(b"blue", cohort, 2, 32))
        for place in range(32):
            rate = float(found.rates[place in own])
            many = totals[cohort, -1]
            assert abs(totals[cohort, place] - many * rate) < 6.8 * math.sqrt(many * rate * (1 - rate))


def test_a_zipf_population_is_decoded_within_the_stated_error() -> None:
    found = RAPPOR(epsilon=6, bits=128, cohorts=32)
    people = np.random.default_rng(3).choice(100, 60_000, p=ZIPF)
    true = np.bincount(people, minlength=100) / len(people)
    decoded = found.decode(found.randomize([NAMES[one] for one in people], bits=seeded(4)), NAMES)
    value, error = np.asarray(decoded.value), np.asarray(decoded.standard_error)
    apart = (value - true) / error
    assert np.abs(apart).max() < 6.8, "Bonferroni over 100 candidates at ALPHA"
    assert 0.75 < np.sqrt(np.mean(apart**2)) < 1.3, "and not much smaller than stated either"
    assert decoded.found[:2].all()
    assert decoded.found.sum() < 40
    assert (error < 2 * np.sqrt(found.error(NAMES) / len(people))).all()
    assert decoded.other.low <= 0 <= decoded.other.high
    assert "site0" in str(decoded)


def test_texts_that_nobody_named_are_counted_as_other() -> None:
    found = RAPPOR(epsilon=8, bits=64, cohorts=64)
    told = ["blue"] * 20_000 + [f"rare {number}" for number in range(20_000)]
    decoded = found.decode(found.randomize(told, bits=seeded(5)), ["blue", "red", "green"])
    assert abs(float(decoded.other.value) - 0.5) < 6 * float(decoded.other.standard_error)
    assert list(decoded.found) == [True, False, False]
    assert abs(np.asarray(decoded.value)[0] - 0.5) < 6 * np.asarray(decoded.standard_error)[0]


def test_nobody_is_found_where_everybody_says_false() -> None:
    """All answers are FALSE: 400 runs, "true" found in at most what its level allows (5 % / 2, + 5 sigma)."""
    found = RAPPOR(epsilon=4, bits=8, hashes=1, cohorts=8)
    hits = sum(
        bool(found.decode(found.randomize(["false"] * 400, bits=seeded(run)), ["false", "true"]).found[1])
        for run in range(400)
    )
    assert hits <= 10 + 5 * math.sqrt(10)


def test_intervals_hold_for_those_that_happen_to_be_found() -> None:
    """12 texts a little below what is found: in 60 runs, few with a miss (5 % or less, + 5 sigma).

    The intervals of one share alone, 1.96 standard errors, miss in more: only too large shares are found.
    """
    protocol, names, n = RAPPOR(epsilon=4), [f"s{number}" for number in range(20)], 20_000
    many = int(0.8 * n * Regression.of(protocol, names).least(n, 0.05 / 20).min())
    people = [name for name in names[:12] for _ in range(many)]
    people += [f"other text {number}" for number in range(n - len(people))]
    true, missed, alone = np.array([many / n] * 12 + [0] * 8), 0, 0
    for run in range(60):
        decoded = protocol.decode(protocol.randomize(people, bits=seeded(run)), names)
        apart = np.abs(np.asarray(decoded.value) - true)
        missed += bool(np.any(decoded.found & ((true < decoded.low) | (true > decoded.high))))
        alone += bool(np.any(decoded.found & (apart > 1.96 * np.asarray(decoded.standard_error))))
    assert missed <= 3 + 5 * math.sqrt(3) < alone


def test_the_solution_undoes_the_design() -> None:
    found = Regression.of(RAPPOR(epsilon=1, bits=16, cohorts=8), NAMES[:20])
    product = np.einsum("sci,cit->st", found.solution, found.design)
    assert product == pytest.approx(np.eye(21), abs=1e-9)


def test_a_forked_client_tosses_its_own_coins() -> None:
    client = RAPPOR(epsilon=4).client()
    client.report("blue")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, b"".join(client.report("blue") for _ in range(5)))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 1000) != b"".join(client.report("blue") for _ in range(5))


def test_candidates_are_checked() -> None:
    found = RAPPOR(epsilon=1, bits=8, hashes=1, cohorts=2)
    reports = found.randomize(["a"] * 10)
    wrong: list[Any] = [[], ["a", "a"], "ab", [None], NAMES, 7]
    for candidates in wrong:
        with pytest.raises(ParameterError):
            found.decode(reports, candidates)
    one = RAPPOR(epsilon=1, bits=8, hashes=1, cohorts=1)
    same = next(name for name in NAMES if bloom(name.encode(), 0, 1, 8) == bloom(b"a", 0, 1, 8))
    with pytest.raises(ParameterError, match="told apart"):
        one.decode(one.randomize(["a"]), ["a", same])
    with pytest.raises(ParameterError):
        found.decode(found.randomize([]), ["a"])


def test_a_cohort_that_does_not_exist_is_refused() -> None:
    found = RAPPOR(epsilon=1, bits=8, cohorts=2)
    with pytest.raises(ReportError):
        found.aggregate(Reports(found.parameters, np.array([[2, 0, 0]], np.uint8)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"bits": 12}, {"bits": 0}, {"bits": 8.0}, {"bits": True}, {"hashes": 0}, {"hashes": 9},
        {"cohorts": 0}, {"coins": (0.75, 0.5)}, {"coins": (0.5, 0.5)}, {"coins": (0, 1.5)}, {"coins": 3},
        {"coins": ("x", 1)},
    ],
)  # fmt: skip
def test_odd_parameters_of_rappor_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError) as refused:
        RAPPOR(epsilon=1, **wrong)
    assert refused.value.argument == next(iter(wrong))


@pytest.mark.parametrize("epsilon", [800, 10_000])
def test_a_huge_epsilon_tells_nearly_all_and_stays_finite(epsilon: int) -> None:
    found = RAPPOR(epsilon=epsilon, bits=8, hashes=1, cohorts=1, coins=(0, 1))
    assert found.event.epsilon <= epsilon
    assert set(found.randomize(["a"] * 100).payload[:, 2].tolist()) == {1 << bloom(b"a", 0, 1, 8)[0]}


def test_truth_values_and_numbers_are_texts_and_differ() -> None:
    seen = [
        octets(one) for one in (True, "true", False, 1, "1", np.bool_(True), np.int8(1), None, 2.5, 1 << 70)
    ]
    assert seen == [b"true", b"true", b"false", b"1", b"1", b"true", b"1", b"", b"", b""]


def test_texts_in_arrays_must_be_texts() -> None:
    wrong: list[Any] = [[None], [2.5], "text", 7, {"a": 1}]
    for values in wrong:
        with pytest.raises(ParameterError):
            RAPPOR(epsilon=1).randomize(values)
