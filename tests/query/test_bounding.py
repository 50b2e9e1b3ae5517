"""The bounding SQL, shape by shape, against snapshots that a reader can check.

DENIABLE_WRITE_SNAPSHOTS=1 pytest tests/query/test_bounding.py   writes them anew; read the difference.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Literal

import pytest
import sqlglot
from sqlglot import exp

from deniable import events
from deniable.query import bounding, rest
from deniable.query.automatic import Choice
from deniable.query.bounding import Bounding
from deniable.query.measures import Bins, Contributions, Count, Distinct, Measure, Squares, Total, Tree, Units
from deniable.query.tallies import tally

SNAPSHOTS = Path(__file__).parent / "snapshots"
KINDS = {
    "person": "BIGINT",
    "hue": "VARCHAR",
    "year": "BIGINT",
    "spend": "DOUBLE",
    "age": "BIGINT",
    "paid": "DECIMAL(18,2)",
    "free": "VARCHAR",
    "weight": "DOUBLE",
}
FINE, COARSE = Fraction(1, 1 << 10), Fraction(8)
MEASURES: tuple[Measure, ...] = (
    Units(),
    Count(None, 2),
    Count("spend", 2),
    Total("spend", 2, FINE, 51_200, -51_200, 51_200),
)
NUMBERS: tuple[Measure, ...] = (
    Total("age", 1, Fraction(1), 0, 0, 120),
    Total("age", 3, COARSE, 0, 0, 15),
    Total("paid", 1, FINE, 0, 0, 102_400),
    Total("free", 1, FINE, 0, 0, 102_400),
    Total("spend", 1, Fraction(1), 0, 0, 1 << 40),
    Squares(Total("age", 2, Fraction(1), 60, -60, 60), 3),
)

TREE = Tree(Total("spend", 2, FINE, 0, 0, 200), 15, 2)
BINS = Bins("age", None, (Fraction(0), Fraction(18), Fraction(131, 2)))


def question(
    over: Literal["weight", "drop"], groups: Sequence[str], measures: Sequence[Measure] = MEASURES
) -> Bounding:
    return Bounding(
        rows=exp.select(*(exp.column(name, quoted=True) for name in KINDS)).from_("survey"),
        kinds=KINDS,
        unit="person",
        groups=tuple(groups),
        keyed=False,
        measures=tuple(measures),
        contributions=Contributions(over, "l2", 3, 100, 1 << 20),
        salt="0123456789abcdef0123456789abcdef",
    )


def rows_alone(asked: Bounding) -> Bounding:
    counted = tuple(
        replace(measure, max_rows=None) if isinstance(measure, Count | Total) else measure
        for measure in asked.measures
    )
    return replace(asked, unit=None, measures=counted)


def shapes() -> dict[str, list[exp.Expression]]:
    found = question("weight", ["hue", "year"])
    dropped = question("drop", ["hue"])
    total = question("weight", [])
    declared = replace(dropped, keyed=True)
    row, named_row = rows_alone(dropped), replace(rows_alone(dropped), keyed=True)
    tall = replace(dropped, tabled=True, measures=(Units(), TREE))
    unshown = replace(found, tabled=True, named=True)
    different = replace(found, tabled=True, measures=(Units(), Distinct("spend", 3)))
    different_rows = replace(row, tabled=True, measures=(Count(None, None), Distinct("free", None)))
    binned = replace(named_row, tabled=True, measures=(Count(None, None), BINS))
    keys = bounding.declared(["hue"], KINDS, "listed")
    return {
        "weights": [
            bounding.pairs(found),
            bounding.widths(),
            bounding.histogram(100),
            bounding.answer(found),
        ],
        "dropping": [bounding.pairs(dropped), bounding.answer(dropped)],
        "no_groups": [bounding.pairs(total), bounding.answer(total)],
        "declared_keys": [
            keys,
            bounding.repeated(1),
            bounding.pairs(declared),
            bounding.in_full(declared, bounding.answer(declared)),
        ],
        "rows": [bounding.per_row(row)],
        "rows_no_groups": [bounding.per_row(rows_alone(total))],
        "rows_declared_keys": [bounding.in_full(named_row, bounding.per_row(named_row))],
        "tree": [bounding.rows(tall), bounding.pairs(tall), bounding.answer(tall)],
        "tree_weighted": [
            bounding.rows(tall),
            bounding.answer(replace(tall, contributions=found.contributions)),
        ],
        "distinct": [bounding.rows(different), bounding.pairs(different), bounding.answer(different)],
        "distinct_per_row": [bounding.rows(different_rows), bounding.per_row(different_rows)],
        "rest": [
            bounding.rows(unshown),
            bounding.pairs(unshown),
            rest.unshown(unshown.keys, "deniable_rows"),
            bounding.pairs(rest.as_one_group(unshown)),
            bounding.answer(rest.as_one_group(unshown)),
        ],
        "chosen": [
            bounding.rows(
                replace(found, measures=(Units(), Units(), Bins("spend", None, choice("bounds").ends)))
            ),
            *(tally(choice("max_groups"), 0, found.keys, per_row=False),),
            *(tally(choice("max_rows"), 1, found.keys, per_row=False),),
            *(tally(choice("bounds"), 2, found.keys, per_row=alone) for alone in (False, True)),
        ],
        "bins_per_row": [bounding.rows(binned), bounding.in_full(binned, bounding.per_row(binned))],
        "numbers": [bounding.pairs(question("weight", [], NUMBERS))],
        "real_keys": [
            bounding.pairs(question("weight", ["weight"], [Units()])),
            bounding.declared(["weight"], KINDS, "listed"),
        ],
    }


def choice(argument: Literal["max_groups", "max_rows", "bounds"]) -> Choice:
    """A choice of few classes."""
    ends = (Fraction(-1), Fraction(0), Fraction(2)) if argument == "bounds" else (Fraction(1), Fraction(4))
    column = "spend" if argument == "bounds" else None
    return Choice(argument, column, ends, events.DiscreteLaplace(scale=30, sensitivity=1))


@pytest.mark.parametrize("shape", shapes())
def test_the_sql_is_what_was_read_and_agreed(shape: str) -> None:
    written = ";\n\n".join(tree.sql(dialect="duckdb", pretty=True) for tree in shapes()[shape]) + "\n"
    path = SNAPSHOTS / f"{shape}.sql"
    if os.environ.get("DENIABLE_WRITE_SNAPSHOTS") == "1":
        path.write_text(written, "utf-8")
    assert written == path.read_text("utf-8")


def test_every_snapshot_has_a_shape() -> None:
    assert {path.stem for path in SNAPSHOTS.glob("*.sql")} == set(shapes())


@pytest.mark.parametrize("shape", shapes())
def test_the_source_is_read_once(shape: str) -> None:
    reads = [
        table for tree in shapes()[shape] for table in tree.find_all(exp.Table) if table.name == "survey"
    ]
    assert len(reads) == 1


@pytest.mark.parametrize("shape", shapes())
def test_the_sql_holds_no_randomness_and_no_engine_picks_rows(shape: str) -> None:
    for tree in shapes()[shape]:
        written = tree.sql(dialect="duckdb").upper()
        for word in (
            "RANDOM",
            "UUID",
            "LIMIT ",
            "SAMPLE",
            "ROW_NUMBER",
            "ANY_VALUE",
            "FIRST(",
            "ARG_M",
            "MIN_BY",
        ):
            assert word not in written
        assert sqlglot.parse_one(written, dialect="duckdb") is not None
