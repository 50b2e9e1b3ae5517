"""Time a release on Spark beside the same group-by, not private, in one session; and the driver's memory.

    python -m benchmarks.spark [--rows 10000000] [--runs 3] [--groups 20000000] [--json FILE]

One session of two cores runs everything in turn, after one round that is not counted: units, count and sum
of value by category of the common workload. Ours bounds contributions (max_rows 2), counts units in classes,
adds noise and drops rare categories. Times are those of one question; starting Spark is not in.
The last rows release one group for each of `--groups` units, of which nearly all stay below the threshold. A
process of its own does that; "driver GB" is what Python held at most (the JVM is limited to 2 GB beside it),
first with every group brought over as one Arrow table without noise, then as ours reads them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benchmarks.report import Row, measured, middle, publish
from benchmarks.visits import ensure

START = """
import json, os, resource, sys, time, warnings
warnings.simplefilter("ignore")
import deniable as dn
from deniable.engines.spark import local_session
spark = local_session(2, "2g", spark_sql_shuffle_partitions="8")
spark.sparkContext.setLogLevel("OFF")
tick = os.sysconf("SC_CLK_TCK")

def cpu():
    parent, used = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()
        except OSError:
            continue
        parent[int(name)], used[int(name)] = int(fields[1]), sum(map(int, fields[11:15])) / tick
    ours = [os.getpid()]
    for process in ours:
        ours += [child for child, above in parent.items() if above == process]
    return sum(used[process] for process in ours)

def timed(name, work):
    wall, used = time.perf_counter(), cpu()
    groups = work()
    facts = {"program": name, "wall": time.perf_counter() - wall, "cpu": cpu() - used, "groups": groups}
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print("FACTS", json.dumps(facts | {"driver": held}), flush=True)
"""
TIMES = (
    START
    + """
visits = spark.read.parquet(sys.argv[1])

def plain():
    sql = "SELECT category, count(DISTINCT user_id), count(*), sum(value) FROM {rows} GROUP BY category"
    return spark.sql(sql, rows=visits).toArrow().num_rows

def ours(selection, groups, over):
    survey = dn.protect(visits, unit="user_id", population=1_000_000)
    query = survey.group_by("category", max_groups=groups, over=over, selection=selection).aggregate(
        people=dn.units(), visits=dn.count(max_rows=2), value=dn.sum("value", bounds=(0, 100), max_rows=2))
    return query.release(epsilon=1, delta="1e-8", noise="gaussian").table.num_rows

for turn in range(int(sys.argv[2]) + 1):
    timed("Spark, not private", plain)
    for case in (("threshold", 3, "drop"), ("threshold", 3, "weight"), ("sips", 8, "weight")):
        timed("deniable, {}, max_groups {}, {}".format(*case), lambda: ours(*case))
"""
)
MEMORY = (
    START
    + """
units = int(sys.argv[1])
rows = spark.range(units).selectExpr("id AS person", "IF(id % 1000 = 0, -1, id) AS place")

def whole():
    return rows.groupBy("place").count().toArrow().num_rows

def ours():
    query = dn.protect(rows, unit="person").group_by("place").aggregate(people=dn.units())
    return query.release(epsilon=1, delta="1e-9", coverage=False).table.num_rows

timed(sys.argv[2], whole if sys.argv[3] == "whole" else ours)
"""
)


def facts(program: str, *arguments: str) -> list[dict[str, float | str]]:
    """Run a program; return what it timed, in order."""
    outcome = measured([sys.executable, "-c", program, *arguments])
    if outcome.code != 0:
        raise SystemExit(outcome.errors[-2000:])
    lines = [
        line.removeprefix("FACTS ") for line in outcome.printed.splitlines() if line.startswith("FACTS ")
    ]
    return [json.loads(line) for line in lines]


def times(data: Path, rows: int, runs: int) -> list[Row]:
    """Return one row a program; the first round is not counted."""
    timed = facts(TIMES, str(data), str(runs))
    names = list(dict.fromkeys(str(fact["program"]) for fact in timed))
    walls = {name: [float(f["wall"]) for f in timed if f["program"] == name][1:] for name in names}
    used = {name: [float(f["cpu"]) for f in timed if f["program"] == name][1:] for name in names}
    last = {str(fact["program"]): fact for fact in timed}
    plain = middle(walls[names[0]])
    return [
        {
            "program": name,
            "rows": f"{rows:,}",
            "wall s": f"{middle(walls[name]):.2f}",
            "times plain": f"{middle(walls[name]) / plain:.2f}",
            "cpu s": f"{middle(used[name]):.2f}",
            "driver GB": f"{float(last[name]['driver']):.2f}",
            "groups": f"{last[name]['groups']:,}",
        }
        for name in names
    ]


def memory(groups: int) -> list[Row]:
    """Return two rows: everything brought over at once, and our release."""
    found: list[Row] = []
    for name, way in (
        ("Spark, not private, toArrow", "whole"),
        ("deniable, threshold, max_groups 1", "ours"),
    ):
        (fact,) = facts(MEMORY, str(groups), name, way)
        found.append(
            {
                "program": name,
                "rows": f"{groups:,}",
                "wall s": f"{fact['wall']:.2f}",
                "times plain": "",
                "cpu s": f"{fact['cpu']:.2f}",
                "driver GB": f"{fact['driver']:.2f}",
                "groups": f"{fact['groups']:,}",
            }
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--groups", type=int, default=20_000_000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    data = ensure(asked.rows, Path(tempfile.gettempdir()) / "deniable-benchmarks")
    rows = [*times(data, asked.rows, asked.runs), *memory(asked.groups)]
    title = "A release on Spark, local[2], beside the same group-by in the same session"
    command = f"python -m benchmarks.spark --rows {asked.rows} --runs {asked.runs} --groups {asked.groups}"
    publish("spark", title, rows, command, asked.json)


if __name__ == "__main__":
    main()
