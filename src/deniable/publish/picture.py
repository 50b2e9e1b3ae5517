"""A page with one drawing and its table: an offline HTML file in our style, without scripts or requests."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

from deniable.publish import cells


def write(
    drawing: str,
    *,
    title: str,
    lead: str,
    caption: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: Sequence[str],
    version: str,
) -> str:
    """Return the page as text. drawing: made by `svg`, which escapes; all else is escaped here."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("deniable.publish"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = (files("deniable.publish") / "templates" / "page.css").read_text("utf-8")
    return environment.get_template("picture.html.j2").render(
        drawing=Markup(drawing),  # noqa: S704 - made by `svg.element`, which escapes
        style=Markup(style),  # noqa: S704 - our own style sheet
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        title=cells.visible(title),
        lead=lead,
        caption=caption,
        headings=[cells.visible(heading) for heading in headings],
        rows=rows,
        texts=1,
        notes=notes,
        version=version,
    )
