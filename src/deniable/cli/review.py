"""`deniable review`: is a saved release what it says it is? The officer's tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.screens import as_json, fitting
from deniable.errors import ParameterError

WRONG = 2


def review(
    directory: Annotated[str, typer.Argument(metavar="DIR")],
    ledger: Annotated[str | None, typer.Option()] = None,
    json: Annotated[bool, typer.Option("--json")] = False,
) -> int:
    """Check a saved release: its promise, its words, its tables, its payment.

    Usage: deniable review DIR [--ledger LEDGER] [--json]

    DIR is the folder that `deniable release` or Release.save wrote.
    Its price is computed again by every theorem from what was done (the events),
    and every file is compared with what the release would write.

    files, versions  all are there, in formats that this version knows
    record           release.json follows from the plan, field by field
    promise          epsilon and delta are proved to cover the events
    events           they follow from the plan: bounds, shares, threshold
    statement        statement.txt is what the facts say, to the letter
    table, csv, page fit the plan and one another, intervals fit the noise
    noise            it came from the operating system, not from a seed
    ledger           the release was paid for, and the ledger is sound

    --ledger LEDGER  where it was paid for; where the release says, if omitted
    --json           print one JSON object

    Exit codes: 0 everything is as it says, 2 something is wrong or missing.
    """
    from deniable.query.review import review as reviewed

    if not Path(directory).is_dir():
        fix = "Give a folder that `deniable release --out` wrote."
        raise ParameterError("DIR", directory, "is no folder", fix)
    found = reviewed(directory, ledger=ledger)
    print(as_json(found.to_json()) if json else fitting(str(found)))
    return 0 if found.sound else WRONG
