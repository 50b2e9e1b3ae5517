"""Run the bounding SQL on an engine and seal what comes out.

The source is read once, into one temporary table of bounded integers for each (unit, group); everything else
is computed from that table. Where every row is its own unit there is nothing to bound between rows, and the
answer streams straight from the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from deniable.bits import Bits
from deniable.engines.engine import Engine
from deniable.errors import ParameterError
from deniable.query import bounding
from deniable.query.bounding import Bounding
from deniable.query.by_value import ROWS
from deniable.query.measures import Contributions, Measure, is_by_value, weight_table
from deniable.query.sealed import Sealed

if TYPE_CHECKING:
    import pyarrow as pa

_SALT_BITS = 128


def collect(
    engine: Engine,
    rows: exp.Query,
    *,
    unit: str | None,
    groups: Sequence[str],
    keys: pa.Table | None,
    measures: Sequence[Measure],
    contributions: Contributions,
    bits: Bits,
    coverage: Sequence[int] | None,
) -> Sealed:
    """Return the bounded, un-noised integers of every measure in every group.

    Args:    rows: a query that gives at least the columns named here. unit: None if each row is a unit.
             keys: declared keys, one column for each of `groups`, in the order to publish; None: found.
             coverage: rising upper ends of classes of m, the number of groups of a unit; each unit counts 1
             in the first class whose end is not below its m, else in the last.
    Raises:  ParameterError: judged from types, before data are read. EngineError: why is private.
    """
    if unit is None and coverage is not None:
        raise ParameterError("coverage", coverage, "needs a unit column", "Each row is in one group.")
    question = asked(
        engine,
        rows,
        unit=unit,
        groups=groups,
        keyed=keys is not None,
        measures=measures,
        contributions=contributions,
        bits=bits,
    )
    return answered(engine, question, keys, coverage)


def answered(
    engine: Engine, question: Bounding, keys: pa.Table | None, coverage: Sequence[int] | None
) -> Sealed:
    """Read the rows, once, and return the integers of a question that was `asked`."""
    if keys is not None:
        declare(engine, keys, question)
    read(engine, question)
    if question.unit is None:
        return _answered(engine, question, bounding.per_row(question), None)
    once = coverage is None and not question.tabled and not _weighted(question)
    engine.execute(temporary(bounding.PAIRS, bounding.pairs(question)), once=once)
    return cut_down(engine, question, coverage)


def asked(
    engine: Engine,
    rows: exp.Query,
    *,
    unit: str | None,
    groups: Sequence[str],
    keyed: bool,
    measures: Sequence[Measure],
    contributions: Contributions,
    bits: Bits,
    rest: bool = False,
) -> Bounding:
    """Return the question that SQL is made from, with a fresh salt; no row is read.

    rest: everything that is not found will be asked for too (`rest.everything_else`).
    """
    return Bounding(
        rows=rows,
        kinds=engine.describe(rows),
        unit=unit,
        groups=tuple(groups),
        keyed=keyed,
        measures=tuple(measures),
        contributions=contributions,
        salt=f"{bits.integer(_SALT_BITS):032x}",
        tabled=rest or any(map(is_by_value, measures)),
        named=rest,
    )


def read(engine: Engine, question: Bounding) -> None:
    """Read the rows into a table of their own, if they must be told apart by value, or are needed again."""
    if question.tabled:
        engine.execute(temporary(ROWS, bounding.rows(question)))


def cut_down(engine: Engine, question: Bounding, coverage: Sequence[int] | None) -> Sealed:
    """Return the integers of a question whose pairs are there: units are cut down and summed by group."""
    classes = _prepare(engine, question, coverage)
    return _answered(engine, question, bounding.answer(question), classes)


def _answered(
    engine: Engine, question: Bounding, found: exp.Select, classes: tuple[int, ...] | None
) -> Sealed:
    query = bounding.in_full(question, found) if question.keyed else found
    few = question.keyed or not question.groups  # all of them are published from this process
    return Sealed(engine.stream(query, few=few), classes)


def weighed(engine: Engine, weights: Sequence[int]) -> exp.Create:
    """Return the statement that makes the table of weights w of a unit in m groups."""
    import pyarrow as pa

    table = pa.table({"m": pa.array(range(len(weights)), pa.int64()), "w": pa.array(weights, pa.int64())})
    return temporary(bounding.WEIGHTS, exp.select("m", "w").from_(engine.view(table)))


def declare(engine: Engine, keys: pa.Table, question: Bounding) -> None:
    """Make the table of declared keys, with their places.

    Raises:  ParameterError: two of them are equal to the engine, so that a row would count in both. What a
             unit can change was priced for one; no row has been read yet.
    """
    import pyarrow as pa

    names = [f"g{i}" for i in range(len(question.groups))]
    placed = keys.rename_columns(names).append_column("place", pa.array(range(len(keys)), pa.int64()))
    declared = bounding.declared(question.groups, question.kinds, engine.view(placed))
    engine.execute(temporary(bounding.KEYS, declared))
    if engine.stream(bounding.repeated(len(names)), few=True).read_all().num_rows:
        problem = "must differ where their columns hold them"
        raise ParameterError("keys", ", ".join(question.groups), problem, "Leave out one of the equal keys.")


def _weighted(question: Bounding) -> bool:
    return question.contributions.over == "weight" and bool(question.groups)


def _prepare(engine: Engine, question: Bounding, coverage: Sequence[int] | None) -> tuple[int, ...] | None:
    """Make the tables that pairs are cut down with; return how many units are in each class."""
    weighted = _weighted(question)
    if weighted or coverage is not None:
        engine.execute(temporary(bounding.WIDTHS, bounding.widths()))
    if weighted:
        engine.execute(weighed(engine, weight_table(question.contributions)))
    return None if coverage is None else _classes(engine, question.contributions.max_keys, coverage)


def _classes(engine: Engine, max_keys: int, ends: Sequence[int]) -> tuple[int, ...]:
    counts = [0] * len(ends)
    for batch in engine.stream(bounding.histogram(max_keys), few=True):
        for m, units in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            counts[next((place for place, end in enumerate(ends) if m <= end), len(ends) - 1)] += units
    return tuple(counts)


def temporary(name: str, query: exp.Select) -> exp.Create:
    """Return the statement that makes a temporary table of a query's rows."""
    return exp.Create(
        this=exp.to_table(name),
        kind="TABLE",
        replace=True,
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
        expression=query,
    )
