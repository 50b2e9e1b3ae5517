"""A small survey in a file, and the command line in this process."""

from __future__ import annotations

import csv
from pathlib import Path

from typer.testing import CliRunner, Result

from deniable.cli import app

HEADER = ["person", "colour", "spend", "a:b", 'quo"te', "select", "x=y", "größe"]
COLOURS = ("blue", "red", "green")


def write(path: Path, people: int = 600) -> Path:
    """Write a survey: everybody has two rows, one colour, and numbers in every other column."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(HEADER)
        for person in range(people):
            for row in range(2):
                lines.writerow([f"p{person}", COLOURS[person % 3], 10 * row, 1, 2, 3, 4, "ä"])
    return path


def run(*words: str | Path) -> Result:
    """Run `deniable WORD ...` in this process."""
    return CliRunner().invoke(app(), [str(word) for word in words])
