"""`deniable advise`: which model, delta, noise and threshold, from public facts; nothing is read or spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.screens import as_json

if TYPE_CHECKING:
    from deniable.advice import Advice

Text = Annotated[str, typer.Option()]
Number = Annotated[int, typer.Option()]


def advise(
    population: Number,
    risk: Text = "0.1",
    queries: Number = 1,
    max_groups: Number = 1,
    epsilon: Text = "1",
    public_keys: Annotated[bool, typer.Option("--public-keys")] = False,
    nobody_trusted: Annotated[bool, typer.Option("--nobody-trusted")] = False,
    plot: Annotated[Path | None, typer.Option()] = None,
    json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Say which model, delta, noise and threshold fit, and why. Reads no data.

    Usage: deniable advise --population N [OPTION]...

    --population N    how many people there are, as is publicly known
    --risk NUMBER     how many of them may be exposed at worst, on average (0.1)
    --queries N       how many numbers are published about each group (1)
    --max-groups N    in how many groups one person counts (1)
    --epsilon NUMBER  for everything together; 0.1 to 10 is usual (1)
    --public-keys     groups are named beforehand, not found in the data
    --nobody-trusted  nobody may hold what people said
    --plot FILE       the chance that a group of one person is published, against
                      the threshold, as an SVG drawing
    --json            one JSON object instead

    Example:
      deniable advise --population 1000000 --risk 0.1
    """
    from deniable.advice import advise as advised

    advice = advised(
        population=population,
        risk=risk,
        queries=queries,
        max_groups=max_groups,
        epsilon=epsilon,
        keys="public" if public_keys else "unknown",
        trusted=not nobody_trusted,
    )
    if plot is not None:
        _draw(advice, plot)
    print(as_json(advice.to_json()) if json else advice)


def _draw(advice: Advice, path: Path) -> None:
    from deniable.cli import plots

    plots.save(plots.threshold(advice), path)
