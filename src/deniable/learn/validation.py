"""Cross-validation, which is not free: whoever is in k - 1 training sets sends k - 1 reports.

| folds k | reports of each person | cost            |
|---------|------------------------|-----------------|
| 2       | 1                      | epsilon         |
| 5       | 4                      | 4 epsilon       |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import SeededBits, SystemBits
from deniable.exact import positive, text, whole
from deniable.learn import arrays
from deniable.learn.descent import shuffled
from deniable.learn.models import LinearRegression, LinearSVM, LogisticRegression

Model = LinearRegression | LogisticRegression | LinearSVM


def cross_val_score(
    model: Model,
    X: Any,  # noqa: N803
    y: Any,
    *,
    cv: int = 5,
    seed: int | None = None,
    quiet: bool = False,
) -> NDArray[np.float64]:
    """Return the score on each fold of models fitted on the others, `(cv,)`; print what it costs each person.

    Args:    cv: folds, at least 2. seed: of the folds; drawn from the system when omitted.
    Raises:  ParameterError, ValueError: cv is no such number, or X or y cannot be used.
    """
    rows = arrays.features(X)
    wanted = arrays.targets(y, len(rows))
    folds = whole(cv, "cv", at_least=2, at_most=len(rows))
    order = shuffled(len(rows), SystemBits() if seed is None else SeededBits(seed, insecure=True))
    if not quiet:
        print(cost(model, folds))
    scores = []
    for held in np.array_split(order, folds):
        others = np.setdiff1d(order, held, assume_unique=True)
        copy = type(model)(**model.get_params()).fit(rows[others], wanted[others])
        scores.append(copy.score(rows[held], wanted[held]))
    return np.array(scores)


def cost(model: Model, folds: int) -> str:
    """Return what so many folds cost each person, in words."""
    total = text(positive(model.epsilon, "epsilon", up=True) * (folds - 1))
    return (
        f"{folds} folds: each person sends {folds - 1} reports, which cost {folds - 1} epsilon = {total}."
        if folds > 2
        else f"2 folds: each person sends 1 report, which costs epsilon = {total}."
    )
