"""Time the two ends of vector protocols, and hold their errors against what they state beforehand.

    python -m benchmarks.vectors [--people 200000] [--dimension 90] [--json FILE]

| column         | meaning                                                                              |
|----------------|--------------------------------------------------------------------------------------|
| client, server | thousands of people a second: making reports; counting them and estimating           |
| report         | bytes of a report's payload                                                          |
| stated         | mean squared error of one report over the dimension, from public parameters alone     |
| measured       | the same, of the reports that were made                                              |
| memory         | GB at the peak of the whole process; the vectors themselves are made 16,384 at a time |

The vectors are uniform directions for l2, and uniform in the cube for linf.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.report import child, publish

PEOPLE, DIMENSION = 200_000, 90
PROTOCOLS = (
    ("l2", "privunit", "", "1/2", 1),
    ("l2", "privunit", "", "1", 1),
    ("l2", "privunit", "", "2", 1),
    ("l2", "privunit", "", "4", 2),
    ("l2", "privunit", "", "8", 20),
    ("l2", "privunitg", "", "1", 1),
    ("linf", "harmony", "", "1", 1),
    ("linf", "sampling", "optimal", "1", 1),
    ("linf", "sampling", "duchi", "4", 1),
    ("linf", "duchi", "", "1", 1),
)
"""Norm, mechanism, mean, epsilon, and how many times fewer people are enough."""

WORK = """
import json, sys, time
import numpy as np
from deniable import local
norm, mechanism, mean, epsilon, people, d = *sys.argv[1:5], int(sys.argv[5]), int(sys.argv[6])
words = {"mean": mean} if mean else {}
vector = local.Vector(epsilon=epsilon, dimension=d, norm=norm, mechanism=mechanism, **words)
rng = np.random.default_rng(1)
def some(n):
    values = rng.normal(size=(n, d)) if norm == "l2" else rng.uniform(-1, 1, size=(n, d))
    return values / np.linalg.norm(values, axis=1)[:, None] / (1 + 1e-12) if norm == "l2" else values
vector.estimate(vector.randomize(some(64)))
made = counted = stated = measured = 0.0
total = vector.aggregate(vector.randomize(some(1)[:0]))
for start in range(0, people, 16384):
    values = some(min(16384, people - start))
    a = time.perf_counter()
    reports = vector.randomize(values)
    b = time.perf_counter()
    total = total + vector.aggregate(reports)
    made, counted = made + b - a, counted + time.perf_counter() - b
    measured += float(((vector.decode(reports) - values) ** 2).sum())
    stated += float(np.mean([vector.error().variance_at(v).sum() for v in values[:50]])) * len(values)
a = time.perf_counter()
total.estimate()
counted += time.perf_counter() - a
size = len(reports[:1].to_bytes()) - 9
figures = {"made": made, "counted": counted, "size": size}
print(json.dumps({**figures, "stated": stated / people / d, "measured": measured / people / d}))
"""


def row(norm: str, mechanism: str, mean: str, epsilon: str, people: int, dimension: int) -> dict[str, object]:
    """Measure one protocol in a process of its own."""
    done = child(WORK, norm, mechanism, mean, epsilon, str(people), str(dimension))
    found = json.loads(done.printed)
    return {
        "norm": norm,
        "protocol": f"{mechanism}, {mean}" if mean else mechanism,
        "epsilon": epsilon,
        "people": f"{people:,}",
        "client": f"{people / found['made'] / 1000:.3g}",
        "server": f"{people / found['counted'] / 1000:.3g}",
        "report": str(found["size"]),
        "stated": f"{found['stated']:.4g}",
        "measured": f"{found['measured']:.4g}",
        "memory": f"{done.gigabytes:.2f}",
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--dimension", type=int, default=DIMENSION)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = [
        row(norm, mechanism, mean, epsilon, given.people // fewer, given.dimension)
        for norm, mechanism, mean, epsilon, fewer in PROTOCOLS
    ]
    command = f"python -m benchmarks.vectors --people {given.people} --dimension {given.dimension}"
    title = f"Vectors in {given.dimension} dimensions: thousands of people a second"
    publish("vectors", title, rows, command, given.json)


if __name__ == "__main__":
    main()
