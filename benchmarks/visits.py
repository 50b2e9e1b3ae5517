"""Make the common workload: visits of people to categories, as one Parquet file.

    python benchmarks/visits.py ROWS OUT.parquet

ROWS / 10 people; rows per person log-normal (median 6 to 7, 1 to 50); categories Zipf(1.05) over 200,000
names, 30 % of a person's rows repeat their previous one; a region of 100; a value in [0, 100] with four
decimals, Beta(2, 5). Rows are shuffled. The seed is fixed, so that figures can be compared. More than ten
million rows are made in files of ten million, each with people of its own (`ensure`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

SEED = 2
PIECE = 10_000_000
NAMES = 200_000
REGIONS = 100


def rows_per_person(rng: np.random.Generator, rows: int, people: int) -> NDArray[np.int64]:
    """Draw how many rows each person has; nudge single people by one until the sum is `rows`."""
    counts = np.clip(np.round(rng.lognormal(1.85, 0.95, people)), 1, 50).astype(np.int64)
    while (missing := rows - int(counts.sum())) != 0:
        chosen = rng.choice(people, size=min(abs(missing), max(1, people // 2)), replace=False)
        movable = counts[chosen] < 50 if missing > 0 else counts[chosen] > 1
        counts[chosen[movable]] += 1 if missing > 0 else -1
    return counts


def zipf(rng: np.random.Generator, items: int, exponent: float, size: int) -> NDArray[np.int64]:
    """Draw ranks from a Zipf law over finitely many items."""
    law = np.cumsum(1 / np.arange(1, items + 1) ** exponent)
    return np.minimum(np.searchsorted(law / law[-1], rng.random(size)), items - 1).astype(np.int64)


def visits(rows: int, seed: int = SEED) -> pa.Table:
    """Return the workload as a table: user_id, category, region, value."""
    rng = np.random.default_rng(seed)
    people = max(1, rows // 10)
    person = np.repeat(np.arange(people), rows_per_person(rng, rows, people))
    category = zipf(rng, NAMES, 1.05, rows)
    starts = np.r_[True, person[1:] != person[:-1]]
    repeats = (rng.random(rows) < 0.3) & ~starts
    category = category[np.maximum.accumulate(np.where(repeats, 0, np.arange(rows)))]
    region = zipf(rng, REGIONS, 0.7, rows)
    value = np.round(rng.beta(2, 5, rows) * 100, 4)
    order, ids = rng.permutation(rows), rng.permutation(people * 10)[:people]
    names = pa.array([f"cat_{(i * 7919) % 1_000_003:06d}" for i in range(NAMES)])
    regions = pa.array([f"r{i:02d}" for i in range(REGIONS)])
    columns = {
        "user_id": ids[person][order],
        "category": names.take(pa.array(category[order])),
        "region": regions.take(pa.array(region[order])),
        "value": value[order],
    }
    return pa.table(columns)


def ensure(rows: int, folder: Path) -> Path:
    """Return the file with this many rows, or the pattern that names its pieces; made if not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    if rows <= PIECE:
        return written(folder / f"visits-{rows}.parquet", rows, 0)
    pieces = folder / f"visits-{rows}"
    pieces.mkdir(exist_ok=True)
    for number, first in enumerate(range(0, rows, PIECE)):
        written(pieces / f"{number:04d}.parquet", min(PIECE, rows - first), number)
    return pieces / "*.parquet"


def written(path: Path, rows: int, number: int) -> Path:
    """Write one file, if it is not there; people of another number are other people."""
    if not path.exists():
        table = visits(rows, SEED + number)
        people = pc.add(table["user_id"], number * PIECE)
        partial = path.with_suffix(".partial")
        table = table.set_column(0, "user_id", people)
        pq.write_table(table, partial, compression="zstd", row_group_size=491_520)
        partial.rename(path)
    return path


if __name__ == "__main__":
    Path(sys.argv[2]).unlink(missing_ok=True)
    written(Path(sys.argv[2]), int(sys.argv[1]), 0)
