"""`deniable audit`: functions, probabilities, everything that ships."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from deniable.audit import shipped, specimens
from deniable.audit.subjects import BlackBox, Known
from deniable.cli.audit import audit
from deniable.cli.screens import Screen
from deniable.errors import ParameterError
from deniable.events import Laplace
from deniable.guarantees import PureDP

HALF = (
    "deniable.audit.specimens:half_noise",
    "--first",
    "0",
    "--second",
    "1",
    "--batch",
    "2000",
    "--seed",
    "1",
)
app = typer.Typer()
app.command(cls=Screen)(audit)


def run(*words: str, code: int = 0) -> str:
    """Run the command; return what it printed, or raise what it raised."""
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout


def test_a_false_claim_about_a_program_is_refuted_and_the_exit_code_says_so() -> None:
    words = run(*HALF, "--epsilon", "1", "--trials", "2000", code=1)
    assert words.startswith("Violated (confidence 0.95): epsilon 1.")
    assert "not violated" not in words


def test_a_true_claim_leaves_with_0_and_is_not_called_private() -> None:
    words = run(*HALF, "--epsilon", "2", "--trials", "2000")
    assert words.startswith("No violation of epsilon 2 found, which proves nothing.")


def test_without_a_claim_there_are_only_bounds() -> None:
    words = run(*HALF, "--trials", "2000")
    assert words.startswith("No violation found")
    record = json.loads(run(*HALF, "--trials", "2000", "--json"))
    assert record["claim"] is None
    assert 0.5 < record["bound"] < 2.0
    assert record["trials"] == 2000


def test_probabilities_are_decided() -> None:
    place = ("deniable.audit.specimens:one_way", "--first", "0", "--second", "1", "--exact")
    words = run(*place, "--epsilon", "ln 3", "--json", code=1)
    record = json.loads(words)
    assert (record["verdict"], record["bound"], record["trials"]) == ("violated", "inf", 0)
    with pytest.raises(ParameterError, match="--exact"):
        run(*place)


def test_inputs_are_json_and_lists_become_tuples() -> None:
    place = ("deniable.audit.specimens:published", "--exact", "--epsilon", "0", "--delta", "0.01")
    assert run(*place, "--first", '["ann", "bob"]', "--second", "[]").startswith(
        "Proved: epsilon 0, delta 0.01"
    )
    with pytest.raises(ParameterError, match="--second"):
        run(*place, "--first", "1")


def test_functions_are_found_in_the_folder_of_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_mechanism.py").write_text("def tell(value):\n    return value\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    words = run(
        "my_mechanism:tell", "--first", "yes", "--second", "no", "--epsilon", "1", "--trials", "100", code=1
    )
    assert "on 'yes' with probability" in words or "on 'no' with probability" in words


def test_a_subject_or_all_is_needed() -> None:
    for words in ((), ("--all", HALF[0])):
        with pytest.raises(ParameterError, match="--all"):
            run(*words)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """A short list instead of everything that ships."""
    good = Known("a proof", PureDP(epsilon=1), Laplace(scale=1))
    box = BlackBox("a program", PureDP(epsilon=3), specimens.half_noise, 0, 1, 1000)
    subjects: list[object] = [good, box]
    monkeypatch.setattr(shipped, "shipped", lambda: subjects)
    return subjects


def test_all_prints_a_row_for_each_subject(few: list[object]) -> None:
    words = run("--all", "--trials", "500")
    assert [line[:33].strip() for line in words.splitlines()[:3]] == ["subject", "a proof", "a program"]
    assert "Nothing is violated." in words
    rows = json.loads(run("--all", "--trials", "500", "--json"))
    assert [row["verdict"] for row in rows] == ["proved", "not violated"]
    assert list(rows[0]) == ["name", "claim", "verdict", "bound", "trials", "time"]


def test_all_fails_when_something_is_violated(few: list[object]) -> None:
    few.append(Known("a false claim", PureDP(epsilon="0.9"), Laplace(scale=1)))
    words = run("--all", "--trials", "500", code=1)
    assert "Nothing is violated." not in words
    assert "a false claim: Violated: epsilon 0.9." in words


def test_lines_fit_a_terminal(few: list[object]) -> None:
    assert all(len(line) <= 88 for line in run("--all", "--trials", "500").splitlines())
