"""How a run ended: with a number, a text, a table, nothing at all, or which exception."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from deniable.audit.outcomes import Outcomes, Raised
from deniable.audit.witnesses.sets import Feature, Pilot, Reals


def features(pilot: Pilot) -> Iterator[Feature]:
    """Yield one feature for each ending, 1 or 0, if there is more than one ending."""
    seen = dict.fromkeys(ending(one) for side in (pilot.first, pilot.second) for one in _listed(side))
    if len(seen) > 1:
        for name in seen:
            yield Feature(f"[the run gave {name}]", _flag(name))


def ending(outcome: object) -> str:
    """Return the kind of an outcome in words."""
    match outcome:
        case None:
            return "nothing"
        case Raised(kind=kind, message=message):
            return f"{kind}: {message}"
        case float() if outcome != outcome:
            return "NaN"
        case bool() | int() | float():
            return "a number"
        case _:
            return f"a {type(outcome).__name__.lower()}"


def _flag(name: str) -> Callable[[Outcomes], Reals]:
    def flag(outcomes: Outcomes) -> Reals:
        return np.array([float(ending(one) == name) for one in _listed(outcomes)])

    return flag


def _listed(outcomes: Outcomes) -> list[object]:
    if not isinstance(outcomes, np.ndarray):
        return outcomes
    if outcomes.dtype.kind != "f" or outcomes.ndim != 1 or not np.isnan(outcomes).any():
        return [()] * len(outcomes) if outcomes.ndim == 2 else [0] * len(outcomes)
    return [float("nan") if missing else 0.0 for missing in np.isnan(outcomes)]
