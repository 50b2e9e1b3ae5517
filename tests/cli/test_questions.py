"""What can be asked from the command line: every aggregate, and plans without data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from survey_file import run, write

WHO = ("--unit", "person", "--types", "person=text", "--types", "colour=text", "--types", "spend=integer")
PRICE = ("--epsilon", "1", "--max-rows", "2")


@pytest.mark.parametrize(
    ("option", "words", "columns"),
    [
        ("--variance", "spend:0:100", ["spend_variance"]),
        ("--minimum", "spend:0:100", ["spend_minimum"]),
        ("--maximum", "most=spend:0:100", ["most"]),
        ("--median", "spend:0:100", ["spend_median"]),
        ("--histogram", "spend:0,5,20", ["spend_histogram_0_to_5", "spend_histogram_5_to_20"]),
        ("--histogram", "a:b:0,1,2", ["a:b_histogram_0_to_1", "a:b_histogram_1_to_2"]),
    ],
)
def test_every_aggregate_can_be_asked_for(
    option: str, words: str, columns: list[str], tmp_path: Path
) -> None:
    data = write(tmp_path / "survey.csv")
    done = run("release", data, "--unit", "person", option, words, *PRICE, "--json")
    assert done.exit_code == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert [name for name in row if not name.endswith(("_low", "_high"))] == columns


@pytest.mark.parametrize(
    "words", ["spend", ":0,1", "spend:", "spend:0", "spend:1,0", "spend:0,nan", "spend:a,b"]
)
def test_bins_that_mean_nothing_are_refused_with_the_option(words: str, tmp_path: Path) -> None:
    done = run("plan", write(tmp_path / "survey.csv"), "--unit", "person", "--histogram", words, *PRICE)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "--histogram" in done.stderr


def test_a_plan_without_a_file_is_that_of_the_columns_named_in_types() -> None:
    asked = ("--group-by", "colour", "--units", "--sum", "spend:0:100", *PRICE, "--delta", "1e-8")
    done = run("plan", *WHO, *asked)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("Plan for a table that is not here: nothing has been read")


def test_a_plan_without_file_and_types_and_a_release_without_file_say_what_is_missing() -> None:
    for command in ("plan", "release"):
        done = run(command, "--unit", "person", "--units", "--epsilon", "1")
        assert (done.exit_code, done.stdout) == (2, "")
        assert "FILE" in done.stderr
    assert run("release", *WHO, "--units", "--epsilon", "1").exit_code == 2
