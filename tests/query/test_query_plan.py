"""Plans: budgets checked, everything public, nothing read."""

from __future__ import annotations

import json
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deniable import accounting, events
from deniable.errors import ParameterError
from deniable.exact import exact
from deniable.guarantees import ApproxDP, PureDP
from deniable.publish import statement
from deniable.query import aggregates as dn
from deniable.query.measures import Count, Total, Units
from deniable.query.plan import Plan
from deniable.query.question import Query
from deniable.query.survey import ROW, Survey, protect

TABLE = pa.table({"person": ["a", "b"], "colour": ["red", "blue"], "age": [30, 40], "spend": [1.5, 2.5]})


@pytest.fixture
def survey() -> Survey:
    return protect(TABLE, unit="person", population=100_000)


@pytest.fixture
def found(survey: Survey) -> Query:
    return survey.group_by("colour").aggregate(people=dn.units())


@pytest.fixture
def named(survey: Survey) -> Query:
    return survey.group_by("colour", keys=["red", "blue"]).aggregate(people=dn.units())


def refusal(query: Query, **arguments: Any) -> ParameterError:
    with pytest.raises(ParameterError) as caught:
        query.plan(**arguments)
    return caught.value


@pytest.mark.parametrize("epsilon", [0, -1, float("inf"), float("nan"), True, "abc", None, 1e9])
def test_epsilon_is_refused_by_name(named: Query, epsilon: object) -> None:
    assert refusal(named, epsilon=epsilon).argument == "epsilon"


def test_epsilon_has_no_default(named: Query) -> None:
    with pytest.raises(TypeError, match="epsilon"):
        named.plan()  # type: ignore[call-arg]


@pytest.mark.parametrize("delta", [1, -1, float("nan"), True, None, "1e-400", 2])
def test_delta_is_refused_by_name(named: Query, delta: object) -> None:
    assert refusal(named, epsilon=1, delta=delta).argument == "delta"


def test_unknown_keys_need_a_delta(found: Query) -> None:
    for arguments in ({}, {"delta": 0}, {"delta": "0"}):
        error = refusal(found, epsilon=1, **arguments)
        assert error.argument == "delta"
        assert "Name the keys, or allow a delta" in str(error)


def test_gaussian_noise_needs_a_delta(named: Query) -> None:
    assert refusal(named, epsilon=1, noise="gaussian").argument == "delta"
    assert refusal(named, epsilon=1, noise="cauchy").argument == "noise"


def test_a_delta_of_one_in_the_population_is_refused_in_numbers(found: Query) -> None:
    error = refusal(found, epsilon=1, delta=0.01)
    assert error.argument == "delta"
    assert "1,000 of 100,000 people" in str(error)
    assert "allow_large_delta=True" in str(error)
    assert refusal(found, epsilon=1, delta="1e-5").argument == "delta"
    assert found.plan(epsilon=1, delta="9e-6").delta < Fraction(1, 100_000)
    assert found.plan(epsilon=1, delta=0.01, allow_large_delta=True).delta == Fraction(1, 100)


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, True, None, "x", float("nan")])
def test_confidence_is_refused_by_name(named: Query, confidence: object) -> None:
    assert refusal(named, epsilon=1, confidence=confidence).argument == "confidence"


def test_without_delta_the_promise_is_pure(named: Query, survey: Survey) -> None:
    assert named.plan(epsilon="1/3").guarantee == PureDP(epsilon="1/3")
    totals = survey.aggregate(people=dn.units()).plan(epsilon=1)
    assert totals.guarantee == PureDP(epsilon=1)
    assert totals.events == (events.DiscreteLaplace(scale=1, sensitivity=1),)
    assert totals.threshold is None


def test_one_group_a_person_has_the_known_threshold(found: Query) -> None:
    plan = found.plan(epsilon=1, delta="1e-6", noise="laplace", coverage=False)
    assert plan.threshold == 15
    assert plan.guarantee == ApproxDP(epsilon=1, delta="1e-6")
    assert plan.events[0] == events.DiscreteLaplace(scale=1, sensitivity=1)


