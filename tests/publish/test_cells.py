"""Keys come from people: whatever they hold, a cell is one harmless line."""

from __future__ import annotations

import unicodedata
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.publish import cells


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("blue", "blue"),
        ("青色", "青色"),
        ("Ünïcödé ❤️ 🇬🇧", "Ünïcödé ❤️ 🇬🇧"),
        (None, "(no value)"),
        ("NULL", "NULL"),
        ("(no value)", '"(no value)"'),
        ("", '""'),
        (" red", '" red"'),
        ('"red"', '"\\"red\\""'),
        ("red\n\t\r", '"red\\n\\t\\r"'),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("\x9b31mred", "\\x9b31mred"),
        ("a\u202eb\u200f", "a\\u202eb\\u200f"),
        ("a\u2028b", "a\\u2028b"),
        ("a\u00a0b", "a\\xa0b"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\u3164\u2800", "\\u3164\\u2800"),
        ("\udcff", "\\udcff"),
        ("\ue000\U000e0041", "\\ue000\\U000e0041"),
        ("back\\slash", "back\\\\slash"),
        ("\u0301e", "\\u0301e"),
        ("e\u0301\u0301\u0301\u0301\u0301", "e\u0301\u0301\u0301\\u0301\\u0301"),
        (7, "7"),
        (True, "true"),
        (b"\x00\xff", "00ff"),
        (date(2026, 1, 2), "2026-01-02"),
        (Decimal("1.50"), "1.50"),
    ],
)
def test_every_kind_of_key_has_its_cell(value: object, shown: str) -> None:
    assert cells.key(value) == shown


@given(st.text())
def test_no_key_can_act_hide_or_break_the_line(text: str) -> None:
    shown = cells.key(text)
    kinds = {unicodedata.category(sign) for sign in shown}
    assert not kinds & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert len(shown.splitlines()) == 1
    assert shown.strip() == shown


@given(st.text(), st.text())
def test_keys_that_differ_are_written_differently(one: str, other: str) -> None:
    assert (cells.key(one) == cells.key(other)) == (one == other)
    assert (cells.key(one, plain=True) == cells.key(other, plain=True)) == (one == other)
    assert cells.key(one) != cells.key(None)


@given(st.text())
def test_a_plain_terminal_gets_ascii_alone(text: str) -> None:
    assert cells.key(text, plain=True).isascii()


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("blue", 4),
        ("青色", 4),
        ("é", 1),
        ("e\u0301", 1),
        ("❤", 1),
        ("❤\ufe0f", 2),
        ("🎨", 2),
        ("한글", 4),
        ("", 0),
        ("\u1112\u1161\u11ab", 2),
        ("สีฟ้า", 3),
    ],
)
def test_widths_are_those_of_a_terminal(text: str, columns: int) -> None:
    assert cells.width(text) == columns


@given(st.text(), st.integers(1, 30))
def test_a_cut_text_fits(text: str, limit: int) -> None:
    shown = cells.cut(cells.visible(text), limit)
    assert cells.width(shown) <= limit
    if cells.width(cells.visible(text)) <= limit:
        assert shown == cells.visible(text)
    else:
        assert shown.endswith("…")


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (["age_quantile_0.25", "age_quantile_0.5", "n"], ["age_q…ntile_0.25", "age_quantile_0.5", "n"]),
        (["age_count_0_to_20", "age_count_20_to_40"], ["age_c…t_0_to_20", "age_c…t_20_to_40"]),
        (["households_in_towns", "people"], ["households_in_t…", "people"]),
        (
            ["a" * 40 + "1" + "b" * 40, "a" * 40 + "2" + "b" * 40],
            ["…1" + "b" * 13 + "…", "…2" + "b" * 13 + "…"],
        ),
        (["short", "short"], ["short", "short"]),
        (
            ["stay_histogram_0_to_5", "stay_histogram_10_to_20"],
            ["stay_…m_0_to_5", "stay_…m_10_to_20"],
        ),
    ],
)
def test_what_tells_long_texts_apart_stays_in_sight(texts: list[str], shown: list[str]) -> None:
    assert cells.cut_apart(texts, 16) == shown


@given(st.lists(st.text(max_size=40), max_size=8), st.integers(4, 30), st.sampled_from(["…", "..."]))
def test_texts_that_are_cut_apart_fit_and_short_ones_are_whole(
    texts: list[str], limit: int, ellipsis: str
) -> None:
    harmless = [cells.visible(text) for text in texts]
    for text, shown in zip(harmless, cells.cut_apart(harmless, limit, ellipsis=ellipsis), strict=True):
        assert cells.width(shown) <= limit
        assert shown == text or cells.width(text) > limit


def test_right_to_left_letters_do_not_pull_the_number_beside_them() -> None:
    assert cells.padded("אדום", 6) == "אדום\u200e  "
    assert cells.padded("red", 6) == "red   "


@pytest.mark.parametrize(
    ("value", "places", "shown"),
    [
        (1234567, 0, "1,234,567"),
        (-5, 2, "-5"),
        (0.126, 2, "0.13"),
        (-0.001, 2, "0.00"),
        (-1234.5, 1, "-1,234.5"),
        (Fraction(1, 3), 3, "0.333"),
        (Decimal("2.50"), 1, "2.5"),
        (None, 2, ""),
    ],
)
def test_numbers_are_written_with_separators_and_never_as_minus_zero(
    value: object, places: int, shown: str
) -> None:
    assert cells.number(value, places) == shown


@pytest.mark.parametrize(
    ("halves", "places"), [([], 0), ([3.0], 1), ([0.02], 3), ([123.0], 0), ([0.02, 100.0, 0.03], 3)]
)
def test_decimals_follow_the_noise(halves: list[float], places: int) -> None:
    assert cells.decimals(halves) == places
