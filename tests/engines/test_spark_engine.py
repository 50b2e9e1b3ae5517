"""The Spark engine against a session that is none: what it asks of Spark. No Java is needed."""

from __future__ import annotations

import io
import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from sqlglot import exp

from deniable.engines.frames import is_frame, kind_of
from deniable.engines.spark import Spark
from deniable.errors import EngineError, SourceError


class Kind:
    def __init__(self, name: str) -> None:
        self.name, self.dataType = "x", self

    def simpleString(self) -> str:
        return "bigint"


class Frame:
    """Remembers how it was made, and tells the session what is asked of it."""

    def __init__(self, session: Session, made: str) -> None:
        self.sparkSession, self.made, self.schema = session, made, self
        self.fields = [Kind("x")]

    def where(self, condition: str) -> Frame:
        return Frame(self.sparkSession, f"{self.made} where {condition}")

    def union(self, other: Frame) -> Frame:
        return Frame(self.sparkSession, f"{self.made} and {other.made}")

    def selectExpr(self, *texts: str) -> Frame:
        return self

    def persist(self) -> None:
        self.sparkSession.done.append(f"keep {self.made}")

    def unpersist(self) -> None:
        self.sparkSession.done.append(f"free {self.made}")

    def toArrow(self) -> pa.Table:
        return pa.table({"x": [1]})

    def mapInArrow(self, work: Any, schema: str) -> Frame:
        self.sparkSession.work = work
        return self

    def toLocalIterator(self) -> Any:
        for _ in range(2):
            (held,) = self.sparkSession.work([pa.record_batch({"x": [2, 3]})])
            yield (held.column(0)[0].as_py(),)


class Session:
    def __init__(self) -> None:
        self.done: list[str] = []
        self.fails = False
        self.work: Any = None
        self.conf = {"spark.sql.execution.arrow.maxRecordsPerBatch": "10000"}

    def addTag(self, tag: str) -> None:
        self.done.append("tag")

    def removeTag(self, tag: str) -> None:
        self.done.append("untag")

    def interruptTag(self, tag: str) -> None:
        self.done.append("interrupt")

    def sql(self, text: str, **frames: Frame) -> Frame:
        if self.fails:
            raise RuntimeError("row 7 holds a secret")
        return Frame(self, f"({text} of {', '.join(frame.made for frame in frames.values())})")

    def createDataFrame(self, table: pa.Table) -> Frame:
        return Frame(self, f"table of {table.num_rows}")


def create(name: str, source: str) -> exp.Create:
    return exp.Create(this=exp.to_table(name), kind="TABLE", expression=exp.select("x").from_(source))


def opened(session: Session) -> Spark:
    return Spark(session, lambda tree: tree.sql())  # type: ignore[arg-type]


def test_every_frame_is_filtered_before_spark_sees_it_as_a_view() -> None:
    """Spark drops a view when its query is read, and with it whatever was cached by the same plan."""
    session = Session()
    with opened(session) as engine:
        name = engine.view(Frame(session, "theirs"))
        engine.execute(create("first", name))
        engine.execute(create("second", "first"))
    (kept,) = [word for word in session.done if word.startswith("keep") and word.count("SELECT") == 2]
    assert kept.count("where true") == 2


def test_what_was_kept_is_freed_and_what_is_read_once_is_not_kept() -> None:
    session = Session()
    with opened(session) as engine:
        name = engine.view(Frame(session, "theirs"))
        engine.execute(create("first", name))
        engine.execute(create("other", name), once=True)
    kept = [word[5:] for word in session.done if word.startswith("keep")]
    assert len(kept) == 1
    assert [word[5:] for word in session.done if word.startswith("free")] == kept
    assert not [word for word in session.done if word == "free theirs"]


def test_rows_of_this_process_are_not_cached_unless_they_are_many() -> None:
    session = Session()
    with opened(session) as engine:
        few, many = pa.table({"x": [1, 2]}), pa.table({"x": range(100_001)})
        engine.execute(create("few", engine.view(few)))
        engine.execute(exp.insert(exp.select("x").from_(engine.view(few)), "few"))
        engine.execute(create("fewer", "few"))
        assert session.done == ["tag"]
        engine.execute(create("many", engine.view(many)))
        engine.execute(create("theirs", engine.view(Frame(session, "theirs"))))
        assert len(session.done) == 3


