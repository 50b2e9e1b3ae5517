"""The histograms that bounds are chosen from, in SQL: what one unit adds is ONE in all (`automatic`).

The source is read into `ROWS`, once for all of them. Numbers leave sealed: (class, number).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from deniable.bits import Bits
from deniable.engines.engine import Engine
from deniable.query import bounding
from deniable.query.automatic import ONE, Choice
from deniable.query.by_value import ROWS
from deniable.query.collect import asked, declare, temporary
from deniable.query.measures import Bins, Contributions, Units
from deniable.query.rounding import named, saturated, sql
from deniable.query.sealed import Sealed

if TYPE_CHECKING:
    import pyarrow as pa


def tallies(
    engine: Engine,
    rows: exp.Query,
    choices: Sequence[Choice],
    *,
    unit: str | None,
    groups: Sequence[str],
    keys: pa.Table | None,
    bits: Bits,
) -> Iterator[Sealed]:
    """Yield the exact histogram of each choice, in their order; read each before the next.

    Raises:  ParameterError: judged from types, before data are read. EngineError: why is private.
    """
    measures = [
        Bins(choice.column, None, choice.ends) if choice.column is not None else Units() for choice in choices
    ]
    question = asked(
        engine,
        rows,
        unit=unit,
        groups=groups,
        keyed=keys is not None,
        measures=measures,
        contributions=Contributions("drop", "l1", 1, 1, ONE),
        bits=bits,
        rest=False,
    )
    if keys is not None:
        declare(engine, keys, question)
    engine.execute(temporary(ROWS, bounding.rows(question)))
    for place, choice in enumerate(choices):
        yield Sealed(engine.stream(tally(choice, place, question.keys, per_row=unit is None), few=True), None)
    engine.execute(f"DROP TABLE {ROWS}")


def tally(choice: Choice, place: int, keys: Sequence[str], *, per_row: bool) -> exp.Select:
    """Return (class, number) of one choice; classes that nobody is in are missing."""
    match choice.argument:
        case "bounds":
            weighed = _weights(place, per_row=per_row)
        case "max_groups":
            each = exp.select("unit", *keys).distinct().from_(ROWS).subquery("pairs")
            most = exp.select("unit", "COUNT(*) AS m").from_(each).group_by("unit")
            weighed = _classed(choice, most)
        case _:
            each = exp.select("unit", "COUNT(*) AS n").from_(ROWS).group_by("unit", *keys).subquery("pairs")
            most = exp.select("unit", "MAX(n) AS m").from_(each).group_by("unit")
            weighed = _classed(choice, most)
    number = named(saturated(sql("SUM(number)")), "number")
    return exp.select("class", number).from_(weighed.subquery("weighed")).group_by("class")


def _classed(choice: Choice, most: exp.Select) -> exp.Select:
    """Return a row for each unit: the class of its m, and ONE."""
    *ends, _ = choice.ends
    cases = " ".join(f"WHEN m <= {int(end)} THEN {place}" for place, end in enumerate(ends))
    place = named(sql(f"CASE {cases} ELSE {len(ends)} END" if ends else "0"), "class")
    return exp.select(place, f"CAST({ONE} AS HUGEINT) AS number").from_(most.subquery("most"))


def _weights(place: int, *, per_row: bool) -> exp.Select:
    """Return for each unit and class floor(ONE * c / n): c of its n values are there."""
    leaf = f"x{place} AS class"
    if per_row:
        found = exp.select(leaf, f"CAST({ONE} AS HUGEINT) AS number").from_(ROWS)
        return found.where(f"x{place} IS NOT NULL")
    counted = exp.select("unit", leaf, "COUNT(*) AS c").from_(ROWS).where(f"x{place} IS NOT NULL")
    counted = counted.group_by("unit", f"x{place}")
    all_values = exp.select("unit", f"COUNT(x{place}) AS n").from_(ROWS).group_by("unit")
    number = named(sql(f"(CAST({ONE} AS HUGEINT) * c) // n"), "number")
    both = exp.select("class", number).from_(counted.subquery("counted"))
    return both.join(all_values.subquery("all_values"), using="unit")
