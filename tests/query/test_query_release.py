"""Releases from end to end against a naive version written here; what is refused, and what fails safely."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
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


def test_rows_can_be_counted_without_looking_at_a_column() -> None:
    data = pa.table({"tags": [["x"], None], "colour": ["red", None]})
    query = protect(data, unit=ROW).aggregate(n=dn.count(), units=dn.units())
    found = query.release(epsilon=10**6, bits=bits(1)).table.to_pylist()[0]
    assert (found["n"], found["units"]) == (2, 2)


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


KEYS: list[tuple[str, list[Any], pa.DataType]] = [
    ("text", ["a", "", "ä", None], pa.string()),
    ("integer", [1, -5, 2**60, None], pa.int64()),
    ("real", [0.5, -0.25, 1e300, None], pa.float64()),
    ("single", [0.5, 0.25, None], pa.float32()),
    ("decimal", [Decimal("1.50"), Decimal("-2.00"), None], pa.decimal128(10, 2)),
    ("boolean", [True, False, None], pa.bool_()),
    ("date", [date(2024, 2, 29), date(1, 1, 1), None], pa.date32()),
    ("timestamp", [datetime(2024, 2, 29, 12, 30), None], pa.timestamp("us")),
]


@pytest.mark.parametrize(("name", "values", "kind"), KEYS, ids=[key[0] for key in KEYS])
def test_every_type_of_key_is_found_and_declared(name: str, values: list[Any], kind: pa.DataType) -> None:
    column = pa.array([value for value in values for _ in range(9)], kind)
    data = pa.table({"person": range(len(column)), "key": column})
    survey = protect(data, unit="person")
    found = survey.group_by("key").aggregate(n=dn.units()).release(epsilon=10**6, delta="1e-6", bits=bits(1))
    assert {row["key"]: row["n"] for row in found.table.to_pylist()} == dict.fromkeys(values, 9)
    keys = [value for value in reversed(values) if value is not None]
    named = survey.group_by("key", keys=keys).aggregate(n=dn.units()).release(epsilon=10**6, bits=bits(1))
    assert named.table.column("key").to_pylist() == keys
    assert named.table.column("n").to_pylist() == [9] * len(keys)


def test_categories_that_nobody_has_do_not_appear_and_order_nothing() -> None:
    colours = pd.Categorical(
        ["red"] * 40 + ["blue"] * 20, categories=["none", "blue", "green", "red"], ordered=True
    )
    data = pd.DataFrame({"person": range(60), "colour": colours})
    query = protect(data, unit="person").group_by("colour").aggregate(n=dn.units())
    found = query.release(epsilon=10**6, delta="1e-6", bits=bits(1)).table
    assert found.column("colour").to_pylist() == ["red", "blue"]
    assert found.schema.field("colour").type == pa.string()


def test_names_may_be_anything_that_a_header_may_be() -> None:
    names = ["select", 'quo"te', "a:b", "Straße", "two words"]
    data = pa.table({"group": ["x"] * 30, **{name: list(range(30)) for name in names}})
    survey = protect(data, unit="select").derive(**{"new:one": '"two words" + 1'})
    query = (
        survey.where('"a:b" >= 0')
        .group_by("group")
        .aggregate(
            **{
                f"sum of {name}": dn.sum(name, bounds=(0, 100), max_rows=1)
                for name in [*names[1:], "new:one"]
            }
        )
    )
    row = query.release(epsilon=10**6, delta="1e-6", bits=bits(1)).table.to_pylist()[0]
    assert [row[f"sum of {name}"] for name in names[1:]] == [435] * 4
    assert row["sum of new:one"] == 465


def test_a_derived_value_is_clamped_last() -> None:
    data = pa.table({"person": range(50), "x": [7.0] * 49 + [1e9]})
    query = (
        protect(data, unit="person", population=100)
        .derive(big="x * 1000000", wild="CASE WHEN x > 100 THEN x * x ELSE 0 END")
        .aggregate(
            big=dn.sum("big", bounds=(0, 10), max_rows=1), wild=dn.sum("wild", bounds=(0, 10), max_rows=1)
        )
    )
    row = query.release(epsilon=10**6, bits=bits(1)).table.to_pylist()[0]
    assert row["big"] == pytest.approx(500, abs=0.01)
    assert row["wild"] == pytest.approx(10, abs=0.01)


def test_undeclared_text_is_a_number_where_it_is_summed(tmp_path: Path) -> None:
    path = tmp_path / "spend.csv"
    lines = [
        "person,spend",
        *(f"{person},{person % 4}.5" for person in range(100)),
        "200,lots",
        "201,",
        '202,"1',
        "203,9",
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    query = protect(path, unit="person").aggregate(
        given=dn.count("spend", max_rows=1),
        total=dn.sum("spend", bounds=(0, 10), max_rows=1),
        people=dn.units(),
    )
    row = query.release(epsilon=10**6, bits=bits(1)).table.to_pylist()[0]
    assert row["given"] == 101, "the count that goes with a sum counts numbers"
    assert row["total"] == pytest.approx(25 * (0.5 + 1.5 + 2.5 + 3.5) + 9, abs=0.01)
    assert row["people"] == 103, "an odd line loses its own person alone"


# What is refused before data, and what happens after.


class Guarded:
    """A source that must not be opened."""

    label, assumed = "guarded", ()

    def __init__(self, survey: Survey) -> None:
        self.schema = survey.source.schema

    def rows(self, engine: object, columns: object) -> Any:
        raise SourceError("The data were opened.")

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
        {"purpose": "half a character: \ud800"},
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
    with pytest.raises(SourceError, match="opened"):
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
