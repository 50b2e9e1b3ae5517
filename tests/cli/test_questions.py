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


def shares(*words: str) -> dict[str, str | None]:
    """The share of each published column, as the plan records it."""
    who = [*WHO, "--types", "a:share=0.9=integer"]
    done = run("plan", *who, *words, *PRICE, "--max-values", "3", "--json")
    assert done.exit_code == 0, done.stderr
    return {column["name"]: column["share"] for column in json.loads(done.stdout)["plan"]["columns"]}


@pytest.mark.parametrize(
    ("words", "column"),
    [
        (["--units", "share=0.5"], "units"),
        (["--units", ":share=0.5"], "units"),
        (["--units=share=1/2"], "units"),
        (["--count", ":share=0.5"], "count"),
        (["--count", "spend:share=0.5"], "spend_count"),
        (["--count", "given=spend:share=0.5"], "given"),
        (["--sum", "spend:0:100:share=0.5"], "spend_sum"),
        (["--mean", "m=spend:0:100:share=0.5"], "m"),
        (["--mean", "spend:auto:share=0.5"], "spend_mean"),
        (["--median", "spend:0:100:share=0.5"], "spend_median"),
        (["--quantile", "spend:0:100:0.1:share=0.5"], "spend_quantile_0.1"),
        (["--histogram", "spend:0,100:share=0.5"], "spend_histogram_0_to_100"),
        (["--distinct", "colour:share=0.5"], "colour_distinct"),
    ],
)
def test_a_column_takes_its_share_after_all_else(words: list[str], column: str) -> None:
    assert shares(*words, "--count", "other=spend") == {column: "0.5", "other": None}


def test_columns_without_a_share_are_asked_for_as_before() -> None:
    assert shares("--count", "--units") == {"units": None, "count": None}
    assert shares("--units", "--count", "a:share=0.9") == {"units": None, "a:share=0.9_count": None}
    assert shares("--count", "n=A:share=0.9") == {"n": None}
    assert shares("--sum", "a:share=0.9:0:5:share=0.2", "--units") == {
        "units": None,
        "a:share=0.9_sum": "0.2",
    }


def test_a_share_is_of_noise_and_of_the_price() -> None:
    done = run("plan", *WHO, "--units", "share=0.75", "--count", "rows=spend", *PRICE, "--json")
    first, second = json.loads(done.stdout)["plan"]["columns"]
    assert (first["scale"], second["scale"]) == ("4/3", "8")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--units", "share=1"], ["--units share=1", "share must be between 0 and 1"]),
        (["--units=half"], ["--units takes a share", "--units share=0.5"]),
        (["--units=share"], ["--units takes a share"]),
        (["--units", "share="], ["--units share=", "share"]),
        (["--sum", "spend:0:100:share=x"], ["--sum spend:0:100:share=x", "share"]),
        (["--sum", "spend:0:100:share=0"], ["share"]),
        (["--sum", "spend:share=0.5:0:100"], ["--sum", "after its share", "Write the share last"]),
        (["--count", "spend:share=0.5:share=0.5"], ["no column", "0.5"]),
        (["--count", "spend:share=0.6", "--units", "share=0.6"], ["share", "too much", "less than 1"]),
    ],
)
def test_a_share_that_cannot_be_meant_is_refused(words: list[str], says: list[str]) -> None:
    done = run("plan", *WHO, *words, *PRICE)
    assert (done.exit_code, done.stdout) == (2, "")
    for said in says:
        assert said in " ".join(done.stderr.split()), done.stderr
