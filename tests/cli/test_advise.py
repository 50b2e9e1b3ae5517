"""`deniable advise`: one screen of help, words, JSON, a drawing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import typer
from typer.testing import CliRunner

import deniable as dn
from deniable.cli.advise import advise
from deniable.cli.screens import Screen
from deniable.errors import ParameterError

SVG = "{http://www.w3.org/2000/svg}"


def run(*words: str | Path) -> str:
    """Run the command; return what it printed, or raise what it raised."""
    app = typer.Typer()
    app.command(cls=Screen)(advise)
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_advice_is_printed_as_the_library_gives_it() -> None:
    assert run("--population", "1000000") == f"{dn.advise(population=1_000_000)}\n"


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (("--risk", "0.01", "--epsilon", "ln 3"), {"risk": "0.01", "epsilon": "ln 3"}),
        (("--queries", "20", "--max-groups", "3"), {"queries": 20, "max_groups": 3}),
        (("--public-keys",), {"keys": "public"}),
        (("--nobody-trusted",), {"trusted": False}),
    ],
)
def test_every_option_is_an_argument(options: tuple[str, ...], arguments: dict[str, Any]) -> None:
    record = json.loads(run("--population", "50000", *options, "--json"))
    assert record == json.loads(json.dumps(dn.advise(population=50_000, **arguments).to_json()))


@pytest.mark.parametrize("groups", [1, 30])
def test_the_price_of_a_threshold_is_drawn(groups: int, tmp_path: Path) -> None:
    path = tmp_path / "threshold.svg"
    run("--population", "1000000", "--max-groups", str(groups), "--plot", path)
    mark = f"threshold {dn.advise(population=1_000_000, max_groups=groups).threshold}"
    drawing = ElementTree.parse(path).getroot()
    labels = {element.text for element in drawing.iter(f"{SVG}text")}
    axes = {"threshold, in people", "chance that a group of one person is published"}
    assert {mark, "delta 1e-7", *axes} <= labels
    heights = [float(dot.attrib["cy"]) for dot in drawing.iter(f"{SVG}circle")]
    assert heights == sorted(heights)
    assert 15 < len(heights) <= 100


def test_what_cannot_be_drawn_is_said(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="--plot has nothing to draw: named groups need no threshold"):
        run("--population", "1000", "--public-keys", "--plot", tmp_path / "a.svg")
    with pytest.raises(ParameterError, match="--plot has no folder around it"):
        run("--population", "1000", "--plot", tmp_path / "nowhere" / "a.svg")


@pytest.mark.parametrize("words", [("--population", "0"), ("--population", "9", "--risk", "2")])
def test_mistakes_are_named(words: tuple[str, ...]) -> None:
    with pytest.raises(ParameterError, match="population|risk"):
        run(*words)


def test_the_help_is_one_screen_and_names_every_option() -> None:
    lines = run("--help").splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    for option in (
        "population",
        "risk",
        "queries",
        "max-groups",
        "epsilon",
        "public-keys",
        "nobody-trusted",
        "plot",
    ):
        assert f"--{option}" in "\n".join(lines)
