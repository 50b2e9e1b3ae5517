"""Intervals: is the number between these two, or is it exactly this?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deniable.audit.witnesses.sets import Counts, Event, Feature, Reals, Sweep
from deniable.audit.witnesses.thresholds import cuts

_ENDS = 20
_VALUES = 64


def sweeps(feature: Feature, first: Reals, second: Reals) -> Iterator[Sweep]:
    """Yield the sets {a <= number < b}, and {number = c} for the values that came up more than once."""
    trials = len(first), len(second)
    ends = cuts(first, second, _ENDS, _ENDS)
    low, high = np.triu_indices(len(ends), 1)

    def between(i: int) -> Event:
        a, b = ends[low[i]], ends[high[i]]
        span = f"{a:.9g} to below {b:.9g}"
        words, otherwise = f"{feature.words} from {span}", f"{feature.words} not from {span}"
        return Event(words, lambda outcomes: _inside(feature.of(outcomes), a, b), otherwise)

    if len(low):
        yield Sweep((_within(first, ends, low, high), _within(second, ends, low, high)), trials, between)
    values = _repeated(first, second)

    def equal(i: int) -> Event:
        c = values[i]
        words, otherwise = f"{feature.words} exactly {c:.9g}", f"{feature.words} other than {c:.9g}"
        return Event(words, lambda outcomes: feature.of(outcomes) == c, otherwise)

    if len(values):
        yield Sweep((_equal(first, values), _equal(second, values)), trials, equal)


def _inside(numbers: Reals, a: float, b: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return (numbers >= a) & (numbers < b)


def _within(numbers: Reals, ends: Reals, low: Counts, high: Counts) -> Counts:
    below = np.searchsorted(np.sort(numbers[~np.isnan(numbers)]), ends, side="left")
    return (below[high] - below[low]).astype(np.int64)


def _repeated(first: Reals, second: Reals) -> Reals:
    values, counts = np.unique(np.concatenate([first, second]), return_counts=True)
    often = np.argsort(counts, kind="stable")[::-1][:_VALUES]
    kept: Reals = values[often][(counts[often] > 1) & ~np.isnan(values[often])]
    return kept


def _equal(numbers: Reals, values: Reals) -> Counts:
    known = np.sort(numbers[~np.isnan(numbers)])
    return np.searchsorted(known, values, side="right") - np.searchsorted(known, values, side="left")
