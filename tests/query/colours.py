"""Small tables of people and colours, with every odd value that a column can hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from deniable.bits import SeededBits
from deniable.query import aggregates as dn
from deniable.query.question import Query
from deniable.query.survey import Survey

ALPHA = 1e-9
Row = tuple[int, str | None, float | None]


def bits(seed: int) -> SeededBits:
    return SeededBits(seed, insecure=True)


def table(rows: list[Row]) -> pa.Table:
    people, colours, spends = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "person": pa.array(people, pa.int64()),
            "colour": pa.array(colours, pa.string()),
            "spend": pa.array(spends, pa.float64()),
        }
    )


def some_rows(seed: int, people: int = 60, rows: int = 500) -> list[Row]:
    random = np.random.default_rng(seed)
    colours: list[str | None] = ["red", "green", "blue", "", None, "ultramarine"]
    values: list[float | None] = [0.0, 1.0, 2.5, 99.0, -7.0, 250.0, None, math.nan, math.inf]
    return [
        (int(random.integers(people)), colours[random.integers(6)], values[random.integers(9)])
        for _ in range(rows)
    ]


def asked(survey: Survey, **groups: Any) -> Query:
    return survey.group_by("colour", **groups).aggregate(
        units=dn.units(),
        rows=dn.count(max_rows=2),
        given=dn.count("spend", max_rows=2),
        total=dn.sum("spend", bounds=(-5, 100), max_rows=2),
        average=dn.mean("spend", bounds=(-5, 100), max_rows=2),
    )
