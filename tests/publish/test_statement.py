"""The statement says what is promised, rounds against the publisher, is silent about what is private."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from example_facts import AVERAGE, PEOPLE, SPEND, SURVEY, TOTAL

from deniable.guarantees import ApproxDP, Neighbours, PureDP, ZeroConcentratedDP
from deniable.publish import cells, statement
from deniable.publish.facts import Coverage, Facts


def flat(facts: Facts) -> str:
    """The statement as one line, so that a test does not depend on where lines break."""
    return " ".join(statement.write(facts).split())


def test_the_promise_at_ln_3_is_3_fold_and_75_percent() -> None:
    text = flat(replace(SURVEY, guarantee=PureDP(epsilon="ln 3")))
    assert "epsilon 1.0987 (ln 3), delta 0" in text
    assert "The odds of any outcome change at most 3-fold" in text
    assert "at most 75 % of the time" in text
    assert "Changing rows is removing and adding: at most 9-fold." in text
    assert "delta is 0, and the promise holds for every outcome" in text


@pytest.mark.parametrize(("epsilon", "blunt"), [(20, False), ("20.001", True), (300, True)])
def test_an_epsilon_that_protects_nobody_is_said_to_promise_nothing(epsilon: int | str, blunt: bool) -> None:
    text = flat(replace(SURVEY, guarantee=ApproxDP(epsilon=epsilon, delta="1e-9")))
    assert ("An epsilon above 20 promises practically nothing to anybody." in text) is blunt


def test_the_risk_is_told_in_people_and_in_tosses_of_a_coin() -> None:
    text = flat(SURVEY)
    assert "delta is 1e-7, 1 in 10,000,000." in text
    assert "In the worst case that exposes 0.1 of 1,000,000 people on average." in text
    assert "The risk for one person is no more than that of 23 tosses of a coin all showing heads." in text
    assert "at most 75.000003 % of the time" in text


def test_a_delta_that_exposes_somebody_is_called_out() -> None:
    guarantee = ApproxDP(epsilon=1, delta="0.01")
    text = flat(replace(SURVEY, guarantee=guarantee, population=100_000))
    assert (
        "exposes 1,000 of 100,000 people on average. That is one or more: the publisher insisted on it."
        in text
    )
    assert "no more than that of 6 tosses of a coin all showing heads" in text


def test_a_population_that_was_not_stated_is_said_to_be_missing() -> None:
    assert "The number of people was not stated" in flat(replace(SURVEY, population=None))


def test_rho_is_told_as_the_epsilon_that_it_implies() -> None:
    # rho + 2 sqrt(rho ln 1e9) at rho = 1/100: .01 + 2 sqrt(.2072327) = .9204563; 1/2 + sqrt(.005)/2 = .53536
    text = flat(replace(SURVEY, guarantee=ZeroConcentratedDP(rho="0.01")))
    assert "rho 0.01, which implies epsilon 0.9205 with delta 1e-9" in text
    assert "at most 53.6 % of the time" in text


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (SURVEY, "Every person in colours.csv: all the rows with one value in the column \"person\"."),
        (SURVEY, "with all the rows of one person added or removed"),
        (replace(SURVEY, neighbours=Neighbours.REPLACE_ONE), "one person replaced by any others"),
        (replace(SURVEY, unit="row"), "Somebody with several rows is protected row by row only."),
        (replace(SURVEY, unit="row"), "A group with fewer than about 16 rows is left out"),
        (replace(SURVEY, unit="user_id"), "Every user in colours.csv"),
        (SURVEY, "Each person counts in at most 1 group; where there are more, chance decides which."),
        (replace(SURVEY, over="weight", max_groups=3), "in more than 3 groups counts less in each"),
        (replace(SURVEY, over="weight"), "number of people, counted by these weights and with its noise"),
        (SURVEY, "What one person can contribute"),
        (replace(SURVEY, columns=(SPEND,)), "each value is moved into 0 to 100; of one person, at most 2"),
        (replace(SURVEY, columns=(AVERAGE,)), "average: Laplace, scale 0.9091 of its sum."),
        (SURVEY, "people: Laplace, scale 0.9091, at most 3 in 95 % of cases."),
        (SURVEY, "about 96 % of all answers were counted in full. max_groups = 2 would count about 99 %."),
        (replace(SURVEY, coverage=None), "was not measured: the numbers can fall short"),
        (SURVEY, "16 or more. How many were left out is not said: that would itself say something."),
        (replace(SURVEY, threshold=Fraction(31, 2)), "fewer than about 16 people"),
        (replace(SURVEY, keys="public", threshold=None), "also if nobody is in it"),
        (SURVEY, "the noise only, for the value as it was bounded, over all groups whether published"),
        (SURVEY, "The columns of colours.csv and their types."),
        (SURVEY, "Left after this release: epsilon 2, delta 9e-8. Head: 4f1c."),
        (SURVEY, "Purpose: weekly report."),
        (SURVEY, "Rows were prepared by: where age >= 18; hue = lower(trim(colour))."),
        (SURVEY, "planning the same query again gives the same numbers"),
        (SURVEY, "Made by deniable 0.1.0 on 2026-03-01."),
        (replace(SURVEY, secure=False), "nobody is protected. Do not publish it."),
    ],
)  # fmt: skip
def test_every_fact_has_its_sentence(facts: Facts, words: str) -> None:
    assert words in flat(facts)


def test_what_does_not_apply_is_not_said() -> None:
    text = flat(replace(TOTAL, ledger=None, assumed=(), purpose=None, steps=()))
    for heading in ("left out", "Ledger", "assumed", "What was asked", "How much was counted", "Only a test"):
        assert heading not in text
    assert "Only a test" not in flat(SURVEY)


@pytest.mark.parametrize("facts", [SURVEY, TOTAL, replace(SURVEY, columns=(PEOPLE, SPEND, AVERAGE))])
def test_no_line_is_wider_than_80_columns(facts: Facts) -> None:
    text = statement.write(facts)
    assert max(cells.width(line) for line in text.splitlines()) <= 80
    assert text.endswith("\n")
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_names_from_a_file_cannot_act_in_the_statement() -> None:
    nasty = "a\x1b[31m\nb\u202e"
    facts = replace(
        SURVEY, unit=nasty, source=nasty, groups=(nasty,), steps=(nasty,), purpose=nasty,
        columns=(replace(SPEND, name=nasty, column=nasty),),
    )  # fmt: skip
    text = statement.write(facts)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "a\\x1b[31m\\nb\\u202e" in text


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ("person", ("person", "people")),
        ("Person_ID", ("person", "people")),
        ("row", ("row", "rows")),
        ("household", ("household", "households")),
        ("userid", ("user", "users")),
        ("id", ("unit", "units")),
        ("city", ("unit", "units")),
        ("cust no", ("unit", "units")),
        ("青色", ("unit", "units")),
    ],
)
def test_a_unit_is_called_by_its_name_where_it_has_one(unit: str, words: tuple[str, str]) -> None:
    assert statement.nouns(unit) == words


def test_a_confidence_is_rounded_down() -> None:
    assert statement.confidence(replace(SURVEY, confidence=Fraction(95, 100))) == "95 %"
    assert statement.confidence(replace(SURVEY, confidence=Fraction(2, 3))) == "66.6666 %"


def test_wide_letters_are_wrapped_by_their_width() -> None:
    lines = statement.wrapped("青色 " * 30, columns=20).splitlines()
    assert max(cells.width(line.strip()) for line in lines) <= 20
    assert "".join(lines).replace(" ", "") == "青色" * 30


def test_numbers_that_fall_well_short_of_the_whole_are_said_to_be_too_low() -> None:
    few = Coverage(share="about 59 %", would=((3, "about 91 %"),))
    said = "about 59 % of all answers were counted in full; true numbers are larger than those shown"
    (words,) = statement.shortfall(replace(SURVEY, coverage=few, max_given=False))
    assert words.startswith(f"A person counts in 1 group only (max_groups 1, not given): {said}")
    (words,) = statement.shortfall(replace(SURVEY, coverage=few, over="weight", max_groups=2))
    assert words.startswith(f"A person in more than 2 groups counts less in each (max_groups 2): {said}")
    (words,) = statement.shortfall(replace(SURVEY, coverage=few, columns=(AVERAGE,)))
    assert "true numbers are larger" not in words
    assert statement.shortfall(replace(SURVEY, coverage=Coverage(share="about 96 %"))) == []
    assert statement.shortfall(TOTAL) == []


def test_a_bound_that_nobody_chose_is_said_where_coverage_was_not_measured() -> None:
    (words,) = statement.shortfall(replace(SURVEY, coverage=None, max_given=False))
    assert "was not measured" in words
    assert statement.shortfall(replace(SURVEY, coverage=None)) == []
    assert "max_groups 1 (not given). From noisy counts" in flat(replace(SURVEY, max_given=False))


def test_the_rows_of_one_unit_are_counted_in_words_that_parse() -> None:
    count = replace(PEOPLE, name="rows", kind="count", max_rows=1)
    assert "rows: of one person, at most 1 row counts in a group." in flat(replace(SURVEY, columns=(count,)))
    every = replace(count, max_rows=None, column="age")
    assert 'rows: every row with a value in "age" counts.' in flat(replace(SURVEY, columns=(every,)))
    bin_ = replace(count, kind="histogram", column="age", max_rows=2)
    assert 'rows: rows in this bin; of one person, at most 2 rows with a value in "age" count' in flat(
        replace(SURVEY, columns=(bin_,))
    )


def test_groups_found_apart_from_the_table_can_show_lower_numbers() -> None:
    apart = "measured apart from that, with noise of their own: they can be lower."
    assert apart in flat(replace(SURVEY, selection="sips", rounds=(Fraction(20),)))
    assert apart in flat(replace(SURVEY, selection="truncated-geometric", certain=20))
    assert apart not in flat(SURVEY)
