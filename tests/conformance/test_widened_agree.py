"""Different values, the row of everything else, and joined public tables: the same on both engines."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from both_engines import answers, engine, numbers, saved, sources, table
from spark_session import QUIET, started  # noqa: F401

import deniable as dn
from deniable.bits import SeededBits
from deniable.query.automatic import Choice, edges, ends_of
from deniable.query.by_value import ROWS
from deniable.query.collect import answered, asked
from deniable.query.measures import Bins, Contributions, Count, Distinct, Measure, Total, Units
from deniable.query.rest import everything_else
from deniable.query.tallies import tallies

pytestmark = QUIET
ONE = 1 << 20
NOISE = dn.events.DiscreteLaplace(scale=30 * ONE, sensitivity=ONE)
WEIGHTED = Contributions("weight", "l2", 3, 100, ONE)
COLUMNS = ("hue", "real", "single", "whole", "paid", "yes", "text", "day", "moment")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return saved(tmp_path_factory.mktemp("widened") / "rows.parquet", table(600))


def test_different_values_of_every_type(spark: Any, path: str) -> None:
    measures: list[Measure] = [Units(), *(Distinct(column, 999) for column in COLUMNS)]
    found = answers(spark, path, measures, unit="person", groups=["year"], contributions=WEIGHTED)
    assert found["spark"] == found["duckdb"]
    alone = Contributions("drop", "l1", 1, 1, 1)
    rows: list[Measure] = [Distinct(column, None) for column in COLUMNS]
    found = answers(spark, path, rows, unit=None, groups=["hue"], contributions=alone)
    assert found["spark"] == found["duckdb"]


def test_of_many_values_so_many_count(spark: Any, path: str) -> None:
    alone = Contributions("drop", "l1", 1, 1, 1)
    found = answers(spark, path, [Distinct("whole", 1)], unit="person", groups=[], contributions=alone)
    for (answer, _), people in zip(found.values(), (40, 40), strict=True):
        assert 1 < answer[()][0] <= people


def test_everything_that_is_not_shown(spark: Any, path: str) -> None:
    measures: list[Measure] = [
        Units(),
        Count("text", 3),
        Total("real", 2, Fraction(1, 4), 7, -1000, 1000),
        Distinct("whole", 999),
        Bins("byte", 2, (Fraction(-100), Fraction(0), Fraction(50))),
    ]
    found = {}
    for name, source in sources(spark, path).items():
        with engine(name, spark) as opened:
            question = asked(
                opened,
                source.rows(opened, ["person", "hue", "year", "text", "real", "whole", "byte"]),
                unit="person",
                groups=["hue", "year"],
                keyed=False,
                measures=measures,
                contributions=WEIGHTED,
                bits=SeededBits(1, insecure=True),
                rest=True,
            )
            named = numbers(answered(opened, question, None, None), 2)
            assert (None, None) not in named
            shown = pa.table({"g0": ["red", None, "blå"], "g1": pa.array([2023, 2024, None], pa.int64())})
            found[name] = numbers(everything_else(opened, question, shown, ROWS), 0)
    assert found["spark"] == found["duckdb"]


def test_histograms_that_bounds_are_chosen_from(spark: Any, path: str) -> None:
    choices = [
        Choice("max_groups", None, ends_of("max_groups", 20), NOISE),
        Choice("max_rows", None, ends_of("max_rows", 20), NOISE),
        Choice("bounds", "real", edges(), NOISE),
    ]
    found = {}
    for name, source in sources(spark, path).items():
        with engine(name, spark) as opened:
            sealed = tallies(
                opened,
                source.rows(opened, ["person", "hue", "year", "real"]),
                choices,
                unit="person",
                groups=["hue", "year"],
                keys=None,
                bits=SeededBits(1, insecure=True),
            )
            found[name] = [numbers(one, 1) for one in sealed]
    assert found["spark"] == found["duckdb"]
    assert all(found["spark"])


@pytest.mark.parametrize("key", ["hue", "whole", "yes", "day", "moment"])
def test_a_public_table_beside_each_row(spark: Any, path: str, key: str) -> None:
    values = pa.compute.unique(table(600).column(key).drop_null())
    public = pa.table(
        {key: values, "place": range(len(values)), "size": [f"ä{i}" for i in range(len(values))]}
    )
    released = {}
    for name, source in {"duckdb": path, "spark": spark.read.parquet(path)}.items():
        survey = dn.protect(source, unit="person").join(public, on=key)
        grouped = survey.group_by("size", max_groups=3, over="weight", keys=[f"ä{i}" for i in range(3)])
        query = grouped.aggregate(n=dn.units(), s=dn.sum("place", bounds=(0, 9), max_rows=2))
        found = query.release(epsilon=10**6, bits=SeededBits(1, insecure=True)).table
        released[name] = found.select(["size", "n", "s"]).to_pylist()
    assert released["spark"] == released["duckdb"]
