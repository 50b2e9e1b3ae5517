"""Many independent copies of one small table as one table: so that one release gives many outcomes.

Copy number c of every row carries c in an added column, and units are renamed to be of one copy only. The
query that groups by that column first is, on this table, as many independent releases of the original query:

1. Contributions are bounded for each unit from its own rows alone, and a unit is in one copy only; its groups
   (c, key) correspond to its groups in the original. Weights depend on their number, which is the same. Where
   groups are dropped by a hash of (group, unit, salt), units and groups differ between copies: independent.
2. Sums are per group, so per copy. Each published entry has noise of its own.
3. A group is selected by its own noisy count alone.
4. The plan (noise, threshold) is that of the original query: only where it looks is replaced.

What is not repeated in each copy is the histogram of contributions: of it there is one for all copies. The
row of everything that was not found is one for all too: a query that asks for it has one copy, as it is. So
are bounds that are chosen privately: such a query has one copy too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.audit.outcomes import Rows
from deniable.errors import ParameterError
from deniable.query.question import Groups
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
    """A plan, ready to be carried out on `count` copies of a small table at once."""

    plan: Plan
    count: int

    def outcomes(self, bits: Bits) -> list[Rows]:
        """Return one outcome a copy: for every published key, the numbers beside it.

        Raises:  EngineError and other errors of a release.
        """
        table = self.plan.release(bits=bits, threads=1).table
        groups = self.plan.query.groups
        keys = 0 if groups is None else len(groups.columns)
        columns, cells = self._numbers(table.select(range(keys, table.num_columns)))
        if self.plan.price.rest:
            alone = Rows(columns=columns)
            own = zip(*(table.column(place).to_pylist() for place in range(keys)), strict=True)
            for key, values in zip(own, zip(*cells, strict=True), strict=True):
                alone[key] = values
            return [alone]
        found = [Rows(columns=columns) for _ in range(self.count)]
        copies, *names = (table.column(place).to_pylist() for place in range(keys))
        named = zip(*names, strict=True) if names else [()] * table.num_rows
        for copy, key, values in zip(copies, named, zip(*cells, strict=True), strict=True):
            found[copy][key] = values
        return found

    def _numbers(self, table: pa.Table) -> tuple[tuple[str, ...], list[list[float]]]:
        """Return names and values of each output, and of its interval the two widths.

        Widths that follow from the plan alone are the same in every run: so nobody looks at them.
        """
        named: dict[str, NDArray[np.float64]] = {}
        for output in self.plan.outputs:
            value, low, high = (
                table.column(f"{output.name}{end}").to_numpy().astype(np.float64)
                for end in ("", "_low", "_high")
            )
            named |= {
                output.name: value,
                f"{output.name} less low": value - low,
                f"{output.name} width": high - low,
            }
        return tuple(named), [values.tolist() for values in named.values()]


def copied(plan: Plan, rows: Sequence[SmallRow], count: int) -> Copies:
    """Return the plan made ready for `count` copies of these rows. No ledger is charged: nobody's data are
    read.

    Raises:  ParameterError: units are of a type of which there are too few.
    """
    query = plan.query
    survey = as_source(
        query.survey, rows, np.tile(np.arange(len(rows)), count), np.repeat(np.arange(count), len(rows))
    )
    if plan.price.rest:
        assert query.groups is not None
        assert count == 1, "everything that was not found is one row for all copies"
        alone = replace(query, survey=survey, groups=replace(query.groups, survey=survey))
        return Copies(replace(plan, query=alone), 1)
    changed = replace(query, survey=survey, groups=_by_copy(query.groups, survey, count))
    return Copies(replace(plan, query=changed), count)


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
    if groups is None:
        keys = pa.table({SERIAL: pa.array(range(count), pa.int64())})
        return Groups(survey, (copies,), 1, False, "drop", 1, keys)
    if groups.keys is None:
        return replace(groups, survey=survey, columns=(copies, *groups.columns))
    each = pa.array(np.repeat(np.arange(count), groups.keys.num_rows), pa.int64())
    repeated = pa.concat_tables([groups.keys] * count)
    keys = pa.table([each, *repeated.columns], names=[SERIAL, *repeated.column_names])
    return replace(groups, survey=survey, columns=(copies, *groups.columns), keys=keys)
