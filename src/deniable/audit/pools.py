"""Rows that a query would look at: values for its columns, and which combinations its conditions let pass.

Nothing here knows the protected data. Values come from the query's own text (constants, bounds, declared
keys) and from a few of each type; the engine tells which rows pass `where`, and in which group they come out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import islice, product
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np
from sqlglot import exp

from deniable.audit.copies import SERIAL, as_source
from deniable.query.joining import Join
from deniable.query.schema import Column, Schema, Type

if TYPE_CHECKING:
    from deniable.engines.duckdb import DuckDB
    from deniable.query.question import Query
    from deniable.query.survey import Survey

Row = dict[str, object]
Key = tuple[Hashable, ...]

_MOST_TRIED = 4096
_MOST_JOINED = 64
_OLDEST = date(1990, 1, 1)


@dataclass(frozen=True, slots=True)
class Ground:
    """Rows to build tables of: `usual` passes every condition; groups: a passing row for each of many groups.

    measured: source columns that are summed, averaged or counted.
    """

    usual: Row
    groups: dict[Key, Row]
    measured: tuple[Column, ...]


def ground(query: Query, wanted: int) -> Ground | None:
    """Return rows that the query counts, in `wanted` groups if so many can be found; None if none passes."""
    schema = readable(query.survey)
    sources = _key_sources(query)
    usual = _first_passing(query, schema)
    if usual is None:
        return None
    pools = [_pool(query, schema.find(name, "column"), wanted) for name in sources]
    longest = max((len(pool) for pool in pools), default=0)
    turns = islice(zip(*(_cycled(pool, longest) for pool in pools), strict=True), _MOST_TRIED)
    varied = [usual, *({**usual, **dict(zip(sources, values, strict=True))} for values in turns)]
    groups: dict[Key, Row] = {}
    for row, key in passing(query, varied):
        groups.setdefault(key, row)
    measured = tuple(schema.find(name, "column") for name in _measured(query, schema))
    return Ground(usual, dict(islice(groups.items(), wanted)), measured)


def passing(query: Query, rows: Sequence[Row]) -> list[tuple[Row, Key]]:
    """Return the rows that pass the conditions of the query, each with the group it falls in."""
    from deniable.engines.duckdb import DuckDB

    names = [] if query.groups is None else [column.name for column in query.groups.columns]
    one_each = [{**row, query.survey.unit: 0} if query.survey.unit else row for row in rows]
    places = np.arange(len(rows))
    survey = as_source(query.survey, one_each, places, places)
    with DuckDB(threads=1) as engine:
        found = _read(engine, survey, [SERIAL, *names])
    return [(rows[place], key) for place, *key_values in found for key in [tuple(key_values)]]


def readable(survey: Survey) -> Schema:
    """Return the columns of the source that a query can read."""
    kept = tuple(column for column in survey.source.schema.columns if column.type is not Type.OTHER)
    return Schema(kept)


def _read(engine: DuckDB, survey: Survey, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    table = engine.stream(survey.rows(engine, columns)).read_all()
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True), key=lambda row: row[0])


def _first_passing(query: Query, schema: Schema) -> Row | None:
    """Return a row that passes: of the columns that conditions speak of, combinations are tried."""
    spoken = _closure(query.survey, [c for step in query.survey.steps for c in step.needs])
    plain = {column.name: _pool(query, column, 1)[0] for column in schema.columns}
    tried = [column for column in schema.columns if column.name.casefold() in spoken]
    combinations = islice(product(*(_pool(query, column, 2) for column in tried)), _MOST_TRIED)
    rows = [{**plain, **{c.name: v for c, v in zip(tried, values, strict=True)}} for values in combinations]
    found = passing(query, rows)
    return found[0][0] if found else None


def _key_sources(query: Query) -> list[str]:
    """Return the source columns, in their own spelling, that decide in which group a row falls."""
    keys = [] if query.groups is None else [column.name for column in query.groups.columns]
    decide = _closure(query.survey, keys)
    return [column.name for column in readable(query.survey).columns if column.name.casefold() in decide]


def _measured(query: Query, schema: Schema) -> list[str]:
    asked = [aggregate.column for _, aggregate in query.outputs if aggregate.column is not None]
    used = _closure(query.survey, asked)
    return [column.name for column in schema.columns if column.name.casefold() in used]


def _closure(survey: Survey, names: Iterable[str]) -> set[str]:
    """Return the names and, for derived ones, the columns that they are derived from; case folded."""
    found = {name.casefold() for name in names}
    for step in reversed(survey.steps):
        if step.adds & found:
            found |= {column.casefold() for column in step.needs}
    return found


def _pool(query: Query, column: Column, wanted: int) -> list[object]:
    """Return values of the column's type: the query's own first, then as many others as are wanted."""
    own = [value for value in _own(query, column) if value is not None]
    more = [nth(column.type, i) for i in range(max(wanted, 3))]
    return list(dict.fromkeys([*own, *more]))


def _own(query: Query, column: Column) -> Iterable[object]:
    """Yield what the query's text says of values: declared keys, constants and their neighbours, bounds."""
    keys = None if query.groups is None else query.groups.keys
    if keys is not None and column.name in keys.column_names:
        yield from keys.column(column.name).to_pylist()
    for step in query.survey.steps:
        if isinstance(step, Join):
            yield from _joined_keys(step, column)
            continue
        for literal in step.expression.tree.find_all(exp.Literal):
            yield from _typed(column.type, str(literal.this), text=literal.is_string)
    for _, aggregate in query.outputs:
        for bound in aggregate.bounds or ():
            yield from _typed(column.type, str(int(bound)), text=False)


def _joined_keys(step: Join, column: Column) -> Iterable[object]:
    """Yield keys of a joined public table, if they are compared with this column."""
    for place, (name, kind) in enumerate(step.keys):
        if step.held is not None and name.casefold() == column.name.casefold():
            values = step.held.column(f"k{place}").slice(0, _MOST_JOINED).to_pylist()
            yield from (int(value) if kind is Type.INTEGER else value for value in values)


def _typed(kind: Type, words: str, *, text: bool) -> Iterable[object]:
    """Yield what the constant may mean for a column of this type."""
    if text:
        yield words if kind is Type.TEXT else None
        return
    try:
        number = float(words)
    except ValueError:
        return
    if abs(number) > 1 << 53:
        return
    match kind:
        case Type.INTEGER:
            yield from (int(number), int(number) + 1, int(number) - 1)
        case Type.REAL:
            yield from (number, number + 1, number - 1)
        case Type.DECIMAL:
            yield from (Decimal(words), Decimal(words) + 1, Decimal(words) - 1)
        case _:
            return


def nth(kind: Type, i: int) -> object:
    """Return one of endlessly many (for booleans, two) different values of a type."""
    match kind:
        case Type.INTEGER:
            return i + 1
        case Type.REAL:
            return i + 0.5
        case Type.DECIMAL:
            return Decimal(i + 1)
        case Type.TEXT:
            return f"g{i}"
        case Type.BOOLEAN:
            return i % 2 == 0
        case Type.DATE:
            return _OLDEST + timedelta(days=i)
        case Type.TIMESTAMP:
            return datetime(1990, 1, 1) + timedelta(days=i)
        case Type.OTHER:
            return None
        case _:
            assert_never(kind)


def _cycled(values: Sequence[object], length: int) -> list[object]:
    return [values[i % len(values)] for i in range(length)]
