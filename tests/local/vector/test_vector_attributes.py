"""Vectors by sampling entries: enumerated, the number of entries by brute force, what is published."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import exp, sqrt
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from deniable.audit import exact
from deniable.audit.verdict import Proved, Violated
from deniable.bits import SeededBits
from deniable.errors import ParameterError, ReportError
from deniable.local import Mean, Reports
from deniable.local.vector import Vector
from deniable.local.vector.attributes import Attributes, _chosen, chosen, largest_square, law_of

ALPHA = 1e-9


def bits(seed: int = 1) -> SeededBits:
    return SeededBits(seed, insecure=True)


def made(epsilon: Any, dimension: int, **words: Any) -> Vector:
    return Vector(epsilon=epsilon, dimension=dimension, norm="linf", **{"mechanism": "sampling", **words})


def vectors(dimension: int) -> list[tuple[float, ...]]:
    return list(product((-1.0, 0.25, 1.0), repeat=dimension))


@pytest.mark.parametrize(
    ("dimension", "words"),
    [
        (3, {"mechanism": "harmony"}),
        (2, {"k": 1, "mean": "optimal"}),
        (3, {"k": 2, "mean": "duchi"}),
        (2, {"k": 2, "mean": "optimal"}),
    ],
)
def test_every_report_keeps_epsilon_exactly_and_no_more_than_a_hair_is_wasted(
    dimension: int, words: dict[str, Any]
) -> None:
    vector = made("1/2", dimension, **words)
    law = {given: dict(vector.probabilities(given)) for given in vectors(dimension)}
    assert all(sum(one.values()) == 1 for one in law.values())
    assert isinstance(exact(law.__getitem__, law, epsilon="1/2"), Proved)
    assert isinstance(exact(law.__getitem__, law, epsilon="0.49"), Violated)


@pytest.mark.parametrize("words", [{"mechanism": "harmony"}, {"k": 2, "mean": "duchi"}, {"k": 1}])
def test_a_decoded_report_is_unbiased_and_has_the_variance_that_is_stated(words: dict[str, Any]) -> None:
    vector = made("1/2", 2, **words)
    for given in ((-1.0, 0.25), (0.0, 1.0)):
        law = vector.probabilities(given)
        payload = np.array(list(law), vector.scheme.dtype)
        decoded = vector.decode(Reports(vector.parameters, payload))
        share = np.array([float(one) for one in law.values()])[:, None]
        mean = (share * decoded).sum(axis=0)
        assert mean == pytest.approx(np.array(given), abs=1e-12)
        variance = (share * decoded**2).sum(axis=0) - mean**2
        assert variance == pytest.approx(vector.error().variance_at(given), rel=1e-9)


def test_the_best_number_of_entries_is_that_of_brute_force() -> None:
    """The worst error on a grid of values, from the mean mechanism's own variance."""
    for epsilon, dimension, mean in (("7", 6, "duchi"), ("12", 4, "duchi"), ("5", 5, "piecewise")):
        cost = {}
        for k in range(1, dimension + 1):
            error = Mean(epsilon=Fraction(epsilon) / k, bounds=(-1, 1), mechanism=mean).error()  # type: ignore[arg-type]
            at = {v: float(error.variance_at(Fraction(v, 20))) + (v / 20) ** 2 for v in range(21)}
            cost[k] = max(dimension / k * square - (v / 20) ** 2 for v, square in at.items())
        assert chosen(Fraction(epsilon), dimension, None, mean).k == min(cost, key=lambda k: cost[k])


def test_at_the_best_number_a_part_is_about_2_2() -> None:
    assert 2.1 < 44 / chosen(Fraction(44), 90, None, "duchi").k < 2.3
    assert chosen(Fraction(44), 90, "wang", "duchi").k == 17
    assert chosen(Fraction(1), 90, "wang", "piecewise").k == 1
    assert chosen(Fraction(1000), 7, "wang", "duchi").k == 7


def test_harmony_is_duchi_after_sampling() -> None:
    scale = (exp(1) + 1) / (exp(1) - 1)
    harmony = made(1, 90, mechanism="harmony")
    assert scale == pytest.approx(2.163953414)
    assert harmony.error().variance_at(np.full(90, 0.5)) == pytest.approx(np.full(90, 90 * scale**2 - 0.25))
    report = harmony.randomize(np.zeros((1, 90)), bits=bits())
    assert np.abs(harmony.decode(report)).max() == pytest.approx(90 * scale)
    assert (harmony.decode(report) != 0).sum() == 1


@pytest.mark.parametrize("mean", ["optimal", "piecewise", "hybrid", "classified"])
def test_no_mean_mechanism_beats_duchi_at_the_worst_vector(mean: str) -> None:
    for epsilon in (Fraction(1), Fraction(3)):
        t = (exp(epsilon) - 1) / (exp(epsilon) + 1)
        assert float(largest_square(law_of(mean, epsilon))) >= 1 / t**2 * (1 - 1e-9)
        assert float(largest_square(law_of("duchi", epsilon))) == pytest.approx(1 / t**2, rel=1e-6)


