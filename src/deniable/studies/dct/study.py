"""The whole study: run what is missing, then write pictures, tables, the page and the verdict."""

from __future__ import annotations

import csv
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any

from deniable.audit.progress import meter
from deniable.errors import ParameterError
from deniable.studies.dct import adult, drawing, learning, means, privacy, tables
from deniable.studies.dct.files import put
from deniable.studies.dct.notebook import Cell, Notebook, Numbers, complete
from deniable.studies.dct.parts import FULL, STAND_INS, Data, Part, Sizes
from deniable.studies.dct.verdict import Finding, lines, verdict

PAGE = "study.html"
NOTEBOOK = "cells.json"
_OURS = re.compile(r"(figure\d|batches)\.(svg|png|csv)|study\.(json|html)|cells\.json|verdict\.txt")
TITLE = "DCT, run again and audited"
_NO_DATA = "none was given"
_STYLE = """
.picture { display: block; width: 100%; height: auto; margin: .6rem 0; border-radius: 4px; }
summary { cursor: pointer; color: var(--soft); font-size: .93rem; }
body { max-width: 56rem; }
@media (max-width: 30rem) { .drawn img { min-width: 0; } }
"""


@dataclass(frozen=True, slots=True)
class Study:
    """What a study found. pictures: whether PNG were drawn as well. notes: what was odd in the folder."""

    parts: Sequence[Part]
    findings: Sequence[Finding]
    page: Path
    pictures: bool
    notes: Sequence[str] = ()


def run(
    out: Path,
    data: Data,
    *,
    sizes: Sizes,
    seed: int,
    workers: int,
    progress: bool | None = None,
) -> Study:
    """Run the study, or what is missing of it in `out`, and write everything there.

    Args:    progress: show a bar; on a terminal when omitted.
    Raises:  ParameterError: out cannot be a folder, or a file in it cannot be written. SourceError: a file is
             not what it should be.
    """
    _check(data)
    try:
        out.mkdir(parents=True, exist_ok=True)
        _check_places(out)
        notebook = Notebook(out / NOTEBOOK)
        notebook.save()
    except OSError as error:
        problem = f"cannot be written to ({error.strerror})"
        raise ParameterError("--out", str(out), problem, "Name another folder.") from None
    cells = {**learning.cells(sizes, data), **means.cells(sizes, data), **privacy.cells(sizes, data)}
    every = [cell for group in cells.values() for cell in group]
    with meter(len(every), progress) as bar:
        numbers = iter(complete(every, notebook, seed=seed, workers=workers, bar=bar))
    found = {name: [next(numbers) for _ in group] for name, group in cells.items()}
    parts, findings = _parts(cells, found), verdict(cells, found)
    pictures = _write(out, parts, findings, _facts(sizes, data, seed), found)
    return Study(parts, findings, out / PAGE, pictures, notebook.notes)


def _check(data: Data) -> None:
    """Read every file once before anything is computed."""
    if data.adult is not None:
        adult.read(data.adult)
    for name, path in (("BR", data.br), ("MX", data.mx)):
        if path is not None:
            tables.census(name, path)
    if data.wisdm is not None:
        tables.accelerometer(data.wisdm)


def _check_places(out: Path) -> None:
    """Refuse folders where files will go, before anything is computed."""
    for path in sorted(out.iterdir()):
        if _OURS.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
            raise ParameterError("--out", str(path), "is a folder where a file goes", "Move it away.")


def _parts(cells: dict[str, list[Cell]], found: dict[str, list[Numbers]]) -> list[Part]:
    """Return the parts in the order of the figures."""
    first, second, third = means.parts(cells, found)
    regression, groups = learning.parts(cells, found)
    audits, limits = privacy.parts(cells, found)
    return [first, second, third, regression, audits, limits, groups]


def _facts(sizes: Sizes, data: Data, seed: int) -> list[tuple[str, str]]:
    from deniable import __version__

    given = {name: data.file(name) for name in ("ADULT", *STAND_INS)}
    sources = [f"{name}: SHA-256 {digest}" for name, (path, digest) in given.items() if path]
    missing = [name for name in STAND_INS if not given[name][0]]
    return [
        ("version", __version__),
        ("size", "full" if sizes == FULL else "a look, not the whole study"),
        ("seed", f"{seed}; made-up data: {means.SEED} (means), {learning.SEED} (regression)"),
        ("real data", "; ".join(sources) or _NO_DATA),
        ("synthetic", ", ".join([*means.MADE_UP, *(f"{name} stand-in" for name in missing)])),
        ("sizes", "; ".join(f"{name}: {value}" for name, value in asdict(sizes).items())),
    ]


def _write(
    out: Path,
    parts: Sequence[Part],
    findings: Sequence[Finding],
    facts: Sequence[tuple[str, str]],
    found: dict[str, list[Numbers]],
) -> bool:
    try:
        drawing.pillow()
        pictures = True
    except ParameterError:
        pictures = False
    for part in parts:
        put(out / f"{part.name}.svg", part.drawing.svg().encode())
        put(out / f"{part.name}.csv", _csv(part).encode())
        if pictures:
            put(out / f"{part.name}.png", part.drawing.png())
    seconds = sum(numbers["seconds"] for group in found.values() for numbers in group)
    record = {**dict(facts), "seconds of computing": round(seconds)}
    put(out / "study.json", json.dumps(record, indent=2).encode())
    put(out / "verdict.txt", ("\n".join(lines(findings)) + "\n").encode())
    put(out / PAGE, _page(parts, findings, list(record.items())).encode())
    return pictures


def _csv(part: Part) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(part.headings)
    writer.writerows(part.rows)
    return text.getvalue()


def _page(parts: Sequence[Part], findings: Sequence[Finding], facts: Sequence[tuple[str, Any]]) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    style = (files("deniable.publish") / "templates" / "page.css").read_text("utf-8") + _STYLE
    environment = Environment(
        loader=PackageLoader("deniable.studies.dct", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    known = dict(facts)
    return environment.get_template("study.html.j2").render(
        title=TITLE,
        version=known["version"],
        style=Markup(style),  # noqa: S704 - our own style sheet
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        synthetic=known["synthetic"],
        all_synthetic=known["real data"] == _NO_DATA,
        findings=findings,
        parts=list(_shown(parts)),
        facts=facts,
    )


def _shown(parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    for part in parts:
        number, narrow = part.name.removeprefix("figure"), part.drawing.narrow
        yield {
            "name": part.name,
            "heading": f"Figure {number}. {part.title}" if number.isdigit() else part.title,
            "title": part.title,
            "words": part.words,
            "headings": part.headings,
            "rows": part.rows,
            "synthetic": part.synthetic,
            "picture": b64encode(part.drawing.svg(headed=False).encode()).decode(),
            "narrow": "" if narrow is None else b64encode(narrow.svg(headed=False).encode()).decode(),
            "description": part.drawing.description,
        }
