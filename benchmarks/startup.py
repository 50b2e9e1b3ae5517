"""Time `import deniable` and `deniable --help`, each in a fresh process, beside an empty Python.

    python -m benchmarks.startup [--runs 15] [--json FILE]

The import is timed inside the process; the command from outside, start of Python included.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.report import child, middle, publish

IMPORT = "import time; start = time.perf_counter(); import deniable; print(time.perf_counter() - start)"
LIMITS = {"import deniable": 0.15, "deniable --help": 0.4}


def command_seconds(*arguments: str) -> float:
    """Run a command once; return its wall seconds."""
    start = time.perf_counter()
    subprocess.run(arguments, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    """Measure in turn and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    script = str(Path(sys.executable).parent / "deniable")
    seen: dict[str, list[float]] = {"python -c pass": [], "import deniable": [], "deniable --help": []}
    for _ in range(given.runs):
        seen["python -c pass"].append(command_seconds(sys.executable, "-c", "pass"))
        seen["import deniable"].append(float(child(IMPORT).printed))
        seen["deniable --help"].append(command_seconds(script, "--help"))
    rows = [
        {"what": name, "median s": f"{middle(times):.3f}", "limit s": LIMITS.get(name, "")}
        for name, times in seen.items()
    ]
    publish("startup", "Start-up time", rows, f"python -m benchmarks.startup --runs {given.runs}", given.json)


if __name__ == "__main__":
    main()
