from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from survey_file import run, write
from typer.testing import Result

from deniable.ledger import Ledger
from deniable.query.release import Release

SURE = ("--epsilon", "1000", "--delta", "1e-6")
"""A budget so large that rounded noise is next to nothing: numbers can be compared with the truth."""


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    return write(tmp_path / "survey.csv")


def rows(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    found: list[dict[str, Any]] = json.loads(result.stdout)["rows"]
    return found


def refused(result: Result, *words: str) -> None:
    assert result.exit_code == 2, result.stdout
    assert result.stdout == ""
    said = " ".join(result.stderr.split())
    for word in words:
        assert word in said, said
    assert "Traceback" not in said


def test_a_release_prints_its_table_and_its_promise(survey: Path) -> None:
    result = run("release", survey, "--unit", "person", "--group-by", "colour", "--units", *SURE)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["colour", "units", "95", "%", "interval"]
    assert {line.split()[0] for line in lines[1:4]} == {"blue", "red", "green"}
    assert "Differential privacy with epsilon 1000, delta 1e-6" in " ".join(lines)
    assert all(len(line) <= 80 for line in lines)
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


def test_json_holds_rows_guarantee_statement_and_plan(survey: Path) -> None:
    words = (
        "--unit",
        "person",
        "--group-by",
        "colour",
        "--units",
        "--epsilon",
        "1/3",
        "--delta",
        "1e-9",
        "--json",
    )
    result = run("release", survey, *words)
    record = json.loads(result.stdout)
    assert record["guarantee"] == {"epsilon": "1/3", "delta": "1e-9"}
    assert {"rows", "guarantee", "statement", "plan"} <= set(record)
    assert set(record["rows"][0]) == {"colour", "units", "units_low", "units_high"}
    assert "epsilon 1/3" in record["statement"]
    assert record["plan"]["guarantee"] == record["guarantee"]


def test_every_aggregate_has_its_usual_name_or_the_one_it_is_given(survey: Path) -> None:
    asked: tuple[str, ...] = (
        "--units",
        "--count",
        "--count",
        "spend",
        "--count",
        "answers=",
        "--sum",
        "spend:0:10",
    )
    asked += ("--sum", "total=spend:0:10", "--mean", "spend:0:10", "--mean", "average=spend:-10:30")
    [row] = rows(run("release", survey, "--unit", "person", "--max-rows", "2", *asked, *SURE, "--json"))
    found = {name: row[name] for name in row if not name.endswith(("_low", "_high"))}
    assert list(found) == [
        "units",
        "count",
        "spend_count",
        "answers",
        "spend_sum",
        "total",
        "spend_mean",
        "average",
    ]
    assert found == pytest.approx(
        dict(zip(found, [600, 1200, 1200, 1200, 6000, 6000, 5, 5], strict=True)), abs=2
    )


@pytest.mark.parametrize(
    ("asked", "name", "value"),
    [
        ("a:b:0:10", "a:b_sum", 1200),
        ("ab=a:b:0:10", "ab", 1200),
        ('quo"te:0:10', 'quo"te_sum', 2400),
        ("select:0:10", "select_sum", 3600),
        ("SELECT:0:10", "SELECT_sum", 3600),
        ("x=y:0:10", "x=y_sum", 4800),
        ("xy=x=y:0:10", "xy", 4800),
    ],
)
def test_columns_may_have_colons_quotes_and_keywords_in_their_names(
    survey: Path, asked: str, name: str, value: int
) -> None:
    [row] = rows(
        run("release", survey, "--unit", "person", "--sum", asked, "--max-rows", "2", *SURE, "--json")
    )
    assert row[name] == pytest.approx(value, abs=2)


def test_rows_are_prepared_before_they_are_counted(survey: Path) -> None:
    prepared: tuple[str, ...] = (
        "--types",
        "spend=integer",
        "--derive",
        "hue=upper(colour) || '='",
        "--where",
        "spend > 5",
    )
    prepared += ("--where", "hue <> 'RED='", "--group-by", "hue", "--group-by", "größe")
    found = rows(
        run("release", survey, "--unit", "person", *prepared, "--count", "--max-rows", "2", *SURE, "--json")
    )
    assert {(row["hue"], row["größe"]): row["count"] for row in found} == pytest.approx(
        {("BLUE=", "ä"): 200, ("GREEN=", "ä"): 200}, abs=2
    )


def test_totals_need_no_delta(survey: Path) -> None:
    [row] = rows(run("release", survey, "--unit", "person", "--units", "--epsilon", "1000", "--json"))
    assert row["units"] == pytest.approx(600, abs=2)


def test_each_row_can_be_its_own_unit(survey: Path) -> None:
    [row] = rows(run("release", survey, "--per-row", "--sum", "spend:0:10", "--epsilon", "1000", "--json"))
    assert row["spend_sum"] == pytest.approx(6000, abs=2)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_keys_from_a_file_are_published_exactly(survey: Path, tmp_path: Path, ending: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    keys = tmp_path / f"keys.{ending}"
    wanted = {"size": [2, 1], "Colour": ["blue", "violet"]}
    if ending == "csv":
        keys.write_text("size,Colour\n2,blue\n\n1,violet\n", "utf-8")
    else:
        pyarrow.parquet.write_table(pa.table(wanted), keys)
    asked = ("--derive", "size=length(colour) // 2", "--group-by", "colour", "--group-by", "size", "--units")
    found = rows(
        run("release", survey, "--unit", "person", *asked, "--keys", keys, "--epsilon", "1000", "--json")
    )
    assert [(row["colour"], row["size"]) for row in found] == [("blue", 2), ("violet", 1)]
    assert [row["units"] for row in found] == pytest.approx([200, 0], abs=2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "cannot be read"),
        ("", "is empty"),
        ("hue\nblue\n", "has no column colour"),
        ("colour\n", "must not be empty"),
        ("colour\nblue\nblue\n", "must not be given twice"),
        ("colour,size\nblue,2\n", "has no column spend"),
        ("colour,spend\nblue,many\n", "is no integer in line 2"),
        ("colour,spend\nblue\n", "too few values"),
        ('colour\n"blue\n', "cannot be read"),
        ("colour\n\udcff\n", "cannot be read"),
    ],
)
def test_a_keys_file_that_does_not_fit_is_refused(
    survey: Path, tmp_path: Path, text: str | None, says: str
) -> None:
    keys = tmp_path / "keys.csv"
    if text is not None:
        keys.write_text(text, "utf-8", errors="surrogateescape")
    grouped: Sequence[str] = ("--group-by", "colour")
    if text is not None and "," in text:
        grouped = ("--types", "spend=integer", "--group-by", "colour", "--group-by", "spend")
    refused(
        run("release", survey, "--unit", "person", *grouped, "--units", "--keys", keys, *SURE), "--keys", says
    )


