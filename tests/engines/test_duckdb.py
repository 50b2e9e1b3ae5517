"""The engine is shut in, exact, silent about what it reads, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

from deniable.engines.duckdb import DuckDB
from deniable.errors import EngineError, ParameterError

SECRET = "a value of somebody"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def setting(engine: DuckDB, name: str) -> str:
    return str(engine.stream(f"SELECT current_setting('{name}')::VARCHAR AS s").read_all()["s"][0].as_py())


def test_a_query_is_streamed_and_a_tree_is_as_good_as_text() -> None:
    with DuckDB(threads=1) as engine:
        engine.execute("CREATE TEMP TABLE t AS SELECT range AS a FROM range(1000)")
        tree = exp.select("sum(a) AS s").from_("t")
        assert engine.stream(tree).read_all()["s"].to_pylist() == [499500]
        assert sum(engine.stream("SELECT a FROM t").read_all()["a"].to_pylist()) == 499500


def test_integers_of_128_bits_never_become_floats() -> None:
    with DuckDB(threads=1) as engine:
        answer = engine.stream(
            "SELECT sum(x) AS s FROM (VALUES (2::BIGINT ** 62 + 1), (2::BIGINT ** 62)) t(x)"
        )
        assert pa.types.is_floating(answer.schema.field("s").type)  # ** is a float in SQL: the test's twin
        answer.read_all()
        big = 2**62 + 1
        answer = engine.stream(f"SELECT sum(x) AS s FROM (VALUES ({big}), ({big}), ({big})) t(x)")
        assert pa.types.is_decimal(answer.schema.field("s").type)
        assert answer.read_all()["s"].to_pylist() == [Decimal(3 * big)]


def test_the_spill_folder_is_private_and_goes_with_the_engine(folder: Path) -> None:
    with DuckDB(threads=1) as engine:
        (inside,) = folder.iterdir()
        assert setting(engine, "temp_directory") == str(inside)
        assert stat.S_IMODE(inside.stat().st_mode) == 0o700
    assert not list(folder.iterdir())


def test_the_spill_folder_goes_when_the_block_raises(folder: Path) -> None:
    with pytest.raises(KeyError), DuckDB(threads=1):
        raise KeyError
    assert not list(folder.iterdir())


def test_a_setting_that_duckdb_refuses_is_named_and_leaves_nothing(folder: Path) -> None:
    with pytest.raises(ParameterError, match="memory_limit='a lot'"):
        DuckDB(memory_limit="a lot").__enter__()
    assert not list(folder.iterdir())


def test_the_engine_draws_no_progress_where_python_is_interactive() -> None:
    # without a main file (python -c, a prompt, a notebook) DuckDB draws a bar into standard output by default
    ask = "SELECT current_setting('enable_progress_bar')::VARCHAR AS s"
    ours = (
        f"from deniable.engines.duckdb import DuckDB\nwith DuckDB() as e: print(e.stream({ask!r}).read_all())"
    )
    plain = f"import duckdb; print(duckdb.sql({ask!r}))"
    shown = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True) for code in (ours, plain)
    ]
    assert "false" in shown[0].stdout, shown[0].stderr
    assert "true" in shown[1].stdout, "no test where DuckDB itself draws nothing"


def test_the_settings_hold_and_cannot_be_undone() -> None:
    with DuckDB(memory_limit="300MB", threads=2) as engine:
        assert setting(engine, "threads") == "2"
        assert setting(engine, "memory_limit").startswith("286")
        assert setting(engine, "python_enable_replacements") == "false"
        assert setting(engine, "autoload_known_extensions") == "false"
        assert setting(engine, "autoinstall_known_extensions") == "false"
        assert setting(engine, "TimeZone") == "UTC"
        for undo in (
            "SET threads = 1",
            "SET temp_directory = '/tmp'",
            "SET autoload_known_extensions = true",
        ):
            with pytest.raises(EngineError):
                engine.execute(undo)


@pytest.mark.parametrize(
    "load", ["LOAD httpfs", "INSTALL httpfs", "SELECT * FROM read_parquet('s3://b/x.parquet')"]
)
def test_no_extension_is_loaded_or_installed(load: str) -> None:
    with DuckDB(threads=1) as engine, pytest.raises(EngineError):
        engine.execute(load)


def test_sql_cannot_see_the_variables_of_python() -> None:
    somebody = pa.table({"a": [1]})
    seen = duckdb.sql("SELECT * FROM somebody")  # what is switched off here
    assert seen is not None
    assert seen.fetchall() == [(1,)]
    with DuckDB(threads=1) as engine, pytest.raises(EngineError):
        engine.stream("SELECT * FROM somebody")
    del somebody


def test_a_failure_has_one_fixed_message_and_no_cause() -> None:
    messages = set()
    with DuckDB(threads=1) as engine:
        engine.execute(f"CREATE TEMP TABLE t AS SELECT '{SECRET}' AS a")
        for sql in (
            "SELECT a::INTEGER FROM t",
            "SELECT error(a) FROM t",
            f"SELECT * FROM '{SECRET}'",
            "nonsense",
        ):
            with pytest.raises(EngineError) as caught:
                engine.execute(sql)
            messages.add(str(caught.value))
            assert caught.value.__cause__ is None
            assert caught.value.__context__ is None
    assert len(messages) == 1
    assert SECRET not in messages.pop()


def test_a_failure_in_the_middle_of_a_stream_is_as_silent() -> None:
    with DuckDB(threads=1) as engine:
        query = f"SELECT CASE WHEN range = 900000 THEN error('{SECRET}') ELSE range END FROM range(1000000)"
        with pytest.raises(EngineError) as caught:
            engine.stream(query).read_all()
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is None
        assert engine.stream("SELECT 1 AS a").read_all()["a"].to_pylist() == [1]


def test_a_failure_in_the_callers_own_stream_is_as_silent() -> None:
    schema = pa.schema([("a", pa.int64())])

    class Broken:
        def __arrow_c_schema__(self) -> object:
            return schema.__arrow_c_schema__()

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            def batches() -> Iterator[pa.RecordBatch]:
                yield pa.record_batch([pa.array([1])], schema=schema)
                raise OSError(SECRET)

            return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__()

    with DuckDB(threads=1) as engine:
        name = engine.view(Broken())
        with pytest.raises(EngineError) as caught:
            engine.execute(f"SELECT sum(a) FROM {name}")
        assert SECRET not in str(caught.value)


def test_a_view_can_be_scanned_again_and_again() -> None:
    with DuckDB(threads=2) as engine:
        name = engine.view(pa.table({"a": [1, 2, 3]}))
        assert name != engine.view(pa.table({"a": [7]}))
        for _ in range(2):
            twice = engine.stream(f"SELECT count(*) AS n FROM {name} x, {name} y").read_all()
            assert twice["n"].to_pylist() == [9]


def test_a_second_statement_does_not_cut_an_open_stream_short() -> None:
    with DuckDB(threads=1) as engine:
        reader = engine.stream("SELECT range AS a FROM range(1000000)")
        rows = reader.read_next_batch().num_rows
        for call in (lambda: engine.execute("SELECT 1"), lambda: engine.stream("SELECT 1")):
            with pytest.raises(EngineError, match="still being read"):
                call()
        assert rows + reader.read_all().num_rows == 1_000_000
        engine.execute("SELECT 1")


def test_a_stream_that_nobody_reads_does_not_block_the_next() -> None:
    with DuckDB(threads=1) as engine:
        for _ in range(2):
            engine.stream("SELECT range AS a FROM range(1000000)")
        reader = engine.stream("SELECT range AS a FROM range(1000000)")
        reader.read_next_batch()
        del reader
        engine.execute("SELECT 1")


CHILD = """
import sys
from deniable.engines.duckdb import DuckDB
with DuckDB(memory_limit="60MB", threads=2) as engine:
    print(engine.stream("SELECT current_setting('temp_directory') AS s").read_all()["s"][0], flush=True)
    QUERY
