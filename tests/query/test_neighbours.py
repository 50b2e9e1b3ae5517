"""Neighbours: the un-noised integers of a plan move by no more than its events price."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from colours import Row, asked, bits, some_rows, table

from deniable.query.plan import Plan
from deniable.query.survey import protect


def unnoised(plan: Plan, rows: list[Row], seed: int) -> dict[Any, list[int]]:
    from deniable.engines.duckdb import DuckDB
    from deniable.query.collect import collect

    survey = protect(table(rows), unit="person")
    with DuckDB(threads=1) as engine:
        sealed = collect(
            engine,
            survey.rows(engine, ["person", "colour", "spend"]),
            unit="person",
            groups=("colour",),
            keys=None,
            measures=[noisy.measure for noisy in plan.price.measured],
            contributions=plan.price.contributions,
            bits=bits(seed),
            coverage=None,
        )
        return {row["g0"]: list(row.values())[1:] for batch in sealed.batches() for row in batch.to_pylist()}


def neighbours(seed: int) -> Iterator[tuple[list[Row], list[Row]]]:
    rows = some_rows(seed, people=8, rows=90)
    for person in (0, 3):
        yield rows, [row for row in rows if row[0] != person]
    heavy: list[Row] = [(99, f"only {i}", 1e9) for i in range(40)]
    heavy += [(99, "red", math.inf)] * 9
    yield rows + heavy, rows


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("over", ["weight", "drop"])
def test_adding_a_unit_moves_the_integers_by_no_more_than_is_priced(noise: Any, over: Any) -> None:
    query = asked(protect(table([]), unit="person"), max_groups=3, over=over)
    plan = query.plan(epsilon=1, delta="1e-6", noise=noise, coverage=False)
    reached = [0.0] * len(plan.price.measured)
    for larger, smaller in neighbours(7):
        first, second = unnoised(plan, larger, 1), unnoised(plan, smaller, 1)
        for place, noisy in enumerate(plan.price.measured):
            nothing = [0] * len(reached)
            moves = [
                abs(first.get(k, nothing)[place] - second.get(k, nothing)[place]) for k in {*first, *second}
            ]
            size = sum(moves) if noise == "laplace" else math.isqrt(sum(move * move for move in moves))
            assert size <= noisy.event.sensitivity
            reached[place] = max(reached[place], float(size / noisy.event.sensitivity))
    assert max(reached) > 0.9, "the bound should be nearly reached by a heavy unit"