def test_an_interrupted_release_stops_its_own_jobs() -> None:
    session = Session()
    with pytest.raises(KeyboardInterrupt), opened(session):
        raise KeyboardInterrupt
    assert session.done == ["tag", "interrupt", "untag"]
    with opened(session := Session()):
        pass
    assert session.done == ["tag", "untag"]


def test_a_setting_under_which_no_table_can_be_sent_is_refused_on_entering() -> None:
    for size in ("0", "-1"):
        session = Session()
        session.conf = dict.fromkeys(session.conf, size)
        with pytest.raises(SourceError, match="maxRecordsPerBatch"), opened(session):
            pass
        assert not session.done


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C as in a terminal, even where this process was started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_while_spark_reads_a_query_waits_until_its_views_are_gone() -> None:
    class Slow(Session):
        def sql(self, text: str, **frames: Frame) -> Frame:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            self.done.append("no view left")
            return super().sql(text, **frames)

    session = Slow()
    with pytest.raises(KeyboardInterrupt), opened(session) as engine:
        engine.execute(create("first", engine.view(Frame(session, "theirs"))))
    assert "no view left" in session.done


def test_an_interrupt_that_pyspark_turns_into_an_error_is_still_an_interrupt() -> None:
    def cancelled() -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("jobs were cancelled")

    with opened(Session()) as engine, pytest.raises(KeyboardInterrupt) as caught:
        engine.run(cancelled)
    assert caught.value.__context__ is caught.value.__cause__ is None


def test_pyspark_logs_nothing_of_a_release_and_everything_else() -> None:
    logger_of = pytest.importorskip("pyspark.logger").PySparkLogger.getLogger
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logger, shown = logger_of(name), logging.StreamHandler(io.StringIO())
        logger.addHandler(shown)
        with opened(Session()):
            logger.error("ours")
            other = threading.Thread(target=logger.error, args=("theirs",))
            other.start()
            other.join()
        logger.error("later")
        logger.removeHandler(shown)
        assert "ours" not in shown.stream.getvalue()
        assert "theirs" in shown.stream.getvalue()
        assert "later" in shown.stream.getvalue()


def test_a_failure_of_spark_says_nothing_of_its_words() -> None:
    session = Session()
    with opened(session) as engine:
        name = engine.view(Frame(session, "theirs"))
        session.fails = True
        with pytest.raises(EngineError) as caught:
            engine.execute(create("first", name))
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_few_rows_come_at_once_and_many_in_batches_that_workers_wrote() -> None:
    session = Session()
    with opened(session) as engine:
        query = exp.select("x").from_(engine.view(Frame(session, "theirs")))
        assert engine.stream(query, few=True).read_all().to_pydict() == {"x": [1]}
        assert not session.work
        assert engine.stream(query).read_all().to_pydict() == {"x": [2, 3, 2, 3]}
    assert "<locals>" in session.work.__qualname__  # it travels by value: workers lack this package


def test_tables_are_dropped_renamed_and_added_to() -> None:
    session = Session()
    with opened(session) as engine:
        engine.execute(create("first", engine.view(Frame(session, "theirs"))))
        engine.execute(exp.insert(exp.select("x").from_(engine.view(pa.table({"x": [1, 2]}))), "first"))
        engine.execute("ALTER TABLE first RENAME TO second")
        reader = engine.stream(exp.select("x").from_("second"), few=True)
        assert reader.schema.names == ["x"]
        engine.execute("DROP TABLE second")
        with pytest.raises(KeyError):
            engine.stream(exp.select("x").from_("second"))


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("bigint", "BIGINT"),
        ("decimal(38,18)", "DECIMAL(38,18)"),
        ("string collate UTF8_LCASE", "VARCHAR"),
        ("varchar(10)", "VARCHAR"),
        ("timestamp", "TIMESTAMP"),
        ("timestamp_ntz", "TIMESTAMP"),
        ("array<string>", "OTHER"),
        ("binary", "OTHER"),
        ("interval day to second", "OTHER"),
    ],
)
def test_types_have_duckdbs_names(theirs: str, ours: str) -> None:
    assert kind_of(theirs) == ours


def test_a_frame_is_known_by_its_class_alone() -> None:
    classic = type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe"})
    connect = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})
    on_pandas = type("DataFrame", (), {"__module__": "pyspark.pandas.frame"})
    assert is_frame(classic())
    assert is_frame(connect())
    assert not is_frame(on_pandas())
    assert not is_frame(pa.table({"x": [1]}))
