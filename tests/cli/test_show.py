"""`deniable show` and `dn.load`: a saved release is what it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from survey_file import run, write

import deniable as dn
from deniable.errors import ParameterError


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("show")
    asked = ("--unit", "person", "--group-by", "colour", "--units", "--sum", "spend:0:100", "--max-rows", "2")
    paid = ("--epsilon", "1", "--delta", "1e-8", "--out", folder / "out", "--json")
    done = run("release", write(folder / "survey.csv"), *asked, *paid)
    assert done.exit_code == 0, done.output
    (folder / "first.json").write_text(done.stdout, "utf-8")
    return folder


def test_a_release_is_read_back_as_what_was_published(released: Path) -> None:
    published = json.loads((released / "first.json").read_text("utf-8"))
    shown = run("show", released / "out", "--json")
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout) == published
    release = dn.load(released / "out")
    assert release.table.num_rows == len(published["rows"]) == 3
    assert str(release.guarantee) == "epsilon 1, delta 1e-8"
    assert release.statement == (released / "out" / "statement.txt").read_text("utf-8")


def test_every_form_fits_its_file_or_the_screen(released: Path) -> None:
    out = released / "out"
    table = run("show", out)
    assert max(map(len, table.stdout.splitlines())) <= 80
    assert "green" in table.stdout
    assert f"deniable review {out}" in " ".join(table.stdout.split())
    assert run("show", out, "--csv").stdout == (out / "table.csv").read_text("utf-8")
    assert (
        run("show", out, "--statement").stdout.strip() == (out / "statement.txt").read_text("utf-8").strip()
    )
    assert "epsilon 1, delta 1e-8" in run("show", out, "--plan").stdout


def test_two_forms_at_once_are_refused(released: Path) -> None:
    done = run("show", released / "out", "--csv", "--json")
    assert done.exit_code == 2
    assert "one thing at a time" in done.stderr


@pytest.mark.parametrize("name", ["release.json", "table.parquet"])
@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b"PAR1", None])
def test_a_folder_that_holds_no_release_is_refused_in_words(
    released: Path, name: str, content: bytes | None, tmp_path: Path
) -> None:
    for path in (released / "out").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ParameterError, match="holds no release that can be shown"):
        dn.load(tmp_path)
    done = run("show", tmp_path)
    assert (done.exit_code, done.stdout) == (2, "")


def test_a_folder_that_is_not_there_is_refused(released: Path) -> None:
    done = run("show", released / "nowhere")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "is no folder" in done.stderr


def test_a_table_of_another_release_is_not_shown_as_this_one(released: Path, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in (released / "out").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    pq.write_table(pa.table({"secret": ["a"]}), tmp_path / "table.parquet")
    with pytest.raises(ParameterError, match="its columns are"):
        dn.load(tmp_path)