def test_a_release_is_saved_whole_and_never_over_another(survey: Path, tmp_path: Path) -> None:
    out, plan = tmp_path / "out", tmp_path / "plan.json"
    words = ("release", survey, "--unit", "person", "--units", "--epsilon", "1", "--out", out, "--plan", plan)
    result = run(*words, "--purpose", "a test")
    assert result.exit_code == 0, result.stderr
    names = {"table.parquet", "table.csv", "statement.txt", "release.json", "page.html"}
    assert {file.name for file in out.iterdir()} == names
    assert json.loads((out / "release.json").read_text("utf-8"))["purpose"] == "a test"
    assert json.loads(plan.read_text("utf-8"))["epsilon"] == "1"
    refused(run(*words), "--out exists already", "never overwritten")


def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_read(
    survey: Path, tmp_path: Path
) -> None:
    for out in (tmp_path, survey, tmp_path / "no" / "where"):
        refused(run("release", tmp_path / "no such file", "--out", out, "--epsilon", "1"), "--out")
    plan = tmp_path / "no" / "plan.json"
    refused(
        run("release", survey, "--unit", "person", "--units", "--epsilon", "1", "--plan", plan),
        "--plan has no folder around it",
    )


def test_a_plan_reads_no_row_and_costs_what_the_release_costs(survey: Path) -> None:
    words = (
        survey,
        "--unit",
        "person",
        "--group-by",
        "colour",
        "--units",
        "--epsilon",
        "1",
        "--delta",
        "1e-8",
    )
    planned = run("plan", *words)
    assert planned.exit_code == 0, planned.stderr
    assert "epsilon 1" in planned.stdout
    record = json.loads(run("plan", *words, "--json").stdout)
    released = json.loads(run("release", *words, "--json").stdout)
    assert record["guarantee"] == released["guarantee"] == {"epsilon": "1", "delta": "1e-8"}
    assert record["plan"] == released["plan"]
    assert "rows" not in record
    survey.write_text(survey.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
    assert json.loads(run("plan", *words, "--json").stdout) == record


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], ["FILE is missing", "deniable release --help"]),
        (["FILE"], ["--epsilon is missing", "--epsilon 1"]),
        (["FILE", "--epsilon", "1", "--units"], ["--unit is missing", "--per-row"]),
        (["FILE", "--epsilon", "1", "--unit", "person"], ["question is missing", "--units"]),
        (["FILE", "--epsilon", "1", "--unit", "person", "--per-row", "--units"], ["contradicts"]),
        (["FILE", "--epsilon", "1", "--unit", "persn", "--units"], ["--unit", "'persn'", "'person'"]),
        (["FILE", "--epsilon", "abc", "--unit", "person", "--units"], ["--epsilon", "'abc'"]),
        (["FILE", "--epsilon", "-1", "--unit", "person", "--units"], ["--epsilon must be greater than 0"]),
        (["FILE", "--epsilon", "nan", "--unit", "person", "--units"], ["--epsilon", "finite"]),
        (
            ["FILE", *SURE[:2], "--unit", "person", "--units", "--group-by", "colour"],
            ["--delta", "--keys FILE"],
        ),
        (["FILE", *SURE, "--unit", "person", "--units", "--group-by", "colr"], ["--group-by", "'colour'"]),
        (
            ["FILE", *SURE, "--unit", "person", "--units", "--group-by", "person"],
            ["--group-by", "is the unit"],
        ),
        (["FILE", *SURE, "--unit", "person", "--units", "--population", "9000000"], ["--allow-large-delta"]),
        (["FILE", *SURE, "--unit", "person", "--units", "--population", "x"], ["--population", "integer"]),
        (["FILE", *SURE, "--unit", "person", "--units", "--max-groups", "2"], ["--max-groups", "--group-by"]),
        (["FILE", *SURE, "--unit", "person", "--units", "--over", "drop"], ["--over", "--group-by"]),
        (["FILE", *SURE, "--unit", "person", "--units", "--keys", "k.csv"], ["--keys", "--group-by"]),
        (["FILE", *SURE, "--unit", "person", "--units", "--noise", "loud"], ["--noise", "'laplace'"]),
        (["FILE", *SURE, "--unit", "person", "--units", "--confidence", "2"], ["--confidence", "0.95"]),
        (
            ["FILE", *SURE, "--unit", "person", "--units", "--where", "spend > 5"],
            ["--where", "--types spend=real"],
        ),
        (["FILE", *SURE, "--unit", "person", "--units", "--where", 'colour = "red"'], ["^", "'red'"]),
        (["FILE", *SURE, "--unit", "person", "--units", "--derive", "lower(colour)"], ["--derive", "hue="]),
        (
            ["FILE", *SURE, "--unit", "person", "--units", "--derive", "hue=lowr(colour)"],
            ["--derive hue", "lower"],
        ),
        (
            ["FILE", *SURE, "--unit", "person", "--units", "--derive", "Colour=1"],
            ["--derive", "already a column"],
        ),
        (
            ["FILE", *SURE, "--unit", "person", "--units", "--derive", "a=1", "--derive", "a=2"],
            ["a name twice"],
        ),
        (["FILE", *SURE, "--unit", "person", "--units", "--types", "spend"], ["--types", "age=integer"]),
        (
            ["FILE", *SURE, "--unit", "person", "--units", "--types", "spend=money"],
            ["types", "money", "integer"],
        ),
        (["FILE", *SURE, "--unit", "person", "--units", "--types", "spnd=real"], ["types", "spnd", "spend"]),
        (["FILE", *SURE, "--unit", "person", "--sum", "spend"], ["--sum", "COLUMN:LOW:HIGH"]),
        (["FILE", *SURE, "--unit", "person", "--sum", ":0:1"], ["--sum", "COLUMN:LOW:HIGH"]),
        (
            ["FILE", *SURE, "--unit", "person", "--sum", "spend:1:0", "--max-rows", "1"],
            ["--sum spend:1:0", "rise"],
        ),
        (
            ["FILE", *SURE, "--unit", "person", "--sum", "spend:0:x", "--max-rows", "1"],
            ["--sum spend:0:x", "number"],
        ),
        (["FILE", *SURE, "--unit", "person", "--sum", "spnd:0:1", "--max-rows", "1"], ["spnd", "'spend'"]),
        (["FILE", *SURE, "--unit", "person", "--sum", "spend:0:1"], ["--max-rows", "is missing"]),
        (["FILE", *SURE, "--unit", "person", "--count"], ["--max-rows", "is missing"]),
        (["FILE", *SURE, "--per-row", "--count", "--max-rows", "1"], ["--max-rows", "per row"]),
        (
            ["FILE", *SURE, "--per-row", "--sum", "spend:0:1", "--sum", "spend:0:2"],
            ["published twice", "NAME="],
        ),
        (["FILE", *SURE, "--per-row", "--units", "--count", "units=spend"], ["published twice", "NAME="]),
        (["FILE", *SURE, "--per-row", "--units", "--count", "units_low=spend"], ["units_low"]),
        (["FILE", *SURE, "--per-row", "--units", "--count", "UNITS=spend"], ["UNITS"]),
        (["nowhere.csv", *SURE, "--per-row", "--units"], ["no file 'nowhere.csv'"]),
        (["FILE", *SURE, "--per-row", "--units", "--ledger", "nowhere.ledger"], ["nowhere.ledger"]),
        (["FILE", *SURE, "--per-row", "--units", "--colour"], ["No such option", "--colour"]),
        (["FILE", *SURE, "--per-row", "--units", "--threads", "many"], ["--threads"]),
        (["FILE", *SURE, "--per-row", "--units", "--memory-limit", "much"], ["--memory-limit"]),
        (["FILE", *SURE, "--per-row", "--units", "--delimiter", "ab"], ["--delimiter"]),
    ],
)
def test_a_mistake_is_explained_in_one_paragraph(survey: Path, words: list[str], says: list[str]) -> None:
    given = [str(survey) if word == "FILE" else word for word in words]
    refused(run("release", *given), *says)
    if given and not {"--threads", "--memory-limit", "--ledger", "--colour"} & set(given):
        planned = run("plan", *given)
        refused(planned)
        assert planned.stderr.replace("deniable plan", "deniable release") == run("release", *given).stderr


