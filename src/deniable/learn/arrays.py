"""What models accept as X and y: the checks and the words of scikit-learn, for arrays in a researcher's hand.

Reports and weights never pass here; on a device nothing raises (`encoder`, `rounds`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.local.arrays import unmasked

Floats = NDArray[np.float64]


def features(given: Any, *, known: int | None = None, model: str = "") -> Floats:
    """Return X as float64, `(n, attributes)`.

    Args:    known: how many attributes the model has learnt; None before that. model: its name.
    Raises:  ValueError, TypeError: no such array; worded as scikit-learn does.
    """
    rows = _numbers(given, "X")
    if rows.ndim != 2:
        dimensions = "scalar" if rows.ndim == 0 else f"{rows.ndim}D"
        raise ValueError(
            f"Expected 2D array, got {dimensions} array instead. Reshape your data: one row a person."
        )
    for size, what in zip(rows.shape, ("sample(s)", "feature(s)"), strict=True):
        if size == 0:
            raise ValueError(
                f"Found array with 0 {what} (shape={rows.shape}) while a minimum of 1 is required."
            )
    if known is not None and rows.shape[1] != known:
        raise ValueError(
            f"X has {rows.shape[1]} features, but {model} is expecting {known} features as input."
        )
    return rows


def targets(given: Any, n: int) -> NDArray[Any]:
    """Return y, `(n,)`, as it is; refuse what is missing, of another length or shape."""
    if given is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    found = unmasked(given, "y")
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {found.shape} instead.")
    if len(found) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(found)}]")
    return found


def numbers(given: NDArray[Any]) -> Floats:
    """Return targets of a regression as float64."""
    return _numbers(given, "y")


def _numbers(given: Any, name: str) -> Floats:
    if hasattr(given, "toarray"):
        raise TypeError(f"{name} is a sparse matrix; dense data is required. Use {name}.toarray().")
    found = unmasked(given, name)
    if found.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is complex.")
    try:
        with np.errstate(all="ignore"):
            rows = found.astype(np.float64)
    except TypeError:
        raise TypeError(f"{name}: every argument must be a number, or a string of a number.") from None
    except ValueError:
        words = f"{name} could not be read as numbers: encode it first (dn.learn.Encoder)."
        raise ValueError(words) from None
    except OverflowError:
        raise ValueError(f"Input {name} contains a value too large for a float.") from None
    if not np.isfinite(rows).all():
        raise ValueError(f"Input {name} contains NaN or infinity.")
    return rows
