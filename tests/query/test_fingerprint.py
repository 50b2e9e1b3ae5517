"""The hash of what was published: the same after Parquet, another for any other number."""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dn
from deniable.events import DiscreteLaplace
from deniable.query.automatic import Choice
from deniable.query.fingerprint import fingerprint

WHEN = datetime(2026, 2, 3, 4, 5, 6)
COLUMNS: dict[str, pa.Array] = {
    "text": pa.array(["red", None, "", "gr\u00fcn"]),
    "long text": pa.array(["red", None, "", "b"], pa.large_string()),
    "a dictionary": pa.array(["red", None, "red", "b"]).dictionary_encode(),
    "small": pa.array([1, None, -128, 127], pa.int8()),
    "large": pa.array([1, None, 2**64 - 1, 0], pa.uint64()),
    "huge": pa.array([Decimal(10**30), None, Decimal(-1), Decimal(0)], pa.decimal128(38, 0)),
    "real": pa.array([0.1, None, -0.0, 1e300]),
    "short real": pa.array([0.5, None, -0.0, 3.0], pa.float32()),
    "flag": pa.array([True, None, False, True]),
    "day": pa.array([date(2026, 1, 2), None, date(1, 1, 1), date(9999, 12, 31)]),
    **{
        f"time {unit}": pa.array([WHEN, None, WHEN, WHEN.replace(year=1970)], pa.timestamp(unit))
        for unit in ("s", "ms", "us", "ns")
    },
    "zoned": pa.array([WHEN.replace(tzinfo=UTC), None, None, None], pa.timestamp("us", "UTC")),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_it_is_the_same_after_parquet_and_in_other_pieces(name: str, tmp_path: Path) -> None:
    table = pa.table({name: COLUMNS[name], "n": pa.array([1, 2, 3, 4])})
    known = fingerprint(table, None, ())
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    assert fingerprint(pyarrow.parquet.read_table(tmp_path / "t.parquet"), None, ()) == known
    pieces = pa.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1)])
    assert fingerprint(pieces, None, ()) == known


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("place", [0, 1, 3])
def test_another_value_has_another(name: str, place: int) -> None:
    values = COLUMNS[name].to_pylist()
    changed: list[Any] = [*values[:place], values[2] if place == 1 else None, *values[place + 1 :]]
    if changed == values:
        changed[place] = values[0]
    kind = COLUMNS[name].type
    before = fingerprint(pa.table({name: COLUMNS[name]}), None, ())
    assert fingerprint(pa.table({name: pa.array(changed, kind)}), None, ()) != before


def test_what_was_found_and_had_no_room_is_told_apart() -> None:
    noise = DiscreteLaplace(scale=1, sensitivity=1)
    ends = tuple(map(Fraction, (1, 2, 4)))
    wanted: list[tuple[Fraction, ...] | None] = [None, (Fraction(2),), (Fraction(4),)]
    choices = [Choice("max_rows", None, ends, noise, (Fraction(1),), False, most) for most in wanted]
    assert len({fingerprint(pa.table({"a": [1]}), None, [choice]) for choice in choices}) == 3


def test_what_is_told_apart() -> None:
    def of(histogram: Any = None, **columns: list[Any]) -> str:
        return fingerprint(pa.table(columns), histogram, ())

    different = [
        of(a=["ab", "c"]),
        of(a=["a", "bc"]),
        of(a=["c", "ab"]),
        of(b=["ab", "c"]),
        of(a=["ab", None]),
        of(a=["ab", ""]),
        of(a=[1, 2]),
        of(a=[1.0, 2.0]),
        of(a=[True, False]),
        of(a=["1", "2"]),
        of(a=[1], b=[2]),
        of(b=[2], a=[1]),
        of(a=[]),
        of(a=["ab", "c"], histogram=(1, 2)),
        of(a=["ab", "c"], histogram=(1, 3)),
    ]
    assert len(set(different)) == len(different)


def test_it_is_what_the_table_in_its_docstring_says() -> None:
    """Written anew here, byte by byte, for one text and one column of whole numbers."""
    beside = b'{"chosen": [], "groups of a unit": null, "rows": 2}'
    words = [b"k", b"text", b"\0\1", struct.pack("<qq", 3, 0), b"red"]
    numbers = [b"n", b"integer", b"\0\0", struct.pack("<qq", -5, 7)]
    hashed = sha256(b"".join(struct.pack("<q", len(part)) + part for part in (beside, *words, *numbers)))
    assert fingerprint(pa.table({"k": ["red", None], "n": [-5, 7]}), None, ()) == hashed.hexdigest()


def test_bounds_that_were_chosen_are_part_of_it() -> None:
    table = pa.table({"person": list(range(300)), "spend": [float(i % 50) for i in range(300)]})
    asked = dn.protect(table, unit="person").aggregate(s=dn.sum("spend", bounds="auto", max_rows=1))
    plan = asked.release(epsilon=50).plan
    [choice] = plan.choices
    assert choice.chosen is not None
    other = (
        type(choice)(choice.argument, choice.column, choice.ends, choice.event, (choice.ends[0],), True),
    )
    numbers = pa.table({"s": [1.0]})
    assert len({fingerprint(numbers, None, chosen) for chosen in ((), (choice,), other)}) == 3
