"""The three losses, as gradients of one person: what a device computes before it clips and randomises.

| name       | loss of (x, y) at weights w        | gradient                                  | y           |
|------------|------------------------------------|-------------------------------------------|-------------|
| "squared"  | (x.w - y)**2                       | 2 (x.w - y) x                             | a number    |
| "logistic" | ln(1 + exp(-y x.w))                | -y x / (1 + exp(y x.w))                   | -1 or 1     |
| "hinge"    | max(0, 1 - y x.w)                  | -y x where y x.w < 1, else 0              | -1 or 1     |

The penalty (lambda/2) |w|**2 says nothing about anybody: the server adds it (`descent`).
"""

from __future__ import annotations

from typing import Literal, assert_never

import numpy as np
from numpy.typing import NDArray

from deniable.local.vector.reading import Norm, fitted

Floats = NDArray[np.float64]
Loss = Literal["squared", "logistic", "hinge"]
_FAR = 1e100
LOSSES: tuple[Loss, ...] = ("squared", "logistic", "hinge")


def gradients(loss: Loss, weights: Floats, features: Floats, targets: Floats) -> Floats:
    """Return the gradient of each person, `(n, d)`, for features `(n, d)` and targets `(n,)`.

    One that is too large for a float is infinity, or NaN; nothing warns, as a warning would tell who has it.
    """
    slopes: Floats
    with np.errstate(all="ignore"):
        scores = features @ weights
        match loss:
            case "squared":
                slopes = 2 * (scores - targets)
            case "logistic":
                slopes = -targets / (1 + np.exp(np.minimum(targets * scores, 700.0)))
            case "hinge":
                slopes = np.where(targets * scores < 1, -targets, 0.0)
            case _:
                assert_never(loss)
        found: Floats = slopes[:, None] * features
    return found


def clipped(rows: Floats, *, norm: Norm, clip: float) -> Floats:
    """Return gradients in units of the clip: within the ball of "l2", or [-1, 1] in each entry of "linf".

    Guarantee: every row is within the norm, whatever it was (up to 2**-50); NaN counts as 0.
    Args:    clip: from 1e-100 to 1e100.
    """
    most = _FAR * clip
    known = np.clip(np.nan_to_num(rows, nan=0.0, posinf=most, neginf=-most), -most, most)
    return fitted(known / clip, norm)
