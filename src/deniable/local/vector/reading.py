"""What a value means as a vector: the public rule of devices, and the stricter one of arrays.

| on a device (`one`)                                            | is read as                          |
|----------------------------------------------------------------|-------------------------------------|
| a list, tuple or np.ndarray itself of `dimension` entries      | its entries, by the next lines      |
| an entry that is missing, NaN, text, True or no number         | 0                                   |
| "linf": an entry outside [-1, 1]                               | the nearer end                      |
| "l2": a vector longer than 1                                   | scaled to length 1                  |
| "l2": an entry beyond 1e300, infinity                          | 1e300 with its sign, then scaled    |
| anything else: None, a number, text, another length or shape   | the vector of zeros                 |

Arrays for research (`many`) with missing or outlying entries are refused: there silence tells nobody apart.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deniable.errors import WITHHELD, ParameterError
from deniable.local.arrays import unmasked
from deniable.local.client import number

Reals = NDArray[np.float64]
Norm = Literal["l2", "linf"]

_HUGE = 1e300
_TOLERANCE = 2.0**-30
_ROWS = 1 << 10


def one(value: object, dimension: int, norm: Norm) -> Reals:
    """Return any object at all as one vector, `(1, dimension)`. Never raises."""
    entries = _entries(value, dimension)
    if entries is None:
        return np.zeros((1, dimension))
    known = np.clip(np.nan_to_num(entries, nan=0.0), -_HUGE, _HUGE)
    return fitted(known.reshape(1, dimension), norm)


def many(values: object, dimension: int, norm: Norm) -> Reals:
    """Return an array `(n, dimension)` of vectors within the norm.

    Raises:  ParameterError: another shape, no numbers, NaN or masked, or a vector outside (by over 2**-30).
    """
    found = unmasked(values)
    if found.ndim != 2 or found.shape[1] != dimension or found.dtype.kind not in "iuf":
        fix = f"Give an array of numbers of shape (people, {dimension})."
        raise ParameterError("values", found.shape, "are not vectors of this dimension", fix)
    rows = found.astype(np.float64, copy=False)
    longest = max((_longest(rows[at : at + _ROWS], norm) for at in range(0, len(rows), _ROWS)), default=0.0)
    if not longest <= _HUGE:
        raise ParameterError("values", WITHHELD, "hold NaN or infinity", "Fill them by a rule of your own.")
    if not longest <= 1 + _TOLERANCE:
        what = "has an entry outside [-1, 1]" if norm == "linf" else "is longer than 1"
        raise ParameterError("values", WITHHELD, f"hold a vector that {what}", "Scale or clip them first.")
    return rows if longest <= 1 else fitted(rows, norm)


def _longest(rows: Reals, norm: Norm) -> float:
    """Return the largest norm among some rows; infinity where an entry is none."""
    largest = float(np.abs(rows).max(initial=0.0))
    if not largest <= _HUGE:
        return np.inf
    if norm == "linf" or largest > 1 + _TOLERANCE:
        return largest
    return float(np.sqrt(np.einsum("nd,nd->n", rows, rows).max(initial=0.0)))


def fitted(rows: Reals, norm: Norm) -> Reals:
    """Return finite vectors brought inside: each entry clipped ("linf"), or the whole scaled ("l2")."""
    if norm == "linf":
        return np.clip(rows, -1.0, 1.0)
    largest = np.maximum(np.abs(rows).max(axis=1, keepdims=True, initial=0.0), 1.0)
    scaled: Reals = rows / largest
    length = np.sqrt(np.einsum("nd,nd->n", scaled, scaled))[:, None]
    shrink = length * largest > 1
    result: Reals = np.where(shrink, scaled / np.where(shrink, length, 1.0), rows)
    return result


def _entries(value: object, dimension: int) -> Reals | None:
    """Return the entries as float64, NaN where one is no number; None if this is no such vector."""
    kind: Any = type(value)
    given: Any = value
    if kind is np.ndarray:
        if given.shape != (dimension,):
            return None
        if given.dtype.kind in "iuf":
            with np.errstate(all="ignore"):
                entries: Reals = given.astype(np.float64)
            return entries
        if given.dtype.kind != "O":
            return np.full(dimension, np.nan)
        return _numbers(given.tolist())
    if kind in (list, tuple) and len(given) == dimension:
        return _numbers(given)
    return None


def _numbers(entries: list[object] | tuple[object, ...]) -> Reals:
    found = (number(entry) for entry in entries)
    return np.array([np.nan if entry is None else entry for entry in found], np.float64)
