"""Time the two ends of local protocols beside pure-ldp and multi-freq-ldpy; hold errors against formulas.

    python -m benchmarks.local [--people 1000000] [--runs 100] [--no-rivals] [--json FILE]

First table, epsilon 1: 1,000,000 people and, for two rows, four times as many.

| column         | meaning                                                                            |
|----------------|------------------------------------------------------------------------------------|
| client, server | millions of people a second: making reports; counting them and estimating           |
| report         | bytes of a report's payload                                                         |
| memory         | GB at the peak of the whole process; reports are made and counted 65,536 at a time  |

Ours run one after the other, each in a fresh process. The others make and read reports one at a time in
Python; they are given two seconds an end, and as many people as that is enough for. Each is in an
environment of its own.

Second table (FILE-error.json): |estimated - true mean| of values in [-1, 1], as expected from the exact
variance (sqrt(2/pi) standard errors) / as measured over the runs, in thousandths. GAUSS: mean 0, deviation
1/4, clipped. EXP: -1 plus an exponential of deviation 1/2, clipped. UNIFORM on [-1, 1]. ADULT: the ages, 17
to 90, of the census extract of UCI (doi 10.24432/C5XW20), whose `adult.data` is read where `--adult` says.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import child, publish
from benchmarks.workers import Rival, rival
from deniable import local
from deniable.local.mean.protocol import Mechanism

PEOPLE, RUNS, SECONDS = 1_000_000, 100, 2.0
ITEMS = (100, 10_000)
MEANS: tuple[Mechanism, ...] = ("optimal", "duchi", "piecewise", "hybrid", "laplace")
FREQUENCIES = ("auto", "response", "subset", "projective", "hadamard", "olh", "oue", "sue")
FEWER = {"oue": 10, "sue": 10}
EPSILONS = (0.5, 1, 2, 4)
SAMPLE = 100_000
ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult.data"

OURS = """
import json, sys, time
import numpy as np
from deniable import local
kind, mechanism, items, people = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
if kind == "mean":
    protocol = local.Mean(epsilon=1, bounds=(0, 1), mechanism=mechanism)
    values = np.random.default_rng(1).random(65536)
else:
    protocol = local.Frequency(epsilon=1, domain=range(items), mechanism=mechanism)
    values = np.random.default_rng(1).integers(0, items, 65536)
protocol.estimate(protocol.randomize(values[:64]))
made = counted = 0.0
total = protocol.aggregate(protocol.randomize(values[:0]))
for start in range(0, people, 65536):
    part = values[:min(65536, people - start)]
    a = time.perf_counter()
    reports = protocol.randomize(part)
    b = time.perf_counter()
    total = total + protocol.aggregate(reports)
    made, counted = made + b - a, counted + time.perf_counter() - b
