"""Likelihood ratio by histogram: the bins that came up more often on one input, best first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deniable.audit.outcomes import Outcomes
from deniable.audit.witnesses.sets import Counts, Event, Feature, Pilot, Reals, Sweep

_BINS = 24


def sweep(feature: Feature, pilot: Pilot, first: Reals, second: Reals) -> Sweep | None:
    """Return the sets of the r best of about 24 bins; None if there are fewer than three bins."""
    edges = np.unique(np.concatenate([first[::2], second[::2]]))
    edges = edges[~np.isnan(edges)]
    if len(edges) > _BINS:
        edges = np.unique(edges[np.linspace(0, len(edges) - 1, _BINS).astype(np.int64)])
    if len(edges) < 2:
        return None
    return binned(feature.words, pilot, lambda outcomes: _bins(feature.of(outcomes), edges), len(edges) + 2)


def binned(words: str, pilot: Pilot, bins: Callable[[Outcomes], Counts], count: int) -> Sweep:
    """Return the sets of the r best bins, r = 1 .. count - 1. bins: the bin of each outcome, below count.

    Bins are ordered on one half of the pilot and counted on the other.
    """
    fit, judge = pilot.halves()
    seen = [np.bincount(bins(side), minlength=count) for side in (fit.first, fit.second)]
    order = np.argsort(-np.log((seen[0] + 0.5) / (seen[1] + 0.5)), kind="stable")

    def event(i: int) -> Event:
        chosen = np.zeros(count, np.bool_)
        chosen[order[: i + 1]] = True
        return Event(f"{words} in {i + 1} of {count} bins", lambda outcomes: chosen[bins(outcomes)])

    first, second = (
        np.cumsum(np.bincount(bins(side), minlength=count)[order])[:-1]
        for side in (judge.first, judge.second)
    )
    return Sweep((first, second), judge.trials, event)


def _bins(numbers: Reals, edges: Reals) -> Counts:
    """Return 0 below the first edge, ..., len(edges) from the last on, and one more for NaN."""
    places = np.searchsorted(edges, numbers, side="right")
    places[np.isnan(numbers)] = len(edges) + 1
    return places
