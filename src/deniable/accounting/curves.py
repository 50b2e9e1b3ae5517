"""The smooth pairs: each answers with the logarithms of its two tails.

**A vector with Laplace noise moves as one number.** Let (P, Q) be noise of scale 1 moved by d1 <= d2 in two
coordinates, D = d1 + d2. For a shift d and |epsilon| <= d, delta_d(epsilon) = 1 - exp((epsilon - d)/2);
above d it is 0. The first loss is at most d1, so for epsilon >= d1 - d2 the delta of both is, on average
over it, at most delta_d2(epsilon - d1) = delta_D(epsilon). Below, delta(epsilon) = 1 - e**epsilon +
e**epsilon delta'(-epsilon) with delta' of the mirror image, which is the same pair, and -epsilon >= 0. More
coordinates by induction. The discrete case is the same: with t = exp(-1/scale) and m = ceil((d - epsilon
scale)/2) - 1 the best test is {x <= m}, delta_d(epsilon) = 1 - (t**(m + 1) + e**epsilon t**(d - m)) / (1 +
t), and from (d2, epsilon - d1/scale) to (D, epsilon) neither m nor this changes.

**The exponential mechanism has a bounded range**: ln of a ratio of weights lies within an interval of
length epsilon, whose place depends on the tables. The worst for a place t in [0, epsilon] is a two-point
pair with losses t and t - epsilon; delta = (E - e**t)(1 - w e**-t) / (E - 1), E = e**epsilon, w =
e**(epsilon'), largest at e**t = sqrt(E w): (sqrt E - sqrt w)**2 / (E - 1). This is convex in w, a curve of
a pair with the tails below (Dong, Durfee, Rogers 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1, log, log1p, sqrt

import numpy as np

from deniable.accounting.pairs import Floats, Smooth, mixed, unmixed


@dataclass(frozen=True, slots=True)
class GaussianCurve:
    """N(0, 1) against N(mu, 1): P and Q[loss > e] are normal tails at e/mu - mu/2 and e/mu + mu/2."""

    mu: float

    @property
    def variance(self) -> float:
        """mu**2."""
        return self.mu**2

    def tails(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """See `Smooth`."""
        from scipy.special import log_ndtr

        near, far = self.mu / 2 - epsilon / self.mu, -self.mu / 2 - epsilon / self.mu
        return log_ndtr(near), log_ndtr(far)

    def span(self, depth: float) -> tuple[float, float]:
        """The normal tail at z is at most exp(-z**2 / 2)."""
        reach = self.mu * sqrt(2 * depth)
        return -(self.mu**2) / 2 - reach, self.mu**2 / 2 + reach


@dataclass(frozen=True, slots=True)
class LaplaceCurve:
    """Laplace noise moved by `epsilon` scales: P[loss > e] = 1 - exp(-(epsilon - e)/2)/2 between the ends."""

    epsilon: float

    @property
    def variance(self) -> float:
        """epsilon**2 for small ones; the loss of large ones is within a few of its end, or of the other."""
        return min(self.epsilon**2, 4.0)

    def tails(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """See `Smooth`."""
        inside = np.clip(epsilon, -self.epsilon, self.epsilon)
        near = np.log1p(-np.exp((inside - self.epsilon) / 2) / 2)
        far = -(inside + self.epsilon) / 2 - log(2.0)
        return _between(self.epsilon, epsilon, near, far)

    def span(self, depth: float) -> tuple[float, float]:  # noqa: ARG002
        """The loss never leaves [-epsilon, epsilon]."""
        return -self.epsilon, self.epsilon


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceCurve:
    """Discrete Laplace noise on an integer moved by `shift`, a long way (a short one is `pairs.steps`)."""

    shift: int
    scale: float

    @property
    def variance(self) -> float:
        """As for the continuous one."""
        return min((self.shift / self.scale) ** 2, 4.0)

    def tails(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """With m = ceil((shift - e scale)/2) - 1: P = 1 - t**(m + 1)/(1 + t), Q = t**(shift - m)/(1 + t)."""
        most = self.shift / self.scale
        m = np.ceil((self.shift - np.clip(epsilon, -most, most) * self.scale) / 2) - 1
        m = np.clip(m, 0, self.shift - 1)
        total = log1p(exp(-1 / self.scale))
        near = np.log1p(-np.exp(-(m + 1) / self.scale - total))
        return _between(most, epsilon, near, -(self.shift - m) / self.scale - total)

    def span(self, depth: float) -> tuple[float, float]:  # noqa: ARG002
        """The loss never leaves [-shift/scale, shift/scale]."""
        return -self.shift / self.scale, self.shift / self.scale


@dataclass(frozen=True, slots=True)
class BoundedRangeCurve:
    """The exponential mechanism: P[loss > e] = (E - sqrt(E w)) / (E - 1), Q = (sqrt(E/w) - 1) / (E - 1)."""

    epsilon: float

    @property
    def variance(self) -> float:
        """epsilon**2 / 4 at most."""
        return self.epsilon**2 / 4

    def tails(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """See `Smooth`; E - 1 and its kin as expm1 of what is below 0."""
        inside = np.clip(epsilon, -self.epsilon, self.epsilon)
        half = (inside - self.epsilon) / 2
        total = log(-expm1(-self.epsilon))
        with np.errstate(divide="ignore"):
            open_part = np.log(-np.expm1(half))
        return _between(self.epsilon, epsilon, open_part - total, open_part - half - self.epsilon - total)

    def span(self, depth: float) -> tuple[float, float]:  # noqa: ARG002
        """The loss never leaves [-epsilon, epsilon]."""
        return -self.epsilon, self.epsilon


def _between(most: float, epsilon: Floats, near: Floats, far: Floats) -> tuple[Floats, Floats]:
    """Tails of a loss in [-most, most]: all of it is above what is below -most, nothing above most.

    The ends are widened by more than rounding can move epsilon, so that an atom at the end is never lost.
    """
    wide = most * (1 + 2.0**-46)
    below, above = epsilon < -wide, epsilon >= wide
    return (
        np.where(below, 0.0, np.where(above, -np.inf, near)),
        np.where(below, 0.0, np.where(above, -np.inf, far)),
    )


@dataclass(frozen=True, slots=True)
class Removed:
    """`base` on a Poisson sample, for a unit that is removed: see `pairs`."""

    base: Smooth
    rate: float

    @property
    def variance(self) -> float:
        """About rate**2 E[(e**loss - 1)**2], where that is small."""
        return _sampled_variance(self.base, self.rate)

    def tails(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """{loss' > e} is {loss > l}, l the loss that is mixed to e; P' = (1 - rate) Q + rate P."""
        near, far = self.base.tails(unmixed(epsilon, self.rate))
        return np.logaddexp(log1p(-self.rate) + far, log(self.rate) + near), far

    def span(self, depth: float) -> tuple[float, float]:
        """As for the base; Q's tail is below P's where the loss is above 0."""
        low, high = mixed(np.array(self.base.span(depth)), self.rate)
        return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Added:
    """`base` on a Poisson sample, for a unit that is added: see `pairs`."""

    base: Smooth
    rate: float

    @property
    def variance(self) -> float:
        """About rate**2 E[(e**loss - 1)**2], where that is small."""
        return _sampled_variance(self.base, self.rate)

    def tails(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """{loss' > e} is {-loss < l}, l what is mixed to -e; P stays; Q' = (1 - rate) P + rate Q."""
        near, far = self.base.tails(-unmixed(-epsilon, self.rate))
        return near, np.logaddexp(log1p(-self.rate) + near, log(self.rate) + far)

    def span(self, depth: float) -> tuple[float, float]:
        """As for the base."""
        low, high = -mixed(-np.array(self.base.span(depth)), self.rate)
        return float(low), float(high)


def _sampled_variance(base: Smooth, rate: float) -> float:
    return min(base.variance, rate**2 * expm1(min(base.variance, 30.0)))
