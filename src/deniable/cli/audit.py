"""`deniable audit`: check what ships (`--all`), or any function, against its privacy claim."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.failures import calling
from deniable.cli.screens import as_json
from deniable.errors import ParameterError

if TYPE_CHECKING:
    from deniable.audit.subjects import Row
    from deniable.audit.verdict import Claim

VIOLATED = 1
_FALSE_ALARM = Fraction(1, 10**6)
_TRIALS = 1000
_TRIALS_OF_ONE = 10_000
_SUBJECT = "MODULE:FUNCTION"
_WIDTHS = (33, 19, 12, 6, 7)

Text = Annotated[str | None, typer.Option()]
Whole = Annotated[int | None, typer.Option()]


def audit(
    subject: Annotated[str | None, typer.Argument(metavar="[MODULE:FUNCTION]")] = None,
    all_: Annotated[bool, typer.Option("--all")] = False,
    first: Text = None,
    second: Text = None,
    epsilon: Text = None,
    delta: Annotated[str, typer.Option()] = "0",
    exactly: Annotated[bool, typer.Option("--exact")] = False,
    trials: Whole = None,
    confidence: Annotated[str, typer.Option()] = "0.95",
    batch: Whole = None,
    seed: Whole = None,
    json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Check privacy claims by machine: everything that ships, or a function.

    Usage: deniable audit --all [--trials N] [--json]
           deniable audit MODULE:FUNCTION --first VALUE --second VALUE [OPTION]...

    --all              events, noise, mechanisms, selection, whole releases; a false
                       alarm anywhere in the table has a chance of one in a million
    MODULE:FUNCTION    a function of an input, in a module that Python finds from here
    --first, --second  two neighbouring inputs, as JSON (or plain text)
    --epsilon, --delta the claim; without --epsilon only bounds are given
    --exact            the function returns probabilities: decide, do not sample
    --trials N         runs of each input (10000; 1000 with --all)
    --confidence P     of what sampling says (0.95)
    --batch N          the function takes (input, n) and returns n outcomes, n <= N
    --seed N           repeatable bits, for a function that has a parameter `bits`
    --json             JSON instead of text

    Exit code 0: nothing is violated. 1: a claim is violated.

    Examples:
      deniable audit --all
      deniable audit deniable.audit.specimens:half_noise --first 0 --second 1 \\
          --epsilon 1 --batch 10000
      deniable audit deniable.audit.specimens:one_way --first 0 --second 1 \\
          --epsilon "ln 3" --exact
    """
    if all_ == (subject is not None):
        what = "is missing" if subject is None else "does not go with --all"
        fix = "Write deniable audit --all, or name a function: mine:coin is coin in mine.py."
        raise ParameterError(_SUBJECT, subject, what, fix)
    if subject is None:
        violated = _all(_TRIALS if trials is None else trials, json=json)
    else:
        function = _function(subject)
        inputs = _value("--first", first), _value("--second", second)
        options = {"trials": trials or _TRIALS_OF_ONE, "confidence": confidence, "batch": batch, "seed": seed}
        violated = _one(subject, function, inputs, epsilon, delta, options, exactly=exactly, json=json)
    if violated:
        raise typer.Exit(VIOLATED)


def _all(trials: int, *, json: bool) -> bool:
    """Audit everything that ships; print the rows; return whether a claim is violated."""
    from deniable.audit.shipped import shipped
    from deniable.audit.subjects import Known, audited

    subjects = shipped()
    chances = sum(not isinstance(subject, Known) for subject in subjects)
    rows = []
    if not json:
        print(_line("subject", "epsilon, delta", "verdict", "bound", "trials", "time"))
    for subject in subjects:
        rows.append(audited(subject, trials=trials, confidence=1 - _FALSE_ALARM / chances))
        if not json:
            print(_row(rows[-1]), flush=True)
    violated = [row for row in rows if row.verdict == "violated"]
    if json:
        print(as_json([row.to_json() for row in rows]))
        return bool(violated)
    print("\nbound: epsilon as proved, or that trials (or a refutation) show at least.")
    print("Where it is far below the claim, the trials see gross faults only: more see more.")
    print("\n".join(f"\n{row.name}: {row.words}" for row in violated) or "Nothing is violated.")
    return bool(violated)


def _one(
    place: str,
    function: Callable[..., Any],
    inputs: tuple[object, object],
    epsilon: str | None,
    delta: str,
    options: dict[str, Any],
    *,
    exactly: bool,
    json: bool,
) -> bool:
    """Audit one function; print the verdict; return whether the claim is violated."""
    from deniable.audit import exact, sampled

    if exactly:
        if epsilon is None:
            raise ParameterError("--epsilon", epsilon, "is needed with --exact", "Write --epsilon 1.")
        found: Any = exact(function, inputs, epsilon=epsilon, delta=delta)
    else:
        found = sampled(function, *inputs, epsilon=epsilon, delta=delta, **options)
    print(as_json(_record(place, found)) if json else found)
    return bool(found.word == "violated")


def _function(place: str) -> Callable[..., Any]:
    """Return the function that was named.

    Raises:  ParameterError: there is none.
    """
    from deniable.audit.subjects import load

    module, _, names = place.partition(":")
    if module.endswith(".py"):
        fix = f"Write {Path(module).stem}:{names or 'FUNCTION'}, in the folder of the file."
        raise ParameterError(_SUBJECT, place, "names a file, not a module", fix)
    with calling("subject", _SUBJECT), _found_from_here():
        return load(place)


def _record(place: str, found: Any) -> dict[str, object]:
    """Return a verdict as plain JSON values."""
    from deniable.audit.subjects import bound, runs

    least = bound(found)
    return {
        "name": place,
        "claim": None if found.claim is None else _plain(found.claim),
        "verdict": found.word,
        "bound": str(least) if least == float("inf") else least,
        "trials": runs(found),
        "words": str(found),
    }


def _plain(claim: Claim) -> dict[str, str]:
    from deniable.exact import text

    return {"epsilon": text(claim.epsilon), "delta": text(claim.delta)}


def _value(option: str, words: str | None) -> object:
    """Return what was written as JSON, lists as tuples; else the text itself."""
    if words is None:
        raise ParameterError(option, words, "is needed: two neighbouring inputs", f"Write {option} 0.")
    try:
        return _frozen(json_module.loads(words))
    except ValueError:
        return words


def _frozen(value: object) -> object:
    return tuple(_frozen(one) for one in value) if isinstance(value, list) else value


@contextmanager
def _found_from_here() -> Iterator[None]:
    """Let Python find modules in the folder that the command was called from."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)


def _row(row: Row) -> str:
    bound = "" if row.bound is None else f"{row.bound:.3f}"
    trials = f"{row.trials:,}" if row.trials else ""
    return _line(row.name, _short(row.claim), row.verdict, bound, trials, f"{row.seconds:.1f} s")


def _short(claim: Claim) -> str:
    return f"{float(claim.epsilon):.4g}" + (f", {float(claim.delta):.3g}" if claim.delta else "")


def _line(*cells: str) -> str:
    padded = [cell[:width].ljust(width) for cell, width in zip(cells, (*_WIDTHS, 0), strict=True)]
    return " ".join([*padded[:-1], cells[-1]]).rstrip()
