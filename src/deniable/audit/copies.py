"""Many independent copies of small tables as one table: so that one release gives many outcomes.

Copy number c of every row carries c in an added column, and units are renamed to be of one copy only. The
query that groups by that column first is, on this table, as many independent releases of the original query:

1. Contributions are bounded for each unit from its own rows alone, and a unit is in one copy only; its groups
   (c, key) correspond to its groups in the original. Weights depend on their number, which is the same. Where
   groups are dropped by a hash of (group, unit, salt), units and groups differ between copies: independent.
2. Sums are per group, so per copy. Each published entry has noise of its own.
3. A group is selected by its own noisy count alone.
4. The plan (noise, threshold) is that of the original query: only where it looks is replaced.
5. Copies are declared as public parts (`Groups.parts`): each has a row of its own for everything that was not
   found, and a histogram of its own for each bound that is chosen privately. What was chosen is published: it
   is part of the outcome. Copies that chose alike are released together, in a table with as many copies.

Copies of several small tables can be in one table: nothing above asks what other copies hold. What is not
repeated in each copy is the histogram of contributions: of it there is one for all, and it is looked at only
if there is one copy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.audit.outcomes import Rows
from deniable.errors import ParameterError
from deniable.query.opening import opened
from deniable.query.question import Groups
from deniable.query.run import chosen
from deniable.query.schema import Column, Schema, Type
from deniable.query.source import resolve

if TYPE_CHECKING:
    import pyarrow as pa

    from deniable.bits import Bits
    from deniable.query.plan import Plan
    from deniable.query.survey import Survey

SERIAL = "deniable_copy"
UNIT_SPACING = 1 << 12

Places = NDArray[np.int64]
SmallRow = Mapping[str, object]
"""One row of a small table, by column; the unit is a whole number below 2**12, or None for nobody."""


@dataclass(frozen=True, slots=True)
class Copies:
    """A plan to be carried out on copies of small tables at once. No ledger is charged: no data are read.

    tables: each with the number of its copies.
    """

    plan: Plan
    tables: tuple[tuple[Sequence[SmallRow], int], ...]

    def outcomes(self, bits: Bits) -> list[list[Rows]]:
        """Return for each table one outcome a copy: for every published key, the numbers beside it.

        Raises:  EngineError and other errors of a release. ParameterError: units are of a type of which there
                 are too few.
        """
        copies = self._in_one_table()
        found = _chosen(copies, bits) if self.plan.choices else _released(copies, bits)
        ends = np.cumsum([count for _, count in self.tables]).tolist()
        return [found[end - count : end] for end, (_, count) in zip(ends, self.tables, strict=True)]

    def _in_one_table(self) -> _Placed:
        """Return the plan for one table that holds all copies, those of the first table first."""
        rows = [row for table, _ in self.tables for row in table]
        places, serials, first, copy = [], [], 0, 0
        for table, count in self.tables:
            places.append(np.tile(np.arange(first, first + len(table)), count))
            serials.append(np.repeat(np.arange(copy, copy + count), len(table)))
            first, copy = first + len(table), copy + count
        return _Placed(self.plan, rows, np.concatenate(places), np.concatenate(serials), copy)


@dataclass(frozen=True, slots=True)
class _Placed:
    """Rows of all copies: for each its place in `rows` and the number of its copy, below `count`."""

    plan: Plan
    rows: Sequence[SmallRow]
    places: Places
    serials: Places
    count: int

    def ready(self) -> Plan:
        """Return the plan, with this table in place of its own."""
        query = self.plan.query
        survey = as_source(query.survey, self.rows, self.places, self.serials)
        changed = replace(query, survey=survey, groups=_by_copy(query.groups, survey, self.count))
        return replace(self.plan, query=changed)

    def only(self, copies: Places, plan: Plan) -> _Placed:
        """Return these copies alone, numbered anew in their order, with a plan of their own."""
        number = np.full(self.count, -1)
        number[copies] = np.arange(len(copies))
        kept = number[self.serials] >= 0
        return _Placed(plan, self.rows, self.places[kept], number[self.serials[kept]], len(copies))


def _chosen(copies: _Placed, bits: Bits) -> list[Rows]:
    """Return outcomes where bounds are chosen first: by each copy, released with those that chose alike."""
    plan = copies.ready()
    with opened(plan.query.survey.source, memory_limit=None, threads=1) as engine:
        choices = chosen(plan, engine, bits)
    found = [Rows()] * copies.count
    for made in dict.fromkeys(choices):
        alike = np.flatnonzero([one == made for one in choices])
        settled = replace(copies.plan.settled(made), choices=())
        words = "; ".join(f"{choice}{'' if choice.found else ', not found'}" for choice in made)
        for copy, outcome in zip(alike, _released(copies.only(alike, settled), bits), strict=True):
            outcome[(words,)] = ()
            found[copy] = outcome
    return found


def _released(copies: _Placed, bits: Bits) -> list[Rows]:
    """Return the outcome of each copy."""
    plan = copies.ready()
    release = plan.release(bits=bits, threads=1)
    assert plan.query.groups is not None
    keys = len(plan.query.groups.columns)
    table = release.table
    columns, cells = _numbers(plan, table.select(range(keys, table.num_columns)))
    found = [Rows(columns=columns) for _ in range(copies.count)]
    serials, *names = (table.column(place).to_pylist() for place in range(keys))
    named = zip(*names, strict=True) if names else [()] * table.num_rows
    for serial, key, values in zip(serials, named, zip(*cells, strict=True), strict=True):
        found[serial][key] = values
    if copies.count == 1 and release.histogram is not None:
        found[0]["units by the number of their groups",] = tuple(map(float, release.histogram))
    return found


def _numbers(plan: Plan, table: pa.Table) -> tuple[tuple[str, ...], list[list[float]]]:
    """Return names and values of each output, and of its interval the two widths.

    Widths that follow from the plan alone are the same in every run: so nobody looks at them.
    """
    named: dict[str, NDArray[np.float64]] = {}
    for output in plan.outputs:
        value, low, high = (
            table.column(f"{output.name}{end}").to_numpy().astype(np.float64) for end in ("", "_low", "_high")
        )
        named |= {
            output.name: value,
            f"{output.name} less low": value - low,
            f"{output.name} width": high - low,
        }
    return tuple(named), [values.tolist() for values in named.values()]


def as_source(survey: Survey, rows: Sequence[SmallRow], places: Places, serials: Places) -> Survey:
    """Return the survey of the rows at these places, with their serials as one more column."""
    import pyarrow as pa

    if any(column.name.casefold() == SERIAL for column in survey.schema.columns):
        raise ParameterError("query", SERIAL, "is the name of a column", "Rename that column.")
    arrays: dict[str, pa.Array] = {SERIAL: pa.array(serials, pa.int64())}
    taken = pa.array(places, pa.int64())
    for column in survey.source.schema.columns:
        values = [row.get(column.name) for row in rows]
        if column.name == survey.unit:
            arrays[column.name] = _units(column.type, pa.array(values, pa.int64()).take(taken), serials)
        elif column.type is not Type.OTHER:
            arrays[column.name] = pa.array(values, _arrow_type(column.type)).take(taken)
    schema = Schema((*survey.schema.columns, Column(SERIAL, Type.INTEGER)))
    return replace(survey, source=resolve(pa.table(arrays)), schema=schema, ledger=None)


def _units(kind: Type, units: pa.Array, copies: Places) -> pa.Array:
    """Return names of units, different in each copy, in the type of the unit column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind not in (Type.INTEGER, Type.REAL, Type.DECIMAL, Type.TEXT, Type.TIMESTAMP):
        raise ParameterError(
            "query", kind.value, "is no type to make many units of", "Protect another column."
        )
    numbers = pc.add(units, pa.array(copies * UNIT_SPACING, pa.int64()))
    return numbers.cast(_arrow_type(kind))


