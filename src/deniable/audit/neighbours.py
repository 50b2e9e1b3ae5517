"""Pairs of neighbouring tables for a query: a small crowd, and the same with all rows of one more unit.

| case                  | the unit that is added                                                         |
|-----------------------|--------------------------------------------------------------------------------|
| one more              | one row in a group that is there                                               |
| a group of one        | one row in a group that nobody else is in                                      |
| heavy, high / low     | far more rows than count, at the largest (smallest) value that counts          |
| beyond the bounds     | as many rows with values far outside the bounds                                |
| many new groups       | a row in each of many groups that nobody else is in                            |
| many known groups     | a row in each of many groups that are there                                    |
| missing values        | many rows without a value                                                      |
| NaN and infinities    | many rows with what is no number                                               |
| garbled text          | many rows with text that is no number                                          |
| many values           | as many rows, each with a value of its own, where values are told apart        |
| missing keys          | many rows whose group is missing                                               |
| into nothing          | one row, in a table that is otherwise empty                                    |
| rows of nobody        | many rows without a unit: nobody's, so they must change nothing                |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from deniable.audit.copies import UNIT_SPACING
from deniable.audit.pools import Ground, Row, ground, nth
from deniable.errors import ParameterError
from deniable.query.schema import Column, Type

if TYPE_CHECKING:
    from deniable.query.question import Query

_KNOWN = 2
_HEAVY = 7
_MOST_GROUPS = 64
_MOST_KNOWN = 24
_BEYOND = {Type.INTEGER: 2**63 - 1, Type.REAL: 1e300, Type.DECIMAL: 10**18, Type.TEXT: "1e300"}
_GARBLED = ("abc", "1e999", "9e18 microseconds", "", "NaN", "-inf", "0x10", "1,000", "=1+1")

Rows = list[Row]


@dataclass(frozen=True, slots=True)
class Case:
    """Two neighbouring tables: `crowd`, and crowd plus `unit`. Units are numbers below 2**12, or None."""

    name: str
    crowd: Sequence[Mapping[str, object]]
    unit: Sequence[Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class _Builder:
    """What the cases of one query are made of."""

    query: Query
    ground: Ground
    people: int

    @property
    def rows_of_a_unit(self) -> int:
        """How many rows a heavy unit has: far more than count, but one if each row is a unit."""
        if self.query.survey.unit is None:
            return 1
        asked = [aggregate for _, aggregate in self.query.outputs]
        most = max((aggregate.max_rows or aggregate.max_values or 1 for aggregate in asked), default=1)
        return min(4 * most + _HEAVY, UNIT_SPACING)

    @property
    def known(self) -> list[Row]:
        """Rows of far more groups than one unit may have in full."""
        groups = self.query.groups
        most = 1 if groups is None else min(4 * groups.max_groups + 4, _MOST_KNOWN)
        return list(self.ground.groups.values())[:most]

    @property
    def new(self) -> list[Row]:
        """Rows of groups that the crowd is not in."""
        return list(self.ground.groups.values())[_KNOWN:] or list(self.ground.groups.values())

    def of(self, unit: int | None, rows: Sequence[Row], **values: object) -> Rows:
        """Return the rows as rows of one unit, with some values replaced."""
        name = self.query.survey.unit
        owner = {} if name is None else {name: unit}
        return [{**row, **values, **owner} for row in rows]

    def crowd(self, rows: Sequence[Row]) -> Rows:
        """Return enough units in each of these groups that it is shown, each unit in one group only."""
        each = min(self.people, (UNIT_SPACING - 1) // max(1, len(rows)))
        placed = [
            (row, place * each + number + 1) for place, row in enumerate(rows) for number in range(each)
        ]
        return [row for one, unit in placed for row in self.of(unit, [one])]

    def heavy(self, **values: object) -> Rows:
        """Return far too many rows of the added unit in a known group."""
        return self.of(0, self.known[:1] * self.rows_of_a_unit, **values)

    def measured(self, *kinds: Type) -> list[Column]:
        """Return the columns of these types that are summed or counted."""
        return [column for column in self.ground.measured if column.type in kinds]

    def numbers(self, value: int) -> dict[str, object]:
        """Return this value for every measured column, in its type."""
        return {column.name: _as(column.type, value) for column in self.measured(*_BEYOND)}

    def different(self) -> Rows:
        """Return far too many rows of the added unit in a known group, no two with the same value."""
        columns = self.measured(*Type)
        turned = [
            {column.name: nth(column.type, 1000 + place) for column in columns}
            for place in range(self.rows_of_a_unit)
        ]
        return [row for change in turned for row in self.of(0, self.known[:1], **change)]

    def beyond(self) -> dict[str, object]:
        """Return for every measured column a value far beyond any bounds."""
        return {column.name: _BEYOND[column.type] for column in self.measured(*_BEYOND)}


def _as(kind: Type, value: int) -> object:
    if kind is Type.TEXT:
        return str(value)
    return float(value) if kind is Type.REAL else value


def cases(query: Query, *, people: int = 2) -> list[Case]:
    """Return neighbouring tables that try what may go wrong in a query.

    people: units of the crowd in each group; enough to pass the threshold, so that there is something to see.
    Raises:  ParameterError: no row could be made that passes the conditions of the query.
    """
    found = ground(query, _MOST_GROUPS)
    if found is None:
        fix = "Give tables of your own: cases=[Case(name, crowd, unit)]."
        raise ParameterError("query", query, "has conditions that no row we tried passes", fix)
    build = _Builder(query, found, people)
    makers: tuple[Callable[[_Builder], Iterator[Case]], ...] = (_sizes, _groups, _values, _owners)
    return [case for maker in makers for case in maker(build)]


def _sizes(build: _Builder) -> Iterator[Case]:
    crowd = build.crowd(build.known[:_KNOWN])
    yield Case("one more", crowd, build.of(0, build.known[:1]))
    bounds = [end for _, aggregate in build.query.outputs for end in aggregate.bounds or ()]
    if bounds:
        yield Case("heavy, high", crowd, build.heavy(**build.numbers(int(max(bounds)))))
        yield Case("heavy, low", crowd, build.heavy(**build.numbers(int(min(bounds)))))
        yield Case("beyond the bounds", crowd, build.heavy(**build.beyond()))
    elif build.rows_of_a_unit > 1:
        yield Case("heavy, high", crowd, build.heavy())


def _groups(build: _Builder) -> Iterator[Case]:
    if build.query.groups is None:
        return
    crowd = build.crowd(build.known[:_KNOWN])
    yield Case("a group of one", crowd, build.of(0, build.new[:1]))
    if build.query.survey.unit is not None:
        yield Case("many new groups", crowd, build.of(0, build.new))
        bounds = [end for _, aggregate in build.query.outputs for end in aggregate.bounds or ()]
        most = build.numbers(int(max(bounds, key=abs))) if bounds else {}
        many = build.known * build.rows_of_a_unit
        yield Case("many known groups", build.crowd(build.known), build.of(0, many, **most))
    keys = [column.name for column in build.query.groups.columns]
    missing = {name: None for name in keys if name in build.ground.usual}
    if missing:
        yield Case("missing keys", crowd, build.heavy(**missing))


def _values(build: _Builder) -> Iterator[Case]:
    crowd = build.crowd(build.known[:_KNOWN])
    if build.ground.measured:
        yield Case("missing values", crowd, build.heavy(**{c.name: None for c in build.ground.measured}))
    reals = build.measured(Type.REAL)
    if reals:
        odd = [float("nan"), float("inf"), float("-inf"), 1e308]
        yield Case("NaN and infinities", crowd, _each(build, reals, odd))
    if any(aggregate.kind == "distinct" for _, aggregate in build.query.outputs):
        yield Case("many values", crowd, build.different())
    texts = build.measured(Type.TEXT)
    if texts:
        yield Case("garbled text", crowd, _each(build, texts, _GARBLED))


def _owners(build: _Builder) -> Iterator[Case]:
    yield Case("into nothing", [], build.of(0, build.known[:1]))
    if build.query.survey.unit is not None:
        yield Case(
            "rows of nobody", build.crowd(build.known[:_KNOWN]), build.of(None, build.known[:1] * _HEAVY)
        )


def _each(build: _Builder, columns: Sequence[Column], values: Sequence[object]) -> Rows:
    """Return rows of the added unit with each value in turn (one row if each row is a unit)."""
    turned = [{column.name: value for column in columns} for value in values]
    most = 1 if build.query.survey.unit is None else len(turned)
    return [row for change in islice(turned, most) for row in build.of(0, build.known[:1], **change)]
