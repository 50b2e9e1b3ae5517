"""Choices that were made at random: a true answer or a lie, a candidate, the groups that are shown."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from deniable.errors import ParameterError
from deniable.exact import Number, at_least_zero, probability, whole

Rule = Literal["threshold", "truncated-geometric", "sips"]


@dataclass(frozen=True, slots=True, init=False)
class RandomizedResponse:
    """One of `options` answers was reported, the true one with the largest odds.

    P(true answer) = e**epsilon / (e**epsilon + options - 1), P(each other) = 1 / (e**epsilon + options - 1).
    The true answer may be any option on either of the two tables, so the price is the same for units that
    are added, removed or replaced.
    """

    epsilon: Fraction
    options: int

    def __init__(self, *, epsilon: Number, options: int = 2) -> None:
        object.__setattr__(self, "epsilon", at_least_zero(epsilon, "epsilon", up=True))
        object.__setattr__(self, "options", whole(options, "options", at_least=2, at_most=2**62))


@dataclass(frozen=True, slots=True, init=False)
class Exponential:
    """A candidate was chosen by the exponential mechanism.

    P(c) proportional to exp(epsilon * utility(c) / (2 * sensitivity)); also noisy max with Gumbel noise.
    Not for noisy max with exponential noise ("permute and flip"), which is `PureDP(epsilon)`.
    """

    epsilon: Fraction

    def __init__(self, *, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", at_least_zero(epsilon, "epsilon", up=True))


@dataclass(frozen=True, slots=True, init=False)
class Selection:
    """Groups were selected from unknown ones; this is the part that the noise event does not cover.

    `delta` is the probability that a group which only one unit has is shown; `epsilon` is 0 except for the
    truncated geometric rule, which has no noise event beside it. Priced as (epsilon, delta).
    """

    delta: Fraction
    epsilon: Fraction
    rule: Rule

    def __init__(self, *, delta: Number, epsilon: Number = 0, rule: Rule = "threshold") -> None:
        object.__setattr__(self, "delta", probability(delta, "delta"))
        object.__setattr__(self, "epsilon", at_least_zero(epsilon, "epsilon", up=True))
        if rule not in get_args(Rule):
            fix = "Write 'threshold', 'truncated-geometric' or 'sips'."
            raise ParameterError("rule", rule, "must name a selection rule", fix)
        object.__setattr__(self, "rule", rule)
