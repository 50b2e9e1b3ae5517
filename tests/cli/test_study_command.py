"""`deniable study dct`: everything in one folder, from one command, and a verdict in words."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from deniable.cli import app
from deniable.studies.dct import parts
from deniable.studies.dct.parts import Sizes

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult.data"
TINY = Sizes(
    epsilons=("1", "4"),
    runs=5,
    people=300,
    alphas=("0.25", "1"),
    crowds=(100, 400),
    trials=1000,
    table=300,
    real_table=300,
    learning_epsilons=("4",),
    folds=5,
    used=1,
    repeats=1,
    batches=(1, 50),
    products=0,
)
FIGURES = {f"figure{number}" for number in range(1, 7)} | {"batches"}


def run(*words: str) -> int:
    try:
        app()([*words])
    except SystemExit as done:
        return int(done.code or 0)
    return 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One tiny study; all tests look at what it left."""
    out = tmp_path_factory.mktemp("study") / "dct"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "QUICK", TINY)
        assert run("study", "dct", "--quick", "--workers", "1", "--out", str(out)) == 0
    return out


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_figure_is_there_as_svg_png_and_csv(folder: Path) -> None:
    pytest.importorskip("PIL", reason="Pillow is not installed")
    for name in FIGURES:
        assert (folder / f"{name}.svg").read_text("utf-8").startswith("<svg")
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert len(rows(folder, name)) >= 2


def test_the_page_is_one_file_that_asks_for_nothing(folder: Path) -> None:
    page = (folder / "study.html").read_text("utf-8")
    assert "<script" not in page
    assert not re.findall(r'(?:src|href)="(?!data:)', page)
    assert page.count("data:image/svg+xml;base64,") == 2 * len(FIGURES)  # for desks and for phones
    assert "It protects nobody".casefold() in page.casefold()
    assert page.index("its privacy is refuted, exactly") < page.index("Figure 1.")
    assert page.index("Figure 6.") < page.index("<h2>The verdict</h2>")


def test_made_up_data_say_so_in_every_table_and_picture(folder: Path) -> None:
    for name in ("figure1", "figure2", "figure3", "figure4", "batches"):
        assert {row["synthetic"] for row in rows(folder, name)} == {"yes"}
        assert "synthetic data" in (folder / f"{name}.svg").read_text("utf-8")
    assert {row["data"] for row in rows(folder, "figure4")} == {
        "BR stand-in",
        "MX stand-in",
        "WISDM stand-in",
    }
    page = (folder / "study.html").read_text("utf-8")
    assert "All of the data are made up: GAUSS, EXP, UNIFORM, BR stand-in" in page


def test_measured_means_are_within_their_tolerance(folder: Path) -> None:
    found = [row for name in ("figure1", "figure2", "figure3") for row in rows(folder, name)]
    assert {row["inside"] for row in found} == {"yes"}
    for row in found:
        distance = abs(float(row["measured error"]) - float(row["expected error"]))
        assert distance <= float(row["tolerance"]) * 1.001


def test_the_specimen_is_marked_as_not_private_wherever_it_stands(folder: Path) -> None:
    for name, column in (("figure2", "mechanism"), ("figure4", "learner"), ("figure5", "mechanism")):
        for row in rows(folder, name):
            assert (row["private"] == "no") == (
                row[column].startswith("DCT") or row[column] in ("least squares", "clipped", "mean")
            )


def test_audits_refute_the_specimen_alone(folder: Path) -> None:
    for row in rows(folder, "figure5"):
        if row["private"] == "no":
            assert row["exact verdict"] == "violated"
            assert float(row["delta, any epsilon"]) > 0.3
            assert float(row["audited, at least"]) > float(row["claimed"])
        else:
            assert row["exact verdict"] in ("proved", "not finite")
            assert float(row["delta, any epsilon"]) == 0


def test_the_verdict_names_the_claim_the_refutation_and_the_price(folder: Path) -> None:
    words = (folder / "verdict.txt").read_text("utf-8")
    for part in (
        "Local differential privacy: refuted, exactly.",
        "keeps no finite epsilon, for any d and m",
        "delta of 1",
        "'DCT, alpha 1/4' at epsilons 1, 4",
        "even 0 and 0.1 are told apart, with chance 0.13 at 1, 1 at 4.",
        "DCT, range of PM: 0.324 at 1, 1 at 4; DCT, range of Duchi: 0.859 at 1, 1 at 4",
        "with that worst-case variance needs epsilon 5.56 at least",
        "no audit contradicts the others",
        "a reconstruction",
        "In short: DCT is not private. Its gain",
    ):
        assert part in words


def test_what_is_there_is_not_computed_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "QUICK", TINY)
    before = json.loads((folder / "cells.json").read_text("utf-8"))
    assert run("study", "dct", "--quick", "--workers", "1", "--out", str(folder)) == 0
    assert json.loads((folder / "cells.json").read_text("utf-8")) == before


