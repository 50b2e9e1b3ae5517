"""Releases from end to end against a naive version written here; what is refused, and what fails safely."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from colours import Row, asked, bits, some_rows, table

from deniable.errors import EngineError, ParameterError, SourceError
from deniable.query import aggregates as dn
from deniable.query.question import Query
from deniable.query.survey import ROW, Survey, protect

SURE = 1 - Fraction(1, 10**9)


def contributions(
    rows: list[Row], column: str, low: Fraction, high: Fraction, max_rows: int
) -> dict[Any, Fraction]:
    """What each (person, colour) adds to units, rows, given (rows with a value) or total."""
    seen: dict[Any, list[Fraction]] = defaultdict(list)
    number: dict[Any, int] = defaultdict(int)
    for person, colour, spend in rows:
        number[person, colour] += 1
        if spend is not None and math.isfinite(spend):
            seen[person, colour].append(min(max(Fraction(spend), low), high))
    if column == "units":
        return {key: Fraction(1) for key in number}
    if column == "rows":
        return {key: Fraction(min(n, max_rows)) for key, n in number.items()}
    if column == "given":
        return {key: Fraction(min(len(seen[key]), max_rows)) for key in number}
    return {
        key: sum(seen[key], Fraction(0)) * Fraction(min(len(seen[key]), max_rows), max(len(seen[key]), 1))
        for key in number
    }


def weighted(parts: dict[Any, Fraction], max_groups: int) -> dict[str | None, Fraction]:
    """Sum over people; a person in m > max_groups colours counts max_groups / m in each (Laplace weights)."""
    groups: dict[int, int] = defaultdict(int)
    for person, _ in parts:
        groups[person] += 1
    sums: dict[str | None, Fraction] = defaultdict(Fraction)
    for (person, colour), part in parts.items():
        sums[colour] += part * min(Fraction(1), Fraction(max_groups, groups[person]))
    return sums


def holds(release: Any, truth: dict[str, dict[str | None, Fraction]], slack: float) -> None:
    for row in release.table.to_pylist():
        for name, sums in truth.items():
            exact = float(sums.get(row["colour"], Fraction(0)))
            assert row[f"{name}_low"] - slack <= exact <= row[f"{name}_high"] + slack, (name, row)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("max_groups", [1, 2, 6])
def test_weighted_sums_are_those_of_the_naive_version(seed: int, max_groups: int) -> None:
    rows = some_rows(seed)
    query = asked(protect(table(rows), unit="person", population=1000), max_groups=max_groups, over="weight")
    release = query.release(epsilon=10**6, delta="1e-5", noise="laplace", confidence=SURE, bits=bits(seed))
    low, high = Fraction(-5), Fraction(100)
    truth = {
        name: weighted(contributions(rows, name, low, high, 2), max_groups)
        for name in ("units", "rows", "given", "total")
    }
    assert {row["colour"] for row in release.table.to_pylist()} == {
        key for key, n in truth["units"].items() if n > 2
    }
    assert all(row["units_high"] - row["units_low"] <= 2 for row in release.table.to_pylist())
    holds(release, truth, slack=0.05)
    average = {key: total / max(truth["given"][key], Fraction(1)) for key, total in truth["total"].items()}
    holds(release, {"average": average}, slack=1e-3)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_where_nothing_is_cut_drop_counts_everybody(noise: Any) -> None:
    rows = some_rows(9)
    query = asked(protect(table(rows), unit="person", population=1000), max_groups=6, over="drop")
    release = query.release(epsilon=10**4, delta="1e-5", noise=noise, confidence=SURE, bits=bits(1))
    low, high = Fraction(-5), Fraction(100)
    names = ("units", "rows", "given", "total")
    truth = {name: weighted(contributions(rows, name, low, high, 2), 6) for name in names}
    assert release.table.num_rows == 6
    holds(release, truth, slack=0.05)


def test_totals_are_one_row_without_keys() -> None:
    rows = some_rows(5)
    survey = protect(table(rows), unit="person", population=1000)
    query = survey.aggregate(people=dn.units(), total=dn.sum("spend", bounds=(0, 10), max_rows=1000))
    row = query.release(epsilon=10**6, bits=bits(1)).table.to_pylist()
    assert len(row) == 1
    assert row[0]["people"] == len({person for person, _, _ in rows})
    exact = sum(min(max(s, 0.0), 10.0) for _, _, s in rows if s is not None and math.isfinite(s))
    assert row[0]["total"] == pytest.approx(exact, abs=0.05)


def test_per_row_every_row_is_its_own_unit() -> None:
    rows = some_rows(6)
    query = (
        protect(table(rows), unit=ROW)
        .group_by("colour", keys=["red", "none"])
        .aggregate(n=dn.count(), given=dn.count("spend"), top=dn.sum("spend", bounds=(0, 50)))
    )
    found = query.release(epsilon=10**6, bits=bits(1)).table.to_pylist()
    reds = [spend for _, colour, spend in rows if colour == "red"]
    values = [min(max(spend, 0.0), 50.0) for spend in reds if spend is not None and math.isfinite(spend)]
    assert [row["colour"] for row in found] == ["red", "none"]
    assert [row["n"] for row in found] == [len(reds), 0]
    assert [row["given"] for row in found] == [len(values), 0]
    assert found[0]["top"] == pytest.approx(sum(values), abs=0.01)


def test_two_huge_integers_do_not_wrap() -> None:
    data = pa.table({"person": [1, 2], "x": pa.array([2**62, 2**62], pa.int64())})
    query = protect(data, unit="person").aggregate(x=dn.sum("x", bounds=(0, 2**62), max_rows=1))
    value = query.release(epsilon=10**6, bits=bits(1)).table.column("x")[0].as_py()
    assert value == pytest.approx(2**63, rel=1e-3)


def test_ten_bytes_of_200_are_2000() -> None:
    data = pa.table({"person": list(range(10)), "x": pa.array([200] * 10, pa.uint8())})
    query = protect(data, unit="person").aggregate(x=dn.sum("x", bounds=(0, 255), max_rows=1))
    column = query.release(epsilon=10**6, bits=bits(1)).table.column("x")
    assert column.type == pa.int64()
    assert column.to_pylist() == [2000]


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_mean_over_hardly_any_rows_stays_in_its_bounds(rows: int) -> None:
    data = table([(person, "red", 3.0) for person in range(rows)])
    query = protect(data, unit="person").aggregate(m=dn.mean("spend", bounds=(0, 10), max_rows=1))
    for seed in range(3):
        row = query.release(epsilon=1, bits=bits(seed)).table.to_pylist()[0]
        assert 0 <= row["m_low"] <= row["m"] <= row["m_high"] <= 10


# What is refused before data, and what happens after.


class Guarded:
    """A source that must not be opened."""

    label, assumed = "guarded", ()

    def __init__(self, survey: Survey) -> None:
        self.schema = survey.source.schema

    def rows(self, engine: object, columns: object) -> Any:
        raise AssertionError("the data were opened")

    def check_unchanged(self) -> None: ...


@pytest.fixture
def guarded() -> Query:
    survey = protect(table(some_rows(1)), unit="person")
    hidden = Survey(Guarded(survey), survey.schema, survey.unit, None)
    return hidden.group_by("colour").aggregate(n=dn.units())


@pytest.mark.parametrize(
    "wrong",
    [
        {"purpose": 7},
        {"purpose": "x" * 3000},
        {"threads": "many"},
        {"memory_limit": "lots"},
        {"bits": 7},
        {"epsilon": -1},
        {"delta": 0},
        {"confidence": 2},
        {"noise": "none"},
    ],
)
def test_arguments_are_checked_before_the_data_are_opened(guarded: Query, wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        guarded.release(**{"epsilon": 1, "delta": "1e-6", **wrong})
    with pytest.raises(AssertionError, match="opened"):
        guarded.release(epsilon=1, delta="1e-6")


def test_a_failing_engine_says_nothing_about_the_data() -> None:
    class Failing(Guarded):
        def rows(self, engine: Any, columns: object) -> Any:
            from sqlglot import exp

            return exp.select("error('secret 37') AS person", "'x' AS colour").from_("range(3)")

    survey = protect(table(some_rows(1)), unit="person")
    query = Survey(Failing(survey), survey.schema, "person", None).group_by("colour").aggregate(n=dn.units())
    with pytest.raises(EngineError) as caught:
        query.release(epsilon=1, delta="1e-6")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_file_that_changes_meanwhile_ends_the_release() -> None:
    survey = protect(table(some_rows(1)), unit="person")

    class Changed(Guarded):
        def rows(self, engine: Any, columns: Any) -> Any:
            return survey.source.rows(engine, columns)

        def check_unchanged(self) -> None:
            raise SourceError("The file changed.")

    query = Survey(Changed(survey), survey.schema, "person", None).group_by("colour").aggregate(n=dn.units())
    with pytest.raises(SourceError):
        query.release(epsilon=1, delta="1e-6")


def test_seeded_noise_is_marked_as_no_protection() -> None:
    query = protect(table(some_rows(1)), unit="person").aggregate(n=dn.units())
    assert not query.release(epsilon=1, bits=bits(1)).secure
    assert "nobody is protected" in query.release(epsilon=1, bits=bits(1)).statement
    assert query.release(epsilon=1).secure
