"""Ask a list of pairs for epsilon or delta: choose a grid, compose, refine until the grid does not matter.

The step is made so small that the grid moves epsilon by less than 2e-4 of it (or by 3e-10), and delta by
less than 3e-4 of it; or as small as LONGEST places allow. Every grid gives a true answer: the least is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1, floor, inf, log, log1p, sqrt

import numpy as np

from deniable.accounting.composition import STEEPEST, Bend
from deniable.accounting.losses import SLACK, TooFine
from deniable.accounting.mixture import Items, Mixture
from deniable.accounting.pairs import Atoms, Pair
from deniable.accounting.search import crossing, lowest

_SHARE = 2e-4
_FINEST = 3e-10
_ROUNDS = 8
_TILTS = 8
_BELOW, _FAR = 12.0, 6.0
_FINER, _FARTHEST = 0.2, 40.0
_INFINITE = 25.0  # what is called infinite is at most exp(-25) of delta
_DEEPEST = 1500.0  # a delta below exp(-1500) is not told apart from nothing


def epsilon(items: Items, log_delta: float) -> float:
    """Return an epsilon >= 0 with delta(epsilon) <= e**log_delta for all items; infinity if none is found."""
    if _one(items):
        return _epsilon_of_one(items[0][0], log_delta)
    mixture = Mixture(items)
    tilt = sqrt(-2 * log_delta / mixture.variance)
    step = mixture.step(tilt, 0.7 * _SHARE * mixture.variance * (0.5 + tilt))
    best = inf
    for _ in range(_ROUNDS):
        found, bend, step, finest = _possible(lambda at: _epsilon(mixture, at, log_delta), step)
        settled = found >= best * (1 - _SHARE) - _FINEST or not mixture.is_coarse(step)
        best = min(best, found)
        allowed = _SHARE * found + _FINEST
        near = mixture.off(step, bend.tilt) <= allowed
        if finest or found == 0 or (near and settled):
            break
        step = _FINER * step if near else min(0.7 * step, mixture.step(bend.tilt, 0.8 * allowed))
    return best


def log_delta(items: Items, epsilon_: float) -> float:
    """Return the log of a delta that all items keep at epsilon."""
    if _one(items):
        return _log_delta_of_one(items[0][0], epsilon_)
    mixture = Mixture(items)
    beyond = mixture.log_above(epsilon_, _DEEPEST)
    if beyond < 0:
        return beyond
    deviation = sqrt(mixture.variance)
    tilt = min(max(epsilon_ / mixture.variance - 0.5, 1 / deviation), _FARTHEST / deviation)
    step = mixture.step(tilt, 0.7 * _SHARE / tilt)
    best = 0.0
    for _ in range(_ROUNDS):
        found, bend, step, finest = _possible(lambda at: _log_delta(mixture, at, epsilon_), step)
        settled = found > best - _SHARE
        best = min(best, found)
        steepest, off = bend.tilt > 0.9 * STEEPEST / step, mixture.off(step, bend.tilt)
        near = off <= _SHARE * epsilon_ if steepest else bend.tilt * off <= 1.5 * _SHARE
        if finest or found < -_DEEPEST or (near and (settled or not (steepest or mixture.is_coarse(step)))):
            break
        wanted = _FINER * step if steepest or near else mixture.step(bend.tilt, _SHARE / bend.tilt)
        step = min(0.7 * step, wanted)
    return best


def _possible(ask: Callable[[float], tuple[float, Bend]], step: float) -> tuple[float, Bend, float, bool]:
    """Ask on this grid, or on the finest one that LONGEST places allow: also return its step, and whether."""
    finest = False
    while True:
        try:
            return *ask(step), step, finest
        except TooFine as error:
            step, finest = step * 1.2 * error.times, True


def renyi(items: Items, log_delta: float) -> float:
    """Return the epsilon that Renyi divergences alone prove: the least over all orders, rounded up by 1e-9.

    t K's are t times the divergence of order 1 + t, of the losses that are finite; the others are e**-25 of
    delta. Conversion as in `concentrated`.
    """
    mixture = Mixture(items)
    tilt = sqrt(-2 * log_delta / mixture.variance)
    step = mixture.step(tilt, _SHARE * mixture.variance * (0.5 + tilt))
    stack = mixture.stack(step, _INFINITE - log_delta)
    level = log_delta + log1p(-2 * exp(-_INFINITE))

    def bound(u: float) -> float:
        t = exp(u)
        return stack.cumulants(t).total / t - log1p(1 / t) - (level + log1p(t)) / t

    near = lowest(bound, low=log(tilt) - 4, high=log(tilt) + 4)
    return max(0.0, bound(near) * (1 + 1e-9))


def _epsilon(mixture: Mixture, step: float, log_delta_: float) -> tuple[float, Bend]:
    """On one grid: tilt to where Chernoff's bound is least and read off.

    The answer is below that bound. Where it is far below (few losses, and one large), tilt to the answer
    and read again: noise of the transform grows with the distance. Each answer is true, the least is taken.
    """
    stack = mixture.stack(step, _INFINITE - log_delta_)
    bend = stack.bend(-log_delta_, Bend(0.0, stack.cumulants(0.0)), upward=True)
    low = (bend.at.total - log_delta_ - _BELOW) / bend.tilt
    best = inf
    for _ in range(_TILTS):
        found = stack.tilted(bend, low=max(0.0, low), log_delta=log_delta_)
        answer = found.epsilon(log_delta_)
        settled = answer >= best * (1 - _SHARE / 4)
        best = min(best, answer)
        far = bend.at.mean - answer > _FAR * sqrt(bend.at.variance)
        if answer == 0 or settled or not (far or answer == found.lowest):
            break
        bend = stack.centred(answer)
        low = answer - _BELOW / bend.tilt - _FAR * sqrt(bend.at.variance)
    return best, bend


def _log_delta(mixture: Mixture, step: float, epsilon_: float) -> tuple[float, Bend]:
    """On one grid: tilt to where the mean is epsilon (or a little, if that is below the mean already).

    How far the tails matter is known only then: where it was too little, deeper.
    """
    depth = 100.0
    while True:
        stack = mixture.stack(step, depth)
        bend = stack.centred(epsilon_)
        if floor(epsilon_ / step) >= stack.highest and depth == _DEEPEST:
            return stack.log_infinite, bend
        about = bend.at.total - bend.tilt * epsilon_ - log(1 + 3 * bend.tilt * sqrt(bend.at.variance)) - 1
        if -about < depth - _INFINITE or depth == _DEEPEST:
            return stack.tilted(bend, low=epsilon_, log_delta=max(about, -_DEEPEST)).log_delta(epsilon_), bend
        depth = min(max(2 * depth, 2 * _INFINITE - about), _DEEPEST)


def _one(items: Items) -> bool:
    return len(items) == 1 and items[0][1] == 1


def _epsilon_of_one(pair: Pair, log_delta_: float) -> float:
    """Return epsilon of a single pair: no grid is needed."""

    def excess(epsilon_: float) -> float:
        return _log_delta_of_one(pair, epsilon_) - log_delta_

    if excess(0.0) <= 0:
        return 0.0
    right = 1.0
    while not excess(right) <= 0:
        right *= 2
        if right > 2.0**24:
            return inf
    found = crossing(excess, 0.0, right)
    step = 2.0**-45 * found
    while not excess(found) <= 0:
        found, step = found + step, 2 * step
    return found


def _log_delta_of_one(pair: Pair, epsilon_: float) -> float:
    """Return the log of P[loss > epsilon] - e**epsilon Q[loss > epsilon], rounded up as in `losses`."""
    if isinstance(pair, Atoms):
        gap = pair.losses - epsilon_ + 2.0**-50 * (np.abs(pair.losses) + abs(epsilon_))
        mass = pair.log_mass + SLACK * (1 + np.abs(pair.log_mass))
        parts = mass[gap > 0] + np.log(-np.expm1(-gap[gap > 0]))
        return float(np.logaddexp.reduce(np.append(parts, pair.log_infinite))) + SLACK
    above, below = pair.tails(np.array([epsilon_]))
    near, far = float(above[0]), float(below[0])
    if near == -inf:
        return -inf
    near += SLACK * (1 + abs(epsilon_) + abs(near))
    far -= SLACK * (1 + abs(epsilon_) + abs(far))
    gap_ = far + epsilon_ - near
    return near + log(-expm1(gap_)) if gap_ < 0 else -inf
