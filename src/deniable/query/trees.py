"""Quantiles and bins from trees of counts: noise on every node, then post-processing, which costs nothing.

What is done, in order, for the groups that are published.
1. `dense`: the leaves of each group as the engine summed them, all others 0; nodes above are sums of leaves,
   cut at 2^62 - 1. What one unit can change of them is proved in `measures` (step 4 there).
2. `noised`: every node gets one draw, those that nobody is in too. All that follows sees these numbers only,
   and the same ones for every quantile and interval: no node is drawn twice.
3. `consistent`: the leaves that are nearest to all noisy nodes together (least squares), in two passes (Hay,
   Rastogi, Miklau, Suciu 2010, section 4; here without a root). With F(j) their sum up to leaf j and N
   that of all, a rank is G(j) = F(j) - q N (quantile q), F(j) - rho (minimum) or F(j) - N + rho (maximum).
4. The quantile is the first leaf with G(j) >= 0, G made to rise (the mean of its running maximum and of its
   running minimum from the end). It is moved into its interval.

Why the interval holds the quantile j* of the counts without noise, the first j with G(j) >= 0, as often as
asked. G is unbiased: G* at j* is at least 0, and at j* - 1 below 0. The noise of either is at most t(j) with
chance 1 - (1 - confidence)/2 each. The interval starts at the first j with G(j) >= -t(j), which is not after
j*, and ends one after the last j with G(j) < t(j), which is not before j*. j* is fixed: nothing is asked of
other leaves.

t(j) is `spread_of` times the deviation of G(j), which is exact. On height l, with l = 1 for leaves, let E_l
be the average over the leaves below a node. Least squares gives c'u, for any c, the variance (of one node's)

    sum over l of (|E_l c|^2 - |E_(l+1) c|^2) / (1 + b + ... + b^(l-1)),   E_(h+1) = 0,

because the E_l are nested projections and least squares divides by the number of leaves that each repeats.
`overlap` is <E_l c, E_l d> for two runs of leaves from the first.

rho = the largest t(j) of F: so many rows that noise alone does not make a minimum or a maximum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, assert_never

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.query.measures import LIMIT, Bins, Rank, Spread, Tree

if TYPE_CHECKING:
    import pyarrow as pa

    from deniable.query.pricing import Noisy, Sampler

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_AT_ONCE = 1 << 20
_MARGIN = 1.02


@dataclass(frozen=True, slots=True)
class Reading:
    """What is kept of the noisy nodes of each group: bins as they are, or the places of quantiles.

    noisy: the measure and its noise. ranks: in the order of the columns that come back, three for each.
    """

    noisy: Noisy
    ranks: tuple[Rank, ...]
    confidence: Fraction

    @property
    def width(self) -> int:
        """How many integers are kept for each group."""
        measure = self.noisy.measure
        assert isinstance(measure, Spread)
        return measure.nodes if isinstance(measure, Bins) else 3 * len(self.ranks)

    def of(self, lists: pa.Array, sampler: Sampler, bits: Bits) -> Integers:
        """Return (groups, width) int64 from lists of (leaf, number), with noise on every node.

        Bins: their noisy numbers. Tree: for each rank the leaf of its value, and of both ends.
        """
        measure = self.noisy.measure
        assert isinstance(measure, Spread)
        found = [np.empty((0, self.width), np.int64)]
        for part in _parts(lists, max(1, _AT_ONCE // measure.nodes)):
            nodes = noised(dense(measure, part), sampler, bits)
            found.append(nodes if isinstance(measure, Bins) else self._places(measure, nodes))
        return np.concatenate(found)

    def _places(self, tree: Tree, nodes: Integers) -> Integers:
        below = np.cumsum(consistent(tree, nodes)[:, : tree.leaves], axis=1)
        rise, spread = _rising(below), self.noisy.deviation * spread_of(self.confidence)
        found = []
        for rank in self.ranks:
            wide = spread * np.sqrt(variances(tree, rank))
            offset = _offset(rank, below[:, -1:], far(self.noisy, tree, self.confidence))
            low = _first(below - offset >= -wide)
            after = tree.leaves - _first((below - offset < wide)[:, ::-1], none=tree.leaves)
            high = np.maximum(np.minimum(after, tree.leaves - 1), low)
            found += [np.clip(_first(rise - offset >= 0), low, high), low, high]
        return np.stack(found, axis=1).astype(np.int64)


def dense(measure: Spread, lists: pa.Array) -> Integers:
    """Return (groups, nodes) int64: the levels of the tree one after the other, that of leaves last."""
    import pyarrow.compute as pc

    branching = measure.branching if isinstance(measure, Tree) else measure.leaves
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    pairs = lists.flatten()
    leaf, number = (pairs.field(place).to_numpy(zero_copy_only=False) for place in (0, 1))
    level = np.zeros((len(lists), branching**measure.levels), np.int64)
    level[np.repeat(np.arange(len(lists)), lengths), leaf] = np.minimum(number, LIMIT - 1)
    levels = [level]
    for _ in range(measure.levels - 1):
        children = levels[-1].reshape(len(lists), -1, branching)
        above = np.zeros(children.shape[:2], np.int64)
        for child in range(branching):
            above = np.minimum(above + children[:, :, child], LIMIT - 1)
        levels.append(above)
    return np.concatenate(levels[::-1], axis=1)


def noised(nodes: Integers, sampler: Sampler, bits: Bits) -> Integers:
    """Return the nodes with a draw of its own on each."""
    return nodes + sampler.sample(nodes.size, bits=bits).reshape(nodes.shape)


def consistent(tree: Tree, nodes: Integers) -> Floats:
    """Return the (groups, leaves) that are nearest to all nodes, in squares: step 3."""
    b = tree.branching
    ends = np.cumsum([b**level for level in range(1, tree.levels)])
    levels = np.split(nodes.astype(np.float64), ends, axis=1)
    upward = [levels.pop()]
    for height, level in enumerate(reversed(levels), start=2):
        size, below = b**height, b ** (height - 1)
        sums = _families(upward[-1], b).sum(axis=2)
        upward.append(((size - below) * level + (below - 1) * sums) / (size - 1))
    best = upward.pop()
    for level in reversed(upward):
        children = _families(level, b)
        shared = (best - children.sum(axis=2)) / b
        best = (children + shared[:, :, None]).reshape(level.shape)
    return best


def variances(tree: Tree, rank: Rank) -> Floats:
    """Return the variance of G at each leaf, as a multiple of that of one node's noise."""
    runs = np.arange(1, tree.leaves + 1)
    match rank:
        case Fraction():
            share = float(rank)
        case "minimum":
            share = 0.0
        case "maximum":
            share = 1.0
        case other:
            assert_never(other)
    whole = np.array([tree.leaves])
    inner = [
        overlap(tree, runs, runs, height)
        - 2 * share * overlap(tree, runs, whole, height)
        + share**2 * overlap(tree, whole, whole, height)
        for height in range(1, tree.levels + 1)
    ]
    total = np.zeros(tree.leaves)
    for height, (here, above) in enumerate(zip(inner, [*inner[1:], np.zeros(1)], strict=True), start=1):
        total += (here - above) / sum(tree.branching**level for level in range(height))
    return np.maximum(total, 0.0)


