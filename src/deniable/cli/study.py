"""`deniable study`: published mechanisms, run again and audited."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from deniable.cli.screens import Screen, as_json
from deniable.errors import ParameterError

if TYPE_CHECKING:
    from deniable.studies.dct.study import Study

_HELP = """\
Usage: deniable study dct --out DIR [--quick] [--adult FILE] [OPTION]...

Run a published mechanism again, audit it, and say in words what holds.

dct           "classified transformation", a mean estimate of 2022

--out DIR     for pictures (SVG, PNG), tables (CSV), a page and the verdict;
              a study that was stopped goes on from what it finds there
--quick       a look in a minute; the whole takes a quarter of an hour of
              processor time
--adult FILE  the UCI Adult extract (adult.data)
--br, --mx    real extracts of IPUMS, CSV with a column totalincome
--wisdm FILE  WISDM_ar_v1.1_raw.txt
              without these three, made-up data of the same shape, marked so
--workers N   processes (as many as there are CPUs);  --seed N (1);  --json

Examples:
  deniable study dct --quick --out dct
  deniable study dct --adult adult.data --out dct"""

File = Annotated[Path | None, typer.Option()]
Whole = Annotated[int | None, typer.Option()]


class Studies(TyperGroup):
    """`deniable study`: one command a study."""

    def get_help(self, ctx: Any) -> str:  # noqa: ARG002
        """Return the screen as written."""
        return _HELP


app = typer.Typer(cls=Studies, help="Run a published mechanism again, and audit it.", no_args_is_help=True)


@app.callback()
def _studies() -> None:
    """Keep the name of the study an argument, while there is one study."""


@app.command("dct", cls=Screen, help=_HELP)
def dct(
    out: Annotated[str, typer.Option()],
    quick: Annotated[bool, typer.Option("--quick")] = False,
    adult: File = None,
    br: File = None,
    mx: File = None,
    wisdm: File = None,
    workers: Whole = None,
    seed: Annotated[int, typer.Option()] = 1,
    json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Run the study of DCT and print its verdict."""
    from deniable.exact import whole
    from deniable.studies.dct.parts import FULL, QUICK, Data
    from deniable.studies.dct.study import run

    number = whole(seed, "seed", at_least=0, at_most=(1 << 63) - 1)
    many = whole(os.cpu_count() or 1 if workers is None else workers, "--workers", at_least=1, at_most=1024)
    given, sizes = Data(adult, br, mx, wisdm), QUICK if quick else FULL
    if not out.strip():
        raise ParameterError("--out", out, "names no folder", "Write for example --out dct.")
    found = run(Path(out), given, sizes=sizes, seed=number, workers=many)
    print(as_json(_record(found)) if json else _screen(found, Path(out)))


def _screen(found: Study, out: Path) -> str:
    """Return the verdict, 80 columns wide, and where everything is."""
    parts: list[str] = []
    for finding in found.findings:
        parts += [f"{finding.claim}: {finding.found}", *_wrapped(finding.words), ""]
    kinds = "SVG and PNG" if found.pictures else 'SVG; for PNG: pip install "deniable[study]"'
    for note in found.notes:
        parts += [*textwrap.wrap(note, 80), ""]
    return "\n".join([*parts, f"Page      {found.page}", f"Pictures  {out} ({kinds}), tables beside them"])


def _wrapped(words: str) -> Sequence[str]:
    return textwrap.wrap(words, 80, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def _record(found: Study) -> dict[str, object]:
    return {
        "findings": [asdict(finding) for finding in found.findings],
        "page": str(found.page),
        "figures": [part.name for part in found.parts],
        "png": found.pictures,
        "notes": list(found.notes),
    }
