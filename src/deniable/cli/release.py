"""`deniable release`: read a file once and publish statistics about its people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.options import Options
from deniable.cli.saving import check_out, save_plan, save_release
from deniable.cli.screens import as_json, fitting
from deniable.errors import ParameterError

if TYPE_CHECKING:
    from deniable.query.release import Release

_PROMISE = {
    "The promise": "",
    "The remaining risk": "Remaining risk: ",
    "How much was counted": "",
}
"""The paragraphs of the statement that are printed under the table, and what each starts with there."""


def release(
    options: Options,
    ledger: Annotated[str | None, typer.Option()] = None,
    purpose: Annotated[str | None, typer.Option()] = None,
    out: Annotated[str | None, typer.Option()] = None,
    plan: Annotated[str | None, typer.Option()] = None,
    json: Annotated[bool, typer.Option("--json")] = False,
    threads: Annotated[int | None, typer.Option()] = None,
    memory_limit: Annotated[str | None, typer.Option()] = None,
) -> None:
    """Publish statistics about the people in FILE, with noise, and what is promised.

    Usage: deniable release FILE --unit COLUMN --epsilon NUMBER [OPTION]...

    Who      --unit COLUMN: whose a row is | --per-row; --population N, if known
    Rows     --where 'age >= 18'; --derive 'hue=lower(colour)'; --types
             age=integer; --delimiter ';'; --join PUBLICFILE --on COLUMN[=OTHER]
    Groups   --group-by COLUMN (again for more); --max-groups N|auto, in which a
             unit counts in full (1); --over weight|drop; --max-keys N; --keys FILE;
             --selection RULE; --share P; --other: one row for all not found
    Ask      --units; --count [[NAME=]COLUMN]; --sum [NAME=]COLUMN:LOW:HIGH;
             --mean --variance --std --median --minimum --maximum: as --sum;
             --quantile COLUMN:LOW:HIGH:Q,Q; --histogram COLUMN:EDGE,EDGE,...;
             --distinct COLUMN; --max-rows N; --max-values N; after any: [:share=P]
    Price    --epsilon NUMBER; --delta NUMBER (0); --noise auto|laplace|gaussian;
             --confidence P (0.95); --no-coverage; --allow-large-delta;
             --ledger LEDGER: paid there first, by the data's --name NAME
    Result   --out DIR: table, page, statement; --purpose TEXT; --plan FILE; --json
    Engine   --threads N; --memory-limit 2GB

    Example:
      deniable release colours.csv --unit person --group-by colour --units \\
          --epsilon 1.1 --delta 1e-7
    Exit codes: 0 done, 2 a mistake in what was asked, 3 the budget is too small.
    """
    from deniable.cli.question import planned

    if options.data is None:
        raise ParameterError("FILE", None, "is missing", "See deniable release --help.")
    if out is not None:
        check_out(out)
    made = planned(options, ledger)
    if plan is not None:
        save_plan(made, plan)
    released = made.release(purpose=purpose, threads=threads, memory_limit=memory_limit)
    failure = None if out is None else save_release(released, out)
    print(as_json(released.to_json()) if json else fitting(shown(released, _rest(out))))
    if failure is not None:
        raise failure


def shown(released: Release, rest: str) -> str:
    """Return the table, the promise in words, and a last line."""
    from deniable.publish import statement

    promised = [
        _PROMISE[heading] + " ".join(sentences).replace("max_groups = ", "--max-groups ")
        for heading, sentences in statement.paragraphs(released.facts)
        if heading in _PROMISE
    ]
    promise = "\n".join(map(statement.wrapped, promised))
    return f"{str(released).rstrip()}\n\n{promise}\n\n{rest}"


def _rest(out: str | None) -> str:
    """Say where the rest is."""
    if out:
        return f"{out} has the table, the page and the statement."
    return "Add --out DIR for the page and the statement."