def test_the_threshold_follows_the_kind_of_noise(found: Query) -> None:
    laplace = found.plan(epsilon=1, delta="1e-8", noise="laplace")
    gaussian = found.plan(epsilon=1, delta="1e-8", noise="gaussian")
    assert laplace.threshold != gaussian.threshold
    assert gaussian.threshold is not None
    assert float(gaussian.threshold) == pytest.approx(31.2, abs=0.5)  # 30.9 without the histogram


def test_events_cost_what_is_promised_and_no_more(survey: Survey) -> None:
    query = survey.group_by("colour", max_groups=3).aggregate(
        people=dn.units(),
        spend=dn.sum("spend", bounds=(0, 100), max_rows=2),
        mean=dn.mean("age", bounds=(0, 99), max_rows=1),
    )
    for noise in ("laplace", "gaussian"):
        plan = query.plan(epsilon="0.7", delta="1e-7", noise=noise)
        assert accounting.within(plan.events, epsilon=exact("0.7", "e"), delta=exact("1e-7", "d"))
        spent = accounting.account(plan.events).epsilon(delta="1e-7")
        assert Fraction("0.69999") < spent <= Fraction("0.7")


def test_a_plan_and_its_statement_say_how_columns_are_composed() -> None:
    table = pa.table({"person": ["a"], **{f"c{i}": [1.5] for i in range(16)}})
    asked = {f"s{i}": dn.sum(f"c{i}", bounds=(0, 10), max_rows=1) for i in range(16)}
    query = protect(table, unit="person").aggregate(**asked)
    said = {
        ("laplace", "0"): ("by adding their epsilons", "adding their epsilons"),
        ("laplace", "1e-5"): ("by their privacy losses: ", "their privacy loss distributions"),
        ("gaussian", "1e-5"): ("as one Gaussian", "as one Gaussian"),
    }
    for (noise, delta), (planned, stated) in said.items():
        plan = query.plan(epsilon=1, delta=delta, noise=noise)  # type: ignore[arg-type]
        assert f"16 noisy columns, {planned}" in str(plan)
        assert stated in " ".join(statement.write(plan.facts).split())
        assert plan.to_json()["composed"] == plan.facts.composed
    assert plan.total.epsilon(delta="1e-5") <= 1


def test_a_wide_plan_is_made_in_less_than_two_seconds_of_work() -> None:
    table = pa.table({"person": ["a"], "colour": ["x"], **{f"c{i}": [1.5] for i in range(40)}})
    asked = {f"s{i}": dn.sum(f"c{i}", bounds=(0, i + 1), max_rows=1) for i in range(40)}
    query = protect(table, unit="person").group_by("colour", max_groups=5).aggregate(**asked)
    start = time.process_time()
    query.plan(epsilon=1, delta="1e-8")
    assert time.process_time() - start < 2


def test_auto_takes_the_noise_with_the_smaller_error(survey: Survey) -> None:
    few = survey.aggregate(people=dn.units()).plan(epsilon=1, delta="1e-8")
    assert few.noise == "laplace"
    many = survey.group_by("colour", max_groups=30).aggregate(people=dn.units()).plan(epsilon=1, delta="1e-8")
    assert many.noise == "gaussian"
    assert survey.aggregate(people=dn.units()).plan(epsilon=1).noise == "laplace"


def test_identical_measures_are_measured_once(survey: Survey) -> None:
    query = survey.group_by("colour").aggregate(
        given=dn.count("spend", max_rows=2),
        average=dn.mean("spend", bounds=(0, 10), max_rows=2),
        people=dn.units(),
        again=dn.units(),
    )
    plan = query.plan(epsilon=1, delta="1e-8", coverage=False)
    kinds = [type(noisy.measure) for noisy in plan.price.measured]
    assert kinds == [Units, Count, Total]
    assert [output.parts for output in plan.outputs] == [(1,), (2, 1), (0,), (0,)]


def test_units_are_measured_for_the_threshold_even_if_nobody_asks(survey: Survey) -> None:
    plan = survey.group_by("colour").aggregate(rows=dn.count(max_rows=2)).plan(epsilon=1, delta="1e-8")
    assert [type(noisy.measure) for noisy in plan.price.measured] == [Units, Count]
    assert plan.outputs[0].parts == (1,)


