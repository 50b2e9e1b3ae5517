"""Decide a claim about added noise by interval arithmetic on its density: no accountant is asked.

The output is X + shift on one input and X on its neighbour, shift = sensitivity > 0 (in d dimensions a worst
pair moves along one line: see `accounting`). Write p(x) = f(x - shift), q(x) = f(x). The four densities f are
log-concave, so p/q never falls, and {p > e**epsilon q} is a half-line {x > t} with

| noise              | t                                     | why                                       |
|--------------------|---------------------------------------|-------------------------------------------|
| (Discrete)Gaussian | shift/2 + epsilon sigma**2/shift      | ln p/q = shift (2 x - shift)/(2 sigma**2) |
| (Discrete)Laplace  | (shift + epsilon scale)/2, if that is | ln p/q = (abs(x) - abs(x - shift))/scale, |
|                    | below shift; else the set is empty    | which rises from -shift to shift (/scale) |

t is rational, so nothing is searched: delta(epsilon) = P(X > t - shift) - e**epsilon P(X > t), and every tail
is enclosed (`_tail`):

| noise            | P(X > t)                                                                       |
|------------------|--------------------------------------------------------------------------------|
| Gaussian         | the normal tail at t/sigma                                                     |
| Laplace          | exp(-t/scale)/2 for t >= 0, 1 less that of -t below 0                          |
| DiscreteLaplace  | with m = floor(t) + 1 and r = exp(-1/scale): r**m/(1 + r) for m >= 1           |
| DiscreteGaussian | a ratio of sums of exp(-x**2/2 sigma**2), each ended where its rest is tiny    |

-X has the law of X, so the pair the other way round has the same curve; and a smaller shift has a smaller
delta, f being log-concave.

Source: Balle, Wang 2018 (Gaussian); Dong, Roth, Su 2022 (log-concave noise).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import assert_never

from deniable.audit.verdict import Claim, Computed, Proved, Violated
from deniable.brackets import exponential, negative_exponential, normal_tail
from deniable.errors import ParameterError
from deniable.events import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from deniable.exact import Number, at_least_zero, probability

Additive = Laplace | DiscreteLaplace | Gaussian | DiscreteGaussian
Ends = tuple[Fraction, Fraction]

_PRECISION = 256
_MOST_EPSILON = 1 << 14
_MOST_SIGMA = 1 << 12
_STEPS = 64


@dataclass(frozen=True, slots=True)
class AdditiveCurve:
    """delta(epsilon) of noise that was added to a value which moves by `noise.sensitivity` on one line."""

    noise: Additive

    def delta(self, epsilon: Number) -> Fraction:
        """Return at least the least delta at this epsilon, within 2**-200."""
        return self.enclosed(_epsilon(epsilon))[1]

    def epsilon(self, delta: Number = 0) -> Fraction:
        """Return at least the least epsilon at this delta, within 2**-64 of it relative to the range
        searched.

        Raises:  ParameterError: Gaussian noise has no epsilon at delta 0.
        """
        allowed = probability(delta, "delta")
        if isinstance(self.noise, Laplace | DiscreteLaplace):
            high = self.noise.epsilon
        elif not allowed > 0:
            raise ParameterError(
                "delta", delta, "must be above 0 for Gaussian noise", "Give for example '1e-8'."
            )
        else:
            high = Fraction(1)
            while self.delta(high) > allowed:
                high = 2 * high
        low = Fraction(0)
        if allowed == 0:
            return high
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= allowed else (middle, high)
        return high

    def enclosed(self, epsilon: Fraction) -> Ends:
        """Enclose delta(epsilon)."""
        cut = self.cut(epsilon)
        if cut is None:
            return Fraction(0), Fraction(0)
        power = exponential(epsilon, _PRECISION)
        moved, still = self.tails(cut)
        return max(Fraction(0), moved[0] - power[1] * still[1]), max(
            Fraction(0), moved[1] - power[0] * still[0]
        )

    def cut(self, epsilon: Fraction) -> Fraction | None:
        """Return the t of the table above; None where the set is empty."""
        noise = self.noise
        shift = noise.sensitivity
        if not shift:
            return None
        match noise:
            case Gaussian() | DiscreteGaussian():
                return shift / 2 + epsilon * noise.sigma**2 / shift
            case Laplace() | DiscreteLaplace():
                t = (shift + epsilon * noise.scale) / 2
                return t if t < shift else None
            case _:
                assert_never(noise)

    def tails(self, cut: Fraction) -> tuple[Ends, Ends]:
        """Enclose the probabilities of {x > cut} on the moved and on the unmoved value."""
        return _tail(self.noise, cut - self.noise.sensitivity), _tail(self.noise, cut)


def decided(noise: Additive, claim: Claim) -> Proved | Violated | Computed:
    """Return the verdict on the claim for noise that was added to a value.

    Raises:  ParameterError: a discrete Gaussian with sigma above 4096, or with a shift that is not whole.
    """
    _check(noise)
    curve = AdditiveCurve(noise)
    low, high = curve.enclosed(claim.epsilon)
    name = type(noise).__name__
    if high <= claim.delta:
        return Proved(
            claim, curve, f"{name}: both tails at the point where the ratio of the densities is e**epsilon."
        )
    if low > claim.delta:
        cut = curve.cut(claim.epsilon)
        assert cut is not None
        moved, still = curve.tails(cut)
        shift = noise.sensitivity
        where = f"output above {float(cut):.6g}"
        return Violated(claim, (shift, Fraction(0)), where, moved[0], still[1], "exact")
    how = "The claim is met with equality, as far as enclosures of 2**-200 can tell."
    return Computed(claim, float(high), float(high - low), how)


def _check(noise: Additive) -> None:
    if not isinstance(noise, DiscreteGaussian):
        return
    if noise.sensitivity.denominator != 1 or noise.coordinates != 1:
        fix = "Give one coordinate that moves by a whole number."
        raise ParameterError("mechanism", noise, "moves in a way that one line does not show", fix)
    if noise.sigma > _MOST_SIGMA:
        fix = f"Give a sigma of at most {_MOST_SIGMA:,}."
        raise ParameterError("mechanism", noise, "has too many likely outputs to sum", fix)


def _tail(noise: Additive, t: Fraction) -> Ends:
    """Enclose P(X > t)."""
    match noise:
        case Gaussian():
            return normal_tail(t / noise.sigma, _PRECISION)
        case Laplace():
            if t < 0:
                return _complement(_tail(noise, -t))
            low, high = exponential(-t / noise.scale, _PRECISION)
            return low / 2, high / 2
        case DiscreteLaplace():
            m = floor(t) + 1
            if m < 1:
                return _complement(_from(noise, 1 - m))
            return _from(noise, m)
        case DiscreteGaussian():
            m = floor(t) + 1
            if m < 1:
                return _complement(_lattice(noise, 1 - m))
            return _lattice(noise, m)
        case _:
            assert_never(noise)


def _from(noise: DiscreteLaplace, m: int) -> Ends:
    """Enclose P(X >= m), m >= 1: r**m / (1 + r)."""
    power = exponential(-m / noise.scale, _PRECISION)
    r = exponential(-1 / noise.scale, _PRECISION)
    return power[0] / (1 + r[1]), power[1] / (1 + r[0])


def _lattice(noise: DiscreteGaussian, m: int) -> Ends:
    """Enclose P(X >= m), m >= 1: the sum from m on over 1 + 2 times the sum from 1 on."""
    part, half = _sum(noise.sigma, m), _sum(noise.sigma, 1)
    return part[0] / (1 + 2 * half[1]), part[1] / (1 + 2 * half[0])


def _sum(sigma: Fraction, m: int) -> Ends:
    """Enclose the sum of exp(-x**2 / 2 sigma**2) over the integers x >= m, m >= 1.

    Terms come by e(x + 1) = e(x) s r**x, r = exp(-1/sigma**2), s = exp(-1/2 sigma**2), in fixed point,
    floored and ceiled. e(x+1)/e(x) falls, so the rest after a term u with next ratio v is at most u v/(1 -
    v). The sum ends when that is below 2**guard units, and is then that far from the truth at most, but for
    rounding.
    """
    guard = 2 * int(sigma).bit_length() + 16
    bits = _PRECISION + 2 * guard
    one = 1 << bits
    low, high = _fixed(-(m**2) / (2 * sigma**2), bits)
    ratio_low, ratio_high = _fixed(-(2 * m + 1) / (2 * sigma**2), bits)
    r_low, r_high = _fixed(-1 / sigma**2, bits)
    low_sum = high_sum = 0
    while True:
        low_sum, high_sum = low_sum + low, high_sum + high
        if ratio_high < one and high * ratio_high < (one - ratio_high) << guard:
            return Fraction(low_sum, one), Fraction(high_sum + (1 << guard), one)
        low, high = low * ratio_low >> bits, -(-high * ratio_high >> bits)
        ratio_low, ratio_high = ratio_low * r_low >> bits, -(-ratio_high * r_high >> bits)


def _fixed(x: Fraction, bits: int) -> tuple[int, int]:
    """Enclose exp(x) * 2**bits, x < 0."""
    return negative_exponential(-x.numerator, x.denominator, bits)


def _complement(ends: Ends) -> Ends:
    return 1 - ends[1], 1 - ends[0]


def _epsilon(value: object) -> Fraction:
    number = at_least_zero(value, "epsilon")
    if not number <= _MOST_EPSILON:
        raise ParameterError("epsilon", value, "is out of range", f"Give at most {_MOST_EPSILON:,}.")
    return number
