"""The options that `plan` and `release` share, as one value; and how a command takes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, get_type_hints

import typer

Text = Annotated[str | None, typer.Option()]
Many = Annotated[list[str] | None, typer.Option()]
Number = Annotated[int | None, typer.Option()]
Flag = Annotated[bool, typer.Option()]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to publish of which file at what price, in the words of the command line."""

    data: Annotated[str | None, typer.Argument(metavar="FILE")] = None
    unit: Text = None
    per_row: Flag = False
    population: Number = None
    name: Text = None
    types: Many = None
    delimiter: Text = None
    join: Many = None
    on: Many = None
    where: Many = None
    derive: Many = None
    group_by: Many = None
    max_groups: Text = None
    over: Text = None
    selection: Text = None
    share: Text = None
    max_keys: Number = None
    other: Flag = False
    keys: Text = None
    units: Text = None
    count: Many = None
    sum: Many = None
    mean: Many = None
    variance: Many = None
    std: Many = None
    quantile: Many = None
    median: Many = None
    minimum: Many = None
    maximum: Many = None
    histogram: Many = None
    distinct: Many = None
    max_rows: Text = None
    max_values: Number = None
    epsilon: Text = None
    delta: Annotated[str, typer.Option()] = "0"
    noise: Annotated[str, typer.Option()] = "auto"
    confidence: Annotated[str, typer.Option()] = "0.95"
    no_coverage: Annotated[bool, typer.Option("--no-coverage")] = False
    allow_large_delta: Annotated[bool, typer.Option("--allow-large-delta")] = False


def taking_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return `command(options, ...)` as typer needs it: one function with all parameters spelt out.

    Its parameters are the fields of `Options`, then those of the command after the first.
    """
    hints = get_type_hints(Options, include_extras=True)
    shared = [
        _parameter(
            field.name,
            hints[field.name],
            inspect.Parameter.empty if field.default is MISSING else field.default,
        )
        for field in fields(Options)
    ]
    own_hints = get_type_hints(command, include_extras=True)
    own = [
        _parameter(name, own_hints[name], parameter.default)
        for name, parameter in list(inspect.signature(command).parameters.items())[1:]
    ]

    def run(**given: Any) -> None:
        options = Options(**{field.name: given.pop(field.name) for field in fields(Options)})
        command(options, **given)

    run.__doc__, run.__name__ = command.__doc__, command.__name__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*shared, *own)}
    vars(run)["__signature__"] = inspect.Signature([*shared, *own])
    return run


def _parameter(name: str, annotation: object, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
