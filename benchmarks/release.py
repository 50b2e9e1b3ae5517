"""Time a whole release of the common workload beside plain DuckDB and beside other packages.

    python -m benchmarks.release [--rows 1000000 10000000] [--runs 3] [--rivals NAME ... | none] [--patient]
                                 [--data FILE] [--json FILE]

The question: units, count and the sum of value by category, at most two rows of a person in a category,
epsilon 1, delta 1e-8. Every program runs in a fresh process with two threads, on the same file, from reading
Parquet to writing Parquet; wall time includes starting Python (and Java). DuckDB's own query publishes
everything as it is. What runs on Spark runs once. So do other packages, in the versions of
benchmarks/environments.py and at the settings that benchmarks/rivals explains; a slow one only up to a
million rows, unless --patient. Above ten million rows fewer settings run.

| column | meaning                                                                                   |
|--------|-------------------------------------------------------------------------------------------|
| cpu s, peak GB | of the program and of all that it started                                         |
| groups | categories that were published                                                            |
| relN   | the sum of abs(true - published) over that of the true numbers of rows, over all          |
|        | categories; one that is not published counts as 0: bounds, selection and noise together   |
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from benchmarks import environments
from benchmarks.report import Outcome, Row, child, measured, middle, publish
from benchmarks.visits import PIECE, ensure

PLAIN = """
import sys, duckdb
data, out = sys.argv[1:]
con = duckdb.connect()
con.execute("SET threads = 2; SET enable_progress_bar = false")
sql = (
    "SELECT category, count(DISTINCT user_id) AS people, count(*) AS visits, sum(value) AS value"
    f" FROM read_parquet('{data}') GROUP BY category"
)
con.execute(f"COPY ({sql}) TO '{out}' (FORMAT parquet)")
"""
OURS = """
import sys, deniable as dn, pyarrow.parquet as pq
data, out, population, selection, groups, over, noise, memory = sys.argv[1:]
visits = dn.protect(data, unit="user_id", population=int(population))
query = visits.group_by("category", max_groups=int(groups), over=over, selection=selection).aggregate(
    people=dn.units(), visits=dn.count(max_rows=2), value=dn.sum("value", bounds=(0, 100), max_rows=2))
release = query.release(epsilon=1, delta="1e-8", noise=noise, memory_limit=memory or None, threads=2)
pq.write_table(release.table, out)
"""
SPARK = """
import json, sys, warnings
warnings.simplefilter("ignore")
import pyarrow.parquet as pq
import deniable as dn
from deniable.engines.spark import local_session
data, out, population, selection, groups, over = sys.argv[1:]
spark = local_session(2, "2g", spark_sql_shuffle_partitions="8")
spark.sparkContext.setLogLevel("OFF")
rows = spark.read.parquet(data)
if selection == "plain":
    sql = (
        "SELECT category, count(DISTINCT user_id) AS people, count(*) AS visits, sum(value) AS value"
        " FROM {rows} GROUP BY category"
    )
    table = spark.sql(sql, rows=rows).toArrow()
else:
    visits = dn.protect(rows, unit="user_id", population=int(population))
    query = visits.group_by("category", max_groups=int(groups), over=over, selection=selection).aggregate(
        people=dn.units(), visits=dn.count(max_rows=2), value=dn.sum("value", bounds=(0, 100), max_rows=2))
    table = query.release(epsilon=1, delta="1e-8", noise="gaussian").table
