"""What the tests of noise compare with: 600-bit arithmetic, chi-square, bits that a test wrote down."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

ALPHA = 1e-9
WORD = 1 << 64

MP: Any = mpmath.MPContext()
MP.prec = 600


def real(x: Fraction | int) -> Any:
    """The rational as a 600-bit number."""
    return MP.mpf(Fraction(x).numerator) / Fraction(x).denominator


def laplace_mass(scale: Fraction, x: int) -> Any:
    """P(x), from its definition."""
    q = MP.exp(-1 / real(scale))
    return (1 - q) / (1 + q) * q ** abs(x)


def gaussian_weights(variance: Fraction, xs: Iterable[int]) -> list[Any]:
    """exp(-x**2 / (2 variance)) for each x."""
    v = real(variance)
    return [MP.exp(-(MP.mpf(x) ** 2) / (2 * v)) for x in xs]


@lru_cache(maxsize=64)
def gaussian_total(variance: Fraction) -> Any:
    """The sum of exp(-x**2 / (2 variance)) over all integers, to 600 bits (sigma up to some thousands)."""
    reach = int(30 * float(variance) ** 0.5) + 30
    return 1 + 2 * MP.fsum(gaussian_weights(variance, range(1, reach)))


def chi_square(observed: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """The p-value of Pearson's test; cells that expect fewer than 25 draws are put together."""
    expected = probabilities * observed.sum()
    rest = 1 - probabilities.sum()
    big = expected >= 25
    seen = np.append(observed[big], observed[~big].sum())
    wanted = np.append(expected[big], expected[~big].sum() + max(rest, 0) * observed.sum())
    if wanted[-1] < 5:
        seen, wanted = seen[:-1], wanted[:-1]
    statistic = float(((seen - wanted) ** 2 / wanted).sum())
    return float(chdtrc(len(seen) - 1, statistic))


def p_value(draws: NDArray[np.int64], mass: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> float:
    """The p-value of the draws under a mass function, one cell an integer."""
    far = int(np.abs(draws).max())
    xs = np.arange(-far, far + 1)
    return chi_square(np.bincount(draws + far, minlength=len(xs)), mass(xs.astype(np.float64)))


class ScriptedBits:
    """Bits that a test wrote down; asking for more than there are is an error."""

    def __init__(
        self,
        *,
        first: Iterable[int] = (),
        second: Iterable[int] = (),
        integers: Iterable[int] = (),
        halves: Iterable[int] = (),
    ) -> None:
        self.first, self.second = list(first), list(second)
        self.integers, self.halves = list(integers), list(halves)

    def fill(self, buffer: NDArray[Any]) -> None:
        raise NotImplementedError

    def uint16(self, n: int) -> NDArray[np.uint16]:
        return np.array([self.first.pop(0) for _ in range(n)], np.uint16)

    def uint32(self, n: int) -> NDArray[np.uint32]:
        return np.array([self.halves.pop(0) for _ in range(n)], np.uint32)

    def uint64(self, n: int) -> NDArray[np.uint64]:
        return np.array([self.second.pop(0) for _ in range(n)], np.uint64)

    def integer(self, bits: int) -> int:
        assert bits == 64
        return self.integers.pop(0)


def words(values: Iterable[int], *, more: Iterable[int] = ()) -> ScriptedBits:
    """Bits from which a table reads these 64-bit words (each in a bucket that is not settled)."""
    listed = list(values)
    return ScriptedBits(
        first=[word >> 48 for word in listed],
        second=[(word << 16) % WORD for word in listed],
        integers=more,
    )
