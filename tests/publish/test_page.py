"""The page: one file, no request, no script, everything escaped, every chart with its table."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
from example_facts import AVERAGE, HOSTILE, PEOPLE, SPEND, SURVEY, TOTAL, table

from deniable.publish import cells, page, statement, svg
from deniable.publish.facts import Coverage, Facts, Table

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
VOID = {"meta", "link", "img", "br", "hr", "input", "wbr"}


class Reader(HTMLParser):
    """Reads a page as a browser would: elements in order with attributes, and the text of each."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]


def written(published: Table, facts: Facts, figures: tuple[page.Figure, ...] = ()) -> str:
    return page.write(published, facts, statement.write(facts), figures=figures)


def figure() -> page.Figure:
    points = [(1.0, 0.75), (2.0, 0.25)]
    return page.Figure(
        title="A line & more",
        paragraphs=("<b>not bold</b>",),
        caption="the points",
        headings=("threshold", "chance"),
        rows=(("1", "0.75"), ("2", "0.25")),
        drawing=svg.decline(points, name="line", title="a line", description="it falls", across="threshold"),
    )


FULL = written(
    table([*HOSTILE], "people", "spend"), replace(SURVEY, columns=(PEOPLE, SPEND)), figures=(figure(),)
)


def test_nothing_is_loaded_and_nothing_runs() -> None:
    read = Reader(FULL)
    allowed = set("html head meta title style body header main footer section h1 h2 p dl dt dd div".split())
    allowed |= set("table caption thead tbody tr th td bdi wbr svg desc g text rect line circle".split())
    assert set(read.tags()) <= allowed
    for _, attributes in read.elements:
        assert not {name for name in attributes if name.startswith("on")}
        assert not {"src", "href", "srcset", "style", "action", "xlink:href"} & set(attributes)
    assert "url(" not in FULL
    assert "@import" not in FULL


