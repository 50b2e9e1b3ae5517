"""The program that measures noise runs and writes what it prints."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_benchmark_prints_one_table_and_writes_the_same_rows(tmp_path: Path) -> None:
    target = tmp_path / "noise.json"
    few = ["--rounds", "1", "--pairs", "200", "--no-opendp"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.noise", *few, "--json", str(target)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = json.loads(target.read_text("utf-8"))["rows"]
    assert [row["noise"] for row in rows] == ["laplace"] * 9 + ["gaussian"] * 9
    assert len(done.stdout.splitlines()) == 2 + len(rows)
    assert all(float(row["ours"].replace(",", "")) > 0 for row in rows)
