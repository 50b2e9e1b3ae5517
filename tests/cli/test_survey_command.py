"""`deniable local survey`: the two sides agree with the file, the screen fits, the page is whole."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from deniable.bits import SeededBits
from deniable.cli import app
from deniable.cli.survey import screen
from deniable.errors import ParameterError
from deniable.local.heavy.beside import Beside, beside

ANSWERS = ["Blue"] * 40 + [" green "] * 25 + ["red"] * 20 + ["<b>bold</b>"] * 10 + [""] * 5


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("survey") / "answers.csv"
    lines = [f"{person},{ANSWERS[person % 100]}" for person in range(2000)]
    lines += ["7,red", "7,red", ",blue"]
    path.write_text("\n".join(["person,colour", *lines]) + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def both(answers: Path) -> Beside:
    bits = SeededBits(4, insecure=True)
    return beside(answers, unit="person", column="colour", epsilon=4, delta="1e-7", bits=bits)


def run(*words: str | Path) -> str:
    done = CliRunner().invoke(app(), ["local", "survey", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_both_sides_hold_the_true_numbers(both: Beside) -> None:
    true = Counter(answer.strip().lower() for answer in ANSWERS * 20)
    assert both.found.n == 2000, "each person once; the row without a person is dropped"
    assert {"blue", "green", "red"} <= {line.answer for line in both.lines if line.alone}
    for line in both.lines:
        for side, slack in ((line.alone, 250), (line.trusted, 12)):
            if side and "…" not in line.answer:
                assert abs(side[0] - true[line.answer]) < slack
                assert side[1] <= side[0] <= side[2]


def test_the_screen_says_what_missing_trust_costs(both: Beside) -> None:
    shown = screen(both)
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert "nobody is trusted" in shown
    assert "times as precisely" in shown
    assert "spent both" in shown
    assert shown.index("blue") < shown.index("green")


def test_the_command_prints_a_screen_json_and_a_page(answers: Path, tmp_path: Path) -> None:
    words = (answers, "--unit", "person", "--column", "colour", "--epsilon", "2", "--delta", "1e-7")
    page = tmp_path / "page.html"
    assert "a curator is trusted" in run(*words, "--out", page)
    written = page.read_text("utf-8")
    assert "<b>bold" not in written
    assert "blue" in written
    record: dict[str, Any] = json.loads(run(*words, "--json"))
    assert record["reports"] == 2000
    assert record["protocol"]["epsilon"] == "2"
    assert record["answers"][0]["answer"] == "blue"


def test_no_answer_and_an_empty_one_are_one_line_on_both_sides(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    said = ['""'] * 3 + ['" "'] * 3 + [""] * 4 + ["yes"] * 10
    lines = ["person,colour", *(f"{person},{said[person % 20]}" for person in range(2000))]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    bits = SeededBits(5, insecure=True)
    found = beside(path, unit="person", column="colour", epsilon=8, delta="1e-7", bits=bits)
    assert found.release.table.num_rows == 2, "one group for all who said nothing"
    assert [line.answer for line in found.lines] in (["", "yes"], ["yes", ""])
    for line in found.lines:
        assert line.alone is not None
        assert line.trusted is not None
        assert abs(line.trusted[0] - 1000) < 15
        assert abs(line.alone[0] - 1000) < 250
    assert "(no value)" in screen(found)


def test_a_narrow_interval_is_not_called_0_wide(both: Beside) -> None:
    table = both.release.table
    ends = {name: table.column(1) for name in ("people", "people_low", "people_high")}
    narrow = table.from_pydict({"answer": table.column(0), **ends})
    sharp = replace(both, release=replace(both.release, table=narrow))
    shown = " ".join(screen(sharp).split())
    assert " within less than 1 " in shown
    assert "to within less than 1 with: more than" in shown
    assert "within 0" not in shown
    assert "800 to 800" not in shown


def test_an_answer_that_goes_on_is_explained(both: Beside, tmp_path: Path) -> None:
    assert ("followed no further" in screen(both)) == any("…" in line.answer for line in both.lines)
    path = tmp_path / "answers.csv"
    path.write_text("person,city\n" + "".join(f"{one},Łódź\n" for one in range(500)), "utf-8")
    bits = SeededBits(6, insecure=True)
    found = beside(path, unit="person", column="city", epsilon=8, delta="1e-7", bits=bits)
    shown = " ".join(screen(found).split())
    assert "ends in … was followed no further: 12 letters from a to z, or fewer others, are told" in shown


@pytest.mark.parametrize(
    ("changed", "argument"),
    [
        ({"column": "hue"}, "column"), ({"unit": "name"}, "unit"), ({"epsilon": 0}, "epsilon"),
        ({"delta": 0}, "delta"),
    ],
)  # fmt: skip
def test_mistakes_are_found_before_the_file_is_read(
    answers: Path, changed: dict[str, Any], argument: str
) -> None:
    arguments: dict[str, Any] = {"unit": "person", "column": "colour", "epsilon": 1, "delta": "1e-7"}
    with pytest.raises(ParameterError) as refused:
        beside(answers, **(arguments | changed))
    assert refused.value.argument == argument


def test_only_text_is_asked_for(answers: Path) -> None:
    with pytest.raises(ParameterError, match="no text"):
        beside(answers, unit="person", column="colour", epsilon=1, delta="1e-7", types={"colour": "integer"})


def test_a_column_called_answer_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("person,Answer\n" + "".join(f"{one},yes\n" for one in range(400)), "utf-8")
    found = beside(path, unit="person", column="answer", epsilon=4, delta="1e-7")
    assert found.lines[0].answer == "yes"


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (("--out", "a.png"), "--out"), (("--epsilon", "0"), "--epsilon"), (("--delta", "0"), "--delta"),
        (("--column", "hue"), "names no column"),
    ],
)  # fmt: skip
def test_mistakes_are_named_on_the_command_line(answers: Path, changed: tuple[str, str], named: str) -> None:
    words = {"--unit": "person", "--column": "colour", "--epsilon": "1", "--delta": "1e-7"}
    words |= dict([changed])
    flat = [part for pair in words.items() for part in pair]
    done = CliRunner().invoke(app(), ["local", "survey", str(answers), *flat])
    assert done.exit_code == 2
    assert named in done.stderr


def test_the_help_is_one_screen() -> None:
    shown = run("--help").splitlines()
    assert len(shown) <= 24
    assert max(map(len, shown)) <= 80
