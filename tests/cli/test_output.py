"""Standard output that is closed, full or limited: words, exit code 1, and nothing is paid for nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from survey_file import write

from deniable.ledger import Ledger

DENIABLE = [sys.executable, "-c", "from deniable.cli import main; main()"]
ELSEWHERE = {"closed": ">&-", "full": ">/dev/full"}

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full and a POSIX shell")


def run(folder: Path, redirection: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `deniable WORD ...` in a folder, its standard output sent where the shell sends it."""
    shell = ["sh", "-c", f'exec "$@" {redirection}', "sh", *DENIABLE, *words]
    return subprocess.run(shell, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "survey.csv", people=20)
    Ledger.create(tmp_path / "book", epsilon=1, unit="person")
    return tmp_path


@pytest.mark.parametrize("output", ELSEWHERE)
def test_nothing_is_paid_if_the_release_could_not_be_shown(folder: Path, output: str) -> None:
    asked = ("survey.csv", "--unit", "person", "--units", "--epsilon", "1", "--ledger", "book", "--json")
    done = run(folder, ELSEWHERE[output], "release", *asked, "--out", "kept")
    assert done.returncode == 1
    error = json.loads(done.stderr)["error"]
    assert error["kind"] == "OutputError"
    assert error["message"].startswith("Standard output")
    assert Ledger.open(folder / "book").spent.amount == 0
    assert not (folder / "kept").exists()


@pytest.mark.parametrize("output", ELSEWHERE)
@pytest.mark.parametrize("words", ["demo", "--version", "ledger show book", "account --laplace 1"])
def test_output_that_cannot_be_written_is_said_in_words(folder: Path, output: str, words: str) -> None:
    done = run(folder, ELSEWHERE[output], *words.split())
    assert done.returncode == 1
    assert done.stderr.startswith("Standard output ")
    assert "Nothing was done" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "demo").exists()


@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_output_that_fails_while_it_is_written_is_said_in_words(folder: Path, json_too: list[str]) -> None:
    asked = ["plan", "survey.csv", "--unit", "person", "--units", "--epsilon", "1", *json_too]
    shell = ["sh", "-c", 'ulimit -f 0; exec "$@" >shown', "sh", *DENIABLE, *asked]
    done = subprocess.run(shell, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    said = json.loads(done.stderr)["error"]["message"] if json_too else " ".join(done.stderr.split())
    assert said.startswith("Standard output cannot be written (File too large).")
