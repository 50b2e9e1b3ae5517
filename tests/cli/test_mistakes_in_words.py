"""Mistakes on the command line: errors name what was typed, and say what to type instead."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from survey_file import run, write


def refused(*words: str | Path) -> str:
    done = run(*words)
    assert done.exit_code == 2, done.output
    return " ".join(done.stderr.split())


def test_a_release_that_is_not_there_is_the_argument_not_an_option() -> None:
    assert refused("show", "nosuch").startswith("DIR is no folder, got 'nosuch'.")


def test_the_subject_of_an_audit_is_called_what_the_help_calls_it() -> None:
    assert refused("audit").startswith("MODULE:FUNCTION is missing.")
    assert refused("audit", "nosuch:f").startswith("MODULE:FUNCTION cannot be loaded")
    assert "Write mine:coin, in the folder" in refused("audit", "mine.py:coin")
    assert refused("audit", "a:b", "--all").startswith("MODULE:FUNCTION does not go with --all")


@pytest.mark.parametrize(
    ("column", "delta", "words"),
    [("color", "1e-7", "--column names no column"), ("colour", "0", "--delta cannot be 0")],
)
def test_an_open_survey_names_its_own_options(column: str, delta: str, words: str, tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", 5)
    asked = ("local", "survey", file, "--unit", "person", "--column", column, "--epsilon", "1")
    said = refused(*asked, "--delta", delta)
    assert said.startswith(words)
    assert "--keys" not in said


def test_types_and_ledgers_are_proposed_as_options_and_commands(tmp_path: Path) -> None:
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"person": "a"}\n', "utf-8")
    said = refused("release", lines, "--unit", "person", "--units", "--epsilon", "1")
    assert "Write --types person=text --types age=integer:" in said
    assert "Make a ledger with `deniable ledger create`." in refused("ledger", "show", tmp_path / "no.ledger")
    assert refused("release", write(tmp_path / "a.csv", 5), "--unit", "person", "--epsilon", "1").startswith(
        "The question is missing."
    )


def test_json_has_letters_as_they_are(tmp_path: Path) -> None:
    done = run("show", tmp_path / "Zürich", "--json")
    assert "Zürich" in done.stderr
    assert json.loads(done.stderr)["error"]["argument"] == "DIR"


def test_json_is_escaped_where_the_encoding_lacks_a_letter() -> None:
    from deniable.cli.screens import as_json

    assert json.loads(as_json({"city": "Zürich\udc80"})) == {"city": "Zürich\udc80"}
    assert "\\udc80" in as_json({"city": "Zürich\udc80"})
    assert as_json(["Zürich"], indent=None) == '["Zürich"]'


def test_what_is_printed_under_a_table_says_what_it_is_about(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", 60)
    done = run("release", file, "--unit", "person", "--units", "--epsilon", "5")
    said = " ".join(done.stdout.split())
    assert "-fold between tables that differ in one person." in said
    assert "Remaining risk: None beyond the promise" in said
    asked = ("--group-by", "colour", "--units", "--epsilon", "50", "--delta", "1e-6", "--max-keys", "3")
    said = " ".join(run("release", file, "--unit", "person", *asked).stdout.split())
    assert "Remaining risk: delta is 1e-6" in said
    assert "From noisy counts" in said
