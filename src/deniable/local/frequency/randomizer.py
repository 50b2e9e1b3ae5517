"""What each protocol is made of, and what they all share: a report *supports* some items.

With S(y) the items that report y supports, true  = P(x in S(y) | the item is x),   false = P(x in S(y) |
the item is another), both exact and the same for all items. Of n reports of which a share f has item x, the
number that support x has the mean n (f true + (1 - f) false). So (number / n - false) / (true - false) has
the mean f, exactly; and as people toss for themselves its variance is (f true (1 - true) + (1 - f) false (1
- false)) / n / (true - false)**2.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.errors import ReportError

Items = NDArray[np.int64]
Counts = NDArray[np.int64]
BLOCK = 1 << 14
MOST_CELLS = 1 << 24


class Randomizer(Protocol):
    """A protocol for items 0 to `items` - 1."""

    @property
    def name(self) -> str:
        """As `mechanism=` names it."""
        ...

    @property
    def items(self) -> int:
        """How many items there are."""
        ...

    @property
    def true(self) -> Fraction:
        """P(a report supports an item | it is the person's)."""
        ...

    @property
    def false(self) -> Fraction:
        """P(a report supports an item | it is not the person's)."""
        ...

    @property
    def ratio(self) -> Fraction:
        """The largest quotient of the probabilities of one report under two items."""
        ...

    @property
    def facts(self) -> Mapping[str, str]:
        """The public numbers that both ends must agree on, apart from epsilon and the domain."""
        ...

    @property
    def outputs(self) -> int:
        """How many different reports there are."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of a payload."""
        ...

    @property
    def width(self) -> int | None:
        """Numbers in one payload, if it is not a single one."""
        ...

    def randomize(self, items: Items, bits: Bits) -> NDArray[Any]:
        """Return the payload of one report for each item, 0 to `items` - 1."""
        ...

    def tally(self, payload: NDArray[Any]) -> Counts:
        """Return totals of a batch of payloads, which add up over batches; refuse strange payloads."""
        ...

    def supported(self, totals: Counts) -> Counts:
        """Return from the totals how many reports support each item, `(items,) int64`."""
        ...

    def law(self, item: int) -> dict[Hashable, Fraction]:
        """Return the exact probability of every payload (as an int, or a tuple); for small alphabets."""
        ...


def report_bytes(randomizer: Randomizer) -> int:
    """Return the size of one payload."""
    return int(randomizer.dtype.itemsize) * (randomizer.width or 1)


def variances(randomizer: Randomizer) -> tuple[Fraction, Fraction]:
    """Return the variance of one report's estimate of an item's share, at share 0 and at share 1."""
    true, false = randomizer.true, randomizer.false
    scale = (true - false) ** 2
    return false * (1 - false) / scale, true * (1 - true) / scale


def total_variance(randomizer: Randomizer) -> Fraction:
    """Return the sum of the variances of all items: the same whatever the shares, as they sum to 1."""
    absent, present = variances(randomizer)
    return present + (randomizer.items - 1) * absent


def smallest(cells: int) -> np.dtype[Any]:
    """Return the smallest unsigned type for numbers from 0 to cells - 1."""
    return np.dtype(np.min_scalar_type(cells - 1))


def blocks(n: int, size: int = BLOCK) -> Iterator[slice]:
    """Yield slices that cover 0 to n - 1, each of at most `size`: memory stays flat and in the cache."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def counted(payload: NDArray[Any], cells: int, least: int = 0) -> Counts:
    """Return how often each number from 0 to cells - 1 occurs; refuse numbers that no device sends."""
    if payload.size and not (least <= int(payload.min()) and int(payload.max()) < cells):
        raise strange()
    total = np.zeros(cells, np.int64)
    for part in blocks(len(payload), max(BLOCK, cells)):
        total += np.bincount(payload[part].astype(np.int64), minlength=cells)
    return total


def strange() -> ReportError:
    """Return the error for a report that no device makes."""
    return ReportError("Some reports hold a number that no device of this protocol sends.", differs="report")
