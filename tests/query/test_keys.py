"""Declared keys: one row is in one group at most, whatever the keys looked like when they were given."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from naive_bounding import ask, opened

import deniable as dn
from deniable.bits import SeededBits
from deniable.engines.duckdb import DuckDB
from deniable.errors import ParameterError
from deniable.query.measures import Contributions, Units

NOON = pd.Timestamp("2024-02-29 12:00:00")
COLUMNS: dict[str, pa.Array] = {
    "real": pa.array([float(2**53), 0.1, 0.0]),
    "single": pa.array([0.1, 0.25, 0.0], pa.float32()),
    "decimal": pa.array([Decimal("1.50"), Decimal(0), None], pa.decimal128(5, 2)),
    "time": pa.array([NOON.to_pydatetime(), None, None], pa.timestamp("us")),
    "whole": pa.array([2**63 + 5, 1, None], pa.uint64()),
    "small": pa.array([1, 2, None], pa.int8()),
    "text": pa.array(["a", "b", None]),
    "good": pa.array([True, False, None]),
}


class Sly(str):
    """Text that says that it differs from everything."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return id(self)


def grouped(column: str, keys: object) -> Any:
    return dn.protect(pa.table(COLUMNS), unit=dn.ROW).group_by(column, keys=keys)


@pytest.mark.parametrize(
    ("column", "keys"),
    [
        ("real", [2**53, 2**53 + 1]),
        ("real", [0.1, Fraction(1, 10)]),
        ("real", [0.1, np.longdouble("0.1")]),
        ("real", [0.0, -0.0]),
        ("real", [0, np.float32(-0.0)]),
        ("real", [0.0, 5e-324 * Fraction(1, 4)]),
        ("single", [0.1, float(np.float32(0.1))]),
        ("single", [np.float32(0.1), Fraction(1, 10)]),
        ("decimal", [Decimal("1.5"), Decimal("1.50")]),
        ("decimal", [Decimal("1E+2"), 100]),
        ("decimal", [Decimal("-0.00"), 0]),
        ("time", [NOON, NOON + pd.Timedelta(1, "ns")]),
        ("time", [NOON, NOON.to_pydatetime().replace(fold=1)]),
        ("text", ["a", np.str_("a")]),
        ("text", [Sly("a"), Sly("a")]),
        ("good", [True, np.bool_(True)]),
        ("whole", [2**63 + 5, np.uint64(2**63 + 5)]),
    ],
)
def test_two_keys_that_one_row_would_equal_are_refused(column: str, keys: list[object]) -> None:
    for given in (keys, [*keys, keys[0]]):
        with pytest.raises(ParameterError, match="must not be given twice"):
            grouped(column, given)
    assert grouped(column, keys[:1]).keys.num_rows == 1


@pytest.mark.parametrize(
    ("column", "key"),
    [
        ("decimal", Decimal("1e37")),
        ("decimal", Decimal(10) ** 40),
        ("decimal", Decimal("1e-50")),
        ("decimal", Decimal("0.001")),
        ("decimal", 1000),
        ("decimal", 10**4000),
        ("decimal", Decimal("sNaN")),
        ("real", Fraction(10**400)),
        ("real", 10**400),
        ("real", float("inf")),
        ("real", np.float32("nan")),
        ("single", 0.1 + 1e-12),
        ("single", 1e300),
        ("whole", 10**38),
        ("small", 2**63),
        ("time", pd.NaT),
        ("text", pd.NA),
        ("good", 1),
    ],
)
def test_a_key_that_no_row_can_equal_is_refused(column: str, key: object) -> None:
    with pytest.raises(ParameterError) as caught:
        grouped(column, [key])
    assert caught.value.argument == "keys"


@pytest.mark.parametrize(
    ("column", "keys", "counts"),
    [
        ("whole", [2**63 + 5, 1, 7], [1, 1, 0]),
        ("single", [0.1, 0.25, 7], [1, 1, 0]),
        ("decimal", [Decimal("1.500"), 0, Decimal("-999.99")], [1, 1, 0]),
        ("time", [NOON, dt.datetime(1, 1, 1)], [1, 0]),
        ("small", [1, 10_000], [1, 0]),
        ("good", [np.bool_(True)], [1]),
    ],
)
def test_the_rows_of_a_key_are_those_that_hold_it(column: str, keys: list[object], counts: list[int]) -> None:
    release = grouped(column, keys).aggregate(n=dn.count()).release(epsilon=1000, bits=bits())
    assert release.table.column("n").to_pylist() == counts
    published = release.table.column(column)
    assert published[0].as_py() == (np.float32(0.1) if column == "single" else keys[0])


def bits() -> SeededBits:
    return SeededBits(1, insecure=True)


@pytest.mark.parametrize("keys", [[Decimal("1e36"), Decimal("0.1")], [Decimal("1e-36"), Decimal(10)]])
def test_keys_of_a_derived_decimal_are_tried_without_a_failure(keys: list[Decimal]) -> None:
    """The engine's type of a derived column is not known when it is grouped by."""
    survey = dn.protect(pa.table(COLUMNS), unit=dn.ROW).derive(again="decimal")
    release = survey.group_by("again", keys=keys).aggregate(n=dn.count()).release(epsilon=1000, bits=bits())
    assert release.table.column("n").to_pylist() == [0, 0]
    with pytest.raises(ParameterError, match="more digits"):
        survey.group_by("again", keys=[Decimal("1e30"), Decimal("1e-30")])


@pytest.mark.parametrize(
    ("held", "given"),
    [
        (pa.array([0.1], pa.float32()), pa.array([0.1, float(np.float32(0.1))], pa.float64())),
        (pa.array([0.0]), pa.array([0.0, -0.0])),
        (pa.array(["a"]), pa.array(["a", "a"])),
    ],
)
@pytest.mark.parametrize("unit", ["person", None])
def test_the_engine_refuses_keys_that_are_equal_to_it_before_it_reads_a_row(
    held: pa.Array, given: pa.Array, unit: str | None
) -> None:
    class Unread:
        """Rows that tell when they are read."""

        column_names = ("person", "key")

        def __arrow_c_schema__(self) -> object:
            return table.schema.__arrow_c_schema__()

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            def batches() -> Iterator[pa.RecordBatch]:
                read.append("a private row")
                yield from table.to_batches()

            return pa.RecordBatchReader.from_batches(table.schema, batches()).__arrow_c_stream__()

    read: list[str] = []
    table = pa.table({"person": ["p"], "key": held})
    contributions = Contributions("drop", "l1", 1, 1, 1)
    with DuckDB(threads=1) as engine:
        question: dict[str, Any] = {
            "unit": unit, "groups": ["key"], "measures": [Units()], "contributions": contributions,
        }  # fmt: skip
        with pytest.raises(ParameterError, match="must differ where their columns hold them"):
            ask(engine, Unread(), **question, keys=pa.table({"key": given}))
        assert not read
        assert opened(ask(engine, table, **question, keys=pa.table({"key": held})), 1) == {
            tuple(held.to_pylist()): (1,)
        }
