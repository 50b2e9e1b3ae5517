"""1BitMean and dBitFlip: published variances, all-FALSE input, and what a memo can ever say."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from deniable.bits import SeededBits
from deniable.brackets import exponential
from deniable.errors import ParameterError
from deniable.local.telemetry import DBitFlip, Memo, OneBitMean

ALPHA = 1e-9


def seeded(seed: int) -> SeededBits:
    return SeededBits(seed, insecure=True)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("segments", [1, 7, 1024])
def test_the_odds_of_the_bit_are_the_published_line(epsilon: float, segments: int) -> None:
    """P(1 | x) = 1/(e**eps + 1) + x/m (e**eps - 1)/(e**eps + 1)."""
    found, e = OneBitMean(epsilon=epsilon, bounds=(0, 100), segments=segments), math.exp(epsilon)
    for x in (0, 25, 50, 99, 100):
        stated = 1 / (e + 1) + x / 100 * (e - 1) / (e + 1)
        assert float(found.probabilities(x)[1]) == pytest.approx(stated, abs=1e-6)
    ratio = found.probabilities(100)[1] / found.probabilities(0)[1]
    assert ratio <= exponential(Fraction(str(epsilon)))[0]
    assert float(found.error()) == pytest.approx(100**2 * ((e + 1) / (e - 1)) ** 2 / 4, rel=1e-5)


@pytest.mark.parametrize("segments", [1, 4])
def test_rounding_by_a_shift_is_right_on_average(segments: int) -> None:
    found = OneBitMean(epsilon=2, bounds=(0, 1), segments=segments)
    for value in (0.0, 0.1, 0.3, 0.87, 1.0):
        reports = found.randomize(np.full(40_000, value), bits=seeded(int(100 * value)))
        estimate = found.estimate(reports)
        assert abs(float(estimate.value) - value) < 6.2 * float(estimate.standard_error)
        many = [found.client(Memo()).report(value)[9] for _ in range(500)]
        likely = float(found.probabilities(value)[1])
        assert abs(np.mean(many) - likely) < 6.2 * math.sqrt(likely * (1 - likely) / 500)


def test_the_mean_of_all_false_is_zero_within_its_error() -> None:
    found = OneBitMean(epsilon=1, bounds=(0, 1))
    inside = 0
    for run in range(200):
        estimate = found.estimate(found.randomize(np.zeros(500), bits=seeded(run)))
        inside += float(estimate.low) <= 0 <= float(estimate.high)
    assert inside >= 172, "190 are expected; fewer than 172 has probability below 1e-6"


def test_booleans_are_no_numbers_on_a_device() -> None:
    found = OneBitMean(epsilon=30, bounds=(0, 10))
    bits = {found.client().report(True)[9] for _ in range(60)}
    assert bits == {0, 1}, "True is the middle, not 1"
    with pytest.raises(ParameterError):
        found.randomize([True])


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_d_bits_have_the_published_odds_and_variance(bits: int) -> None:
    found, half = DBitFlip(epsilon=2, domain=range(6), bits=bits), math.exp(1)
    law = found.probabilities(3)
    speaks = sum(p for report, p in law.items() if {6, 7} & set(report))
    says = sum(p for report, p in law.items() if 7 in report)
    assert speaks == Fraction(bits, 6)
    assert float(says / speaks) == pytest.approx(half / (half + 1), abs=1e-9)
    assert float(found.error()) == pytest.approx(6 / bits * half / (half - 1) ** 2, rel=1e-6)


def test_d_bits_keep_epsilon_between_all_items() -> None:
    found = DBitFlip(epsilon=1, domain=range(5), bits=3)
    laws = [found.probabilities(item) for item in range(5)]
    ratio = max(a[report] / b[report] for a, b in product(laws, laws) for report in a)
    assert ratio <= exponential(Fraction(1))[0]
    assert float(ratio) == pytest.approx(math.e, rel=1e-6)


def test_all_choices_of_items_are_equally_likely() -> None:
    found, n = DBitFlip(epsilon=1, domain=range(5), bits=2), 40_000
    words = found.randomize([0] * n, bits=seeded(6)).payload >> 1
    counts = np.bincount((words[:, 0] * 5 + words[:, 1]).astype(np.int64), minlength=25)
    assert (counts > 0).sum() == 10
    seen = counts[counts > 0]
    assert ((seen - n / 10) ** 2 / (n / 10)).sum() < 68, "chi-squared, 9 degrees, ALPHA = 4e-11"


def test_shares_are_unbiased_and_nobody_has_the_last_item() -> None:
    found = DBitFlip(epsilon=2, domain=range(8), bits=3)
    people = np.repeat(np.arange(7), [4000, 3000, 2000, 1000, 500, 300, 200])
    estimate = found.estimate(found.randomize(people, bits=seeded(7)))
    true = np.bincount(people, minlength=8) / len(people)
    apart = (np.asarray(estimate.value) - true) / np.asarray(estimate.standard_error)
    assert np.abs(apart).max() < 6.3
    assert found.estimate(found.randomize([0], bits=seeded(8))).n == 1


def test_a_memo_says_at_most_one_answer_more_than_it_has_items() -> None:
    found = DBitFlip(epsilon=1, domain=range(20), bits=3)
    for _ in range(20):
        client = found.client()
        reports = {client.report(item) for item in range(20)}
        assert client.spent.times == 4 == found.most_answers
        assert len(reports) <= 4
        assert client.report(7) in reports


def test_values_outside_are_the_declared_item_or_one_random_item() -> None:
    named = DBitFlip(epsilon=80, domain=["a", "b", "else"], bits=3, other="else")
    for value in (None, "z", 3, math.nan):
        assert [word & 1 for word in named.client().report(value)[9::2]] == [0, 0, 1]
    free = DBitFlip(epsilon=80, domain=["a", "b", "c"], bits=3)
    seen = [tuple(word & 1 for word in free.client().report(None)[9::2]) for _ in range(300)]
    assert {sum(one) for one in seen} == {1}
    assert all(seen.count(one) > 50 for one in set(seen))
    client = free.client()
    assert len({client.report(value) for value in (None, "z", 4.5)}) == 1, "one memo answers alike"


@pytest.mark.parametrize("bits", [0, 5, True, 2.0])
def test_d_must_be_a_number_of_items(bits: int) -> None:
    with pytest.raises(ParameterError):
        DBitFlip(epsilon=1, domain=range(4), bits=bits)
