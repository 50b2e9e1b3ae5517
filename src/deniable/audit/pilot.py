"""Choose one witness and one direction from the pilot's runs.

Every set of outputs that `witnesses` proposes competes, and its complement, in both directions. Two scores:

| score          | says                                                                                |
|----------------|-------------------------------------------------------------------------------------|
| `_bounds`      | how large a bound the test would show if both rates were some standard errors worse |
| `_refutations` | by how many standard errors the test would refute the claim, if the pilot is right  |

The best by refutation is taken if it stands out from what chance gives the luckiest of thousands of sets, or
if no bound near the claim is in sight; else the best by bound. All this decides how much is seen, never
whether it is true: the test uses other runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log, sqrt
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np

from deniable.audit.witnesses import sweeps
from deniable.audit.witnesses.sets import Event, Pilot, Reals, Sweep

Seek = Literal["epsilon", "delta", "mu"]
SEEK = get_args(Seek)

_MOST = 700.0
_DOUBT = 2.0
_NEAR = 0.5


@dataclass(frozen=True, slots=True)
class Aim:
    """What the test will bound, and how finely: `trials` runs of each input, `alpha` for both bounds."""

    seek: Seek
    claimed: bool
    epsilon: Fraction
    delta: Fraction
    trials: int
    alpha: Fraction


@dataclass(frozen=True, slots=True)
class Witness:
    """The set of outputs to count, and the input that should give it more often."""

    event: Event
    likelier: Literal["first", "second"]


@dataclass(frozen=True, slots=True)
class _Option:
    """A set, and the side (0: first) that should give it more often."""

    score: float
    event: Event
    likelier: int


def choose(pilot: Pilot, aim: Aim) -> Witness:
    """Return the witness from which the test is likely to show most."""
    bound = refutation = _Option(-np.inf, Event("any output", lambda found: np.ones(len(found), np.bool_)), 0)
    sets = 0
    for sweep in sweeps(pilot):
        sets += len(sweep.hits[0])
        bound = max(bound, _best(sweep, aim, _bounds), key=_by_score)
        if aim.claimed:
            refutation = max(refutation, _best(sweep, aim, _refutations), key=_by_score)
    near = aim.seek == "epsilon" and bound.score > _NEAR * float(aim.epsilon)
    best = refutation if aim.claimed and refutation.score > (_luck(sets) if near else 0.0) else bound
    return Witness(best.event, "second" if best.likelier else "first")


def _luck(sets: int) -> float:
    """Return about the score by refutation that chance gives the luckiest of so many sets (tried out)."""
    return max(0.0, log(sets / 20) / 2) if sets else 0.0


def _by_score(option: _Option) -> float:
    return option.score


def _best(sweep: Sweep, aim: Aim, score: Callable[[Reals, Reals, tuple[int, int], Aim], Reals]) -> _Option:
    """Return the best set of the sweep: itself or its complement, for either side."""
    best, place, turned, side = -np.inf, 0, False, 0
    for flipped in (False, True):
        counts = [n - hits if flipped else hits for hits, n in zip(sweep.hits, sweep.trials, strict=True)]
        rates = [count / n for count, n in zip(counts, sweep.trials, strict=True)]
        for likelier in (0, 1):
            scores = score(rates[likelier], rates[1 - likelier], sweep.trials, aim)
            if len(scores) and scores.max() > best:
                best, place, turned, side = float(scores.max()), int(np.argmax(scores)), flipped, likelier
    event = sweep.event(place) if best > -np.inf else Event("", lambda found: np.zeros(len(found), np.bool_))
    return _Option(best, event.other() if turned else event, side)


def _refutations(p: Reals, q: Reals, trials: tuple[int, int], aim: Aim) -> Reals:
    """Return the margin p - e**epsilon q - delta, less the width of the test's bounds, in standard errors."""
    power = exp(min(float(aim.epsilon), _MOST))
    n, q = min(trials), np.maximum(q, 0.5 / min(trials))
    spread = np.sqrt(p * (1 - p)), power * np.sqrt(q * (1 - q))
    width = _wide(aim) * (spread[0] + spread[1]) / sqrt(aim.trials)
    error = np.sqrt((spread[0] ** 2 + spread[1] ** 2 + 0.5 / n) * (1 / n + 1 / aim.trials))
    scores: Reals = (p - power * q - float(aim.delta) - width) / error
    return scores


def _bounds(p: Reals, q: Reals, trials: tuple[int, int], aim: Aim) -> Reals:
    """Return the bound that the test would show, with both rates `_DOUBT` standard errors worse."""
    if aim.seek == "delta":
        return _margin(p, q, min(trials), aim)
    n, wide = min(trials), _wide(aim)
    p = np.clip(_wilson(_wilson(p, n, -_DOUBT), aim.trials, -wide), 1e-300, 1)
    q = np.clip(_wilson(_wilson(q, n, _DOUBT), aim.trials, wide), 1e-300, 1)
    if aim.seek == "epsilon":
        return np.log(np.maximum(p - float(aim.delta), 1e-300) / q)
    from scipy.special import ndtri

    quantiles: Reals = ndtri(p) - ndtri(q)
    return quantiles


def _margin(p: Reals, q: Reals, n: int, aim: Aim) -> Reals:
    """Return p - e**epsilon q, less `_DOUBT` standard errors."""
    power = exp(min(float(aim.epsilon), _MOST))
    variance = (p * (1 - p) + power**2 * q * (1 - q)) * (1 / n + 1 / aim.trials)
    scores: Reals = p - power * q - _DOUBT * np.sqrt(variance)
    return scores


def _wide(aim: Aim) -> float:
    return -NormalDist().inv_cdf(float(aim.alpha) / 2)


def _wilson(rate: Reals, trials: int, z: float) -> Reals:
    """Return one end of Wilson's interval, the upper for z > 0. An approximation is enough to choose by."""
    square = z * z / trials
    inner = np.maximum(rate * (1 - rate) / trials + square / (4 * trials), 0)
    ends: Reals = (rate + square / 2 + z * np.sqrt(inner)) / (1 + square)
    return ends
