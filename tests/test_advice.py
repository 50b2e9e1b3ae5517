"""`dn.advise`: its numbers by independent routes, its words, and that plans agree with it."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from math import erfc, exp, log, sqrt
from typing import Any

import pyarrow as pa
import pytest

import deniable as dn
from deniable.advice import Advice
from deniable.errors import ParameterError

MILLION = 1_000_000


def normal_tail(z: float) -> float:
    return erfc(z / sqrt(2)) / 2


def geometric_tail(m: int, scale: float) -> float:
    """P(X >= m), m >= 1, for discrete Laplace noise."""
    q = exp(-1 / scale)
    return q**m / (1 + q)


def laplace_threshold(scale: float, groups: int, delta: float) -> int:
    least = 2
    while any(1 - (1 - geometric_tail(least - 1, scale)) ** t > delta for t in range(1, groups + 1)):
        least += 1
    return least


def test_a_million_people_with_a_tenth_of_one_exposed() -> None:
    advice = dn.advise(population=MILLION, risk=0.1, epsilon="ln 3")
    assert (advice.model, advice.noise, advice.delta) == ("curator", "laplace", Fraction(1, 10**7))
    assert advice.threshold == 16
    assert dn.advise(population=MILLION).threshold == laplace_threshold(1, 1, 1e-7) == 17


@pytest.mark.parametrize("groups", [1, 3, 8])
def test_a_threshold_covers_every_number_of_groups(groups: int) -> None:
    laplace = dn.advise(population=MILLION, max_groups=groups).choices[0]
    assert laplace.threshold == laplace_threshold(groups, groups, 1e-7)


@pytest.mark.parametrize("groups", [1, 4])
def test_a_gaussian_threshold_has_half_of_delta(groups: int) -> None:
    gaussian = dn.advise(population=MILLION, max_groups=groups).choices[1]
    sigma, wanted = float(gaussian.scale), 5e-8
    least = 1.0
    while 1 - (1 - normal_tail((least - 1) / sigma)) ** groups > wanted:
        least += 0.001
    assert gaussian.threshold is not None
    assert 0 <= gaussian.threshold - least < 1.002


@pytest.mark.parametrize(
    ("population", "risk"), [(1, "1e-6"), (7, "0.99"), (123_457, "0.1"), (8 * 10**9, "0.3")]
)
def test_delta_never_exposes_more_people_than_is_accepted(population: int, risk: str) -> None:
    delta = dn.advise(population=population, risk=risk).delta
    assert delta * population <= Fraction(risk)
    assert delta <= Fraction(1, 10**6)
    assert delta >= min(Fraction(1, 10**6), Fraction(risk) / population) * Fraction(9, 10)


def test_laplace_noise_for_one_number_and_gaussian_noise_for_many() -> None:
    noise = [dn.advise(population=MILLION, queries=queries).noise for queries in (1, 5, 20, 1000)]
    assert noise == ["laplace", "laplace", "gaussian", "gaussian"]
    one, many = dn.advise(population=MILLION), dn.advise(population=MILLION, queries=20, max_groups=5)
    assert many.choices[0].scale == 100 * one.choices[0].scale
    assert float(many.choices[1].scale / one.choices[1].scale) == pytest.approx(10, rel=1e-5)
    assert many.columns == 100


def test_errors_are_those_of_the_noise() -> None:
    laplace, gaussian = dn.advise(population=MILLION, keys="public", queries=50).choices
    assert float(laplace.error) == pytest.approx(50 * log(20), abs=1)
    assert float(gaussian.error) == pytest.approx(1.959964 * float(gaussian.scale), rel=1e-3)
    assert float(laplace.expected) == pytest.approx(50)
    assert float(gaussian.expected) == pytest.approx(sqrt(2 / 3.14159265) * float(gaussian.scale), rel=1e-4)


def test_the_local_error_is_that_of_randomised_response() -> None:
    p = exp(1) / (1 + exp(1))
    deviation = sqrt(MILLION * p * (1 - p)) / (2 * p - 1)
    assert float(dn.advise(population=MILLION).local_error) == pytest.approx(1.96 * deviation, rel=1e-6)


def test_named_groups_need_no_delta_and_no_threshold() -> None:
    advice = dn.advise(population=MILLION, keys="public")
    assert (advice.noise, advice.delta, advice.threshold) == ("laplace", Fraction(0), None)
    assert "pure: no delta at all" in str(advice)
    many = dn.advise(population=MILLION, keys="public", queries=100)
    assert (many.noise, many.delta, many.threshold) == ("gaussian", Fraction(1, 10**7), None)


def test_where_nobody_is_trusted_people_randomise_for_themselves() -> None:
    advice = dn.advise(population=MILLION, trusted=False)
    assert (advice.model, advice.noise) == ("local", "randomized response")
    assert (advice.delta, advice.threshold) == (Fraction(0), None)
    assert "nobody is trusted" in advice.why[0]


def test_the_worked_example_shows_that_a_smaller_delta_means_more_noise() -> None:
    rows = dn.advise(population=MILLION).examples
    assert (rows[0].noise, rows[0].low, rows[0].high) == ("laplace", 997, 1003)
    assert rows[0].scale == 1
    assert [row.delta for row in rows[1:]] == [Fraction(1, 10**n) for n in (6, 9, 12)]
    for row, sigma in zip(rows[1:], (4.2248, 5.4948, 6.5578), strict=True):
        assert sigma < float(row.scale) < sigma * 1.002
        assert row.textbook is not None
        assert float(row.textbook) == pytest.approx(sqrt(2 * log(1.25 / float(row.delta))), rel=1e-9)
        assert row.high - 1000 == 1000 - row.low
        assert abs(row.high - 1000 - 1.96 * float(row.scale)) < 1


def test_advice_is_one_screen_of_plain_words() -> None:
    for arguments in ({}, {"queries": 100, "max_groups": 9}, {"keys": "public"}, {"trusted": False}):
        words = str(dn.advise(population=MILLION, **arguments))
        assert max(map(len, words.splitlines())) <= 80
        assert len(words.splitlines()) <= 40
    words = " ".join(str(dn.advise(population=MILLION)).split())
    for part in (
        "0.1 of 1,000,000 people are exposed",
        "A true count of 1,000 at epsilon 1 comes out",
        "laplace delta 0 997 and 1,003 noise 1",
        "gaussian delta 1e-6 992 and 1,008 noise 4.24 (textbook: 5.3)",
        "the more precise one here, 3 against 9.43",
        "published from about 17 people on",
        "at most 2.72-fold",
    ):
        assert part in words


def test_few_people_are_warned_of_the_noise_and_a_large_risk_is_cut() -> None:
    words = " ".join(dn.advise(population=20).why)
    assert "the noise is large for so few people" in words
    assert "Your risk would allow 0.005; 1e-6 or less is usual." in words
    assert "the noise is large" not in " ".join(dn.advise(population=MILLION).why)


def test_the_example_counts_no_more_people_than_there_are() -> None:
    few = dn.advise(population=500)
    assert "A true count of 500 at epsilon 1 comes out" in str(few)
    assert [row.high - 500 for row in few.examples] == [500 - row.low for row in few.examples]
    assert few.to_json()["examples"][0]["count"] == 500


def test_advice_as_json_has_exact_epsilon_and_delta() -> None:
    record = json.loads(json.dumps(dn.advise(population=MILLION, queries=3, epsilon="0.3").to_json()))
    assert (record["epsilon"], record["delta"], record["risk"]) == ("0.3", "1e-7", "0.1")
    assert [choice["noise"] for choice in record["choices"]] == ["laplace", "gaussian"]
    assert record["choices"][0]["scale"] == 10.0
    first = {"noise": "laplace", "delta": "0", "scale": 1.0, "count": 1000, "low": 997, "high": 1003}
    assert record["examples"][0] == {**first, "textbook": None}
    assert record["why"]


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("population", 0),
        ("population", 1.5),
        ("population", True),
        ("risk", 0),
        ("risk", 1),
        ("risk", float("nan")),
        ("queries", 0),
        ("max_groups", 0),
        ("max_groups", 10**9),
        ("epsilon", 0),
        ("epsilon", 1e9),
        ("epsilon", "abc"),
        ("keys", "some"),
        ("trusted", "yes"),
    ],
)
def test_an_argument_out_of_range_is_named(argument: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"^{argument}"):
        dn.advise(**{"population": 1000, argument: value})


@pytest.mark.parametrize("groups", [1, 2, 12])
def test_a_plan_follows_the_advice(groups: int) -> None:
    table = pa.table({"person": ["a", "b"], "colour": ["red", "blue"]})
    query = dn.protect(table, unit="person", population=MILLION).group_by(
        "colour", max_groups=groups, over="drop", selection="threshold"
    )
    advice = dn.advise(population=MILLION, max_groups=groups)
    plan = query.aggregate(people=dn.units()).plan(epsilon=1, delta=advice.delta, coverage=False)
    assert plan.noise == advice.noise
    assert plan.threshold is not None
    assert abs(plan.threshold - Fraction(advice.threshold or 0)) <= 1


def test_the_function_is_not_hidden_by_its_module() -> None:
    program = (
        "import deniable as dn; import deniable.advice; from deniable.advice import Advice; "
        "print(isinstance(dn.advise(population=100), Advice), callable(dn.advise))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
    assert isinstance(dn.advise(population=100), Advice)
