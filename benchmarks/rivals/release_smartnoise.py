"""Units, count and sum of value by category with SmartNoise SQL.

    python release_smartnoise.py DATA OUT MAX_GROUPS

A pandas frame, which it queries through SQLite. It bounds the rows of a person over the whole table (max_ids)
rather than by category: 2 rows in each of max_groups categories become 2 * max_groups rows. Each column gets
a third of epsilon; delta is the largest whose total, by its own odometer, is 1e-8.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version

import pandas as pd
import snsql

QUERY = (
    "SELECT category, COUNT(DISTINCT user_id) AS people, COUNT(*) AS visits, SUM(value) AS value"
    " FROM visits GROUP BY category"
)
EPSILON, DELTA, MAX_ROWS = 1.0, 1e-8, 2


def released(data: str, max_groups: int) -> pd.DataFrame:
    """Return the published frame."""
    frame = pd.read_parquet(data, columns=["user_id", "category", "value"])
    visits = {
        "max_ids": MAX_ROWS * max_groups,
        "user_id": {"type": "int", "private_id": True},
        "category": {"type": "string"},
        "value": {"type": "float", "lower": 0.0, "upper": 100.0},
    }
    # The odometer adds half of delta, for its composition theorem, to the delta that the threshold spends.
    privacy = snsql.Privacy(epsilon=EPSILON / 3, delta=DELTA / 1.500001)
    reader = snsql.from_df(frame, privacy=privacy, metadata={"": {"": {"visits": visits}}})
    epsilon, delta = reader.get_privacy_cost(QUERY)
    if not (epsilon <= EPSILON + 1e-9 and delta <= DELTA):
        raise SystemExit(f"the query would cost {epsilon}, {delta}")
    names, *rows = reader.execute(QUERY)
    return pd.DataFrame(rows, columns=names)


def main(data: str, out: str, max_groups: str) -> None:
    """Release, write, print the facts."""
    frame = released(data, int(max_groups))
    frame.to_parquet(out)
    facts = {
        "version": version("smartnoise-sql"),
        "rows": len(frame),
        "expresses": "units, count, sum",
        "note": f"bounds a person to {MAX_ROWS * int(max_groups)} rows of the table, not by category",
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main(*sys.argv[1:])
