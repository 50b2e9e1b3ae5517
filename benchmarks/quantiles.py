"""Compare quantiles with those of OpenDP and PipelineDP at equal budget, against the truth.

    python -m benchmarks.quantiles [--rows 100000] [--times 30] [--json FILE]

The questions: the quartiles, then the deciles, of value in each of five public regions, at most two rows of a
person in a region and three regions a person, epsilon 1, delta 0. All programs see the same file in the same
run; each releases `--times` times in one process.

| column     | meaning                                                                               |
|------------|---------------------------------------------------------------------------------------|
| abs error  | mean of abs(published - true quantile), over regions, quantiles and times; values run |
|            | from 0 to 100                                                                         |
| rank error | mean of abs(share of the region's rows at or below what was published - the share     |
|            | that was asked for)                                                                   |
| median's   | the same for the median alone                                                         |
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks import environments
from benchmarks.report import Outcome, Row, measured, publish
from benchmarks.visits import ensure

QUESTIONS = {
    "quartiles": ("0.25", "0.5", "0.75"),
    "deciles": ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"),
}
REGIONS = ("r00", "r01", "r02", "r03", "r04")
MAX_GROUPS = 3
OURS = """
import json, sys, deniable as dn, pyarrow as pa, pyarrow.parquet as pq
data, out, regions, shares, groups, times = sys.argv[1:]
people = pq.ParquetFile(data).metadata.num_rows // 10
query = dn.protect(data, unit="user_id", population=people).group_by(
    "region", keys=regions.split(","), max_groups=int(groups)
).aggregate(value=dn.quantile("value", shares.split(","), bounds=(0, 100), max_rows=2))
tables = [query.release(epsilon=1).table for _ in range(int(times))]
names = {"region": "region"} | {f"value_{share}": f"q{i}" for i, share in enumerate(shares.split(","))}
chosen = [table.select(list(names)).rename_columns(list(names.values())) for table in tables]
pq.write_table(pa.concat_tables(chosen), out)
print(json.dumps({"note": "one price for all; intervals; 2 % of epsilon says how much was counted in full"}))
"""
FIGURES = ("abs error", "rank error", "median's abs", "median's rank")
FOLDER = Path(__file__).resolve().parent / "rivals"
RIVALS = (("OpenDP", "opendp", environments.OPENDP), ("PipelineDP", "pipelinedp", environments.PIPELINEDP))


def truth(data: Path) -> dict[str, NDArray[np.float64]]:
    """Return the values of each region in order."""
    table = pq.read_table(data, columns=["region", "value"])
    regions, values = table["region"].to_numpy(), table["value"].to_numpy()
    return {region: np.sort(values[regions == region]) for region in REGIONS}


def errors(
    out: Path, shares: Sequence[str], values: Mapping[str, NDArray[np.float64]]
) -> list[tuple[str, float, float]]:
    """Return (share, absolute error, rank error) of each published number."""
    found = []
    for row in pq.read_table(out).to_pylist():
        ordered = values[row["region"]]
        for i, share in enumerate(shares):
            published, wanted = row[f"q{i}"], float(share)
            rank = float(np.searchsorted(ordered, published, side="right")) / len(ordered)
            found.append((share, abs(published - float(np.quantile(ordered, wanted))), abs(rank - wanted)))
    return found


def programs() -> Iterator[tuple[str, str, tuple[str, ...] | None, str]]:
    """Yield name, version and command; without a command, why there is none."""
    yield "deniable", version("deniable"), (sys.executable, "-c", OURS), ""
    for title, name, requirements in RIVALS:
        pinned = requirements[0].partition("==")[2]
        try:
            python = environments.environment(name, requirements)
        except environments.NotInstalledError as problem:
            yield title, pinned, None, f"skipped: {problem}"
            continue
        yield title, pinned, (str(python), str(FOLDER / f"quantiles_{name}.py")), ""


def measure(data: Path, times: int, seconds: float) -> list[Row]:
    """Ask each program each question; return one row for each."""
    values, rows = truth(data), list[Row]()
    known = list(programs())
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "published.parquet"
        for question, shares in QUESTIONS.items():
            options = (",".join(REGIONS), ",".join(shares), str(MAX_GROUPS), str(times))
            for title, used, command, why in known:
                row = {"asked": question, "program": title, "version": used}
                row |= dict.fromkeys(FIGURES, "") | {"note": why}
                if command is not None:
                    out.unlink(missing_ok=True)
                    done = run([*command, str(data), str(out), *options], folder, seconds)
                    if done.code == 0:
                        row |= _figures(errors(out, shares, values))
                    row["note"] = said(done)
                rows.append(row)
    return rows


def run(command: Sequence[str], folder: str, seconds: float) -> Outcome:
    """Run one program on two threads."""
    return measured(command, folder=folder, settings={"POLARS_MAX_THREADS": "2"}, seconds=seconds)


def said(done: Outcome) -> str:
    """Return the program's note, or why it failed."""
    if done.code != 0:
        return f"failed: {environments.last_line(done.errors)}"
    return str(json.loads(done.printed.splitlines()[-1])["note"])


def _figures(found: list[tuple[str, float, float]]) -> dict[str, str]:
    """Return the means over all quantiles, and of the median alone."""
    kinds = {"": found, "median's ": [each for each in found if each[0] == "0.5"]}
    made = {}
    for kind, listed in kinds.items():
        made[f"{kind}abs" if kind else "abs error"] = f"{np.mean([each[1] for each in listed]):.3f}"
        made[f"{kind}rank" if kind else "rank error"] = f"{np.mean([each[2] for each in listed]):.4f}"
    return made


def main() -> None:
    """Make the data if needed, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=900, help="when a program is stopped")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    data = ensure(given.rows, Path(tempfile.gettempdir()) / "deniable-benchmarks")
    rows = measure(data.resolve(), given.times, given.seconds)
    title = f"Errors of quantiles of {given.rows:,} rows in five public regions (epsilon 1)"
    command = f"python -m benchmarks.quantiles --rows {given.rows} --times {given.times}"
    publish("quantiles", title, rows, command, given.json)


if __name__ == "__main__":
    main()
