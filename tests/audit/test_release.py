"""Audits of whole queries: sound ones pass, and each of these notices the faults that are planted for it.

Every audit here is of the package as it stands; the lines in tests/faults/audit.toml break it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import pyarrow as pa
import pytest

import deniable as dn
from deniable.audit import Case, Findings, Violated, cases, release
from deniable.audit.copies import Copies
from deniable.audit.pools import ground
from deniable.errors import EngineError, ParameterError
from deniable.query import run
from deniable.query.aggregates import Aggregate
from deniable.query.plan import Plan
from deniable.query.question import Query
from deniable.query.survey import Survey

EMPTY = pa.table(
    {
        "person": pa.array([], pa.string()),
        "colour": pa.array([], pa.string()),
        "spend": pa.array([], pa.float64()),
        "age": pa.array([], pa.int64()),
    }
)
COLOURS = [f"g{i}" for i in range(8)]
SURE = 1 - Fraction(1, 10**6)


def survey() -> Survey:
    return dn.protect(EMPTY, unit="person")


def named(query: Query, *names: str) -> list[Case]:
    kept = [case for case in cases(query) if case.name in names]
    assert len(kept) == len(names)
    return kept


def refuted(findings: Findings) -> list[str]:
    return [f"{finding.case}: {finding.verdict}" for finding in findings.violations]


PEOPLE = {"people": dn.units()}
ROWS = {"rows": dn.count(max_rows=1)}
SPEND = {"spend": dn.sum("spend", bounds=(0, 10), max_rows=1)}


def keyed(**outputs: Aggregate) -> Query:
    return survey().group_by("colour", keys=COLOURS[:2]).aggregate(**outputs)


@pytest.mark.parametrize(
    ("name", "outputs"),
    [
        pytest.param("many values", {"n": dn.distinct("spend", max_values=2)}, id="many values"),
        pytest.param("one more", PEOPLE, id="one more"),
        pytest.param("heavy, high", ROWS, id="many rows"),
        pytest.param("beyond the bounds", SPEND, id="beyond the bounds"),
        pytest.param("NaN and infinities", SPEND, id="no numbers"),
        pytest.param("missing keys", PEOPLE, id="missing keys"),
        pytest.param("into nothing", PEOPLE, id="into nothing"),
        pytest.param("heavy, high", PEOPLE | {"rows": dn.count(max_rows=2)}, id="two columns"),
    ],
)
def test_declared_groups_with_laplace_noise_keep_their_promise(
    name: str, outputs: dict[str, Aggregate]
) -> None:
    query = keyed(**outputs)
    found = release(query, epsilon=1, trials=2000, confidence=SURE, cases=named(query, name), seed=1)
    assert refuted(found) == []


@pytest.mark.parametrize("name", ["a group of one", "many new groups", "into nothing"])
def test_unknown_groups_with_a_threshold_keep_their_promise(name: str) -> None:
    query = survey().group_by("colour", max_groups=3, over="drop").aggregate(people=dn.units())
    found = release(
        query,
        epsilon=1,
        delta="0.05",
        noise="laplace",
        coverage=False,
        trials=4000,
        confidence=SURE,
        cases=named(query, name),
        seed=2,
    )
    assert refuted(found) == []


@pytest.mark.parametrize("name", ["a group of one", "many new groups"])
@pytest.mark.parametrize("selection", ["truncated-geometric", "sips"])
def test_groups_found_by_chance_or_in_rounds_keep_their_promise(
    selection: Literal["truncated-geometric", "sips"], name: str
) -> None:
    query = survey().group_by("colour", max_groups=3, selection=selection).aggregate(people=dn.units())
    options: dict[str, Any] = {"epsilon": 1, "delta": "0.05", "coverage": False, "confidence": SURE}
    found = release(query, trials=3000, cases=named(query, name), seed=11, **options)
    assert refuted(found) == []


def test_weighted_units_with_gaussian_noise_keep_their_promise() -> None:
    grouped = survey().group_by("colour", keys=COLOURS, max_groups=1, max_keys=8, over="weight")
    query = grouped.aggregate(spend=dn.sum("spend", bounds=(0, 10), max_rows=1))
    found = release(
        query,
        epsilon=1,
        delta="0.01",
        noise="gaussian",
        coverage=False,
        trials=3000,
        confidence=SURE,
        cases=named(query, "many known groups"),
        seed=3,
    )
    assert refuted(found) == []


def test_a_unit_of_too_many_groups_is_cut_to_max_keys() -> None:
    grouped = survey().group_by("colour", max_groups=2, over="weight", max_keys=4)
    query = grouped.aggregate(people=dn.units())
    found = release(
        query,
        epsilon=2,
        delta="0.05",
        noise="laplace",
        coverage=False,
        trials=3000,
        confidence=SURE,
        cases=named(query, "many new groups"),
        seed=4,
    )
    assert refuted(found) == []


@pytest.mark.parametrize("name", ["one more", "beyond the bounds", "NaN and infinities", "into nothing"])
def test_rows_that_stand_for_themselves_keep_their_promise(name: str) -> None:
    query = dn.protect(EMPTY, unit=dn.ROW).aggregate(spend=dn.sum("spend", bounds=(-5, 10)))
    found = release(query, epsilon=1, trials=2000, confidence=SURE, cases=named(query, name), seed=5)
    assert refuted(found) == []


def test_a_whole_report_names_every_case() -> None:
    query = (
        survey()
        .where("age >= 18")
        .derive(hue="lower(trim(colour))")
        .group_by("hue", max_groups=2)
        .aggregate(people=dn.units(), spend=dn.mean("spend", bounds=(0, 10), max_rows=2))
    )
    found = release(query, epsilon=6, delta="0.1", trials=100, confidence=SURE, seed=6)
    assert found.word == "not violated"
    assert len(found.findings) == 11
    assert all(finding.case in str(found) for finding in found.findings)
    assert "epsilon 6, delta 0.1" in str(found)


# What is tried


def test_cases_differ_by_one_unit_whose_rows_the_query_looks_at() -> None:
    query = survey().where("age >= 18").group_by("colour", max_groups=2).aggregate(people=dn.units())
    for case in cases(query, people=3):
        assert all(row["age"] >= 18 for row in case.crowd)  # type: ignore[operator]
        assert all(row["person"] in (0, None) for row in case.unit)
        assert 0 not in {row["person"] for row in case.crowd}
    many = next(case for case in cases(query) if case.name == "many new groups")
    assert len({row["colour"] for row in many.unit}) > 50
    assert not {row["colour"] for row in many.unit} & {row["colour"] for row in many.crowd}


def test_conditions_and_derived_keys_are_met_by_trying() -> None:
    query = survey().where("age < 20 and age > 30").aggregate(people=dn.units())
    with pytest.raises(ParameterError, match="no row we tried"):
        cases(query)
    assert ground(query, 10) is None
    kinds = survey().derive(kind="case when spend > 3 then 'much' else 'little' end").group_by("kind")
    found = ground(kinds.aggregate(people=dn.units()), 10)
    assert found is not None
    assert set(found.groups) == {("much",), ("little",)}
    query = survey().where("colour in ('red', 'blue') and age > 30").aggregate(people=dn.units())
    found = ground(query, 10)
    assert found is not None
    assert found.usual["colour"] in ("red", "blue")


def test_own_tables_are_audited_as_given() -> None:
    query = keyed(**PEOPLE, **ROWS, **SPEND)
    row = {"person": 1, "colour": "g0", "spend": 3.0, "age": 20}
    mine = Case("mine", [row], [{**row, "person": 0, "spend": 10.0}])
    found = release(query, epsilon=1, trials=500, cases=[mine], seed=7)
    assert [finding.case for finding in found.findings] == ["mine"]


def test_two_units_where_one_was_promised_are_noticed() -> None:
    """Wrong twin: tables that differ by three people."""
    query = keyed(**PEOPLE, **ROWS, **SPEND)
    row = {"person": 1, "colour": "g0", "spend": 10.0, "age": 20}
    crowd: Sequence[dict[str, object]] = [row]
    three = Case("three people", crowd, [{**row, "person": unit} for unit in (5, 6, 7)])
    found = release(query, epsilon=2, trials=4000, confidence=SURE, cases=[three], seed=8)
    assert [type(finding.verdict) for finding in found.findings] == [Violated]
    assert "three people" in str(found.findings[0].verdict)


def test_copies_are_independent_releases_of_the_original() -> None:
    """Counts of people in copies: mean and variance of discrete Laplace noise, nothing shared."""
    query = survey().aggregate(people=dn.units())
    plan = query.plan(epsilon=1)
    rows = [{"person": unit, "colour": "g0", "spend": 1.0, "age": 1} for unit in range(5)]
    [outcomes] = Copies(plan, ((rows, 4000),)).outcomes(dn.SeededBits(9, insecure=True))
    counts = [next(iter(rows.values()))[0] for rows in outcomes]
    mean = sum(counts) / 4000
    variance = sum((count - mean) ** 2 for count in counts) / 4000
    pairs = sum((a - mean) * (b - mean) for a, b in pairwise(counts)) / 4000
    assert abs(mean - 5) < 0.14  # six standard errors of sqrt(1.84/4000)
    assert 1.5 < variance < 2.25  # 2 r / (1 - r)**2 = 1.84
    assert abs(pairs) < 0.18


def test_a_release_that_fails_on_some_rows_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that fails whenever there are many people: every run of one table ends in an error."""
    sound = run._published

    def fails_on_many_people(plan: Plan, noisy: Any) -> pa.Table:
        table = sound(plan, noisy)
        if max(table.column("people").to_pylist()) > 150:
            raise EngineError("fixed words")
        return table

    monkeypatch.setattr(run, "_published", fails_on_many_people)
    query = survey().aggregate(people=dn.units())
    row = {"colour": "g0", "spend": 3.0, "age": 20}
    case = Case("many", [{**row, "person": 1}], [{**row, "person": unit} for unit in range(2, 400)])
    found = release(query, epsilon="0.2", trials=24, cases=[case], together=10, seed=10)
    assert found.word == "violated"
    assert "a table" in str(found) or "EngineError" in str(found)


@pytest.mark.parametrize(
    ("change", "argument"),
    [({"trials": 1}, "trials"), ({"together": 0}, "together"), ({"cases": []}, "cases")],
)
def test_arguments_are_checked_before_anything_is_run(change: dict[str, object], argument: str) -> None:
    with pytest.raises(ParameterError) as caught:
        release(keyed(**PEOPLE), **{"epsilon": 1, "trials": 100, **change})  # type: ignore[arg-type]
    assert caught.value.argument == argument


def test_a_unit_that_cannot_be_copied_is_refused() -> None:
    table = pa.table({"person": pa.array([], pa.bool_()), "x": pa.array([], pa.int64())})
    query = dn.protect(table, unit="person").aggregate(people=dn.units())
    with pytest.raises(ParameterError, match="too few|many units"):
        release(query, epsilon=1, trials=100)
