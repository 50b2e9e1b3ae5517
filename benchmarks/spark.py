"""Time a release on Spark beside the same group-by, not private, in one session; and the driver's memory.

    python -m benchmarks.spark [--rows 10000000] [--runs 1] [--groups 20000000] [--data FILE] [--json FILE]

One session of two cores reads Parquet from disk, and runs everything in turn, after one round on fewer rows
that is not counted: units, count and sum of value by category of the common workload. Ours bounds
contributions (max_rows 2), counts units in classes, adds noise and drops rare categories. Times are those of
one question; starting Spark is not in.
The last rows release one group for each of `--groups` units, of which nearly all stay below the threshold,
and a twentieth as many: first with every group brought over as one Arrow table without noise, then as ours
reads them. A process of its own does each; Spark makes the rows, so that no object in Python holds them.

| column       | the most that was resident at once (on Linux)                                      |
|--------------|------------------------------------------------------------------------------------|
| python GB    | in the process that asks: the driver's Python                                      |
| jvm GB       | in the JVM beside it, whose heap is limited to 2 GB: driver and executor in one    |
| workers GB   | in the Python processes that Spark starts to write batches, together               |
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import Row, measured, middle, publish
from benchmarks.visits import ensure

WARM = 500_000
START = """
import json, os, pathlib, sys, time, warnings
warnings.simplefilter("ignore")
import deniable as dn
from deniable.engines.spark import local_session
spark = local_session(2, "2g", spark_sql_shuffle_partitions="8")
spark.sparkContext.setLogLevel("OFF")
tick = os.sysconf("SC_CLK_TCK")

def ours():
    parent, name, used = {}, {}, {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            before, _, after = path.read_text().rpartition(")")
        except OSError:
            continue
        process, fields = int(path.parent.name), after.split()
        parent[process], name[process] = int(fields[1]), before.partition("(")[2]
        used[process] = sum(map(int, fields[11:15])) / tick
    found = [os.getpid()]
    for process in found:
        found += [child for child, above in parent.items() if above == process]
    return {process: (name[process], used[process]) for process in found}

def most():
    held = {"python": 0.0, "jvm": 0.0, "workers": 0.0}
    for process, (name, _) in ours().items():
        kind = "python" if process == os.getpid() else "jvm" if name == "java" else "workers"
        try:
            text = pathlib.Path(f"/proc/{process}/status").read_text()
        except OSError:
            continue
        held[kind] += sum(int(line.split()[1]) for line in text.splitlines() if "VmHWM" in line) * 1024 / 1e9
    return held

def timed(name, work):
    for process in ours():
        try:
            pathlib.Path(f"/proc/{process}/clear_refs").write_text("5")  # the most is counted anew from here
        except OSError:
            pass
    wall, before = time.perf_counter(), sum(used for _, used in ours().values())
    groups = work()
    wall, used = time.perf_counter() - wall, sum(used for _, used in ours().values()) - before
    facts = {"program": name, "wall": wall, "cpu": used, "groups": groups}
    print("FACTS", json.dumps(facts | most()), flush=True)
"""
TIMES = (
    START
    + """
def plain(visits):
    sql = "SELECT category, count(DISTINCT user_id), count(*), sum(value) FROM {rows} GROUP BY category"
    return spark.sql(sql, rows=visits).toArrow().num_rows

def ours_of(visits, selection, groups, over):
    survey = dn.protect(visits, unit="user_id", population=1_000_000)
    query = survey.group_by("category", max_groups=groups, over=over, selection=selection).aggregate(
        people=dn.units(), visits=dn.count(max_rows=2), value=dn.sum("value", bounds=(0, 100), max_rows=2))
    return query.release(epsilon=1, delta="1e-8", noise="gaussian").table.num_rows

fewer, data, runs = sys.argv[1:]
for path in (fewer, *[data] * int(runs)):
    visits = spark.read.parquet(path)
    timed("Spark, not private", lambda: plain(visits))
    for case in (("threshold", 3, "drop"), ("threshold", 3, "weight"), ("sips", 8, "weight")):
        timed("deniable, {}, max_groups {}, {}".format(*case), lambda: ours_of(visits, *case))
"""
)
MEMORY = (
    START
    + """
units = int(sys.argv[1])
rows = spark.range(units).selectExpr("id AS person", "IF(id % 1000 = 0, -1, id) AS place")

def whole():
    return rows.groupBy("place").count().toArrow().num_rows

def released():
    query = dn.protect(rows, unit="person").group_by("place").aggregate(people=dn.units())
    return query.release(epsilon=1, delta="1e-9", coverage=False).table.num_rows

timed(sys.argv[2], whole if sys.argv[3] == "whole" else released)
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


def times(fewer: Path, data: Path, rows: int, runs: int) -> list[Row]:
    """Return one row a program; the first round, on fewer rows, is not counted."""
    timed = facts(TIMES, str(fewer), str(data), str(runs))
    names = list(dict.fromkeys(str(fact["program"]) for fact in timed))
    kept = {name: [fact for fact in timed if fact["program"] == name][1:] for name in names}
    plain = middle([float(fact["wall"]) for fact in kept[names[0]]])
    return [row(name, rows, kept[name], plain) for name in names]


def memory(groups: int) -> list[Row]:
    """Return four rows: everything brought over at once, and our release, of few and of all groups."""
    ways = (("Spark, not private, toArrow", "whole"), ("deniable, threshold, max_groups 1", "ours"))
    return [
        row(name, size, facts(MEMORY, str(size), name, way), None)
        for size in (max(1, groups // 20), groups)
        for name, way in ways
    ]


def row(name: str, rows: int, timed: Sequence[dict[str, float | str]], plain: float | None) -> Row:
    """Return the row of a program: the middle of its times, the most of its memory."""
    wall = middle([float(fact["wall"]) for fact in timed])
    return {
        "program": name,
        "rows": f"{rows:,}",
        "wall s": f"{wall:.2f}",
        "times plain": "" if plain is None else f"{wall / plain:.2f}",
        "cpu s": f"{middle([float(fact['cpu']) for fact in timed]):.2f}",
        **{
            f"{kind} GB": f"{max(float(f[kind]) for f in timed):.2f}" for kind in ("python", "jvm", "workers")
        },
        "groups": f"{timed[-1]['groups']:,}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--groups", type=int, default=20_000_000)
    parser.add_argument("--data", type=Path, help="a file of that many rows to use instead of making one")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    folder = Path(tempfile.gettempdir()) / "deniable-benchmarks"
    data = (asked.data or ensure(asked.rows, folder)).resolve()
    fewer = data if asked.rows <= WARM else ensure(WARM, folder)
    rows = [*times(fewer, data, asked.rows, asked.runs), *memory(asked.groups)]
    title = "A release on Spark, local[2], beside the same group-by in the same session"
    command = f"python -m benchmarks.spark --rows {asked.rows} --runs {asked.runs} --groups {asked.groups}"
    publish("spark", title, rows, command, asked.json)


if __name__ == "__main__":
    main()