def test_a_single_entry_of_one_is_the_mean_mechanism() -> None:
    mean, vector = Mean(epsilon=1, bounds=(-1, 1)), made(1, 2, k=2)
    assert isinstance(vector.scheme, Attributes)
    assert vector.scheme.law.worst == Mean(epsilon="1/2", bounds=(-1, 1)).error().worst_variance
    assert made(1, 2, k=1).parameters.table == mean.parameters.table


@pytest.mark.parametrize(("dimension", "k"), [(5, 1), (5, 2), (4, 3), (3, 3)])
def test_every_set_of_entries_is_equally_likely(dimension: int, k: int) -> None:
    n = 30_000
    seen = Counter(map(tuple, _chosen(n, dimension, k, bits()).tolist()))
    sets = list(combinations(range(dimension), k))
    assert set(seen) <= set(sets)
    statistic = sum((seen[one] - n / len(sets)) ** 2 / (n / len(sets)) for one in sets)
    p_value = (
        float(mpmath.gammainc((len(sets) - 1) / 2, statistic / 2, regularized=True)) if len(sets) > 1 else 1
    )
    assert p_value > ALPHA


@pytest.mark.parametrize(("k", "mean"), [(1, "optimal"), (3, "duchi"), (2, "piecewise")])
def test_estimates_are_right_and_intervals_cover(k: int, mean: str) -> None:
    vector, rounds, d = made(3, 30, k=k, mean=mean), 20, 30
    hits, squares = 0, 0.0
    for seed in range(rounds):
        values = np.random.default_rng(seed).uniform(-1, 1, size=(4000, d))
        found = vector.estimate(vector.randomize(values, bits=bits(seed)))
        truth = values.mean(axis=0)
        hits += int(((np.asarray(found.low) <= truth) & (truth <= np.asarray(found.high))).sum())
        squares += float((((found.value - truth) / found.standard_error) ** 2).sum())
    assert binom.cdf(hits, rounds * d, 0.94) > ALPHA
    assert squares < rounds * d + 6.2 * sqrt(2 * rounds * d)
    assert squares > 0.75 * rounds * d


def test_what_nobody_was_asked_about_is_said() -> None:
    vector = made(1, 50, k=1)
    found = vector.estimate(vector.randomize(np.ones((3, 50)), bits=bits()))
    assert any("Nobody was asked" in note for note in found.notes)
    assert np.isfinite(np.asarray(found.low)).all()
    assert (np.asarray(found.low) <= 1).all()
    assert (np.asarray(found.high) >= 1).mean() > 0.9


def test_merged_totals_are_those_of_all_reports_in_any_number_of_dimensions() -> None:
    for dimension in (90, 40_000):
        vector = made(1, dimension, k=2, mean="piecewise")
        reports = vector.randomize(np.full((300, dimension), 0.5), bits=bits())
        whole, parts = (
            vector.aggregate(reports),
            vector.aggregate(reports[:7]) + vector.aggregate(reports[7:]),
        )
        assert np.array_equal(whole.totals, parts.totals)
        assert whole.totals[0].sum() == 600
        decoded = vector.decode(reports[:50]).sum(axis=0)
        sums = vector.aggregate(reports[:50]).totals[1] * vector.scheme.unit * dimension / 2
        assert decoded == pytest.approx(sums, abs=1e-6)


def test_a_report_about_an_entry_that_does_not_exist_is_refused() -> None:
    vector = made(1, 10, k=1, mean="duchi")
    for wrong in ([10, 0], [0, 2]):
        with pytest.raises(ReportError, match="none that a device"):
            vector.aggregate(Reports(vector.parameters, np.array([wrong], np.uint8)))
        with pytest.raises(ReportError, match="none that a device"):
            vector.decode(Reports(vector.parameters, np.array([wrong], np.uint8)))


def test_a_client_sends_one_size_and_clips() -> None:
    vector = made(800, 4, k=4, mean="duchi")
    client = vector.client(bits())
    found = [vector.decode(vector.read(client.report([5, -5, None, 1])))[0] for _ in range(400)]
    assert np.mean(found, axis=0) == pytest.approx(np.array([1, -1, 0, 1]), abs=0.4)
    assert {len(client.report(value)) for value in (None, [1] * 4, "x", [1e308] * 4)} == {9 + 8}


def test_the_default_is_the_best_at_worst() -> None:
    for epsilon in (1, 4, 20):
        auto = Vector(epsilon=epsilon, dimension=20, norm="linf")
        others = [made(epsilon, 20, mechanism=name) for name in ("harmony", "duchi", "sampling")]
        least = min(other.error().mean_squared_error for other in others)
        assert auto.error().mean_squared_error <= least * 1.02
    assert Vector(epsilon=1, dimension=20, norm="linf").scheme.name == "harmony"


@pytest.mark.parametrize("k", [0, 11, -1, True, 2.0, "best", 10**30])
def test_a_number_of_entries_that_is_none_is_refused(k: Any) -> None:
    with pytest.raises(ParameterError, match="k "):
        made(1, 10, k=k)


@pytest.mark.parametrize(
    "words",
    [
        {"mean": "laplace"},
        {"mean": "magic"},
        {"mechanism": "harmony", "k": 1},
        {"mechanism": "duchi", "mean": "piecewise"},
        {"epsilon": "1e-12", "k": 2, "mean": "duchi"},
    ],
)
def test_words_that_do_not_go_together_are_refused(words: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        made(words.pop("epsilon", 1), 100, **words)
