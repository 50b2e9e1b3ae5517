"""What the cells of the study compute: errors of means, audits, and errors of regressions."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.audit import intervals
from deniable.audit.evidence import Evidence
from deniable.audit.losses import refuted
from deniable.bits import Bits, SeededBits
from deniable.learn.descent import Collect, descend, reported, shuffled
from deniable.learn.plan import Plan, planned
from deniable.learn.statistics import protocol, solved
from deniable.studies.dct import adult, analysis, rivals, samples, tables
from deniable.studies.dct.samples import Sample
from deniable.studies.dct.specimen import NotPrivateDCT
from deniable.studies.dct.tables import Regression
from deniable.studies.dct.uniform import uniform

Floats = NDArray[np.float64]
Numbers = dict[str, Any]
SURE = 7.0
"""Half width of an expectation's tolerance, in standard deviations."""

LEARNERS = {
    "PM": ("linf", "sampling", "piecewise"),
    "Duchi": ("linf", "sampling", "duchi"),
    "HM": ("linf", "sampling", "hybrid"),
    "repair": ("linf", "sampling", "classified"),
    "optimal": ("linf", "sampling", "optimal"),
    "PrivUnit": ("l2", "privunit", "optimal"),
}
"""Name in the figures -> norm, mechanism and mean mechanism of `dn.local.Vector`."""

_WANG = 2.5
_RARE = Fraction(1, 10**9)


@lru_cache(maxsize=8)
def sample(name: str, n: int, seed: int, path: str | None, digest: str) -> Sample:
    """Return a sample by name. path: of ADULT; digest: of the file, so that another file is another cell."""
    del digest
    if path is not None:
        return samples.ages(adult.read(Path(path)))
    return next(one for one in samples.made_up(n, seed) if one.name == name)


@lru_cache(maxsize=8)
def regression(name: str, n: int, seed: int, path: str | None, digest: str) -> Regression:
    """Return a table by name: n rows at random of the real one at this path, or a stand-in of n rows."""
    del digest
    if path is None:
        return tables.stand_in(name, n, seed)
    if name == "ADULT":
        return tables.hours(adult.read(Path(path))).some(n, seed)
    found = tables.accelerometer(Path(path)) if name == "WISDM" else tables.census(name, Path(path))
    return found.some(n, seed)


def mean_error(
    mechanism: str, epsilon: str, data: list[Any], runs: int, seed: int, alpha: str = "1/4"
) -> Numbers:
    """Return the mean absolute error of so many runs, what was expected, and how far off it may be.

    data: arguments of `sample`. The tolerance is 7 standard deviations of the mean of the runs.
    """
    values = sample(*data).values
    bits, truth = SeededBits(seed, insecure=True), float(values.mean())
    errors = [rivals.estimate(mechanism, epsilon, values, bits, alpha=alpha) - truth for _ in range(runs)]
    spread = rivals.variance(mechanism, epsilon, values, alpha=alpha)
    expected = analysis.absolute_error(spread, len(values))
    tolerance = SURE * analysis.spread(spread, len(values), runs)
    measured = float(np.mean(np.abs(errors)))
    return {
        "measured": measured,
        "expected": expected,
        "tolerance": tolerance,
        "inside": bool(abs(measured - expected) <= tolerance),
    }


def audit(mechanism: str, epsilon: str, trials: int, seed: int) -> Numbers:
    """Return what an audit between -1 and 1 shows: a lower bound, and what the probabilities say."""
    from deniable.audit import sampled

    run = rivals.Reporter(mechanism, epsilon)
    found = sampled(run, -1.0, 1.0, trials=trials, confidence="0.95", batch=trials, seed=seed, progress=False)
    alone = 0.0
    if mechanism in rivals.SPECIMENS:
        alone = float(rivals.specimen(mechanism, epsilon).alone(-1, 1))
    assert found.evidence is not None
    return {
        "bound": float(found.evidence.epsilon),
        "refuted": _refuted(found.evidence, epsilon),
        "exact": rivals.exactly(mechanism, epsilon),
        "delta": alone,
    }


def _refuted(evidence: Evidence, epsilon: str) -> bool:
    """Return whether the counts refute epsilon at a confidence of 1 - 1e-9: the study has many audits."""
    p = intervals.lower(evidence.hits[0], evidence.trials, _RARE / 2)
    q = intervals.upper(evidence.hits[1], evidence.trials, _RARE / 2)
    return refuted(p, q, Fraction(epsilon), Fraction(0))


def errors_of_regression(
    learner: str, epsilon: str, data: list[Any], penalty: str, folds: int, used: int, repeat: int, seed: int
) -> Numbers:
    """Return the mean squared errors of so many folds (`used` of `folds`) on people who were held out.

    data: arguments of `regression`. learner: one of LEARNERS, a reading of DCT, "statistics", or without
    privacy "clipped" (the same descent, no noise), "least squares", "mean".
    """
    table = regression(*data)
    bits = SeededBits(seed, insecure=True)
    parts = np.array_split(shuffled(len(table.target), bits), folds)
    errors = []
    for held in parts[:used]:
        others = np.setdiff1d(np.arange(len(table.target)), held)
        weights = fitted(learner, epsilon, table.features[others], table.target[others], penalty, bits)
        left = _completed(table.features[held]) @ weights - table.target[held]
        errors.append(float(np.mean(left**2)))
    return {"errors": errors, "mean": float(np.mean(errors)), "repeat": repeat}


