"""What may be asked of a protected table; every mistake is refused before a row is read."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from deniable.errors import ExpressionError, ParameterError, SourceError
from deniable.query import aggregates as dn
from deniable.query.survey import ROW, Survey, protect


@pytest.fixture
def survey() -> Survey:
    table = pa.table(
        {
            "person": pa.array(["a", "b"]),
            "colour": pa.array(["red", None]),
            "year": pa.array([2023, 2024], pa.int64()),
            "spend": pa.array([1.5, 2.5]),
            "day": pa.array([datetime.date(2024, 1, 1), None]),
            "price": pa.array([Decimal("1.50"), None]),
            "good": pa.array([True, None]),
            "tags": pa.array([["x"], None]),
        }
    )
    return protect(table, unit="person", population=100_000)


def refused(argument: str, *words: str) -> Any:
    class Refused:
        def __enter__(self) -> None:
            self.caught = pytest.raises(ParameterError)
            self.error = self.caught.__enter__()

        def __exit__(self, *exception: Any) -> bool:
            done = self.caught.__exit__(*exception)
            assert self.error.value.argument == argument
            for word in words:
                assert word in str(self.error.value)
            return bool(done)

    return Refused()


def test_a_missing_unit_names_the_nearest_column(survey: Survey) -> None:
    with refused("unit", "persom", "'person'"):
        protect(pa.table({"person": ["a"]}), unit="persom")
    with refused("unit", "dn.ROW"):
        protect(pa.table({"person": ["a"]}), unit=None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unit"):
        protect(pa.table({"person": ["a"]}))  # type: ignore[call-arg]


def test_a_table_without_a_usable_column_is_refused() -> None:
    with pytest.raises(SourceError, match="nothing can be counted"):
        protect(pa.table({"tags": [["x"], None]}), unit=ROW)


@pytest.mark.parametrize("population", [0, -1, True, 1.5, "many", 1 << 60])
def test_a_population_is_a_whole_number_above_zero(population: object) -> None:
    with refused("population"):
        protect(pa.table({"person": ["a"]}), unit="person", population=population)  # type: ignore[arg-type]


def test_unknown_columns_suggest_the_nearest(survey: Survey) -> None:
    with refused("group_by", "colours", "'colour'"):
        survey.group_by("colours")
    with refused("total", "spent", "'spend'"):
        survey.aggregate(total=dn.sum("spent", bounds=(0, 1), max_rows=1))


def test_names_are_found_whatever_their_case(survey: Survey) -> None:
    query = survey.group_by("COLOUR").aggregate(x=dn.count("SPEND", max_rows=1))
    assert query.groups is not None
    assert query.groups.columns[0].name == "colour"
    assert query.outputs[0][1].column == "spend"


@pytest.mark.parametrize("name", ["row", "ROW"])
def test_a_unit_column_that_would_read_as_event_level_is_refused(name: str) -> None:
    with refused("unit", name, "dn.ROW"):
        protect(pa.table({name: ["a"]}), unit=name)


def test_grouping_by_the_unit_or_by_lists_is_refused(survey: Survey) -> None:
    with refused("group_by", "unit"):
        survey.group_by("Person")
    with refused("group_by", "tags"):
        survey.group_by("tags")
    with refused("columns"):
        survey.group_by()
    with refused("columns"):
        survey.group_by("colour", "Colour")


@pytest.mark.parametrize("name", ["Person", "colour", "SPEND"])
def test_derive_never_writes_a_column_that_exists(survey: Survey, name: str) -> None:
    with pytest.raises(ParameterError, match="already"):
        survey.derive(**{name: "1"})


def test_derive_never_writes_a_name_twice(survey: Survey) -> None:
    with pytest.raises(ParameterError, match="already"):
        survey.derive(hue="lower(colour)").derive(Hue="upper(colour)")


def test_an_expression_that_is_not_row_wise_is_refused(survey: Survey) -> None:
    with pytest.raises(ExpressionError):
        survey.where("spend > avg(spend)")
    with pytest.raises(ExpressionError):
        survey.derive(rank="row_number() over ()")
    with pytest.raises(ParameterError):
        survey.where(7)  # type: ignore[arg-type]


@pytest.mark.parametrize("groups", [0, -1, True, 1e9, 10**9, "3", 2.0])
def test_max_groups_must_be_a_whole_number_in_range(survey: Survey, groups: object) -> None:
    with refused("max_groups"):
        survey.group_by("colour", max_groups=groups)  # type: ignore[arg-type]


def test_max_groups_above_max_keys_names_the_way_out(survey: Survey) -> None:
    with refused("max_groups", "max_keys=200"):
        survey.group_by("colour", max_groups=200)
    assert survey.group_by("colour", max_groups=200, max_keys=200).max_keys == 200


def test_over_and_selection_are_closed_sets(survey: Survey) -> None:
    with refused("over"):
        survey.group_by("colour", over="clip")  # type: ignore[arg-type]
    with refused("selection"):
        survey.group_by("colour", selection="magic")  # type: ignore[arg-type]


def test_over_is_drop_for_one_group_and_weight_for_more(survey: Survey) -> None:
    assert survey.group_by("colour").over == "drop"
    assert survey.group_by("colour", max_groups=2).over == "weight"
    assert survey.group_by("colour", max_groups=2, over="drop").over == "drop"


def test_two_outputs_may_not_publish_one_column(survey: Survey) -> None:
    with refused("aggregate", "x_low"):
        survey.aggregate(x=dn.units(), x_low=dn.units())
    with refused("aggregate", "X_HIGH"):
        survey.aggregate(X_HIGH=dn.units(), x=dn.units())
    with refused("aggregate", "colour"):
        survey.group_by("colour").aggregate(Colour=dn.units())
    with refused("aggregate", "Nothing".lower()):
        survey.aggregate()


def test_only_aggregates_are_aggregates(survey: Survey) -> None:
    with refused("people", "dn.units()"):
        survey.aggregate(people="units")  # type: ignore[arg-type]
    with refused("people"):
        survey.aggregate(people=dn.units)  # type: ignore[arg-type]


def test_sums_need_numbers(survey: Survey) -> None:
    for column in ("day", "tags"):
        with refused("x", column):
            survey.aggregate(x=dn.sum(column, bounds=(0, 1), max_rows=1))
    with refused("x", "tags"):
        survey.aggregate(x=dn.count("tags", max_rows=1))
    survey.aggregate(x=dn.sum("price", bounds=(0, 1), max_rows=1), y=dn.count("day", max_rows=1))


def test_max_rows_is_required_with_a_unit_and_absent_per_row(survey: Survey) -> None:
    for aggregate in (dn.count(), dn.sum("spend", bounds=(0, 1)), dn.mean("spend", bounds=(0, 1))):
        with refused("max_rows", "person"):
            survey.aggregate(x=aggregate)
    rows = protect(pa.table({"person": ["a"]}), unit=ROW)
    rows.aggregate(x=dn.count(), y=dn.units())
    with refused("max_rows", "dn.ROW"):
        rows.aggregate(x=dn.count(max_rows=1))
    with refused("max_groups", "dn.ROW"):
        rows.group_by("person", max_groups=2)


@pytest.mark.parametrize(
    "keys",
    [
        [],
        "red",
        b"red",
        7,
        {"red": 1},
        ["red", "red"],
        ["red", None],
        ["red", 1],
        ["red", b"x"],
        [["red"]],
        ["bad \ud800 text"],
        pd.DataFrame({"hue": ["red"]}),
        pd.DataFrame({"colour": pd.Series([], dtype="str")}),
    ],
)
def test_keys_that_cannot_be_keys_are_refused(survey: Survey, keys: object) -> None:
    with refused("keys"):
        survey.group_by("colour", keys=keys)


@pytest.mark.parametrize(
    ("column", "good", "bad"),
    [
        ("year", [2023, 2024], [2023, True]),
        ("year", [2023], [2023.0]),
        ("year", [2023], [1 << 63]),
        ("spend", [1, 2.5], ["1"]),
        ("spend", [1.5], [float("nan")]),
        ("good", [True, False], [0, 1]),
        ("day", [datetime.date(2024, 1, 1)], ["2024-01-01"]),
        ("day", [datetime.date(2024, 1, 1)], [datetime.datetime(2024, 1, 1)]),
        ("price", [Decimal("1.50"), 2], [1.5]),
    ],
)
def test_keys_have_the_type_of_their_column(
    survey: Survey, column: str, good: list[object], bad: list[object]
) -> None:
    made = survey.group_by(column, keys=good)
    assert made.keys is not None
    assert made.keys.column(0).to_pylist() == good
    with refused("keys"):
        survey.group_by(column, keys=bad)


def test_keys_of_several_columns_are_tuples_or_a_table(survey: Survey) -> None:
    pairs = [("red", 2023), ("blue", 2024)]
    listed = survey.group_by("colour", "year", keys=pairs)
    frame = pl.DataFrame({"YEAR": [2023, 2024], "Colour": ["red", "blue"]})
    tabled = survey.group_by("colour", "year", keys=frame)
    assert listed.keys is not None
    assert listed.keys.equals(tabled.keys)
    assert listed.keys.column_names == ["colour", "year"]
    for wrong in (["red"], [("red",)], [("red", 1, 2)], ["ab"]):
        with refused("keys"):
            survey.group_by("colour", "year", keys=wrong)


def test_people_from_data_frames_are_told_what_to_write(survey: Survey) -> None:
    with pytest.raises(AttributeError, match="where"):
        survey.filter  # type: ignore[attr-defined]  # noqa: B018
    for name in ("with_columns", "assign", "mutate"):
        with pytest.raises(AttributeError, match="derive"):
            getattr(survey, name)
    with pytest.raises(AttributeError, match="aggregate"):
        survey.group_by("colour").agg  # type: ignore[attr-defined]  # noqa: B018
    for name in ("head", "to_pandas"):
        with pytest.raises(AttributeError, match="rows are private; see .schema"):
            getattr(survey, name)
    assert not hasattr(survey, "_repr_html_")


def test_what_is_printed_of_a_survey_holds_no_row(survey: Survey) -> None:
    query = survey.where("year > 2000").derive(hue="lower(colour)").group_by("hue").aggregate(n=dn.units())
    for shown in (repr(survey), repr(query), str(query.groups), str(survey.schema)):
        assert "red" not in shown
        assert "2.5" not in shown
    assert "hue" in repr(query)


def test_steps_are_nested_in_order_and_unused_ones_are_left_out(survey: Survey) -> None:
    from deniable.engines.duckdb import DuckDB

    made = survey.derive(hue="upper(colour)", big="spend * 10").where("hue = 'RED'").derive(twice="big + big")
    with DuckDB() as engine:
        rows = engine.stream(made.rows(engine, ["hue", "twice"])).read_all().to_pylist()
        assert rows == [{"hue": "RED", "twice": 30.0}]
        sql = made.rows(engine, ["hue"]).sql("duckdb")
        assert "twice" not in sql
        assert "big" not in sql


def test_a_file_is_protected_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("person,colour\n1,red\n", "utf-8")
    made = protect(path, unit="person")
    assert made.schema.names == ("person", "colour")


def test_a_text_column_under_a_sum_reads_the_numbers_that_declaring_it_would() -> None:
    frame = pd.DataFrame({"person": range(6), "spend": ["10", " 1e1 ", "1_000", "inf", "0x10", "ten"]})
    question = {"spend": dn.sum("spend", bounds=(0, 100), max_rows=1)}
    sums = [
        protect(frame, unit="person", types=types).aggregate(**question).release(epsilon=10**6)
        for types in (None, {"spend": "real"})
    ]
    assert [round(release.table["spend"][0].as_py()) for release in sums] == [20, 20]
