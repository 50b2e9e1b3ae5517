"""The least noise that keeps a promise.

| kind                              | way                             | how close to the least        |
|-----------------------------------|---------------------------------|-------------------------------|
| one with a pure promise, delta 0  | its epsilon is linear           | exact                         |
| Gaussian                          | `gaussian.largest_mu`           | 2**-40                        |
| others that have a closed form    | the same search, in rationals   | epsilon at most 1e-9 below    |
| all else                          | the same, by loss distributions | epsilon at most .05 % below   |

What is returned has been priced as it stands, and keeps the promise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, floor, inf, log
from typing import TypeVar

from deniable.accounting import closed, gaussian, pricing
from deniable.accounting.leaves import Leaf, leaves
from deniable.accounting.search import log_of
from deniable.accounting.within import Parts, parts, total_rho
from deniable.brackets import square_root
from deniable.errors import ParameterError
from deniable.events import (
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
    Repeated,
    ZeroConcentratedDP,
)
from deniable.exact import Number, at_least_zero, positive, probability, text, whole
from deniable.guarantees import Neighbours
from deniable.guarantees import neighbours as relation

Calibrated = (
    Laplace
    | DiscreteLaplace
    | Gaussian
    | DiscreteGaussian
    | RandomizedResponse
    | Exponential
    | PureDP
    | ZeroConcentratedDP
)
Maker = Callable[[Fraction], Calibrated]
Kind = TypeVar("Kind", bound=Calibrated)
LOOSE, CLOSE = 5e-4, 1e-9
_MOST_TRIES = 100
_SAME = 1e-14
_SPARE = Fraction(1, 1 << 40)
_DIGITS = 15
_MOST_TIMES = 10**12


def calibrate(
    kind: type[Kind],
    *,
    epsilon: Number,
    delta: Number = 0,
    times: int = 1,
    sensitivity: Number = 1,
    coordinates: int = 1,
    neighbours: Neighbours | str = Neighbours.ADD_OR_REMOVE,
) -> Kind:
    """Return the event with the least noise that is (epsilon, delta)-private when done `times` times.

    Args:    sensitivity: how far one unit moves the value, for the four kinds of added noise.
             coordinates: how many a unit can move, for `DiscreteGaussian`.
    Raises:  ParameterError: a number out of range, a kind that needs a delta and has none.
    """
    moved = positive(sensitivity, "sensitivity", up=True)
    make = _makers(moved, coordinates).get(kind) if isinstance(kind, type) else None
    if make is None:
        fix = "Give for example events.Gaussian or events.Laplace."
        raise ParameterError("kind", kind, "cannot be calibrated", fix)
    if kind not in (Laplace, DiscreteLaplace, Gaussian, DiscreteGaussian) and moved != 1:
        raise ParameterError("sensitivity", sensitivity, "is for added noise only", "Leave it out.")
    target, allowed = at_least_zero(epsilon, "epsilon"), probability(delta, "delta")
    if target == 0 and allowed == 0:
        fix = "Only an output that ignores the data has epsilon 0 and delta 0: allow more of one."
        raise ParameterError("epsilon", epsilon, "must be above 0 where delta is 0", fix)
    number = whole(times, "times", at_least=1, at_most=_MOST_TIMES)
    task = _Task(make, number, relation(neighbours), target, allowed)
    try:
        event = _least(task)
    except ParameterError as error:
        if error.argument not in ("scale", "sigma"):
            raise
        fix = "Ask for a larger epsilon or delta."
        raise ParameterError("epsilon", epsilon, "needs noise too large to compute with", fix) from None
    assert isinstance(event, kind)
    return event


def _makers(sensitivity: Fraction, coordinates: int) -> dict[object, Maker]:
    """Return how each kind is made from its noise x: 1/epsilon where it is pure, else sigma / sensitivity."""
    moved = sensitivity
    return {
        Laplace: lambda x: Laplace(scale=moved * x, sensitivity=moved),
        DiscreteLaplace: lambda x: DiscreteLaplace(scale=moved * x, sensitivity=moved),
        Gaussian: lambda x: Gaussian(sigma=moved * x, sensitivity=moved),
        DiscreteGaussian: lambda x: DiscreteGaussian(
            sigma=moved * x, sensitivity=moved, coordinates=coordinates
        ),
        RandomizedResponse: lambda x: RandomizedResponse(epsilon=1 / x),
        Exponential: lambda x: Exponential(epsilon=1 / x),
        PureDP: lambda x: PureDP(epsilon=1 / x),
        ZeroConcentratedDP: lambda x: ZeroConcentratedDP(rho=1 / (2 * x * x)),
    }


@dataclass(frozen=True, slots=True)
class _Task:
    """One question: which event, made from its noise x, keeps the promise with the least x?"""

    make: Maker
    times: int
    neighbours: Neighbours
    epsilon: Fraction
    delta: Fraction

    def found(self, x: Fraction) -> dict[Leaf, int]:
        """Return the leaves of all repetitions."""
        return leaves(Repeated(self.make(x), self.times), self.neighbours)

    def excess(self, x: Fraction) -> float:
        """Return ln(cost / allowed): of epsilon, or of delta where epsilon is 0."""
        try:
            if self.epsilon == 0:
                cost, allowed = pricing.delta(self.found(x), self.epsilon), self.delta
            else:
                cost, allowed = pricing.epsilon(self.found(x), self.delta), self.epsilon
        except ParameterError:
            return inf
        near = log_of(cost) - log_of(allowed)
        return near if cost <= allowed else max(near, _SAME)


def _least(task: _Task) -> Calibrated:
    given = parts(task.found(Fraction(1)))
    if given.is_pure and task.delta == 0:
        return task.make(given.epsilon / task.epsilon)
    if task.delta == 0:
        fix = "Gaussian noise promises nothing at delta 0: allow a delta, for example '1e-8'."
        raise ParameterError("delta", "0", "must be above 0 for this kind", fix)
    near = _near(task, given)
    if given.mu_squared:
        return task.make(near * (1 + _SPARE))
    there = parts(task.found(near))
    tight = pricing.is_closed(there) and not closed.is_alone(there)
    asked = f"{text(task.epsilon)} and {text(task.delta)}"
    return task.make(least_noise(task.excess, near, CLOSE if tight else LOOSE, asked=asked))


def _near(task: _Task, given: Parts) -> Fraction:
    """Return about the noise: what the Gaussian curve says (just that for a Gaussian), or the pure promise.

    `given` is what noise 1 costs. A pure epsilon counts as a shift by epsilon, in each repetition.
    """
    mu = gaussian.largest_mu(task.epsilon, task.delta)
    if given.epsilon == 0:
        return square_root(2 * total_rho(given), 96)[1] / mu
    near = given.epsilon / square_root(Fraction(task.times), 96)[0] / mu
    return min(near, given.epsilon / task.epsilon) if task.epsilon else near


def least_noise(
    excess: Callable[[Fraction], float], start: Fraction, window: float, *, asked: str
) -> Fraction:
    """Return a noise x whose excess is at most 0 and not below -window: secants in ln x.

    `excess` is ln(cost / allowed), and falls about as 1/x.
    """
    point, best = log_of(start), None
    low: tuple[float, float] | None = None
    high: tuple[float, float] | None = None
    for tries in range(_MOST_TRIES):
        x = _rounded(Fraction(exp(point)))
        value = excess(x)
        if -window <= value <= 0:
            return x
        if value > 0:
            low = (point, value)
        else:
            high, best = (point, value), x
        if low and high and high[0] - low[0] < _SAME:
            break
        point = _next(low, high, window, bisect=tries % 3 == 2)
    if best is None:
        fix = "Ask for a larger epsilon or delta."
        raise ParameterError("epsilon and delta", asked, "are kept by no noise that was found", fix)
    return best


def _next(
    low: tuple[float, float] | None, high: tuple[float, float] | None, window: float, *, bisect: bool
) -> float:
    """Return where to look next: the excess falls about as 1/x, and is sought at -window/2."""
    if low and high:
        (left, above), (right, below) = (low[0], low[1] + window / 2), (high[0], high[1] + window / 2)
        share = above / (above - below) if above < inf and below > -inf and not bisect else 0.5
        return left + (right - left) * min(0.98, max(0.02, share))
    if low:
        return low[0] + min(1.5, 0.9 * (low[1] + window / 2))
    assert high
    return high[0] - min(1.5, 0.9 * (-window / 2 - high[1]))


def _rounded(x: Fraction) -> Fraction:
    """Return x rounded up to 15 significant digits."""
    places = _DIGITS - 1 - floor(log_of(x) / log(10))
    scale = Fraction(10) ** places
    return ceil(x * scale) / scale
