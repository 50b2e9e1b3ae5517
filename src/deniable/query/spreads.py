"""Variance and standard deviation from three noisy integers: post-processing, which costs nothing.

A group has n rows (as they were bounded), a sum S of steps X, and a sum Q of rounded, centred squares Y
(`measures.Total`, `measures.Squares`). With u = 1/n, in squared steps,

    V(n, S, Q) = 2**shift * (centre + Q u) - (S u)**2.

| published  | value                                                     | interval                        |
|------------|-----------------------------------------------------------|---------------------------------|
| variance   | V of the noisy numbers, n at least 1, moved into 0 .. top | every V within the three widths |
| std        | its root                                                  | the roots of these ends         |
| n may be 0 | as above                                                  | 0 .. top                        |

top = ((high - low) / 2)**2: no variance of values within the bounds is larger.

Why the interval holds V of the numbers without noise at least as often as asked.
1. Each width is taken at 1 - (1 - confidence)/3, so all three hold at once that often (union bound).
2. Then n is in [few, many], Q in [Q - a, Q + a], |S| in [least, most]. V rises with Q and falls with |S|; so
   it is not below the least over u of f(u) = 2**shift (Q - a) u - most**2 u**2, plus the constant, and
   not above the largest of g(u) = 2**shift (Q + a) u - least**2 u**2, u in [1/many, 1/few].
3. Both are concave in u: f is least at an end, g is largest at u = 2**shift (Q + a) / (2 least**2), or at the
   end that is nearest to it.
4. Doubles are off by less than 2**-45 of the largest square, which both ends are moved outward.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.query.aggregates import Aggregate
from deniable.query.measures import Measure, Squares

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_SLACK = 2.0**-45


def spread(
    aggregate: Aggregate, measure: Measure, one: int, parts: Sequence[Integers], widths: Sequence[int]
) -> tuple[Floats, Floats, Floats]:
    """Return the variance (std: its root) of each group and the two ends of its interval.

    Args:    parts: noisy squares, sums and counts, each within +-2**62; one is what one row counts in full.
             widths: how far off each may be.
    """
    assert isinstance(measure, Squares)
    assert aggregate.bounds is not None
    squares, sums, count = parts
    most = float(((aggregate.bounds[1] - aggregate.bounds[0]) / 2) ** 2)

    def placed(steps: Floats) -> Floats:
        return np.clip(np.ldexp(steps, 2 * measure.of.exponent), 0.0, most)

    rows = np.maximum(count, one).astype(np.float64)
    value = placed(_variance(measure, squares / rows, sums / rows))
    low, high = (placed(end) for end in _ends(measure, parts, widths))
    known = count - widths[2] > 0
    low = np.where(known, np.minimum(low, value), 0.0)
    high = np.where(known, np.maximum(high, value), most)
    if aggregate.kind == "variance":
        return value, low, high
    return np.sqrt(value), _below(np.sqrt(low)), np.nextafter(np.sqrt(high), np.inf)


def _variance(measure: Squares, square: Floats, mean: Floats) -> Floats:
    variance: Floats = np.ldexp(measure.centre + square, measure.shift) - mean * mean
    return variance


def _ends(measure: Squares, parts: Sequence[Integers], widths: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the least and the largest V within the widths, where the count cannot be 0: steps 2 to 4."""
    squares, sums, count = (part.astype(np.float64) for part in parts)
    few, many = np.maximum(count - widths[2], 1.0), np.maximum(count + widths[2], 1.0)
    size = np.abs(sums)
    least, most = np.maximum(size - widths[1], 0.0), size + widths[1]
    below, above = squares - widths[0], squares + widths[0]
    low = np.minimum(*(_variance(measure, below / rows, most / rows) for rows in (few, many)))
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = 2 * least * (least / np.ldexp(above, measure.shift))
    rows = np.where(above > 0, np.clip(turn, few, many), many)
    high = _variance(measure, above / rows, least / rows)
    slack = _SLACK * float(measure.of.reach) ** 2
    return low - slack, high + slack


def _below(number: Floats) -> Floats:
    return np.maximum(np.nextafter(number, -np.inf), 0.0)
