"""Which fields are worth trying, and how many dimensions k items need."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice

from deniable.local.frequency.fields import exists

_NEIGHBOURS = 3


def near(q: int) -> list[int]:
    """Return the sizes of a few fields on both sides of q, smallest first, from 2."""
    below = islice((size for size in range(q, 1, -1) if exists(size)), _NEIGHBOURS)
    return sorted({*below, *islice(above(q), _NEIGHBOURS)})


def above(q: int) -> Iterator[int]:
    """Yield the sizes of fields from q on, smallest first."""
    return (size for size in count(max(q, 2)) if exists(size))


def dimensions(items: int, q: int) -> list[int]:
    """Return the least dimension in which a field of q elements has that many vectors, as the only entry."""
    dimension = 1
    while q**dimension < items:
        dimension += 1
    return [dimension]


def root(items: int, dimension: int) -> int:
    """Return the least q with q**dimension >= items."""
    low, high = 1, items
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle**dimension >= items else (middle + 1, high)
    return low
