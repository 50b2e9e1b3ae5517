"""`deniable ledger`: make a budget, see what was spent, check that nobody changed it, take it away."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from deniable.cli.saving import save_words
from deniable.cli.screens import as_json
from deniable.errors import LedgerError, ParameterError

if TYPE_CHECKING:
    from deniable.ledger import Ledger

_HELP = """\
Usage: deniable ledger create LEDGER --epsilon NUMBER --unit COLUMN [OPTION]...
       deniable ledger show LEDGER [--page FILE] [--json]
       deniable ledger verify LEDGER [DIR]... [--json]
       deniable ledger export LEDGER FILE

Make a privacy budget, see what was spent, check it.

LEDGER  a file, or the URL of a Postgres database

create  a new ledger; an existing one is never overwritten
show    what was spent, on what, and what is left
verify  every entry is checked, and that the releases in the folders DIR are in
        it: finds edits and rolled-back files
export  every entry, with its events and hash, as JSON

Each has its own --help. A release is paid for with --ledger LEDGER.

Example:
  deniable ledger create city.ledger --epsilon 2 --delta 1e-7 --unit person"""


class Ledgers(TyperGroup):
    """`deniable ledger`: its help is one screen as written."""

    def get_help(self, ctx: Any) -> str:  # noqa: ARG002
        """Return the screen."""
        return _HELP


app = typer.Typer(
    cls=Ledgers, help="Make a privacy budget, see what was spent, check it.", no_args_is_help=True
)

Place = Annotated[str, typer.Argument(metavar="LEDGER", help="A file, or the URL of a Postgres database.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]


@app.command()
def create(
    place: Place,
    epsilon: Annotated[str, typer.Option(help="The whole budget: 3, 0.5 or 'ln 3'.")],
    unit: Annotated[str, typer.Option(help="Who is protected: the unit column, or row.")],
    delta: Annotated[str, typer.Option(help="The whole delta, 1e-7 for example.")] = "0",
    rule: Annotated[str, typer.Option(help="What is summed: basic, concentrated or gaussian.")] = "basic",
    data: Annotated[str | None, typer.Option(help="The data set; unset, the first use decides.")] = None,
    neighbours: Annotated[str, typer.Option(help="'add or remove' or 'replace one'.")] = "add or remove",
    json: Json = False,
) -> None:
    """Make a new ledger; an existing one is never overwritten."""
    from deniable.ledger import Ledger

    ledger = Ledger.create(
        place, epsilon=epsilon, delta=delta, unit=unit, rule=rule, data=data, neighbours=neighbours
    )
    _print(ledger, json)


@app.command()
def show(
    place: Place,
    page: Annotated[Path | None, typer.Option(help="Also write an HTML page here.")] = None,
    json: Json = False,
) -> None:
    """Show what was spent, on what, and what is left."""
    from deniable.ledger import Ledger
    from deniable.ledger import page as pages

    ledger = Ledger.open(place)
    if page is not None:
        save_words(pages.write(ledger), page, "--page")
    _print(ledger, json)


@app.command()
def verify(
    place: Place,
    releases: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[DIR]...", help="Folders of releases whose heads must be in the ledger."),
    ] = None,
    json: Json = False,
) -> None:
    """Check every entry, and that no published release is missing: finds edits and rolled-back files."""
    from deniable.ledger import Ledger

    heads = {str(folder): _head(folder) for folder in releases or []}
    known = [head for head in heads.values() if head is not None]
    try:
        entries = Ledger.open(place).verify(heads=known)
    except LedgerError:
        if not json:
            print("\n".join(_about(folder, head) for folder, head in heads.items()), file=sys.stderr)
        raise
    if json:
        print(as_json({"sound": True, "entries": entries, "releases": heads}))
        return
    found = f"{_many(entries, 'entry', 'entries')}, {_many(len(known), 'published head')}"
    print(f"{place} is sound: {found} found.")
    for folder, head in heads.items():
        print(_about(folder, head))
    if len(known) < len(heads):
        which = ", ".join(folder for folder, head in heads.items() if head is None)
        print(f"NOTE: no ledger paid for {which}. What was spent there is in no balance.")


@app.command()
def export(
    place: Place,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where the JSON goes.")],
) -> None:
    """Write every entry, with its events and hash, as JSON."""
    from deniable.ledger import Ledger

    Ledger.open(place).export(file)
    print(f"{file} holds every entry of {place}.")


def _print(ledger: Ledger, json: bool) -> None:
    from deniable.ledger import history

    if json:
        print(as_json(history.record(ledger)))
        return
    try:
        "█░…".encode(sys.stdout.encoding or "ascii")
        plain = False
    except (LookupError, UnicodeEncodeError):
        plain = True
    print(history.show(ledger, plain=plain), end="")


def _head(folder: Path) -> str | None:
    """Return the ledger head of the release in a folder; None if it was made without a ledger."""
    fix = "Give a folder that `deniable release --out` wrote."
    path = folder / "release.json" if folder.is_dir() else folder
    try:
        record: Any = json_module.loads(path.read_text("utf-8"))
        written = record.get("ledger")
        head = None if written is None else written["head"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ParameterError("DIR", str(folder), "holds no release.json that can be read", fix) from None
    if head is not None and not isinstance(head, str):
        raise ParameterError("DIR", str(folder), "holds no release.json that can be read", fix)
    return head


def _about(folder: str, head: str | None) -> str:
    return f"{folder}: " + ("made without a ledger" if head is None else f"entry {head.partition(':')[0]}")


def _many(number: int, one: str, more: str = "") -> str:
    return f"{number:,} {one if number == 1 else more or one + 's'}"
