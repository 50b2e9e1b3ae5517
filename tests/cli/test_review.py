"""`deniable review`: exit codes, one screen, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from survey_file import run, write


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("review")
    survey = write(folder / "survey.csv")
    create = (
        "ledger",
        "create",
        folder / "a.ledger",
        "--epsilon",
        "3",
        "--delta",
        "1e-7",
        "--unit",
        "person",
    )
    assert run(*create).exit_code == 0
    asked = ("--unit", "person", "--group-by", "colour", "--units", "--sum", "spend:0:100", "--max-rows", "2")
    paid = ("--epsilon", "1", "--delta", "1e-8", "--ledger", folder / "a.ledger", "--out", folder / "out")
    done = run("release", survey, *asked, *paid)
    assert done.exit_code == 0, done.output
    return folder


def test_a_sound_release_fits_on_one_screen_and_exits_with_0(released: Path) -> None:
    done = run("review", released / "out", "--ledger", released / "a.ledger")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "everything is as it says" in lines[0]
    assert "epsilon 1, delta 1e-8 is proved" in done.stdout
    assert "loss distribution" in done.stdout
    assert "entry 2 of 'a.ledger' paid for it" in done.stdout


def test_an_edited_release_exits_with_2_and_says_what_is_wrong(released: Path, tmp_path: Path) -> None:
    for path in (released / "out").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    record = json.loads((tmp_path / "release.json").read_text("utf-8"))
    record["guarantee"]["epsilon"] = "0.1"
    (tmp_path / "release.json").write_text(json.dumps(record), "utf-8")
    done = run("review", tmp_path, "--ledger", released / "a.ledger")
    assert done.exit_code == 2
    words = " ".join(done.stdout.split())
    assert "promise WRONG epsilon 0.1, delta 1e-8 is not proved: the events cost epsilon 1 " in words
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_json_holds_every_check_and_every_theorem(released: Path) -> None:
    done = run("review", released / "out", "--ledger", released / "a.ledger", "--json")
    found = json.loads(done.stdout)
    assert found["sound"] is True
    assert found["promise"] == {"epsilon": "1", "delta": "1e-8"}
    assert [check["check"] for check in found["checks"]] == (
        "files versions record promise events statement table csv page noise ledger".split()
    )
    assert {check["verdict"] for check in found["checks"]} == {"right"}
    assert {"basic", "loss distribution"} <= {row["theorem"] for row in found["theorems"]}
    missing = run("review", released / "out", "--ledger", released / "no.ledger", "--json")
    assert missing.exit_code == 2
    assert json.loads(missing.stdout)["sound"] is False


def test_a_folder_that_is_not_there_is_a_mistake_in_words(released: Path) -> None:
    done = run("review", released / "nowhere")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert " ".join(done.stderr.split()).startswith("DIR is no folder, got ")