def test_with_json_errors_are_json_too(survey: Path) -> None:
    words = ("release", survey, "--unit", "person", "--units", "--json")
    error = json.loads(run(*words, "--epsilon", "0").stderr)["error"]
    assert error["kind"] == "ParameterError"
    assert error["argument"] == "--epsilon"
    assert error["message"].endswith(error["fix"])
    error = json.loads(run(*words, "--epsilon", "1", "--where", "spend > 1").stderr)["error"]
    assert (error["kind"], error["argument"]) == ("ExpressionError", "--where")
    assert json.loads(run(*words, "--colour").stderr)["error"]["kind"] == "UsageError"
    assert (
        json.loads(run("release", "nowhere.csv", *words[2:], "--epsilon", "1").stderr)["error"]["kind"]
        == "SourceError"
    )


def test_a_release_that_cannot_be_saved_is_shown_all_the_same(
    survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Release, directory: str) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(Release, "save", full)
    words = ("--unit", "person", "--units", "--epsilon", "1", "--out", tmp_path / "out")
    result = run("release", survey, *words, "--json")
    assert result.exit_code == 2
    assert len(json.loads(result.stdout)["rows"]) == 1
    assert json.loads(result.stderr)["error"]["argument"] == "--out"


def test_a_refused_question_binds_no_ledger_and_a_name_lets_two_files_share_it(tmp_path: Path) -> None:
    for name in ("wrong.csv", "jan.csv", "feb.csv"):
        (tmp_path / name).write_text("patient id\n1\n2\n", "utf-8")
    ledger = Ledger.create(tmp_path / "c.ledger", epsilon=1, unit="patient id")
    asked = ("--unit", "patient id", "--epsilon", "0.1", "--ledger", tmp_path / "c.ledger")
    refused(run("release", tmp_path / "wrong.csv", *asked, "--count"), "--max-rows")
    assert [entry.data for entry in ledger.entries()] == [None]
    for month in ("jan", "feb"):
        done = run("release", tmp_path / f"{month}.csv", *asked, "--units", "--name", "visits 2026")
        assert done.exit_code == 0, done.stderr
    assert (ledger.data, ledger.spent.amount) == ("visits 2026", Fraction(1, 5))
    unnamed = run("release", tmp_path / "feb.csv", *asked, "--units")
    refused(unnamed, "not 'feb.csv'", "call both by one name: --name 'visits 2026'")


