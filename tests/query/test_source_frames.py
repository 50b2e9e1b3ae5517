"""pandas, Polars, Arrow: types come from dtypes, and an object column says nothing about its values."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from source_rows import read

from deniable.engines.duckdb import DuckDB
from deniable.errors import EngineError, ParameterError, SourceError
from deniable.query.source import resolve

NOON = dt.datetime(2024, 2, 29, 12)
HALF = Decimal("1.50")
BERLIN = dt.timezone(dt.timedelta(hours=1))


def column(values: Any, **types: str) -> tuple[str, list[Any]]:
    """The type and the values of one column `v`, in order."""
    frame = pd.DataFrame({"place": range(len(values)), "v": values})
    source = resolve(frame, types=types or None)
    return str(source.schema.find("v", "x").type), [
        value for _, value in sorted(read(source), key=lambda row: int(row[0]))
    ]


@pytest.mark.parametrize(
    ("values", "name", "expected"),
    [
        (pd.Series([1, 2], dtype="int64"), "integer", [1, 2]),
        (pd.Series([200, 1], dtype="uint8"), "integer", [200, 1]),
        (pd.Series([2**64 - 1], dtype="uint64"), "integer", [Decimal(2**64 - 1)]),
        (pd.Series([1, None], dtype="Int64"), "integer", [1, None]),
        (pd.Series([1.5, math.nan, math.inf]), "real", [1.5, None, None]),
        (pd.Series([1.5, None], dtype="Float32"), "real", [1.5, None]),
        (pd.Series([0.5], dtype="float32"), "real", [0.5]),
        (pd.Series([0.5], dtype="float16"), "real", [0.5]),
        (pd.Series([True, False]), "boolean", [True, False]),
        (pd.Series([True, None], dtype="boolean"), "boolean", [True, None]),
        (pd.Series(["a", None], dtype="str"), "text", ["a", None]),
        (pd.Series(["a", None], dtype="string"), "text", ["a", None]),
        (pd.Series(["a", None], dtype=pd.StringDtype("python")), "text", ["a", None]),
        (pd.Series(["a\ud800", "b"], dtype=pd.StringDtype("python")), "text", [None, "b"]),
        (pd.Series(["a", None], dtype=pd.ArrowDtype(pa.string())), "text", ["a", None]),
        (pd.Series([None, HALF], dtype=pd.ArrowDtype(pa.decimal128(4, 2))), "decimal", [None, HALF]),
        (pd.to_datetime(pd.Series([NOON, None])), "timestamp", [NOON, None]),
        (pd.Series([NOON, None], dtype="datetime64[s]"), "timestamp", [NOON, None]),
        (pd.Series([NOON.replace(tzinfo=BERLIN)]), "timestamp", [NOON.replace(hour=11)]),
        (pd.Series([dt.date(2024, 2, 29)], dtype=pd.ArrowDtype(pa.date32())), "date", [dt.date(2024, 2, 29)]),
        (pd.Categorical(["x", None, "y"], categories=["z", "y", "x"]), "text", ["x", None, "y"]),
        (pd.Categorical([3, None, 1]), "text", ["3", None, "1"]),
        (pd.Categorical([], categories=["a"]), "text", []),
        (pd.Series([None, None], dtype=object), "text", [None, None]),
        (pd.Series([], dtype=object), "text", []),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")) or None,
)  # fmt: skip
def test_a_typed_column_is_what_its_dtype_says(values: Any, name: str, expected: list[Any]) -> None:
    assert column(values) == (name, expected)


@pytest.mark.parametrize(
    "values",
    [
        pd.to_timedelta([1, 2]),
        pd.period_range("2024-01", periods=2, freq="M"),
        pd.interval_range(0, 2),
        pd.arrays.SparseArray([1, 2]),
        np.array([1j, 2j]),
        pd.Series([[1], [2]], dtype=pd.ArrowDtype(pa.list_(pa.int8()))),
    ],
    ids=lambda value: str(value.dtype),
)
def test_other_dtypes_are_other_and_harm_no_other_column(values: Any) -> None:
    source = resolve(pd.DataFrame({"a": [1, 2], "odd": values}))
    assert source.schema.find("odd", "x").type == "other"
    assert read(source, ["a"]) == [(1,), (2,)]


class Odd:
    """An object that must never be looked at."""

    def __str__(self) -> str:
        raise AssertionError("str() was called on a private object")

    __repr__ = __str__


OBJECTS: list[tuple[Any, str | None, int | None]] = [
    ("blue", "blue", None), ("5", "5", 5), ("", "", None), (b"blue", "blue", None), (b"\xff", None, None),
    ("a\ud800", None, None), (np.str_("x"), "x", None), (5, "5", 5), (True, "True", None),
    (np.int8(7), "7", 7), (2**70, str(2**70), None), (10**5000, None, None), (2.5, "2.5", None),
    (3.0, "3.0", 3), (np.float32(0.5), "0.5", None), (math.nan, None, None),
    (math.inf, None, None), (None, None, None), (pd.NA, None, None), (pd.NaT, None, None),
    (Decimal("1E+2"), "100", 100), (Decimal("NaN"), None, None), (Decimal("1E+5000"), None, None),
    (dt.date(2024, 2, 29), "2024-02-29", None), (NOON, "2024-02-29 12:00:00", None),
    (pd.Timestamp(NOON), "2024-02-29 12:00:00", None), (dt.time(1), None, None),
    ([1], None, None), ({}, None, None),
    (np.array([1, 2]), None, None), (pa.scalar(1), None, None), (Odd(), None, None), (1j, None, None),
]  # fmt: skip


def test_each_value_of_an_object_column_is_converted_alone() -> None:
    values = pd.Series([value for value, _, _ in OBJECTS], dtype=object)
    assert column(values) == ("text", [text for _, text, _ in OBJECTS])
    assert column(values, v="integer") == ("integer", [number for _, _, number in OBJECTS])


@pytest.mark.parametrize("odd", ["text", 5, None, b"x", "\ud800", Odd(), [1], math.nan])
@pytest.mark.parametrize("usual", [["a", "b"], [1, 2], [1.5, 2.5], [None, None]], ids=str)
def test_one_odd_object_changes_no_other_value_and_no_type(odd: Any, usual: list[Any]) -> None:
    kind, values = column(pd.Series(usual * 50, dtype=object))
    odd_kind, odd_values = column(pd.Series([*usual * 50, odd], dtype=object))
    assert (odd_kind, odd_values[:-1]) == (kind, values)


@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        (pd.DataFrame({0: [1], "a": [2]}), "Column 1 of a pandas frame is not named by text"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "not named by text"),
        (pd.DataFrame([[1, 2]], columns=["a", "A"]), "both called 'A'"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "both called 'a'"),
        (pd.DataFrame({"": [1]}), "has no name"),
        (pd.DataFrame(), "has no columns"),
        (pl.DataFrame({"a": [1], "A": [1]}), "both called 'A'"),
        (pl.DataFrame(), "has no columns"),
        (pl.DataFrame({"a": pl.Series([object()], dtype=pl.Object)}), "Column 'a' of a Polars frame is of"),
        (pl.LazyFrame({"a": [1]}).select("b"), "cannot be found"),
        (pa.table({"a": [1], "A": [1]}), "both called 'A'"),
        (pa.table({}), "has no columns"),
        (pa.chunked_array([[1, 2]]), "cannot be opened as a table"),
    ],
)  # fmt: skip
def test_a_frame_that_cannot_be_used_is_refused_with_its_reason(frame: Any, problem: str) -> None:
    with pytest.raises(SourceError) as caught:
        resolve(frame)
    assert problem in str(caught.value)


def polars_frame() -> pl.DataFrame:
    return pl.DataFrame({
        "c": pl.Series(["x", "y", None], dtype=pl.Categorical),
        "e": pl.Series(["x", None, "x"], dtype=pl.Enum(["y", "x"])),
        "s": ["a", "é", None],
        "u": pl.Series([2**64 - 1, 1, None], dtype=pl.UInt64),
        "f": [math.nan, 1.5, math.inf],
        "d": pl.Series([Decimal("1.50"), None, None], dtype=pl.Decimal(5, 2)),
        "t": pl.Series([NOON] * 3).dt.replace_time_zone("Europe/Berlin"),
        "day": [dt.date(2024, 2, 29)] * 3,
        "b": [True, False, None],
        "time": [dt.time(1)] * 3, "list": [[1]] * 3, "bin": [b"x"] * 3, "null": [None] * 3,
        "td": [dt.timedelta(1)] * 3,
        "i128": pl.Series([2**100, 1, 2], dtype=pl.Int128),
    })  # fmt: skip


@pytest.mark.parametrize("lazy", [False, True])
def test_polars_frames_eager_and_lazy(lazy: bool) -> None:
    source = resolve(polars_frame().lazy() if lazy else polars_frame())
    kinds = [str(column.type) for column in source.schema.columns]
    assert kinds == "text text text integer real decimal timestamp date boolean".split() + ["other"] * 6
    day = dt.date(2024, 2, 29)
    hour = NOON.replace(hour=11)
    for _ in range(2):
        assert read(source, [*"cesufd", "t", "day", "b"]) == sorted([
            ("x", "x", "a", Decimal(2**64 - 1), None, Decimal("1.50"), hour, day, True),
            ("y", None, "é", Decimal(1), 1.5, None, hour, day, False),
            (None, "x", None, None, None, None, hour, day, None),
        ], key=repr)  # fmt: skip
    with pytest.raises(ParameterError, match="cannot be used"):
        read(source, ["i128"])


def test_a_lazy_frame_that_fails_tells_nothing() -> None:
    def fail(value: str) -> int:
        raise ValueError(f"secret {value}")

    lazy = pl.LazyFrame({"a": ["somebody"]}).select(pl.col("a").map_elements(fail, return_dtype=pl.Int64))
    with pytest.raises(EngineError) as caught:
        read(resolve(lazy))
    assert "somebody" not in str(caught.value)
    assert caught.value.__context__ is None


def stream(rows: int = 1000) -> pa.RecordBatchReader:
    return pa.table({"a": range(rows), "b": ["x"] * rows}).to_reader(max_chunksize=7)


def test_a_stream_that_can_be_read_once_serves_every_release() -> None:
    source = resolve(stream())
    for _ in range(3):
        assert len(read(source, ["a"])) == 1000
        assert set(read(source, ["b"])) == {("x",)}


def test_a_stream_is_not_read_before_rows_are_needed() -> None:
    reader = stream()
    resolve(reader)
    assert reader.read_all().num_rows == 1000


def test_a_stream_that_failed_half_way_stays_failed() -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"a": [1]})
        raise ValueError("somebody")

    source = resolve(pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches()))
    for _ in range(2):
        with pytest.raises(EngineError) as caught:
            read(source)
        assert "somebody" not in str(caught.value)


class Foreign:
    """A table of another package: it gives Arrow streams and nothing else."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return stream().__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "data",
    [
        stream().read_all(), stream().read_next_batch(), stream(), Foreign(), stream().read_all().to_pandas(),
        pl.DataFrame(stream().read_all()), pl.LazyFrame({"a": range(1000), "b": "x"}),
    ],
    ids=lambda data: type(data).__module__ + "." + type(data).__name__,
)  # fmt: skip
def test_every_kind_of_frame_can_be_read_again_and_without_columns(data: Any) -> None:
    source = resolve(data)
    rows = 7 if isinstance(data, pa.RecordBatch) else 1000
    with DuckDB(threads=2) as engine:
        for _ in range(2):
            for names in ([], ["b"], ["a", "b"]):
                tree = source.rows(engine, names)
                counted = engine.stream(
                    f"SELECT count(*) AS n FROM ({tree.sql(dialect='duckdb')})"
                ).read_all()
                assert counted["n"].to_pylist() == [rows]
    source.check_unchanged()
    assert "public" in source.assumed[0]


def test_a_table_is_not_copied() -> None:
    before = pa.total_allocated_bytes()
    source = resolve(
        pa.table({"a": np.zeros(4_000_000), "s": pa.array(["x"]).take(pa.array(np.zeros(4_000_000, int)))})
    )
    held = pa.total_allocated_bytes() - before
    peak: list[int] = []
    with DuckDB(threads=2) as engine:
        reader = engine.stream(f"SELECT a FROM ({source.rows(engine, ['a', 's']).sql(dialect='duckdb')})")
        peak.extend(pa.total_allocated_bytes() - before for _ in reader)
    assert max(peak) < held + (16 << 20)


def test_chunked_dictionaries_with_different_values_are_one_text_column() -> None:
    chunks = [pa.array(["x", "y"]).dictionary_encode(), pa.array(["z", None]).dictionary_encode()]
    assert read(resolve(pa.table({"a": pa.chunked_array(chunks)}))) == [("x",), ("y",), ("z",), (None,)]
