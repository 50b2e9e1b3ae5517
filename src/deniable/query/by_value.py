"""What rows are told apart by value for, in SQL: the leaves of trees, and different values.

Beside the integers of each group come, for every such measure,

| measure      | column                                                                                     |
|--------------|--------------------------------------------------------------------------------------------|
| tree or bins | a list of (leaf, number): what all units count in the leaf                                 |
| distinct     | one integer: over the values, the sum of the largest weight among the units that have it   |

What one unit can change; `measures` adds it up over groups.
1. Leaves. c rows of the n that the unit has in the group count w * c, or floor(w * R * c / n) where n > R: in
   HUGEINT, and at most w * R in all leaves together (`_of_pairs`).
2. Values. Of a unit's different values in a group those are kept whose salted hash is among its
   `max_values` smallest: never more than so many, equal hashes or not (`bounding.among_least`). The hash is
   of value, unit and salt: nobody else's rows decide. The same value of another unit is ranked by a hash of
   its own: units choose differently, so that together they keep more values. The largest weight of a value,
   MAX, rises by at most w when a unit of weight w is added (`_of_values`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from deniable.query.measures import Bins, Distinct, Tree, is_by_value
from deniable.query.rounding import named, saturated, sql

if TYPE_CHECKING:
    from deniable.query.bounding import Bounding

ROWS = "deniable_rows"


def beside(question: Bounding, alone: exp.Select, kept: exp.Select | None, weight: str) -> exp.Select:
    """Return the rows of `alone` with one more column for every measure that tells values apart.

    kept: the pairs that count, None if every row is its own unit. weight: SQL, what each pair counts as.
    """
    if not any(map(is_by_value, question.measures)):
        return alone
    found = exp.select(*(f"alone.{key}" for key in question.keys)).from_(alone.subquery("alone"))
    for place, measure in enumerate(question.measures):
        name = question.names[place]
        match measure:
            case Tree() | Bins():
                shares = (
                    _of_rows(place, question, weight)
                    if kept is None
                    else _of_pairs(place, kept, question, weight)
                )
                more = _listed(name, shares, question)
                held: exp.Expression = exp.column(name, table=f"l{place}")
            case Distinct():
                more = _different(name, _of_values(place, measure, kept, question, weight), question)
                held = named(sql("COALESCE(:m, 0)", m=exp.column(name, table=f"l{place}")), name)
            case _:
                found = found.select(f"alone.{name}")
                continue
        on = _same_keys("alone", f"l{place}", question.keys)
        found = found.select(held).join(more.subquery(f"l{place}"), on=on, join_type="left")
    return found


def _of_rows(place: int, question: Bounding, weight: str) -> exp.Select:
    counted = exp.select(*question.keys, f"x{place} AS leaf", f"CAST({weight} AS HUGEINT) AS number")
    return counted.from_(ROWS).where(f"x{place} IS NOT NULL")


def _of_pairs(place: int, kept: exp.Select, question: Bounding, weight: str) -> exp.Select:
    """Return what each unit counts in each leaf of each group."""
    rows = question.measures[place].bound
    by = ["unit", *question.keys, f"x{place}"]
    counted = exp.select(*by, "COUNT(*) AS c").from_(ROWS).where(f"x{place} IS NOT NULL").group_by(*by)
    whole = f"CAST({weight} AS HUGEINT)"
    share = f"({whole} * {rows} * c) // v{place}"
    number = f"CASE WHEN v{place} > {rows} THEN {share} ELSE {whole} * c END"
    found = exp.select(
        *(f"kept.{key}" for key in question.keys), f"x{place} AS leaf", named(sql(number), "number")
    )
    on = _same_keys("kept", "counted", ("unit", *question.keys))
    return found.from_(kept.subquery("kept")).join(counted.subquery("counted"), on=on)


def _listed(name: str, shares: exp.Select, question: Bounding) -> exp.Select:
    by = [*question.keys, "leaf"]
    number = named(saturated(sql("SUM(number)")), "number")
    summed = exp.select(*by, number).from_(shares.subquery("shares")).group_by(*by)
    pairs = named(sql("LIST(STRUCT_PACK(leaf := leaf, number := number))"), name)
    found = exp.select(*question.keys, pairs).from_(summed.subquery("summed"))
    return found.group_by(*question.keys) if question.keys else found


def _same_keys(left: str, right: str, keys: Sequence[str]) -> str:
    return " AND ".join(f"{left}.{key} IS NOT DISTINCT FROM {right}.{key}" for key in keys) or "TRUE"


def _of_values(
    place: int, measure: Distinct, kept: exp.Select | None, question: Bounding, weight: str
) -> exp.Select:
    """Return for each value in each group what it counts: the largest weight of the units that keep it."""
    number = f"MAX({weight}) AS number"
    if kept is None:
        found = exp.select(*question.keys, f"x{place} AS value", number).from_(ROWS)
        return found.where(f"x{place} IS NOT NULL").group_by(*question.keys, f"x{place}")
    by = ["unit", *question.keys]
    values = exp.select(*by, f"x{place} AS value").distinct().from_(ROWS).where(f"x{place} IS NOT NULL")
    chosen = exp.select("*").from_(values.subquery("held"))
    chosen = chosen.qualify(_among_least_values(by, question.salt, measure.bound))
    keys = [f"kept.{key}" for key in question.keys]
    found = exp.select(*keys, "value", number).from_(kept.subquery("kept"))
    found = found.join(chosen.subquery("chosen"), on=_same_keys("kept", "chosen", by))
    return found.group_by(*keys, "value")


def _among_least_values(by: Sequence[str], salt: str, most: int) -> str:
    """Return the condition that at most `most` hashes of the unit's values there are not above this one."""
    frame = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    hashed = f"HASH(HASH(value, unit, '{salt}'))"
    return f"COUNT(*) OVER (PARTITION BY {', '.join(by)} ORDER BY {hashed} {frame}) <= {most}"


def _different(name: str, values: exp.Select, question: Bounding) -> exp.Select:
    total = named(saturated(sql("SUM(number)")), name)
    found = exp.select(*question.keys, total).from_(values.subquery("valued"))
    return found.group_by(*question.keys) if question.keys else found