def test_a_ledger_pays_and_a_budget_that_is_too_small_has_its_own_exit_code(
    survey: Path, tmp_path: Path
) -> None:
    ledger = tmp_path / "budget.ledger"
    assert run("ledger", "create", ledger, "--epsilon", "1", "--unit", "person").exit_code == 0
    words = ("release", survey, "--unit", "person", "--units", "--ledger", ledger, "--json")
    assert run(*words, "--epsilon", "2/3").exit_code == 0
    result = run(*words, "--epsilon", "1/2")
    assert result.exit_code == 3
    assert result.stdout == ""
    error = json.loads(result.stderr)["error"]
    assert (error["kind"], error["short"], Fraction(error["left"])) == (
        "BudgetError",
        "epsilon",
        Fraction(1, 3),
    )
    assert run(*words, "--epsilon", "1/3").exit_code == 0


def test_other_delimiters_have_names(tmp_path: Path) -> None:
    for name, sign in (("tab", "\t"), ("\\t", "\t"), (";", ";")):
        file = tmp_path / f"survey{ord(sign)}.csv"
        file.write_text(f"person{sign}colour\n" + "".join(f"p{n}{sign}red\n" for n in range(50)), "utf-8")
        words = ("--delimiter", name, "--unit", "person", "--units", "--epsilon", "1000", "--json")
        [row] = rows(run("release", file, *words))
        assert row["units"] == pytest.approx(50, abs=2)


