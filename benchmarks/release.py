"""Time a whole release of the common workload beside the same group-by in plain DuckDB, in turn.

    python -m benchmarks.release [--rows 10000000] [--runs 3] [--data FILE] [--json FILE]

Both programs run in fresh processes with two threads, on the same file: units, count and the sum of value
by category. Ours bounds contributions (max_groups 3, max_rows 2), adds noise, drops rare categories, and
writes intervals; DuckDB's own query publishes everything as it is. Wall time includes starting Python.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.report import Row, child, middle, publish
from benchmarks.visits import ensure

PLAIN = """
import sys, duckdb
con = duckdb.connect()
con.execute("SET threads = 2")
sql = "SELECT category, count(DISTINCT user_id), count(*), sum(value) FROM read_parquet(?) GROUP BY category"
print(con.execute(sql, [sys.argv[1]]).to_arrow_table().num_rows)
"""
OURS = """
import sys, deniable as dn
visits = dn.protect(sys.argv[1], unit="user_id", population=1_000_000)
query = visits.group_by("category", max_groups=3, over=sys.argv[2]).aggregate(
    people=dn.units(), visits=dn.count(max_rows=2), value=dn.sum("value", bounds=(0, 100), max_rows=2))
release = query.release(epsilon=1, delta="1e-8", noise=sys.argv[3])
print(release.table.num_rows)
"""
CASES = [("weight", "gaussian"), ("weight", "laplace"), ("drop", "gaussian"), ("drop", "laplace")]


def measure(data: Path, runs: int) -> list[Row]:
    """Run everything in turn, `runs` times after one round that is not counted; return one row a program."""
    programs: list[tuple[str, str, tuple[str, ...]]] = [("DuckDB, not private", PLAIN, ())]
    programs += [(f"deniable, over={over}, {noise}", OURS, (over, noise)) for over, noise in CASES]
    seen: dict[str, list[tuple[float, float, str]]] = {name: [] for name, _, _ in programs}
    for turn in range(runs + 1):
        for name, program, arguments in programs:
            outcome = child(program, str(data), *arguments)
            if turn:
                seen[name].append(outcome)
    plain = middle([wall for wall, _, _ in seen[programs[0][0]]])
    rows: list[Row] = []
    for name, outcomes in seen.items():
        wall = middle([wall for wall, _, _ in outcomes])
        peak = max(memory for _, memory, _ in outcomes)
        groups = outcomes[-1][2].strip()
        row = {"program": name, "wall s": f"{wall:.2f}", "times plain": f"{wall / plain:.2f}"}
        rows.append({**row, "peak GB": f"{peak:.2f}", "groups": groups})
    return rows


def main() -> None:
    """Make the data if needed, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    data = given.data or ensure(given.rows, Path(tempfile.gettempdir()) / "deniable-benchmarks")
    title = f"Release of {given.rows:,} rows by category: units, count, sum (epsilon 1, delta 1e-8)"
    command = f"python -m benchmarks.release --rows {given.rows} --runs {given.runs}"
    publish("release", title, measure(data, given.runs), command, given.json)


if __name__ == "__main__":
    main()
