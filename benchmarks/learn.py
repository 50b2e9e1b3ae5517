"""Measure learning from reports: users a second in training, and errors of regression against epsilon.

    python -m benchmarks.learn [--users 1000000] [--rows 30000] [--folds 5] [--adult FILE] [--json FILE]

Speed: one pass over made-up people with 90 coordinates, each of whom sends one report. Errors: mean squared,
on people who were held out (one of five folds, so many times), targets in [-1, 1]; without privacy stand
least squares, the same descent without noise, and the average. BR, MX and WISDM are made up, and say so.
All of it takes about 3.5 minutes of one core; more rows and folds, for the patient, take in proportion.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import deniable as dn
from benchmarks.report import Row, middle, publish
from deniable.studies.dct import measures, tables
from deniable.studies.dct.parts import STAND_INS, Data

DIMENSIONS = 90
EPSILONS = ("0.5", "1", "2", "4")
FREE = ("least squares", "clipped", "mean")
WAYS: dict[str, dict[str, Any]] = {
    "PrivUnit, epsilon 1": {"epsilon": 1},
    "PrivUnit, epsilon 4": {"epsilon": 4},
    "sampled entries, optimal, epsilon 1": {"epsilon": 1, "norm": "linf", "mechanism": "sampling"},
    "sampled entries, optimal, epsilon 4": {"epsilon": 4, "norm": "linf", "mechanism": "sampling"},
}


def speed(users: int, runs: int = 3) -> list[Row]:
    """Users a second, the making of plan and tables included."""
    table = tables.stand_in("BR", users, 1)
    rows: list[Row] = []
    for name, options in WAYS.items():
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            model = dn.learn.LinearRegression(**options).fit(table.features, table.target)
            times.append(time.perf_counter() - start)
        plan = model.plan_
        rows.append(
            {
                "what": f"training, {name}",
                "users": f"{users:,}",
                "coordinates": plan.dimension,
                "rounds": plan.rounds,
                "seconds": f"{middle(times):.2f}",
                "users a second": f"{users / middle(times):,.0f}",
            }
        )
    return rows


def errors(rows: int, folds: int, data: Data) -> list[Row]:
    """Mean squared errors, one row for each data set and epsilon."""
    found: list[Row] = []
    for name in (*(("ADULT",) if data.adult else ()), *STAND_INS):
        table = [name, rows, 1, *data.file(name)]
        shown = name if data.file(name)[0] else f"{name} stand-in (synthetic)"
        free = {learner: _error(learner, "none", table, folds) for learner in FREE}
        for epsilon in EPSILONS:
            learners = {
                learner: _error(learner, epsilon, table, 1 if learner == "statistics" else folds)
                for learner in (*measures.LEARNERS, "statistics")
            }
            found.append({"what": f"error, {shown}", "epsilon": epsilon, **learners, **free})
    return found


def _error(learner: str, epsilon: str, table: list[Any], folds: int) -> str:
    found = measures.errors_of_regression(learner, epsilon, table, "1e-4", 5, folds, 0, 1)
    return f"{np.mean(found['errors']):.4f}"


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--adult", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    command = "python -m benchmarks.learn"
    publish("learn", "Learning: users a second", speed(given.users), command, given.json)
    beside = given.json and given.json.with_stem(f"{given.json.stem}-error")
    found = errors(given.rows, given.folds, Data(adult=given.adult))
    title = "Learning: mean squared error against epsilon"
    publish("learn-error", title, found, f"{command} --adult adult.data", beside)


if __name__ == "__main__":
    main()