pq.write_table(table, out)
print()
print(json.dumps({"note": "local[2] in a JVM of 2 GB; starting it is in"}))
"""
ERROR = """
import sys, duckdb
duckdb.execute("SET enable_progress_bar = false")
truth = duckdb.sql(f"SELECT category, count(*) AS n FROM read_parquet('{sys.argv[1]}') GROUP BY category")
found = duckdb.sql(f"SELECT category, visits FROM read_parquet('{sys.argv[2]}')")
error = "count(visits), sum(abs(n - coalesce(visits, 0))) / sum(n)"
print(*duckdb.sql(f"SELECT {error} FROM truth LEFT JOIN found USING (category)").fetchall()[0])
"""
CASES = (
    ("threshold", "3", "weight", "gaussian", ""),
    ("threshold", "3", "weight", "laplace", ""),
    ("threshold", "3", "drop", "gaussian", ""),
    ("threshold", "3", "drop", "laplace", ""),
    ("sips", "3", "weight", "gaussian", ""),
    ("sips", "8", "weight", "gaussian", ""),
    ("sips", "20", "weight", "gaussian", ""),
    ("sips", "8", "weight", "gaussian", "500MB"),
)
LARGE = (CASES[0], CASES[5], CASES[7])
"""What runs on more than one piece of visits."""
ON_SPARK = (
    ("plain", "0", ""),
    ("threshold", "3", "weight"),
    ("threshold", "3", "drop"),
    ("sips", "8", "weight"),
)
EXPRESSES = "units, count, sum"
FOLDER = Path(__file__).resolve().parent / "rivals"


@dataclass(frozen=True)
class Program:
    """One row of the table: a command that is given the data and the file to write.

    most: the most rows it is run on, None without a limit. facts: whether it prints facts about itself.
    """

    name: str
    command: tuple[str, ...]
    arguments: tuple[str, ...]
    version: str
    most: int | None = None
    facts: bool = False
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Rival:
    """A package that answers the same question: its environment and its program, called with max_groups."""

    title: str
    name: str
    requirements: tuple[str, ...]
    most: int
    groups: tuple[int, ...] = (3, 8)


RIVALS = (
    Rival("OpenDP", "opendp", environments.OPENDP, 10_000_000),
    Rival("PipelineDP", "pipelinedp", environments.PIPELINEDP, 1_000_000),
    Rival("SmartNoise SQL", "smartnoise", environments.SMARTNOISE, 1_000_000, (3,)),
    Rival("Tumult Analytics", "tumult", environments.TUMULT, 1_000_000, (3,)),
)


def own(rows: int) -> list[Program]:
    """Return plain DuckDB and our settings on it."""
    here = (sys.executable, "-c")
    programs = [Program("DuckDB, not private", (*here, PLAIN), (), version("duckdb"))]
    for case in CASES if rows <= PIECE else LARGE:
        selection, groups, over, noise, memory = case
        name = f"deniable, {selection}, max_groups {groups}, {over}, {noise}" + (memory and f", {memory}")
        programs.append(Program(name, (*here, OURS), (str(max(1, rows // 10)), *case), version("deniable")))
    return programs


def on_spark(rows: int) -> list[Program]:
    """Return plain Spark and our settings on it."""
    programs = []
    for case in ON_SPARK:
        plain = case[0] == "plain"
        name = (
            "Spark, not private"
            if plain
            else "deniable on Spark, {}, max_groups {}, {}, gaussian".format(*case)
        )
        arguments = (str(max(1, rows // 10)), *case)
        told = version("pyspark" if plain else "deniable")
        programs.append(Program(name, (sys.executable, "-c", SPARK), arguments, told, facts=True))
    return programs


def others(rows: int, chosen: Sequence[str], patient: bool) -> Iterator[Program | Row]:
    """Yield the programs on Spark and of other packages; a row instead where one is not installed."""
    if not chosen or "spark" in chosen:
        missing = {"program": "Spark", "note": "skipped: PySpark is not installed (extra spark)"}
        yield from on_spark(rows) if find_spec("pyspark") else [missing]
    for rival in RIVALS:
        if chosen and rival.name not in chosen:
            continue
        try:
            python = environments.environment(rival.name, rival.requirements)
        except environments.NotInstalledError as problem:
            yield {"program": rival.title, "note": f"skipped: {problem}"}
            continue
        command = (str(python), str(FOLDER / f"release_{rival.name}.py"))
        pinned = rival.requirements[0].partition("==")[2]
        for groups in rival.groups:
            name = f"{rival.title}, max_groups {groups}"
            threads = (("POLARS_MAX_THREADS", "2"),)
            most = None if patient else rival.most
            yield Program(name, command, (str(groups),), pinned, most, True, threads)


def run(program: Program, data: Path, folder: Path, seconds: float) -> Outcome:
    """Run a program once on the data; it writes `published.parquet` in the folder."""
    out = folder / "published.parquet"
    out.unlink(missing_ok=True)
    command = [*program.command, str(data), str(out), *program.arguments]
    return measured(command, folder=folder, settings=dict(program.settings), seconds=seconds)


def row(program: Program, rows: int, outcomes: Sequence[Outcome], data: Path, folder: Path) -> dict[str, str]:
    """Return the row of a program that has just run; the last run's table is compared with the truth."""
    last = outcomes[-1]
    made = {"program": program.name, "version": program.version, "rows": f"{rows:,}"}
    if last.code != 0:
        stopped = last.code is None
        why = f"stopped after {last.wall:.0f} s" if stopped else environments.last_line(last.errors)
        return {**made, "note": f"failed: {why}"}
    facts = json.loads(last.printed.splitlines()[-1]) if program.facts else {}
    groups, error = child(ERROR, str(data), str(folder / "published.parquet")).printed.split()
    return {
        **made,
        "wall s": f"{middle([outcome.wall for outcome in outcomes]):.2f}",
        "cpu s": f"{middle([outcome.cpu for outcome in outcomes]):.2f}",
        "peak GB": f"{max(outcome.gigabytes for outcome in outcomes):.2f}",
        "groups": groups,
        "relN": f"{float(error):.3f}",
        "expresses": str(facts.get("expresses", EXPRESSES)),
        "note": str(facts.get("note", "")),
    }


