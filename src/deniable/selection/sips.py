"""Find groups in rounds: weighted numbers of units, Gaussian noise, a threshold. What was shown is taken out.

Easy groups are shown by early rounds at little cost, and then no longer use up what their units may count.
One round is the weighted Gaussian rule by itself. This module makes the public schedule and the decision;
an engine does the counting. For each round in turn it must
1. leave out every (unit, group) whose group was shown in a round before;
2. keep at most max_keys groups of each unit, chosen from its own groups and a salt alone;
3. count m, the groups that the unit still has, and sum `weights[m]` over the units of each group;
4. show those that `Round.keep` keeps.

Proof that everything shown, the rounds included, costs no more than all `Round.events` together. D' is D
plus all rows of one unit.
1. Whatever the rounds before showed, it is public: the same groups are left out of D and D'. Noise and
   threshold of each round were fixed beforehand, from public arguments (`schedule`).
2. In a round the unit is in m <= max_keys groups and counts W[m] = isqrt(one**2 // m) in each: its vector is
   at most sqrt(m W[m]**2) <= one long, and the other units' terms stay as they are. On the groups that others
   have, noisy numbers are a Gaussian mechanism with L2 sensitivity `one` on at most max_keys coordinates: the
   event `Round.noise`. Which of these groups are kept follows from the noisy numbers.
3. Let t of the m groups be the unit's alone. On D none of them is kept, for nobody is in them. On D' each has
   W[m] <= W[t] units, as W never rises, and noise of its own; so with probability at most
   b(t) <= b = `threshold.delta` any is kept (`thresholds`, step 1). Both laws of what is kept of them are
   therefore: with probability 1 - b nothing, with probability b something that may depend on the table. That
   is the event `Selection(b)`, independent of the noise of step 2.
4. So for every outcome of the rounds before, each round is a post-processing of its two events; and
   mechanisms that are so dominated, each chosen after seeing the outcomes before, are dominated by all the
   events together (Zhu, Dong, Wang 2022, theorem 10).

Source: Swanberg, Desfontaines, Haney 2023, "DP-SIPS"; Gopi et al. 2020 (weighted Gaussian). Weights in
integers and the rule for every t are our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt

import numpy as np
from numpy.typing import NDArray

from deniable import accounting, events
from deniable.accounting.powers import any_of
from deniable.bits import Bits
from deniable.brackets import square_root
from deniable.errors import ParameterError
from deniable.exact import Number, positive, text, whole
from deniable.noise.gaussian import DiscreteGaussian
from deniable.selection.thresholds import Threshold, chance, least_threshold

ONE = 1 << 20
"""What a unit with one group counts there."""

SHARES = (Fraction(3, 100), Fraction(12, 100), Fraction(85, 100))
"""Parts of the squared budget that served well on ten million skewed visits."""

_PIECE = 1 << 16
_LIMIT = 1 << 62
_FINE = 1 << 16
_LARGEST_SIGMA = 1 << 56
_DOUBLINGS = 40


@dataclass(frozen=True, slots=True)
class Round:
    """One round, fixed before data are read. Counts, noise and threshold are in steps of 1/ONE of a unit.

    weights: weights[m] is what a unit that is in m groups counts in each, m = 0 .. max_keys.
    """

    weights: tuple[int, ...]
    noise: events.DiscreteGaussian
    threshold: Threshold

    @property
    def events(self) -> tuple[events.DiscreteGaussian, events.Selection]:
        """What the round does to private data."""
        return self.noise, events.Selection(delta=self.threshold.delta, rule="sips")

    @property
    def people(self) -> Fraction:
        """The threshold in units, each of which is in this group alone."""
        return Fraction(self.threshold.least, ONE)

    def chance(self, count: int) -> tuple[Fraction, Fraction]:
        """Return rationals around the probability that a group of this weighted count is kept."""
        return chance(_sampler(self.noise.sigma), count=count, threshold=self.threshold.least)

    def keep(self, counts: NDArray[np.int64], *, bits: Bits) -> NDArray[np.bool_]:
        """Return for each group whether to show it, `(groups,) bool`.

        Args:    counts: for each group the sum of `weights[m]` over its units, `(groups,) int64`; what is
                 beyond 2**62 counts as 2**62. Groups that nobody is in may be there, as 0: never kept.
        Guarantee: kept if and only if count + X is at least the threshold, with an exact draw X for each.
        Raises:  NoiseError: a draw left 64 bits (less than once in e**63).
        """
        noise, kept = _sampler(self.noise.sigma), np.empty(len(counts), np.bool_)
        for start in range(0, len(counts), _PIECE):
            piece = np.minimum(counts[start : start + _PIECE], _LIMIT)
            noisy = noise.sample(len(piece), bits=bits)
            np.add(noisy, piece, out=noisy)
            kept[start : start + _PIECE] = (noisy >= self.threshold.least) & (piece > 0)
        return kept


@dataclass(frozen=True, slots=True)
class Rounds:
    """All rounds, in their order."""

    rounds: tuple[Round, ...]

    @property
    def noises(self) -> tuple[events.DiscreteGaussian, ...]:
        """The noise of each round."""
        return tuple(one.noise for one in self.rounds)

    @property
    def events(self) -> tuple[events.Event, ...]:
        """What the rounds do to private data, in their order."""
        return tuple(event for one in self.rounds for event in one.events)

    @property
    def delta(self) -> Fraction:
        """At least the probability that a group which one unit is alone in is shown by any round."""
        return any_of(one.threshold.delta for one in self.rounds)

    @property
    def people(self) -> Fraction:
        """The least of the thresholds, in units each of which is in this group alone."""
        return min(one.people for one in self.rounds)


def thresholded(noises: Sequence[events.DiscreteGaussian], masses: Sequence[Fraction]) -> Rounds:
    """Return the rounds of this noise, each with the least threshold that its mass allows.

    Args:    noises: of sensitivity ONE, its coordinates being the max_keys of a round.
             masses: what each threshold may cost in delta, above 0 and below 1.
    Raises:  ParameterError: a mass is out of range. ValueError: noise of another sensitivity.
    """
    return Rounds(tuple(_thresholded(noise, mass) for noise, mass in zip(noises, masses, strict=True)))


def schedule(
    *, multiplier: Number, mass: Number, shares: Sequence[Number], max_keys: int
) -> tuple[Round, ...]:
    """Return the rounds, given how much noise and risk they may have.

    Args:    multiplier: standard deviation, in units, if one round had the whole squared budget. shares: the
             part of it that each round gets, above 0, at most 1 together (the rest is left to others).
             mass: what the thresholds may cost in delta, above 0 and below 1. max_keys: groups of one unit.
    Guarantee: the sum of (sensitivity/sigma)**2 is at most sum(shares) / multiplier**2, and
             1 - the product of (1 - threshold.delta) is at most `mass`, split in proportion to the shares.
    Raises:  ParameterError: an argument is out of range.
    """
    spread, risk = positive(multiplier, "multiplier"), positive(mass, "mass")
    parts = [positive(share, "shares") for share in shares]
    together = sum(parts, Fraction(0))
    if not 0 < together <= 1:
        fix = "Give one number above 0 for each round, at most 1 together."
        raise ParameterError("shares", text(together), "must add up to at most 1", fix)
    if not risk < 1:
        raise ParameterError("mass", mass, "must be below 1", "Give for example '1e-8'.")
    looked = whole(max_keys, "max_keys", at_least=1, at_most=1 << 20)
    return tuple(_round(looked, spread, risk * part / together, part) for part in parts)


def fitted(*, epsilon: Number, delta: Number, shares: Sequence[Number], max_keys: int) -> tuple[Round, ...]:
    """Return the rounds with the least noise that together are proved to cost (epsilon, delta).

    Half of delta is for the thresholds, the rest for the noise.
    Raises:  ParameterError: an argument is out of range, or epsilon out of reach.
    """
    target, allowed = positive(epsilon, "epsilon"), positive(delta, "delta")
    mass = allowed / 2
    least = accounting.calibrate(events.Gaussian, epsilon=target, delta=1 - (1 - allowed) / (1 - mass)).sigma
    for doubling in range(_DOUBLINGS):
        multiplier = least * (1 + Fraction(1 << doubling, 1 << 24))
        rounds = schedule(multiplier=multiplier, mass=mass, shares=shares, max_keys=max_keys)
        done = [event for one in rounds for event in one.events]
        if accounting.within(done, epsilon=target, delta=allowed):
            return rounds
    fix = "Use the truncated geometric rule, or a threshold with Laplace noise."
    raise ParameterError("epsilon", text(target), "is out of reach of Gaussian noise", fix)


def _thresholded(noise: events.DiscreteGaussian, mass: Fraction) -> Round:
    if noise.sensitivity != ONE:
        raise ValueError("a unit changes a round by ONE")
    weights = weights_of(noise.coordinates)
    return Round(weights, noise, least_threshold(_sampler(noise.sigma), weights[1:], delta=mass))


def _round(max_keys: int, spread: Fraction, mass: Fraction, share: Fraction) -> Round:
    sigma = _sigma(ONE * spread, share)
    if not sigma <= _LARGEST_SIGMA:
        fix = "Raise epsilon, or the share of this round."
        raise ParameterError("multiplier", text(spread), "needs more noise than 64-bit integers hold", fix)
    return _thresholded(events.DiscreteGaussian(sigma=sigma, sensitivity=ONE, coordinates=max_keys), mass)


@lru_cache(maxsize=16)
def weights_of(max_keys: int) -> tuple[int, ...]:
    """Return W[0 .. max_keys]: the largest with m W[m]**2 <= ONE**2; W[0] is used by nobody."""
    return ONE, *(isqrt(ONE * ONE // m) for m in range(1, max_keys + 1))


def _sigma(whole_budget: Fraction, share: Fraction) -> Fraction:
    """Return whole_budget / sqrt(share), rounded up: to a whole number from 2**16 on, else to 2**-16."""
    exact = square_root(whole_budget**2 / share)[1]
    return Fraction(ceil(exact)) if exact >= _FINE else Fraction(ceil(exact * _FINE), _FINE)


@lru_cache(maxsize=16)
def _sampler(sigma: Fraction) -> DiscreteGaussian:
    """Return noise of this standard deviation. Making it takes milliseconds, so the last few are kept."""
    return DiscreteGaussian(sigma**2)
