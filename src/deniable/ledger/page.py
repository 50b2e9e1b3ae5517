"""One HTML file that shows what a ledger was spent on: the spending drawn entry by entry, and its table.

It needs nothing else, makes no request and runs no script. The horizontal axis is the order of the entries,
because a clock can be wrong; the table has the times.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from deniable import __version__
from deniable.exact import text
from deniable.ledger.history import Line, lines, short, worded
from deniable.publish import cells, svg

if TYPE_CHECKING:
    from deniable.ledger.book import Ledger

_TOP, _HEIGHT = 12, 260
_LEFT, _RIGHT = 13.0, 97.0


def write(ledger: Ledger) -> str:
    """Return the page as text."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    places = ChoiceLoader([PackageLoader("deniable.ledger", "templates"), PackageLoader("deniable.publish")])
    environment = Environment(
        loader=places, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    style = (files("deniable.publish") / "templates" / "page.css").read_text("utf-8")
    entries = ledger.entries()
    written, last = lines(entries), entries[-1]
    return environment.get_template("ledger.html.j2").render(
        version=__version__,
        title=f"Ledger {cells.visible(ledger.label)}",
        style=Markup(style),  # noqa: S704 - our own style sheet
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        facts=_facts(ledger, last.data, last.head),
        spent=worded(last.spent, up=True),
        left=worded(ledger.limit.minus(last.spent), up=False),
        drawing=Markup(drawing(ledger, written)) if written else "",  # noqa: S704 - `svg` escapes
        caption="What was spent, and on what",
        headings=["purpose", "entry", "time", "state", ledger.rule.amount, "delta", "spent"],
        rows=[_row(line) for line in written],
        texts=1,
    )


def _facts(ledger: Ledger, data: str | None, head: str) -> list[tuple[str, str]]:
    budget = f"epsilon {text(ledger.epsilon)}, delta {text(ledger.delta)}"
    return [
        ("Who is protected", f"each {cells.visible(ledger.unit)}; neighbours: {ledger.neighbours.value}"),
        ("Data", cells.visible(data) if data else "none yet"),
        ("Budget", f"{budget}, counted by the {ledger.rule.value} rule"),
        ("Head", head),
    ]


def _row(line: Line) -> list[str]:
    return [
        cells.visible(line.purpose or line.did),
        str(line.number),
        line.time[:16].replace("T", " "),
        line.state,
        short(line.charge.amount),
        short(line.charge.delta),
        short(line.spent.amount),
    ]


def drawing(ledger: Ledger, written: Sequence[Line]) -> str:
    """Return the spending as steps, as a share of the budget, from nothing to all of it."""
    whole = ledger.limit.amount
    shares = [float(line.spent.amount / whole) for line in written]

    def x(place: float) -> str:
        return f"{_LEFT + (_RIGHT - _LEFT) * place / len(written):.3f}%"

    def y(share: float) -> float:
        return round(_TOP + _HEIGHT * (1 - share), 2)

    parts = [_level(share, y) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    before = 0.0
    for place, (line, share) in enumerate(zip(written, shares, strict=True)):
        told = svg.element("title", svg.words(f"entry {line.number}: {worded(line.spent, up=True)} spent"))
        rise = _line(x(place), y(before), x(place), y(share))
        parts.append(svg.element("g", told, rise, _line(x(place), y(share), x(place + 1), y(share))))
        before = share
    label = f"entries {written[0].number} to {written[-1].number}, in order"
    parts.append(
        svg.element(
            "text", svg.words(label), class_="tick", x=f"{_RIGHT}%", y=_TOP + _HEIGHT + 20, text_anchor="end"
        )
    )
    named = svg.element("title", f"{ledger.rule.amount} spent over time", id="spending-title")
    told = svg.element("desc", f"{_percent(shares[-1])} of the budget is spent.", id="spending-desc")
    return svg.element(
        "svg",
        named,
        told,
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        class_="chart plot",
        width="100%",
        height=_TOP + _HEIGHT + 30,
        role="img",
        aria_labelledby="spending-title spending-desc",
    )


def _level(share: float, y: Callable[[float], float]) -> str:
    at = y(share)
    kind = "axis" if share in (0.0, 1.0) else "grid"
    label = svg.element(
        "text", _percent(share), class_="tick", x=f"{_LEFT - 1.5}%", y=at + 4, text_anchor="end"
    )
    return svg.element("line", class_=kind, x1=f"{_LEFT}%", y1=at, x2=f"{_RIGHT}%", y2=at) + label


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _line(x1: str, y1: float, x2: str, y2: float) -> str:
    return svg.element("line", class_="curve", x1=x1, y1=y1, x2=x2, y2=y2)
