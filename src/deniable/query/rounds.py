"""Find groups in rounds on an engine, then measure those that were found.

| table      | a row for each          | columns                                                            |
|------------|-------------------------|--------------------------------------------------------------------|
| `FOUND`    | group in the data       | place (its number), code (a hash of its key), g0, g1, ...          |
| `NUMBERED` | (unit, group)           | unit, place, then the bounded integers v0, v1, ... of `bounding`   |
| `SHOWN`    | group that was shown    | place                                                              |
| `REST`     | (unit, group) not shown | unit, place                                                        |
| `ALL`      | row of the source       | what `ROWS` held, where the rest is asked for too                  |
| `PLACED`   | row of a shown group    | place, and the row; where values are told apart: it replaces `ROWS`|
| `WIDTHS`   | unit, in one round      | m, the number of its groups in `REST`; w, what it counts in each   |

The source is read once (`Search`). Keys become whole numbers, so that rounds compare numbers.

What one unit can change, in the order of SQL; noise and thresholds are proved in `selection.sips`.
1. `numbered`: nothing is added or lost: each (unit, group) finds the one number of its key. The numbers
   depend on all rows, and nothing but equality is asked of them.
2. `rest` leaves out the groups that were shown before: public, and the same whoever is in the table.
3. `widths`, `counts`: m is the number of groups that the unit still has. With m <= max_keys it counts
   weights[m] in each. With more, it counts weights[max_keys] in those whose salted hash is among its
   max_keys smallest, ranked by `code`, which the key alone decides. So what a unit counts depends on its own
   groups, the salt and what was shown; and its counts are at most sqrt(m weights[m]^2) long.
4. `measured`: only groups that were shown are left of each unit, then `bounding.answer` cuts it down as
   always. Every group that was shown has a row in the end, of 0 if nobody counts there: whether somebody does
   is told by noisy numbers alone.
A unit has no row in `WIDTHS` if nothing of it is left: it counts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from deniable.engines.engine import Engine
from deniable.query import bounding
from deniable.query.bounding import KEYS, PAIRS, WEIGHTS, WIDTHS, Bounding
from deniable.query.by_value import ROWS
from deniable.query.collect import cut_down, read, temporary, weighed
from deniable.query.measures import Distinct, Units, is_by_value
from deniable.query.rounding import saturated, sql
from deniable.query.sealed import Sealed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOUND, NUMBERED, SHOWN, REST = "deniable_found", "deniable_numbered", "deniable_shown", "deniable_rest"

PLACED, ALL = "deniable_placed", "deniable_all_rows"

_NUMBER = "UINTEGER"


class Search:
    """The groups of one question while they are looked for. Counts leave it sealed.

    Args:    question: without declared keys; it is read from its rows here, once.
    Raises:  EngineError: why is private.
    """

    def __init__(self, engine: Engine, question: Bounding) -> None:
        self._engine, self._question = engine, question
        read(engine, question)
        engine.execute(temporary(PAIRS, bounding.pairs(question)))
        engine.execute(temporary(FOUND, found(question.keys)))
        engine.execute(temporary(NUMBERED, numbered(question)))
        engine.execute(f"DROP TABLE {PAIRS}")
        engine.execute(temporary(SHOWN, exp.select(f"CAST(NULL AS {_NUMBER}) AS place").limit(0)))
        self._rest, self._shown = NUMBERED, False

    @property
    def table(self) -> str:
        """Where all rows of the source are, once `measured` was asked, if the rest is wanted."""
        return ALL if any(map(is_by_value, self._question.measures)) else ROWS

    def counts(self, weights: Sequence[int]) -> Sealed:
        """Return for each group that was not shown yet and that a unit counts in: place, weighted count m0.

        weights: weights[m] is what a unit with m groups counts in each, m = 0 .. max_keys.
        """
        if self._shown:
            self._engine.execute(temporary(REST, rest(self._rest)))
            self._rest = REST
        self._engine.execute(weighed(self._engine, weights))
        self._engine.execute(temporary(WIDTHS, widths(self._rest, self._question.contributions.max_keys)))
        return Sealed(self._engine.stream(counts(self._question, self._rest)), None)

    def show(self, places: NDArray[np.int64]) -> None:
        """Take the groups with these numbers as shown: they are left out from now on, until `measured`."""
        import pyarrow as pa

        view = self._engine.view(pa.table({"place": pa.array(places, pa.int64())}))
        self._engine.execute(exp.insert(exp.select("place").from_(view), SHOWN))
        self._shown = True

    def measured(self, coverage: Sequence[int] | None) -> Sealed:
        """Return the bounded, un-noised integers of every group that was shown; see `collect`."""
        question = replace(self._question, keyed=True, coded=True)
        self._engine.execute(temporary(KEYS, shown(self._question.keys)))
        self._engine.execute(temporary(PAIRS, of_shown()))
        if any(map(is_by_value, question.measures)):
            self._engine.execute(temporary(PLACED, rows_of_shown(self._question.keys)))
            self._engine.execute(
                f"ALTER TABLE {ROWS} RENAME TO {ALL}" if question.named else f"DROP TABLE {ROWS}"
            )
            self._engine.execute(f"ALTER TABLE {PLACED} RENAME TO {ROWS}")
            question = replace(question, named=False)
        return cut_down(self._engine, question, coverage)


def found(keys: Sequence[str]) -> exp.Select:
    """Return the groups in `PAIRS`, numbered."""
    distinct = exp.select(*keys).distinct().from_(PAIRS)
    code = f"HASH({', '.join(keys)}) AS code"
    return exp.select(f"CAST(ROW_NUMBER() OVER () AS {_NUMBER}) AS place", code, *keys).from_(
        distinct.subquery("distinct_keys")
    )


def numbered(question: Bounding) -> exp.Select:
    """Return `PAIRS` with the number of the group in place of its key; a NULL is a key like any other."""
    same = [sql(f"{PAIRS}.{key} IS NOT DISTINCT FROM {FOUND}.{key}") for key in question.keys]
    values = [
        f"v{i}" for i, measure in enumerate(question.measures) if not isinstance(measure, Units | Distinct)
    ]
    pairs = exp.select("unit", "place", *values).from_(PAIRS)
    return pairs.join(FOUND, on=exp.and_(*same))


def rest(pairs: str) -> exp.Select:
    """Return unit and place of the pairs whose group was not shown."""
    return exp.select("unit", "place").from_(pairs).join(SHOWN, using="place", join_type="anti")


def widths(pairs: str, max_keys: int) -> exp.Select:
    """Return m, the number of groups, and w, the weight in each, for each unit."""
    m = exp.select("unit", "COUNT(*) AS m").from_(pairs).group_by("unit").subquery("counted")
    table = exp.select("unit", "counted.m", "w").from_(m)
    return table.join(WEIGHTS, on=sql(f"{WEIGHTS}.m = LEAST(counted.m, {max_keys})"))


def counts(question: Bounding, pairs: str) -> exp.Select:
    """Return the sum of weights over the units of each group; only units with too many groups rank them."""
    most = question.contributions.max_keys
    both = exp.select("place", "w").from_(pairs).join(WIDTHS, using="unit")
    few = both.where(f"m <= {most}")
    ranked = replace(question, keyed=True, coded=True)
    many = both.join(FOUND, using="place").where(f"m > {most}").qualify(bounding.kept(ranked, most))
    counted = exp.select("place").from_(few.union(many, distinct=False).subquery("kept"))
    return counted.select(exp.alias_(saturated(sql("SUM(w)")), "m0")).group_by("place")


def shown(keys: Sequence[str]) -> exp.Select:
    """Return the groups that were shown, as declared keys are: `KEYS`."""
    return exp.select("place", "code", *keys).from_(FOUND).join(SHOWN, using="place")


def of_shown() -> exp.Select:
    """Return the pairs of groups that were shown, with the code that they are ranked by."""
    return exp.select(f"{NUMBERED}.*", "code").from_(NUMBERED).join(KEYS, using="place")


def rows_of_shown(keys: Sequence[str]) -> exp.Select:
    """Return the rows of groups that were shown, with the number of their group."""
    same = [sql(f"{ROWS}.{key} IS NOT DISTINCT FROM {KEYS}.{key}") for key in keys]
    return exp.select(f"{ROWS}.*", "place").from_(ROWS).join(KEYS, on=exp.and_(*same))