def test_different_values_are_counted_by_name(survey: Path) -> None:
    asked = ("--distinct", "colour", "--distinct", "n=spend", "--max-values", "2")
    [row] = rows(run("release", survey, "--unit", "person", *asked, *SURE, "--json"))
    assert (row["colour_distinct"], row["n"]) == (3, 2)
    failed = run("plan", survey, "--unit", "person", "--distinct", "colour", *SURE)
    assert failed.exit_code == 2
    assert "--max-values" in failed.output


def test_columns_of_a_public_file_are_put_beside_each_row(survey: Path, tmp_path: Path) -> None:
    public = tmp_path / "warm.csv"
    public.write_text("shade,warm\nred,yes\nblue,no\ngreen,no\n")
    joined = ("--join", public, "--on", "colour=shade", "--derive", "feel=upper(warm)")
    asked = ("--group-by", "feel", "--units", "--epsilon", "1000", "--delta", "1e-6", "--json")
    found = rows(run("release", survey, "--unit", "person", *joined, *asked))
    assert {row["feel"]: row["units"] for row in found} == {"YES": 200, "NO": 400}
    refused(run("plan", survey, "--unit", "person", "--join", public, *asked), "--on", "pairs")
    public.write_text("shade,warm\nred,yes\nred,no\n")
    refused(run("plan", survey, "--unit", "person", *joined, *asked), "--join", "same key")


def test_all_that_is_not_found_is_one_row_more(survey: Path) -> None:
    derived = (
        "--derive",
        "one=case when spend = '0' then 'zero' else person end",
        "--group-by",
        "one",
        "--other",
    )
    found = rows(run("release", survey, "--unit", "person", *derived, "--units", *SURE, "--json"))
    assert found[0]["one"] == "zero"
    assert found[-1]["one"] is None
    assert found[-1]["units"] == 600 - len(found[1:-1])
    refused(run("plan", survey, "--unit", "person", "--units", "--other", *SURE), "--other", "--group-by")


def test_bounds_can_be_chosen_by_the_release(survey: Path) -> None:
    asked = ("--group-by", "colour", "--max-groups", "auto", "--sum", "spend:auto", "--max-rows", "auto")
    result = run("release", survey, "--unit", "person", *asked, *SURE, "--json")
    assert len(rows(result)) == 3
    chosen = {choice["argument"]: choice["chosen"] for choice in json.loads(result.stdout)["plan"]["choices"]}
    assert chosen == {"max_groups": ["1"], "max_rows": ["2"], "bounds": ["0", "16"]}
    words = ("--unit", "person", "--units", "--group-by", "colour", "--max-groups", "some", *SURE)
    refused(run("plan", survey, *words), "--max-groups", "whole number")