def test_the_policy_allows_our_style_alone() -> None:
    read = Reader(FULL)
    policy = next(
        a["content"] for tag, a in read.elements if a.get("http-equiv") == "Content-Security-Policy"
    )
    style = re.search(r"<style>(.*)</style>", FULL, re.DOTALL)
    assert style is not None
    digest = b64encode(sha256(style[1].encode()).digest()).decode()
    assert policy == (f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'")


def test_keys_are_shown_as_typed_and_never_read_as_markup() -> None:
    read = Reader(FULL)
    names = read.texts["bdi"]
    for key in HOSTILE:
        assert cells.cut(cells.key(key), 120) in names
    assert "\x1b" not in FULL
    assert "<script" not in FULL
    assert "<img" not in FULL
    assert "{{ 7 * 7 }}" in names


def test_every_chart_is_named_and_followed_by_its_table() -> None:
    tags = Reader(FULL).tags()
    assert tags.count("svg") == 3
    assert "table" in tags[len(tags) - tags[::-1].index("svg") :]
    ids = [a["id"] for _, a in Reader(FULL).elements if "id" in a]
    assert len(ids) == len(set(ids)) == 6
    named = [a["aria-labelledby"] for tag, a in Reader(FULL).elements if tag == "svg"]
    assert {name for names in named for name in str(names).split()} == set(ids)


def test_the_whole_statement_is_on_the_page() -> None:
    facts = replace(SURVEY, columns=(PEOPLE, SPEND))
    text = " ".join(Reader(FULL).texts["dd"])
    for _, sentences in statement.paragraphs(facts):
        assert " ".join(" ".join(sentences).split()) in text


def test_the_table_has_every_group_and_the_chart_the_largest() -> None:
    published = table([f"colour {n}" for n in range(100)], "people")
    text = written(published, SURVEY)
    assert len([1 for name in Reader(text).texts["bdi"] if name.startswith("colour ")]) == 100
    assert text.count('class="bar"') == page.MOST_BARS
    assert "The 20 largest of 100; the table below has more." in text


def test_a_page_of_very_many_groups_stays_small_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_ROWS", 50)
    text = written(table([f"colour {n}" for n in range(100)], "people"), SURVEY)
    assert len([1 for name in Reader(text).texts["bdi"] if name.startswith("colour ")]) == 50
    assert "people by hue (the first 50 of 100)" in text


def test_the_largest_groups_are_drawn_whatever_the_order() -> None:
    published = table([f"colour {n}" for n in range(100)], "people")
    backwards = Table(published.names, tuple(list(column)[::-1] for column in published.columns))
    labels = [text for text in Reader(written(backwards, SURVEY)).texts["text"] if text.startswith("colour")]
    assert labels == [f"colour {n}" for n in range(20)]


def test_all_charts_have_the_order_of_the_first() -> None:
    columns = (["a", "b", "c"], [5, 9, 7], [4, 8, 6], [6, 10, 8], [30, -10, 20], [29, -11, 19], [31, -9, 21])
    ends = ("", "_low", "_high")
    published = Table(("hue", *(f"{n}{end}" for n in ("people", "spend") for end in ends)), columns)
    read = Reader(written(published, replace(SURVEY, columns=(PEOPLE, SPEND))))
    assert [text for text in read.texts["text"] if text in "abc"] == [*"bca", *"bca"]


def test_the_labels_of_a_chart_that_end_differently_are_told_apart() -> None:
    keys = [f"University Hospital of a Very Long Name, Ward {n}" for n in (1, 2)]
    labels = Reader(written(table([*keys], "people"), SURVEY)).texts["text"]
    assert {label[-6:] for label in labels} >= {"Ward 1", "Ward 2"}


def test_a_page_of_many_columns_is_called_after_its_purpose_or_their_number() -> None:
    names = [f"column{n}" for n in range(4)]
    facts = replace(SURVEY, columns=tuple(replace(PEOPLE, name=name) for name in names))
    published = table(["a"], *names)
    assert Reader(written(published, facts)).texts["h1"] == ["weekly report"]
    assert Reader(written(published, replace(facts, purpose=None))).texts["h1"] == ["4 columns by hue"]


def test_a_wide_table_of_facts_names_its_cells_for_phones() -> None:
    wide = replace(figure(), headings=(*"abcde",), rows=(("1", "2", "3", "4", "<5>"),))
    read = Reader(written(table(["a"], "people"), SURVEY, figures=(wide,)))
    assert [a["data-heading"] for tag, a in read.elements if "data-heading" in a] == [*"bcde"]
    assert [a["class"] for tag, a in read.elements if tag == "div"] == ["scroll pairs", "scroll cards"]


def test_an_empty_release_is_a_sentence_without_chart_or_table() -> None:
    text = written(table([], "people"), SURVEY)
    assert "No group reached 16 people." in text
    assert not {"svg", "table"} & set(Reader(text).tags())


def test_a_total_is_a_table_without_a_chart() -> None:
    text = written(Table(("people", "people_low", "people_high"), ([7], [4], [10])), TOTAL)
    assert "svg" not in Reader(text).tags()
    assert Reader(text).texts["td"] == ["7", "4 to 10"]


def test_noise_from_a_seed_is_an_alarm_at_the_top() -> None:
    text = written(table(["a"], "people"), replace(SURVEY, secure=False))
    assert text.index("Only a test: the noise came from a seed") < text.index("<svg")


def test_several_keys_are_one_label_and_several_columns() -> None:
    published = Table(
        ("city", "hue", "average", "average_low", "average_high"),
        (["Ulm", None], ["red", "blue"], [1.5, 2.5], [1.25, 2.25], [1.75, 2.75]),
    )
    facts = replace(SURVEY, groups=("city", "hue"), columns=(AVERAGE,))
    text = written(published, facts)
    assert "Ulm · red" in Reader(text).texts["text"]
    assert Reader(text).texts["td"] == ["2.50", "2.25 to 2.75", "1.50", "1.25 to 1.75"] or (
        Reader(text).texts["td"] == ["1.50", "1.25 to 1.75", "2.50", "2.25 to 2.75"]
    )


def test_what_was_not_counted_is_said_above_the_charts_and_below_the_table() -> None:
    few = Coverage(share="about 59 %", would=((3, "about 91 %"),))
    said, published = "A person counts in 1 group only", table(["blue"], "people")
    html = written(published, replace(SURVEY, coverage=few))
    first, second = (match.start() for match in re.finditer(said, html))
    assert first < html.index("<svg") < html.index("<table") < second
    assert said not in written(published, replace(SURVEY, coverage=None))


def test_a_mean_that_may_be_anything_has_an_interval_and_no_bar() -> None:
    names = ("hue", "average", "average_low", "average_high")
    rows = Table(names, (["blue", "red"], [9.0, 9.0], [8.0, 0.0], [99.0, 100.0]))
    html = written(rows, replace(SURVEY, columns=(AVERAGE,)))
    assert html.count('class="whisker"') == 2
    assert html.count('class="bar"') == 1


def test_a_title_of_ones_own_is_escaped() -> None:
    text = page.write(table(["a"], "people"), SURVEY, statement.write(SURVEY), title="<b>\x00 & co")
    assert "&lt;b&gt;\\x00 &amp; co" in text


def test_a_table_alone_can_be_had_for_a_notebook() -> None:
    read = Reader(page.fragment(table([*HOSTILE], "people"), SURVEY))
    assert read.tags()[:3] == ["div", "table", "caption"]


@pytest.mark.skipif(
    BROWSER is None and "browser" not in os.environ.get("DENIABLE_REQUIRE", ""),
    reason="no Chromium on this machine",
)
def test_a_browser_shows_the_page_and_runs_nothing(tmp_path: Path) -> None:
    keys = ["<script>document.title='owned'</script>", "<img src=x onerror=\"document.title='owned'\">"]
    path = tmp_path / "page.html"
    path.write_text(written(table([*keys, *HOSTILE], "people"), SURVEY, figures=(figure(),)), "utf-8")
    flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    flags += f" --disable-component-update --disable-sync --user-data-dir={tmp_path / 'profile'}"
    command = [str(BROWSER), *flags.split(), "--dump-dom", path.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "<title>people by hue</title>" in shown.stdout
    assert "Refused to" not in shown.stderr
    assert len(re.findall("<script|<img", shown.stdout)) == 0
