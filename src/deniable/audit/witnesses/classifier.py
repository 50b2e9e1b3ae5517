"""A classifier for vectors and tables: logistic regression.

It need not be good or right: whatever it learned, {score >= c} is a set of outputs, and sets are all that the
test counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from deniable.audit.outcomes import Outcomes
from deniable.audit.witnesses import tables, thresholds
from deniable.audit.witnesses.numbers import vector_length, vectors
from deniable.audit.witnesses.sets import Feature, Pilot, Reals, Sweep

_MOST_COORDINATES = 256
_ROUNDS = 8
_RIDGE = 1e-2
_CLIP = 4.0

Matrix = Callable[[Outcomes], Reals]


def sweeps(pilot: Pilot) -> Iterator[Sweep]:
    """Yield thresholds on the score, if outcomes have at least two coordinates or cells."""
    for matrix in _matrices(pilot):
        fit, judge = pilot.halves()
        feature = Feature("score of a linear classifier", _fitted(matrix, fit))
        yield thresholds.sweep(feature, feature.of(judge.first), feature.of(judge.second))


def _matrices(pilot: Pilot) -> Iterator[Matrix]:
    width = max(vector_length(pilot.first), vector_length(pilot.second))
    if 2 <= width <= _MOST_COORDINATES:
        yield lambda outcomes: vectors(outcomes, width)
    columns = tables.columns(pilot)
    if len(columns) >= 2:
        yield lambda outcomes: np.column_stack([column(outcomes) for column in columns])


def _fitted(matrix: Matrix, pilot: Pilot) -> Callable[[Outcomes], Reals]:
    """Return the score of an outcome: linear in its standardised, clipped coordinates (0 where missing)."""
    first, second = matrix(pilot.first), matrix(pilot.second)
    rows = np.concatenate([first, second])
    known = np.isfinite(rows)
    count = np.maximum(known.sum(axis=0), 1)
    middle = np.where(known, rows, 0).sum(axis=0) / count
    spread = np.sqrt(np.where(known, (rows - middle) ** 2, 0).sum(axis=0) / count)
    spread[spread == 0] = 1

    def standard(found: Reals) -> Reals:
        clipped: Reals = np.nan_to_num(np.clip((found - middle) / spread, -_CLIP, _CLIP))
        return clipped

    truth = np.repeat([1.0, 0.0], [len(first), len(second)])
    weights = _logistic(standard(rows), truth)
    return lambda outcomes: standard(matrix(outcomes)) @ weights


def _logistic(rows: Reals, truth: Reals) -> Reals:
    """Return the weights of logistic regression with a small ridge, by Newton's method."""
    weights = np.zeros(rows.shape[1])
    for _ in range(_ROUNDS):
        odds = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (truth - odds) - _RIDGE * len(rows) * weights
        curvature = (rows * (odds * (1 - odds) + 1e-6)[:, None]).T @ rows
        curvature += _RIDGE * len(rows) * np.eye(len(weights))
        weights = weights + np.linalg.solve(curvature, slope)
    return weights
