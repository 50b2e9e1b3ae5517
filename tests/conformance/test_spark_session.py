"""The caller's Spark session: left as it was, its settings of no account, its failures without a word."""

from __future__ import annotations

import datetime
import io
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from both_engines import answers, engine, rows_of, saved, table
from spark_session import QUIET, started  # noqa: F401
from test_expressions_agree import EXACT, values
from test_shapes_agree import NUMBERS, TREES, weighted

import deniable as dn
from deniable.bits import SeededBits
from deniable.engines.spark import local_session
from deniable.errors import EngineError, ParameterError

pytestmark = QUIET
KEYS = ["red", "Red", "blå", "nobody"]
HOSTILE = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.orderByOrdinal": "false",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.execution.arrow.useLargeVarTypes": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "7",
    "spark.sql.shuffle.partitions": "3",
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return saved(tmp_path_factory.mktemp("session") / "rows.parquet", table(300, seed=3))


def release(data: Any, bits: Any = None, **group: Any) -> pa.Table:
    query = (
        dn.protect(data, unit="person", population=1000)
        .where("byte > -120 AND hue LIKE '%'")
        .derive(half="whole // 2")
        .group_by("hue", max_groups=2, **({"keys": KEYS} | group))
        .aggregate(
            people=dn.units(),
            rows=dn.count(max_rows=3),
            spent=dn.sum("real", bounds=(0, 100), max_rows=3),
            mean=dn.mean("half", bounds=(-100, 100), max_rows=3),
            middle=dn.median("real", bounds=(0, 100), max_rows=3),
        )
    )
    seeded = bits or SeededBits(5, insecure=True)
    return query.release(epsilon=10, delta="1e-4", bits=seeded).table


def test_settings_of_the_session_change_nothing(spark: Any, path: str) -> None:
    strange = spark.newSession()
    for name, value in HOSTILE.items():
        strange.conf.set(name, value)
    found = answers(
        strange, path, (*NUMBERS, *TREES[1:]), unit="person", groups=["yes"], contributions=weighted()
    )
    assert found["spark"] == found["duckdb"]
    texts = [
        text for text in EXACT if "date_trunc" in text or "CAST" in text or "//" in text or "LIKE" in text
    ]
    assert values("spark", strange, strange.read.parquet(path), texts) == values(
        "duckdb", strange, path, texts
    )


def test_a_release_is_the_same_on_both_engines_noise_and_all(spark: Any, path: str) -> None:
    assert release(spark.read.parquet(path)).equals(release(path))


def test_the_session_is_left_as_it_was(spark: Any, path: str) -> None:
    frame = spark.read.parquet(path).cache()
    frame.count()
    level = frame.storageLevel
    cached = len(spark.sparkContext._jsc.getPersistentRDDs())
    before = (spark.catalog.listTables(), spark.conf.getAll, spark.getTags())
    release(frame)
    release(frame.toDF(*frame.columns), keys=None, selection="threshold")
    assert (spark.catalog.listTables(), spark.conf.getAll, spark.getTags()) == before
    assert frame.storageLevel == level
    assert len(spark.sparkContext._jsc.getPersistentRDDs()) == cached
    frame.unpersist()


class Counting:
    """Seeded bits that count how often they are asked."""

    def __init__(self) -> None:
        self._bits = SeededBits(5, insecure=True)
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        self.asked += 1
        return getattr(self._bits, name)


def test_a_task_that_fails_and_runs_again_changes_neither_bounds_nor_noise(
    spark: Any, path: str, tmp_path: Path
) -> None:
    failed = tmp_path / "failed"
    mark = str(failed)

    def once(batches: Any) -> Any:
        import pathlib

        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        yield from batches
        if context.attemptNumber() == 0:
            with pathlib.Path(mark).open("a") as file:
                file.write("x")
            raise RuntimeError("planted")

    whole = spark.read.parquet(path).repartition(2, "person")
    flaky = whole.mapInArrow(once, whole.schema)
    bits, again = Counting(), Counting()
    assert release(flaky, bits).equals(release(whole, again))
    assert failed.read_text() >= "xx"
    assert bits.asked == again.asked


