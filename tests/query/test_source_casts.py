"""Each value is converted by itself: the table of `casts`, on a real engine, against plain Python."""

from __future__ import annotations

import datetime as dt
import math
import random
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from source_rows import read, text_rows

from deniable.errors import ParameterError
from deniable.query.source import resolve

VALUES: dict[str, list[tuple[str, Any]]] = {
    "integer": [
        *[("12", 12), ("-3", -3), ("+7", 7), ("007", 7), ("3.0", 3), ("3.", 3), ("3.000", 3), (" 12 ", 12)],
        *[("\t5", 5), (str(2**63 - 1), 2**63 - 1), (str(-(2**63)), -(2**63)), ("-0", 0)],
        *[("3.7", None), ("1e3", None), ("1_000", None), (str(2**63), None), ("9" * 500, None)],
        *[("", None), (" ", None), ("abc", None), ("1 2", None), ("--3", None), ("nan", None), ("inf", None)],
        *[("1e400", None), ("٣", None), ("true", None), (".0", None), ("NULL", None), ("0x1F", None)],
    ],
    "real": [
        *[("12", 12.0), (".5", 0.5), ("-1.", -1.0), ("1e-3", 0.001), ("+2.5E+2", 250.0), (" 12 ", 12.0)],
        *[("1e308", 1e308), ("1e-400", 0.0), ("0.1", 0.1), ("-0", 0.0), ("2" * 30, 2.2222222222222222e29)],
        *[("nan", None), ("NaN", None), ("inf", None), ("-Infinity", None), ("-1e400", None)],
        *[("1e400", None), ("1_0", None), ("0x1p3", None), ("1d", None), ("", None), (".", None), ],
        *[("e5", None), ("5 %", None)],
    ],
    "boolean": [
        *[("true", True), ("T", True), ("Yes", True), ("y", True), ("1", True), (" TRUE ", True)],
        *[("false", False), ("f", False), ("NO", False), ("n", False), ("0", False)],
        *[("2", None), ("maybe", None), ("", None), ("on", None), ("1.0", None), ("nottrue", None)],
    ],
    "date": [
        *[("2024-02-29", dt.date(2024, 2, 29)), (" 2024-2-9 ", dt.date(2024, 2, 9))],
        *[("0001-01-01", dt.date(1, 1, 1)), ("9999-12-31", dt.date(9999, 12, 31))],
        *[("2023-02-29", None), ("0000-01-01", None), ("10000-01-01", None), ("29.2.2024", None)],
        *[("2024/02/29", None), ("20240229", None), ("2024-02-29 12:00", None), ("epoch", None), ("", None)],
        *[("-2024-02-29", None), ("2024-02-29 (BC)", None), ("2024-13-01", None), ],
        *[("today", None), ("infinity", None)],
    ],
    "timestamp": [
        *[("2024-02-29", dt.datetime(2024, 2, 29)), ("2024-02-29 13:05", dt.datetime(2024, 2, 29, 13, 5))],
        *[("2024-02-29T13:05:01.5", dt.datetime(2024, 2, 29, 13, 5, 1, 500000))],
        *[("2024-02-29 13:05:01.123456789", dt.datetime(2024, 2, 29, 13, 5, 1, 123456))],
        *[("2024-02-29T13:05:00Z", dt.datetime(2024, 2, 29, 13, 5))],
        *[("2024-02-29 13:05:00+02:00", dt.datetime(2024, 2, 29, 11, 5))],
        *[("2024-02-29 13:05:00-05", dt.datetime(2024, 2, 29, 18, 5))],
        *[("9999-12-31 23:59:59.999999", dt.datetime(9999, 12, 31, 23, 59, 59, 999999))],
        *[("9999-12-31 23:59:00-14:00", None), ("0001-01-01 00:00:00+14:00", None), ("infinity", None)],
        *[("2024-02-30 00:00:00", None), ("2024-02-29 25:00:00", None), ("13:05", None), ("", None)],
        *[("2024-02-29 13:05:00 Europe/Berlin", None), ("2024-02-29 13:05:00+99", None), ("now", None)],
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", VALUES)
def test_text_is_read_as_the_declared_type_or_becomes_null(kind: str, tmp_path: Path) -> None:
    data = "place,value\n" + "".join(f"{i},{text}\n" for i, (text, _) in enumerate(VALUES[kind]))
    rows = dict(text_rows(tmp_path / "a.csv", data, types={"place": "integer", "value": kind}))
    for place, (text, expected) in enumerate(VALUES[kind]):
        assert rows[place] == expected, text
        assert type(rows[place]) is type(expected), text


def naive_integer(text: str) -> int | None:
    found = re.fullmatch(r"[ \t\n\f\r]*([+-]?[0-9]+)(\.0*)?[ \t\n\f\r]*", text)
    value = int(found[1]) if found else None
    return value if value is not None and -(2**63) <= value < 2**63 else None


def naive_real(text: str) -> float | None:
    found = re.fullmatch(r"[ \t\n\f\r]*([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)[ \t\n\f\r]*", text)
    value = float(found[1]) if found else None
    return value if value is not None and math.isfinite(value) else None


@pytest.mark.parametrize(("kind", "naive"), [("integer", naive_integer), ("real", naive_real)])
def test_random_text_is_read_as_python_reads_it(kind: str, naive: Any, tmp_path: Path) -> None:
    rng = random.Random(kind)
    texts = ["".join(rng.choices("0123456789999.eE+-_ x", k=rng.randrange(1, 25))) for _ in range(6000)]
    texts += [
        f"{rng.choice(['', '-'])}{rng.randrange(10**19)}{rng.choice(['', '.0', 'e5'])}" for _ in range(2000)
    ]
    data = "place,value\n" + "".join(f"{i},{text}\n" for i, text in enumerate(texts))
    rows = dict(text_rows(tmp_path / "a.csv", data, types={"place": "integer", "value": kind}))
    read_by_naive = {place: naive(text) for place, text in enumerate(texts)}
    assert rows == read_by_naive
    assert sum(value is not None for value in read_by_naive.values()) > 500


def arrow_column(values: list[Any], kind: Any, declared: str | None = None) -> tuple[str, list[Any]]:
    table = pa.table({"place": list(range(len(values))), "value": pa.array(values, kind)})
    source = resolve(table, types=None if declared is None else {"VALUE": declared})
    return str(source.schema.find("value", "x").type), [
        value for _, value in sorted(read(source), key=lambda row: int(row[0]))
    ]


MAX = 2**63 - 1
TYPED: list[tuple[Any, list[Any], str, list[Any]]] = [
    (pa.int8(), [-128, 127, None], "integer", [-128, 127, None]),
    (pa.uint8(), [200, 0, None], "integer", [200, 0, None]),
    (pa.uint32(), [2**32 - 1], "integer", [2**32 - 1]),
    (pa.int64(), [MAX, -MAX - 1], "integer", [MAX, -MAX - 1]),
    (pa.uint64(), [2**64 - 1, 1], "integer", [Decimal(2**64 - 1), Decimal(1)]),
    (pa.float16(), [1.5, math.nan, math.inf], "real", [1.5, None, None]),
    (pa.float32(), [0.5, -math.inf, None], "real", [0.5, None, None]),
    (pa.float64(), [0.1, math.nan, 1e308], "real", [0.1, None, 1e308]),
    (pa.decimal128(5, 2), [Decimal("1.50"), None], "decimal", [Decimal("1.50"), None]),
    (pa.decimal256(20, 2), [Decimal("1.50"), None], "decimal", [Decimal("1.50"), None]),
    (pa.decimal128(38, 0), [Decimal(10**38 - 1)], "decimal", [Decimal(10**38 - 1)]),
    (pa.string(), ["", "a\0b", None], "text", ["", "a\0b", None]),
    (pa.large_string(), ["é"], "text", ["é"]),
    (pa.string_view(), ["a long text of more than 12 bytes"], "text", ["a long text of more than 12 bytes"]),
    (pa.dictionary(pa.int8(), pa.string()), ["x", "y", None], "text", ["x", "y", None]),
    (pa.dictionary(pa.int8(), pa.int32()), [5, None], "integer", [5, None]),
    (pa.bool_(), [True, None], "boolean", [True, None]),
    (pa.date32(), [dt.date(2024, 2, 29), None], "date", [dt.date(2024, 2, 29), None]),
    (pa.date64(), [dt.date(2024, 2, 29)], "date", [dt.date(2024, 2, 29)]),
    (pa.date32(), [2**31 - 1, -(2**31) + 1, -800_000, 3_000_000], "date", [None] * 4),
    *[
        (pa.timestamp(unit), [dt.datetime(2024, 2, 29, 1)], "timestamp", [dt.datetime(2024, 2, 29, 1)])
        for unit in ("s", "ms", "us", "ns")
    ],
    (pa.timestamp("us"), [MAX, -MAX, 2**60, None], "timestamp", [None] * 4),
    (pa.timestamp("s"), [MAX // 10**6, -MAX // 10**6, 10**12], "timestamp", [None] * 3),
    (
        pa.timestamp("ms"),
        [MAX, -MAX, 2**62, -(2**62), 0],
        "timestamp",
        [None] * 4 + [dt.datetime(1970, 1, 1)],
    ),
    (pa.timestamp("ns"), [MAX, -MAX, 0], "timestamp", [None, None, dt.datetime(1970, 1, 1)]),
    (pa.timestamp("us", "Europe/Berlin"), [0, MAX, -MAX], "timestamp", [dt.datetime(1970, 1, 1), None, None]),
    (pa.timestamp("s", "UTC"), [0], "timestamp", [dt.datetime(1970, 1, 1)]),
]


@pytest.mark.parametrize(("kind", "given", "name", "expected"), TYPED, ids=[str(row[0]) for row in TYPED])
def test_a_typed_column_is_delivered_as_the_schema_says(
    kind: Any, given: list[Any], name: str, expected: list[Any]
) -> None:
    assert arrow_column(given, kind) == (name, expected)


OTHER = [
    pa.list_(pa.int8()), pa.struct({"a": pa.int8()}), pa.map_(pa.string(), pa.int8()), pa.binary(), pa.null(),
    pa.time32("s"), pa.time64("us"), pa.duration("s"), pa.month_day_nano_interval(), pa.decimal256(60, 1),
    pa.decimal128(5, -2), pa.dictionary(pa.int8(), pa.binary()), pa.run_end_encoded(pa.int16(), pa.int8()),
    pa.large_list(pa.string()), pa.binary_view(),
]  # fmt: skip


@pytest.mark.parametrize("kind", OTHER, ids=str)
def test_a_column_that_cannot_be_used_is_other_and_harms_no_other_column(kind: Any) -> None:
    empty = pa.table({"a": [1, 2], "odd": pa.nulls(2, kind)})
    source = resolve(empty)
    assert source.schema.find("odd", "x").type == "other"
    assert read(source, ["a"]) == [(1,), (2,)]
    with pytest.raises(ParameterError, match="cannot be used"):
        read(source, ["odd"])
    with pytest.raises(ParameterError, match="cannot be made of a column of other"):
        resolve(empty, types={"odd": "text"})


CONVERTED: list[tuple[Any, list[Any], str, list[Any]]] = [
    (pa.string(), ["12", "3.7", None], "integer", [12, None, None]),
    (pa.float64(), [3.0, 3.7, math.nan, 1e30, -0.0], "integer", [3, None, None, None, 0]),
    (pa.float64(), [2.0**63, -(2.0**63), 2.0**62], "integer", [None, -(2**63), 2**62]),
    (pa.decimal128(5, 2), [Decimal("3.00"), Decimal("3.70")], "integer", [3, None]),
    (pa.bool_(), [True, False, None], "integer", [1, 0, None]),
    (pa.int64(), [1, None], "real", [1.0, None]),
    (pa.decimal128(5, 2), [Decimal("1.25")], "real", [1.25]),
    (pa.int64(), [5, None], "text", ["5", None]),
    (pa.bool_(), [True, None], "text", ["true", None]),
    (pa.date32(), [dt.date(2024, 2, 29)], "text", ["2024-02-29"]),
    (pa.int64(), [0, 1, None], "boolean", [False, True, None]),
    (pa.date32(), [dt.date(2024, 2, 29)], "timestamp", [dt.datetime(2024, 2, 29)]),
    (pa.timestamp("us"), [dt.datetime(2024, 2, 29, 13)], "date", [dt.date(2024, 2, 29)]),
    (pa.dictionary(pa.int8(), pa.string()), ["1", "x"], "integer", [1, None]),
]


@pytest.mark.parametrize(("kind", "given", "name", "expected"), CONVERTED)
def test_a_typed_column_can_be_declared_to_be_something_else(
    kind: Any, given: list[Any], name: str, expected: list[Any]
) -> None:
    assert arrow_column(given, kind, name) == (name, expected)


@pytest.mark.parametrize(
    ("kind", "wanted"), [(pa.date32(), "integer"), (pa.int64(), "date"), (pa.bool_(), "date")]
)
def test_a_conversion_without_meaning_is_refused(kind: Any, wanted: str) -> None:
    with pytest.raises(ParameterError, match=r"types\['v'\] cannot be made"):
        resolve(pa.table({"v": pa.nulls(1, kind)}), types={"v": wanted})