def fitted(
    learner: str,
    epsilon: str,
    features: Floats,
    target: Floats,
    penalty: str,
    bits: Bits,
    batch: int | None = None,
) -> Floats:
    """Return the weights that a learner finds, the intercept last."""
    if learner == "mean":
        return np.append(np.zeros(features.shape[1]), target.mean())
    if learner == "least squares":
        rows = _completed(features)
        square: Floats = rows.T @ rows / len(rows) + float(penalty) / 2 * np.eye(rows.shape[1])
        return np.asarray(np.linalg.solve(square, rows.T @ target / len(rows)), np.float64)
    if learner == "statistics":
        whole = np.column_stack([_completed(features), target])
        vector = protocol(epsilon=epsilon, numbers=whole.shape[1], mechanism="auto")
        return solved(whole, vector=vector, penalty=float(penalty), bits=bits)
    plan, collect = _training(learner, epsilon, features.shape, penalty, batch, bits)
    return descend(plan, features, target, shuffled(len(features), bits), collect).weights


def batches(learner: str, epsilon: str, data: list[Any], batch: int, repeats: int, seed: int) -> Numbers:
    """Return the mean squared errors of trainings with groups of this size, on a fifth held out."""
    table, bits = regression(*data), SeededBits(seed, insecure=True)
    errors = []
    for _ in range(repeats):
        held, *rest = np.array_split(shuffled(len(table.target), bits), 5)
        others = np.concatenate(rest)
        weights = fitted(learner, epsilon, table.features[others], table.target[others], "1e-4", bits, batch)
        left = _completed(table.features[held]) @ weights - table.target[held]
        errors.append(float(np.mean(left**2)))
    return {"errors": errors, "mean": float(np.mean(errors))}


def _training(
    learner: str, epsilon: str, shape: tuple[int, ...], penalty: str, batch: int | None, bits: Bits
) -> tuple[Plan, Collect]:
    """Return the plan of a descent and how the mean of a group is collected."""
    options: dict[str, Any] = {
        "people": shape[0],
        "attributes": shape[1],
        "loss": "squared",
        "penalty": penalty,
    }
    if learner in rivals.SPECIMENS:
        return _unprotected(learner, epsilon, options, batch, bits)
    if learner == "clipped":
        size = batch or math.ceil(shape[0] / 1000)
        step = 1 / math.sqrt(shape[0] // size)
        plan = planned(epsilon=1, norm="l2", **options, batch=size, step=step)
        return plan, lambda rows: rows.sum(axis=0) / plan.batch
    norm, mechanism, mean = LEARNERS[learner]
    plan = planned(epsilon=epsilon, norm=norm, mechanism=mechanism, mean=mean, **options, batch=batch)  # type: ignore[arg-type]
    return plan, reported(plan, bits)


def _unprotected(
    learner: str, epsilon: str, options: dict[str, Any], batch: int | None, bits: Bits
) -> tuple[Plan, Collect]:
    """Return a training on reports of the specimen: k of d entries, each at epsilon/k, as the paper does.

    The batch and the step follow the rule of `learn.plan`, with the noise of the specimen in place of E.
    """
    n, d = options["people"], options["attributes"] + 1
    k = max(1, min(d, math.floor(float(epsilon) / _WANG)))
    part = rivals.SPECIMENS[learner].specimen(f"{float(epsilon) / k:.12g}")
    noise = d * (d / k * (float(part.variance) + 1) - 1)
    size = batch or max(1, min(n // 10, max(math.ceil(n / 1000), math.ceil(noise / d))))
    step = 1 / math.sqrt(n // size * (d + noise / size))
    plan = planned(epsilon=epsilon, norm="linf", mechanism="duchi", **options, batch=size, step=step)

    def collect(rows: Floats) -> Floats:
        mean: Floats = _sampled(rows, part, k, bits).sum(axis=0) / plan.batch
        return mean

    return plan, collect


def _sampled(rows: Floats, part: NotPrivateDCT, k: int, bits: Bits) -> Floats:
    """Return for each row k entries at random, reported and scaled by d/k; 0 elsewhere."""
    n, d = rows.shape
    order = np.argsort(uniform(n * d, bits).reshape(n, d), axis=1)[:, :k]
    reports = part.report(np.take_along_axis(rows, order, axis=1).reshape(-1), bits).reshape(n, k)
    found = np.zeros((n, d))
    np.put_along_axis(found, order, reports * (d / k), axis=1)
    return found


def _completed(features: Floats) -> Floats:
    return np.hstack([features, np.ones((len(features), 1))])
