"""Relations of the caller's own connection: streamed, and the connection is left as it was."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from source_rows import read

from deniable.engines.duckdb import DuckDB
from deniable.errors import EngineError, ParameterError, SourceError
from deniable.query.source import resolve

ROWS = """
    SELECT 170141183460469231731687303715884105::HUGEINT AS h, 5::UHUGEINT AS uh, 3::UTINYINT AS u8,
    'x'::ENUM('y', 'x') AS e, 'f47ac10b-58cc-4372-a567-0e02b2c3d479'::UUID AS id, 1.5::DECIMAL(18, 3) AS d,
    '2020-01-01 00:00:00+02'::TIMESTAMPTZ AS tz, 'infinity'::DATE AS day, 'inf'::DOUBLE AS f,
    0.5::FLOAT AS f32, '{"a":1}'::JSON AS j, true AS b, 'txt' AS s, '1'::BLOB AS blob, '12:00'::TIME AS t,
    INTERVAL 1 DAY AS i, [1] AS l
"""
KINDS = "integer integer integer text text decimal timestamp date real real text boolean text".split()


def relation(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
    made = connection.sql(sql)
    assert made is not None
    return made


def test_every_type_of_a_relation_is_delivered_or_other() -> None:
    with duckdb.connect() as connection:
        source = resolve(relation(connection, ROWS))
        assert [str(column.type) for column in source.schema.columns] == KINDS + ["other"] * 4
        (row,) = read(source, source.schema.names[:13])
    assert row == (
        Decimal(170141183460469231731687303715884105), Decimal(5), 3, "x",
        "f47ac10b-58cc-4372-a567-0e02b2c3d479",
        Decimal("1.500"), dt.datetime(2019, 12, 31, 22), None, None, 0.5, '{"a":1}', True, "txt",
    )  # fmt: skip


def test_a_relation_is_read_again_and_the_connection_is_untouched(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "mine.db")) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT range AS a, 'x' || range AS s FROM range(300000)"
        ).fetchall()
        settings = connection.execute("SELECT * FROM duckdb_settings()").fetchall()
        source = resolve(connection.table("t"), types={"s": "text"})
        for _ in range(2):
            assert len(set(read(source, ["s"]))) == 300_000
        assert connection.execute("SELECT * FROM duckdb_settings()").fetchall() == settings
        assert connection.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchall() == [
            (0,)
        ]
        assert connection.execute("SELECT sum(a) FROM t").fetchall() == [(299_999 * 150_000,)]


def test_a_relation_without_columns_asked_for_has_all_its_rows() -> None:
    with duckdb.connect() as connection, DuckDB(threads=2) as engine:
        tree = resolve(relation(connection, "SELECT range AS a FROM range(1000)")).rows(engine, [])
        assert engine.stream(tree).read_all().num_rows == 1000


def test_declared_types_convert_in_the_callers_sql() -> None:
    with duckdb.connect() as connection:
        made = relation(connection, "SELECT * FROM (VALUES ('3'), ('3.7'), (NULL)) t(Age)")
        assert read(resolve(made, types={"age": "integer"})) == [(3,), (None,), (None,)]
        with pytest.raises(ParameterError, match="Did you mean 'Age'"):
            resolve(made, types={"agee": "integer"})


@pytest.mark.parametrize("same", [True, False])
def test_two_threads_may_read_one_connection(same: bool) -> None:
    """A connection runs one statement at a time: the next one ends the result that is still being read."""
    with duckdb.connect() as connection:
        sources = [
            resolve(relation(connection, "SELECT range AS a, 'x' || range AS s FROM range(250000)"))
            for _ in range(1 if same else 2)
        ]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda place: len(read(sources[place % len(sources)], ["s"])), range(4)))
    assert found == [250_000] * 4


def test_a_relation_that_fails_tells_nothing_and_frees_the_connection() -> None:
    with duckdb.connect() as connection:
        failing = (
            "SELECT CASE WHEN range = 250000 THEN error('somebody') ELSE range END AS a FROM range(300000)"
        )
        source = resolve(relation(connection, failing))
        with pytest.raises(EngineError) as caught:
            read(source)
        assert "somebody" not in str(caught.value)
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_a_relation_that_is_left_half_read_frees_the_connection() -> None:
    with duckdb.connect() as connection:
        source = resolve(relation(connection, "SELECT range AS a FROM range(10000000)"))
        with DuckDB(threads=2) as engine:
            engine.stream(source.rows(engine, ["a"])).read_next_batch()
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_a_relation_whose_connection_is_closed_is_refused() -> None:
    connection = duckdb.connect()
    made = relation(connection, "SELECT 1 AS a")
    source = resolve(made)
    connection.close()
    with pytest.raises((EngineError, SourceError)):
        read(resolve(made))
    with pytest.raises(EngineError):
        read(source)


@pytest.mark.parametrize("name", ["a:b", 'a"b', "select", "größe", "two words", "x'y"])
def test_weird_names_of_columns_work(name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    with duckdb.connect() as connection:
        source = resolve(relation(connection, f"SELECT 1 AS {quoted}, 2 AS z"))
        assert read(source, [name]) == [(1,)]


def test_names_that_coincide_are_refused() -> None:
    with duckdb.connect() as connection, pytest.raises(SourceError, match="both called"):
        resolve(relation(connection, 'SELECT 1 AS "ß", 2 AS "ss"'))
