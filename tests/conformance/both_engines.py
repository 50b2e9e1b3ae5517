"""One table in a Parquet file, read by both engines, and the questions that are put to both."""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from contextlib import AbstractContextManager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deniable.bits import SeededBits
from deniable.engines.duckdb import DuckDB
from deniable.engines.spark import Spark
from deniable.query.collect import asked, collect
from deniable.query.dialects.spark import written
from deniable.query.measures import Contributions, Measure
from deniable.query.rounds import Search
from deniable.query.sealed import Sealed
from deniable.query.source import Source, resolve

Answer = dict[tuple[Any, ...], tuple[Any, ...]]

TYPES = {
    "person": pa.int64(),
    "name": pa.string(),
    "hue": pa.string(),
    "year": pa.int64(),
    "real": pa.float64(),
    "single": pa.float32(),
    "whole": pa.int64(),
    "byte": pa.int8(),
    "paid": pa.decimal128(18, 2),
    "long": pa.decimal128(38, 18),
    "huge": pa.decimal128(38, 0),
    "yes": pa.bool_(),
    "text": pa.string(),
    "day": pa.date32(),
    "moment": pa.timestamp("us"),
}
REALS = [float("nan"), float("inf"), -float("inf"), 0.5, 1.5, -0.5, -0.0, 1e300, 99.99999999999999, 0.1]
TEXTS = "12| -3.5 |1e2|nan|abc||.5|1e400|9223372036854775808|+7|-1.|true|No".split("|")
PAID = 10**18 - 1
DAYS = [datetime.date(1, 1, 1), datetime.date(2024, 2, 29), datetime.date(9999, 12, 31)]
MOMENTS = [datetime.datetime(2024, 3, 10, 2, 30, 1, 250000), datetime.datetime(1900, 1, 1, 0, 0, 0, 1)]


def table(rows: int, *, seed: int = 1, people: int = 40) -> pa.Table:
    """Rows with every kind of odd value; the first people are in many groups."""
    draw = random.Random(seed)

    def one() -> dict[str, Any]:
        person = draw.choice([None, *range(people)])
        return {
            "person": person,
            "name": None if person is None else f"pérson {person}",
            "hue": draw.choice(["red", "Red", "", "blå", "ein''\\n", None, "${x}", "{y}"]),
            "year": draw.choice([2023, 2024, -(2**63), None]),
            "real": draw.choice([None, draw.gauss(50, 40), draw.uniform(-1e6, 1e6), *REALS]),
            "single": draw.choice([None, draw.gauss(0, 10), float("nan"), 0.1]),
            "whole": draw.choice([None, draw.randint(-50, 50), 2**63 - 1, -(2**63), draw.getrandbits(62)]),
            "byte": draw.choice([None, draw.randint(-128, 127)]),
            "paid": draw.choice([None, Decimal(draw.randint(-PAID, PAID)).scaleb(-2), Decimal("2.50")]),
            "long": draw.choice(
                [None, Decimal(draw.randint(-(10**21), 10**21)).scaleb(-18), Decimal("-0.5")]
            ),
            "huge": draw.choice([None, Decimal(draw.randint(-(10**38) + 1, 10**38 - 1)), Decimal(7)]),
            "yes": draw.choice([None, True, False]),
            "text": draw.choice([None, *TEXTS]),
            "day": draw.choice([None, *DAYS]),
            "moment": draw.choice([None, *MOMENTS]),
        }

    return pa.Table.from_pylist([one() for _ in range(rows)], schema=pa.schema(list(TYPES.items())))


def saved(path: Path, held: pa.Table) -> str:
    pq.write_table(held, path)
    return str(path)


def sources(spark: Any, path: str, **options: Any) -> dict[str, Source]:
    """The same file as a source of each engine."""
    return {"duckdb": resolve(path, **options), "spark": resolve(spark.read.parquet(path), **options)}


def engine(name: str, spark: Any) -> AbstractContextManager[Any]:
    return DuckDB(threads=1) if name == "duckdb" else Spark(spark, written)


def answers(
    spark: Any, path: str, measures: Sequence[Measure], **question: Any
) -> dict[str, tuple[Answer, Any]]:
    """What each engine says, un-noised, to one question, and its histogram."""
    found = {}
    for name, source in sources(spark, path).items():
        with engine(name, spark) as opened:
            sealed = ask(opened, source, measures, **question)
            found[name] = (numbers(sealed, len(question["groups"])), sealed.coverage)
    return found


def ask(
    opened: Any,
    source: Source,
    measures: Sequence[Measure],
    *,
    unit: str | None,
    groups: Sequence[str],
    contributions: Contributions,
    keys: pa.Table | None = None,
    coverage: Sequence[int] | None = None,
    seed: int = 1,
) -> Sealed:
    names = [*([unit] if unit else []), *groups, *columns(measures)]
    return collect(
        opened,
        source.rows(opened, list(dict.fromkeys(names)) or ["year"]),
        unit=unit,
        groups=tuple(groups),
        keys=keys,
        measures=measures,
        contributions=contributions,
        bits=SeededBits(seed, insecure=True),
        coverage=coverage,
    )


def searched(
    spark: Any, path: str, measures: Sequence[Measure], *, groups: Sequence[str], contributions: Contributions
) -> dict[str, tuple[Answer, ...]]:
    """Two rounds that show the larger half of the groups each, then what is measured; keys for numbers."""
    found = {}
    for name, source in sources(spark, path).items():
        with engine(name, spark) as opened:
            question = asked(
                opened,
                source.rows(opened, list(dict.fromkeys(["person", *groups, *columns(measures)]))),
                unit="person",
                groups=tuple(groups),
                keyed=False,
                measures=measures,
                contributions=contributions,
                bits=SeededBits(1, insecure=True),
            )
            search = Search(opened, question)
            rounds = []
            for weights in ([1 << 20] * 101, [(1 << 20) // max(m, 1) for m in range(101)]):
                counted = search.counts(weights)
                pairs = [row for batch in counted.batches() for row in rows_of(batch)]
                rounds.append(sorted(number for _, number in pairs))
                middle = rounds[-1][len(pairs) // 2]
                shown = [place for place, number in pairs if number > middle]
                search.show(pa.array(shown, pa.int64()).to_numpy())
            sealed = search.measured((1, 2, 4, 100))
            found[name] = (*({(i,): tuple(r)} for i, r in enumerate(rounds)), numbers(sealed, len(groups)))
            assert sealed.coverage is not None
            found[name] += ({(): sealed.coverage},)
    return found


def columns(measures: Sequence[Measure]) -> list[str]:
    found = [getattr(getattr(measure, "of", measure), "column", None) for measure in measures]
    return [name for name in found if name]


def rows_of(batch: pa.RecordBatch) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def numbers(sealed: Sealed, groups: int) -> Answer:
    """The sealed numbers by key; leaves as sorted pairs. A key that comes twice is an error."""
    found: Answer = {}
    for batch in sealed.batches():
        for row in rows_of(batch):
            key = tuple(plain(value) for value in row[:groups])
            assert key not in found
            found[key] = tuple(leaves(value) for value in row[groups:])
    return found


def plain(value: Any) -> Any:
    return "nan" if isinstance(value, float) and value != value else value


def leaves(value: Any) -> Any:
    return sorted((pair["leaf"], pair["number"]) for pair in value) if isinstance(value, list) else value
