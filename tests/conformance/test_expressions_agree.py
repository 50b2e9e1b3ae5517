"""Expressions on both engines: the same values on odd rows; what has no exact form on Spark is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from both_engines import engine, rows_of, saved, table
from spark_session import QUIET, started  # noqa: F401

import deniable as dn
from deniable.errors import ExpressionError, ParameterError

pytestmark = QUIET

EXACT = [
    "whole + 1",
    "whole - byte * 3",
    "whole * whole",
    "-whole",
    "whole // byte",
    "whole % byte",
    "whole // -1",
    "whole % 7",
    "whole / byte",
    "real + single",
    "real * 1e300",
    "real / byte",
    "real % 3",
    "paid + 1",
    "paid",
    "abs(whole)",
    "abs(real)",
    "round(real)",
    "round(real, 2)",
    "round(real, -1)",
    "round(whole, -2)",
    "floor(real)",
    "ceil(real)",
    "sqrt(real)",
    "whole >= 18 AND NOT yes OR byte IS NULL",
    "yes IS TRUE",
    "byte BETWEEN -20 AND 50",
    "byte IN (1, 2, -3)",
    "hue IN ('red', 'ein''''\\n', '${x}', '{y}')",
    "hue = 'Red'",
    "hue < 'red'",
    "hue LIKE '%\\n'",
    "hue LIKE '_e%'",
    "hue ILIKE 'RE%'",
    "hue LIKE '!%'",
    "lower(hue) || '-' || upper(text)",
    "concat(hue, text, 'x')",
    "trim(text)",
    "ltrim(text, ' -')",
    "rtrim(text, '0')",
    "trim(text, '1')",
    "length(hue)",
    "length(name)",
    "substring(hue, 2, 2)",
    "substring(hue, 3)",
    "replace(hue, 'e', '{}$')",
    "starts_with(hue, 'r')",
    "contains(hue, '$')",
    "coalesce(1 // byte, 0)",
    "nullif(byte, 5)",
    "least(byte, whole, 3)",
    "greatest(real, byte)",
    "CASE WHEN real > 0 THEN 'more' WHEN real < 0 THEN 'less' ELSE hue END",
    "CASE byte WHEN 5 THEN 1.5 ELSE byte END",
    "year(day)",
    "month(moment) * 100 + day(moment)",
    "hour(moment)",
    "dayofweek(day)",
    "date_trunc('month', day)",
    "date_trunc('week', day)",
    "date_trunc('quarter', moment)",
    "date_trunc('day', moment)",
    "date_trunc('hour', moment)",
    "date_trunc('minute', moment)",
    "date_trunc('second', moment)",
    "day < '2024-03-01'",
    "moment >= '2024-03-10 02:30:01'",
    "CAST(real AS integer)",
    "CAST(paid AS integer)",
    "CAST(whole AS real)",
    "CAST(whole AS text)",
    "CAST(yes AS integer)",
    "CAST(byte AS boolean)",
    "CAST(yes AS text)",
    "CAST(text AS real)",
    "CAST(day AS timestamp)",
    "CAST(moment AS date)",
    "CAST(day AS text)",
    "CAST(moment AS text)",
    "CAST(CAST(day AS text) AS date)",
    "CAST(CAST(moment AS text) AS timestamp)",
]
LAST_BIT = ["exp(byte)", "ln(real)", "power(byte, 3)", "power(real, 0.5)"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return saved(tmp_path_factory.mktemp("expressions") / "rows.parquet", table(400, seed=7))


def values(name: str, spark: Any, data: Any, texts: list[str]) -> dict[str, list[str]]:
    """What every expression is on every row, as sorted text: engines keep no order."""
    survey = dn.protect(data, unit=dn.ROW)
    survey = survey.derive(**{f"e{place}": text for place, text in enumerate(texts)})
    with engine(name, spark) as opened:
        found = opened.stream(survey.rows(opened, [f"e{place}" for place in range(len(texts))]))
        rows = [row for batch in found for row in rows_of(batch)]
    columns = list(zip(*rows, strict=True))
    return {text: sorted(map(said, column)) for text, column in zip(texts, columns, strict=True)}


def said(value: Any) -> str:
    if isinstance(value, float):
        assert math.isfinite(value)
        return repr(value + 0.0)
    return repr(value)


@pytest.mark.parametrize("part", range(3))
def test_expressions_have_the_same_value_on_every_row(spark: Any, path: str, part: int) -> None:
    texts = EXACT[part::3]
    ours = values("duckdb", spark, path, texts)
    theirs = values("spark", spark, spark.read.parquet(path), texts)
    for text in texts:
        assert theirs[text] == ours[text], text
        assert len(set(ours[text])) > 1, text


def test_functions_of_the_mathematics_library_may_differ_in_the_last_bit(spark: Any, path: str) -> None:
    ours = values("duckdb", spark, path, LAST_BIT)
    theirs = values("spark", spark, spark.read.parquet(path), LAST_BIT)
    for text in LAST_BIT:
        first, second = ([float(x) for x in side[text] if x != "None"] for side in (ours, theirs))
        assert sorted(first) == pytest.approx(sorted(second), rel=1e-15, abs=0), text


def test_text_means_the_same_times_on_both(spark: Any, tmp_path: Path) -> None:
    texts = [
        "2024-02-29", "2023-02-29", "2024-2-9", "0000-01-01", "9999-12-31", "2024-02-29 13:05",
        "2024-02-29T13:05:01", "2024-02-29 13:05:01.5", "2024-02-29 13:05:01.123456", "2024-02-29T13:05Z",
        "2024-02-29 13:05:01+02:30", "2024-02-29 13:05:01-05", "2024-03-10 02:30:00", "x", "", " 2024-02-29 ",
    ]  # fmt: skip
    path = saved(tmp_path / "times.parquet", pa.table({"a": texts, "b": texts}))
    types = {"a": "date", "b": "timestamp"}
    found = []
    for name, data in (("duckdb", path), ("spark", spark.read.parquet(path))):
        survey = dn.protect(data, unit=dn.ROW, types=types)
        with engine(name, spark) as opened:
            rows = [row for b in opened.stream(survey.rows(opened, ["a", "b"])) for row in rows_of(b)]
        found.append(sorted(map(repr, rows)))
    assert found[0] == found[1]


def test_declared_types_read_the_same(spark: Any, path: str) -> None:
    for kind in ("integer", "real", "boolean", "date"):
        texts = {
            name: values(name, spark, data, ["text"]) if kind == "text" else declared(name, spark, data, kind)
            for name, data in (("duckdb", path), ("spark", spark.read.parquet(path)))
        }
        assert texts["spark"] == texts["duckdb"], kind


def declared(name: str, spark: Any, data: Any, kind: str) -> list[str]:
    survey = dn.protect(data, unit=dn.ROW, types={"text": kind})
    with engine(name, spark) as opened:
        found = opened.stream(survey.rows(opened, ["text"]))
        return sorted(said(row[0]) for batch in found for row in rows_of(batch))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("regexp_matches(hue, 'r+')", "regexp_matches is not offered on Spark"),
        ("strptime(text, '%Y') IS NULL", "formats of dates are not offered on Spark"),
        ("substring(hue, -2) = 'ed'", "substring takes literal places on Spark"),
        ("substring(hue, byte, 1) = 'e'", "substring takes literal places on Spark"),
        ("CAST(real AS text) = '1.5'", "a real does not become text on Spark"),
    ],
)
def test_what_spark_cannot_answer_exactly_is_refused_before_data_are_read(
    spark: Any, path: str, text: str, why: str
) -> None:
    survey = dn.protect(spark.read.parquet(path), unit="person")
    with pytest.raises(ExpressionError, match=why):
        survey.where(text)
    assert dn.protect(path, unit="person").where(text) is not None


def test_an_expression_that_would_grow_beyond_bounds_is_refused(spark: Any, path: str) -> None:
    text = "whole"
    for _ in range(9):
        text = f"round({text}, -1)"
    with pytest.raises(ExpressionError, match="is too complex for Spark"):
        dn.protect(spark.read.parquet(path), unit="person").derive(deep=text)
    assert dn.protect(path, unit="person").derive(deep=text) is not None


def test_numbers_do_not_become_declared_text(spark: Any, path: str) -> None:
    with pytest.raises(ParameterError, match="cannot be made of a number here"):
        dn.protect(spark.read.parquet(path), unit="person", types={"real": "text"})
