"""The row of everything else: what was not found, as one group, measured after the groups were shown.

| table    | a row for each                     |
|----------|------------------------------------|
| `ROWS`   | row of the source                  |
| `NAMED`  | group that was shown               |
| `UNSHOWN`| row whose group was not shown      |

Proof that the row costs no more than its events, `Price.rest`.
1. What was shown, S, is published: it is the same whoever is in the table. A row belongs to the rest if and
   only if its key is not in S. Keys of which every column is missing are never in S (`Bounding.named`), so
   that no group can be taken for the rest, whose keys are missing.
2. All such rows have one key now, *before* anything is bounded: `bounding` sees one group. In it a unit is
   bounded as in any group: one integer of size at most `bound` (for trees and distinct values, `measures`
   steps 4 and 5), counted in full. In how many unselected groups the unit was does not matter: in 100 of them
   it moves the row by no more than in one.
3. Whatever S is, the column is therefore one entry (a tree: one group's nodes) of which a unit changes at
   most l1 (l2) of `parts.in_one_group`: the sensitivity of its event. The row is always there, with noise,
   also if no row of the source belongs to it.
4. Kinds and scales of this noise were fixed beforehand. Mechanisms that are so dominated, each chosen after
   the outcomes of those before, are dominated by all events together (Zhu, Dong, Wang 2022, theorem 10). What
   was published before is dominated by its own events: noise on the groups that others have, and
   `Selection(b)` for those that are one unit's alone (`selection.sips` step 3, which holds for one threshold
   as for a round; `stages` for chance).

With public parts (`Groups.parts`) there is one such row for each part: its rows are one group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from deniable.engines.engine import Engine
from deniable.query import bounding
from deniable.query.bounding import KEYS, PAIRS, Bounding
from deniable.query.by_value import ROWS
from deniable.query.collect import cut_down, declare, temporary
from deniable.query.parts import in_one_group
from deniable.query.rounding import sql
from deniable.query.sealed import Sealed

if TYPE_CHECKING:
    import pyarrow as pa

NAMED, UNSHOWN = "deniable_named", "deniable_unshown"


def everything_else(
    engine: Engine, question: Bounding, shown: pa.Table, table: str, parts: pa.Table | None = None
) -> Sealed:
    """Return the bounded, un-noised integers of all rows whose group is not among the shown: one row.

    Args:    question: as it was asked, without declared keys. shown: its key columns, as they are published.
             table: where the rows of the source are. parts: a row for each of these (`Groups.parts`).
    Raises:  EngineError: why is private.
    """
    keys = list(question.keys)
    engine.execute(temporary(NAMED, exp.select(*keys).from_(table).limit(0)))
    view = engine.view(shown.rename_columns(keys))
    engine.execute(exp.insert(exp.select(*keys).from_(view), NAMED))
    engine.execute(temporary(UNSHOWN, unshown(keys, table)))
    for used in dict.fromkeys((table, ROWS)):
        engine.execute(f"DROP TABLE {used}")
    engine.execute(f"ALTER TABLE {UNSHOWN} RENAME TO {ROWS}")
    alone = as_one_group(question)
    if parts is not None:
        alone = replace(alone, groups=question.groups[: question.apart], keyed=True)
        _put_in_parts(engine, alone, parts)
    if alone.unit is None:
        answer = bounding.per_row(alone)
        return Sealed(
            engine.stream(bounding.in_full(alone, answer) if alone.keyed else answer, few=True), None
        )
    engine.execute(temporary(PAIRS, bounding.pairs(alone)))
    return cut_down(engine, alone, None)


def unshown(keys: Sequence[str], table: str) -> exp.Select:
    """Return the rows whose key was not shown; a missing value is a key like any other."""
    same = " AND ".join(f"{table}.{key} IS NOT DISTINCT FROM {NAMED}.{key}" for key in keys)
    return exp.select(f"{table}.*").from_(table).join(NAMED, on=same, join_type="anti")


def _put_in_parts(engine: Engine, alone: Bounding, parts: pa.Table) -> None:
    """Give each row the place of its part, as a declared key has one."""
    declare(engine, parts, alone)
    same = [sql(f"{ROWS}.g{i} = {KEYS}.h{i}") for i in range(len(alone.groups))]
    placed = exp.select(f"{ROWS}.*", f"{KEYS}.place").from_(ROWS).join(KEYS, on=exp.and_(*same))
    engine.execute(temporary(UNSHOWN, placed))
    engine.execute(f"DROP TABLE {ROWS}")
    engine.execute(f"ALTER TABLE {UNSHOWN} RENAME TO {ROWS}")


def as_one_group(question: Bounding) -> Bounding:
    """Return the question about all rows of the table together: nobody is in a second group."""
    contributions = in_one_group(question.contributions)
    return replace(question, groups=(), named=False, tabled=True, contributions=contributions)
