"""Texts that nobody listed: codes, linear hashing, what is found and what is not."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from deniable.bits import SeededBits
from deniable.errors import ParameterError, ReportError
from deniable.local import HeavyHitters, Reports
from deniable.local.heavy import codes
from deniable.local.heavy.sketch import Sketch, cells, fitting, transform

ALPHA = 1e-9


def seeded(seed: int) -> SeededBits:
    return SeededBits(seed, insecure=True)


@pytest.mark.parametrize(
    ("given", "back"),
    [
        ("blue", "blue"), ("  Blue ", "blue"), ("BLUE", "blue"), ("sky blue", "sky blue"), ("", ""),
        ("it's a-b.", "it's a-b."), ("💙", "💙…"), ("青", "青"), ("a1", "a1"), (None, ""), (7, ""),
        (b"x", ""),
        ("british racing green", "british raci…"), ("cafe\u0301", "café"), ("\ud800", "\ufffd" * 3),
    ],
)  # fmt: skip
def test_a_code_is_read_back_as_the_text_or_its_beginning(given: object, back: str) -> None:
    assert codes.text(codes.code(given, 12), 12) == back


def test_extensions_are_all_rows_in_which_nothing_follows_an_end() -> None:
    found = set(codes.extensions(2).tolist())
    assert found == {a << 5 | b for a in range(32) for b in range(32) if a or not b}


def test_the_transform_is_the_sum_over_signs() -> None:
    table = np.random.default_rng(1).integers(-9, 9, 16)
    plain = [
        sum((-1) ** (z & place).bit_count() * int(table[place]) for place in range(16)) for z in range(16)
    ]
    assert transform(table).tolist() == plain


def test_the_table_counts_who_supports_a_cell() -> None:
    """Against counting, for every cell, the reports with A z = y."""
    sketch = fitting(Fraction(1), 4)
    answers = sketch.answers(np.random.default_rng(2).integers(0, 16, 300), seeded(3))
    found = (300 + transform(sketch.table(answers))) / 2**sketch.rows
    for z in range(16):
        plain = sum(
            all(((int(row) & z).bit_count() & 1) == (int(y) >> place & 1) for place, row in enumerate(rows))
            for y, *rows in answers
        )
        assert found[z] == plain


def test_a_cell_is_told_with_the_stated_odds() -> None:
    sketch, n = Sketch(3, 2, 1 << 29), 60_000
    answers = sketch.answers(np.full(n, 5), seeded(4))
    assert sketch.own == 5 << 29
    true = [
        ((np.bitwise_count(answers[:, 1 + place] & np.uint32(5)) & 1) << place).astype(int)
        for place in (0, 1)
    ]
    lie = (true[0] | true[1]) ^ answers[:, 0]
    counts = np.bincount(lie, minlength=4)
    for told, odds in enumerate((5 / 8, 1 / 8, 1 / 8, 1 / 8)):
        assert abs(counts[told] - n * odds) < 6.2 * math.sqrt(n * odds * (1 - odds))


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 3, 4])
def test_the_variance_is_that_of_local_hashing(epsilon: float) -> None:
    """4 e**eps/(e**eps - 1)**2 is the least (Wang et al. 2017); a power of two costs at most 13 % more."""
    least = 4 * math.exp(epsilon) / (math.exp(epsilon) - 1) ** 2
    assert least * (1 - 1e-6) <= fitting(Fraction(str(epsilon)), 16).variance <= 1.13 * least


def test_cells_of_a_group_are_spread_evenly_and_differ_between_groups() -> None:
    numbers = np.arange(40_000)
    first, second = cells(numbers, 0, 0, 8), cells(numbers, 1, 0, 8)
    for found in (first, second):
        expected = 40_000 / 256
        assert ((np.bincount(found, minlength=256) - expected) ** 2 / expected).sum() < 255 + 9 * math.sqrt(
            510
        )
    assert abs((first == second).mean() - 1 / 256) < 6 * math.sqrt(1 / 256 / 40_000)
    assert (cells(numbers, 0, 7, 8) != first).mean() > 0.9


def people(n: int) -> list[str]:
    return (["blue"] * 5 + ["green"] * 3 + ["turquoise"] * 2) * (n // 20) + [
        f"odd {i}" for i in range(n // 2)
    ]


def test_what_many_say_is_found_with_its_share_and_nothing_else() -> None:
    protocol, n = HeavyHitters(epsilon=4), 20_000
    found = protocol.estimate(protocol.randomize(people(n), bits=seeded(5)))
    assert found.items == ("blue", "green", "turquoise")
    for share, low, high in zip(
        (0.25, 0.15, 0.1), np.asarray(found.low), np.asarray(found.high), strict=True
    ):
        assert low < share < high
    assert found.threshold < 0.05
    assert "turquoise" in str(found)


def test_nothing_is_listed_where_everybody_says_another_thing() -> None:
    """0.5 % of 40 runs may list something; 6 or more has probability below 1e-7."""
    protocol, wrong = HeavyHitters(epsilon=1, length=4, step=2, cells=12), 0
    for run in range(40):
        texts = [f"{number:x}" for number in range(2000 * run, 2000 * run + 2000)]
        texts = [one.translate(str.maketrans("0123456789", "ghijklmnop")) for one in texts]
        wrong += bool(protocol.estimate(protocol.randomize(texts, bits=seeded(run))).items)
    assert wrong < 6


def test_a_text_with_twice_the_threshold_is_found() -> None:
    protocol, n = HeavyHitters(epsilon=2, length=6, cells=18), 20_000
    many = round(2 * protocol.threshold(n) * n)
    texts = ["violet"] * many + [f"{number:x}zz" for number in range(n - many)]
    hits = sum(
        "violet" in protocol.estimate(protocol.randomize(texts, bits=seeded(run))).items[0]
        for run in range(6)
    )
    assert hits >= 5


def test_shares_are_unbiased_for_one_asked_text() -> None:
    protocol, n = HeavyHitters(epsilon=1, length=3, step=3, cells=10, keep=1), 1500
    seen = []
    for run in range(200):
        reports = protocol.randomize(["red"] * 300 + ["blu"] * 1200, bits=seeded(run))
        totals = protocol.aggregate(reports).totals
        cell = cells(np.array([codes.code("red", 3)]), 1, 0, 10)
        share, error = protocol.sketch.shares(transform(totals[1, :-1])[cell], int(totals[1, -1]))
        seen.append((float(share[0]), float(error[0])))
    shares, errors = np.array(seen).T
    assert abs(shares.mean() - 0.2) < 6 * shares.std() / math.sqrt(200)
    assert shares.std() == pytest.approx(errors.mean(), rel=0.25)
    assert errors.mean() == pytest.approx(math.sqrt(protocol.error() / n), rel=0.2)


@pytest.mark.parametrize(("cells", "keep"), [(9, 16), (12, 64)])
def test_a_text_in_the_cell_of_another_is_rarely_listed(cells: int, keep: int) -> None:
    """Everybody says one of 8 texts. At most 1 % of the salts may list another; of 12 hardly 3."""
    said, wrong = ["red", "blue", "green", "white", "black", "brown", "pink", "grey"], 0
    for salt in range(12):
        protocol = HeavyHitters(epsilon=8, length=6, cells=cells, keep=keep, salt=salt)
        found = protocol.estimate(protocol.randomize(said * 250, bits=seeded(salt)))
        wrong += any(item.rstrip("…") not in said for item in found.items)
    assert wrong < 3


def test_few_cells_list_nothing_and_many_say_what_they_add() -> None:
    few, many = (HeavyHitters(epsilon=8, length=3, cells=cells, keep=4) for cells in (8, 16))
    assert few.threshold(10**6) == 1.0
    assert few.estimate(few.randomize(["red"] * 2000, bits=seeded(1))).items == ()
    assert many.threshold(10**6) > 10 * 4 / 0.05 / 2**16
    assert many.estimate(many.randomize(["red"] * 2000, bits=seeded(1))).items == ("red…",)


def test_no_report_and_few_reports_find_nothing() -> None:
    protocol = HeavyHitters(epsilon=1, cells=8)
    assert protocol.estimate(protocol.randomize(["a"])).items == ()
    assert "Nothing" in str(protocol.estimate(protocol.randomize(["a"])))
    assert protocol.threshold(1) == 1.0


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("epsilon", ["0.1", "0.5"])
def test_a_text_that_nobody_said_is_listed_as_rarely_as_said_with_few_people(epsilon: str, rows: int) -> None:
    """Each report supports "b" with probability 2**-rows if nobody said it: the law of who does is known."""
    protocol = HeavyHitters(epsilon=epsilon, length=2, step=2, cells=14, keep=1)
    odds = Fraction(2**32) / (Fraction(math.exp(float(epsilon))) + 2**rows - 1)
    protocol.__dict__["sketch"] = Sketch(14, rows, math.ceil(odds))
    level = 0.05 / 10
    for last in (1, 2, 4, 10, 17, 25, 50):
        shown = [count for count in range(last + 1) if "b" in told(protocol, last, count)]
        assert np.sum(binom.pmf(shown, last, 0.5**rows)) <= level
        assert binom.sf(min(shown, default=last + 1) - 2, last, 0.5**rows) > level
        assert shown == list(range(last + 1 - len(shown), last + 1))


def told(protocol: HeavyHitters, last: int, supporters: int) -> tuple[str, ...]:
    """What is listed if 10,000 reports of the first group lead to "b" and so many of the last support it."""
    source, rows = np.random.default_rng(last + 1000 * supporters), protocol.sketch.rows
    parts = []
    for group, many, sure in ((0, 10_000, 10_000), (1, last, supporters)):
        at = int(cells(np.array([codes.code("b", 2)]), group, 0, 14)[0])
        drawn = source.integers(0, 1 << 14, (many, rows))
        true = sum((np.bitwise_count(drawn[:, row] & at) & 1).astype(np.int64) << row for row in range(rows))
        answers = np.where(np.arange(many) < sure, true, true ^ 1)
        parts.append(np.column_stack([np.full(many, group), answers, drawn]))
    found = protocol.estimate(Reports(protocol.parameters, np.concatenate(parts).astype(np.uint32)))
    return found.items


@pytest.mark.parametrize("epsilon", ["0.1", "0.5"])
def test_nothing_but_what_was_said_is_listed_among_50_people(epsilon: str) -> None:
    """At most 0.5 % of runs may list something else; 3 or more of 40 have probability about 1e-3."""
    protocol = HeavyHitters(epsilon=epsilon, length=4, step=2, cells=16)
    wrong = sum(
        any(
            item != "blue"
            for item in protocol.estimate(protocol.randomize(["blue"] * 50, bits=seeded(n))).items
        )
        for n in range(40)
    )
    assert wrong < 3


def test_the_share_of_what_everybody_says_is_held_by_its_interval() -> None:
    protocol = HeavyHitters(epsilon=8, length=2, step=2, cells=14)
    inside = 0
    for run in range(100):
        found = protocol.estimate(protocol.randomize(["b"] * 300, bits=seeded(run)))
        inside += found.items == ("b",) and bool(np.asarray(found.low)[0] <= 1 <= np.asarray(found.high)[0])
    assert inside >= 82, "95 are expected; fewer than 82 has probability below 1e-6"


def test_words_that_no_device_sends_are_refused() -> None:
    protocol = HeavyHitters(epsilon=1, length=2, step=1, cells=8)
    payload = protocol.randomize(["a"] * 5).payload
    for column, word in ((0, 3), (1, 1 << protocol.sketch.rows), (2, 1 << 8)):
        wrong = payload.copy()
        wrong[0, column] = word
        with pytest.raises(ReportError):
            protocol.aggregate(Reports(protocol.parameters, wrong))


@pytest.mark.parametrize(
    "wrong",
    [
        {"length": 0}, {"length": 13}, {"length": 10}, {"step": 4}, {"cells": 1}, {"cells": 23}, {"keep": 0},
        {"salt": -1}, {"salt": 1 << 64}, {"length": True},
    ],
)  # fmt: skip
def test_odd_parameters_of_heavy_hitters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError) as refused:
        HeavyHitters(epsilon=1, **wrong)
    assert refused.value.argument == next(iter(wrong))


def test_texts_are_lists_of_texts() -> None:
    wrong: list[Any] = [[None], [3], "blue", 7, {"a": 1}]
    for values in wrong:
        with pytest.raises(ParameterError):
            HeavyHitters(epsilon=1).randomize(values)
