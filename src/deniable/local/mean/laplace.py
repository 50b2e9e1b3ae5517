"""Laplace noise on a value in [-1, 1]: the law with no end, kept beside the finite ones as a yardstick.

1. The value is rounded at random, without bias, to a multiple of h = 2**-k between -1 and 1 (`rows`).
2. Discrete Laplace noise of scale 2 / (epsilon h) steps is added, drawn exactly (`noise.laplace`). Two values
   are at most 2 / h steps apart, and P(noise = m) changes by at most a factor e**(1 / scale) a step: so by
   e**epsilon in all. Step 1 is a mixture and keeps that.
3. A report is 64 bits. Noise of 2**62 steps would not fit; as the scale is at most 2**41, its probability is
   below e**-(2**20), and so a device does not fall silent.
h is chosen so that the scale is about 2**8 steps: rounding adds at most h**2 / 4 to a variance near 8 /
epsilon**2. For epsilon above 1024 the noise of 1024 is used.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.brackets import exponential
from deniable.local.mean.laws import Floats
from deniable.noise.laplace import DiscreteLaplace

_STEPS = 8
_MOST = Fraction(1024)
_OFFSET = 1 << 63
_LOW = 20


@dataclass(frozen=True)
class Noise:
    """The law. fine: h = 2**-fine; scale: of the noise, in steps of h."""

    epsilon: Fraction

    @cached_property
    def fine(self) -> int:
        """k, with h = 2**-k."""
        return max(0, ceil(log2(float(min(self.epsilon, _MOST)) / 2)) + _STEPS)

    @cached_property
    def scale(self) -> Fraction:
        """The scale of the noise in steps."""
        return 2 * Fraction(1 << self.fine) / min(self.epsilon, _MOST)

    @cached_property
    def noise(self) -> DiscreteLaplace:
        """The sampler."""
        return DiscreteLaplace(self.scale)

    @cached_property
    def digest(self) -> str:
        """A hash of the numbers that fix the law."""
        return hashlib.sha256(f"laplace {self.fine} {self.scale}".encode()).hexdigest()

    @cached_property
    def spread(self) -> Fraction:
        """The variance of the noise, 2 t / (1 - t)**2 steps squared with t = e**(-1 / scale), rounded up."""
        t = exponential(-1 / self.scale)[1]
        return 2 * t / (1 - t) ** 2 / Fraction(1 << self.fine) ** 2

    @property
    def worst(self) -> Fraction:
        """The largest variance of a report: half way between two multiples of h. Rounded up."""
        return self.spread + Fraction(1, 4) / (1 << self.fine) ** 2

    def variance_at(self, v: Fraction) -> Fraction:
        """Return the variance of a report on v, rounded up."""
        share = v * (1 << self.fine) % 1
        return self.spread + share * (1 - share) / (1 << self.fine) ** 2

    def average(self) -> Fraction:
        """Return the variance of a report averaged over all values alike, rounded up."""
        return self.spread + Fraction(1, 6) / (1 << self.fine) ** 2

    def draw(self, v: Floats, bits: Bits) -> NDArray[np.uint64]:
        """Return the payloads of values in [-1, 1]: steps of h, from 2**63 on."""
        steps = v * float(1 << self.fine)
        whole = np.floor(steps)
        coins = (bits.uint64(len(v)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        rounded = (whole + (coins < steps - whole)).astype(np.int64)
        return (rounded + self.noise.sample(len(v), bits=bits)).view(np.uint64) + np.uint64(_OFFSET)

    def totals(self, payload: NDArray[Any]) -> NDArray[np.int64]:
        """Return two sums, of the upper bits of the steps and of the lower 20: honest ones never wrap."""
        steps = (payload - np.uint64(_OFFSET)).view(np.int64)
        return np.array([(steps >> _LOW).sum(), (steps & ((1 << _LOW) - 1)).sum()], np.int64)

    def sums(self, totals: NDArray[np.int64]) -> tuple[Fraction, None]:
        """Return the sum of what the reports stand for, exactly; of their squares nothing is kept."""
        return Fraction((int(totals[0]) << _LOW) + int(totals[1]), 1 << self.fine), None
