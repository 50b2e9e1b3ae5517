"""Laws with a sliding window: outputs near the value are likelier than all others, which are equally likely.

There are M places on a line, an odd number; row i of the M - width + 1 rows has a window of `width` places
from i on.
One word of 64 bits is drawn. Its range is cut into runs of words, in this order:

| words                          | mean                                                                |
|--------------------------------|---------------------------------------------------------------------|
| width * high                   | the places of the window, `high` words each                         |
| (M - width) * low              | all other places, `low` words each                                  |
| rest                           | the middle place (these are what the divisions left over)            |
| coin, if there is one          | two more outputs beyond the ends: upper[i] words the upper, else the lower|

Why epsilon is kept: a place has `low` or `high` words in every row, and the middle `rest` more in each row
alike, which brings two numbers closer in proportion; the two outer outputs have upper[i] and coin - upper[i]
words. So the largest quotient of a column is at most `ratio`, an exact rational; `check` holds it against
e**epsilon, and `row` writes a row out for whoever wants to count (the audit does).
The piecewise mechanism (Wang et al. 2019), the classified response and the hybrid of PM and Duchi's are of
this kind, on a grid; `of_width` and `hybrid` choose the numbers of words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.brackets import exponential
from deniable.errors import ParameterError
from deniable.exact import text
from deniable.local.mean.laws import Law
from deniable.local.tables import Table

_WORD = 1 << 64
_LARGEST = 64


@dataclass(frozen=True, slots=True)
class Window:
    """The probabilities (see the top of this module). places: M. upper: one a row, or none without a coin."""

    places: int
    width: int
    high: int
    low: int
    coin: int = 0
    upper: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        rows = self.places - self.width + 1
        sizes = self.places % 2 == 1 and 1 <= self.width < self.places and 1 <= self.low <= self.high
        coins = len(self.upper) == (rows if self.coin else 0) and all(0 < n < self.coin for n in self.upper)
        if not (sizes and coins and self.rest >= 0):
            fix = "Its runs of words must fit into 2**64, and no output may be impossible."
            raise ParameterError("window", None, "is not the law of a mechanism", fix)

    @property
    def bits(self) -> int:
        """Each row sums to 2**64."""
        return 64

    @property
    def rest(self) -> int:
        """The words that are left over."""
        used = self.width * self.high + (self.places - self.width) * self.low
        return _WORD - used - self.coin

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        return self.places + (2 if self.coin else 0)

    @property
    def digest(self) -> str:
        """A hash of the numbers that fix all rows."""
        told = (self.places, self.width, self.high, self.low, self.coin, self.upper)
        return hashlib.sha256(f"window {told}".encode()).hexdigest()

    def ratio(self) -> Fraction:
        """Return a bound on the quotient of two entries of one column."""
        quotients = [Fraction(self.high, self.low)]
        if self.coin:
            lower = [self.coin - words for words in self.upper]
            quotients += [Fraction(max(side), min(side)) for side in (lower, self.upper)]
        return max(quotients)

    def check(self, epsilon: Fraction) -> None:
        """Raise unless epsilon is proved.

        Raises:  ParameterError: `ratio` exceeds e**epsilon, as far as 128 bits can tell.
        """
        if not self.ratio() <= exponential(min(epsilon, Fraction(_LARGEST)))[0]:
            fix = "Build the window for this epsilon."
            raise ParameterError("window", None, f"does not keep epsilon {text(epsilon)}", fix)

    def row(self, place: int) -> list[int]:
        """Return the entries of a row, one an output."""
        words = [self.low] * self.places
        words[place : place + self.width] = [self.high] * self.width
        words[self.places // 2] += self.rest
        if not self.coin:
            return words
        return [self.coin - self.upper[place], *words, self.upper[place]]

    def moments(self, values: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return for each row the sums of entry * value and of entry * value**2."""
        return self._sums(list(values)), self._sums([y * y for y in values])

    def _sums(self, amounts: list[int]) -> list[int]:
        inner = amounts[1:-1] if self.coin else amounts
        until = [0, *accumulate(inner)]
        always = self.low * until[-1] + self.rest * inner[self.places // 2]
        extra = self.high - self.low
        sums = [
            always + extra * (until[place + self.width] - until[place])
            for place in range(self.places - self.width + 1)
        ]
        if not self.coin:
            return sums
        first, last = amounts[0], amounts[-1]
        coins = ((self.coin - words) * first + words * last for words in self.upper)
        return [total + extra for total, extra in zip(sums, coins, strict=True)]

    def sample(self, rows: NDArray[Any], bits: Bits) -> NDArray[np.uint16]:
        """Return one output for each row number."""
        words, starts = bits.uint64(len(rows)), np.asarray(rows, np.int64)
        inside = self.width * self.high
        outside = (self.places - self.width) * self.low
        near = starts + (words // np.uint64(self.high)).astype(np.int64)
        other = ((words - np.uint64(inside)) // np.uint64(self.low)).astype(np.int64)
        other += (other >= starts) * self.width
        places = np.where(words < np.uint64(inside), near, other)
        if inside + outside < _WORD:
            places[words >= np.uint64(inside + outside)] = self.places // 2
        if self.coin:
            places += 1
            flips = words >= np.uint64(_WORD - self.coin)
            upper = np.array(self.upper, np.uint64)[starts[flips]]
            up = words[flips] - np.uint64(_WORD - self.coin) < upper
            places[flips] = np.where(up, self.places + 1, 0)
        return places.astype(np.uint16)


def of_width(epsilon: Fraction, places: int, width: int) -> Law:
    """Return the law of a window of this width, as far apart as epsilon allows, stretched to [-1, 1]."""
    return _stretched(_window(epsilon, places, width, _WORD))


def _window(epsilon: Fraction, places: int, width: int, words: int) -> Window:
    odds = exponential(min(epsilon, Fraction(_LARGEST)))[0]
    low = max(1, int(words / (width * odds + places - width)))
    high = min(int(low * odds), (words - (places - width) * low) // width)
    return Window(places, width, high, low)


def _stretched(window: Window) -> Law:
    """Return the law with outputs evenly spaced so that the first row means -1 and the last 1."""
    middle = window.places // 2
    values = range(-middle, middle + 1)
    return Law(window, values, Fraction(_WORD, window.moments(values)[0][-1]))


def hybrid(epsilon: Fraction, places: int, width: int, reach: Fraction, share: Fraction) -> Law:
    """Return the law that takes a window with probability `share` and else one of -reach and reach.

    The two outer outputs are rounded to whole multiples of the others' spacing. upper[i] rises in equal steps
    from the least to the most that epsilon allows.
    """
    odds = exponential(min(epsilon, Fraction(_LARGEST)))[0]
    alone = of_width(epsilon, places, width)
    coin = int(_WORD * (1 - share)) // 2 * 2
    part = _window(epsilon, places, width, _WORD - coin)
    rows = places - width + 1
    least = int(coin / (1 + odds)) + 1
    steps = [least + (coin - 2 * least) * place // (rows - 1) for place in range(rows // 2)]
    middle = [coin // 2] * (rows % 2)
    upper = (*steps, *middle, *(coin - words for words in reversed(steps)))
    window = Window(places, width, part.high, part.low, coin, upper)
    outer = max(round(reach / alone.unit), 1)
    values = [-outer, *range(-(places // 2), places // 2 + 1), outer]
    return Law(window, values, Fraction(_WORD, window.moments(values)[0][-1]))


def duchi(epsilon: Fraction) -> Law:
    """Return the law of Duchi et al.: two outputs, as far apart as epsilon allows."""
    odds = exponential(min(epsilon, Fraction(_LARGEST)))[0]
    small = max(1, -int(-(_WORD / (1 + odds)) // 1))
    table = Table([[_WORD - small, small], [small, _WORD - small]], bits=64)
    return Law(table, (-1, 1), Fraction(_WORD, _WORD - 2 * small))


def piecewise_share(epsilon: Fraction) -> float:
    """Return the width of the window of PM over all places: (C - 1) / 2C, C as in Wang et al. 2019."""
    half = exp(-float(min(epsilon, Fraction(1400))) / 2)
    return half / (1 + half)


def best_share(epsilon: Fraction, places: int) -> int:
    """Return the width for which the worst variance of a continuous window is least.

    On [-1, 1], with half the width x and probability p of the window, centre c in [-(1 - x), 1 - x]: the mean
    is d c with d = p - (1 - p) x / (1 - x), the second moment a line in c**2, so the worst value of the
    variance after stretching by d (1 - x) is at c = 0 or at c = 1 - x.
    """
    x = np.arange(1, places, dtype=float) / places
    weak = exp(-float(min(epsilon, Fraction(700))))
    p = x / (x + weak * (1 - x))
    d = p - (1 - p) * x / (1 - x)

    def variance(c: NDArray[np.float64]) -> NDArray[np.float64]:
        inside = c**2 + x**2 / 3
        square = p * inside + (1 - p) * (1 / 3 - x * inside) / (1 - x)
        return (square - (d * c) ** 2) / (d * (1 - x)) ** 2

    return 1 + int(np.argmin(np.maximum(variance(0 * x), variance(1 - x))))
