"""`deniable account`: what events cost together; below it `calibrate` and `split`."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from deniable.cli.screens import Screen, as_json
from deniable.errors import ParameterError

if TYPE_CHECKING:
    from deniable.accounting import Account, Split, Theorems
    from deniable.events import Event

_EVENTS = "events"
_DIGITS = 6
_HELP = """\
Usage: deniable account EVENTS --delta NUMBER [OPTION]...
       deniable account calibrate KIND --epsilon NUMBER [OPTION]...
       deniable account split --epsilon NUMBER --queries N [OPTION]...

What events cost together, by every theorem.

EVENTS        [N x] NAME(FIELD=VALUE, ...), more after a comma or a plus. Names:
              laplace, gaussian, discrete-laplace, discrete-gaussian, selection,
              exponential, randomized-response, subsampled, composed, pure-dp,
              approx-dp, zero-concentrated-dp
--delta       the delta at which epsilon is wanted (0)
--epsilon     or the epsilon at which delta is wanted
--neighbours  'add or remove' (one unit, the default) or 'replace one'
--plot FILE   delta against epsilon, as an SVG drawing;  --json

Examples:
  deniable account "1000 x gaussian(sigma=100)" --delta 1e-9
  deniable account "10 x subsampled(gaussian(sigma=1), rate=0.2)" --delta 1e-5
  deniable account calibrate gaussian --epsilon 1 --delta 1e-6 --times 100
  deniable account split --epsilon 1 --delta 1e-6 --queries 100"""


class Accounts(TyperGroup):
    """`deniable account`: events are priced where no other command is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; what does not start with a command's name is for `events`."""
        if args and args[0] not in (*self.commands, "--help"):
            args = [_EVENTS, *args]
        return list(super().parse_args(ctx, args))

    def get_help(self, ctx: Any) -> str:  # noqa: ARG002
        """Return the screen as written."""
        return _HELP


app = typer.Typer(cls=Accounts, help="Say what noise and choices cost together.", no_args_is_help=True)

Text = Annotated[str, typer.Option()]
Maybe = Annotated[str | None, typer.Option()]
Plot = Annotated[Path | None, typer.Option()]
Json = Annotated[bool, typer.Option("--json")]


@app.command(_EVENTS, cls=Screen, hidden=True, help=_HELP)
def price(
    events: Annotated[str, typer.Argument(metavar="EVENTS")],
    delta: Maybe = None,
    epsilon: Maybe = None,
    neighbours: Text = "add or remove",
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Print what the events cost."""
    from deniable.accounting import account
    from deniable.cli.notation import parsed, written

    if epsilon is not None and delta is not None:
        raise ParameterError("--epsilon", epsilon, "does not go with --delta", "Leave out one of them.")
    asked = parsed(events)
    answer = _answer(account(asked, neighbours=neighbours), delta or "0", epsilon)
    if plot is not None:
        _draw(answer, " + ".join(map(written, asked)), plot)
    if json:
        print(_json(asked, answer))
        return
    print("\n".join(written(event) for event in asked))
    print(f"cost {_promise(answer)}.")
    if answer.theorems is not None:
        print(f"\n{answer.theorems}")


@app.command(cls=Screen, help=_HELP)
def calibrate(
    kind: Annotated[str, typer.Argument(metavar="KIND")],
    epsilon: Text,
    delta: Text = "0",
    times: Annotated[int, typer.Option()] = 1,
    sensitivity: Text = "1",
    neighbours: Text = "add or remove",
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Print the least noise that keeps a promise."""
    from deniable import accounting, events
    from deniable.cli.notation import kind as named
    from deniable.cli.notation import written

    least = accounting.calibrate(
        named(kind, "KIND"),
        epsilon=epsilon,
        delta=delta,
        times=times,
        sensitivity=sensitivity,
        neighbours=neighbours,
    )
    asked = [least if times == 1 else events.Repeated(least, times)]
    answer = _answer(accounting.account(asked, neighbours=neighbours), delta, None)
    if plot is not None:
        _draw(answer, written(asked[0]), plot)
    if json:
        print(_json(asked, answer))
        return
    print(f"{written(asked[0])}\nis the least noise; it costs {_promise(answer)}.")


@app.command(cls=Screen, help=_HELP)
def split(
    epsilon: Text, queries: Annotated[int, typer.Option()], delta: Text = "0", json: Json = False
) -> None:
    """Print what each of many queries may cost, by every theorem, and what a rule of thumb really costs."""
    from deniable.accounting import split as shared

    found = shared(epsilon=epsilon, delta=delta, queries=queries)
    if json:
        print(as_json(_split_record(found)))
    else:
        print("\n".join(textwrap.fill(line, 80) for line in str(found).splitlines()))


@dataclass(frozen=True, slots=True)
class _Answer:
    """One point of what was spent, and what every theorem says at that delta (if delta was given)."""

    spent: Account
    epsilon: Fraction
    delta: Fraction
    theorems: Theorems | None


def _answer(spent: Account, delta: str, epsilon: str | None) -> _Answer:
    from deniable.exact import at_least_zero, probability

    if epsilon is not None:
        given = at_least_zero(epsilon, "epsilon")
        return _Answer(spent, given, spent.delta(epsilon=given), None)
    risk = probability(delta, "delta")
    return _Answer(spent, spent.epsilon(risk), risk, spent.by_theorem(delta=risk))


def _promise(answer: _Answer) -> str:
    from deniable.exact import text

    relation = {"add or remove": "added or removed", "replace one": "replaced"}
    epsilon, delta = text(answer.epsilon, digits=_DIGITS), text(answer.delta, digits=_DIGITS)
    return f"epsilon {epsilon}, delta {delta}, for one unit {relation[answer.spent.neighbours.value]}"


def _draw(answer: _Answer, title: str, path: Path) -> None:
    from deniable.cli import plots

    drawing = plots.curve(answer.spent, title=title, epsilon=answer.epsilon, delta=answer.delta)
    plots.save(drawing, path)


def _json(asked: Sequence[Event], answer: _Answer) -> str:
    """Return the answer as JSON; numbers of at most 12 digits, rounded up."""
    from deniable.events import to_json
    from deniable.exact import text

    record: dict[str, Any] = {
        "events": [to_json(event) for event in asked],
        "neighbours": answer.spent.neighbours.value,
        "epsilon": text(answer.epsilon),
        "delta": text(answer.delta),
    }
    if answer.theorems is not None:
        record["theorems"] = _theorems_record(answer.theorems)
    return as_json(record)


def _theorems_record(theorems: Theorems) -> dict[str, str | None]:
    return {row.theorem: None if row.epsilon is None else str(row.epsilon) for row in theorems}


def _split_record(found: Split) -> dict[str, Any]:
    from deniable.events import to_json
    from deniable.exact import text

    return {
        "epsilon": text(found.epsilon, up=False),
        "delta": text(found.delta, up=False),
        "queries": found.queries,
        "shares": {share.theorem: None if share.event is None else to_json(share.event) for share in found},
        "rule_of_thumb": text(found.thumb, up=False),
        "rule_of_thumb_costs": None if found.claimed is None else _theorems_record(found.claimed),
    }
