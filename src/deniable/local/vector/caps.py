"""The cap of PrivUnit: how large, what an accepted direction then means on average, and how exact that is.

Take a direction U, uniform on the sphere of R**d, and a unit vector u. The cap is {<U, u> >= gamma}; with
`gaussian` U is a standard normal vector instead, and the cap a half-space. A proposal in the cap is kept, any
other with probability a. With Q = P(cap) and t = <U, u>:

1. Z = P(kept) = a + (1 - a) Q.
2. E[t; kept] = (1 - a) E[t; t >= gamma], because E[t] = 0. So E[U | kept] = slope * u with
   slope = (1 - a) E[t; t >= gamma] / Z, by symmetry around u; U / slope is an unbiased report of u.
3. E[t**2 | kept] = (a E[t**2] + (1 - a) E[t**2; t >= gamma]) / Z; the other directions share the rest.

On the sphere t has the density c (1 - t**2)**((d-3)/2), c = Gamma(d/2) / (sqrt(pi) Gamma((d-1)/2)), so
E[t; t >= gamma] = c (1 - gamma**2)**((d-1)/2) / (d - 1), Q and E[t**2; t >= gamma] are incomplete beta
functions. For the normal vector Q = P(N >= gamma), E[t; t >= gamma] = phi(gamma) and
E[t**2; t >= gamma] = Q + gamma phi(gamma).

These are computed in floating point, to 12 digits at least: an estimate is off by less than 1e-12 of itself.
Privacy does not use them (`slack` and `proposals` do that).
Source: Bhowmick, Duchi, Freudiger, Kapoor, Rogers 2018; Asi, Feldman, Talwar 2022 (optimised; Gaussian form).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import erfc, exp, inf, isqrt, lgamma, pi, sqrt

from deniable.brackets import negative_exponential
from deniable.errors import ParameterError
from deniable.exact import text
from deniable.local.vector import tilts
from deniable.local.vector.tilts import Tilt

SPARE = Fraction(1, 1 << 30)
"""The part of epsilon that pays for proposals that are not exactly uniform (`slack` is below it)."""

SIGMA_BITS = 48
ROUND_BITS = 53
SMOOTH = 4
REACH = 13
FAR = 14
ODDS_BITS = 64
_STEPS = 256
_LEAST_KEPT = 2.0**-13
_LEAST_EPSILON = Fraction(1, 1 << 20)


@dataclass(frozen=True, slots=True)
class Cap:
    """A cap in so many dimensions. gamma = height / (256 isqrt(dimension)); a = odds / 2**64."""

    dimension: int
    height: int
    odds: int
    gaussian: bool = False

    @property
    def gamma(self) -> float:
        """The least inner product of the cap (in standard deviations if Gaussian)."""
        return self.height / (_STEPS * (1 if self.gaussian else isqrt(self.dimension)))

    @property
    def outside(self) -> float:
        """a: the probability that a proposal outside the cap is kept."""
        return self.odds / 2.0**ODDS_BITS

    @property
    def mass(self) -> float:
        """Q, the probability of the cap."""
        if self.gaussian:
            return erfc(self.gamma / sqrt(2)) / 2
        return _beta((self.dimension - 1) / 2, 0.5, 1 - self.gamma**2) / 2

    @property
    def kept(self) -> float:
        """Z, the probability that a proposal is kept."""
        return self.outside + (1 - self.outside) * self.mass

    @property
    def slope(self) -> float:
        """E[t | kept]: how long the expected direction is."""
        return float((1 - self.outside) * self._first / self.kept)

    @property
    def square(self) -> float:
        """E[t**2 | kept], along u."""
        total = 1.0 if self.gaussian else 1 / self.dimension
        return (self.outside * total + (1 - self.outside) * self._second) / self.kept

    @property
    def across(self) -> float:
        """E[(a coordinate at right angles to u)**2 | kept]."""
        return 1.0 if self.gaussian else (1 - self.square) / (self.dimension - 1)

    @property
    def _first(self) -> float:
        if self.gaussian:
            return exp(-(self.gamma**2) / 2) / sqrt(2 * pi)
        d = self.dimension
        constant = exp(lgamma(d / 2) - lgamma((d - 1) / 2)) / sqrt(pi)
        return float(constant * (1 - self.gamma**2) ** ((d - 1) / 2) / (d - 1))

    @property
    def _second(self) -> float:
        if self.gaussian:
            return self.mass + self.gamma * self._first
        d = self.dimension
        return _beta((d - 1) / 2, 1.5, 1 - self.gamma**2) / (2 * d)

    @property
    def tilt(self) -> Tilt:
        """How proposals lean towards the cap."""
        if self.gaussian:
            return tilts.half_space(self.gamma, self.odds)
        return tilts.best(self.gamma, self.dimension, self.odds)

    @property
    def chance(self) -> float:
        """The probability that a proposal is kept (`tilts`, step 4)."""
        return self.tilt.share * self.kept * self.tilt.upright / self.odds

    @property
    def slack(self) -> float:
        """A bound on what a report costs beyond ln(1/a): proved in `proposals`, steps 4 to 11."""
        return self._uneven + 4 * self._pointwise

    @property
    def _pointwise(self) -> float:
        """The largest relative error of a probability with which something is kept (step 5)."""
        root, additions, tilt = sqrt(self.dimension), sum(_blocks(self.dimension)) + 6, self.tilt
        steepest = exp(tilt.shift * self.gamma * (tilt.top - tilt.near))
        moved = (root + FAR + 1) * (root + 1) * 2.0 ** -(SIGMA_BITS + 1)
        added = additions * (tilt.shift * (root + FAR + 3 + tilt.shift) + tilt.shift**2)
        return 2.0**-42 + 2.0**-ROUND_BITS * steepest + moved + 2.0 ** -(ROUND_BITS - 1) * added

    @property
    def _uneven(self) -> float:
        """A bound on ln(Z for one u / Z for another) (steps 6 to 11)."""
        d, gamma, tilt = self.dimension, self.gamma, self.tilt
        (block, blocks), root = _blocks(d), sqrt(d)
        length = 0.0 if self.gaussian else gamma * root
        units = block * sqrt(blocks) + root + blocks + (length + 1) * ((block + blocks) / 2 + 5)
        smooth, rounding = 2.0**-SIGMA_BITS, 2.0**-ROUND_BITS
        tau = 1.001 * (REACH + tilt.shift) * (SMOOTH * (1 + gamma) * smooth + rounding * units)
        tau += (root + 1) * smooth
        radius = 1.001 * (REACH * SMOOTH * smooth + rounding * (root + FAR) * (block + blocks + 5))
        slabs = 0.8 * tau * (self._thin + exp(-(tilt.shift**2) / 2)) * 1.01
        steep = 0.0 if self.gaussian else tilt.shift * gamma
        kappa = slabs + radius * (2.1 * tilt.edge + steep) + 2.0**-100
        left = tilt.share * self.kept - kappa
        return float(2 * kappa / left) if left > 0 else inf

    @property
    def _thin(self) -> float:
        """How much thinner the law of <U, u> is at the edge of the cap than in the middle (step 9)."""
        if self.gaussian:
            return exp(-(self.gamma**2) / 2)
        if self.dimension == 2:
            return 1 / (1 - self.gamma)
        return float((1 - self.gamma**2) ** ((self.dimension - 3) / 2))


def odds(epsilon: Fraction) -> int:
    """Return the least integer a * 2**64 with 1/a <= e**(epsilon - 2**-30), proved; at least 1."""
    spent = epsilon - SPARE
    return max(1, negative_exponential(spent.numerator, spent.denominator, ODDS_BITS)[1])


@lru_cache(maxsize=64)
def best(epsilon: Fraction, dimension: int, *, gaussian: bool = False) -> Cap:
    """Return the cap with the least mean squared error among those with Z at least 2**-13.

    All have a `slack` below 2**-30; smaller caps than these seldom have. Heights are whole numbers, so that
    two machines choose the same one.
    Raises:  ParameterError: epsilon is below 2**-20, or no cap is good enough.
    """
    if not epsilon >= _LEAST_EPSILON:
        raise ParameterError("epsilon", text(epsilon), "is too small for a direction", "Give at least 1e-6.")
    outside = odds(epsilon)
    highest = 8 * _STEPS if gaussian else min(_STEPS * isqrt(dimension) - 1, 9 * _STEPS)
    caps = [Cap(dimension, height, outside, gaussian) for height in range(highest)]
    fit = [cap for cap in caps if cap.kept >= _LEAST_KEPT]
    fit.sort(key=lambda cap: (cap.square + (dimension - 1) * cap.across) / cap.slope**2)
    found = next((cap for cap in fit if cap.slack < SPARE), None)
    if found is None:
        raise ParameterError("dimension", dimension, "is too large for the proof", "Give at most 65,536.")
    return found


def _blocks(dimension: int) -> tuple[int, int]:
    """Return how many coordinates a block of an inner product has, and how many blocks there are."""
    block = isqrt(dimension) + 1
    return block, -(-dimension // block)


def _beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function."""
    from scipy.special import betainc

    return float(betainc(a, b, x))
