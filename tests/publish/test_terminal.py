"""The table in a terminal: in line, 80 columns wide, harmless whatever people typed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from example_facts import AVERAGE, HOSTILE, PEOPLE, SPEND, SURVEY, TOTAL, table

from deniable.publish import cells, terminal
from deniable.publish.facts import Coverage, Table


def lines(text: str) -> list[str]:
    return text.splitlines()


def test_a_small_table_looks_like_this() -> None:
    published = table(["blue", "green"], "people")
    assert lines(terminal.table(published, SURVEY, width=56))[:4] == [
        "hue                               people   95 % interval",
        "blue   █████████████████████████   2,000  1,997 to 2,003",
        "green  ████████████▌               1,000    997 to 1,003",
        "",
    ]


def test_hostile_keys_stay_on_their_line_and_in_their_column() -> None:
    text = terminal.table(table([*HOSTILE], "people"), SURVEY)
    body = lines(text)[1 : 1 + len(HOSTILE)]
    assert [line.split("  ")[0].rstrip("\u200e") for line in body][:7] == [
        "blue", "(no value)", "NULL", '""', "<script>alert(1)</script>", "\\x1b[31mred\\nred", "青色",
    ]  # fmt: skip
    assert "\x1b" not in text
    assert {cells.width(line.replace("\u200e", "")) for line in body} == {80}


def test_no_line_is_wider_than_asked_for() -> None:
    facts = replace(SURVEY, columns=(PEOPLE, SPEND, AVERAGE, replace(PEOPLE, name="n" * 60)))
    published = table([*HOSTILE], "people", "spend", "average", "n" * 60)
    for width in (60, 80, 120):
        text = terminal.table(published, facts, width=width)
        assert max(cells.width(line.replace("\u200e", "")) for line in lines(text)) <= width


def test_columns_that_do_not_fit_follow_below_with_their_keys() -> None:
    names = [f"column{n}" for n in range(5)]
    facts = replace(SURVEY, columns=tuple(replace(PEOPLE, name=name) for name in names))
    text = terminal.table(table(["blue", "green"], *names), facts)
    assert [text.count(name) for name in names] == [1] * 5
    assert len([line for line in lines(text) if line.startswith("blue")]) >= 2


def test_long_names_of_columns_and_groups_that_end_differently_are_told_apart() -> None:
    names = [f"age_of_people_quantile_{q}" for q in ("0.25", "0.5", "0.75")]
    facts = replace(SURVEY, columns=tuple(replace(PEOPLE, name=name) for name in names))
    keys = [f"University Hospital of a Very Long Name, Ward {n}" for n in (1, 2)]
    text = terminal.table(table([*keys], *names), facts)
    for end in ("0.25", "e_0.5", "0.75", "Ward 1", "Ward 2"):
        assert end in text


def test_a_table_can_be_ascii_alone() -> None:
    text = terminal.table(table([*HOSTILE], "people"), SURVEY, plain=True)
    assert text.isascii()
    assert "####" in text
    assert "..." in text


def test_a_long_table_says_how_many_lines_more_were_published() -> None:
    text = terminal.table(table([str(n) for n in range(100)], "people"), SURVEY, most=10)
    assert "... and 90 more groups: the release's table has them all." in text
    assert len([line for line in lines(text) if "█" in line]) == 10


def test_an_empty_table_is_a_sentence() -> None:
    nothing = table([], "people")
    assert terminal.table(nothing, SURVEY) == "No group reached 16 people.\n"
    assert terminal.table(nothing, replace(SURVEY, unit="row")) == "No group reached 16 rows.\n"
    public = replace(SURVEY, keys="public", threshold=None)
    assert terminal.table(nothing, public) == "No group was published.\n"


def test_a_total_is_one_line_without_a_bar() -> None:
    text = terminal.table(Table(("people", "people_low", "people_high"), ([-2], [-5], [1])), TOTAL)
    assert lines(text)[0].split("  ") == ["people", "95 % interval"]
    assert lines(text)[1].split() == ["-2", "-5", "to", "1"]
    assert "left out" not in text


def test_the_rule_and_the_meaning_of_the_interval_stand_below() -> None:
    text = " ".join(terminal.table(table(["blue"], "people"), SURVEY).split())
    assert "cover the noise only, for the value as it was bounded" in text
    assert "How many were left out is not said: that would itself say something." in text


def test_means_have_as_many_decimals_as_their_noise_deserves() -> None:
    facts = replace(SURVEY, columns=(AVERAGE,))
    text = terminal.table(table(["blue"], "average", unit=Fraction(1, 100)), facts)
    assert "10.000  9.970 to 10.030" in text


def test_numbers_that_are_missing_leave_their_cell_empty() -> None:
    published = Table(
        ("hue", "people", "people_low", "people_high"), (["a", "b"], [1.5, None], [1.0, None], [2.0, None])
    )
    assert "b" in lines(terminal.table(published, SURVEY))[2:3]


@pytest.mark.parametrize(
    ("share", "plain", "drawn"),
    [
        (1.0, False, "████"),
        (0.5, False, "██"),
        (0.28125, False, "█▏"),
        (0.001, False, "▏"),
        (0.0, False, ""),
        (-1.0, False, ""),
        (float("nan"), False, ""),
        (7.0, False, "████"),
        (0.5, True, "##"),
        (0.01, True, "#"),
    ],
)
def test_a_bar_is_as_long_as_its_share(share: float, plain: bool, drawn: str) -> None:
    assert terminal.bar(share, 4, plain=plain) == drawn


def test_bars_show_negative_numbers_as_no_bar() -> None:
    published = Table(("hue", "people", "people_low", "people_high"), (["a", "b"], [4, -4], [1, -7], [7, -1]))
    body = lines(terminal.table(published, SURVEY))
    assert "█" in body[1]
    assert "█" not in body[2]


def test_the_row_of_all_others_stands_last_where_the_table_is_cut() -> None:
    columns = tuple(replace(column, rest="9") for column in SURVEY.columns)
    shown = terminal.table(
        table([str(n) for n in range(100)], "people"), replace(SURVEY, columns=columns), most=10
    )
    first = [line.split()[0] for line in shown.splitlines()[1:12]]
    assert first == [*map(str, range(9)), "99", "..."]
    assert "and 90 more groups" in shown


def test_a_mean_that_may_be_anything_has_no_bar() -> None:
    facts = replace(SURVEY, columns=(AVERAGE,))
    names = ("hue", "average", "average_low", "average_high")
    rows = Table(names, (["blue", "red", "teal"], [40.0, 20.0, 100.0], [39.0, 0.0, 0.0], [41.0, 90.0, 100.0]))
    blue, red, teal = terminal.lines(rows, facts)[1:]
    assert (blue.count("█"), red.count("█")) == (50, 25)
    assert "█" not in teal
    assert "0 to 100" in teal


def test_what_was_not_counted_is_said_right_below_the_table() -> None:
    facts = replace(SURVEY, coverage=Coverage(share="about 59 %", would=((3, "about 91 %"),)))
    below = terminal.table(table(["blue"], "people"), facts).split("\n\n")[1]
    assert below.startswith("A person counts in 1 group only (max_groups 1): about 59 % of all answers were")
