"""Values that their own type does not allow: NULL for themselves, and nothing else changes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from source_rows import read

import deniable as dn
from deniable.bits import SeededBits
from deniable.engines.duckdb import DuckDB
from deniable.errors import SourceError
from deniable.query.collect import temporary
from deniable.query.source import resolve
from deniable.query.sources import parquet as parquet_source
from deniable.query.sources.validity import valid

BAD = [b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"]
GOOD = ["", "a", "blå", "\0", "\U0001f600", "red" * 50]
KINDS = {"string": pa.binary(), "large_string": pa.large_binary(), "string_view": pa.binary_view()}


def texts(values: Sequence[bytes | str | None], kind: str = "string") -> pa.Array:
    """An Arrow column of text in which nobody has looked at the bytes."""
    raw = [value.encode() if isinstance(value, str) else value for value in values]
    return pa.array(raw, KINDS[kind]).view(getattr(pa, kind)())


def parquet(table: pa.Table, folder: Path) -> Any:
    path = folder / "a.parquet"
    pq.write_table(table, path)
    return path


CONNECTION = duckdb.connect()
ARRAY: Any = pd.arrays.ArrowExtensionArray
FORMS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "arrow": lambda table, folder: table,
    "parquet": parquet,
    "pandas": lambda table, folder: pd.DataFrame({
        name: pd.Series(ARRAY(table.column(name)))
        for name in table.column_names
    }),
    "polars": lambda table, folder: pl.from_arrow(table),
    "relation": lambda table, folder: CONNECTION.from_arrow(table),
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("form", FORMS)
def test_text_that_is_not_utf_8_is_null_and_nothing_else_changes(
    form: str, bad: bytes, tmp_path: Path
) -> None:
    table = pa.table({"s": texts([*GOOD, None, bad]), "n": range(len(GOOD) + 2)})
    source = resolve(FORMS[form](table, tmp_path))
    expected = [*((good, place) for place, good in enumerate(GOOD)), (None, len(GOOD)), (None, len(GOOD) + 1)]
    assert read(source, ["s", "n"]) == sorted(expected, key=repr)


@pytest.mark.parametrize("form", FORMS)
def test_a_release_does_not_depend_on_whether_a_value_is_utf_8(form: str, tmp_path: Path) -> None:
    table = pa.table({"person": ["p", "q", "r"], "s": texts(["a", b"\xff", "b"]), "t": ["12", "x", "30"]})
    survey = dn.protect(FORMS[form](table, tmp_path), unit="person", types={"t": "integer"})
    query = survey.derive(u="upper(s)").group_by("u", keys=["A", "B", "C"]).aggregate(m=dn.units())
    release = query.release(epsilon=1000, bits=SeededBits(1, insecure=True))
    assert release.table.column("m").to_pylist() == [1, 1, 0]


@pytest.mark.parametrize("bad", BAD)
def test_text_of_a_parquet_file_that_repeats_is_judged_value_by_value(bad: bytes, tmp_path: Path) -> None:
    values = [*GOOD, None, bad] * 20_000  # so often that the file codes it, and over many batches
    table = pa.table({"s": texts(values), "n": range(len(values))})
    rows = read(resolve(parquet(table, tmp_path)), ["n", "s"])
    assert sorted(rows) == [(place, None if value == bad else value) for place, value in enumerate(values)]


def with_old_statistics(path: Path, least: str, largest: str) -> None:
    """Put the ends of a column of text where old writers had them, in the order of signed bytes."""
    data = path.read_bytes()
    (size,) = struct.unpack("<I", data[-8:-4])
    footer = data[-8 - size : -8]
    ends = [bytes([len(end.encode())]) + end.encode() for end in (largest, least)]
    found = b"\x36\x00\x28" + ends[0] + b"\x18" + ends[1]  # fields 3 (NULLs), 5 and 6 of the statistics
    assert footer.count(found) == 1
    before, after = footer.split(found)
    assert after[0] in (0x11, 0x12)  # field 7, counted from 6; it will be counted from 3
    instead = b"\x18" + ends[1] + b"\x18" + ends[0] + b"\x16\x00"  # fields 1, 2 and 3
    footer = before + instead + bytes([after[0] + 0x30]) + after[1:]
    path.write_bytes(data[: -8 - size] + footer + struct.pack("<I", len(footer)) + data[-4:])


def test_old_statistics_of_text_decide_nothing(tmp_path: Path) -> None:
    people = pa.table({"person": [1, 2, 3, 4], "s": ["a", "\u00e9", "a", "\u00e9"]})
    for others in ([], [b"zz\xff"]):
        path = tmp_path / f"{len(others)}.parquet"
        with pq.ParquetWriter(path, people.schema, compression="none") as writer:
            writer.write_table(people)
            if others:
                writer.write_table(pa.table({"person": [9], "s": texts(others)}))
        with_old_statistics(path, "a", "\u00e9")
        survey = dn.protect(path, unit="person")
        keys = survey.group_by("s", keys=["\u00e9", "b"]).aggregate(m=dn.units())
        joined = survey.join(pa.table({"s": ["\u00e9"], "f": ["x"]}), on="s").where("f = 'x'")
        beyond = survey.where("s > 'b'").aggregate(m=dn.units())
        for query, expected in (
            (keys, [2, 0]),
            (beyond, [2]),
            (joined.aggregate(m=dn.units()), [2]),
        ):
            assert query.release(epsilon=1000).table.column("m").to_pylist() == expected


@pytest.mark.parametrize("unit", ["person", dn.ROW])
@pytest.mark.parametrize("coding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_text_from_dictionaries_is_judged_value_by_value_whatever_its_coding(
    coding: str, unit: Any, tmp_path: Path
) -> None:
    for last, expected in ((b"b", [2, 2]), (b"\xff", [2, 1])):
        kept = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 2], pa.int32()), texts([b"a", b"b", last]))
        table = pa.table({"person": range(4), "c": kept})
        path = tmp_path / "a.parquet"
        coded = {"c": coding, "person": "PLAIN"}
        pq.write_table(table, path, use_dictionary=False, column_encoding=coded)
        asked = dn.units() if unit == "person" else dn.count()
        query = dn.protect(path, unit=unit).group_by("c", keys=["a", "b"]).aggregate(m=asked)
        assert query.release(epsilon=1000).table.column("m").to_pylist() == expected


@pytest.mark.parametrize("text", [False, True])
def test_old_times_that_are_too_far_are_missing_for_themselves_alone(text: bool, tmp_path: Path) -> None:
    for far, expected in ((1, 3), (2**60, 2)):
        times = pa.array([1, far, 5], pa.timestamp("ms"))
        table = pa.table({"person": [1, 2, 3], "when": times, "s": ["a", "b", "c"]})
        path = tmp_path / "a.parquet"
        pq.write_table(table, path, use_deprecated_int96_timestamps=True)
        where = '"when" IS NOT NULL' + " AND s <> 'z'" * text
        query = dn.protect(path, unit="person").where(where).aggregate(m=dn.units())
        assert query.release(epsilon=1000).table.column("m").to_pylist() == [expected]


@pytest.mark.parametrize("coding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "dictionary"])
@pytest.mark.parametrize("last", ["a", "z" * 9000])
def test_how_pages_of_text_are_coded_decides_nothing(coding: str, last: str, tmp_path: Path) -> None:
    values = [*["a"] * 1000, last]
    for number, how in enumerate((coding, "PLAIN", "dictionary", coding)):
        options: dict[str, Any] = {"use_dictionary": True}
        if how != "dictionary":
            options = {"use_dictionary": False, "column_encoding": {"s": how}}
        pq.write_table(pa.table({"s": values}), tmp_path / f"{number}.parquet", row_group_size=500, **options)
    assert read(resolve(tmp_path / "*.parquet")) == sorted((value,) for value in values * 4)


WELL_FORMED = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
ILL_FORMED = [
    b"\x80", b"\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xc2", b"\xc2A", b"\xdf\xc0", b"\xe0\x80\x80",
    b"\xe0\x9f\xbf", b"\xe1\x80", b"\xe1\x80A", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xef\xbf",
    b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf1\x80\x80", b"\xf1\x80\x80A", b"\xf4\x90\x80\x80",
    b"\xf5\x80\x80\x80", b"\xf7\xbf\xbf\xbf", b"\xf8\x88\x80\x80\x80", b"\xfc\x84\x80\x80\x80\x80",
    b"\xfe", b"\xff", b"\xed\xa0\xbd\xed\xb8\x80", b"a\x00\xff", b"a" * 200 + b"\xc3",
]  # fmt: skip


def by_duckdb(path: Path) -> list[Any]:
    return duckdb.execute("SELECT s FROM read_parquet(?)", [str(path)]).fetchall()


def test_both_readers_of_a_parquet_file_have_one_rule_for_text(tmp_path: Path) -> None:
    well = [WELL_FORMED[place : place + 4096] for place in range(0, len(WELL_FORMED), 4096)]
    assert by_duckdb(parquet(pa.table({"s": texts(well)}), tmp_path)) == [(text,) for text in well]
    assert valid(pa.chunked_array([texts(well)])).to_pylist() == well
    for ill in ILL_FORMED:
        assert valid(pa.chunked_array([texts([ill])])).to_pylist() == [None]
        path = parquet(pa.table({"s": texts([ill])}), tmp_path)
        with pytest.raises(duckdb.InvalidInputException):
            by_duckdb(path)


@pytest.mark.parametrize(("last", "careful"), [("z", False), (b"\xff", True)])
def test_a_parquet_file_is_read_with_care_only_where_it_must_be(
    last: Any, careful: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches, read_with_care = parquet_source._Batches._batches, []

    def told(self: Any) -> Iterator[pa.RecordBatch]:
        read_with_care.append(self)
        return batches(self)

    monkeypatch.setattr(parquet_source._Batches, "_batches", told)
    numbers = {
        "b": [True, False, None, True],
        "i": pa.array([-(2**31), 2**31 - 1, None, 0], pa.int32()),
        "j": pa.array([-(2**63), 2**63 - 1, None, 0], pa.int64()),
        "f": pa.array([3.4028235e38, -0.0, None, 1e-45], pa.float32()),
        "d": pa.array([1.7976931348623157e308, -0.0, 5e-324, 1.5], pa.float64()),
        "t": pa.array([-719162, 2932896, None, 0], pa.date32()),
    }
    path = parquet(pa.table({"s": texts(["a", "b", None, last]), **numbers}), tmp_path)
    with DuckDB() as engine:
        rows = resolve(path).rows(engine, ["s", *numbers])
        engine.execute(temporary("kept", rows))
        assert len(read_with_care) == careful
        kept = engine.stream("SELECT * FROM kept").read_all()
        streamed = engine.stream(rows).read_all()
        assert len(read_with_care) == careful + 1
    expected = {"s": ["a", "b", None, None if careful else "z"]}
    expected |= {name: pa.array(column).to_pylist() for name, column in numbers.items()}
    for found in (kept, streamed):
        assert repr(found.to_pydict()) == repr(expected)


def test_files_whose_times_have_different_units_are_refused_whatever_they_hold(tmp_path: Path) -> None:
    for far in (2**62, 0):
        units = {"us": pa.array([0, 0], pa.int64()), "ms": pa.array([far, 0], pa.int64())}
        for unit, column in units.items():
            pq.write_table(pa.table({"t": column.cast(pa.timestamp(unit))}), tmp_path / f"{unit}.parquet")
        for order in (("us", "ms"), ("ms", "us")):
            (tmp_path / "1.parquet").write_bytes((tmp_path / f"{order[0]}.parquet").read_bytes())
            (tmp_path / "2.parquet").write_bytes((tmp_path / f"{order[1]}.parquet").read_bytes())
            with pytest.raises(SourceError, match="differ in name or type"):
                resolve(tmp_path / "[12].parquet")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_arrow_text_is_judged_value_by_value(kind: str) -> None:
    column = pa.chunked_array([texts(["x", "y"], kind), texts(["x", BAD[0], None, *GOOD], kind)[1:]])
    assert valid(column).to_pylist() == ["x", "y", None, None, *GOOD]
    clean = column.slice(0, 2)
    assert valid(clean).equals(clean)
    assert read(resolve(pa.table({"s": column.slice(0, 4)}))) == sorted(
        [("x",), ("y",), (None,), (None,)], key=repr
    )


@pytest.mark.parametrize("kind", ["string", "large_string"])
def test_a_dictionary_of_text_is_judged_too(kind: str, tmp_path: Path) -> None:
    for index in (pa.int8(), pa.uint64()):
        odd = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0], index), texts(["x", b"\xff"], kind))
        table = pa.table({"s": odd, "n": range(4)})
        expected = [("x", 0), ("x", 3), (None, 1), (None, 2)]
        assert read(resolve(table), ["s", "n"]) == sorted(expected, key=repr)
    outside = pa.DictionaryArray.from_arrays(pa.array([0, 7, -1]), texts(["x"], kind), safe=False)
    assert valid(pa.chunked_array([outside])).to_pylist() == ["x", None, None]


def test_text_of_pandas_that_is_not_utf_8_is_null() -> None:
    strings: Any = pd.Series(["x", "y", "x"], dtype="str").array
    strings._pa_array = pa.chunked_array([texts(["x", b"\xff", "x"], "large_string")])
    assert read(resolve(pd.DataFrame({"s": strings}))) == sorted([("x",), ("x",), (None,)], key=repr)


def raw_decimals(numbers: list[int | None], kind: Any) -> pa.Array:
    """A decimal column that holds these whole numbers of its last digit, unchecked."""
    width = kind.byte_width
    data = b"".join((n or 0).to_bytes(width, "little", signed=True) for n in numbers)
    held = np.packbits([n is not None for n in numbers], bitorder="little")
    return pa.Array.from_buffers(kind, len(numbers), [pa.py_buffer(held), pa.py_buffer(data)])


@pytest.mark.parametrize(
    "kind", [pa.decimal32(5, 2), pa.decimal64(5, 2), pa.decimal128(5, 2), pa.decimal256(5, 2),
             pa.decimal128(38, 0), pa.decimal128(25, 2), pa.decimal256(25, 2)]
)  # fmt: skip
def test_decimals_with_too_many_digits_are_null_alone(kind: Any) -> None:
    limit, top = 10**kind.precision, 1 << (8 * kind.byte_width - 1)
    numbers = [0, 1, -1, limit - 1, 1 - limit, None]
    odd = [limit, -limit, limit + 1, -limit - 1, top - 1, -top, 1 << 62, None]
    odd = [n for n in odd if n is None or (-top <= n < top and abs(n) >= limit)]
    column = raw_decimals([*numbers, *odd], kind)
    expected = [None if n is None else Decimal(f"{n}E-{kind.scale}") for n in numbers] + [None] * len(odd)
    assert valid(pa.chunked_array([column])).to_pylist() == expected
    assert valid(pa.chunked_array([column[3:]])).to_pylist() == expected[3:]
    if kind.precision < 38:
        assert read(resolve(pa.table({"d": column}))) == sorted([(one,) for one in expected], key=repr)


def test_decimals_of_a_parquet_file_with_too_many_digits_are_null_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    for kind in (pa.decimal128(5, 2), pa.decimal128(30, 2)):
        over = 10**kind.precision
        pq.write_table(pa.table({"d": raw_decimals([150, over, None], kind), "n": [1, 2, 3]}), path)
        assert read(resolve(path), ["d", "n"]) == sorted(
            [(Decimal("1.50"), 1), (None, 2), (None, 3)], key=repr
        )


def test_a_uuid_and_json_of_a_parquet_file_are_read_beside_odd_text(tmp_path: Path) -> None:
    path, number = tmp_path / "a.parquet", "f47ac10b-58cc-4372-a567-0e02b2c3d479"
    with duckdb.connect() as connection:
        made = f"SELECT '{number}'::UUID AS id, '[1]'::JSON AS j, 'x'::ENUM('y', 'x') AS e, 'a' AS s"
        connection.execute(f"COPY ({made}) TO '{path}'").fetchall()
    assert read(resolve(path), ["s", "id", "j", "e"]) == [("a", number, "[1]", "x")]


def test_text_of_a_million_rows_is_passed_on_as_it_is() -> None:
    column = pa.chunked_array([texts(GOOD * 200_000)])
    assert valid(column).chunk(0).buffers()[2].address == column.chunk(0).buffers()[2].address
