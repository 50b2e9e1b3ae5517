"""Write the generated pages: docs/benchmarks.md from the benchmark figures, docs/demo.svg from the demo.

python docs/build.py
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "benchmarks" / "results"
ORDER = (
    "startup",
    "noise",
    "release",
    "release-10m",
    "release-large",
    "spark",
    "quantiles",
    "accounting",
    "ledger",
    "audit",
    "telemetry",
    "local",
    "local-error",
    "vectors",
    "learn",
    "learn-error",
)
HEAD = """# Benchmarks

Written by `make docs` from the figures that `make bench` leaves in `benchmarks/results`. Each table names the
command that makes it again, the machine and the day; only the ratios between rows of one table should be
compared across machines. What the columns mean is at the top of the program: `benchmarks/NAME.py`. relN is
the sum of |true - published| over the sum of the true numbers of rows, over all groups: bounds, selection and
noise together.

Other packages run on the same data in the same run, each in an environment of its own with the version that
is named (`benchmarks/environments.py`), at the best settings that its documentation gives for the question
(`benchmarks/rivals`). What is not like for like stands in the row. `python -m benchmarks.run --full` takes
longer: more rounds, and every package on every size.
"""

FOOT = """
Back to the [README](../README.md).
"""


def section(path: Path) -> str:
    """Return one benchmark as a Markdown section."""
    facts = json.loads(path.read_text("utf-8"))
    names = list(facts["rows"][0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(str(row.get(name, "")) for name in names) + " |" for row in facts["rows"]]
    where = facts["machine"]
    note = f"{where['cpus']} CPUs ({where['machine']}), Python {where['python']}, {where['date']}."
    return f"\n## {facts['title']}\n\n" + "\n".join(lines) + f"\n\n`{facts['command']}`. {note}\n"


def benchmarks() -> str:
    """Return the whole page: tables in their order, those without a place last."""
    others = sorted(path.stem for path in RESULTS.glob("*.json") if path.stem not in ORDER)
    paths = [RESULTS / f"{name}.json" for name in (*ORDER, *others)]
    return HEAD + "".join(section(path) for path in paths if path.exists()) + FOOT


def demo_picture() -> str:
    """Run the demo and return its screen as SVG."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(Path(sys.executable).parent / "deniable"), "demo"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    console = Console(record=True, width=80, file=io.StringIO())
    console.print(Text("$ deniable demo\n" + done.stdout.rstrip("\n")))
    picture = console.export_svg(title="deniable demo", clear=True)
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)  # fonts of the reader, no request


if __name__ == "__main__":
    (HERE / "benchmarks.md").write_text(benchmarks(), "utf-8")
    (HERE / "demo.svg").write_text(demo_picture(), "utf-8")
