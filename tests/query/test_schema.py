"""Schemas: names that are compared as engines do, and errors that name the nearest."""

from __future__ import annotations

from typing import Any

import pytest

from deniable.errors import ParameterError, SourceError
from deniable.query.schema import Column, Schema, Type, declared, distinct

SCHEMA = Schema((Column("Person", Type.TEXT), Column("colour", Type.TEXT), Column("age", Type.INTEGER, True)))


def test_a_column_is_found_whatever_its_case() -> None:
    assert SCHEMA.find("PERSON", "unit") == Column("Person", Type.TEXT)
    assert SCHEMA.find("Age", "unit").declared


def test_german_sharp_s_is_compared_as_engines_do_not_but_case_folding_does() -> None:
    assert Schema((Column("Straße", Type.TEXT),)).find("STRASSE", "unit").name == "Straße"


@pytest.mark.parametrize(("name", "nearest"), [("color", "colour"), ("Colours", "colour"), (" age ", "age")])
def test_an_unknown_column_is_refused_and_the_nearest_suggested(name: str, nearest: str) -> None:
    with pytest.raises(ParameterError) as caught:
        SCHEMA.find(name, "group_by")
    assert str(caught.value) == f"group_by names no column, got {name!r}. Did you mean {nearest!r}?"
    assert (caught.value.argument, caught.value.value) == ("group_by", name)


def test_without_a_near_name_the_columns_are_listed() -> None:
    with pytest.raises(ParameterError, match="The columns are 'Person', 'colour', 'age'"):
        SCHEMA.find("zzz", "unit")
    wide = Schema(tuple(Column(f"c{i}", Type.TEXT) for i in range(40)))
    with pytest.raises(ParameterError, match="'c11' and 28 more"):
        wide.find("zzz", "unit")


@pytest.mark.parametrize("name", [None, 3, True, b"age", ["age"]])
def test_what_is_not_text_names_no_column(name: Any) -> None:
    with pytest.raises(ParameterError, match="unit must be the name of a column"):
        SCHEMA.find(name, "unit")


def test_a_new_column_comes_last_and_may_not_take_a_name() -> None:
    wider = SCHEMA.with_column(Column("hue", Type.TEXT))
    assert wider.names == ("Person", "colour", "age", "hue")
    assert SCHEMA.names == ("Person", "colour", "age")
    with pytest.raises(ParameterError, match="already a column"):
        SCHEMA.with_column(Column("COLOUR", Type.TEXT))


def test_a_schema_prints_as_a_table() -> None:
    assert str(SCHEMA) == "column  type\nPerson  text\ncolour  text\nage     integer  (declared)"


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (("a", "b", "A"), "Columns 1 and 3 of x are both called 'A'"),
        (("ß", "ss"), "Columns 1 and 2"),
        (("a", ""), "Column 2 of x has no name"),
        (("\u00a0", "a"), "Column 1 of x has no name"),
    ],
)
def test_names_that_coincide_or_are_empty_are_refused(names: tuple[str, ...], problem: str) -> None:
    distinct(("a", "b"), "x")
    with pytest.raises(SourceError, match=problem):
        distinct(names, "x")


def test_declared_types_are_read_whatever_their_case() -> None:
    assert declared(None) == {}
    assert declared({"a": "integer", "b": " Real ", "c": Type.DATE}) == {
        "a": Type.INTEGER,
        "b": Type.REAL,
        "c": Type.DATE,
    }


@pytest.mark.parametrize("kind", ["int", "decimal", "other", "", None, 3, int, "BIGINT"])
def test_an_unknown_type_is_refused_and_the_types_are_listed(kind: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        declared({"age": kind})
    assert "types['age'] is not a known type" in str(caught.value)
    assert "integer, real, text, boolean, date, timestamp" in str(caught.value)


@pytest.mark.parametrize("types", [["age"], "age", {3: "integer"}, {"age": "integer", "AGE": "real"}])
def test_types_that_are_no_mapping_or_name_a_column_twice_are_refused(types: Any) -> None:
    with pytest.raises(ParameterError, match="types"):
        declared(types)
