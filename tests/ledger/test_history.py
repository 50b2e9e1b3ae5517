"""What people see of a ledger: a table of 80 columns, an Arrow table, JSON and a page."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest

from deniable.events import DiscreteLaplace, Gaussian, Laplace, PureDP, Selection
from deniable.ledger import Ledger, history, page

TROUBLE = "weekly\n<script>alert(1)</script>\x1b[31m \u202e" + "long " * 40


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """One committed, one abandoned and one open reservation, with purposes that try to act."""
    path = tmp_path_factory.mktemp("history") / "survey.ledger"
    made = Ledger.create(path, epsilon=3, delta="1e-7", unit="person", data="colours.csv")
    release = made.reserve(
        [Laplace(scale=2), Selection(delta="1e-8")],
        epsilon=0.5,
        delta="1e-8",
        purpose="weekly report",
        source="colours.csv",
    )
    made.commit(release)
    made.abandon(made.reserve([PureDP(epsilon="1/3")], purpose=TROUBLE))
    made.reserve([DiscreteLaplace(scale=7)] * 3)
    return made


def test_each_reservation_is_a_line_that_says_how_it_ended(ledger: Ledger) -> None:
    written = history.lines(ledger.entries())
    assert [(line.number, line.state) for line in written] == [
        (1, "committed"),
        (3, "abandoned"),
        (5, "open"),
    ]
    assert [line.did for line in written] == ["Laplace, Selection", "PureDP", "3 x DiscreteLaplace"]
    assert written[-1].spent.epsilon == Fraction(1, 2) + Fraction(1, 3) + Fraction(3, 7)


def test_the_history_is_a_table(ledger: Ledger) -> None:
    table = ledger.history()
    assert table.column("state").to_pylist() == ["committed", "abandoned", "open"]
    assert table.column("epsilon").to_pylist() == [0.5, 1 / 3, 3 / 7]
    assert table.column("spent_epsilon").to_pylist()[-1] == pytest.approx(0.5 + 1 / 3 + 3 / 7)
    assert table.column("source").to_pylist()[0] == "colours.csv"


@pytest.mark.parametrize("plain", [False, True])
def test_the_text_fits_80_columns_and_nothing_in_it_acts(ledger: Ledger, plain: bool) -> None:
    words = history.show(ledger, plain=plain)
    assert max(len(line) for line in words.split("\n")[1:]) <= 80
    assert all(sign == "\n" or sign.isprintable() for sign in words)
    assert words.isascii() == plain
    for part in ("each person (add or remove)", "data: colours.csv", "rule: basic", f"head: {ledger.head}"):
        assert part in words
    assert "1.262 of 3, 1.738 left" in words
    assert re.search(r"\n +3  \S+ \S+  weekly\\n<script>.*(…|\.\.\.)  abandoned +1/3 +0\n", words)


def test_an_unused_ledger_says_so(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=1, delta="1e-6", unit="person", rule="gaussian")
    words = history.show(ledger)
    assert words.endswith("Nothing was spent.\n")
    assert "together at most epsilon 1, delta 1e-6" in words
    assert "Nothing was spent." in page.write(ledger)
    assert ledger.history().num_rows == 0
    ledger.reserve([Gaussian(sigma=20)])
    assert "mu squared  █" in history.show(ledger)
    assert ledger.history().column("mu_squared").to_pylist() == [0.0025]


def test_the_record_is_exact(ledger: Ledger) -> None:
    record = json.loads(json.dumps(history.record(ledger)))
    assert record["spent"] == {"epsilon": "53/42", "delta": "1/100000000"}
    assert Fraction(record["remaining"]["epsilon"]) == ledger.remaining.epsilon
    assert record["budget"] == {"epsilon": "3", "delta": "1/10000000"}
    assert record["history"][1]["purpose"] == TROUBLE
    assert record["head"] == ledger.head


class Reader(HTMLParser):
    """Collects elements and what lies in cells."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.classes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.classes.append(dict(attrs).get("class") or "")


def test_the_page_draws_the_spending_and_runs_nothing(ledger: Ledger) -> None:
    words = page.write(ledger)
    reader = Reader()
    reader.feed(words)
    assert "script" not in reader.elements
    assert "\x1b" not in words
    assert "\u202e" not in words
    assert "<h2>Spending over time</h2>" in words
    assert reader.classes.count("curve") == 2 * 3
    assert reader.elements.count("tr") == 1 + 3
    assert "42 % of the budget is spent." in words
    assert not re.search(r"(src|href)=|url\(|@import", words)


def test_the_steps_end_at_the_share_that_is_spent(ledger: Ledger) -> None:
    drawn = page.drawing(ledger, history.lines(ledger.entries()))
    ends = [float(y) for y in re.findall(r'class="curve"[^>]* y2="([0-9.]+)"', drawn)]
    shares = [1 / 6, 1 / 6, 5 / 18, 5 / 18, 53 / 126, 53 / 126]
    assert [(12 + 260 - end) / 260 for end in ends] == pytest.approx(shares, abs=1e-4)