"""
SORT = "engine.execute('CREATE TEMP TABLE t AS SELECT hash(range) AS h, range, md5(range::VARCHAR) AS m "
SORT += "FROM range(30000000) ORDER BY 1')"
LONG = "engine.execute('SELECT count(*) FROM range(9000000) a, range(9000000) b WHERE hash(a, b) = 5')"
STREAM = "engine.stream('SELECT a.range FROM range(1000000) a, range(1000000) b').read_all()"
SCAN = """
    import pyarrow as pa, itertools
    schema = pa.schema([("a", pa.int64())])
    class Endless:
        def __arrow_c_schema__(self): return schema.__arrow_c_schema__()
        def __arrow_c_stream__(self, requested_schema=None):
            batches = (pa.record_batch([pa.array(range(1000))], schema=schema) for _ in itertools.count())
            return pa.RecordBatchReader.from_batches(schema, batches).__arrow_c_stream__()
    engine.execute('SELECT sum(a) FROM ' + engine.view(Endless()))
"""


def start(query: str, folder: Path) -> tuple[subprocess.Popen[str], Path]:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD.replace("QUERY", query)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert child.stdout is not None
    spill = Path(child.stdout.readline().strip())
    assert spill.parent == folder
    return child, spill


def wait_until(true: Callable[[], bool], seconds: float = 6) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


@pytest.mark.parametrize("query", [SORT, LONG], ids=["spilling", "computing"])
def test_kill_9_leaves_no_spill_folder(query: str, tmp_path: Path) -> None:
    child, spill = start(query, tmp_path)
    try:
        wait_until(lambda: query is LONG or any(spill.rglob("*.tmp")))
        assert spill.is_dir()
    finally:
        child.kill()
        child.communicate()
    wait_until(lambda: not list(tmp_path.iterdir()))


@pytest.mark.parametrize(
    "query", [LONG, STREAM, SCAN], ids=["statement", "stream", "scan of a Python stream"]
)
def test_ctrl_c_ends_the_query_and_leaves_no_spill_folder(query: str, tmp_path: Path) -> None:
    child, _ = start(query, tmp_path)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=15)
    assert errors.strip().endswith("KeyboardInterrupt")
    assert not list(tmp_path.iterdir())


def test_a_fork_of_the_process_does_not_keep_the_folder_alive(tmp_path: Path) -> None:
    forking = (
        "import os, time\n    if os.fork() == 0:\n        time.sleep(9)\n        os._exit(0)\n    " + LONG
    )
    child, _ = start("pass\n    " + forking, tmp_path)
    time.sleep(0.3)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    wait_until(lambda: not list(tmp_path.iterdir()))
    for stream in (child.stdout, child.stderr):
        assert stream is not None
        stream.close()


def test_a_relative_interpreter_is_found_from_anywhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", os.path.relpath(sys.executable))
    with DuckDB(threads=1) as engine:
        assert engine.stream("SELECT 1 AS a").read_all()["a"].to_pylist() == [1]
    assert not list(folder.iterdir())
