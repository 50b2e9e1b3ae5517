"""`deniable ledger`: create, show, verify, export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deniable.cli.ledger import app
from deniable.errors import LedgerError, ParameterError
from deniable.events import PureDP
from deniable.ledger import Ledger


def run(*words: str | Path) -> str:
    """Run a command; return what it printed, or raise what it raised."""
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger made by the command."""
    run("create", tmp_path / "a.ledger", "--epsilon", "3", "--delta", "1e-7", "--unit", "person")
    return tmp_path / "a.ledger"


def released(folder: Path, record: object) -> Path:
    """A folder with a release.json."""
    folder.mkdir()
    (folder / "release.json").write_text(json.dumps(record), "utf-8")
    return folder


def test_a_ledger_is_made_and_shown(path: Path) -> None:
    Ledger.open(path).reserve([PureDP(epsilon=1)], purpose="weekly report")
    words = run("show", path)
    assert "1 of 3, 2 left" in words
    assert "weekly report" in words
    record = json.loads(run("show", path, "--json"))
    assert record["remaining"] == {"epsilon": "2", "delta": "1/10000000"}


def test_every_term_can_be_given(tmp_path: Path) -> None:
    words = run(
        *("create", tmp_path / "a", "--epsilon", "ln 3", "--delta", "1e-6", "--unit", "row", "--json"),
        *("--rule", "concentrated", "--data", "a.csv", "--neighbours", "replace one"),
    )
    record = json.loads(words)
    assert (record["rule"], record["data"], record["neighbours"]) == ("concentrated", "a.csv", "replace one")
    with pytest.raises(ParameterError, match="rule"):
        run("create", tmp_path / "b", "--epsilon", "1", "--unit", "row", "--rule", "pld")


def test_the_page_is_written(path: Path, tmp_path: Path) -> None:
    run("show", path, "--page", tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8").startswith("<!doctype html>")
    with pytest.raises(ParameterError, match="--page"):
        run("show", path, "--page", tmp_path / "nowhere" / "page.html")


def test_the_export_is_the_ledger(path: Path, tmp_path: Path) -> None:
    assert "holds every entry" in run("export", path, tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text("utf-8")) == Ledger.open(path).to_json()


def test_releases_are_looked_up_in_the_ledger(path: Path, tmp_path: Path) -> None:
    reservation = Ledger.open(path).reserve([PureDP(epsilon=1)])
    first = released(tmp_path / "first", {"ledger": {"head": reservation.head}})
    without = released(tmp_path / "without", {"ledger": None})
    older = released(tmp_path / "older", {})
    words = run("verify", path, first, without, older)
    assert "is sound: 2 entries, 1 published head found" in words
    assert f"{first}: entry 1" in words
    assert words.count("made without a ledger") == 2
    assert f"NOTE: no ledger paid for {without}, {older}." in words
    assert "NOTE" not in run("verify", path, first)
    assert json.loads(run("verify", path, "--json", first))["releases"] == {str(first): reservation.head}
    assert "2 entries" in run("verify", path)


def test_a_rolled_back_ledger_is_found_by_its_releases(path: Path, tmp_path: Path) -> None:
    lost = released(tmp_path / "lost", {"ledger": {"head": "4:" + "0" * 64}})
    with pytest.raises(LedgerError, match="entries 1 to 4 are missing"):
        run("verify", path, lost)


@pytest.mark.parametrize("record", [[], {"ledger": {}}, {"ledger": {"head": 7}}, {"ledger": "x"}], ids=str)
def test_a_folder_without_a_readable_release_is_refused(path: Path, tmp_path: Path, record: object) -> None:
    folder = released(tmp_path / "odd", record)
    with pytest.raises(ParameterError, match="DIR"):
        run("verify", path, folder)
    with pytest.raises(ParameterError, match="DIR"):
        run("verify", path, tmp_path / "nowhere")


def test_the_help_is_one_screen() -> None:
    words = CliRunner().invoke(app, ["--help"], env={"TERM": "dumb", "COLUMNS": "80"}).stdout
    assert len(words.splitlines()) <= 24
    for command in ("create", "show", "verify", "export"):
        assert command in words
