"""Joins with public tables: each private row stays one row, whatever it holds; keys are unique beforehand."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from colours import bits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp

import deniable as dn
from deniable.engines.duckdb import DuckDB
from deniable.errors import DeniableError, ParameterError, SourceError
from deniable.query.joining import Join, held, repeated
from deniable.query.review import review
from deniable.query.schema import Column, Schema, Type
from deniable.query.survey import Survey, protect

REGIONS = pa.table(
    {"country": ["no", "se", "pe"], "region": ["north", "north", "south"], "people": [5, 10, 34]}
)
PEOPLE = pa.table(
    {
        "person": [1, 2, 3, 4, 5, 5],
        "country": ["no", "se", "pe", "xx", None, "no"],
        "spend": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
)


NAMED = [[("code", Type.TEXT), ("year", Type.INTEGER)], [("region", Type.TEXT)]]


def survey(table: pa.Table = PEOPLE) -> Survey:
    return protect(table, unit="person")


def rows(prepared: Survey, *columns: str) -> list[tuple[Any, ...]]:
    with DuckDB(threads=2) as engine:
        found = engine.stream(prepared.rows(engine, columns)).read_all()
    return sorted((tuple(row.values()) for row in found.to_pylist()), key=repr)


def test_each_row_gets_the_columns_of_its_key_and_stays_if_there_is_none() -> None:
    found = rows(survey().join(REGIONS, on="country"), "person", "region", "people")
    assert found == [
        (1, "north", 5),
        (2, "north", 10),
        (3, "south", 34),
        (4, None, None),
        (5, "north", 5),
        (5, None, None),
    ]


def as_csv(table: pa.Table, folder: Path) -> Any:
    pd.DataFrame(table.to_pandas()).to_csv(folder / "regions.csv", index=False)
    return folder / "regions.csv"


def as_parquet(table: pa.Table, folder: Path) -> Any:
    pq.write_table(table, folder / "regions.parquet")
    return str(folder / "regions.parquet")


PUBLIC: dict[str, Callable[[pa.Table, Path], Any]] = {
    "csv": as_csv,
    "parquet": as_parquet,
    "pandas": lambda table, _: table.to_pandas(),
    "pandas categorical": lambda table, _: table.to_pandas().astype({"country": "category"}),
    "polars": lambda table, _: pl.from_arrow(table),
    "arrow": lambda table, _: table,
    "arrow stream": lambda table, _: table.to_reader(),
    "duckdb": lambda table, _: duckdb.connect().from_arrow(table),
}


@pytest.mark.parametrize("kind", PUBLIC)
def test_a_public_table_may_be_any_source(kind: str, tmp_path: Path) -> None:
    joined = survey().join(
        PUBLIC[kind](REGIONS, tmp_path), on="country", columns=["region"], types={"country": "text"}
    )
    expected = [(1, "north"), (2, "north"), (3, "south"), (4, None), (5, "north"), (5, None)]
    assert rows(joined, "person", "region") == expected
    assert "region" in joined.schema.names
    assert "people" not in joined.schema.names


DAY = datetime.date(2024, 2, 29)
KEYS: dict[str, tuple[pa.DataType, pa.DataType, list[Any]]] = {
    "text": (pa.string(), pa.string(), ["a", "A", "", "å", "a "]),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), pa.string(), ["a", "b"]),
    "integer": (pa.int64(), pa.int8(), [0, 1, -1, 127, -128]),
    "unsigned": (pa.uint64(), pa.uint64(), [0, 2**64 - 1]),
    "signed, unsigned": (pa.int64(), pa.uint64(), [0, 2**63 - 1]),
    "boolean": (pa.bool_(), pa.bool_(), [True, False]),
    "date": (pa.date32(), pa.date32(), [DAY, datetime.date(1, 1, 1)]),
    "timestamp": (pa.timestamp("us"), pa.timestamp("ms"), [datetime.datetime(2024, 2, 29, 1, 2, 3)]),
}


@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_every_type_find_their_row(kind: str) -> None:
    here, there, values = KEYS[kind]
    private = pa.table({"person": range(len(values)), "key": pa.array(values, here)})
    public = pa.table({"key": pa.array(values, there), "place": range(len(values))})
    assert rows(survey(private).join(public, on="key"), "person", "place") == [
        (place, place) for place in range(len(values))
    ]


def test_a_number_that_no_public_key_can_be_has_no_partner() -> None:
    private = pa.table({"person": [1, 2], "key": pa.array([-1, 2**63 - 1], pa.int64())})
    public = pa.table({"key": pa.array([2**64 - 1, 2**63 - 1], pa.uint64()), "place": [1, 2]})
    assert rows(survey(private).join(public, on="key"), "person", "place") == [(1, None), (2, 2)]


SOME = st.sampled_from(["no", "se", "pe", "NO", "", "no ", None])


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    private=st.lists(st.tuples(st.integers(1, 3), SOME, st.sampled_from([1, 2, None])), max_size=12),
    public=st.dictionaries(st.tuples(SOME, st.sampled_from([1, 2, None])), st.integers(0, 9), max_size=8),
)
def test_every_row_stays_one_row_as_in_plain_python(
    private: list[tuple[int, str | None, int | None]], public: dict[tuple[str | None, int | None], int]
) -> None:
    people, countries, years = zip(*private, strict=True) if private else ((), (), ())
    here = pa.table(
        {
            "person": pa.array(people, pa.int64()),
            "country": pa.array(countries, pa.string()),
            "year": pa.array(years, pa.int64()),
        }
    )
    there = pa.table(
        {
            "code": pa.array([key[0] for key in public], pa.string()),
            "when": pa.array([key[1] for key in public], pa.int64()),
            "found": pa.array(list(public.values()), pa.int64()),
        }
    )
    joined = survey(here).join(there, on={"country": "code", "year": "when"}, columns=["found"])
    expected = [
        (person, public.get((country, year)) if None not in (country, year) else None)
        for person, country, year in private
    ]
    assert rows(joined, "person", "found") == sorted(expected, key=repr)


@pytest.mark.parametrize(
    ("kind", "values"),
    [(pa.string(), ["no", "se", "no"]), (pa.int64(), [1, 2, 1]), (pa.timestamp("ns"), [1, 2, 10**6])],
)
def test_a_key_that_stands_twice_is_refused_before_private_data_are_read(
    kind: pa.DataType, values: list[Any]
) -> None:
    here = pa.table({"person": [1], "key": pa.array([values[0]], kind)})
    there = pa.table({"key": pa.array(values, kind), "place": [1, 2, 3]})
    with pytest.raises(ParameterError, match="same key") as refused:
        survey(here).join(there, on="key")
    assert "no," not in str(refused.value)


def test_two_rows_of_one_key_are_refused_though_all_else_differs() -> None:
    there = pa.table({"country": ["no", "no"], "year": [1, 2], "region": ["a", "b"]})
    with pytest.raises(ParameterError, match="same key"):
        survey().join(there, on="country")


@pytest.mark.parametrize(
    ("there", "arguments", "words"),
    [
        (REGIONS.rename_columns(["country", "SPEND", "n"]), {"on": "country"}, "already.*SPEND"),
        (REGIONS.rename_columns(["country", "Person", "n"]), {"on": "country"}, "already.*Person"),
        (REGIONS.rename_columns(["code", "COUNTRY", "n"]), {"on": {"country": "code"}}, "already.*COUNTRY"),
        (REGIONS, {"on": "city"}, "on.*city"),
        (REGIONS, {"on": ["country", "spend"]}, "on.*spend"),
        (REGIONS, {"on": {"spend": "people"}}, "real in the protected table and integer"),
        (REGIONS, {"on": {"country": "people"}}, "text in the protected table and integer"),
        (REGIONS, {"on": []}, "must name columns"),
        (REGIONS, {"on": 7}, "must name columns"),
        (REGIONS, {"on": ["country", "COUNTRY"]}, "each once"),
        (REGIONS, {"on": "country", "columns": "region"}, "must be a list"),
        (REGIONS, {"on": "country", "columns": []}, "must name what to take"),
        (REGIONS, {"on": "country", "columns": ["region", "REGION"]}, "must name what to take"),
        (REGIONS, {"on": "country", "columns": ["city"]}, "columns.*city"),
        (REGIONS.select(["country"]), {"on": "country"}, "must name what to take"),
        (7, {"on": "country"}, "data"),
    ],
)
def test_what_cannot_be_joined_is_refused_by_name(there: Any, arguments: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        survey().join(there, **arguments)


def test_reals_are_no_keys() -> None:
    there = pa.table({"spend": [1.0], "place": [1]})
    with pytest.raises(ParameterError, match="cannot be joined on"):
        survey().join(there, on="spend")


def test_names_of_keys_are_found_whatever_their_case() -> None:
    there = REGIONS.rename_columns(["COUNTRY", "region", "people"])
    assert rows(survey().join(there, on="Country"), "person", "region")[0] == (1, "north")


def test_joined_columns_are_prepared_grouped_and_joined_again() -> None:
    continents = pa.table({"area": ["NORTH"], "continent": ["Europe"]})
    prepared = (
        survey()
        .derive(code="lower(country)")
        .join(REGIONS.rename_columns(["key", "region", "people"]), on={"code": "key"}, columns=["region"])
        .derive(area="upper(region)")
        .join(continents, on="area")
        .where("continent = 'Europe' OR spend > 3")
    )
    assert rows(prepared, "person", "continent") == [
        (1, "Europe"),
        (2, "Europe"),
        (4, None),
        (5, "Europe"),
        (5, None),
    ]
    query = prepared.group_by("continent", keys=["Europe", "Asia"]).aggregate(people=dn.units())
    release = query.release(epsilon=1000, bits=bits(1))
    assert release.table["people"].to_pylist() == [3, 0]


def test_a_table_that_nothing_is_asked_of_is_not_joined() -> None:
    with DuckDB() as engine:
        tree = survey().join(REGIONS, on="country").rows(engine, ["person"])
    assert "JOIN" not in tree.sql(dialect="duckdb")


def test_what_is_joined_is_what_was_read_when_it_was_asked_for(tmp_path: Path) -> None:
    path = as_csv(REGIONS, tmp_path)
    joined = survey().join(path, on="country")
    path.write_text("country,region,people\nno,changed,1\nno,twice,2\n")
    assert rows(joined, "person", "region")[0] == (1, "north")


def test_private_rows_are_not_read_by_a_join(tmp_path: Path) -> None:
    private = tmp_path / "private.csv"
    private.write_text("person,country\n1,no\n")
    prepared = protect(private, unit="person")
    private.unlink()
    plan = prepared.join(REGIONS, on="country").aggregate(people=dn.units()).plan(epsilon=1)
    assert "join" in str(plan)


def test_a_unit_moves_sums_of_joined_columns_by_no_more_than_is_priced() -> None:
    """A person with many rows, with and without partners, counts as often as max_rows allows."""
    heavy = pa.table({"person": [9] * 40, "country": ["pe", "xx", None, "no"] * 10, "spend": [0.0] * 40})
    query = (
        survey(pa.concat_tables([PEOPLE, heavy]))
        .join(REGIONS, on="country")
        .aggregate(rows=dn.count(max_rows=2), people=dn.sum("people", bounds=(0, 20), max_rows=2))
    )
    without = survey().join(REGIONS, on="country").aggregate(**dict(query.outputs))
    more, less = (one.release(epsilon=10**6, bits=bits(2)).table.to_pylist()[0] for one in (query, without))
    assert more["rows"] - less["rows"] == 2
    assert 0 < more["people"] - less["people"] <= 40


def test_the_statement_says_that_the_table_is_public_and_the_review_finds_it_sound(tmp_path: Path) -> None:
    joined = survey().join(as_csv(REGIONS, tmp_path), on="country", columns=["region"])
    query = joined.group_by("region", keys=["north", "south"]).aggregate(people=dn.units())
    assert "join regions.csv on country for region" in str(query.plan(epsilon=1))
    release = query.release(epsilon=1)
    words = " ".join(release.statement.split())
    assert "Rows were prepared by: join regions.csv on country for region." in words
    assert "The joined table regions.csv is public" in words
    release.save(tmp_path / "saved")
    found = review(tmp_path / "saved")
    assert all(f.verdict == "right" for f in found.findings), str(found)


def test_a_public_table_that_cannot_be_read_says_so() -> None:
    def broken() -> Any:
        yield pa.record_batch({"country": ["no"], "region": ["a"]})
        raise ValueError("secret words")

    schema = pa.schema({"country": pa.string(), "region": pa.string()})
    reader = pa.RecordBatchReader.from_batches(schema, broken())
    with pytest.raises(DeniableError) as failed:
        survey().join(reader, on="country")
    assert "secret" not in str(failed.value)


def test_a_public_table_of_nothing_that_can_be_used_is_refused() -> None:
    odd = pa.table({"country": pa.array([[1]], pa.list_(pa.int64()))})
    with pytest.raises((SourceError, ParameterError)):
        survey().join(odd, on="country")


def test_the_sql_is_what_was_read_and_agreed() -> None:
    there = pa.table({"code": ["no"], "year": pa.array([1], pa.int64()), "region": ["north"]})
    here = pa.table({"person": [1], "country": ["no"], "year": pa.array([1], pa.int64())})
    step = survey(here).join(there, on={"country": "code", "year": "year"}).steps[0]
    assert isinstance(step, Join)
    with DuckDB() as engine:
        over = step.over(exp.select("*").from_("survey"), engine)
    keys, added = (Schema(tuple(Column(name, kind) for name, kind in named)).columns for named in NAMED)
    written = [held(exp.select("*").from_("regions"), keys, added), repeated(2), over]
    words = ";\n\n".join(tree.sql(dialect="duckdb", pretty=True) for tree in written) + "\n"
    path = Path(__file__).parent / "join.sql"
    if os.environ.get("DENIABLE_WRITE_SNAPSHOTS") == "1":
        path.write_text(words, "utf-8")
    assert words == path.read_text("utf-8")


def test_data_frame_words_lead_to_join() -> None:
    with pytest.raises(AttributeError, match=r"\.join\("):
        survey().merge(REGIONS)  # type: ignore[attr-defined]