a = time.perf_counter()
total.estimate()
counted += time.perf_counter() - a
name = protocol.parameters.protocol.split("/")[1]
size = len(reports[:1].to_bytes()) - 9
print(json.dumps({"made": made, "counted": counted, "name": name, "size": size}))
"""

LOOPS = """
import json, sys, time
import numpy as np
def timed(make, read, items, people, seconds):
    values = np.random.default_rng(1).integers(0, items, people).tolist()
    read([make(value) for value in values[:3]])
    reports, start = [], time.perf_counter()
    for value in values:
        reports.append(make(value))
        if time.perf_counter() - start > seconds:
            break
    made, many, done = time.perf_counter() - start, len(reports), 0
    start, size = time.perf_counter(), max(1, len(reports) // 100)
    while done < many and time.perf_counter() - start < seconds:
        read(reports[done:done + size])
        done += size
    return {"client": many / made, "server": min(done, many) / (time.perf_counter() - start), "people": many}
def serve(ends):
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        make, read = ends(asked["protocol"], asked["items"], asked["epsilon"])
        print(json.dumps(timed(make, read, asked["items"], asked["people"], asked["seconds"])), flush=True)
"""

PURE = (
    LOOPS
    + """
from pure_ldp.frequency_oracles import DEClient, DEServer, LHClient, LHServer, UEClient, UEServer
def ends(protocol, items, epsilon):
    same = {"index_mapper": lambda item: item}
    if protocol == "response":
        client, server = DEClient(epsilon, items, **same), DEServer(epsilon, items, **same)
    elif protocol == "olh":
        client = LHClient(epsilon, items, use_olh=True, **same)
        server = LHServer(epsilon, items, use_olh=True, **same)
    else:
        client = UEClient(epsilon, items, use_oue=True, **same)
        server = UEServer(epsilon, items, use_oue=True, **same)
    return client.privatise, server.aggregate_all
serve(ends)
"""
)

MULTI = (
    LOOPS
    + """
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client, GRR_Aggregator_MI
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client, LH_Aggregator_MI
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client, SS_Aggregator_MI
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client, UE_Aggregator_MI
def ends(protocol, items, epsilon):
    e = float(epsilon)
    return {
        "response": (lambda v: GRR_Client(v, items, e), lambda r: GRR_Aggregator_MI(r, items, e)),
        "olh": (lambda v: LH_Client(v, items, e), lambda r: LH_Aggregator_MI(r, items, e)),
        "oue": (lambda v: UE_Client(v, items, e), lambda r: UE_Aggregator_MI(r, e)),
        "subset": (lambda v: SS_Client(v, items, e), lambda r: SS_Aggregator_MI(r, items, e)),
    }[protocol]
serve(ends)
"""
)


@dataclass(frozen=True)
class Other:
    """A package to compare with: what to install, its worker, its protocols by our names."""

    name: str
    packages: tuple[str, ...]
    worker: str
    protocols: tuple[str, ...]


OTHERS = (
    Other(
        "pure-ldp",
        ("pure-ldp==1.2.0", "scikit-learn==1.9.1", "statsmodels==0.15.0", "xxhash==3.8.2"),
        PURE,
        ("response", "olh", "oue"),
    ),
    Other(
        "multi-freq-ldpy",
        ("multi-freq-ldpy==0.2.5", "numba==0.68.1", "xxhash==3.8.2"),
        MULTI,
        ("response", "olh", "oue", "subset"),
    ),
)


def rate(people: float, seconds: float) -> str:
    """Return millions a second, with three digits."""
    return f"{people / seconds / 1e6:.3g}" if seconds else ""


def ours(kind: str, mechanism: str, items: int, people: int) -> dict[str, object]:
    """Measure one protocol of ours in a process of its own."""
    done = child(OURS, kind, mechanism, str(items), str(people))
    found = json.loads(done.printed)
    name = found["name"] if mechanism != "auto" else f"auto ({found['name']})"
    return {
        "estimates": "mean" if kind == "mean" else f"{items:,} shares",
        "package": "deniable",
        "protocol": name,
        "people": f"{people:,}",
        "client": rate(people, found["made"]),
        "server": rate(people, found["counted"]),
        "report": str(found["size"]),
        "memory": f"{done.gigabytes:.2f}",
    }


def theirs(package: str, process: Rival, protocol: str, items: int, people: int) -> dict[str, object]:
    """Measure one protocol of another package."""
    asked = {"protocol": protocol, "items": items, "epsilon": 1, "people": people, "seconds": SECONDS}
    found = process.ask(asked)
    return {
        "estimates": f"{items:,} shares",
        "package": package,
        "protocol": protocol,
        "people": f"{int(found['people']):,}",
        "client": f"{found['client'] / 1e6:.3g}",
        "server": f"{found['server'] / 1e6:.3g}",
        "report": "",
        "memory": "",
    }


def throughput(people: int, *, rivals: bool) -> list[dict[str, object]]:
    """Return the rows of the first table."""
    rows = [ours("mean", mechanism, 0, people) for mechanism in MEANS]
    rows.append(ours("mean", "optimal", 0, 4 * people))
    for items in ITEMS:
        fewer = FEWER if items > ITEMS[0] else {}
        rows += [ours("frequency", name, items, people // fewer.get(name, 1)) for name in FREQUENCIES]
    rows.append(ours("frequency", "auto", ITEMS[0], 4 * people))
    return rows + [row for other in OTHERS if rivals for row in compared(other, people)]


def compared(other: Other, people: int) -> Iterator[dict[str, object]]:
    """Yield the rows of another package; none if it cannot be installed or fails."""
    process = rival(other.name, other.packages, other.worker)
    if process is None:
        return
    try:
        for items in ITEMS:
            for protocol in other.protocols:
                yield theirs(other.name, process, protocol, items, people)
        process.close()
    except OSError as problem:
        print(f"{other.name} is left out from here on: {problem}", file=sys.stderr)


def samples(adult: Path, size: int) -> dict[str, NDArray[np.float64]]:
    """Return the data sets, all in [-1, 1]."""
    rng = np.random.default_rng(7)
    found = {
        "GAUSS": np.clip(rng.normal(0, 0.25, size), -1, 1),
        "EXP": np.clip(-1 + rng.exponential(0.5, size), -1, 1),
        "UNIFORM": rng.uniform(-1, 1, size),
    }
    if not adult.exists():
        print(f"ADULT is left out: there is no {adult.name} beside this checkout", file=sys.stderr)
        return found
    ages = np.array(
        [int(line.split(",")[0]) for line in adult.read_text("utf-8").splitlines() if line.strip()]
    )
    return {"ADULT age": (ages - 53.5) / 36.5, **found}


def expected(protocol: Any, values: NDArray[np.float64]) -> float:
    """Return the expected absolute error: the exact variance on a fine grid, averaged over the values."""
    grid = np.linspace(-1, 1, 401)
    error = protocol.error()
    variance = [float(error.variance_at(float(v))) for v in grid]
    return sqrt(2 / pi * float(np.interp(values, grid, variance).mean()) / len(values))


def measured(protocol: Any, values: NDArray[np.float64], runs: int) -> float:
    """Return the mean absolute error over the runs."""
    truth = values.mean()
    return float(
        np.mean([abs(protocol.estimate(protocol.randomize(values)).value - truth) for _ in range(runs)])
    )


def errors(adult: Path, size: int, runs: int) -> list[dict[str, object]]:
    """Return the rows of the second table."""
    rows = []
    for name, values in samples(adult, size).items():
        for epsilon in EPSILONS:
            row: dict[str, object] = {"data": name, "people": f"{len(values):,}", "epsilon": str(epsilon)}
            for mechanism in MEANS:
                protocol = local.Mean(epsilon=epsilon, bounds=(-1, 1), mechanism=mechanism)
                figures = expected(protocol, values), measured(protocol, values, runs)
                row[mechanism] = " / ".join(f"{1000 * figure:.3g}" for figure in figures)
            rows.append(row)
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--sample", type=int, default=SAMPLE, help="people of the synthetic data sets")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--adult", type=Path, default=ADULT)
    parser.add_argument("--no-rivals", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    command = f"python -m benchmarks.local --people {given.people} --runs {given.runs}"
    rows = throughput(given.people, rivals=not given.no_rivals)
    publish("local", "Local protocols: millions of people a second", rows, command, given.json)
    wrong = errors(given.adult, given.sample, given.runs)
    title = "Local means: expected / measured absolute error, in thousandths"
    beside = given.json and given.json.with_name(f"{given.json.stem}-error.json")
    publish("local-error", title, wrong, command, beside)


if __name__ == "__main__":
    main()
