"""Sets of outputs that may tell two inputs apart: what an audit looks for.

A witness may be any set. How it is found (from the pilot's runs alone) decides how much an audit sees, never
whether what it says is true.

| module               | looks at                                                                  |
|----------------------|---------------------------------------------------------------------------|
| numbers lengths bits | values and vectors; sizes; floats bit by bit: features, a number each     |
| tables               | keys that are there, and the numbers beside them                          |
| thresholds intervals | sets cut by one feature                                                   |
| histogram            | the best bins of a feature                                                |
| endings              | exceptions, silence, what is no number                                    |
| support              | outputs of one input only; repeated outputs by odds                       |
| classifier           | all coordinates or cells at once                                          |
"""

from __future__ import annotations

from collections.abc import Iterator

from deniable.audit.witnesses import (
    bits,
    classifier,
    endings,
    histogram,
    intervals,
    lengths,
    numbers,
    support,
    tables,
    thresholds,
)
from deniable.audit.witnesses.sets import Feature, Pilot, Reals, Sweep

_FLOATS = 4


def sweeps(pilot: Pilot) -> Iterator[Sweep]:
    """Yield all sets that are worth a look, many at a time; those that are easily said come first."""
    yield from endings.sweeps(pilot)
    yield from tables.sweeps(pilot)
    floats = 0
    for feature in _features(pilot):
        first, second = feature.of(pilot.first), feature.of(pilot.second)
        yield from _cut(feature, pilot, first, second)
        if floats < _FLOATS:
            patterns = list(bits.features(feature, first, second))
            floats += bool(patterns)
            for pattern in patterns:
                yield from _cut(pattern, pilot, pattern.of(pilot.first), pattern.of(pilot.second))
    yield from support.sweeps(pilot)
    yield from classifier.sweeps(pilot)


def _features(pilot: Pilot) -> Iterator[Feature]:
    for module in (numbers, lengths, tables):
        yield from module.features(pilot)


def _cut(feature: Feature, pilot: Pilot, first: Reals, second: Reals) -> Iterator[Sweep]:
    yield thresholds.sweep(feature, first, second)
    yield from intervals.sweeps(feature, first, second)
    best = histogram.sweep(feature, pilot, first, second)
    if best is not None:
        yield best
