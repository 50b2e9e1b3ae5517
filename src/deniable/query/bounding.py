"""The SQL that turns private rows into one bounded integer for each group and measure.

| statement   | rows of the result                                                                         |
|-------------|--------------------------------------------------------------------------------------------|
| `rows`      | one for each row that counts; a table of its own where values are told apart               |
| `pairs`     | one for each (unit, group): what the unit has there, as bounded integers. Reads the source. |
| `widths`    | one for each unit: m, the number of its groups                                             |
| `histogram` | one for each m (cut at max_keys): how many units have it                                   |
| `answer`    | one for each group: the sums over units, cut down by weights or by dropping                 |
| `per_row`   | the same where every row is its own unit: straight from the source                          |
| `in_full`   | one for each declared key, absent ones 0                                                   |

What one unit can change, in the order of SQL.
1. `rows`: a row without a unit is dropped; a row whose key is not declared is dropped, if keys are. X is
   made and clamped row by row (`rounding.steps`). A row with a missing value stays: the unit is in the group.
2. `pairs`: by (unit, group), n = rows that have a value, S = sum of X. Counts are cut at R = max_rows. With
   n > R a total is trunc(S R / n). Whatever came before, the last step is a clamp to +-`measure.bound`.
   With S = q n + r truncated, S R / n = q R + r R / n and both terms have the sign of S, so
   trunc(S R / n) = q R + trunc(r R / n) (`_shared`). It fits BIGINT: S is saturated at 2^62 (`_sum`) and n at
   2^62 / R, which changes nothing below 2^31 rows of one unit in one group; so |r R| < n R <= 2^62 and, as
   n >= R, |q R| <= |S|. Where one X can exceed 2^31 the same is done in HUGEINT.
3. `widths`, `_weighted`: m counts the groups of the unit after step 1. More than max_keys: a unit keeps those
   whose salted hash is among its max_keys smallest. In each it counts W[min(m, max_keys)].
   `_dropped`: it keeps those among its k smallest hashes, and counts `one` in each.
   A group is kept if at most k hashes of its unit are not above its own: never more than k, equal hashes or
   not. The choice depends on the unit's own groups and on the salt, not on other units or on the order of
   rows. The salt is hashed together with unit and group, and hashed again: combined last, it would only flip
   bits of one fixed order, and some groups of a unit could never be kept together.
4. `_weighed`, `saturated`: products in BIGINT where the bound fits, else HUGEINT; sums in HUGEINT, which
   2^44 pairs of 2^62 * 2^20 each do not fill. Saturated at +-2^62, which moves two sums no further apart; an
   empty sum is 0.
5. `by_value.beside` adds what rows are told apart by value for: leaves of trees, distinct values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from sqlglot import exp

from deniable.query import by_value, rounding
from deniable.query.by_value import ROWS
from deniable.query.measures import (
    LIMIT,
    Bins,
    Contributions,
    Count,
    Distinct,
    Measure,
    Spread,
    Squares,
    Summed,
    Total,
    Tree,
    Units,
    is_by_value,
)
from deniable.query.rounding import named, saturated, sql

PAIRS, WIDTHS, WEIGHTS, KEYS = "deniable_pairs", "deniable_widths", "deniable_weights", "deniable_keys"
_SHORT = 1 << 31


@dataclass(frozen=True, slots=True)
class Bounding:
    """One question and its bounds: all that the SQL is made from. Public, but for the salt.

    rows: the source. kinds: the DuckDB type of each of its columns. unit: None if every row is its own unit.
    keyed: declared keys are in the table `KEYS`. coded: groups were found and numbered: their numbers depend
    on everybody's rows, so units rank their groups by `code`, a hash of the key, instead.
    tabled: the rows were read into `ROWS` first. named: of these, those whose key is missing in every column
    are left out, the first `apart` columns aside: they name public parts of the table (`Groups.parts`).
    """

    rows: exp.Query
    kinds: Mapping[str, str] = field(repr=False)
    unit: str | None
    groups: tuple[str, ...]
    keyed: bool
    measures: tuple[Measure, ...]
    contributions: Contributions
    salt: str = field(repr=False)
    coded: bool = False
    tabled: bool = False
    named: bool = False
    apart: int = 0

    @property
    def ranked(self) -> tuple[str, ...]:
        """The columns that a unit's groups are ranked by: nobody else may change them."""
        return ("code",) if self.coded else self.keys

    @property
    def keys(self) -> tuple[str, ...]:
        """What a group is called inside: the place of its declared key, or its key columns."""
        return ("place",) if self.keyed else tuple(f"g{i}" for i in range(len(self.groups)))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the answer that hold measures."""
        return tuple(f"m{i}" for i in range(len(self.measures)))


def pairs(question: Bounding) -> exp.Select:
    """Return for each (unit, group) the bounded integer of every measure.

    `Units`, which is 1, has none, nor has `Distinct`: whose values a value is shared with decides there.
    """
    by = ["unit", *question.keys]
    inner = exp.select(*by, *_counted(question)).from_(_source_rows(question)).group_by(*by)
    outer = exp.select(*by).from_(inner.subquery("counted"))
    for place, measure in enumerate(question.measures):
        if not isinstance(measure, Units | Distinct):
            outer = outer.select(named(bounded(place, measure), f"v{place}"))
    return outer


def widths() -> exp.Select:
    """Return m, the number of groups, for each unit."""
    return exp.select("unit", "count(*) AS m").from_(PAIRS).group_by("unit")


def histogram(max_keys: int) -> exp.Select:
    """Return how many units are in m groups, m cut at max_keys."""
    return exp.select(f"least(m, {max_keys}) AS m", "count(*) AS units").from_(WIDTHS).group_by("1")


def answer(question: Bounding) -> exp.Select:
    """Return the keys and the un-noised integers m0, m1, ... of every group that has a unit."""
    match question.contributions.over:
        case _ if not question.groups:
            kept, weighted = exp.select("*").from_(PAIRS), False
        case "drop":
            kept, weighted = _dropped(question), False
        case "weight":
            kept, weighted = _weighted(question), True
        case other:
            assert_never(other)
    sums = {
        place: _weighed(place, measure, question, weighted)
        for place, measure in enumerate(question.measures)
        if not is_by_value(measure)
    }
    alone = _by_group(question, sums, kept.subquery("kept"))
    return by_value.beside(question, alone, kept, "w" if weighted else str(question.contributions.one))


def per_row(question: Bounding) -> exp.Select:
    """Return the same where every row is a unit of its own, in one group: nothing to cut."""
    sums = {}
    for place, measure in enumerate(question.measures):
        if is_by_value(measure):
            continue
        count = _count(place, measure, question)
        total = sql("SUM(:x)", x=exp.column(f"x{place}")) if isinstance(measure, Summed) else count
        sums[place] = sql("CAST(:sum AS HUGEINT) * :one", sum=total, one=question.contributions.one)
    alone = _by_group(question, sums, _source_rows(question))
    return by_value.beside(question, alone, None, str(question.contributions.one))


def declared(names: Sequence[str], kinds: Mapping[str, str], view: str) -> exp.Select:
    """Return the declared keys with their place, and beside each, as h0, h1, ..., how the source writes it.

    A key that the column's type cannot hold is NULL there, so no row equals it.
    """
    keys = exp.select("place").from_(view)
    for i, name in enumerate(names):
        kind = rounding.key_type(kinds[name])
        typed = sql(f"TRY_CAST(:g AS {kind})", g=exp.column(f"g{i}"))
        same = sql("CASE WHEN TRY(:typed = :g) THEN :typed END", typed=typed, g=exp.column(f"g{i}"))
        held = typed if kind == "FLOAT" else same
        keys = keys.select(f"g{i}", named(rounding.key(held, kind), f"h{i}"))
    return keys


def repeated(groups: int) -> exp.Select:
    """Return a row for each key of the engine that is declared twice; if none is, a row joins at most one.

    Grouping and joining compare values alike. Only the table of keys, which is public, is read.
    """
    held = [f"h{i}" for i in range(groups)]
    keys = exp.select("1 AS found").from_(KEYS).where(*(f"{name} IS NOT NULL" for name in held))
    return keys.group_by(*held).having("COUNT(*) > 1")


def in_full(question: Bounding, groups: exp.Select) -> exp.Select:
    """Return every declared key in its order with the integers of `groups`, 0 where that has none."""
    found = exp.select(*(f"{KEYS}.g{i}" for i in range(len(question.groups)))).from_(KEYS)
    for name, measure in zip(question.names, question.measures, strict=True):
        held: exp.Expression = exp.column(name, table="found")
        full = held if isinstance(measure, Spread) else sql("COALESCE(:m, 0)", m=held)
        found = found.select(named(full, name))
    return found.join(groups.subquery("found"), using="place", join_type="left").order_by(f"{KEYS}.place")


def _source_rows(question: Bounding) -> exp.Expression:
    """Return what to select rows from: the source, or the table of rows that was made of it."""
    if not question.tabled:
        return rows(question).subquery("source")
    if not question.named:
        return exp.to_table(ROWS, alias="source")
    known = exp.or_(*(sql(f"{key} IS NOT NULL") for key in question.keys[question.apart :]))
    return exp.select("*").from_(ROWS).where(known).subquery("source")


def rows(question: Bounding) -> exp.Select:
    """Return unit, group and value of every row that counts: step 1."""
    found = exp.select("1 AS present").from_(question.rows.subquery("source"))
    if question.unit is not None:
        unit = rounding.unit(_source(question.unit), question.kinds[question.unit])
        found = found.select(named(unit, "unit")).where(sql(":unit IS NOT NULL", unit=unit))
    keys = [rounding.key(_source(name), question.kinds[name]) for name in question.groups]
    if question.keyed:
        same = [
            sql(":key = :held", key=key, held=exp.column(f"h{i}", table=KEYS)) for i, key in enumerate(keys)
        ]
        found = found.join(KEYS, on=exp.and_(*same)).select(f"{KEYS}.place")
    else:
        found = found.select(*(named(key, f"g{i}") for i, key in enumerate(keys)))
    values = {place: value for place, m in enumerate(question.measures) if (value := _value(m, question))}
    return found.select(*(named(value, f"x{place}") for place, value in values.items()))


def _source(name: str) -> exp.Column:
    return exp.column(name, table="source", quoted=True)


def _value(measure: Measure, question: Bounding) -> exp.Expression | None:
    """Return what a row gives to a measure, NULL if missing; None if nothing of the row is needed."""
    match measure:
        case Total():
            return rounding.steps(_source(measure.column), question.kinds[measure.column], measure)
        case Tree() | Bins():
            return rounding.leaf(_source(measure.column), question.kinds[measure.column], measure)
        case Squares():
            return rounding.squared(_source(measure.column), question.kinds[measure.column], measure)
        case Distinct():
            return rounding.different(_source(measure.column), question.kinds[measure.column])
        case Count() if measure.column is not None and _total_of(measure.column, question) is None:
            return rounding.value(_source(measure.column), question.kinds[measure.column])
        case _:
            return None


def _total_of(column: str, question: Bounding) -> int | None:
    """Return the place of a total of the same column: what is missing there is missing for a count too."""
    for place, measure in enumerate(question.measures):
        if isinstance(measure, Summed) and measure.column == column:
            return place
    return None


def _counted(question: Bounding) -> list[exp.Alias]:
    """Return, for each (unit, group), rows n of every measure and sums s of totals: unbounded as yet."""
    found = []
    for place, measure in enumerate(question.measures):
        if not isinstance(measure, Units | Distinct):
            found.append(named(_count(place, measure, question), f"n{place}"))
        if isinstance(measure, Summed):
            found.append(named(_sum(place, measure), f"s{place}"))
    return found


def summed(number: exp.Expression, largest: int) -> exp.Expression:
    """Return SUM(number). No number is beyond +-largest: an engine without wide integers can add in parts."""
    total = sql("SUM(:number)", number=number)
    total.meta["largest"] = largest
    return total


def _sum(place: int, measure: Summed) -> exp.Expression:
    largest = max(abs(measure.low), abs(measure.high))
    total = sql("COALESCE(:sum, 0)", sum=summed(exp.column(f"x{place}"), largest))
    if largest > _SHORT:
        return total
    return sql(f"CAST(GREATEST({-LIMIT}, LEAST({LIMIT}, :total)) AS BIGINT)", total=total)


def _count(place: int, measure: Measure, question: Bounding) -> exp.Expression:
    match measure:
        case Units() | Count(column=None):
            return sql("COUNT(*)")
        case Count():
            assert measure.column is not None
            total = _total_of(measure.column, question)
            return sql("COUNT(:x)", x=exp.column(f"x{place if total is None else total}"))
        case Total() | Squares() | Tree() | Bins() | Distinct():
            return sql("COUNT(:x)", x=exp.column(f"x{place}"))
        case other:
            assert_never(other)


def bounded(place: int, measure: Count | Summed | Spread) -> exp.Expression:
    """Return the integer of (unit, group), in the shortest type that holds its bound: step 2.

    For a tree it is the number of rows, as yet unbounded: `leaves` needs it.
    """
    if isinstance(measure, Spread):
        return exp.column(f"n{place}")
    rows = measure.max_rows
    assert rows is not None
    n, s = exp.column(f"n{place}"), exp.column(f"s{place}")
    match measure:
        case Count():
            number = sql("LEAST(:n, :rows)", n=n, rows=rows)
        case Total() | Squares():
            number = sql(
                f"GREATEST({-measure.bound}, LEAST({measure.bound}, :shared))", shared=_shared(n, s, rows)
            )
        case other:
            assert_never(other)
    return exp.cast(number, "INT" if measure.bound < _SHORT else "BIGINT")


def _shared(n: exp.Expression, s: exp.Expression, rows: int) -> exp.Expression:
    """Return trunc(S R / n) where n > R, elsewhere S."""
    shared = "(:s // :most) * :rows + ((:s % :most) * :rows) // :most"
    most = sql(f"LEAST(:n, {LIMIT // rows})", n=n)
    return sql(f"CASE WHEN :n > :rows THEN {shared} ELSE :s END", n=n, s=s, rows=rows, most=most)


def salted(keys: Sequence[str], salt: str) -> str:
    """Return the hash that ranks the groups of a unit; all are SQL."""
    return f"HASH(HASH({', '.join(keys)}, unit, {salt}))"


def among_least(hashed: str, most: int) -> str:
    """Return the condition that at most `most` hashes of the unit are not above this one: step 3."""
    frame = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    return f"COUNT(*) OVER (PARTITION BY unit ORDER BY {hashed} {frame}) <= {most}"


def kept(question: Bounding, most: int) -> str:
    """Return the condition that a group is among `most` of its unit, by its own groups and the salt."""
    return among_least(salted(question.ranked, f"'{question.salt}'"), most)


def _dropped(question: Bounding) -> exp.Select:
    return exp.select("*").from_(PAIRS).qualify(kept(question, question.contributions.groups))


def _weighted(question: Bounding) -> exp.Select:
    """Return pairs with the weight w of their unit; only units of more than max_keys groups are ranked."""
    most = question.contributions.max_keys
    few = exp.select(f"{PAIRS}.*", "m").from_(PAIRS).join(WIDTHS, using="unit").where(f"m <= {most}")
    many = exp.select(f"{PAIRS}.*", f"{most} AS m").from_(PAIRS).join(WIDTHS, using="unit")
    many = many.where(f"{WIDTHS}.m > {most}").qualify(kept(question, most))
    return exp.select("*").from_(few.union(many, distinct=False).subquery("kept")).join(WEIGHTS, using="m")


def _weighed(place: int, measure: Measure, question: Bounding, weighted: bool) -> exp.Expression:
    """Return the sum over units of weight times integer."""
    one, v = question.contributions.one, exp.column(f"v{place}")
    match measure, weighted:
        case Units(), True:
            return summed(exp.column("w"), one)
        case Units(), False:
            return sql("CAST(COUNT(*) AS HUGEINT) * :one", one=one)
        case _, False:
            return sql(":sum * :one", sum=summed(v, measure.bound), one=one)
        case _:
            wide = "BIGINT" if measure.bound * one < LIMIT else "HUGEINT"
            return summed(sql(f"CAST(:v AS {wide}) * w", v=v), measure.bound * one)


def _by_group(question: Bounding, sums: Mapping[int, exp.Expression], kept: exp.Expression) -> exp.Select:
    found = exp.select(*question.keys).from_(kept)
    if not question.keys and not sums:
        found = found.select("COUNT(*) AS present")
    for place, number in sums.items():
        found = found.select(named(saturated(number), question.names[place]))
    return found.group_by(*question.keys) if question.groups else found
