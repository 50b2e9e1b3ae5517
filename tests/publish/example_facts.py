"""The survey of favourite colours as its plan and release would hand it over."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from deniable.guarantees import ApproxDP, Neighbours
from deniable.publish.facts import ColumnFacts, Coverage, Facts, LedgerFacts, Table

PEOPLE = ColumnFacts(
    name="people",
    kind="units",
    column=None,
    max_rows=None,
    bounds=None,
    noise="laplace",
    scale=Fraction(10, 11),
    error="3",
)
SPEND = replace(
    PEOPLE,
    name="spend",
    kind="sum",
    column="spend",
    max_rows=2,
    bounds=(Fraction(0), Fraction(100)),
    error="300",
)
AVERAGE = replace(SPEND, name="average", kind="mean", error=None)
SURVEY = Facts(
    unit="person",
    guarantee=ApproxDP(epsilon="ln 3", delta="1e-7"),
    neighbours=Neighbours.ADD_OR_REMOVE,
    population=1_000_000,
    source="colours.csv",
    keys="unknown",
    max_groups=1,
    max_keys=100,
    over="drop",
    columns=(PEOPLE,),
    confidence=Fraction(95, 100),
    threshold=Fraction(16),
    version="0.1.0",
    groups=("hue",),
    steps=("where age >= 18", "hue = lower(trim(colour))"),
    coverage=Coverage(share="about 96 %", would=((2, "about 99 %"),)),
    assumed=("The columns of colours.csv and their types.",),
    ledger=LedgerFacts(label="survey.ledger", remaining="epsilon 2, delta 9e-8", head="4f1c"),
    purpose="weekly report",
    when="2026-03-01",
)
TOTAL = replace(
    SURVEY, keys="none", max_groups=None, max_keys=None, over=None, threshold=None, groups=(), coverage=None
)
HOSTILE = [
    "blue",
    None,
    "NULL",
    "",
    "<script>alert(1)</script>",
    "\x1b[31mred\nred",
    "青色",
    "אדום",
    "x" * 500,
    "'\"><img src=x onerror=alert(2)>",
    "{{ 7 * 7 }}",
]


def table(keys: list[object], *names: str, unit: int | Fraction = 1) -> Table:
    """A table of those keys with falling values and intervals of +-3, in multiples of `unit`."""
    columns: list[list[object]] = [keys]
    headings = ["hue"]
    for name in names:
        values = [1000 * (len(keys) - place) for place in range(len(keys))]
        for suffix, shift in (("", 0), ("_low", -3), ("_high", 3)):
            headings.append(name + suffix)
            columns.append([in_units(value + shift, unit) for value in values])
    return Table(tuple(headings), tuple(columns))


def in_units(value: int, unit: int | Fraction) -> int | float:
    return value * unit if isinstance(unit, int) else float(value * unit)
