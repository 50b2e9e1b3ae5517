"""Time a whole release of the common workload beside the same group-by in plain DuckDB, in turn.

    python -m benchmarks.release [--rows 10000000] [--runs 3] [--data FILE] [--json FILE]

Both programs run in fresh processes with two threads, on the same file: units, count and the sum of value
by category. Ours bounds contributions (max_rows 2), adds noise, drops rare categories, and writes intervals;
DuckDB's own query publishes everything as it is. Wall time includes starting Python.
relN: the sum of |true - published| over that of the true numbers of rows, over all categories; one that is
not published counts as 0. It says what bounds, selection and noise cost together.
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
con.execute("SET threads = 2; SET enable_progress_bar = false")
sql = "SELECT category, count(DISTINCT user_id), count(*), sum(value) FROM read_parquet(?) GROUP BY category"
print(con.execute(sql, [sys.argv[1]]).to_arrow_table().num_rows)
"""
OURS = """
import sys, deniable as dn, pyarrow.parquet as pq
data, selection, groups, over, noise, memory, out = sys.argv[1:]
visits = dn.protect(data, unit="user_id", population=1_000_000)
query = visits.group_by("category", max_groups=int(groups), over=over, selection=selection).aggregate(
    people=dn.units(), visits=dn.count(max_rows=2), value=dn.sum("value", bounds=(0, 100), max_rows=2))
release = query.release(epsilon=1, delta="1e-8", noise=noise, memory_limit=memory or None, threads=2)
print(release.table.num_rows)
pq.write_table(release.table, out)
"""
ERROR = """
import sys, duckdb
truth = duckdb.sql(f"SELECT category, count(*) AS n FROM read_parquet('{sys.argv[1]}') GROUP BY category")
found = duckdb.sql(f"SELECT * FROM read_parquet('{sys.argv[2]}')")
error = "SELECT sum(abs(n - coalesce(visits, 0))) / sum(n) FROM truth LEFT JOIN found USING (category)"
print(duckdb.sql(error).fetchall()[0][0])
"""
CASES = [
    ("threshold", "3", "weight", "gaussian", ""),
    ("threshold", "3", "weight", "laplace", ""),
    ("threshold", "3", "drop", "gaussian", ""),
    ("threshold", "3", "drop", "laplace", ""),
    ("sips", "3", "weight", "gaussian", ""),
    ("sips", "8", "weight", "gaussian", ""),
    ("sips", "20", "weight", "gaussian", ""),
    ("sips", "8", "weight", "gaussian", "500MB"),
]


def measure(data: Path, runs: int) -> list[Row]:
    """Run everything in turn, `runs` times after one round that is not counted; return one row a program."""
    seen: dict[str, list[tuple[float, float, str]]] = {}
    errors: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "published.parquet")
        for turn in range(runs + 1):
            for name, program, arguments in _programs(out):
                outcome = child(program, str(data), *arguments)
                if turn:
                    seen.setdefault(name, []).append(outcome)
                if turn == runs and arguments:
                    errors[name] = f"{float(child(ERROR, str(data), out)[2]):.3f}"
    plain = middle([wall for wall, _, _ in next(iter(seen.values()))])
    return [_row(name, outcomes, plain, errors.get(name, "0")) for name, outcomes in seen.items()]


def _programs(out: str) -> list[tuple[str, str, tuple[str, ...]]]:
    programs: list[tuple[str, str, tuple[str, ...]]] = [("DuckDB, not private", PLAIN, ())]
    for case in CASES:
        selection, groups, over, noise, memory = case
        name = f"deniable, {selection}, max_groups {groups}, {over}, {noise}" + (memory and f", {memory}")
        programs.append((name, OURS, (*case, out)))
    return programs


def _row(name: str, outcomes: list[tuple[float, float, str]], plain: float, error: str) -> Row:
    wall = middle([wall for wall, _, _ in outcomes])
    peak = max(memory for _, memory, _ in outcomes)
    groups = outcomes[-1][2].strip()
    row = {"program": name, "wall s": f"{wall:.2f}", "times plain": f"{wall / plain:.2f}"}
    return {**row, "peak GB": f"{peak:.2f}", "groups": groups, "relN": error}


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