def test_the_record_names_seeds_sizes_and_sources(folder: Path) -> None:
    record = json.loads((folder / "study.json").read_text("utf-8"))
    assert record["seed"].startswith("1;")
    assert record["real data"] == "none was given"
    assert "runs: 5" in record["sizes"]
    assert record["size"] == "a look, not the whole study"


def test_the_screen_ends_with_the_verdict_and_where_all_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parts, "QUICK", TINY)
    run("study", "dct", "--quick", "--workers", "1", "--out", str(folder))
    shown = capsys.readouterr().out
    assert "Local differential privacy: refuted, exactly\n" in shown
    assert f"Page      {folder / 'study.html'}" in shown
    verdict = shown[: shown.index("Page      ")].splitlines()
    assert max(map(len, verdict)) <= 80
    run("study", "dct", "--quick", "--workers", "1", "--json", "--out", str(folder))
    record = json.loads(capsys.readouterr().out)
    assert set(record["figures"]) == FIGURES


def test_without_pillow_there_are_svg_pictures_and_a_hint(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parts, "QUICK", TINY)
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert run("study", "dct", "--quick", "--workers", "1", "--out", str(folder)) == 0
    assert 'SVG; for PNG: pip install "deniable[study]"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out",), "requires an argument"),
        ((), "--out"),
        (("--out", ""), "--out names no folder"),
        (("--out", "/dev/null/x"), "--out cannot be written to"),
        (("--out", "x", "--workers", "0"), "--workers is out of range"),
        (("--out", "x", "--seed", "-1"), "--seed is out of range"),
        (("--out", "x", "--adult", "nothing.data"), "cannot be read"),
    ],
)
def test_mistakes_are_named_before_anything_is_computed(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("study", "dct", "--quick", *words) == 2
    assert said in capsys.readouterr().err.replace("\n", " ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["figure1.svg", "batches.png", "study.html", "cells.json"])
def test_a_folder_in_place_of_a_file_is_named_before_anything_is_computed(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dct" / name).mkdir(parents=True)
    assert run("study", "dct", "--quick", "--out", str(tmp_path / "dct")) == 2
    words = "".join(capsys.readouterr().err.split())
    assert "--outisafolderwhereafilegoes" in words
    assert name in words
    assert [one.name for one in (tmp_path / "dct").iterdir()] == [name]


def test_a_damaged_notebook_and_links_in_the_folder_do_no_harm(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parts, "QUICK", TINY)
    out = tmp_path / "dct"
    copytree(folder, out)
    cells = json.loads((out / "cells.json").read_text("utf-8"))
    keys = [key for key in cells["cells"] if "mean" in key][:2] or list(cells["cells"])[:2]
    cells["cells"] |= {keys[0]: [], keys[1]: {"seconds": float("nan")}}
    (out / "cells.json").write_text(json.dumps(cells), "utf-8")
    for name in ("study.html", "figure1.svg", "verdict.txt"):
        (out / name).unlink()
        (tmp_path / name).write_text("kept")
        (out / name).symlink_to(tmp_path / name)
    assert run("study", "dct", "--quick", "--workers", "1", "--out", str(out)) == 0
    assert "2 cells were damaged in cells.json and dropped" in capsys.readouterr().out
    for name in ("study.html", "figure1.svg", "verdict.txt"):
        assert (tmp_path / name).read_text() == "kept"
        assert not (out / name).is_symlink()
    assert (out / "figure1.csv").read_bytes() == (folder / "figure1.csv").read_bytes()


def test_help_is_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("study", "--help") == 0
    shown: list[str] = capsys.readouterr().out.splitlines()
    assert len(shown) <= 24
    assert max(map(len, shown)) <= 80
    assert run("study", "dct", "--help") == 0


@pytest.mark.slow
def test_a_quick_study_of_real_data_from_the_command(tmp_path: Path) -> None:
    if not DATA.exists():
        pytest.skip("the UCI Adult extract is not in ../shared/data")
    out = tmp_path / "dct"
    command = [str(Path(sys.executable).parent / "deniable"), "study", "dct", "--quick"]
    done: Any = subprocess.run(
        [*command, "--adult", str(DATA), "--out", str(out)], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    assert {row["data"] for row in rows(out, "figure2") if row["synthetic"] == "no"} == {"ADULT age"}
    assert {row["data"] for row in rows(out, "figure4") if row["synthetic"] == "no"} == {"ADULT"}
    for name in ("figure1", "figure2", "figure3"):
        assert {row["inside"] for row in rows(out, name)} == {"yes"}
    assert "An error nearly ten times below PM and Duchi: reproduces, for one reading" in done.stdout
