"""What bounding must give, in plain Python with exact fractions, and how the tests ask the engine for it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
from sqlglot import exp

from deniable.bits import SeededBits
from deniable.engines.duckdb import DuckDB
from deniable.query.collect import collect
from deniable.query.measures import (
    Contributions,
    Count,
    Measure,
    Squares,
    Total,
    Units,
    weight_table,
)
from deniable.query.sealed import Sealed

Key = tuple[Any, ...]
Answer = dict[Key, tuple[int, ...]]
Row = dict[str, Any]


def number(value: Any) -> Fraction | None:
    """The number that a value means, None if it is missing."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return Fraction(value)


def plain(value: Any) -> Any:
    """A key with one zero and one NaN, so that dictionaries can hold it."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value + 0.0
    return value


def integer(measure: Measure, rows: Sequence[Row]) -> int:
    """The bounded integer of one unit in one group."""
    match measure:
        case Units():
            return 1
        case Count():
            present = [r for r in rows if measure.column is None or has_value(r[measure.column])]
            return min(len(present), measure.max_rows or 1)
        case Total():
            steps = [step(x, measure) for r in rows if (x := number(r[measure.column])) is not None]
            return shared(steps, measure.max_rows or 1)
        case Squares():
            steps = [step(x, measure.of) for r in rows if (x := number(r[measure.column])) is not None]
            unit, largest = 2**measure.shift, max(abs(measure.of.low), abs(measure.of.high))
            centre = math.floor(Fraction(largest**2, unit) + Fraction(1, 2)) // 2
            squares = [math.floor(Fraction(x * x, unit) + Fraction(1, 2)) - centre for x in steps]
            return shared(squares, measure.max_rows or 1)
        case _:
            raise NotImplementedError("a tree has more than one integer")


def shared(steps: list[int], most: int) -> int:
    """The sum, or the part of it that `most` rows have on average, toward zero."""
    total = sum(steps)
    return total if len(steps) <= most else math.trunc(Fraction(total * most, len(steps)))


def has_value(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and not math.isfinite(value))


def step(x: Fraction, total: Total) -> int:
    rounded = math.floor(x / total.grid + Fraction(1, 2))
    return min(max(rounded - total.centre, total.low), total.high)


def contributed(
    rows: Sequence[Row],
    unit: str | None,
    groups: Sequence[str],
    measures: Sequence[Measure],
    keys: Sequence[Key] | None = None,
) -> dict[Any, Answer]:
    """For each unit its groups, and in each its bounded integers, before weights or dropping."""
    cells: dict[Any, dict[Key, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for place, row in enumerate(rows):
        who = place if unit is None else plain(row[unit])
        key = tuple(plain(row[name]) for name in groups)
        if who is not None and who != "nan" and (keys is None or key in keys):
            cells[who][key].append(row)
    return {
        who: {key: tuple(integer(measure, held) for measure in measures) for key, held in of.items()}
        for who, of in cells.items()
    }


def weighted(each: dict[Any, Answer], measures: Sequence[Measure], contributions: Contributions) -> Answer:
    """The sum over units of weight times integers; no unit may be in more than max_keys groups."""
    table = weight_table(contributions)
    total: dict[Key, list[int]] = defaultdict(lambda: [0] * len(measures))
    for of in each.values():
        for key, numbers in of.items():
            total[key] = [a + table[len(of)] * b for a, b in zip(total[key], numbers, strict=True)]
    return {key: tuple(numbers) for key, numbers in total.items()}


def added(*answers: Answer) -> Answer:
    """Entry by entry sums."""
    total: Answer = {}
    for answer in answers:
        for key, numbers in answer.items():
            before = total.get(key, (0,) * len(numbers))
            total[key] = tuple(a + b for a, b in zip(before, numbers, strict=True))
    return total


def ask(
    engine: DuckDB,
    table: pa.Table,
    *,
    unit: str | None,
    groups: Sequence[str],
    measures: Sequence[Measure],
    contributions: Contributions,
    keys: pa.Table | None = None,
    coverage: Sequence[int] | None = None,
    seed: int = 1,
) -> Sealed:
    rows = exp.select(*(exp.column(name, quoted=True) for name in table.column_names))
    return collect(
        engine,
        rows.from_(engine.view(table)),
        unit=unit,
        groups=tuple(groups),
        keys=keys,
        measures=measures,
        contributions=contributions,
        bits=SeededBits(seed, insecure=True),
        coverage=coverage,
    )


def opened(sealed: Sealed, groups: int) -> Answer:
    """The sealed numbers as a dictionary; a key that comes twice is an error."""
    found: Answer = {}
    for batch in sealed.batches():
        for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            key = tuple(plain(value) for value in values[:groups])
            assert key not in found
            found[key] = tuple(values[groups:])
    return found


def decimal(digits: int, places: int) -> Decimal:
    """digits * 10**-places, exactly."""
    return Decimal(digits).scaleb(-places)
