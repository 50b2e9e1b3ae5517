"""`deniable demo`: release a survey, attack it, and show both on one screen."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.screens import as_json
from deniable.errors import ParameterError

if TYPE_CHECKING:
    from deniable.examples.attack import Outcome
    from deniable.examples.tour import Tour

PAGE = "colours.html"


def demo(
    out: Annotated[Path, typer.Option()] = Path("demo"),
    json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Release a survey of colours, and attack it with and without protection.

    Usage: deniable demo [--out DIR] [--json]

    --out DIR  where the page colours.html goes; made if it is missing (demo)
    --json     one JSON object instead

    The survey comes with the package; nothing of yours is read.
    """
    page = _page(out)
    from deniable.examples import tour

    shown = tour.tour()
    try:
        tour.write_page(shown, page)
    except OSError as error:
        raise _unusable(out) from error
    if json:
        print(as_json(_record(shown, page)))
    else:
        print(tour.screen(shown, page, plain=not _shows("█▏│…")), end="")


def _page(out: Path) -> Path:
    """Return where the page goes, its folder made.

    Raises:  ParameterError: there can be no such folder.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(out) from error
    return out / PAGE


def _unusable(out: Path) -> ParameterError:
    return ParameterError(
        "--out", str(out), "must be a folder that can be written to", "Write --out /tmp/demo."
    )


def _shows(signs: str) -> bool:
    """Tell whether the terminal's encoding has these signs."""
    try:
        signs.encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def _record(shown: Tour, page: Path) -> dict[str, Any]:
    attacks = {
        "same colours": shown.same,
        "different colours": shown.different,
        "with threshold": shown.hidden,
    }
    return {
        **shown.release.to_json(),
        "attacks": {name: _attack(outcome) for name, outcome in attacks.items()},
        "page": str(page),
    }


def _attack(outcome: Outcome) -> dict[str, Any]:
    return {
        "colour": outcome.colour,
        "people": outcome.people,
        "trials": outcome.trials,
        "right": outcome.right,
        "rate": float(outcome.rate),
    }
