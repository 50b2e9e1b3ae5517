"""What the tests of mechanisms compare with: 300-bit arithmetic, chi-square, bits that a test wrote down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

ALPHA = 1e-9
WORD = 1 << 64

MP: Any = mpmath.MPContext()
MP.prec = 300


def real(x: Fraction | int) -> Any:
    """The rational as a 300-bit number."""
    return MP.mpf(Fraction(x).numerator) / Fraction(x).denominator


def chi_square(draws: Iterable[int], probabilities: Sequence[float]) -> float:
    """The p-value of draws of 0, 1, ...; what lies beyond the list is one more cell."""
    observed = np.bincount(list(draws), minlength=len(probabilities))
    seen = np.append(observed[: len(probabilities)], observed[len(probabilities) :].sum()).astype(float)
    expected = np.append(probabilities, max(0.0, 1 - sum(probabilities))) * observed.sum()
    big = expected >= 10
    seen, expected = np.append(seen[big], seen[~big].sum()), np.append(expected[big], expected[~big].sum())
    if expected[-1] < 5:
        seen, expected = seen[:-1], expected[:-1]
    return float(chdtrc(len(seen) - 1, ((seen - expected) ** 2 / expected).sum()))


class ListedBits:
    """Words that a test wrote down, 64 bits at a time; asking for more is an error."""

    def __init__(self, words: Iterable[int]) -> None:
        self.words = list(words)

    def fill(self, buffer: NDArray[Any]) -> None:
        raise NotImplementedError

    def uint16(self, n: int) -> NDArray[np.uint16]:
        raise NotImplementedError

    def uint32(self, n: int) -> NDArray[np.uint32]:
        raise NotImplementedError

    def uint64(self, n: int) -> NDArray[np.uint64]:
        raise NotImplementedError

    def integer(self, bits: int) -> int:
        assert bits == 64
        return self.words.pop(0)
