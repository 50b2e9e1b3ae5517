"""Thresholds: is the number at least this?"""

from __future__ import annotations

import numpy as np

from deniable.audit.witnesses.sets import Event, Feature, Reals, Sweep

_EVERY = 192
_EVEN = 96


def sweep(feature: Feature, first: Reals, second: Reals) -> Sweep:
    """Return the sets {number >= c}. first, second: the feature of the pilot's outcomes."""
    places = cuts(first, second)
    none = ", or none" if np.isnan(first).any() or np.isnan(second).any() else ""

    def event(i: int) -> Event:
        c = places[i]
        words, otherwise = f"{feature.words} at least {c:.9g}", f"{feature.words} below {c:.9g}{none}"
        return Event(words, lambda outcomes: feature.of(outcomes) >= c, otherwise)

    return Sweep((_at_least(first, places), _at_least(second, places)), (len(first), len(second)), event)


def cuts(first: Reals, second: Reals, every: int = _EVERY, even: int = _EVEN) -> Reals:
    """Return values to cut at: all that occur if they are few, else evenly many and more towards the ends."""
    values = np.unique(np.concatenate([first, second]))
    values = values[~np.isnan(values)]
    if len(values) <= every:
        return np.asarray(values, np.float64)
    ends = 2 ** np.arange(int(np.log2(len(values))))
    places = np.concatenate(
        [np.linspace(0, len(values) - 1, even).astype(np.int64), ends, len(values) - 1 - ends]
    )
    return np.asarray(values[np.unique(places)], np.float64)


def _at_least(numbers: Reals, places: Reals) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    known = np.sort(numbers[~np.isnan(numbers)])
    return (len(known) - np.searchsorted(known, places, side="left")).astype(np.int64)
