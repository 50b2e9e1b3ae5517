"""`deniable local`: compare protocols, and the two ends of one as filters."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from deniable.cli.screens import Screen, as_json, fitting
from deniable.cli.survey import survey
from deniable.errors import ParameterError

if TYPE_CHECKING:
    from deniable.cli.protocols import Setup
    from deniable.local.estimates import Estimate

_HELP = """\
Usage: deniable local compare | randomize | estimate | survey ...

Collect from people who trust nobody: each value is randomised where it is, and
only the randomised report is sent.

  compare    what each protocol's error will be, side by side
  randomize  one value a line in, one report a line out
  estimate   reports in, an estimate with intervals out
  survey     answers in words, without trust and beside a trusted curator

Example, both ends in one pipe:
  deniable local randomize ages.txt --mean --bounds 0:100 --epsilon 1 |
      deniable local estimate --mean --bounds 0:100 --epsilon 1"""

Text = Annotated[str | None, typer.Option()]
Texts = Annotated[list[str] | None, typer.Option()]
Flag = Annotated[bool, typer.Option()]
Whole = Annotated[int | None, typer.Option()]
File = Annotated[str | None, typer.Argument(metavar="[FILE]")]


class Ends(TyperGroup):
    """`deniable local`: a screen as written."""

    def get_help(self, ctx: Any) -> str:  # noqa: ARG002
        """Return the screen."""
        return _HELP


app = typer.Typer(cls=Ends, help="Collect from people who trust nobody.", no_args_is_help=True)
app.command(cls=Screen)(survey)


@app.command(cls=Screen)
def compare(
    epsilon: Annotated[str, typer.Option()],
    mean: Flag = False,
    frequency: Flag = False,
    vector: Flag = False,
    key_value: Annotated[bool, typer.Option("--key-value")] = False,
    domain: Text = None,
    dimension: Whole = None,
    norm: Annotated[str, typer.Option()] = "l2",
    padding: Whole = None,
    out: Annotated[Path | None, typer.Option()] = None,
    json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Say what each protocol's error will be, side by side. Reads no data.

    Usage: deniable local compare --epsilon NUMBER
               --mean | --frequency --domain K | --vector --dimension D
               | --key-value --domain K [OPTION]...

    --mean           of numbers in a range: worst-case variance of a report, for
                     the range from -1 to 1, over the limit of all mechanisms
    --frequency      shares of --domain K items: variance of one item's share,
                     over that of subset selection
    --vector         mean of vectors of --dimension D and --norm l2 | linf (l2):
                     mean squared error of a report, over the least one here
    --key-value      shares of those who hold one of --domain K keys, of which a
                     person is thought to hold at most --padding N (1); likewise
    --out FILE       a picture (.svg), or a page with picture and table (.html)
    --json           JSON instead of text

    Examples:
      deniable local compare --epsilon 1 --mean
      deniable local compare --epsilon 1 --frequency --domain 100 --out page.html
    """
    from deniable.cli import comparing, remembering

    items = frequency or key_value
    asked = _setup((epsilon,), mean, items, vector, domain=domain, dimension=dimension)
    if padding is not None and not key_value:
        raise ParameterError("--padding", padding, "is for --key-value alone", "Leave it out.")
    pads = 1 if padding is None else padding
    found = remembering.key_values(asked, pads) if key_value else comparing.compared(asked, norm)
    if out is not None:
        comparing.save(found, out)
    print(as_json(found.to_json()) if json else fitting(found.text()))


@app.command(cls=Screen)
def randomize(
    file: File = None,
    mean: Flag = False,
    frequency: Flag = False,
    vector: Flag = False,
    epsilon: Texts = None,
    bounds: Text = None,
    domain: Text = None,
    other: Text = None,
    dimension: Whole = None,
    norm: Text = None,
    mechanism: Text = None,
    parameters: Text = None,
    as_bytes: Annotated[bool, typer.Option("--bytes")] = False,
) -> None:
    """Randomise values, one a line; print one report a line, always.

    Usage: deniable local randomize [FILE] --epsilon NUMBER PROTOCOL [OPTION]...

    FILE                 one value a line; standard input where omitted or -
    --mean               numbers; --bounds LOW:HIGH
    --frequency          items; --domain red,green | @FILE | K (0 to K - 1),
                         --other NAME: the item for a line that holds none
    --vector             entries, parted by commas or spaces; --dimension D,
                         --norm l2 | linf (l2)
    --mechanism NAME     instead of the best one
    --parameters FILE    TOML with these words: protocol = "mean", epsilon = 1
    --bytes              reports in hexadecimal, not in JSON: shorter, but only
                         who has the same parameters can read them

    A line that holds no such value is reported too, and nobody can tell: it is
    the middle of the bounds, --other or else a random item, a vector of zeros.
    Numbers out of range are the nearest in it, entries that are none are 0.
    Every line costs epsilon; who is on two lines has spent it twice.

    Example:
      deniable local randomize ages.txt --mean --bounds 0:100 --epsilon 1
    """
    from deniable.cli import collecting

    words = {"bounds": bounds, "domain": domain, "other": other, "dimension": dimension, "norm": norm}
    words |= {"mechanism": mechanism}
    asked = _setup(tuple(epsilon or ()), mean, frequency, vector, **words).over(parameters)
    collecting.randomize(asked, file, as_bytes=as_bytes)


