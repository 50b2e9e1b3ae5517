"""Does the published table fit the plan? Its columns, its intervals, its threshold; and the CSV beside it.

An interval is as wide as the noise of its column asks, which is in the events: events that were edited,
together with everything that speaks of them, no longer fit the intervals.

| output                  | interval that must stand beside the value v of N noisy steps, w the half width  |
|-------------------------|---------------------------------------------------------------------------------|
| units, count, whole sum | floor((N - w)/one), ceil((N + w)/one) for an N with v = floor(N/one + 1/2)      |
| other sums              | v - w * step, v + w * step, up to a few units of the last place of a double     |
| mean, variance, std,    | low <= v <= high, all within what the bounds allow (how wide it is depends on   |
| quantile, an end        | the released numbers)                                                           |
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from fractions import Fraction
from io import StringIO
from itertools import zip_longest
from math import inf, isclose, nextafter, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.publish.facts import Kind
from deniable.query.plan import Output, Plan
from deniable.query.review.fields import MOST_BYTES, Unreadable

if TYPE_CHECKING:
    import pyarrow as pa

_ENDINGS = ("", "_low", "_high")
_UNITS_OF_A_DOUBLE = 2.0**-49


def read(path: Path) -> pa.Table:
    """Return the table in a Parquet file. Raises Unreadable."""
    import pyarrow
    import pyarrow.parquet

    try:
        return pyarrow.parquet.read_table(path)
    except (OSError, ValueError, MemoryError, pyarrow.ArrowException):
        raise Unreadable(f"{path.name} cannot be read") from None


def problems(plan: Plan, table: pa.Table) -> Iterator[str]:
    """Yield a sentence for everything in the table that no release of the plan can hold.

    Raises:  Unreadable: keys of a kind that cannot be compared.
    """
    groups = plan.query.groups
    keys = () if groups is None else tuple(column.name for column in groups.columns)
    expected = [*keys, *(output.name + ending for output in plan.outputs for ending in _ENDINGS)]
    if table.column_names != expected:
        yield f"its columns are {_listed(table.column_names)}; the plan has {_listed(expected)}"
        return
    yield from _rows(plan, table, keys)
    if not plan.price.rest:
        for output in plan.outputs:
            yield from _output(plan, output, table)
        return
    if not table.num_rows:
        return
    last = table.num_rows - 1
    for output in plan.outputs:
        yield from _output(plan, output, table.slice(0, last))
        yield from _output(plan.of_rest, output, table.slice(last))


def _rows(plan: Plan, table: pa.Table, keys: tuple[str, ...]) -> Iterator[str]:
    groups = plan.query.groups
    rows = table.num_rows
    if groups is None and rows != 1:
        yield f"it has {rows:,} rows; totals have one"
    if groups is not None and groups.keys is not None and rows != groups.keys.num_rows:
        yield f"it has {rows:,} rows; {groups.keys.num_rows:,} groups were declared"
    if keys and _distinct(table, keys) != rows:
        yield "a group stands there twice"
    if plan.price.rest and not (rows and all(column[-1].as_py() is None for column in table.select(keys))):
        yield "its last row is not that of everything else, whose keys are missing"


def _distinct(table: pa.Table, keys: tuple[str, ...]) -> int:
    import pyarrow

    try:
        return int(table.group_by(list(keys)).aggregate([]).num_rows)
    except pyarrow.ArrowException:
        raise Unreadable("its keys are of a kind that no release publishes") from None


def _output(plan: Plan, output: Output, table: pa.Table) -> Iterator[str]:
    import pyarrow as pa

    wanted = pa.int64() if output.whole else pa.float64()
    columns = [table.column(output.name + ending) for ending in _ENDINGS]
    if any(column.type != wanted or column.null_count for column in columns):
        yield f"{output.name}: it holds something else than {'whole ' if output.whole else ''}numbers"
        return
    value, low, high = (column.to_numpy() for column in columns)
    if not all(np.isfinite(column).all() for column in (value, low, high)):
        yield f"{output.name}: it holds what is no number"
    elif not _fits(plan, output, value, low, high):
        yield f"{output.name}: its intervals are not those of its noise"
    elif output.aggregate.kind == "units" and _below(plan, value):
        yield f"{output.name}: a group below the threshold was published"


def _fits(
    plan: Plan, output: Output, value: NDArray[np.number], low: NDArray[np.number], high: NDArray[np.number]
) -> bool:
    noisy = plan.price.measured[output.parts[0]]
    if output.aggregate.bounds is not None and output.aggregate.kind != "sum":
        least, most = _ends(output.aggregate.kind, output.aggregate.bounds)
        return bool(((least <= low) & (low <= value) & (value <= high) & (high <= most)).all())
    width = noisy.half_width(plan.confidence)
    if output.whole:
        return _whole(value, low, high, width, plan.price.contributions.one)
    reach = float(width * noisy.step)
    slack = _UNITS_OF_A_DOUBLE * (np.abs(low) + np.abs(high) + reach)
    return bool(((np.abs(value - low - reach) <= slack) & (np.abs(high - value - reach) <= slack)).all())


def _ends(kind: Kind, bounds: tuple[Fraction, Fraction]) -> tuple[float, float]:
    """Return what the numbers of an estimate must lie between."""
    half = (bounds[1] - bounds[0]) / 2
    match kind:
        case "variance":
            return 0.0, float(half**2)
        case "std":
            return 0.0, nextafter(sqrt(float(half**2)), inf)
        case _:
            return float(bounds[0]), float(bounds[1])


def _whole(
    value: NDArray[np.number], low: NDArray[np.number], high: NDArray[np.number], width: int, one: int
) -> bool:
    """N = one * v + e with -one/2 <= e < one/2, so low - v and high - v take one of very few values each."""
    first, last = -(one // 2), (one - 1) // 2
    below = (first - width) // one, (last - width) // one
    above = -(-(first + width) // one), -(-(last + width) // one)
    down, up = low - value, high - value
    return bool(((below[0] <= down) & (down <= below[1]) & (above[0] <= up) & (up <= above[1])).all())


def _below(plan: Plan, value: NDArray[np.number]) -> bool:
    """Whether a published number of units is below the threshold, rounded as it is."""
    found, one = plan.price.threshold, plan.price.contributions.one
    return found is not None and bool((value < (2 * found.least + one) // (2 * one)).any())


def differences(path: Path, expected: bytes, keys: int) -> Iterator[str]:
    """Yield the first line of a CSV file that is not what the table gives.

    keys: so many columns must be the same to the letter; numbers after them may be spelt in another way.
    """
    found = content(path, 2 * len(expected))
    if found == expected:
        return
    try:
        both = [csv.reader(StringIO(words.decode(), newline="")) for words in (found, expected)]
        for number, (here, there) in enumerate(zip_longest(*both), start=1):
            if here is None or there is None or not _same(here, there, keys):
                yield f"its line {number:,} is not that of table.parquet"
                return
    except (UnicodeDecodeError, csv.Error):
        raise Unreadable(f"{path.name} is not CSV in UTF-8") from None


def content(path: Path, most: int) -> bytes:
    """Return what is in a file of at most `most` bytes (or MOST_BYTES). Raises Unreadable."""
    try:
        if path.stat().st_size > max(MOST_BYTES, most):
            raise Unreadable(f"{path.name} is far larger than that of a release")
        return path.read_bytes()
    except OSError:
        raise Unreadable(f"{path.name} cannot be read") from None


def _same(here: list[str], there: list[str], keys: int) -> bool:
    if len(here) != len(there) or here[:keys] != there[:keys]:
        return False
    try:
        pairs = zip(here[keys:], there[keys:], strict=True)
        return all(a == b or isclose(float(a), float(b), rel_tol=1e-15) for a, b in pairs)
    except ValueError:
        return False


def _listed(names: list[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