def overlap(tree: Tree, first: Integers, second: Integers, height: int) -> Floats:
    """Return <E c, E d> for the first `first` and the first `second` leaves, first <= second."""
    size = tree.branching ** (height - 1)
    full, rest = np.divmod(first, size)
    inner: Floats = full * size + rest * np.minimum(size, second - full * size) / size
    return inner


def far(noisy: Noisy, tree: Tree, confidence: Fraction) -> int:
    """Return rho, in steps: the rows that a minimum or a maximum is away from the end."""
    widest = sqrt(float(variances(tree, "minimum").max()))
    return ceil(noisy.deviation * spread_of(confidence) * widest)


def spread_of(confidence: Fraction) -> float:
    """Return how many deviations the noise of a sum of nodes stays within, as often as asked.

    The larger of the Laplace and of the normal law's, and 2 % more: sums of few Laplace draws of unequal size
    lie between the two but for that (a test integrates them).
    """
    sure = float(confidence)
    return _MARGIN * max(NormalDist().inv_cdf((1 + sure) / 2), -log(1 - sure) / sqrt(2))


def _parts(lists: pa.Array, most: int) -> Iterator[pa.Array]:
    for start in range(0, len(lists), most):
        yield lists.slice(start, most)


def _families(level: Floats, branching: int) -> Floats:
    return level.reshape(len(level), -1, branching)


def _rising(below: Floats) -> Floats:
    up = np.maximum.accumulate(below, axis=1)
    down = np.minimum.accumulate(below[:, ::-1], axis=1)[:, ::-1]
    return (up + down) / 2


def _offset(rank: Rank, rows: Floats, away: int) -> Floats | float:
    match rank:
        case Fraction():
            return float(rank) * rows
        case "minimum":
            return float(away)
        case "maximum":
            return rows - away
        case other:
            assert_never(other)


def _first(holds: NDArray[np.bool_], none: int | None = None) -> NDArray[np.int64]:
    """Return the first place that holds in each row; the last place (or `none`) if none does."""
    found = np.argmax(holds, axis=1)
    missing = holds.shape[1] - 1 if none is None else none
    return np.where(holds.any(axis=1), found, missing)
