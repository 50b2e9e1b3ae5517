"""Events as people type them: `1000 x gaussian(sigma=100), laplace(scale=1)`.

    events  =  item, then more, each after a comma or a plus
    item    =  [NUMBER x] NAME(part, part, ...)
    part    =  FIELD=VALUE, or an item (inside subsampled, repeated and composed)

Names and fields are those of `deniable.events`, in any spelling: DiscreteGaussian, discrete-gaussian,
discrete_gaussian. Values are what `exact` takes: 100, 0.1, 1e-8, 1/3, ln 3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any

from deniable import events
from deniable.errors import ExpressionError, ParameterError
from deniable.exact import text

Maker = type[Any]

_ARGUMENT = "EVENTS"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_TIMES = re.compile(r"([0-9][0-9_]*)\s*[x×*]\s*(?=[A-Za-z0-9])")
_FIELD = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)\s*=")
_VALUE = re.compile(r"[^(),=]*(?:\([^()]*\))?[^(),=]*")
_AROUND = (events.Subsampled, events.Repeated, events.Composed)
_WHOLE = ("coordinates", "options", "times")
_EXAMPLE = "Write for example 1000 x gaussian(sigma=100), laplace(scale=2)."
_DEEPEST = 32


def parsed(words: str) -> list[events.Event]:
    """Return the events; one that happened several times as `Repeated`.

    Raises:  ExpressionError: what is wrong, with a caret under the place.
    """
    reader = _Reader(words)
    found = [reader.item(0)]
    while not reader.at_end():
        if not reader.taken(",+"):
            raise reader.wrong("expected a comma or a plus before the next event", _EXAMPLE)
        found.append(reader.item(0))
    return found


def kind(name: str, argument: str) -> type[Any]:
    """Return the type of event that a name means.

    Raises:  ParameterError: there is none.
    """
    found = _makers().get(_bare(name))
    if found is None:
        raise ParameterError(argument, name, "is no event", _nearest(name))
    return found


def written(event: events.Event) -> str:
    """Return an event in this notation; numbers that are long are cut to 12 digits."""
    match event:
        case events.Repeated(event=inner, times=times):
            return f"{times} x {written(inner)}"
        case events.Subsampled(event=inner, rate=rate):
            return f"subsampled({written(inner)}, rate={text(rate)})"
        case events.Composed(events=inner_events):
            return f"composed({', '.join(map(written, inner_events))})"
    record = events.to_json(event)
    fields = [f"{field}={_shown(event, field)}" for field in record if field not in ("version", "event")]
    return f"{record['event']}({', '.join(fields)})"


def _shown(event: events.Event, field: str) -> str:
    value = getattr(event, field)
    return str(value) if isinstance(value, int | str) else text(value)


class _Reader:
    """The words, and the place that was reached in them."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.place = 0
        self._move(0)

    def item(self, depth: int) -> events.Event:
        """Read `[NUMBER x] NAME(...)`."""
        if depth > _DEEPEST:
            raise self.wrong("events are nested too deeply", "Flatten them.")
        start = self.place
        if times := _TIMES.match(self.words, start):
            self._move(times.end())
            inner = self.item(depth + 1)
            return self._made(lambda: events.Repeated(inner, int(times[1])), start, {})
        name = _NAME.match(self.words, start)
        if name is None:
            number = self.words[start : start + 1].isdigit()
            fix = "Write a number without commas, then x: 1000 x gaussian(sigma=100)." if number else _EXAMPLE
            raise self.wrong("expected an event", fix)
        make = _makers().get(_bare(name[0]))
        if make is None:
            raise self.wrong(f"{name[0]} is no event", _nearest(name[0]))
        self._move(name.end())
        if not self.taken("("):
            raise self.wrong(f"expected ( after {name[0]}", f"Write {_call(make)}.")
        return self._call_of(make, start, depth)

    def _call_of(self, make: Maker, start: int, depth: int) -> events.Event:
        """Read what is inside the parentheses, and make the event."""
        inside: list[events.Event] = []
        fields: dict[str, str] = {}
        places: dict[str, int] = {}
        while not self.taken(")"):
            if (inside or fields) and not self.taken(","):
                raise self.wrong("expected a comma or )", f"Write {_call(make)}.")
            if field := _FIELD.match(self.words, self.place):
                places.setdefault(field[1], self.place)
                self._field(make, field, fields)
            elif make in _AROUND:
                inside.append(self.item(depth + 1))
            else:
                raise self.wrong("expected FIELD=VALUE", f"Write {_call(make)}.")
        missing = [name for name, field in _fields(make).items() if _needed(field) and name not in fields]
        if make in (events.Subsampled, events.Repeated) and len(inside) != 1:
            missing = ["one event inside"]
        if missing:
            raise self.wrong(f"{missing[0]} is missing", f"Write {_call(make)}.", start)
        values = {name: _number(name, value) for name, value in fields.items()}
        if make is events.Composed:
            return events.Composed(inside)
        return self._made(lambda: make(*inside, **values), start, places)

    def _field(self, make: Maker, field: re.Match[str], fields: dict[str, str]) -> None:
        """Read `FIELD=VALUE`."""
        name = field[1]
        if name not in _fields(make):
            raise self.wrong(f"there is no {name} here", f"Write {_call(make)}.")
        if name in fields:
            raise self.wrong(f"{name} is given twice", f"Write {_call(make)}.")
        self._move(field.end())
        value = _VALUE.match(self.words, self.place)
        assert value is not None
        fields[name] = value[0].strip().strip("'\"")
        self._move(value.end())

    def _made(self, make: Callable[[], events.Event], start: int, places: Mapping[str, int]) -> events.Event:
        """Make the event; if a number is out of range, point at it."""
        try:
            return make()
        except ParameterError as error:
            problem = str(error).removesuffix(f" {error.fix}").rstrip(".")
            raise self.wrong(problem, error.fix, places.get(error.argument, start)) from None

    def taken(self, signs: str) -> bool:
        """Step over one of the signs, if it comes next."""
        found = self.words[self.place : self.place + 1]
        if found and found in signs:
            self._move(self.place + 1)
            return True
        return False

    def at_end(self) -> bool:
        """Whether all was read."""
        return self.place == len(self.words)

    def wrong(self, problem: str, fix: str, place: int | None = None) -> ExpressionError:
        """Return an error that points at a place: where the reader is, when omitted."""
        return ExpressionError(_ARGUMENT, self.words, self.place if place is None else place, problem, fix)

    def _move(self, place: int) -> None:
        rest = self.words[place:]
        self.place = place + len(rest) - len(rest.lstrip())


