"""Spark: statements become data frames of the caller's own session, and nothing is left in it.

| what                           | how                                                                     |
|--------------------------------|-------------------------------------------------------------------------|
| a query                        | `session.sql("... {name} ...", name=frame)`: no view of ours has a name |
| a temporary table              | a cached frame, released at the end; the source is read for it once     |
| one of rows of this process    | a frame that is not cached: a job that fills a cache costs more         |
| an Arrow table (weights, keys) | `createDataFrame`; times as whole microseconds                          |
| a few rows                     | `toArrow`                                                               |
| a result of any size           | Arrow batches one by one (`_batches`): this process holds one partition |
| Ctrl-C                         | jobs of this release are cancelled by their tag                         |
| an error                       | PySpark's loggers, which would print its words, keep still (`_Quiet`)   |

Only the public interface of PySpark 4 is used, so classic sessions and Spark Connect are alike. No setting is
changed. `session.sql` registers views for as long as it takes to read the text, and dropping one of them
takes its plan out of the cache: each frame is filtered by `true` before, which makes it another plan, so that
neither the caller's cached frames nor ours are dropped.

A task that fails is run again by Spark, and finds the same rows: nothing in a query is random, frames in
memory are computed again from the source if they are lost, and noise is drawn in this process only.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sys
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import pyarrow as pa
import sqlglot
from sqlglot import exp

from deniable.engines.frames import MOMENT, arrow_of, columns_of
from deniable.engines.unseen import FAILED
from deniable.errors import EngineError, SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Result = TypeVar("Result")

_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
_SMALL = 100_000
"""Rows of this process that may travel again with every query that reads them."""

Write = Callable[[exp.Expression], str]
"""Writes a tree in Spark's SQL, each table as {name}."""

_NO_JAVA = (
    "Spark needs Java 17 or newer, and no `java` was found. Install it (Debian and Ubuntu: "
    "`apt install openjdk-17-jre-headless`; macOS: `brew install openjdk@17`), or set JAVA_HOME."
)
_NO_PYSPARK = "Spark needs PySpark: `pip install 'deniable[spark]'`."


