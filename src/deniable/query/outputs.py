"""From noisy integers to published columns: post-processing, which costs nothing.

| output                 | value                                   | interval                              |
|------------------------|-----------------------------------------|---------------------------------------|
| units, count, whole sum| floor(N / one + 1/2), a 64-bit integer  | floor((N - w)/one), ceil((N + w)/one) |
| other sums             | N * step, a double                      | (N - w) * step, (N + w) * step        |
| mean                   | centre + total/count, count at least 1, | every total/count within both widths; |
|                        | clamped to the bounds                   | the bounds if the count may be 0      |
| variance, std          | as `spreads` says                       | as `spreads` says                     |

w is the least integer with P(|noise| <= w) >= confidence, so an interval holds the value without noise at
least that often. For a mean both widths are taken at 1 - (1 - confidence)/2: both hold at once at least as
often as asked (union bound), and then the true quotient is in the interval.

N is clamped to +-2**62 first, so that nothing below overflows: noise of less than 2**62 on a value that is
itself at most 2**62.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.query.measures import LIMIT, Total, Tree
from deniable.query.spreads import spread
from deniable.query.trees import Reading

if TYPE_CHECKING:
    from deniable.query.plan import Output, Plan

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Column = Integers | Floats

_EXACT = 1 << 53


def columns(plan: Plan, noisy: Sequence[Integers]) -> Iterator[tuple[str, Column]]:
    """Yield name and values of every published column: each output, then its two ends.

    noisy: one array for each of `plan.price.measured`, all of one length.
    """
    for output in plan.outputs:
        values, low, high = _column(plan, output, noisy)
        yield output.name, values
        yield f"{output.name}_low", low
        yield f"{output.name}_high", high


def _column(plan: Plan, output: Output, noisy: Sequence[Integers]) -> tuple[Column, Column, Column]:
    measured = [plan.price.measured[place] for place in output.parts]
    reading = plan.readings.get(output.parts[0])
    if reading is not None and output.aggregate.rank is not None:
        return _quantile(output, reading, noisy[output.parts[0]])
    if reading is not None:
        noisy = [noisy[output.parts[0]][:, output.aggregate.place]]
        output = replace(output, parts=(0,))
    parts = [np.clip(noisy[place], -LIMIT, LIMIT) for place in output.parts]
    one = plan.price.contributions.one
    if output.aggregate.kind in ("variance", "std"):
        sure = 1 - (1 - plan.confidence) / 3
        three = [column.half_width(sure) for column in measured]
        return spread(output.aggregate, measured[0].measure, one, parts, three)
    if output.aggregate.kind == "mean":
        sure = 1 - (1 - plan.confidence) / 2
        widths = measured[0].half_width(sure), measured[1].half_width(sure)
        return _mean(output, measured[0].measure, one, parts, widths)
    width = measured[0].half_width(plan.confidence)
    low, high = parts[0] - width, parts[0] + width
    if output.whole:
        return rounded(parts[0], one), low // one, -(-high // one)
    step = measured[0].step
    return _scaled(parts[0], step), _scaled(low, step, -1), _scaled(high, step, 1)


def _quantile(output: Output, reading: Reading, places: Integers) -> tuple[Column, Column, Column]:
    """Return the values of leaves; the ends of the interval are those of the leaf's half steps."""
    tree, rank, bounds = reading.noisy.measure, output.aggregate.rank, output.aggregate.bounds
    assert isinstance(tree, Tree)
    assert rank is not None
    assert bounds is not None
    first = 3 * reading.ranks.index(rank)
    value, low, high = (tree.of.centre + places[:, first + part] for part in range(3))
    if output.whole:
        return value, low, high

    def placed(steps: NDArray[np.floating[Any]]) -> Floats:
        return np.clip(
            np.ldexp(steps.astype(np.float64), tree.of.exponent), float(bounds[0]), float(bounds[1])
        )

    return placed(value - 0.0), placed(low - 0.5), placed(high + 0.5)


def rounded(number: Integers, one: int) -> Integers:
    """Return floor(number / one + 1/2), one a power of two, without overflow."""
    return number if one == 1 else ((number // (one // 2)) + 1) // 2


def _scaled(number: Integers, step: Fraction, outward: int = 0) -> Floats:
    """Return number * step as doubles; step is a power of two, so only integers beyond 2**53 are rounded.

    outward: -1 or 1 moves those one double down or up, so that an interval never shrinks.
    """
    values = np.ldexp(number.astype(np.float64), step.numerator.bit_length() - step.denominator.bit_length())
    if outward:
        beyond = np.abs(number) > _EXACT
        values[beyond] = np.nextafter(values[beyond], outward * np.inf)
    return values


def _mean(
    output: Output, total: object, one: int, parts: Sequence[Integers], widths: tuple[int, int]
) -> tuple[Floats, Floats, Floats]:
    assert isinstance(total, Total)
    assert output.aggregate.bounds is not None
    least, most = (float(end) for end in output.aggregate.bounds)
    exponent = total.exponent

    def placed(quotient: Floats) -> Floats:
        return np.clip(np.ldexp(total.centre + quotient, exponent), least, most)

    sums, count = parts
    value = placed(sums / np.maximum(count, one))
    few, many = count - widths[1], count + widths[1]
    known = few > 0
    few, many = np.where(known, few, 1), np.where(known, many, 1)
    low_sum, high_sum = sums - widths[0], sums + widths[0]
    low = placed(low_sum / np.where(low_sum < 0, few, many))
    high = placed(high_sum / np.where(high_sum > 0, few, many))
    low = np.where(known, np.minimum(low, value), least)
    high = np.where(known, np.maximum(high, value), most)
    return value, low, high