def measure(rows: int, data: Path, runs: int, rivals: Sequence[Program | Row], seconds: float) -> list[Row]:
    """Run ours in turn, `runs` times after one of plain DuckDB that is not counted, and all others once."""
    programs = own(rows)
    seen: dict[str, list[Outcome]] = {program.name: [] for program in programs}
    found: dict[str, Row] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(programs[0], data, folder, seconds)
        for turn in range(runs):
            for program in programs:
                seen[program.name].append(run(program, data, folder, seconds))
                if turn == runs - 1:
                    found[program.name] = row(program, rows, seen[program.name], data, folder)
        listed = list(found.values())
        for rival in rivals:
            if not isinstance(rival, Program):
                listed.append({**rival, "rows": f"{rows:,}"})
            elif rival.most is not None and rows > rival.most:
                note = f"not run above {rival.most:,} rows for its time (--patient runs it)"
                listed.append({"program": rival.name, "rows": f"{rows:,}", "note": note})
            else:
                listed.append(row(rival, rows, [run(rival, data, folder, seconds)], data, folder))
    return [compared(each, listed[0]) for each in listed]


def compared(made: Row, plain: Row) -> Row:
    """Return a row with its time over that of plain DuckDB, columns in their order."""
    order = ("program", "version", "rows", "wall s", "times plain", "cpu s", "peak GB", "groups", "relN")
    times = {}
    if "wall s" in made:
        times["times plain"] = f"{float(str(made['wall s'])) / float(str(plain['wall s'])):.2f}"
    full = {**made, **times}
    return {name: full.get(name, "") for name in (*order, "expresses", "note")}


def main() -> None:
    """Make the data if needed, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--runs", type=int, default=3)
    names = ["none", "spark", *(rival.name for rival in RIVALS)]
    parser.add_argument("--rivals", nargs="*", default=[], choices=names, help="all when omitted")
    parser.add_argument("--patient", action="store_true", help="run every package on every size")
    parser.add_argument("--seconds", type=float, default=1800, help="when a program is stopped")
    parser.add_argument("--data", type=Path, help="a file to use instead of making one; with one --rows")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows: list[Row] = []
    for size in given.rows:
        data = given.data or ensure(size, Path(tempfile.gettempdir()) / "deniable-benchmarks")
        rivals = [] if "none" in given.rivals else list(others(size, given.rivals, given.patient))
        rows += measure(size, data.resolve(), given.runs, rivals, given.seconds)
    sizes = " ".join(str(size) for size in given.rows)
    command = f"python -m benchmarks.release --rows {sizes} --runs {given.runs}"
    command += f" --rivals {' '.join(given.rivals)}" if given.rivals else ""
    command += " --patient" if given.patient else ""
    title = "Release of visits by category: units, count, sum (epsilon 1, delta 1e-8, max_rows 2)"
    title += f", {given.rows[0]:,} rows" if len(given.rows) == 1 else ""
    name = "release" if max(given.rows) <= PIECE else "release-large"
    publish(name, title, rows, command, given.json)


if __name__ == "__main__":
    main()
