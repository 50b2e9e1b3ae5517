"""The encoder: declared domains, and one public rule for everything that is not in them."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import ParameterError

SMALL = {"age": (0, 100), "colour": ["red", "green", "blue"], "kids": [0, 1]}


class Hostile(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError


class HostileInt(int):
    def __float__(self) -> float:
        raise RuntimeError


class Closed:
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError


class Masked:
    @property
    def __class__(self) -> Any:
        raise RuntimeError

    @__class__.setter
    def __class__(self, kind: Any) -> None:
        raise RuntimeError


class Colliding:
    """A key that has the hash of a declared name, and cannot be compared."""

    def __init__(self, name: str) -> None:
        self._hash = hash(name)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        raise RuntimeError


class Meta(type):
    def __hash__(cls) -> int:
        raise RuntimeError


class Unruly(metaclass=Meta):
    pass


class Record(dict[Any, Any]):
    def items(self) -> Any:
        raise RuntimeError

    def get(self, *_: Any) -> Any:
        raise RuntimeError


HOSTILE: list[Any] = [
    np.timedelta64(1, "D"),
    np.timedelta64("NaT"),
    Closed(),
    Masked(),
    Unruly(),
    Mock(spec=dict),
    Mock(spec=int),
    Mock(spec=np.int64),
]


def encoder() -> Any:
    return dn.learn.Encoder(SMALL)  # type: ignore[arg-type]


def test_values_of_the_domain() -> None:
    coded = encoder()
    assert coded.dimension == 4
    assert list(coded.encode({"age": 0, "colour": "red", "kids": 0})) == [-1, 1, 0, 1]
    assert list(coded.encode({"age": 100, "colour": "green", "kids": 1})) == [1, 0, 1, 0]
    assert list(coded.encode({"age": 75, "colour": "blue", "kids": 1})) == [0.5, 0, 0, 0]
    assert list(coded.get_feature_names_out()) == ["age", "colour=red", "colour=green", "kids=0"]


@pytest.mark.parametrize("value", [101, 1e308, float("inf"), Decimal(1000), Fraction(1000, 3), 10**400])
def test_numbers_beyond_the_bounds_are_the_nearer_end(value: object) -> None:
    assert encoder().encode({"age": value})[0] == 1


@pytest.mark.parametrize("value", [None, float("nan"), "37", True, [1], object(), {}, Decimal("nan"), pd.NA])
def test_what_is_no_number_is_the_middle(value: object) -> None:
    assert encoder().encode({"age": value})[0] == 0


@pytest.mark.parametrize(
    "value", [None, "purple", "RED", 3, ["red"], {"red"}, float("nan"), Hostile("red"), b"red", object()]
)
def test_a_value_that_is_not_declared_is_never_quietly_another(value: object) -> None:
    assert list(encoder().encode({"colour": value})[1:3]) == pytest.approx([1 / 3, 1 / 3])


@pytest.mark.parametrize("value", [True, 1.0, "1", HostileInt(1), 2**70])
def test_only_a_whole_number_is_a_whole_number(value: object) -> None:
    assert encoder().encode({"kids": value})[3] == 0.5


@pytest.mark.parametrize("record", [None, 3, "age", [("age", 3)], {}, {3: 4}, object(), {"Age": 3}])
def test_no_record_is_a_record_in_which_all_is_missing(record: object) -> None:
    assert list(encoder().encode(record)) == pytest.approx([0, 1 / 3, 1 / 3, 1 / 2])


def test_tables_are_coded_row_by_row() -> None:
    table: dict[str, list[Any]] = {
        "age": [0, None, 200],
        "colour": ["blue", "red", "grey"],
        "kids": [1, 0, None],
        "more": [1, 2, 3],
    }
    coded = encoder()
    rows = [{name: list(values)[row] for name, values in table.items()} for row in range(3)]
    expected = np.array([coded.encode(row) for row in rows])
    assert coded.fit(table).transform(table) == pytest.approx(expected)
    assert coded.transform(pd.DataFrame(table, dtype=object)) == pytest.approx(expected)
    assert coded.transform(pd.DataFrame(table))[:, :3] == pytest.approx(expected[:, :3])


def test_tables_without_a_declared_column_are_refused() -> None:
    with pytest.raises(ParameterError, match="lacks columns"):
        encoder().transform({"age": [1]})
    with pytest.raises(ParameterError, match="different lengths"):
        encoder().transform({"age": [1], "colour": ["red", "red"], "kids": [1]})


@pytest.mark.parametrize(
    "domain", [(1, 1), (2, 1), (1, 2, 3), ["one"], ["a", "a"], ["a", None], [1.5, 2.5], "ab", {"a", "b"}, 3]
)
def test_domains_that_are_none_are_refused(domain: object) -> None:
    with pytest.raises(ParameterError):
        dn.learn.Encoder({"x": domain})  # type: ignore[dict-item]
    with pytest.raises(ParameterError, match="must not be empty"):
        dn.learn.Encoder({})


@pytest.mark.parametrize("bounds", [(-1e308, 1e308), (0, 10**400), (1, 1 + 1e-300), (0, 5e-324), (2, 1)])
def test_bounds_whose_difference_is_no_float_are_refused(bounds: tuple[Any, Any]) -> None:
    with pytest.raises(ParameterError, match="x"):
        dn.learn.Encoder({"x": bounds})


@pytest.mark.parametrize("bounds", [(-1e100, 1e100), (-1e-100, 1e-100), (0, "1e-100")])
def test_the_widest_and_the_closest_bounds_become_finite_coordinates(bounds: tuple[Any, Any]) -> None:
    coded = dn.learn.Encoder({"x": bounds})
    low, high = (float(end) for end in bounds)
    found = [coded.encode({"x": value})[0] for value in (-math.inf, low, None, high, 1e308)]
    assert found == [-1, -1, 0, 1, 1]


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_objects_that_raise_whatever_they_are_asked_count_as_missing(place: int) -> None:
    odd, missing = HOSTILE[place], [0, 1 / 3, 1 / 3, 1 / 2]
    coded = encoder()
    assert list(coded.encode(odd)) == pytest.approx(missing)
    assert list(coded.encode({"age": odd, "colour": odd, "kids": odd})) == pytest.approx(missing)


def test_keys_that_cannot_be_compared_hide_no_other() -> None:
    record: dict[Any, Any] = {Colliding(name): 3 for name in SMALL}
    assert list(encoder().encode(record)) == pytest.approx([0, 1 / 3, 1 / 3, 1 / 2])
    record = {np.str_("age"): 75, "kids": np.int8(0), Colliding("colour"): 3, 3: 4, None: 5, ("age",): 6}
    assert list(encoder().encode(record)) == pytest.approx([0.5, 1 / 3, 1 / 3, 1])
    assert encoder().encode(Record(age=75))[0] == 0.5


def test_a_name_that_is_no_text_is_refused() -> None:
    with pytest.raises(ParameterError, match="no text"):
        dn.learn.Encoder({3: (0, 1)})  # type: ignore[dict-item]


@pytest.mark.parametrize("bounds", [(1, "1.0000000000000001"), (0, "1e-400")])
def test_bounds_that_are_one_float_are_refused(bounds: Any) -> None:
    with pytest.raises(ParameterError):
        dn.learn.Encoder({"x": bounds})
