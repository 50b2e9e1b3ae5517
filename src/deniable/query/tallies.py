"""The histograms that bounds are chosen from, in SQL: what one unit adds is ONE in all (`automatic`).

The source is read into `ROWS`, once for all of them. Numbers leave sealed: (class, number), after the name
of the part where there are public parts (`Groups.parts`): a histogram for each, a unit being in one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from deniable.bits import Bits
from deniable.engines.engine import Engine
from deniable.query import bounding
from deniable.query.automatic import Choice
from deniable.query.bounding import KEYS
from deniable.query.by_value import ROWS
from deniable.query.charged import ONE
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
    parts: int = 0,
) -> Iterator[Sealed]:
    """Yield the exact histogram of each choice, in their order; read each before the next.

    parts: how many of the key columns name a public part.
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
    part = [f"g{i}" for i in range(parts)]
    read = bounding.rows(question)
    engine.execute(temporary(ROWS, _with_parts(read, part) if part and keys is not None else read))
    for place, choice in enumerate(choices):
        counted = tally(choice, place, question.keys, part, per_row=unit is None)
        yield Sealed(engine.stream(counted, few=True), None)
    engine.execute(f"DROP TABLE {ROWS}")


def _with_parts(rows: exp.Select, part: Sequence[str]) -> exp.Select:
    """Return the rows with the part that their declared key is in."""
    names = (f"{KEYS}.{name}" for name in part)
    return exp.select("read.*", *names).from_(rows.subquery("read")).join(KEYS, using="place")


def tally(
    choice: Choice, place: int, keys: Sequence[str], part: Sequence[str] = (), *, per_row: bool
) -> exp.Select:
    """Return (class, number) of one choice, of each part; classes that nobody is in are missing."""
    owner, keys = ["unit", *part], [key for key in keys if key not in part]
    match choice.argument:
        case "bounds":
            weighed = _weights(place, part, per_row=per_row)
        case "max_groups":
            each = exp.select(*owner, *keys).distinct().from_(ROWS).subquery("pairs")
            most = exp.select(*owner, "COUNT(*) AS m").from_(each).group_by(*owner)
            weighed = _classed(choice, most, part)
        case _:
            each = exp.select(*owner, "COUNT(*) AS n").from_(ROWS).group_by(*owner, *keys).subquery("pairs")
            most = exp.select(*owner, "MAX(n) AS m").from_(each).group_by(*owner)
            weighed = _classed(choice, most, part)
    number = named(saturated(sql("SUM(number)")), "number")
    return exp.select(*part, "class", number).from_(weighed.subquery("weighed")).group_by(*part, "class")


def _classed(choice: Choice, most: exp.Select, part: Sequence[str]) -> exp.Select:
    """Return a row for each unit: the class of its m, and ONE."""
    *ends, _ = choice.ends
    cases = " ".join(f"WHEN m <= {int(end)} THEN {place}" for place, end in enumerate(ends))
    place = named(sql(f"CASE {cases} ELSE {len(ends)} END" if ends else "0"), "class")
    return exp.select(*part, place, f"CAST({ONE} AS HUGEINT) AS number").from_(most.subquery("most"))


def _weights(place: int, part: Sequence[str], *, per_row: bool) -> exp.Select:
    """Return for each unit and class floor(ONE * c / n): c of its n values are there."""
    leaf = f"x{place} AS class"
    if per_row:
        found = exp.select(*part, leaf, f"CAST({ONE} AS HUGEINT) AS number").from_(ROWS)
        return found.where(f"x{place} IS NOT NULL")
    counted = exp.select("unit", *part, leaf, "COUNT(*) AS c").from_(ROWS).where(f"x{place} IS NOT NULL")
    counted = counted.group_by("unit", *part, f"x{place}")
    all_values = exp.select("unit", f"COUNT(x{place}) AS n").from_(ROWS).group_by("unit")
    number = named(sql(f"(CAST({ONE} AS HUGEINT) * c) // n"), "number")
    both = exp.select(*part, "class", number).from_(counted.subquery("counted"))
    return both.join(all_values.subquery("all_values"), using="unit")
