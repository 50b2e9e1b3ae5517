"""What the benchmark programs share: a printed table, a JSON file, the machine, a measured child process."""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

RESULTS = Path(__file__).resolve().parent / "results"

Row = Mapping[str, object]


def machine() -> dict[str, str]:
    """Say where and when the figures were taken."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "cpus": str(os.cpu_count()),
        "machine": platform.machine(),
        "python": platform.python_version(),
    }


def table(rows: Sequence[Row]) -> str:
    """Return the rows as text, columns aligned."""
    names = list(rows[0])
    cells = [names, *([str(row.get(name, "")) for name in names] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells
    )


def publish(name: str, title: str, rows: Sequence[Row], command: str, path: Path | None) -> None:
    """Print the table; write it as JSON to `path` if one is given."""
    print(f"{title}\n{table(rows)}")
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        facts = {"name": name, "title": title, "command": command, "machine": machine(), "rows": list(rows)}
        path.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")


def child(program: str, *arguments: str) -> tuple[float, float, str]:
    """Run Python code in a fresh process; return wall seconds, peak memory in GB and what it printed."""
    before = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"a measured program failed with {process.returncode}")
    return time.perf_counter() - before, _gigabytes(usage), printed


def _gigabytes(usage: resource.struct_rusage) -> float:
    per_unit = 1 if sys.platform == "darwin" else 1024
    return usage.ru_maxrss * per_unit / 1e9


def middle(values: Sequence[float]) -> float:
    """Return the median."""
    return float(median(values))
