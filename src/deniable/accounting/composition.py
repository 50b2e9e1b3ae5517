"""Many losses added up: one exponentially tilted Fourier transform.

Each `Losses` holds masses p(j) of P at losses j * step. The sum of all losses has masses r, and

    delta(epsilon) = sum over loss > epsilon of r(loss) (1 - e**(epsilon - loss)) + P[some loss is infinite].

A plain transform has an absolute error, useless for a delta of 1e-12 or 1e-100. So tilt by t > 0:
q(j) = p(j) exp(t j step - K), K = ln sum p(j) exp(t j step), has sum 1, and the sum of all has
r(loss) = R(loss) exp(A - t loss), A = sum of the K, R the convolution of the q, centred near epsilon.

**What is added to the sum, so that it is never below the truth** (u = 2**-53):
1. Entries. The exponent of q is rounded: each q is raised by 8 u times its size. K enters q and A as the same
   float, so its own error cancels. The rounding of A's sum and of the last exponents is in `_slack`.
2. Transform. For masses of sum s <= 1 + 2**-20, every output of a transform of length L is off by at most
   7 u s log2 L: each of log2 L stages adds a butterfly's error, 6.7 u times the sum of what enters it (Higham
   2002, Theorem 24.2, read in the 1-norm; radix 3, 4 and 5 count as log2 of it stages, and cost less). All
   transforms are at most s in size, so a product of n of them, powers by squaring counted as n, is off by at
   most n (7 u log2 L + 3 u), and the way back adds 7 u log2 L: together below eta = ETA (n + 1) u log2 L. So
   max(R, 0) + eta is above the truth in every place.
3. Window. The transform is cyclic: what lies outside its L places appears inside. That only adds; it adds
   little, as the window is made to hold all but exp(-21) of the tilted mass on either side. But mass above
   the end b is missing at its place. It is at most min over s of exp(sum of K(s) - s b): added as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, fsum, inf, log, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from deniable.accounting.losses import LONGEST, Losses, TooFine
from deniable.accounting.pairs import Floats
from deniable.accounting.search import crossing

ETA = 12.0
UNIT = 2.0**-53
_SPARE = 21.0  # the tail above the window is at most 2**-30 of delta: 30 ln 2
STEEPEST = 30.0
_MOST_BENDS = 60
_NEAR, _TOP, _GENTLE = 0.02, 1e-3, 0.1
_CACHE = 1 << 17
_SURE = 1e-6  # more than the rounding of a sum of cumulants
_HIGHEST = 700.0  # a mass, eta at least, with a weight of exp(700) is more than any delta


@dataclass(frozen=True, slots=True)
class Cumulants:
    """At one tilt: K of each item; A, mean and variance of the tilted sum."""

    each: Floats
    total: float
    mean: float
    variance: float


@dataclass(frozen=True, slots=True)
class Bend:
    """A tilt, and the cumulants there."""

    tilt: float
    at: Cumulants


@dataclass(frozen=True, slots=True)
class Tilted:
    """The sum of all losses: the tilted masses `masses[i]` at loss (start + i) * step, eta included.

    log_rest: log of the infinite mass and of the tail above the window. slack: relative, for what was
    rounded.
    """

    step: float
    start: int
    bend: Bend
    masses: Floats
    log_rest: float
    slack: float

    @property
    def lowest(self) -> float:
        """The least epsilon that can be asked."""
        return self.start * self.step

    def epsilon(self, log_delta: float) -> float:
        """Return an epsilon >= 0 (and >= `lowest`) with delta(epsilon) <= e**log_delta; infinity if none."""
        left, right = max(0.0, self.lowest), (self.start + len(self.masses)) * self.step
        weights = self._weights(log_delta)

        def excess(epsilon: float) -> float:
            return self._log_sum(weights, epsilon, log_delta)

        if excess(left) <= 0:
            return left
        if not excess(right) <= 0:
            return inf
        found = crossing(excess, left, right)
        step = 2.0**-45 * found
        while not excess(found) <= 0:
            found, step = found + step, 2 * step
        return found

    def log_delta(self, epsilon: float) -> float:
        """Return the log of delta(epsilon), from above. epsilon is at least `lowest`."""
        reference = self.bend.at.total - self.bend.tilt * epsilon
        return reference + self._log_sum(self._weights(reference), epsilon, reference)

    def _weights(self, reference: float) -> Floats:
        loss = (self.start + np.arange(len(self.masses))) * self.step
        exponent = np.minimum(self.bend.at.total - self.bend.tilt * loss - reference, _HIGHEST)
        with np.errstate(under="ignore"):
            weights: Floats = self.masses * np.exp(exponent)
        return weights

    def _log_sum(self, weights: Floats, epsilon: float, reference: float) -> float:
        """Return ln(delta(epsilon)) - reference, with epsilon lowered by the rounding of epsilon - loss.

        What is infinite may be any number of times the reference: it is added as a logarithm.
        """
        first = max(0, floor(epsilon / self.step) - self.start)
        loss = (self.start + np.arange(first, len(weights))) * self.step
        rounding = 4 * UNIT * (abs(epsilon) + abs(float(loss[-1]))) if len(loss) else 0.0
        finite = float(weights[first:] @ -np.expm1(np.minimum(epsilon - loss, 0.0) - rounding))
        finite *= 1 + self.slack
        if not finite >= 0:
            return inf
        return float(np.logaddexp(log(finite) if finite else -inf, self.log_rest - reference))


class Stack:
    """Losses with their numbers on one grid, as flat arrays."""

    def __init__(self, items: Sequence[Losses], repeats: Sequence[int], step: float) -> None:
        self.step = step
        self.repeats = list(repeats)
        self.counts = np.array(self.repeats, dtype=np.float64)
        self.number = float(self.counts.sum())
        self.sizes = np.array([len(losses.index) for losses in items])
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        self.index = np.concatenate([losses.index for losses in items])
        self.log_mass = np.concatenate([losses.log_mass for losses in items])
        self.loss = self.index * step
        infinite = np.array([losses.log_infinite for losses in items]) + np.log(self.counts)
        self.log_infinite = float(np.logaddexp.reduce(infinite))
        tops = np.maximum.reduceat(self.index, self.starts).tolist()
        self.highest = sum(count * top for count, top in zip(self.repeats, tops, strict=True))

    def cumulants(self, tilt: float) -> Cumulants:
        """Return ln E[exp(tilt * loss)] of each item, and what follows for the sum."""
        exponent = self.log_mass + tilt * self.loss
        top = np.maximum.reduceat(exponent, self.starts)
        weight = np.exp(exponent - np.repeat(top, self.sizes))
        whole = np.add.reduceat(weight, self.starts)
        mean = np.add.reduceat(weight * self.loss, self.starts) / whole
        square = np.add.reduceat(weight * (self.loss - np.repeat(mean, self.sizes)) ** 2, self.starts) / whole
        each = top + np.log(whole)
        return Cumulants(
            each, fsum(self.counts * each), float(self.counts @ mean), float(self.counts @ square)
        )

    def bend(self, depth: float, base: Bend, *, upward: bool) -> Bend:
        """Return the tilt t, above or below `base`, with (t - base) K'(t) - (K(t) - K(base)) = depth.

        The chance, under `base`, of a sum beyond K'(t) is then at most exp(-depth) (Chernoff).
        """
        sign = 1.0 if upward else -1.0

        def ask(way: float) -> tuple[Bend, float, float]:
            here = Bend(base.tilt + sign * way, self.cumulants(base.tilt + sign * way))
            off = sign * way * here.at.mean - (here.at.total - base.at.total) - depth
            return here, off / depth, here.at.variance * way * way / depth

        return self._found(ask, sqrt(2 * depth / max(base.at.variance, 1e-300)))

    def centred(self, epsilon: float) -> Bend:
        """Return the tilt at which the mean of the sum is epsilon; a small one where that is none above 0."""
        still = self.cumulants(0.0)
        least = _GENTLE / sqrt(max(still.variance, 1e-300))

        def ask(tilt: float) -> tuple[Bend, float, float]:
            here = Bend(tilt, self.cumulants(tilt))
            scale = sqrt(max(here.at.variance, 1e-300))
            return here, (here.at.mean - epsilon) / scale, here.at.variance * tilt / scale

        first, off, _ = ask(least)
        if off >= 0:
            return first
        return self._found(ask, max(least, (epsilon - still.mean) / max(still.variance, 1e-300)))

    def _found(self, ask: Callable[[float], tuple[Bend, float, float]], start: float) -> Bend:
        """Return where `off` is about 0: Newton's steps in a bracket. `off` rises with the way.

        ask(way) returns what is there, its off, and how fast off rises with ln(way). Near enough is enough:
        every use of the result holds for any tilt. Where the largest sum is reached there is no more to find.
        """
        low, high = 0.0, STEEPEST / self.step
        way = min(start, high)
        for _ in range(_MOST_BENDS):
            here, off, rise = ask(way)
            top = self.highest * self.step - here.at.mean <= _TOP * self.step
            if abs(off) <= _NEAR or (off < 0 and (top or way == high)):
                break
            low, high = (way, high) if off < 0 else (low, way)
            ahead = way * (1 - off / rise) if rise > 0 else inf
            if not max(low, way / 8) < ahead < min(high, 8 * way):
                ahead = min(8 * way, high) if off < 0 else max(way / 8, (low + way) / 2 if low else 0.0)
            way = ahead
        return here

    def tilted(self, bend: Bend, *, low: float, log_delta: float) -> Tilted:
        """Return the sum of all losses, tilted; epsilon may be asked from `low` on.

        log_delta: about the delta in question; the tail above the window is at most 2**-30 of it.
        """
        depth = _SPARE - min(log_delta, 0.0)
        still = Bend(0.0, self.cumulants(0.0))
        right = self.bend(depth, still, upward=True)
        beyond = self.bend(_SPARE, bend, upward=True)
        left = self.bend(_SPARE, bend, upward=False)
        start = floor(min(low, left.at.mean) / self.step) - 1
        ends = (
            (right.at.total + depth) / right.tilt,
            (beyond.at.total - bend.at.total + _SPARE) / (beyond.tilt - bend.tilt),
        )
        end = min(ceil(max(ends) / self.step) + 2, self.highest + 1)
        length = fast_length(max(end - start, 16))
        if length > LONGEST:
            raise TooFine(length / LONGEST)
        end = start + length
        tail = right.at.total - right.tilt * end * self.step + _SURE if end <= self.highest else -inf
        return Tilted(
            self.step,
            start,
            bend,
            self._convolved(bend, start, length),
            float(np.logaddexp(tail, self.log_infinite)),
            self._slack(bend, start, length, log_delta),
        )

    def _slack(self, bend: Bend, start: int, length: int, log_delta: float) -> float:
        """Bound the rounding of A, of the exponents, of 1 - e**(epsilon - loss), of the sum."""
        farthest = max(abs(start), abs(start + length)) * self.step
        sizes = float(self.counts @ np.abs(bend.at.each)) + abs(bend.at.total) + abs(log_delta)
        return 8 * UNIT * (sizes + (bend.tilt + 1) * farthest + length)

    def _convolved(self, bend: Bend, start: int, length: int) -> Floats:
        exponent = self.log_mass + bend.tilt * self.loss
        each = np.repeat(bend.at.each, self.sizes)
        sizes = np.abs(self.log_mass) + np.abs(bend.tilt * self.loss) + np.abs(each) + 1
        masses = np.exp(exponent - each) * (1 + 8 * UNIT * sizes)
        product = np.ones(length // 2 + 1, dtype=np.complex128)
        for rows in self._blocks(length):
            product = product * self._transformed(masses, rows, length)
        eta = ETA * (self.number + 1) * UNIT * log2(length)
        whole = np.fft.irfft(product, length)
        return np.maximum(np.roll(whole, -(start % length)), 0.0) + eta

    def _blocks(self, length: int) -> list[range]:
        """Cut the items into runs whose transforms fit into a cache."""
        rows = max(1, _CACHE // length)
        return [range(i, min(i + rows, len(self.repeats))) for i in range(0, len(self.repeats), rows)]

    def _transformed(self, masses: Floats, rows: range, length: int) -> NDArray[np.complex128]:
        """Return the product of the transforms of some items, each to the power of its number."""
        part = slice(self.starts[rows[0]], self.starts[rows[-1]] + self.sizes[rows[-1]])
        row = np.repeat(np.arange(len(rows)), self.sizes[rows[0] : rows[-1] + 1])
        place = row * length + self.index[part] % length
        laid = np.bincount(place, weights=masses[part], minlength=len(rows) * length)
        transforms = np.fft.rfft(laid.reshape(len(rows), length), axis=1)
        for i, item in enumerate(rows):
            if self.repeats[item] > 1:
                transforms[i] = _power(transforms[i], self.repeats[item])
        whole: NDArray[np.complex128] = np.multiply.reduce(transforms, axis=0)
        return whole


def _power(x: NDArray[np.complex128], n: int) -> NDArray[np.complex128]:
    """Return x**n by squaring: about as many roundings as n products, in proportion."""
    result = x
    for digit in bin(n)[3:]:
        result = result * result
        if digit == "1":
            result = result * x
    return result


def fast_length(n: int) -> int:
    """Return the least product of 2, 3 and 5 that is at least n and even."""
    best = 1 << n.bit_length()
    five = 1
    while five < best:
        three = five
        while three < best:
            size = three
            while size < n:
                size *= 2
            if size % 2 == 0:
                best = min(best, size)
            three *= 3
        five *= 5
    return best
