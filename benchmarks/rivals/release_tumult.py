"""Units, count and sum of value by category with Tumult Analytics.

    python release_tumult.py DATA OUT MAX_GROUPS

Spark on two local threads (Java is needed). Categories are found first (get_groups, with two fifths of
epsilon and all of delta); each column then gets a fifth of epsilon. Spark writes tables where it is started.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from functools import reduce
from importlib.metadata import version

import pandas as pd
from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    ApproxDPBudget,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    QueryBuilder,
    Session,
)

FOUND, EACH, DELTA = 0.4, 0.2, 1e-8


def spark() -> SparkSession:
    """Return a Spark session on two threads."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings: dict[str, bool | float | int | str | None] = {
        "spark.driver.memory": "4g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    made = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def released(data: str, max_groups: int) -> pd.DataFrame:
    """Return the published frame."""
    rows = spark().read.parquet(data).select("user_id", "category", "value")
    session = Session.from_dataframe(
        ApproxDPBudget(1, DELTA), "visits", rows, protected_change=AddRowsWithID("user_id")
    )
    bounded = (
        QueryBuilder("visits")
        .enforce(MaxGroupsPerID("category", max_groups))
        .enforce(MaxRowsPerGroupPerID("category", 2))
    )
    found = session.evaluate(bounded.get_groups("category"), ApproxDPBudget(FOUND, DELTA))
    grouped = bounded.groupby(KeySet.from_dataframe(found))
    queries = [
        grouped.count_distinct(["user_id"], name="people"),
        grouped.count(name="visits"),
        grouped.sum("value", low=0, high=100, name="value"),
    ]
    frames = [session.evaluate(query, ApproxDPBudget(EACH, 0)).toPandas() for query in queries]
    joined: pd.DataFrame = reduce(lambda left, right: left.merge(right, on="category"), frames)
    return joined


def main(data: str, out: str, max_groups: str) -> None:
    """Release, write, print the facts."""
    warnings.simplefilter("ignore")
    frame = released(data, int(max_groups))
    frame.to_parquet(out)
    facts = {
        "version": version("tmlt.analytics"),
        "rows": len(frame),
        "expresses": "units, count, sum",
        "note": "four queries: groups, then a column each; epsilon is added up",
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main(*sys.argv[1:])
