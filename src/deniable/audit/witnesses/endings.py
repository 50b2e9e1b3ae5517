"""How a run ended: with a number, a text, a table, nothing at all, or which exception."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from deniable.audit.outcomes import Outcomes, Raised, Rows
from deniable.audit.witnesses.sets import Event, Flags, Pilot, Sweep, counted


def sweeps(pilot: Pilot) -> Iterator[Sweep]:
    """Yield one set for each ending, if there is more than one."""
    seen = dict.fromkeys(ending(one) for side in (pilot.first, pilot.second) for one in _listed(side))
    if len(seen) > 1:
        yield counted([Event(name, _has(name), f"anything but {name}") for name in seen], pilot)


def ending(outcome: object) -> str:
    """Return the kind of an outcome in words."""
    match outcome:
        case None:
            return "nothing"
        case Raised(kind=kind, message=message):
            return f"the error {kind}: {message}"
        case float() if outcome != outcome:
            return "NaN"
        case bool() | int() | float():
            return "a number"
        case Rows():
            return "a table"
        case str() | bytes():
            return "a text"
        case _:
            return "a list"


def _has(name: str) -> Callable[[Outcomes], Flags]:
    return lambda outcomes: np.array([ending(one) == name for one in _listed(outcomes)], np.bool_)


def _listed(outcomes: Outcomes) -> list[object]:
    """Return outcomes as a list; of an array only whether they are vectors, numbers or NaN."""
    if not isinstance(outcomes, np.ndarray):
        return outcomes
    if outcomes.ndim == 2:
        return [()] * len(outcomes)
    if outcomes.dtype.kind != "f":
        return [0] * len(outcomes)
    return [float("nan") if missing else 0.0 for missing in np.isnan(outcomes)]