def test_integer_columns_give_integers_and_the_noise_that_the_reals_need(survey: Survey) -> None:
    query = survey.aggregate(
        total=dn.sum("age", bounds=(0, 3), max_rows=1), mean=dn.mean("age", bounds=(0, 3), max_rows=1)
    )
    plan = query.plan(epsilon=1)
    assert plan.outputs[0].whole
    total, centred, count = plan.price.measured
    assert isinstance(total.measure, Total)
    assert total.measure.grid == 1
    assert total.scale == 3 * 3  # three columns share epsilon
    assert isinstance(centred.measure, Total)
    assert centred.scale == Fraction(3, 2) * 3
    assert count.scale == 3


def test_a_histogram_of_groups_is_bought_only_where_it_says_something(survey: Survey) -> None:
    def plan(survey: Survey, **groups: Any) -> Plan:
        return survey.group_by("colour", **groups).aggregate(n=dn.units()).plan(epsilon=1, delta="1e-8")

    assert plan(survey).classes is not None
    assert plan(survey, max_groups=100).classes is None
    assert plan(survey, keys=["red"]).classes is None
    small = protect(TABLE, unit="person", population=500)
    assert plan(small).classes is None
    assert plan(protect(TABLE, unit=ROW)).classes is None
    query = survey.group_by("colour").aggregate(n=dn.units())
    assert query.plan(epsilon=1, delta="1e-8", coverage=False).classes is None


def test_declared_keys_bound_the_groups_that_a_unit_can_be_in(survey: Survey) -> None:
    query = survey.group_by("colour", max_groups=10, over="drop", keys=["red", "blue"]).aggregate(
        n=dn.units()
    )
    plan = query.plan(epsilon=1)
    assert plan.events == (events.DiscreteLaplace(scale=2, sensitivity=2),)


def test_a_plan_prints_what_it_will_do_and_says_what_was_not_given(found: Query, survey: Survey) -> None:
    words = str(found.plan(epsilon=1, delta="1e-8"))
    assert "1 (not given)" in words
    assert "epsilon 1, delta 1e-8" in words
    assert "people" in words
    assert "max_keys" in words
    given = survey.group_by("colour", max_groups=1).aggregate(people=dn.units())
    assert "not given" not in str(given.plan(epsilon=1, delta="1e-8"))
    assert all(len(line) <= 110 for line in words.splitlines())


def test_a_coarse_grid_is_said(survey: Survey) -> None:
    plan = survey.aggregate(x=dn.sum("age", bounds=(0, 2**62), max_rows=1)).plan(epsilon=1)
    assert "rounded to multiples of" in str(plan)
    assert not plan.outputs[0].whole


def test_a_plan_is_saved_whole_with_exact_numbers(found: Query, tmp_path: Path) -> None:
    plan = found.plan(epsilon="1/3", delta="1e-8")
    plan.save(tmp_path / "plan.json")
    record = json.loads((tmp_path / "plan.json").read_text("utf-8"))
    assert record == plan.to_json()
    assert record["guarantee"] == {"epsilon": "1/3", "delta": "1e-8"}
    assert record["max_groups"] == 1
    assert record["max_groups_given"] is False
    assert tuple(events.from_json(event) for event in record["events"]) == plan.events
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]


def test_a_saved_plan_keeps_every_digit(survey: Survey) -> None:
    groups = survey.group_by("colour", keys=["red", "blue"])
    plan = groups.aggregate(s=dn.sum("spend", bounds=("1/3", "ln 3"), max_rows=3)).plan(epsilon="ln 3")
    record = plan.to_json()
    assert exact(record["guarantee"]["epsilon"], "epsilon") == plan.guarantee.epsilon
    assert exact(record["columns"][0]["scale"], "scale") == plan.facts.columns[0].scale
    assert [exact(end, "bounds") for end in record["columns"][0]["bounds"]] == [
        Fraction(1, 3),
        exact("ln 3", "bounds"),
    ]
    assert record["declared"] == 2


def test_a_plan_reads_no_data() -> None:
    table = pa.table({"person": pa.array([], pa.string()), "colour": pa.array([], pa.string())})
    empty = protect(table, unit="person").group_by("colour").aggregate(n=dn.units())
    full = protect(TABLE, unit="person").group_by("colour").aggregate(n=dn.units())
    first, second = (query.plan(epsilon=1, delta="1e-8") for query in (empty, full))
    assert first.price == second.price
    assert {**first.to_json(), "types": 0} == {**second.to_json(), "types": 0}
