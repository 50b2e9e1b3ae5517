"""`deniable local survey`: an open survey when nobody is trusted, beside the curator's release."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.failures import calling
from deniable.cli.saving import save_words
from deniable.cli.screens import as_json, fitting
from deniable.errors import ParameterError
from deniable.exact import probability
from deniable.exact import text as exact_text

if TYPE_CHECKING:
    from deniable.local.heavy.beside import Beside, Line

Text = Annotated[str, typer.Option()]
_ROWS, _NAME = 14, 24
_SIDES = ("nobody trusted", "curator")
OPEN = "…"


def survey(
    file: Annotated[str, typer.Argument(metavar="FILE")],
    unit: Text,
    column: Text,
    epsilon: Text,
    delta: Text = "0",
    population: Annotated[int | None, typer.Option()] = None,
    confidence: Text = "0.95",
    delimiter: Annotated[str | None, typer.Option()] = None,
    out: Annotated[Path | None, typer.Option()] = None,
    json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Ask for answers in words, with nobody trusted, beside a trusted curator.

    Usage: deniable local survey FILE --unit COLUMN --column COLUMN
               --epsilon NUMBER --delta NUMBER [OPTION]...

    FILE              one row an answer; each person's device is played from it
    --unit COLUMN     whose answer it is
    --column COLUMN   what they said, in their own words
    --epsilon NUMBER  of each side; --delta NUMBER of the curator's alone
    --population N    how many people there may be, if that is public
    --confidence P    of the intervals (0.95)
    --delimiter D     what parts columns, where that is not a comma
    --out FILE        a page (.html) with a chart and the table
    --json            one JSON object instead

    Both sides read the same file, so it has spent both.

    Example:
      deniable local survey colours.csv --unit person --column colour \\
          --epsilon 2 --delta 1e-7
    """
    from deniable.local.heavy.beside import beside

    if out is not None and out.suffix not in (".html", ".htm"):
        raise ParameterError("--out", str(out), "has another ending", "Name a file ending in .html.")
    if not probability(delta, "delta"):
        fix = "Write for example --delta 1e-7, which is spent at the curator alone."
        raise ParameterError("--delta", delta, "cannot be 0 where answers are found in the data", fix)
    with calling("column", "--column"):
        found = beside(
            file,
            unit=unit,
            column=column,
            epsilon=epsilon,
            delta=delta,
            population=population,
            confidence=confidence,
            delimiter=delimiter,
        )
    if out is not None:
        save(found, out)
    print(as_json(record(found)) if json else fitting(screen(found)))


def screen(found: Beside) -> str:
    """Return the two sides as a table of at most 80 columns, and what the missing trust costs."""
    lines = found.lines
    shown = lines[:_ROWS] + [line for line in lines[_ROWS:] if line.alone]
    head = [_title(found), "", f"{'':<{_NAME}}{'nobody is trusted':>27}{'a curator is trusted':>28}"]
    head.append(f"{'answer':<{_NAME}}{'people':>8}{_sure(found):>19}{'people':>9}{_sure(found):>19}")
    rows = [_row(line) for line in shown]
    more = [f"... and {len(lines) - len(shown):,} more answers that the curator publishes."]
    notes = [textwrap.fill(note, 80) for note in notes_of(found)]
    return "\n".join([*head, *rows, *more * (len(lines) > len(shown)), "", *notes])


