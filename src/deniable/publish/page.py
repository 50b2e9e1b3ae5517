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

MOST_BARS = 20
"""A chart draws so many of the largest groups: it fits a printed page below its heading."""

MOST_ROWS = 10_000
"""The page's table has so many rows; the release's own table has all."""

_LONGEST_KEY = 120
_LONGEST_LABEL = 28
_MOST_NAMED = 3


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

    title: a heading; where omitted, what was counted and by what, or the purpose where that is too much.
    figures: shown before the statement.
    """
    environment = _environment()
    style = (files("deniable.publish") / "templates" / "page.css").read_text("utf-8")
    heading, *blocks = statement.blocks(words)
    return environment.get_template("page.html.j2").render(
        facts=facts,
        title=_heading(facts, title),
        lead=_lead(facts),
        style=_safe(style),
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        empty="" if len(published) else terminal.empty(facts),
        charts=_charts(published, facts),
        table=_safe(fragment(published, facts)) if len(published) else "",
        shortfall=statement.shortfall(facts),
        notes=[*statement.shortfall(facts), terminal.reading(facts), *statement.left_out(facts)],
        figures=[_figure(environment, figure) for figure in figures],
        statement_title=heading[0],
        statement=blocks,
    )


def fragment(published: Table, facts: Facts) -> str:
    """Return the table alone as HTML, for a notebook or a page of one's own; at most MOST_ROWS rows."""
    headings = [cells.visible(name) for name in facts.groups]
    columns = [[_label(value) for value in published.column(name)[:MOST_ROWS]] for name in facts.groups]
    for column in facts.columns:
        values, lows, highs = (numbers[:MOST_ROWS] for numbers in _numbers(published, column))
        digits = terminal.places(values, lows, highs)
        headings += [cells.visible(column.name), f"{statement.confidence(facts)} interval"]
        columns.append([cells.number(value, digits) for value in values])
        columns.append([terminal.interval(low, high, digits) for low, high in zip(lows, highs, strict=True)])
    rows = list(zip(*columns, strict=True))
    more = f" (the first {MOST_ROWS:,} of {len(published):,})" if len(published) > MOST_ROWS else ""
    caption, texts = f"{_title(facts)}{more}", len(facts.groups)
    return _table(_environment(), caption, headings, rows, texts=texts, shape="pairs")


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


def _heading(facts: Facts, title: str | None) -> str:
    if title:
        return cells.visible(title)
    if facts.purpose and len(facts.columns) > _MOST_NAMED:
        return cells.cut(cells.visible(facts.purpose), _LONGEST_KEY)
    return _title(facts)


def _title(facts: Facts) -> str:
    names = ", ".join(cells.visible(column.name) for column in facts.columns)
    if len(facts.columns) > _MOST_NAMED:
        names = f"{len(facts.columns)} columns"
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
    """Return one chart for each output column, all in the first one's order, if there are groups."""
    if not facts.groups or not len(published):
        return []
    keys = [published.column(name)[:] for name in facts.groups]
    first, _, _ = _numbers(published, facts.columns[0])
    rows = sorted(range(len(first)), key=lambda row: -terminal.as_float(first[row]))[:MOST_BARS]
    labels = [" · ".join(_label(key[row]) for key in keys) for row in rows]
    bars = list(zip(rows, cells.cut_apart(labels, _LONGEST_LABEL), strict=True))
    return [_chart(published, facts, column, bars) for column in facts.columns]


def _chart(
    published: Table, facts: Facts, column: ColumnFacts, bars: list[tuple[int, str]]
) -> dict[str, str]:
    """Return a chart of one column. bars: row and label of each, from the top."""
    values, lows, highs = _numbers(published, column)
    digits = terminal.places(values, lows, highs)
    entries = [
        svg.Bar(
            label,
            cells.number(values[row], digits),
            terminal.as_float(values[row]),
            terminal.as_float(lows[row]),
            terminal.as_float(highs[row]),
            drawn=not terminal.open_ended(column, lows[row], highs[row]),
        )
        for row, label in bars
    ]
    title = f"{cells.visible(column.name)} by {' and '.join(cells.visible(name) for name in facts.groups)}"
    first = column is facts.columns[0]
    which = "largest" if first else f"largest by {cells.visible(facts.columns[0].name)}"
    drawing = svg.bars(
        entries,
        name=f"chart-{facts.columns.index(column)}",
        title=title,
        description=f"Bars of {len(entries)} groups, the {which}, with their intervals; the table has all.",
    )
    left = len(values) > len(entries)
    note = (
        f"The {len(entries)} {which}{'' if first else ','} of {len(values):,}; the table below has more."
        if left
        else ""
    )
    return {"title": title, "drawing": _safe(drawing), "note": note}


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
    shape: str = "",
) -> str:
    """Return the table as HTML. texts: how many columns of text come first. shape: how a phone shows it."""
    template = environment.get_template("table.html.j2")
    return template.render(caption=caption, headings=headings, rows=rows, texts=texts, shape=shape)


def _numbers(
    published: Table, column: ColumnFacts
) -> tuple[Sequence[object], Sequence[object], Sequence[object]]:
    """Return values and both ends of the intervals as lists in memory."""
    value, low, high = (published.column(column.name + end)[:] for end in ("", "_low", "_high"))
    return value, low, high


def _label(value: object) -> str:
    return cells.cut(cells.key(value), _LONGEST_KEY)
