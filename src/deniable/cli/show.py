"""`deniable show`: a saved release on the screen again."""

from __future__ import annotations

from typing import Annotated

import typer

from deniable.cli.failures import calling
from deniable.cli.screens import as_json, fitting


def show(
    directory: Annotated[str, typer.Argument(metavar="DIR")],
    statement: Annotated[bool, typer.Option("--statement")] = False,
    plan: Annotated[bool, typer.Option("--plan")] = False,
    csv: Annotated[bool, typer.Option("--csv")] = False,
    json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Show a saved release: its table, what it promises, how it was made.

    Usage: deniable show DIR [--statement | --plan | --csv | --json]

    DIR is the folder that `deniable release --out` or Release.save wrote.
    Showing checks nothing: `deniable review DIR` does.

    --statement  the whole statement instead of the table
    --plan       what was planned: the price, the noise and the rule for groups
    --csv        the table as CSV
    --json       rows, guarantee, statement and plan as one JSON object
    """
    from deniable.cli.release import shown
    from deniable.errors import ParameterError
    from deniable.query.review import load

    if statement + plan + csv + json > 1:
        fix = "Name one of --statement, --plan, --csv and --json."
        raise ParameterError("show", None, "can show one thing at a time", fix)
    with calling("directory", "DIR"):
        release = load(directory)
    if json:
        print(as_json(release.to_json()))
    elif csv:
        print(release.files()["table.csv"].decode(), end="")
    elif statement:
        print(release.statement)
    elif plan:
        print(fitting(str(release.plan)))
    else:
        print(fitting(shown(release, f"`deniable review {directory}` checks it.")))
