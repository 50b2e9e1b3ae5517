"""Run every benchmark program, one after the other, and keep its figures under benchmarks/results.

python -m benchmarks.run [NAME ...]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.report import RESULTS

PROGRAMS = (
    "startup",
    "noise",
    "release",
    "accounting",
    "ledger",
    "audit",
    "telemetry",
    "local",
    "vectors",
    "learn",
)


def main(names: list[str]) -> int:
    """Run the programs that are named, or all; return 1 if one failed."""
    failed = []
    for name in names or [name for name in PROGRAMS if (Path(__file__).parent / f"{name}.py").exists()]:
        print(f"\n== {name}", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}", "--json", str(RESULTS / f"{name}.json")]
        if subprocess.run(command, cwd=Path(__file__).resolve().parents[1]).returncode:
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
