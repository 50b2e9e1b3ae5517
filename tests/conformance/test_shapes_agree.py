"""Every shape of question on both engines: un-noised integers are the same to the last one."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from both_engines import answers, saved, searched, table
from spark_session import QUIET, started  # noqa: F401

from deniable.query.measures import Bins, Contributions, Count, Measure, Squares, Total, Tree, Units

pytestmark = QUIET
ONE = 1 << 20
CLASSES = (1, 2, 3, 4, 6, 8, 10, 100)
FINE = Fraction(1, 1 << 10)
REAL = Total("real", 2, FINE, 51_200, -51_200, 51_200)
BASIC: tuple[Measure, ...] = (Units(), Count(None, 2), Count("yes", 3), REAL)
NUMBERS: tuple[Measure, ...] = (
    Total("real", 3, Fraction(8), 3, -100, 100),
    Total("single", 1, FINE, 0, -20_000, 20_000),
    Total("whole", 2, Fraction(1), 0, -100, 100),
    Total("whole", 2, Fraction(1 << 40), 7, -(1 << 22), 1 << 22),
    Total("byte", 2, Fraction(4), 1, -30, 30),
    Total("paid", 2, Fraction(1, 4), 10, -1000, 1000),
    Total("paid", 2, Fraction(1 << 30), 0, -(1 << 23), 1 << 23),
    Total("long", 2, FINE, 5, -(1 << 20), 1 << 20),
    Total("huge", 1, Fraction(1 << 62), 0, -(1 << 24), 1 << 24),
    Total("huge", 1, Fraction(1), 0, -100, 100),
    Total("yes", 2, Fraction(1), 0, 0, 1),
    Total("text", 2, Fraction(1, 2), 0, -10, 300),
    Squares(Total("whole", 2, Fraction(1), 10, -60, 60), 3),
)
TREES: tuple[Measure, ...] = (
    Units(),
    Tree(Total("real", 2, Fraction(1), 0, 0, 200), 15, 2),
    Bins("byte", 2, (Fraction(-100), Fraction(0), Fraction(18), Fraction(131, 2))),
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return saved(tmp_path_factory.mktemp("both") / "rows.parquet", table(600))


def weighted(norm: Any = "l2", most: int = 3, keys: int = 100) -> Contributions:
    return Contributions("weight", norm, most, keys, ONE)


def agree(found: dict[str, Any]) -> Any:
    assert found["spark"] == found["duckdb"]
    return found["spark"]


def test_weighted_groups_of_two_columns(spark: Any, path: str) -> None:
    found, classes = agree(
        answers(
            spark,
            path,
            BASIC,
            unit="person",
            groups=["hue", "year"],
            contributions=weighted(),
            coverage=CLASSES,
        )
    )
    assert len(found) == 32
    assert sum(classes) == 40


def test_groups_by_every_other_type_of_key(spark: Any, path: str) -> None:
    keys = ["real", "single", "yes", "paid", "long", "day", "moment"]
    found, _ = agree(answers(spark, path, [Units()], unit="name", groups=keys, contributions=weighted("l1")))
    assert len(found) > 300


def test_every_type_of_number(spark: Any, path: str) -> None:
    found, _ = agree(answers(spark, path, NUMBERS, unit="person", groups=["yes"], contributions=weighted()))
    assert all(len(set(column)) > 1 for column in zip(*found.values(), strict=True))


def test_totals_without_groups(spark: Any, path: str) -> None:
    dropped = Contributions("drop", "l1", 1, 100, 1)
    agree(answers(spark, path, BASIC, unit="person", groups=[], contributions=dropped, coverage=CLASSES))


def test_declared_keys(spark: Any, path: str) -> None:
    hues = pa.table({"hue": ["nobody", "Red", "blå", "red"], "year": [1, 2023, 2024, -(2**63)]})
    found, _ = agree(
        answers(
            spark, path, BASIC, unit="person", groups=["hue", "year"], contributions=weighted(), keys=hues
        )
    )
    assert list(found) == list(zip(*hues.to_pydict().values(), strict=True))
    assert found["nobody", 1] == (0, 0, 0, 0)


def test_declared_times_of_day(spark: Any, path: str) -> None:
    held = table(600).select(["moment"]).column(0).drop_null().unique()
    keys = pa.table({"moment": held})
    found, _ = agree(
        answers(spark, path, BASIC, unit="person", groups=["moment"], contributions=weighted(), keys=keys)
    )
    assert all(numbers[0] for numbers in found.values())


def test_every_row_a_unit(spark: Any, path: str) -> None:
    rows: list[Measure] = [
        Units(),
        Count(None, None),
        Count("real", None),
        Total("real", None, FINE, 0, 0, 102_400),
    ]
    alone = Contributions("drop", "l1", 1, 1, ONE)
    for groups in ([], ["hue"]):
        agree(answers(spark, path, rows, unit=None, groups=groups, contributions=alone))
    hues = pa.table({"hue": ["red", "nobody"]})
    agree(answers(spark, path, rows, unit=None, groups=["hue"], contributions=alone, keys=hues))


def test_trees_and_bins(spark: Any, path: str) -> None:
    for contributions in (weighted(), Contributions("drop", "l1", 100, 100, 1)):
        agree(answers(spark, path, TREES, unit="person", groups=["hue"], contributions=contributions))
    bins = Bins("byte", None, (Fraction(-100), Fraction(0), Fraction(50)))
    alone = Contributions("drop", "l1", 1, 1, 1)
    agree(answers(spark, path, [Units(), bins], unit=None, groups=["hue"], contributions=alone))
    agree(answers(spark, path, TREES, unit="person", groups=[], contributions=weighted()))


def test_groups_found_in_rounds(spark: Any, path: str) -> None:
    agree(searched(spark, path, (*BASIC, *TREES[1:]), groups=["hue", "year"], contributions=weighted()))


def test_nobody_at_all(spark: Any, tmp_path: Path) -> None:
    path = saved(tmp_path / "none.parquet", table(0))
    for groups in (["hue"], []):
        agree(
            answers(
                spark, path, BASIC, unit="person", groups=groups, contributions=weighted(), coverage=CLASSES
            )
        )
