"""What can be protected: told by what it is, refused with a reason, before a row is read."""

from __future__ import annotations

import io
import os
import pickle
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from source_rows import read, written

import deniable as dn
from deniable.engines.duckdb import DuckDB
from deniable.errors import ParameterError, SourceError
from deniable.query.source import resolve
from deniable.query.survey import ROW, protect


@pytest.mark.parametrize("form", [str, Path, lambda path: Path(os.path.relpath(path)), os.path.relpath])
def test_a_path_may_be_text_or_a_path_absolute_or_relative(form: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "a\n1\n")
    assert read(resolve(form(path))) == [("1",)]


def test_a_relative_path_means_the_folder_in_which_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "a.csv", "a\n1\n")
    monkeypatch.chdir(tmp_path)
    source = resolve("a.csv")
    monkeypatch.chdir("/")
    assert read(source) == [("1",)]
    assert source.label == "a.csv"


def test_the_home_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "a.csv", "a\n1\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read(resolve("~/a.csv")) == [("1",)]


def test_a_glob_is_one_table_of_files_with_one_header(tmp_path: Path) -> None:
    for name, data in {"1.csv": "a,b\n1,2\n", "2.csv": "a,b\n3,4", "sub/3.csv": "a,b\n5,6\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        written(tmp_path / name, data)
    assert read(resolve(tmp_path / "*.csv")) == [("1", "2"), ("3", "4")]
    assert read(resolve(f"{tmp_path}/**/*.csv")) == [("1", "2"), ("3", "4"), ("5", "6")]


@pytest.mark.parametrize("second", ["a,c\n", "b,a\n", "a\n", "a,b,c\n", "A,b\n"])
def test_files_whose_headers_differ_are_refused(second: str, tmp_path: Path) -> None:
    written(tmp_path / "1.csv", "a,b\n")
    written(tmp_path / "2.csv", second)
    with pytest.raises(SourceError):
        resolve(tmp_path / "*.csv")


def test_files_of_several_kinds_are_refused(tmp_path: Path) -> None:
    written(tmp_path / "1.csv", "a\n")
    written(tmp_path / "2.jsonl", "{}")
    with pytest.raises(SourceError, match="differs from that of the other files"):
        resolve(tmp_path / "*", types={"a": "text"})


@pytest.mark.parametrize(
    "address",
    ["s3://bucket/a.csv", "http://x.org/a.csv", "https://x.org/a.csv", "gs://b/a.parquet", "HTTPS://x/a.csv"],
)
def test_an_address_is_refused_with_its_reason(address: str) -> None:
    with pytest.raises(ParameterError, match="only local files are read"):
        resolve(address)


def test_nothing_there_is_said_with_the_place_that_was_looked_at(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=f"There is no file.*{tmp_path}/none.csv"):
        resolve(tmp_path / "none.csv")
    with pytest.raises(SourceError, match="No file matches"):
        resolve(tmp_path / "*.csv")


def test_a_directory_is_refused_with_the_glob_to_write(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=rf"is a directory.*{tmp_path}/\*\.csv"):
        resolve(tmp_path)


def test_a_link_that_leads_nowhere_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").symlink_to(tmp_path / "gone.csv")
    with pytest.raises(SourceError, match="cannot be read: no such file"):
        resolve(tmp_path / "a.csv")


def test_a_file_without_permission_cannot_be_read() -> None:
    user = os.geteuid()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = written(Path(folder) / "a.csv", "a\n")
        path.chmod(0)
        try:
            os.seteuid(user or 65534)  # the administrator can read everything, so be nobody for a moment
            with pytest.raises(SourceError, match="cannot be read: permission denied"):
                resolve(path)
        finally:
            os.seteuid(user)


def test_an_unreadable_file_is_refused_without_a_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "a.csv", "a\n")

    def refuse(*arguments: object, **named: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(SourceError, match="cannot be read: permission denied") as caught:
        resolve(path)
    assert caught.value.__context__ is None


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(SourceError, match="not an ordinary file"):
        resolve(tmp_path / "a.csv")


@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet.gz", "a", "a.csv.zip", "a.feather", ".csv"])
def test_an_unknown_ending_is_refused_and_the_known_ones_are_listed(name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"none of \.csv"):
        resolve(written(tmp_path / name, "a\n1\n"))


@pytest.mark.parametrize("name", ["adult.data", "a", "a.txt", "a.log.gz"])
def test_a_delimiter_makes_any_ending_delimited_text(name: str, tmp_path: Path) -> None:
    import gzip

    data = b"a,b\n1,2\n"
    path = written(tmp_path / name, gzip.compress(data) if name.endswith("gz") else data)
    assert read(resolve(path, delimiter=",")) == [("1", "2")]


@pytest.mark.parametrize(
    "data",
    [
        None,
        3,
        [1, 2],
        {"a": [1]},
        (1,),
        np.zeros(3),
        io.StringIO("a\n1\n"),
        pd.Series([1], name="a"),
        b"a.csv",
        "",
    ],
    ids=lambda data: type(data).__name__,
)
def test_what_is_no_table_is_refused_and_the_kinds_are_listed(data: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        resolve(data)
    assert "path" in str(caught.value)


def test_a_connection_is_refused() -> None:
    with duckdb.connect() as connection, pytest.raises(ParameterError, match="a DuckDB relation"):
        resolve(connection)


def test_a_spark_frame_is_known_before_its_arrow_stream_is_touched() -> None:
    """Spark frames, classic and Connect, also give Arrow streams, which pull them into this process."""

    class DataFrame:
        __module__ = "pyspark.sql.connect.dataframe"
        isStreaming = True

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise AssertionError("the frame was pulled")

    class Mine(DataFrame):
        __module__ = "mine"

    for frame in (DataFrame(), Mine()):
        with pytest.raises(SourceError, match="A Spark stream never ends"):
            resolve(frame)


def test_another_thing_of_pyspark_is_refused_and_the_frame_named() -> None:
    class GroupedData:
        __module__ = "pyspark.sql.group"

    with pytest.raises(SourceError, match=r"A GroupedData of PySpark .* spark.read.parquet"):
        resolve(GroupedData())


@pytest.mark.parametrize(
    "data", [pd.DataFrame({"a": [1]}), duckdb.sql("SELECT 1 AS a")], ids=["pandas", "relation"]
)
def test_a_delimiter_is_for_text_files_only(data: Any) -> None:
    with pytest.raises(ParameterError, match="only for delimited text"):
        resolve(data, delimiter=",")


def test_an_unknown_column_or_type_is_refused_with_the_nearest(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "person,colour\n")
    with pytest.raises(ParameterError, match="types names no column, got 'color'. Did you mean 'colour'"):
        resolve(path, types={"color": "text"})
    with pytest.raises(
        ParameterError, match=r"types\['colour'\] is not a known type, got 'string'. The types are"
    ):
        resolve(path, types={"colour": "string"})


def test_no_row_is_looked_at_before_rows_are_needed(tmp_path: Path) -> None:
    """The second line could not be decoded, split or parsed; the schema is that of the header."""
    path = written(tmp_path / "a.csv", b'a,b\n\xff\xfe\0,"\n')
    source = resolve(path, types={"a": "integer"})
    assert source.schema.names == ("a", "b")
    assert read(source) == []


def change(path: Path, how: str) -> None:
    match how:
        case "longer":
            path.write_text("a\n1\n2\n")
        case "touched":
            os.utime(path, ns=(1, 1))
        case "edited with its time put back":
            before = path.stat()
            path.write_text("a\n2\n")
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        case "replaced":
            path.with_name("b").write_text("a\n7\n")
            path.with_name("b").replace(path)
        case "gone":
            path.unlink()
        case "a directory":
            path.unlink()
            path.mkdir()


@pytest.mark.parametrize(
    "how", ["longer", "touched", "edited with its time put back", "replaced", "gone", "a directory"]
)
def test_a_file_that_changed_is_noticed_and_the_message_is_fixed(how: str, tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "a\n1\n")
    other = written(tmp_path / "c.csv", "a\n1\n")
    source = resolve(tmp_path / "*.csv")
    source.check_unchanged()
    change(path, how)
    with pytest.raises(SourceError) as caught:
        source.check_unchanged()
    assert str(caught.value).startswith("A file of this source changed after it was opened")
    assert other.name not in str(caught.value)


def test_a_file_that_was_only_read_is_unchanged(tmp_path: Path) -> None:
    source = resolve(written(tmp_path / "a.csv", "a\n1\n"))
    read(source)
    source.check_unchanged()


def test_a_file_that_vanishes_before_it_is_read_is_an_engine_error(tmp_path: Path) -> None:
    from deniable.errors import EngineError

    path = written(tmp_path / "a.csv", "a\n1\n")
    source = resolve(path)
    path.unlink()
    with pytest.raises(EngineError), DuckDB(threads=1) as engine:
        engine.stream(source.rows(engine, ["a"])).read_all()


@pytest.mark.parametrize(("pattern", "label"), [("a.csv", "a.csv"), ("*.csv", "answers/*.csv")])
def test_what_is_published_about_a_path_leaves_out_the_folders_of_the_machine(
    tmp_path: Path, pattern: str, label: str
) -> None:
    (tmp_path / "answers").mkdir()
    written(tmp_path / "answers" / "a.csv", "a\n1\n")
    source = resolve(tmp_path / "answers" / pattern)
    assert source.label == label
    assert not any(str(tmp_path) in sentence for sentence in source.assumed)


def saved_as_parquet(path: Path) -> Path:
    pd.DataFrame({"a": ["somebody"]}).to_parquet(path)
    return path


def test_what_a_source_holds_is_not_shown(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        made = connection.sql("SELECT 'somebody'::ENUM('somebody', 'else') AS a")
        assert made is not None
        path = written(tmp_path / "a.csv", "a\n" + "1\n" * 7_654)
        frame = pd.DataFrame({"a": ["somebody"]})
        for data in (made, path, frame, pl.DataFrame(frame), pa.table(frame),
                     saved_as_parquet(tmp_path / "a.parquet")):  # fmt: skip
            shown = repr(resolve(data))
            assert "somebody" not in shown
            for private in (path.stat().st_size, path.stat().st_mtime_ns, path.stat().st_ino):
                assert str(private) not in shown


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_a_pickled_source_tells_nothing_of_its_file_and_finds_it_again(name: str, tmp_path: Path) -> None:
    path, types = tmp_path / name, {"a": "text"}
    if name == "a.parquet":
        saved_as_parquet(path)
    else:
        written(path, '{"a": "somebody"}\n' if name == "a.jsonl" else "a\nsomebody\n")
    for source in (resolve(path, types=types), protect(path, unit=ROW, types=types).source):
        data = pickle.dumps(source, protocol=0)
        for private in (path.stat().st_mtime_ns, path.stat().st_ctime_ns, path.stat().st_ino):
            assert str(private).encode() not in data
        again = pickle.loads(data)
        again.check_unchanged()
        assert read(again) == [("somebody",)]
    path.unlink()
    with pytest.raises(SourceError, match="changed"):
        pickle.loads(data).check_unchanged()


@pytest.mark.parametrize("sign", ["\x1b[2J", "\n", "\x7f", "\u202e", "\udcff", "\x9b"])
def test_no_sign_in_the_name_of_a_file_moves_what_is_shown(sign: str, tmp_path: Path) -> None:
    path = written(tmp_path / f"a{sign}.csv", "a\n1\n")
    source = resolve(path)
    assert sign not in source.label + "".join(source.assumed)
    assert source.label.isprintable()
    assert source.label != "a.csv"
    assert read(source) == [("1",)]
    for wrong in (written(path, "a,a\n"), tmp_path / f"none{sign}.csv", tmp_path / f"*{sign}.csv.none"):
        with pytest.raises(SourceError) as caught:
            resolve(wrong)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", ["c\0d", "\0", "a\ud800"])
def test_a_name_of_a_column_that_no_engine_takes_is_refused_when_it_is_protected(name: str) -> None:
    with pytest.raises(SourceError, match="column 2 of .* holds a NUL or half a character"):
        resolve(pd.DataFrame([[1, 2]], columns=pd.Index(["a", name], dtype=object)))
    if name == "c\0d":
        with pytest.raises(SourceError, match="holds a NUL"):
            protect(pa.table({"a": [1], name: [1]}), unit=ROW)


COLUMNS = {"person": "text", "colour": "text", "age": "integer"}


def test_a_plan_needs_names_and_types_alone_and_is_that_of_the_data(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("person,colour,age\np,red,30\n", "utf-8")
    data = dn.protect(tmp_path / "a.csv", unit="person", types={"age": "integer"}, population=1000)
    schema = dn.protect(COLUMNS, unit="person", population=1000)
    plans = [
        survey.where("age > 3")
        .group_by("colour")
        .aggregate(people=dn.units(), age=dn.mean("age", bounds=(0, 99), max_rows=1))
        .plan(epsilon=1, delta="1e-6")
        for survey in (data, schema)
    ]
    assert plans[0].events == plans[1].events
    assert plans[0].guarantee == plans[1].guarantee
    assert "a table that is not here" in str(plans[1])
    with pytest.raises(SourceError, match="There are no rows of a table that is not here"):
        plans[1].release()


def test_a_row_that_is_taken_for_a_schema_is_not_shown() -> None:
    with pytest.raises(ParameterError, match="is not a table that can be protected, got 'dict'") as caught:
        resolve({"person": "Alice", "age": "integer"})
    assert "Alice" not in str(caught.value)


@pytest.mark.parametrize("columns", [{}, {"person": "decimal"}, {"a": "text", "A": "text"}, {1: "text"}])
def test_a_schema_that_no_table_has_is_refused(columns: dict[str, str]) -> None:
    with pytest.raises((ParameterError, SourceError)):
        resolve(columns)


def test_a_schema_neither_takes_types_nor_pays(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="types"):
        resolve(COLUMNS, types={"age": "real"})
    ledger = dn.Ledger.create(tmp_path / "a.ledger", epsilon=1, delta=0, unit="person")
    with pytest.raises(ParameterError, match="pays for releases, and a schema has no data"):
        dn.protect(COLUMNS, unit="person", ledger=ledger)


def test_a_file_that_changed_before_the_release_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("person\np\n", "utf-8")
    ledger = dn.Ledger.create(tmp_path / "a.ledger", epsilon=1, delta=0, unit="person")
    plan = dn.protect(path, unit="person", ledger=ledger).aggregate(n=dn.units()).plan(epsilon=1)
    path.write_text("person\np\nq\n", "utf-8")
    with pytest.raises(SourceError, match="changed"):
        plan.release()
    assert ledger.spent.epsilon == 0
    assert len(ledger.events()) == 0
