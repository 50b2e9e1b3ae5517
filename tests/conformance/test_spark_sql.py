"""Spark's SQL, shape by shape, against snapshots that a reader can check. No Java is needed.

DENIABLE_WRITE_SNAPSHOTS=1 pytest tests/conformance/test_spark_sql.py   writes them anew; read the difference.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from sqlglot import exp

from deniable.errors import ExpressionError, SourceError
from deniable.query import bounding, rounds
from deniable.query.bounding import Bounding
from deniable.query.dialects.offered import check
from deniable.query.dialects.spark import written
from deniable.query.expressions import parse_condition, parse_value
from deniable.query.measures import Bins, Contributions, Count, Squares, Total, Tree, Units
from deniable.query.schema import Column, Schema, Type
from deniable.query.sources.spark import from_spark

if TYPE_CHECKING:
    from deniable.engines.engine import Engine

SNAPSHOTS = Path(__file__).parent / "snapshots"
KINDS = {
    "person": "BIGINT",
    "hue": "VARCHAR",
    "year": "BIGINT",
    "spend": "DOUBLE",
    "age": "BIGINT",
    "paid": "DECIMAL(18,2)",
    "free": "VARCHAR",
}
SCHEMA = Schema(
    (
        Column("age", Type.INTEGER),
        Column("hue", Type.TEXT),
        Column("spend", Type.REAL),
        Column("at", Type.TIMESTAMP),
    )
)
FINE = Fraction(1, 1 << 10)
MEASURES = (Units(), Count(None, 2), Count("spend", 2), Total("spend", 2, FINE, 51_200, -51_200, 51_200))
NUMBERS = (
    Total("age", 1, Fraction(1), 0, 0, 120),
    Total("age", 3, Fraction(8), 0, 0, 15),
    Total("paid", 1, FINE, 0, 0, 102_400),
    Total("free", 1, FINE, 0, 0, 102_400),
    Squares(Total("age", 2, Fraction(1), 60, -60, 60), 3),
)
WEIGHTED = Bounding(
    rows=exp.select(*(exp.column(name, quoted=True) for name in KINDS)).from_("survey"),
    kinds=KINDS,
    unit="person",
    groups=("hue", "year"),
    keyed=False,
    measures=MEASURES,
    contributions=Contributions("weight", "l2", 3, 100, 1 << 20),
    salt="0123456789abcdef0123456789abcdef",
)
DROPPED = replace(WEIGHTED, groups=("hue",), contributions=replace(WEIGHTED.contributions, over="drop"))
TREES = (
    Units(),
    Tree(Total("spend", 2, FINE, 0, 0, 200), 15, 2),
    Bins("age", 2, (Fraction(0), Fraction(18))),
)


def shapes() -> dict[str, list[exp.Expression]]:
    keyed = replace(DROPPED, keyed=True)
    return {
        "weights": [
            bounding.pairs(WEIGHTED),
            bounding.widths(),
            bounding.histogram(100),
            bounding.answer(WEIGHTED),
        ],
        "dropping": [bounding.pairs(DROPPED), bounding.answer(DROPPED)],
        "declared_keys": [
            bounding.declared(["hue"], KINDS, "listed"),
            bounding.repeated(1),
            bounding.in_full(keyed, bounding.answer(keyed)),
        ],
        "trees": [
            bounding.rows(replace(DROPPED, measures=TREES)),
            bounding.answer(replace(DROPPED, measures=TREES)),
        ],
        "numbers": [bounding.pairs(replace(WEIGHTED, groups=(), measures=NUMBERS))],
        "rounds": [
            rounds.found(WEIGHTED.keys),
            rounds.numbered(WEIGHTED),
            rounds.rest(rounds.NUMBERED),
            rounds.widths(rounds.REST, 100),
            rounds.counts(WEIGHTED, rounds.REST),
            rounds.shown(WEIGHTED.keys),
            rounds.of_shown(),
        ],
        "expressions": [
            exp.select(parse_value(text, SCHEMA, argument="x").tree)
            for text in (
                "age + 1",
                "age // age",
                "age % 7",
                "spend / age",
                "round(spend, 2)",
                "floor(spend)",
                "hue LIKE '50!%'",
                "hue || '{$}'",
                "CAST(hue AS integer)",
                "CAST(spend AS integer)",
                "date_trunc('hour', at)",
                "date_trunc('month', at)",
            )
        ],
    }


@pytest.mark.parametrize("shape", shapes())
def test_the_sql_for_spark_is_what_was_read_and_agreed(shape: str) -> None:
    text = ";\n\n".join(written(tree, pretty=True) for tree in shapes()[shape]) + "\n"
    path = SNAPSHOTS / f"{shape}.sql"
    if os.environ.get("DENIABLE_WRITE_SNAPSHOTS") == "1":
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


def test_every_snapshot_for_spark_has_a_shape() -> None:
    assert {path.stem for path in SNAPSHOTS.glob("*.sql")} == set(shapes())


@pytest.mark.parametrize("shape", shapes())
def test_nothing_in_the_sql_is_random_or_could_raise(shape: str) -> None:
    for tree in shapes()[shape]:
        text = written(tree).upper()
        for word in ("RAND", "UUID", "MONOTONICALLY", "SAMPLE", "FIRST(", "ANY_VALUE", "CURRENT_"):
            assert word not in text.replace("CURRENT ROW", "")
        casts = re.findall(r"(?<!TRY_)CAST\((X'[0-9A-F]*')?", text)
        assert all(casts), "a cast of anything but literal bytes must be TRY_CAST"
        assert "OVER ()" not in text


@pytest.mark.parametrize(
    "text",
    [
        "regexp_matches(hue, 'r+')",
        "substring(hue, -2) = 'ed'",
        "CAST(spend AS text) = '1'",
        "strptime(hue, '%Y') IS NULL",
    ],
)
def test_what_has_no_exact_form_for_spark_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match="on Spark"):
        check(parse_condition(text, SCHEMA, argument="where"), "where")


class Named:
    """A frame that only tells its columns, and what it is asked for."""

    def __init__(self, **kinds: str) -> None:
        self.schema = self
        self.fields = [
            SimpleNamespace(name=n, dataType=SimpleNamespace(simpleString=lambda k=k: k))
            for n, k in kinds.items()
        ]
        self.isStreaming, self.sparkSession = False, SimpleNamespace(version="4.0.0")
        self.asked: list[str] = []

    def toDF(self, *names: str) -> Named:
        assert names == tuple(f"c{place}" for place in range(len(self.fields)))
        return self

    def selectExpr(self, *texts: str) -> Named:
        self.asked = list(texts)
        return self


def test_a_frame_is_asked_for_bytes_that_are_text_and_for_times_in_utc() -> None:
    frame = Named(
        who="bigint", hue="string collate UTF8_LCASE", at="timestamp", plain="string", **{"o`dd": "int"}
    )
    source = from_spark(frame, {})
    engine = SimpleNamespace(run=lambda work: work(), view=lambda held: "held")
    source.rows(cast("Engine", engine), ["at", "hue", "o`dd", "plain"])
    assert frame.asked == [
        "try_validate_utf8(CAST(c1 AS STRING) COLLATE UTF8_BINARY) AS `hue`",
        "timestampadd(MICROSECOND, unix_micros(c2), TIMESTAMP_NTZ '1970-01-01 00:00:00') AS `at`",
        "try_validate_utf8(c3) AS `plain`",
        "c4 AS `deniable_6f606464`",
    ]


def test_old_spark_is_refused() -> None:
    frame = Named(who="bigint")
    frame.sparkSession.version = "3.5.1"
    with pytest.raises(SourceError, match="older than Spark 4"):
        from_spark(frame, {})


def test_a_node_without_a_form_is_refused() -> None:
    with pytest.raises(TypeError, match="Lateral has no form for Spark"):
        written(exp.Lateral(this=exp.column("x")))


def test_conditions_keep_their_names_and_braces_are_those_of_tables_alone() -> None:
    condition = parse_condition("hue = '{hue}' AND age > 1", SCHEMA, argument="where")
    tree = exp.select("1").from_("listed").where(condition.tree)
    assert re.findall(r"\{[^}]*\}", written(tree)) == ["{listed}"]