@pytest.mark.parametrize("text", ["raise_error('secret')", "CAST(concat('secret', id) AS BIGINT)"])
def test_a_frame_that_fails_tells_nothing_of_its_rows(spark: Any, text: str) -> None:
    text = f"CASE WHEN id = 3 THEN {text} ELSE id END"
    frame = spark.range(5).selectExpr("id AS person", f"{text} AS value")
    query = dn.protect(frame, unit="person").aggregate(n=dn.count("value", max_rows=1))
    logger = pytest.importorskip("pyspark.logger").PySparkLogger.getLogger("SQLQueryContextLogger")
    shown = logging.StreamHandler(io.StringIO())
    logger.addHandler(shown)
    with pytest.raises(EngineError) as caught:
        query.release(epsilon=1)
    logger.removeHandler(shown)
    assert "secret" not in str(caught.value) + shown.stream.getvalue()
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_names_and_text_that_sql_would_trip_over(spark: Any, path: str) -> None:
    names = ["a`b", "${spark.app.name}", "{y}", "Ünï cöde", "select", "deniable_6162", "with.dot", "it's"]
    last = "CAST(X'69742773205C20247B637D' AS STRING)"
    text = f"CASE hue WHEN 'red' THEN '$1' WHEN 'Red' THEN '{{b}} `c`' ELSE {last} END"
    frame = spark.read.parquet(path).selectExpr("name", f"{text} AS hue", *["hue"] * (len(names) - 1))
    frame = frame.toDF("who", *names)
    keys = ["$1", "{b} `c`", "it's \\ ${c}"]
    for name in names:
        quoted = name.replace('"', '""')
        survey = dn.protect(frame, unit="who").where(f"\"{quoted}\" <> 'it''s \\ ${{d}}'")
        query = survey.group_by(name, keys=keys if name == names[0] else ["red"], max_groups=1)
        found = query.aggregate(people=dn.units()).release(epsilon=10**6).table
        assert min(found["people"].to_pylist()) > 0, name


def test_text_is_compared_byte_by_byte_and_odd_bytes_are_missing(spark: Any) -> None:
    frame = spark.sql(
        "SELECT id AS who, CASE id WHEN 0 THEN CAST(X'ff41' AS STRING) WHEN 1 THEN 'Red' ELSE 'red' END "
        "COLLATE UTF8_LCASE AS hue FROM range(4)"
    )
    survey = dn.protect(frame, unit=dn.ROW)
    with engine("spark", spark) as opened:
        rows = [row for b in opened.stream(survey.rows(opened, ["hue"])) for row in rows_of(b)]
    assert sorted(map(repr, rows)) == ["('Red',)", "('red',)", "('red',)", "(None,)"]
    found = survey.group_by("hue", keys=["red", "Red", "RED"]).aggregate(rows=dn.count())
    assert found.release(epsilon=10**6).table["rows"].to_pylist() == [2, 1, 0]


def test_moments_with_a_time_zone_are_read_in_utc(spark: Any, tmp_path: Path) -> None:
    zoned = pa.timestamp("us", "UTC")
    at = datetime.datetime(2024, 3, 10, 7, 30, tzinfo=datetime.UTC)
    path = saved(tmp_path / "zoned.parquet", pa.table({"at": pa.array([at, None], zoned)}))
    strange = spark.newSession()
    strange.conf.set("spark.sql.session.timeZone", "America/New_York")
    survey = dn.protect(strange.read.parquet(path), unit=dn.ROW).derive(clock="hour(at)")
    with engine("spark", strange) as opened:
        rows = [row for b in opened.stream(survey.rows(opened, ["at", "clock"])) for row in rows_of(b)]
    assert sorted(rows, key=repr) == [(None, None), (at.replace(tzinfo=None), 7)]


def test_settings_of_duckdb_are_refused(spark: Any, path: str) -> None:
    query = dn.protect(spark.read.parquet(path), unit="person").aggregate(people=dn.units())
    with pytest.raises(ParameterError, match="set up the Spark session instead"):
        query.release(epsilon=1, memory_limit="2GB")


def test_without_java_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(EngineError, match="Java 17 or newer.*openjdk-17-jre-headless"):
        local_session()


CONNECT = """
import sys, warnings
warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
import deniable as dn
builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
frame = session.read.parquet(sys.argv[1])
assert "connect" in type(frame).__module__
frame.toArrow = frame.toPandas = frame.collect = None
for data in (frame, sys.argv[1]):
    query = dn.protect(data, unit="person").group_by("hue", max_groups=2, keys=["red", "Red", "x"])
    asked = query.aggregate(people=dn.units(), rows=dn.count(max_rows=2))
    print("RESULT", asked.release(epsilon=1, bits=dn.SeededBits(1, insecure=True)).table.to_pylist())
session.stop()
"""


@pytest.mark.slow
def test_a_frame_of_spark_connect_is_read_by_its_server(spark: Any, path: str) -> None:
    pytest.importorskip("grpc_status")
    command = [sys.executable, "-c", CONNECT, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    assert len(lines) == 2, done.stderr[-2000:]
    assert lines[0] == lines[1]