@app.command(cls=Screen)
def estimate(
    file: File = None,
    mean: Flag = False,
    frequency: Flag = False,
    vector: Flag = False,
    epsilon: Texts = None,
    bounds: Text = None,
    domain: Text = None,
    other: Text = None,
    dimension: Whole = None,
    norm: Text = None,
    mechanism: Text = None,
    parameters: Text = None,
    confidence: Annotated[str, typer.Option()] = "0.95",
    weights: Annotated[str, typer.Option()] = "worst",
    json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Estimate from reports, one a line, in JSON or hexadecimal.

    Usage: deniable local estimate [FILE] --epsilon NUMBER PROTOCOL [OPTION]...

    It takes the protocol's options as `deniable local randomize` does. Reports
    that were made with other parameters are refused. The last line says what
    values that could not be read count as: they are among the reports.

    --epsilon NUMBER     may be given more than once: reports of each are joined
    --weights RULE       how: worst (by precision) or population (all alike)
    --confidence P       of the intervals (0.95)
    --json               JSON instead of text

    Example:
      deniable local estimate reports.jsonl --mean --bounds 0:100 --epsilon 1
    """
    from deniable.cli import collecting
    from deniable.local import combine

    if weights not in ("worst", "population"):
        raise ParameterError("weights", weights, "is unknown", "Write 'worst' or 'population'.")
    words = {"bounds": bounds, "domain": domain, "other": other, "dimension": dimension, "norm": norm}
    words |= {"mechanism": mechanism}
    asked = _setup(tuple(epsilon or ()), mean, frequency, vector, **words).over(parameters)
    found = [totals for _, totals in collecting.aggregates(asked, file)]
    rule: Any = weights
    joined = (
        found[0].estimate(confidence)
        if len(found) == 1
        else combine(found, weights=rule, confidence=confidence)
    )
    names = [str(item) for item in asked.items()] if asked.kind == "frequency" else None
    rule_of_values = asked.rule()
    if json:
        print(as_json({**_record(joined, names), "unreadable": rule_of_values}, indent=None))
    else:
        print("\n".join([_shown(joined, names), textwrap.fill(rule_of_values, 80)]))


def _setup(epsilon: tuple[str, ...], mean: bool, frequency: bool, vector: bool, **words: Any) -> Setup:
    """Return what was asked for; refuse two protocols at once."""
    from deniable.cli.protocols import KINDS, Setup

    named = [kind for kind, said in zip(KINDS, (mean, frequency, vector), strict=True) if said]
    if len(named) > 1:
        raise ParameterError(f"--{named[1]}", None, f"does not go with --{named[0]}", "Ask for one of them.")
    return Setup(protocol=named[0] if named else None, epsilon=epsilon, **words)


def _record(found: Estimate, names: list[str] | None) -> dict[str, Any]:
    """Return an estimate as plain JSON values."""
    import numpy as np

    from deniable.exact import text

    record: dict[str, Any] = {"reports": found.n, "confidence": text(found.confidence)}
    if names is not None:
        record["items"] = names
    for name in ("value", "standard_error", "low", "high"):
        record[name] = np.asarray(getattr(found, name)).tolist()
    return {**record, "notes": list(found.notes)}


def _shown(found: Estimate, names: list[str] | None) -> str:
    """Return an estimate as text: one number, or a table of one line an entry."""
    import numpy as np

    from deniable.exact import text
    from deniable.publish import cells

    notes = [textwrap.fill(note, 80) for note in found.notes]
    if not isinstance(found.value, np.ndarray):
        return "\n".join([str(found), *notes])
    labels = names or [str(place) for place in range(found.value.size)]
    labels = [cells.cut(cells.visible(label), 30) for label in labels]
    wide = max(map(cells.width, (*labels, "item")))
    rows = [f"{cells.padded('item' if names else 'entry', wide)} {'estimate':>12} {'from':>12} {'to':>12}"]
    numbers = zip(labels, found.value, np.asarray(found.low), np.asarray(found.high), strict=True)
    rows += [f"{cells.padded(label, wide)} {v:>12.5f} {a:>12.5f} {b:>12.5f}" for label, v, a, b in numbers]
    share = text(100 * found.confidence)
    said = (
        f"From {found.n:,} report{'s' * (found.n != 1)}; each interval holds the truth in {share} % of cases."
    )
    return "\n".join([*rows, "", said, *notes])
