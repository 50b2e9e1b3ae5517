"""Parquet: read in place, its schema public, several files only if they agree."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from source_rows import read, written

from deniable.engines.duckdb import DuckDB
from deniable.errors import EngineError, ParameterError, SourceError
from deniable.query.source import resolve


def saved(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path)
    return path


def test_rows_are_read_typed_as_the_schema_says(tmp_path: Path) -> None:
    table = pa.table({
        "Person": ["a", "b"],
        "u8": pa.array([200, 1], pa.uint8()),
        "u64": pa.array([2**64 - 1, 1], pa.uint64()),
        "f16": pa.array([1.5, float("nan")], pa.float16()),
        "d": pa.array([Decimal("1.50"), None], pa.decimal128(5, 2)),
        "t": pa.array([0, None], pa.timestamp("ms", "Europe/Berlin")),
        "day": pa.array([2**31 - 1, 0], pa.date32()),
        "kind": pa.array(["x", "y"]).dictionary_encode(),
    })  # fmt: skip
    source = resolve(saved(tmp_path / "a.parquet", table), types={"person": "text"})
    kinds = "text integer integer real decimal timestamp date text".split()
    assert [str(column.type) for column in source.schema.columns] == kinds
    assert source.schema.columns[0].declared
    assert read(source) == [
        ("a", 200, Decimal(2**64 - 1), 1.5, Decimal("1.50"), dt.datetime(1970, 1, 1), None, "x"),
        ("b", 1, Decimal(1), None, None, None, dt.date(1970, 1, 1), "y"),
    ]
    assert "names and types" in source.assumed[0]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("UUID", "text"), ("HUGEINT", "real"), ("ENUM('x')", "text"), ("TIME", "other"), ("BLOB", "other"),
        ("INTERVAL", "other"), ("INTEGER[]", "other"), ("STRUCT(a INTEGER)", "other"),
        ("MAP(VARCHAR, INTEGER)", "other"), ("JSON", "text"), ("TIMESTAMP_NS", "timestamp"),
        ("DECIMAL(3, 1)[]", "other"),
    ],
)  # fmt: skip
def test_every_type_that_a_file_may_have_is_mapped(kind: str, name: str, tmp_path: Path) -> None:
    """HUGEINT is a float already in the file: Parquet has no such integers."""
    path = tmp_path / "a.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS a, NULL::{kind} AS odd) TO '{path}'").fetchall()
    source = resolve(path)
    assert source.schema.find("odd", "x").type == name
    assert read(source, ["a"]) == [(1,)]


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_one_timestamp_that_is_too_far_away_is_null_and_nothing_else_changes(
    unit: str, zone: str | None, tmp_path: Path
) -> None:
    far = [] if unit == "ns" else [2**52, -(2**52), 2**53] if unit == "s" else [2**62, -(2**62), 2**63 - 1]
    times = pa.array([0, *far, None], pa.timestamp(unit, zone))
    table = pa.table({"t": times, "a.b": range(len(times)), "unused": [[1]] * len(times)})
    source = resolve(saved(tmp_path / "a.parquet", table))
    assert str(source.schema.columns[0].type) == "timestamp"
    expected = [(0, dt.datetime(1970, 1, 1)), *((place, None) for place in range(1, len(times)))]
    for _ in range(2):
        assert read(source, ["a.b", "t"]) == expected


def test_an_empty_file_of_rows_is_an_empty_table(tmp_path: Path) -> None:
    assert read(resolve(saved(tmp_path / "a.parquet", pa.table({"a": pa.array([], pa.int64())})))) == []


@pytest.mark.parametrize(
    "name", ["a:b.parquet", "it's.parquet", "größe 1.parquet", "a[1].parquet", "*.parquet"]
)
def test_weird_names_of_files_work(name: str, tmp_path: Path) -> None:
    saved(tmp_path / "a1.parquet", pa.table({"a": [9]}))
    assert read(resolve(saved(tmp_path / name, pa.table({"a": [1]})))) == [(1,)]


@pytest.mark.parametrize("name", ["a:b", 'a"b', "select", "größe", "two words", "read_parquet", "x'y", " a "])
def test_weird_names_of_columns_work(name: str, tmp_path: Path) -> None:
    source = resolve(saved(tmp_path / "a.parquet", pa.table({"z": [2], name: [1]})))
    assert source.schema.names == ("z", name)
    assert read(source, [name]) == [(1,)]


def test_folders_do_not_become_columns(tmp_path: Path) -> None:
    (tmp_path / "year=2024").mkdir()
    path = saved(tmp_path / "year=2024" / "a.parquet", pa.table({"a": [1]}))
    assert resolve(path).schema.names == ("a",)
    assert resolve(tmp_path / "*" / "*.parquet").schema.names == ("a",)


def test_several_files_are_one_table(tmp_path: Path) -> None:
    for i in range(3):
        saved(tmp_path / f"{i}.parquet", pa.table({"a": [i], "b": ["x"]}))
    assert read(resolve(f"{tmp_path}/*.parquet")) == [(0, "x"), (1, "x"), (2, "x")]


@pytest.mark.parametrize(
    "second",
    [{"b": [1], "a": [1]}, {"a": [1]}, {"a": [1.5], "b": [1]}, {"A": [1], "b": [1]}, {"a": [1], "b": [None]}],
)
def test_files_that_differ_are_refused(second: dict[str, Any], tmp_path: Path) -> None:
    saved(tmp_path / "1.parquet", pa.table({"a": [1], "b": [1]}))
    saved(tmp_path / "2.parquet", pa.table(second))
    with pytest.raises(SourceError, match=r"1\.parquet and 2\.parquet differ"):
        resolve(f"{tmp_path}/*.parquet")


def test_names_that_coincide_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.parquet", pa.table({"Person": [1], "person": [2]}))
    with pytest.raises(SourceError, match="both called 'person'"):
        resolve(path)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"a,b\n1,2\n", b"PAR1" + b"\0" * 50 + b"PAR1"])
def test_what_is_not_parquet_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is not a Parquet file that can be read") as caught:
        resolve(written(tmp_path / "a.parquet", data))
    assert caught.value.__context__ is None


def test_a_table_without_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        resolve(saved(tmp_path / "a.parquet", pa.table({})))


def test_an_unknown_column_of_types_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.parquet", pa.table({"age": [1]}))
    with pytest.raises(ParameterError, match="Did you mean 'age'"):
        resolve(path, types={"agee": "integer"})


def test_only_the_columns_asked_for_are_read(tmp_path: Path) -> None:
    """The pages of the other column are destroyed: reading them would fail."""
    path = saved(tmp_path / "a.parquet", pa.table({"odd": ["text"] * 1000, "a": [1] * 1000}))
    data = bytearray(path.read_bytes())
    chunk = pq.read_metadata(path).row_group(0).column(0)
    start = chunk.dictionary_page_offset
    data[start : start + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    path.write_bytes(data)
    source = resolve(path)
    assert read(source, ["a"]) == [(1,)] * 1000
    with pytest.raises(EngineError):
        read(source, ["odd"])


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.parquet", pa.table({"a": [1]}))
    source = resolve(path)
    with DuckDB(threads=1) as engine:
        engine.stream(source.rows(engine, ["a"])).read_all()
    source.check_unchanged()
    saved(path, pa.table({"a": [2, 3]}))
    with pytest.raises(SourceError, match="changed after it was opened"):
        source.check_unchanged()


def test_a_name_that_duckdb_cannot_open_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = saved(tmp_path / "a\\*.parquet", pa.table({"a": [1]}))
    with pytest.raises(SourceError, match="backslash and one of"):
        resolve(path)
    assert read(resolve(saved(tmp_path / "a\\b.parquet", pa.table({"a": [1]})))) == [(1,)]
