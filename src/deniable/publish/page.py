"""The page of a release: one HTML file that needs nothing else, can be read by anybody, and runs no script.

Whatever people typed is escaped twice over: `cells` takes away what acts or hides, the templates (with
autoescaping) and `svg.element` take away what HTML would read. A content security policy forbids scripts,
requests and every style but our own, should both ever fail.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from deniable.publish import cells, odds, statement, svg, terminal
from deniable.publish.facts import ColumnFacts, Facts, Table

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_BARS = 40
"""A chart draws so many of the largest groups; the table has all."""

_LONGEST_KEY = 120
_LONGEST_LABEL = 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Something more to tell: a heading, paragraphs, a drawing made by `svg` (or none), and its table."""

    title: str
    paragraphs: tuple[str, ...]
    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    drawing: str = ""


def write(
    published: Table, facts: Facts, words: str, *, title: str | None = None, figures: Sequence[Figure] = ()
) -> str:
    """Return the page as text: charts, the table, the statement (`words`), then the footer.

    title: a heading; what was counted and by what, where omitted. figures: shown before the statement.
    """
    environment = _environment()
    style = (files("deniable.publish") / "templates" / "page.css").read_text("utf-8")
    heading, *blocks = statement.blocks(words)
    return environment.get_template("page.html.j2").render(
        facts=facts,
        title=cells.visible(title) if title else _title(facts),
        lead=_lead(facts),
        style=_safe(style),
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        empty="" if len(published) else terminal.empty(facts),
        charts=_charts(published, facts),
        table=_safe(fragment(published, facts)) if len(published) else "",
        notes=[terminal.reading(facts), *statement.left_out(facts)],
        figures=[_figure(environment, figure) for figure in figures],
        statement_title=heading[0],
        statement=blocks,
    )


def fragment(published: Table, facts: Facts) -> str:
    """Return the table alone as HTML, for a notebook or a page of one's own."""
    headings = [cells.visible(name) for name in facts.groups]
    columns = [[_label(value) for value in published.column(name)] for name in facts.groups]
    for column in facts.columns:
        values, lows, highs = _numbers(published, column)
        digits = terminal.places(values, lows, highs)
        headings += [cells.visible(column.name), f"{statement.confidence(facts)} interval"]
        columns.append([cells.number(value, digits) for value in values])
        columns.append([terminal.interval(low, high, digits) for low, high in zip(lows, highs, strict=True)])
    rows = list(zip(*columns, strict=True))
    return _table(_environment(), _title(facts), headings, rows, texts=len(facts.groups))


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("deniable.publish", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _safe(markup: str) -> str:
    """Mark what we wrote ourselves as markup, so that it is not escaped again."""
    from markupsafe import Markup

    return Markup(markup)  # noqa: S704 - made by templates and `svg.element`, which escape, or our style sheet


def _title(facts: Facts) -> str:
    names = ", ".join(cells.visible(column.name) for column in facts.columns)
    groups = " and ".join(cells.visible(name) for name in facts.groups)
    return f"{names} by {groups}" if groups else names


def _lead(facts: Facts) -> str:
    guarantee = odds.in_words(facts.guarantee)
    one, _ = statement.nouns(facts.unit)
    delta = f", but for a risk of {odds.chance(guarantee.delta)}" if guarantee.delta else ""
    return (
        f"From {cells.visible(facts.source)}, with noise: the odds of what you see here change at most "
        f"{odds.fold(guarantee.epsilon)}-fold whether or not any one {one} is in the data{delta}."
    )


def _charts(published: Table, facts: Facts) -> list[dict[str, str]]:
    """Return one chart for each output column, if there are groups to compare."""
    if not facts.groups or not len(published):
        return []
    labels = [
        cells.cut(" · ".join(_label(value) for value in key), _LONGEST_LABEL)
        for key in zip(*(published.column(name) for name in facts.groups), strict=True)
    ]
    return [_chart(published, facts, column, labels) for column in facts.columns]


def _chart(published: Table, facts: Facts, column: ColumnFacts, labels: list[str]) -> dict[str, str]:
    values, lows, highs = _numbers(published, column)
    digits = terminal.places(values, lows, highs)
    entries = [
        svg.Bar(label, cells.number(value, digits), *map(terminal.as_float, (value, low, high)))
        for label, value, low, high in zip(labels, values, lows, highs, strict=True)
    ]
    shown = sorted(entries, key=lambda entry: entry.value, reverse=True)[:MOST_BARS]
    title = f"{cells.visible(column.name)} by {' and '.join(cells.visible(name) for name in facts.groups)}"
    note = f"The {len(shown)} largest of {len(entries):,}; the table below has all."
    drawing = svg.bars(
        shown,
        name=f"chart-{facts.columns.index(column)}",
        title=title,
        description=f"Bars of the {len(shown)} largest groups with their intervals; the table has all.",
    )
    return {"title": title, "drawing": _safe(drawing), "note": note if len(shown) < len(entries) else ""}


def _figure(environment: Environment, figure: Figure) -> dict[str, object]:
    table = _table(environment, figure.caption, list(figure.headings), list(figure.rows), texts=1)
    return {
        "title": figure.title,
        "paragraphs": figure.paragraphs,
        "drawing": _safe(figure.drawing),
        "table": _safe(table),
    }


def _table(
    environment: Environment,
    caption: str,
    headings: list[str],
    rows: Sequence[tuple[str, ...]],
    *,
    texts: int,
) -> str:
    template = environment.get_template("table.html.j2")
    return template.render(caption=caption, headings=headings, rows=rows, texts=texts)


def _numbers(
    published: Table, column: ColumnFacts
) -> tuple[Sequence[object], Sequence[object], Sequence[object]]:
    low, high = f"{column.name}_low", f"{column.name}_high"
    return published.column(column.name), published.column(low), published.column(high)


def _label(value: object) -> str:
    return cells.cut(cells.key(value), _LONGEST_KEY)
