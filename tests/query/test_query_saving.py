"""A release taken away: as JSON, as files, as a page."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet
import pytest
from colours import Row, bits, table

from deniable.errors import ParameterError
from deniable.query import aggregates as dn
from deniable.query.survey import protect


@pytest.fixture(scope="module")
def release() -> Any:
    rows: list[Row] = [
        (10_000 * i + j, text, 1.0) for i, text in enumerate(["=1+2", "-x", "red"]) for j in range(100)
    ]
    query = protect(table(rows), unit="person", population=10_000).group_by("colour").aggregate(n=dn.units())
    return query.release(epsilon=1, delta="1e-8", purpose="weekly report", bits=bits(1))


def test_a_release_knows_its_promise_and_its_events(release: Any) -> None:
    assert str(release.guarantee) == "epsilon 1, delta 1e-8"
    assert release.events == release.plan.events
    assert "weekly report" in release.statement
    assert release.to_pandas()["n"].tolist() == release.table.column("n").to_pylist()
    assert release.to_polars().columns == ["colour", "n", "n_low", "n_high"]
    assert "red" in str(release)
    assert "red" in release._repr_html_()


def test_json_has_rows_guarantee_statement_and_plan(release: Any) -> None:
    record = json.loads(json.dumps(release.to_json(), allow_nan=False))
    assert record["guarantee"] == {"epsilon": "1", "delta": "1e-8"}
    assert record["rows"] == release.table.to_pylist()
    assert record["statement"] == release.statement
    assert record["plan"] == release.plan.to_json()


def test_saving_writes_five_files_that_agree(release: Any, tmp_path: Path) -> None:
    release.save(tmp_path / "out")
    folder = tmp_path / "out"
    names = ["page.html", "release.json", "statement.txt", "table.csv", "table.parquet"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert pyarrow.parquet.read_table(folder / "table.parquet").equals(release.table)
    assert (folder / "statement.txt").read_text("utf-8") == release.statement
    record = json.loads((folder / "release.json").read_text("utf-8"))
    assert record["guarantee"] == {"epsilon": "1", "delta": "1e-8"}
    assert "rows" not in record
    assert "<html" in (folder / "page.html").read_text("utf-8")


def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe(release: Any, tmp_path: Path) -> None:
    release.save(tmp_path / "out")
    cells = pyarrow.csv.read_csv(tmp_path / "out" / "table.csv").column("colour").to_pylist()
    assert sorted(cells) == ["'-x", "'=1+2", "red"]


def test_an_output_folder_that_exists_is_refused(release: Any, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(ParameterError, match="exists already"):
        release.save(tmp_path / "there")
    with pytest.raises(ParameterError, match="no folder around it"):
        release.save(tmp_path / "nowhere" / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_a_save_that_fails_leaves_nothing(
    release: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **named: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(pyarrow.csv, "write_csv", full)
    with pytest.raises(ParameterError, match="^directory cannot be written .the disk refused."):
        release.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_save_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    program = f"""
import time, pyarrow, pyarrow.csv, deniable as dn
def stuck(*arguments):
    print("writing", flush=True)
    time.sleep(60)
pyarrow.csv.write_csv = stuck
table = pyarrow.table({{"person": [1]}})
dn.protect(table, unit="person").aggregate(n=dn.units()).release(epsilon=1).save({str(tmp_path / "out")!r})
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.kill()
    for _ in range(100):
        if not list(tmp_path.iterdir()):
            return
        time.sleep(0.05)
    raise AssertionError("something is left")


def test_a_page_replaces_the_one_before(release: Any, tmp_path: Path) -> None:
    for _ in range(2):
        release.page(tmp_path / "page.html", title="Colours")
    assert "Colours" in (tmp_path / "page.html").read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("name", ["", "a\0b", "n" * 255, "ü" * 120, b"bytes", None, 7])
def test_a_place_with_no_possible_name_is_refused_in_words(release: Any, tmp_path: Path, name: Any) -> None:
    place = str(tmp_path / name) if isinstance(name, str) and name else name
    for write, argument in ((release.save, "directory"), (release.page, "path"), (release.plan.save, "path")):
        with pytest.raises(ParameterError, match="a path|too long a name") as caught:
            write(place)
        assert caught.value.argument == argument
    assert list(tmp_path.iterdir()) == []


def test_a_page_does_not_replace_a_folder(release: Any, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for write in (release.page, release.plan.save):
        with pytest.raises(ParameterError, match="^path is a folder"):
            write(tmp_path / "there")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_a_long_name_that_a_disk_takes_is_taken(release: Any, tmp_path: Path) -> None:
    release.page(tmp_path / ("n" * 200))
    release.save(tmp_path / ("m" * 200))
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("write", ["page", "save", "plan"])
def test_a_full_disk_is_an_error_in_words_and_leaves_nothing(
    release: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: str
) -> None:
    def full(*given: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    monkeypatch.setattr(Path, "write_bytes", full)
    saves = {"page": release.page, "save": release.save, "plan": release.plan.save}
    with pytest.raises(ParameterError, match="cannot be written .No space left") as caught:
        saves[write](tmp_path / "out")
    assert "Make room" in caught.value.fix
    assert list(tmp_path.iterdir()) == []
