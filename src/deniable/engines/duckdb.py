"""DuckDB, shut in: a private spill folder, no extensions, no look at Python variables, no loose errors.

| setting                               | why                                                         |
|---------------------------------------|-------------------------------------------------------------|
| `temp_directory` = `SpillFolder`      | what spills is private data; it must go even after kill -9  |
| auto-install, auto-load, community off| an extension is code from elsewhere                         |
| `custom_extension_repository` = folder| nor is it asked for over the network                        |
| `python_enable_replacements` off      | SQL must not find a caller's variables by their names       |
| `TimeZone` = UTC                      | a result must not depend on where the machine stands        |
| `enable_progress_bar` off             | it is written to standard output, in the middle of results  |
| `preserve_insertion_order` off        | the order of rows is never published                        |
| `lock_configuration` on, last         | no statement can undo the above                             |

Every call runs on one worker thread while the caller waits: then Ctrl-C reaches the caller at once,
who interrupts the query, waits for its end and lets the KeyboardInterrupt pass on. (On the caller's own
thread DuckDB turns a Ctrl-C during an Arrow stream into an ordinary error, or does not see it.)

Results are streamed as Arrow. HUGEINT leaves as DECIMAL(38, 0), never as a float.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from types import TracebackType
from typing import Self, TypeVar

import duckdb
import pyarrow as pa
from sqlglot import ErrorLevel, exp

from deniable.engines.engine import with_care
from deniable.engines.relation import columns_of
from deniable.engines.spill import SpillFolder
from deniable.engines.unseen import FAILED
from deniable.errors import EngineError, ParameterError
from deniable.exact import whole

Result = TypeVar("Result")

_Settings = dict[str, str | bool | int | float | list[str]]

_FAILURES = (duckdb.Error, pa.ArrowException, OSError, RuntimeError, ValueError, TypeError, MemoryError)
_SHUT: _Settings = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
}
_UNFINISHED = "A result is still being read: finish its stream before the next statement."
_MOST_THREADS = 4096
_LONGEST_LIMIT = 40
_ROWS_A_BATCH = 122_880


class DuckDB:
    """A private in-memory database, open inside its `with` block.

    Args:    memory_limit: text such as "500MB" (None: 80 % of the machine's). threads: None: one a core.
    Raises:  ParameterError: a setting that DuckDB does not accept, on entering.
             EngineError: any failure of a statement or a stream; one fixed message, no cause attached.
    """

    def __init__(self, memory_limit: str | None = None, threads: int | None = None) -> None:
        self._memory_limit = memory_limit
        self._threads = threads
        self._views = 0
        self._streaming = False

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            spill = stack.enter_context(SpillFolder())
            self._connection = self._open(spill.path)
            stack.callback(self._connection.close)
            self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="deniable-duckdb")
            stack.callback(self._worker.shutdown)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection itself, for `register`. Its errors are not made safe: use the methods."""
        return self._connection

    def execute(self, statement: exp.Expression | str, *, once: bool = False) -> None:  # noqa: ARG002
        """Run one statement to its end and drop its result.

        A statement that failed has changed nothing: it runs again with its tables read with care, if it can.
        """
        sql = _written(statement)
        careful = sql if isinstance(statement, str) else _written(with_care(statement))
        self._refuse_while_streaming()
        if sql == careful or not self._succeeds(sql):
            self.run(lambda: self._connection.execute(careful).fetchall())

    def stream(self, query: exp.Expression | str, *, few: bool = False) -> pa.RecordBatchReader:  # noqa: ARG002
        """Return the rows of a query as they are computed. Read it to its end before the next call."""
        sql = query if isinstance(query, str) else _written(with_care(query))
        self._refuse_while_streaming()
        reader = self.run(lambda: self._connection.sql(sql).to_arrow_reader(_ROWS_A_BATCH))
        batches = self._batches(reader)
        next(batches)  # enter its `try`: then it ends in order even if nobody reads it
        return pa.RecordBatchReader.from_batches(reader.schema, batches)

    def describe(self, query: exp.Query) -> dict[str, str]:
        """Return the columns of a query and their DuckDB types. No row is read."""
        described = f"SELECT column_name, column_type FROM (DESCRIBE {query.sql(dialect='duckdb')})"  # noqa: S608
        names, kinds = self.stream(described).read_all().columns
        return dict(zip(names.to_pylist(), kinds.to_pylist(), strict=True))

    def view(self, stream: object) -> str:
        """Give an object with `__arrow_c_stream__` a new name that SQL can read; return the name.

        DuckDB asks the object for a fresh stream in every scan: it must be able to give more than one.
        """
        self._refuse_while_streaming()
        self._views += 1
        name = f"deniable_view_{self._views}"
        self.run(lambda: self._connection.register(name, stream))
        return name

    def _open(self, folder: str) -> duckdb.DuckDBPyConnection:
        folders = ("temp_directory", "extension_directory", "custom_extension_repository", "secret_directory")
        settings = _SHUT | dict.fromkeys(folders, folder) | {"preserve_insertion_order": "false"}
        if self._threads is not None:
            settings["threads"] = str(whole(self._threads, "threads", at_least=1, at_most=_MOST_THREADS))
        if self._memory_limit is not None:
            settings["memory_limit"] = _amount(self._memory_limit)
        try:
            connection = duckdb.connect(":memory:", config=settings)
        except duckdb.Error:
            given = f"memory_limit={self._memory_limit!r}, threads={self._threads!r}"
            raise ParameterError(
                "engine", given, "has a setting that DuckDB refuses", "Write memory_limit='2GB', threads=4."
            ) from None
        connection.execute("SET TimeZone = 'UTC'").fetchall()
        connection.execute("SET enable_progress_bar = false").fetchall()
        connection.execute("SET lock_configuration = true").fetchall()
        return connection

    def _batches(self, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        self._streaming = True
        try:
            yield None
            while (batch := self.run(lambda: _next(reader))) is not None:
                yield batch
        finally:
            self._streaming = False

    def _refuse_while_streaming(self) -> None:
        if self._streaming:
            raise EngineError(_UNFINISHED)

    def _succeeds(self, sql: str) -> bool:
        try:
            self.run(lambda: self._connection.execute(sql).fetchall())
        except EngineError:
            return False
        return True

    def run(self, work: Callable[[], Result]) -> Result:
        """Do work on private data in the worker thread: Ctrl-C ends it, a failure is an EngineError."""
        future = self._worker.submit(work)
        try:
            return future.result()
        except _FAILURES:
            pass  # and raise below, where the cause is no longer attached
        finally:
            while not future.done():
                self._connection.interrupt()
                wait([future], timeout=0.05)
            del future  # it holds the engine's own error, with its words
        raise EngineError(FAILED)


def describe(query: exp.Expression | str) -> tuple[tuple[str, str], ...]:
    """Return the names and DuckDB types of the columns of a query over files. No row is read.

    Raises:  EngineError: the query cannot be understood, or a file cannot be opened.
    """
    described = None
    settings = _SHUT | {"threads": "1"}
    with contextlib.suppress(*_FAILURES), duckdb.connect(":memory:", config=settings) as connection:
        described = columns_of(connection.sql(_written(query)))
    if described is None:
        raise EngineError(FAILED)
    return described


def _amount(limit: object) -> str:
    if not isinstance(limit, str) or len(limit) > _LONGEST_LIMIT:
        raise ParameterError("memory_limit", limit, "must be an amount", "Write for example '2GB'.")
    return limit


def _next(reader: pa.RecordBatchReader) -> pa.RecordBatch | None:
    try:
        return reader.read_next_batch()
    except StopIteration:
        return None


def _written(statement: exp.Expression | str) -> str:
    if isinstance(statement, str):
        return statement
    return statement.sql(dialect="duckdb", unsupported_level=ErrorLevel.RAISE)