class Spark:
    """The tables of one release in a Spark session, inside its `with` block.

    Args:    session: the caller's. write: how trees are written in Spark's SQL.
    Raises:  EngineError: any failure of Spark's; one fixed message, no cause attached.
             SourceError: on entering, before a row is read: a setting under which PySpark sends no table.
    """

    def __init__(self, session: SparkSession, write: Write) -> None:
        self._session = session
        self._write = write
        self._tables: dict[str, DataFrame] = {}
        self._cached: list[DataFrame] = []
        self._sizes: dict[str, int] = {}  # how many rows there are, of tables that came from this process
        self._tag = f"deniable-{uuid.uuid4().hex}"
        self._reader = ThreadPoolExecutor(1)

    def __enter__(self) -> Self:
        size = self.run(lambda: self._session.conf.get(_BATCH, "1"))
        if not int(str(size)) > 0:
            raise SourceError(f"{_BATCH} of this Spark session must be above 0: PySpark sends no table else.")
        self._quiet = _Quiet({threading.get_ident(), self._reader.submit(threading.get_ident).result()})
        for logger in _loggers():
            logger.addFilter(self._quiet)
        self.run(lambda: self._session.addTag(self._tag))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(*_failures()):
            if kind is not None:
                self._session.interruptTag(self._tag)
            self._session.removeTag(self._tag)
        while self._cached:
            frame = self._cached.pop()
            with contextlib.suppress(*_failures()):
                frame.unpersist()
        self._reader.shutdown()
        self._tables.clear()
        for logger in _loggers():
            logger.removeFilter(self._quiet)

    def execute(self, statement: exp.Expression | str, *, once: bool = False) -> None:
        """Do what one statement says. A table is computed when it is first read, and then kept for others."""
        tree = sqlglot.parse_one(statement, dialect="duckdb") if isinstance(statement, str) else statement
        match tree:
            case exp.Create():
                frame, size = self._frame(tree.expression), self._size(tree.expression)
                self._hold(tree.this.name, frame if once or size <= _SMALL else self._cache(frame), size)
            case exp.Insert():
                before, more = self._tables[tree.this.name], self._frame(tree.expression)
                size = self._sizes[tree.this.name] + self._size(tree.expression)
                self._hold(tree.this.name, self.run(lambda: before.union(more)), size)
            case exp.Drop():
                del self._tables[_named(tree)]
            case exp.Alter(actions=[exp.AlterRename(this=name)]):
                self._sizes[name.name] = self._sizes[tree.this.name]
                self._tables[name.name] = self._tables.pop(tree.this.name)
            case _:
                raise AssertionError(f"{type(tree).__name__} is not a statement of this package")

    def stream(self, query: exp.Expression | str, *, few: bool = False) -> pa.RecordBatchReader:
        """Return the rows of a query: at once if they are few, else partition by partition."""
        tree = sqlglot.parse_one(query, dialect="duckdb") if isinstance(query, str) else query
        frame = self._frame(tree)
        schema = self.run(lambda: arrow_of(frame))
        if few:
            table = self.run(lambda: frame.toArrow().cast(schema).combine_chunks())
            return table.to_reader()
        return pa.RecordBatchReader.from_batches(schema, self._batches(frame, schema))

    def describe(self, query: exp.Query) -> dict[str, str]:
        """Return the columns of a query, which names each, and DuckDB's names of their types."""
        frame = self._frame(query)
        kinds = self.run(lambda: [kind for _, kind in columns_of(frame)])
        return dict(zip(query.named_selects, kinds, strict=True))

    def view(self, stream: Any) -> str:
        """Give a Spark frame, or an Arrow table, a name that SQL can use; return the name."""
        name = f"deniable_view_{len(self._tables)}_{uuid.uuid4().hex[:8]}"
        if hasattr(stream, "sparkSession"):
            self._hold(name, stream, sys.maxsize)
        else:
            table = pa.table(stream)
            self._hold(name, self._sent(table), len(table))
        return name

    def run(self, work: Callable[[], Result]) -> Result:
        """Do work on private data; a failure is an EngineError, but Ctrl-C stays what it is."""
        try:
            return work()
        except _failures() as error:
            stopped = _stopped(error)
        raise KeyboardInterrupt if stopped else EngineError(FAILED)

    def _frame(self, query: Any) -> DataFrame:
        """Return the frame of a query. Spark reads the text and checks names and types; no row is read.

        Ctrl-C reaches the main thread only: in a thread of its own, `sql` always takes its views away again.
        """
        text = self._write(query)
        frames: dict[str, Any] = {name: self._tables[name] for name in _names(query)}
        return self.run(lambda: self._reader.submit(self._session.sql, text, **frames).result())

    def _hold(self, name: str, frame: DataFrame, size: int) -> None:
        """Give a frame a name, filtered by `true` as the module says. Nothing is run."""
        self._tables[name] = self.run(lambda: frame.where("true"))
        self._sizes[name] = size

    def _size(self, query: Any) -> int:
        """Return the most rows that were sent for the tables of a query; more than all if one was not."""
        return sum(self._sizes[name] for name in _names(query))

    def _cache(self, frame: DataFrame) -> DataFrame:
        self.run(frame.persist)
        self._cached.append(frame)
        return frame

    def _sent(self, table: pa.Table) -> DataFrame:
        """Return the frame of an Arrow table of this process.

        Times without a zone would be taken as the session's: they travel as whole microseconds.
        """
        times = [pa.types.is_timestamp(column.type) for column in table.schema]
        columns = [
            column.cast(pa.timestamp("us")).cast(pa.int64()) if time else column
            for column, time in zip(table.columns, times, strict=True)
        ]
        plain = pa.table(columns, names=[f"c{place}" for place in range(len(columns))])
        any_rows = "true" if len(plain) else "false"  # Connect wants a row to see types by
        if not len(plain):
            plain = pa.table([pa.nulls(1, column.type) for column in plain.columns], plain.column_names)
        values = [
            f"{MOMENT.format(f'c{place}') if time else f'c{place}'} AS `{name}`"
            for place, (name, time) in enumerate(zip(table.column_names, times, strict=True))
        ]
        made = self.run(lambda: self._session.createDataFrame(plain))
        return self.run(lambda: made.where(any_rows).selectExpr(*values))

    def _batches(self, frame: DataFrame, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Return the rows in batches, one partition after the other.

        `toLocalIterator` fetches partition by partition, but row by row. So every batch travels as one row
        of bytes, in which the workers have written it.
        """
        rows = self.run(lambda: frame.mapInArrow(_writer(), "batch binary").toLocalIterator())
        while (row := self.run(lambda: next(rows, None))) is not None:
            held = bytes(row[0])
            yield from self.run(lambda held=held: _read(held, schema))  # type: ignore[misc]


class _Quiet(logging.Filter):
    """Drops what these threads log: PySpark logs the errors that it raises, with values of their rows."""

    def __init__(self, threads: set[int]) -> None:
        super().__init__()
        self._threads = threads

    def filter(self, record: logging.LogRecord) -> bool:
        return record.thread not in self._threads


def _loggers() -> list[logging.Logger]:
    """Return the loggers of PySpark's errors, as PySpark makes them; none without it."""
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:
        return []
    return [
        PySparkLogger.getLogger(name) for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
    ]


def local_session(cores: int = 2, memory: str = "2g", **settings: str) -> SparkSession:
    """Return a Spark session of this machine alone, for trying out: nothing outside it can reach it.

    Its workers run this Python, unless PYSPARK_PYTHON names another.
    Args:    settings: of Spark, with _ for the dots: spark_sql_shuffle_partitions="8".
    Raises:  EngineError: no Java, or no PySpark; it says what to install.
    """
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise EngineError(_NO_JAVA)
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise EngineError(_NO_PYSPARK) from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{cores},4]").config("spark.driver.memory", memory)
    ours = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in (ours | {name.replace("_", "."): value for name, value in settings.items()}).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _writer() -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what runs in Spark's workers. It is defined here, inside, so that it travels by value: workers
    need PyArrow, and not this package.
    """

    def written(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            sink = pyarrow.BufferOutputStream()
            with pyarrow.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            yield pyarrow.record_batch(
                [pyarrow.array([sink.getvalue().to_pybytes()], pyarrow.binary())], ["batch"]
            )

    return written


def _read(held: bytes, schema: pa.Schema) -> list[pa.RecordBatch]:
    with pa.ipc.open_stream(held) as stream:
        table: pa.Table = stream.read_all()
    batches: list[pa.RecordBatch] = table.cast(schema).combine_chunks().to_batches()
    return batches


def _names(query: exp.Expression) -> set[str]:
    return {table.name for table in query.find_all(exp.Table)}


def _named(statement: exp.Expression) -> str:
    """Return the name of the one table in a statement."""
    (table,) = statement.find_all(exp.Table)
    return table.name


def _stopped(error: BaseException | None) -> bool:
    """Return whether an error is what PySpark made of Ctrl-C: its jobs are cancelled, and so they fail."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _failures() -> tuple[type[Exception], ...]:
    """Return what Spark raises: its own errors, and those of the two ways in which it is reached."""
    found: list[type[Exception]] = [
        pa.ArrowException,
        OSError,
        RuntimeError,
        ValueError,
        TypeError,
        MemoryError,
    ]
    with contextlib.suppress(ImportError):
        from pyspark.errors import PySparkException

        found.append(PySparkException)
    with contextlib.suppress(ImportError):
        from py4j.protocol import Py4JError

        found.append(Py4JError)
    with contextlib.suppress(ImportError):
        from grpc import RpcError

        found.append(RpcError)
    return tuple(found)
