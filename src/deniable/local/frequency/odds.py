"""One coin decides whether a report names its owner's item, and e**epsilon becomes an integer once and for
all.

Of all reports, `inside` equally likely ones support an item x and `outside` ones do not. A device whose item
is x takes one of the first kind with probability p = threshold / 2**64, else one of the second.

1. A report y inside the support of x has probability p / inside given x, one outside (1 - p) / outside. So
   between any two items a report changes its probability at most by `Coin.ratio`, an exact rational.
2. `coin` takes the largest integer threshold with ratio <= R, where R <= e**epsilon is the lower end of a
   rational enclosure (`largest_ratio`): p <= inside R / (inside R + outside), floored to 2**-64.
3. `Coin.__post_init__` does not trust step 2: it multiplies out both sides again, in rationals.
4. A coin is 64 fresh bits read as an integer below 2**64, compared with the threshold: exact.

| epsilon                | what happens                                                                |
|------------------------|-----------------------------------------------------------------------------|
| below 1e-6             | ParameterError: nobody could learn anything                                 |
| 45 to 1e308            | R = e**45 > 2**64: p is 1 - 2**-64, and the ratio is what that gives        |
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.brackets import exponential
from deniable.errors import ParameterError
from deniable.exact import Number, positive

WORD = 1 << 64
_MOST = Fraction(45)
_LEAST = Fraction(1, 10**6)


def usable(epsilon: Number) -> Fraction:
    """Return epsilon, exactly.

    Raises:  ParameterError: it is no number, or below a millionth.
    """
    number = positive(epsilon, "epsilon")
    if not number >= _LEAST:
        fix = "Give at least 1e-6: a billion reports at 1e-6 tell a share to within 60 times its range."
        raise ParameterError("epsilon", epsilon, "is too small to estimate anything", fix)
    return number


def largest_ratio(epsilon: Fraction) -> Fraction:
    """Return a rational R with 1 < R <= e**epsilon, within 2**-126 of it below epsilon 45, e**45 above."""
    return exponential(min(epsilon, _MOST))[0]


@dataclass(frozen=True)
class Coin:
    """The probability threshold / 2**64 of a report inside the support (see the top of this module).

    Raises:  ParameterError: the ratio is above `most`, or an end is impossible.
    """

    threshold: int
    inside: int
    outside: int
    most: Fraction

    def __post_init__(self) -> None:
        if not (0 < self.threshold < WORD and self.inside > 0 and self.outside > 0):
            raise ParameterError("threshold", None, "tells items apart for certain", "Use `coin`.")
        if not 1 < self.ratio <= self.most:
            raise ParameterError("threshold", None, "does not keep epsilon", "Use `coin`.")

    @property
    def share(self) -> Fraction:
        """The probability of a report inside the support, exactly."""
        return Fraction(self.threshold, WORD)

    @property
    def ratio(self) -> Fraction:
        """The quotient of the probabilities of one report inside and one outside."""
        return Fraction(self.threshold * self.outside, (WORD - self.threshold) * self.inside)

    def toss(self, n: int, bits: Bits) -> NDArray[np.bool_]:
        """Return n tosses, True with probability `share` (step 4)."""
        tossed: NDArray[np.bool_] = bits.uint64(n) < np.uint64(self.threshold)
        return tossed


class Tossed:
    """What a protocol says of itself that one coin decides."""

    coin: Coin

    @property
    def true(self) -> Fraction:
        """P(a report supports its owner's item)."""
        return self.coin.share

    @property
    def ratio(self) -> Fraction:
        """How much a report's probability changes between two items at most."""
        return self.coin.ratio


def coin(epsilon: Fraction, inside: int, outside: int) -> Coin:
    """Return the most truthful coin that keeps epsilon (step 2)."""
    most = largest_ratio(epsilon)
    best = inside * most / (inside * most + outside)
    return Coin(min(int(best * WORD), WORD - 1), inside, outside, most)


def uniform(n: int, bound: int, bits: Bits) -> NDArray[np.int64]:
    """Return n integers, each uniform from 0 to bound - 1, exactly; 1 <= bound <= 2**32.

    A word w of 32 bits gives the high half of w * bound. Each result r has 2**32 // bound or one more words;
    of the longer ones a word is refused if the low half is below 2**32 % bound, which leaves all results the
    same number (Lemire 2019). Refused words are drawn again; which are refused depends on fresh bits alone.
    """
    if bound & (bound - 1) == 0:
        shift = np.uint64(33 - bound.bit_length())
        return (bits.uint32(n).astype(np.uint64) >> shift).astype(np.int64)
    drawn, refused = _halves(n, bound, bits)
    while len(refused):
        again, still = _halves(len(refused), bound, bits)
        drawn[refused] = again
        refused = refused[still]
    return drawn


def _halves(n: int, bound: int, bits: Bits) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the high halves of n products, and the places of those to be refused."""
    products = bits.uint32(n).astype(np.uint64) * np.uint64(bound)
    low = products.astype(np.uint32)
    refused = np.flatnonzero(low < np.uint32((1 << 32) % bound))
    return (products >> np.uint64(32)).astype(np.int64), refused
