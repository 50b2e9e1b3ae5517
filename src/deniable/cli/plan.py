"""`deniable plan`: what a release would cost and how precise it would be, without reading a row."""

from __future__ import annotations

from typing import Annotated

import typer

from deniable.cli.options import Options
from deniable.cli.saving import save_plan
from deniable.cli.screens import as_json, fitting
from deniable.errors import ParameterError


def plan(
    options: Options,
    plan: Annotated[str | None, typer.Option()] = None,
    json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Show what a release would cost and how precise it would be; no row is read.

    Usage: deniable plan [FILE] --unit COLUMN --epsilon NUMBER [OPTION]...

    It prints the price, the noise, the error of each column and the threshold.
    Without FILE, the columns are those that --types names: no data are needed.

    Who      --unit COLUMN | --per-row; --population N; --name NAME
    Rows     --where CONDITION; --derive NAME=EXPRESSION; --types COLUMN=TYPE;
             --delimiter CHARACTER; --join FILE --on COLUMN
    Groups   --group-by COLUMN; --max-groups N|auto; --over weight|drop;
             --keys FILE; --selection auto|threshold|sips|truncated-geometric;
             --max-keys N; --share P; --other
    Ask      --units; --count [[NAME=]COLUMN]; --sum [NAME=]COLUMN:LOW:HIGH;
             --mean --variance --std --median --minimum --maximum: as --sum;
             --quantile COLUMN:LOW:HIGH:Q,Q; --histogram COLUMN:EDGE,EDGE,...;
             --distinct COLUMN; --max-rows N; --max-values N; after any: [:share=P]
    Price    --epsilon NUMBER; --delta NUMBER; --noise auto|laplace|gaussian;
             --confidence P; --no-coverage; --allow-large-delta
    Result   --json; --plan FILE: write the plan there, as JSON

    Example:
      deniable plan colours.csv --unit person --group-by colour --units \\
          --epsilon 1.1 --delta 1e-7
    """
    from deniable.cli.question import planned

    if options.data is None and not options.types:
        fix = "Name it, or name columns: --types person=text. See deniable plan --help."
        raise ParameterError("FILE", None, "is missing", fix)
    made = planned(options)
    if plan is not None:
        save_plan(made, plan)
    if json:
        record = made.to_json()
        print(as_json({"guarantee": record["guarantee"], "plan": record}))
    else:
        print(fitting(str(made)))
