"""Outcomes that are numbers, and outcomes that are vectors of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deniable.audit.outcomes import Outcomes
from deniable.audit.witnesses.sets import Feature, Pilot, Reals

_COORDINATES = 32


def features(pilot: Pilot) -> Iterator[Feature]:
    """Yield the number itself; of vectors the coordinates that differ most, the sum and the largest."""
    if not np.isnan(numbers(pilot.first)).all() or not np.isnan(numbers(pilot.second)).all():
        yield Feature("output", numbers)
    width = max(vector_length(pilot.first), vector_length(pilot.second))
    if width:
        first, second = vectors(pilot.first, width), vectors(pilot.second, width)
        for i in most_different(first, second)[:_COORDINATES]:
            yield Feature(f"coordinate {i}", lambda outcomes, i=i: vectors(outcomes, width)[:, i])  # type: ignore[misc]
        yield Feature("sum of coordinates", lambda outcomes: vectors(outcomes, width).sum(axis=1))
        yield Feature("largest coordinate", lambda outcomes: vectors(outcomes, width).max(axis=1))


def numbers(outcomes: Outcomes) -> Reals:
    """Return the outcomes that are numbers, NaN for all others, `(n,) float64`."""
    if isinstance(outcomes, np.ndarray):
        return outcomes.astype(np.float64) if outcomes.ndim == 1 else np.full(len(outcomes), np.nan)
    found = (float(one) if isinstance(one, int | float) else np.nan for one in outcomes)
    return np.fromiter(found, np.float64, len(outcomes))


def vector_length(outcomes: Outcomes) -> int:
    """Return the most coordinates that an outcome has; 0 if none is a vector."""
    if isinstance(outcomes, np.ndarray):
        return int(outcomes.shape[1]) if outcomes.ndim == 2 else 0
    return max((len(one) for one in outcomes if isinstance(one, tuple)), default=0)


def vectors(outcomes: Outcomes, width: int) -> Reals:
    """Return the outcomes as rows `(n, width) float64`, NaN where there is no such coordinate."""
    if isinstance(outcomes, np.ndarray) and outcomes.ndim == 2:
        return outcomes.astype(np.float64)
    rows = np.full((len(outcomes), width), np.nan)
    for place, one in enumerate(outcomes):
        if isinstance(one, tuple):
            rows[place, : min(len(one), width)] = one[:width]
    return rows


def most_different(first: Reals, second: Reals) -> list[int]:
    """Return the columns, those whose means lie furthest apart (in units of their spread) first."""
    pooled = np.concatenate([first, second])
    known = ~np.isnan(pooled)
    count = np.maximum(known.sum(axis=0), 1)
    spread = np.sqrt(np.where(known, (pooled - _mean(pooled)) ** 2, 0).sum(axis=0) / count) + 1e-300
    gap = np.abs(_mean(first) - _mean(second)) / spread
    return [int(i) for i in np.argsort(-gap, kind="stable")]


def _mean(rows: Reals) -> Reals:
    known = ~np.isnan(rows)
    means: Reals = np.where(known, rows, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return means
