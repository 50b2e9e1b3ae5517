"""Noise that was added: the four additive events.

Each says: a value (or vector of values) that one unit moves by at most `sensitivity` was published with
this noise on it. All numbers are for neighbours that differ by one unit added or removed.

Below, `x` is the noise; P is the law of the output on one of the tables and Q on the other, so Q is P moved
by at most the sensitivity. Epsilon, where a pure guarantee exists, is `epsilon`; a squared Gaussian shift in
units of the noise is `sensitivity**2 / sigma**2`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from deniable.errors import ParameterError
from deniable.exact import Number, at_least_zero, positive, whole

MOST_COORDINATES = 2**62


@dataclass(frozen=True, slots=True, init=False)
class Laplace:
    """Continuous Laplace noise on one number, or on a vector with this L1 sensitivity.

    Density of the noise: exp(-|x| / scale) / (2 scale), x real.
    A vector moved by d1, d2, ... is dominated by one coordinate moved by d1 + d2 + ...: proved in
    `accounting.pairs`.
    """

    scale: Fraction
    sensitivity: Fraction

    def __init__(self, *, scale: Number, sensitivity: Number = 1) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "sensitivity", at_least_zero(sensitivity, "sensitivity", up=True))

    @property
    def epsilon(self) -> Fraction:
        """The pure guarantee: sensitivity / scale."""
        return self.sensitivity / self.scale


@dataclass(frozen=True, slots=True, init=False)
class DiscreteLaplace:
    """Discrete Laplace noise on one integer, or on a vector of integers with this L1 sensitivity.

    P(x) = (1 - t) / (1 + t) * t**|x|,  t = exp(-1/scale), for every integer x.
    The sensitivity of integers is a whole number.
    """

    scale: Fraction
    sensitivity: Fraction

    def __init__(self, *, scale: Number, sensitivity: Number = 1) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        number = at_least_zero(sensitivity, "sensitivity", up=True)
        if number.denominator != 1:
            fix = "Integers move by a whole number: give for example 3."
            raise ParameterError("sensitivity", sensitivity, "must be a whole number", fix)
        object.__setattr__(self, "sensitivity", number)

    @property
    def epsilon(self) -> Fraction:
        """The pure guarantee: sensitivity / scale."""
        return self.sensitivity / self.scale


@dataclass(frozen=True, slots=True, init=False)
class Gaussian:
    """Continuous Gaussian noise on a number or vector with this L2 sensitivity.

    Density of the noise in each coordinate: exp(-x**2 / (2 sigma**2)) / (sigma sqrt(2 pi)), x real.
    """

    sigma: Fraction
    sensitivity: Fraction

    def __init__(self, *, sigma: Number, sensitivity: Number = 1) -> None:
        object.__setattr__(self, "sigma", positive(sigma, "sigma"))
        object.__setattr__(self, "sensitivity", at_least_zero(sensitivity, "sensitivity", up=True))


@dataclass(frozen=True, slots=True, init=False)
class DiscreteGaussian:
    """Discrete Gaussian noise on a vector of integers.

    P(x) proportional to exp(-x**2 / (2 sigma**2)) for every integer x, independently in each coordinate.
    `sensitivity` is the L2 bound, rounded up where it is a root; `coordinates` is the number of coordinates
    that one unit can move. It is *not* priced as the continuous Gaussian: see `accounting.discrete`.
    """

    sigma: Fraction
    sensitivity: Fraction
    coordinates: int

    def __init__(self, *, sigma: Number, sensitivity: Number = 1, coordinates: int = 1) -> None:
        object.__setattr__(self, "sigma", positive(sigma, "sigma"))
        number = at_least_zero(sensitivity, "sensitivity", up=True)
        if not (number == 0 or number >= 1):
            fix = "Integers move by nothing or by at least 1."
            raise ParameterError("sensitivity", sensitivity, "must be 0 or at least 1", fix)
        object.__setattr__(self, "sensitivity", number)
        most = whole(coordinates, "coordinates", at_least=1, at_most=MOST_COORDINATES)
        object.__setattr__(self, "coordinates", most)
