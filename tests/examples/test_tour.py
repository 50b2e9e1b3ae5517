"""What the tour shows is computed: the release by the library, the attacks by attacking."""

from __future__ import annotations

import re
from fractions import Fraction
from html.parser import HTMLParser
from math import exp, log, sqrt
from pathlib import Path

import pytest

from deniable import examples
from deniable.exact import exact
from deniable.examples import tour
from deniable.examples.attack import answers
from deniable.examples.tour import Tour
from deniable.publish import cells

SIX_SIGMA = 6 * sqrt(0.25 / tour.TRIALS)


@pytest.fixture(scope="module")
def shown() -> Tour:
    return tour.tour()


@pytest.fixture(scope="module")
def screen(shown: Tour) -> str:
    return tour.screen(shown, Path("demo/colours.html"))


def test_the_chance_against_the_threshold_is_that_of_the_survey_arithmetic() -> None:
    # Discrete Laplace of scale 1/ln 3 on one person, published at >= T: (3/4) 3^-(T - 1); .926 % at T = 5.
    points = dict(tour.chances(1 / exact("ln 3", "epsilon"), 20))
    for threshold, chance in points.items():
        known = Fraction(3, 4) / 3 ** (threshold - 1)
        assert known <= chance * (1 + Fraction(1, 10**20))
        assert chance <= known * (1 + Fraction(1, 10**20))
    assert round(float(100 * points[5]), 3) == 0.926
    assert 10**6 * points[16] < Fraction(1, 10) < 10**6 * points[15]


def test_the_tour_fits_one_screen(screen: str) -> None:
    lines = screen.splitlines()
    assert len(lines) <= 40
    assert max(cells.width(line.replace("\u200e", "")) for line in lines) <= 80


def test_the_screen_tells_the_promise_in_words(screen: str) -> None:
    words = " ".join(screen.split())
    assert "the odds of any outcome change at most 3-fold" in words
    assert "A test that you answered is right at most 75.000003 % of the time" in words
    assert re.search(
        r"fewer than about \d+ people gave is left out; how many were left out is not said", words
    )
    assert "demo/colours.html" in words
    assert "deniable release answers.csv --unit person --group-by colour --units" in words


def test_the_release_has_the_common_colours_and_hides_the_rare_ones(shown: Tour) -> None:
    published = dict(
        zip(shown.release.table["hue"].to_pylist(), shown.release.table["people"].to_pylist(), strict=True)
    )
    least = shown.release.facts.threshold
    assert least is not None
    assert {"blue", "green", "red", "purple"} <= set(published)
    assert not {"ultramarine", "yellow", 'burnt "orange"'} & set(published)
    assert min(published.values()) >= least

    # Somebody with k colours counts for blue with chance 1/k; the noise is far below one standard deviation.
    shares = [1 / len(colours) for colours in answers(examples.colours()).values() if "blue" in colours]
    spread = sqrt(sum(share * (1 - share) for share in shares))
    assert abs(published["blue"] - sum(shares)) < 7 * spread


def test_the_promise_is_the_one_that_was_asked_for(shown: Tour) -> None:
    guarantee = shown.release.guarantee
    assert 1.09 < guarantee.epsilon <= exact("ln 3", "epsilon", up=True)
    assert guarantee.delta <= Fraction(1, 10**7)


def test_the_attacks_find_what_arithmetic_says(shown: Tour) -> None:
    assert abs(shown.same.rate - 1 / (1 + exp(-log(3)))) < SIX_SIGMA
    assert shown.different.rate == 1
    assert abs(shown.hidden.rate - Fraction(1, 2)) < SIX_SIGMA
    assert (shown.same.only_here, shown.different.only_here) == (False, True)


def test_a_plain_terminal_gets_ascii_alone(shown: Tour) -> None:
    text = tour.screen(shown, Path("demo/colours.html"), plain=True)
    assert text.isascii()
    assert len(text.splitlines()) <= 40


def test_the_page_adds_the_attacks_and_the_straight_line(shown: Tour, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    tour.write_page(shown, path)
    text = path.read_text("utf-8")
    assert text.count("<svg") == 3
    assert text.count("<table>") == 3
    assert "The price of a threshold" in text
    assert 'class="curve"' in text
    HTMLParser().feed(text)
