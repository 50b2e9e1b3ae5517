"""The survey that everything is shown on: made by its script, and odd in all the ways that surveys are."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from deniable import examples
from deniable.examples import make_colours


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with examples.colours().open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def people_by_colour(rows: list[dict[str, str]]) -> Counter[str]:
    people = defaultdict(set)
    for row in rows:
        people[row["colour"].strip().lower()].add(row["person"])
    return Counter({colour: len(who) for colour, who in people.items()})


def test_the_script_makes_the_file_byte_for_byte(tmp_path: Path) -> None:
    assert make_colours.text().encode() == examples.colours().read_bytes()


def test_the_file_is_small_and_has_one_row_a_line(rows: list[dict[str, str]]) -> None:
    content = examples.colours().read_bytes()
    assert len(content) < 1_000_000
    assert b"\r" not in content
    assert len(content.decode().splitlines()) == len(rows) + 1
    assert list(rows[0]) == ["person", "colour", "age", "spend"]


def test_twenty_thousand_people_answered_and_some_of_them_often(rows: list[dict[str, str]]) -> None:
    answers = Counter(row["person"] for row in rows)
    assert len(answers) == 20_000
    assert 500 < sum(count > 1 for count in answers.values()) < 1_500
    assert max(answers.values()) > 100


def test_ultramarine_was_given_by_one_person_and_yellow_by_two(rows: list[dict[str, str]]) -> None:
    colours = people_by_colour(rows)
    assert (colours["ultramarine"], colours["yellow"]) == (1, 2)
    rare = {row["person"] for row in rows if row["colour"].strip().lower() in {"ultramarine", "yellow"}}
    assert Counter(row["person"] for row in rows if row["person"] in rare) == dict.fromkeys(rare, 1)


def test_most_colours_are_rare_and_a_few_are_common(rows: list[dict[str, str]]) -> None:
    colours = people_by_colour(rows)
    assert sum(count >= 1_000 for count in colours.values()) >= 5
    assert sum(count == 1 for count in colours.values()) >= 100
    assert len(colours) > 600


@pytest.mark.parametrize(
    "answer",
    ["", "Blue", "BLUE", "blue ", " blue", "💙", "青", "أزرق", "null", "<b>bold</b> red"],
)
def test_the_answers_are_odd_in_every_way_that_matters(rows: list[dict[str, str]], answer: str) -> None:
    assert any(row["colour"] == answer for row in rows)


def test_quoted_fields_hold_commas_and_quotes(rows: list[dict[str, str]]) -> None:
    assert any("," in row["colour"] for row in rows)
    assert any('"' in row["colour"] for row in rows)


def test_ages_and_amounts_are_not_always_numbers(rows: list[dict[str, str]]) -> None:
    for column in ("age", "spend"):
        values = {row[column] for row in rows}
        assert "" in values
        assert any(value and not value.replace(".", "").lstrip("-").isdigit() for value in values)
