"""Run every benchmark program, one after the other, and keep its figures under benchmarks/results.

    python -m benchmarks.run [--full] [NAME ...]

What runs by itself is meant to take less than 20 minutes on two cores, once the environments of other
packages are installed (the first run does that). `--full` takes each program's own defaults: more rounds;
releases of ten million rows by every package.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from benchmarks.report import RESULTS

ROOT = Path(__file__).resolve().parents[1]
SHORT: dict[str, tuple[str, ...]] = {
    "startup": ("--runs", "5"),
    "noise": ("--rounds", "3"),
    "release": ("--runs", "1"),
    "quantiles": (),
    "accounting": (),
    "ledger": (),
    "audit": (),
    "telemetry": (),
    "local": ("--runs", "20"),
    "vectors": (),
    "learn": (),
    "spark": ("--runs", "1"),
}
FULL = {"release": ("--patient",), "quantiles": ("--rows", "1000000", "--times", "10")}


def arguments(name: str, full: bool) -> tuple[str, ...]:
    """Return the options that a program is run with."""
    return FULL.get(name, ()) if full else SHORT.get(name, ())


def main() -> int:
    """Run the programs that are named, or all; return 1 if one failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--full", action="store_true")
    given = parser.parse_args()
    failed = []
    for name in given.names or [name for name in SHORT if (Path(__file__).parent / f"{name}.py").exists()]:
        print(f"\n== {name}", flush=True)
        options = (*arguments(name, given.full), "--json", str(RESULTS / f"{name}.json"))
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *options], cwd=ROOT).returncode:
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