def _arrow_type(kind: Type) -> pa.DataType:
    import pyarrow as pa

    types = {
        Type.INTEGER: pa.int64(),
        Type.REAL: pa.float64(),
        Type.DECIMAL: pa.decimal128(38, 9),
        Type.TEXT: pa.string(),
        Type.BOOLEAN: pa.bool_(),
        Type.DATE: pa.date32(),
        Type.TIMESTAMP: pa.timestamp("us"),
    }
    return types[kind]


def _by_copy(groups: Groups | None, survey: Survey, count: int) -> Groups:
    """Return the grouping of the original query within each copy."""
    import pyarrow as pa

    copies = Column(SERIAL, Type.INTEGER)
    parts = pa.table({SERIAL: pa.array(range(count), pa.int64())})
    if groups is None:
        return Groups(survey, (copies,), 1, False, "drop", 1, parts, parts=parts)
    changed = replace(groups, survey=survey, columns=(copies, *groups.columns), parts=parts)
    if groups.keys is None:
        return changed
    each = pa.array(np.repeat(np.arange(count), groups.keys.num_rows), pa.int64())
    repeated = pa.concat_tables([groups.keys] * count)
    keys = pa.table([each, *repeated.columns], names=[SERIAL, *repeated.column_names])
    return replace(changed, keys=keys)
