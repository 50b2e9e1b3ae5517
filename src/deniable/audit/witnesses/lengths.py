"""Lengths: how many rows, coordinates or characters an outcome has."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deniable.audit.outcomes import Outcomes, Rows
from deniable.audit.witnesses.sets import Feature, Pilot, Reals

_SIZED = (str, bytes, tuple, Rows)


def features(pilot: Pilot) -> Iterator[Feature]:
    """Yield the length, if outcomes have different ones."""
    seen = {length for side in (pilot.first, pilot.second) for length in lengths(side).tolist()}
    if len({length for length in seen if length == length}) > 1:
        yield Feature("length of output", lengths)


def lengths(outcomes: Outcomes) -> Reals:
    """Return the length of each outcome, NaN for those without one."""
    if isinstance(outcomes, np.ndarray):
        return np.full(len(outcomes), np.nan)
    found = (len(one) if isinstance(one, _SIZED) else np.nan for one in outcomes)
    return np.fromiter(found, np.float64, len(outcomes))
