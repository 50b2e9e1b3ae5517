"""What `reserve` and `commit` are given, checked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from deniable.errors import ParameterError
from deniable.events import Event, checked
from deniable.exact import Number, exact, probability


def events(given: object) -> tuple[Event, ...]:
    """Return the events; ParameterError if they are none, or no list."""
    fix = "Give a list, for example [events.PureDP(epsilon=1)]."
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ParameterError("events", given, "must be a list of events", fix)
    what = tuple(checked(event) for event in given)
    if not what:
        raise ParameterError("events", [], "must have at least one event", fix)
    return what


def price(epsilon: Number | None, delta: Number | None) -> tuple[Fraction, Fraction] | None:
    """Return the price that was given, None if it was left to the events."""
    if epsilon is None:
        if delta is not None:
            raise ParameterError("epsilon", None, "must be given with a delta", "Give both, or neither.")
        return None
    total = exact(epsilon, "epsilon", up=True)
    if not total >= 0:
        raise ParameterError("epsilon", epsilon, "must be at least 0", "Give 0 or a number above it.")
    return total, probability(0 if delta is None else delta, "delta")


def digest(published: object) -> str | None:
    """Return the SHA-256 of what was published, None if none is given."""
    if published is not None and not (isinstance(published, str) and re.fullmatch("[0-9a-f]{64}", published)):
        fix = "Give 64 hexadecimal digits, or leave it out."
        raise ParameterError("published", published, "must be a SHA-256", fix)
    return published