def notes_of(found: Beside) -> list[str]:
    """Return what the missing trust costs, and what the file has spent, a sentence or two each."""
    lines, n = found.lines, found.found.n
    alone = sum(line.alone is not None for line in lines)
    trusted = sum(line.trusted is not None for line in lines)
    least = f"{found.found.threshold * n:,.0f}"
    said = [
        f"Without trust {_count(alone, 'answer')} could be told apart from noise, with a curator "
        f"{_count(trusted, 'answer')}: an answer must be given by about {least} people without trust, by "
        f"{_people(found)} with."
    ]
    if found.times:
        answer, wide, narrow = found.times
        least = f"{narrow:,.0f}" if narrow >= 1 else "less than 1"
        times = f"{'' if narrow >= 1 else 'more than '}{wide / max(narrow, 1):,.0f} times as precisely"
        said.append(
            f"How many said {_name(answer)!r} is known to within {wide:,.0f} people without trust, to "
            f"within {least} with: {times}."
        )
    guarantee = found.release.guarantee
    said.append(
        f"The file has spent both: {guarantee} at the curator, epsilon "
        f"{exact_text(found.protocol.epsilon)} in reports. That {n:,} people reported is public where nobody "
        f"is trusted.{_open(found)}"
    )
    return said


def record(found: Beside) -> dict[str, Any]:
    """Return both sides as plain JSON values."""
    return {
        "column": found.column,
        "reports": found.found.n,
        "protocol": found.protocol.parameters.to_json(),
        "threshold": found.found.threshold,
        "answers": [
            {"answer": line.answer, "nobody trusted": _side(line.alone), "curator": _side(line.trusted)}
            for line in found.lines
        ],
        "notes": notes_of(found),
        "curator": found.release.to_json(),
    }


def save(found: Beside, path: Path) -> None:
    """Write the page.

    Raises:  ParameterError: the file cannot be written.
    """
    from deniable import __version__
    from deniable.publish import picture, svg

    lines = found.lines[:_ROWS]
    bars = [
        svg.Bar(f"{_name(line.answer)}, {who}", f"{side[0]:,.0f}", *side, second=who == _SIDES[1])
        for line in lines
        for who, side in zip(_SIDES, (line.alone, line.trusted), strict=True)
        if side
    ]
    told = "For each answer the number of people, as estimated without trust and with a curator."
    page = picture.write(
        svg.bars(bars, name="survey", title=_title(found), description=told, kinds=_SIDES),
        title=_title(found),
        lead=told,
        caption=_title(found),
        headings=("answer", _SIDES[0], "interval", _SIDES[1], "interval"),
        rows=[(_name(line.answer), *_cells(line.alone), *_cells(line.trusted)) for line in found.lines],
        notes=notes_of(found),
        version=__version__,
    )
    save_words(page, path, "--out")


def _title(found: Beside) -> str:
    from deniable.publish import cells

    return (
        f"What people said: {cells.visible(found.column)[:40]}, epsilon {exact_text(found.protocol.epsilon)}"
    )


def _row(line: Line) -> str:
    from deniable.publish import cells

    name = _name(line.answer)
    while cells.width(name) > _NAME - 1:
        name = name[:-2] + "…"
    (a, b), (c, d) = _cells(line.alone), _cells(line.trusted)
    return f"{name}{' ' * (_NAME - cells.width(name))}{a:>8}{b:>19}{c:>9}{d:>19}"


def _cells(side: tuple[float, float, float] | None) -> tuple[str, str]:
    if side is None:
        return "-", ""
    narrow = (side[2] - side[1]) / 2 < 1
    return f"{side[0]:,.0f}", "within less than 1" if narrow else f"{side[1]:,.0f} to {side[2]:,.0f}"


def _side(side: tuple[float, float, float] | None) -> dict[str, float] | None:
    return None if side is None else {"people": side[0], "low": side[1], "high": side[2]}


def _name(answer: str) -> str:
    from deniable.publish import cells

    return cells.visible(answer) or cells.NO_VALUE


def _open(found: Beside) -> str:
    """Say what the sign at the end of a beginning means, where there is one."""
    if not any(item.endswith(OPEN) for item in found.found.items):
        return ""
    told = f"{found.protocol.length} letters from a to z, or fewer others, are told there"
    return f" An answer that ends in {OPEN} was followed no further: {told}."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _sure(found: Beside) -> str:
    return f"{exact_text(100 * found.found.confidence)} %"


def _people(found: Beside) -> str:
    least = found.release.plan.threshold
    return "some" if least is None else f"{float(least):,.0f}"
