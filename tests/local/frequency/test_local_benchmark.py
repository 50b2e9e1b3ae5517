"""The program that measures local protocols runs, and its expected errors are those of the formulas."""

from __future__ import annotations

import json
import subprocess
import sys
from math import pi, sqrt
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]


def run(program: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", f"import json, pathlib\nfrom benchmarks import local\n{program}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_a_protocol_is_measured_in_a_process_of_its_own() -> None:
    row = run('print(json.dumps(local.ours("frequency", "auto", 100, 3000)))')
    assert (row["protocol"], row["people"], row["report"]) == ("auto (subset)", "3,000", "2")
    assert float(row["client"]) > 0
    assert float(row["server"]) > 0


def test_expected_errors_follow_from_variances() -> None:
    rows = run('print(json.dumps(local.errors(pathlib.Path("absent"), 100, 1)))')
    assert [row["data"] for row in rows] == ["GAUSS"] * 4 + ["EXP"] * 4 + ["UNIFORM"] * 4
    laplace = float(rows[0]["laplace"].split(" / ")[0])
    assert laplace == pytest.approx(1000 * sqrt(2 / pi * 2 * (2 / 0.5) ** 2 / 100), rel=0.02)