def _makers() -> dict[str, Maker]:
    names = (
        "Laplace DiscreteLaplace Gaussian DiscreteGaussian RandomizedResponse Exponential Selection PureDP "
        "ApproxDP ZeroConcentratedDP Subsampled Repeated Composed"
    )
    return {name.lower(): getattr(events, name) for name in names.split()}


def _bare(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _nearest(name: str) -> str:
    makers = _makers()
    near = get_close_matches(_bare(name), list(makers), n=1, cutoff=0.5)
    if near:
        return f"Did you mean {_call(makers[near[0]])}?"
    return f"Known are {', '.join(map(_name, makers.values()))}."


def _name(make: Maker) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", make.__name__).lower()


def _fields(make: Maker) -> dict[str, Parameter]:
    found = signature(make).parameters
    return {name: found[name] for name in found if name not in ("event", "events")}


def _needed(field: Parameter) -> bool:
    return field.default is Parameter.empty


def _number(name: str, value: str) -> int | str:
    return int(value) if name in _WHOLE and value.isdecimal() else value


def _call(make: Maker) -> str:
    """Return how the event is written: "gaussian(sigma=..., sensitivity=1)"."""
    fields = [f"{name}={'...' if _needed(field) else field.default}" for name, field in _fields(make).items()]
    inside = ["EVENT"] * (make in _AROUND) + ["..."] * (make is events.Composed)
    return f"{_name(make)}({', '.join([*inside, *fields])})"
