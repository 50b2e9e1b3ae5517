"""A choice among candidates by private utilities: `dn.Exponential` and `dn.NoisyMax`.

Utilities go onto a public grid first (`grids`: nan counts as 0, infinities are clamped, nothing raises), so
one unit moves each by at most S whole steps, S = `steps`. Let v = rate * (utility in steps), with
rate = epsilon/(2 S).

`Exponential`: P(i) proportional to e**v(i).
1. Between neighbours each v moves by at most epsilon/2, so a weight changes by at most e**(epsilon/2) and so
   does the sum of all: P(i) by at most e**epsilon.
2. ln of the ratio of two weights' changes is at most epsilon: a range of length epsilon, which is what
   `events.Exponential` says.
It is the law of noisy max with Gumbel noise of scale 1/rate.

`NoisyMax`: the largest of v(i) + E(i), E independent with density e**-x, x >= 0.
3. Given all E but E(i), i wins if E(i) > r, r = max of v(j) + E(j) over j other than i, minus v(i). Between
   neighbours r moves by at most epsilon, and P(E > r + epsilon) >= e**-epsilon P(E > r) (for r < 0 too). So
   P(i) changes by at most e**epsilon.
4. It is *not* within the range of step 2: for steps of 1 and rate 1, scores (0, 0) and (1, -1) have the Renyi
   divergence 1.377 of order 2, and the exponential mechanism at most epsilon**2/8 * 2 = 1. So the event is
   `PureDP`.
5. `_first_heads` draws it without noise. With q(j) = e**(v(j) - max v), i wins with probability
   integral over y > max v of e**-(y - v(i)) * product over j of (1 - e**-(y - v(j))), j other than i; with
   t = e**-(y - max v) that is q(i) * integral over 0 < t < 1 of the product of (1 - t q(j)). This is also the
   chance that i comes first when everybody arrives at a uniform time t, throws a coin that shows heads with
   probability q, and the first heads wins: "permute and flip".

`monotone=True` says that all utilities of a neighbour move in one direction (counts: adding a unit lowers
none). Then rate = epsilon/S: in 2, ln of each weight moves by 0 to epsilon, so ratios lie within a range of
epsilon, and that of the sums with them; in 3, r moves by at most epsilon, as v(i) and v(j) move the same way.

Source: McSherry, Talwar 2007; Dong, Durfee, Rogers 2020 (range); McKenna, Sheldon 2020, and Ding, Kifer,
Sayed, Steinke, Wang, Xiao, Zhang 2021 (permute and flip is noisy max with exponential noise).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from deniable import events
from deniable.accounting import UpperBound
from deniable.bits import Bits, SystemBits
from deniable.brackets import logarithm
from deniable.errors import ParameterError
from deniable.exact import Number, positive, probability, text
from deniable.exact import whole as whole_number
from deniable.guarantees import PureDP
from deniable.mechanisms import words
from deniable.mechanisms.additive import spendable
from deniable.mechanisms.chance import coin, falling, uniform, weighted
from deniable.mechanisms.grids import Grid, check_scale, fine_grid, whole_grid

_MOST = 1 << 24


@dataclass(frozen=True, slots=True, repr=False)
class Choice:
    """What the two mechanisms share: the candidates, the grid of their utilities, and the rate.

    candidates: known beforehand, in order. steps: how far one unit moves a utility. rate: a step's weight.
    """

    candidates: tuple[Hashable, ...]
    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool
    grid: Grid
    steps: int
    rate: Fraction

    def costs(self, utilities: object) -> list[int]:
        """Return how many steps each utility is below the best one.

        A mapping gives the utility of each candidate: one that is missing has 0, other keys are ignored. An
        array or list has one utility for each candidate, in order.
        Raises:  ParameterError: another type or length.
        """
        if isinstance(utilities, Mapping):
            utilities = [utilities.get(candidate) for candidate in self.candidates]
        steps = self.grid.integers(utilities)
        return [int(below) for below in np.max(steps) - steps]

    def reach(self, excess: Fraction) -> UpperBound:
        """Return the most utility that is worth less than `excess` in the exponent; rounding added."""
        steps = max(ceil(excess / self.rate) - 1, 0)
        return UpperBound(steps * self.grid.step + 2 * self.grid.rounding)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Exponential:
    """The exponential mechanism: P(candidate) proportional to exp(epsilon * utility / (2 * sensitivity)).

    Args:    sensitivity: the most by which one unit moves any one utility. Your promise.
             candidates: what can be chosen, known beforehand (candidates found in the data would tell who is
                 in it). A number n stands for 0, ..., n - 1.
             monotone: adding a unit never lowers any utility (or never raises any): half the noise.
             whole: utilities are whole numbers. Otherwise they are rounded to a grid about 1000 times finer
                 than what counts.
    Raises:  ParameterError: an argument is out of range.
    """

    choice: Choice

    def __init__(
        self,
        *,
        epsilon: Number,
        sensitivity: Number,
        candidates: int | Iterable[Hashable],
        monotone: bool = False,
        whole: bool = False,
    ) -> None:
        made = _choice(epsilon, sensitivity, candidates, monotone=monotone, whole=whole)
        object.__setattr__(self, "choice", made)

    def __repr__(self) -> str:
        return _called("Exponential", self.choice)

    @property
    def event(self) -> events.Exponential:
        """What a release costs: less than any epsilon-private event, when there are many."""
        return events.Exponential(epsilon=self.choice.epsilon)

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy."""
        return PureDP(epsilon=self.choice.epsilon)

    def release(self, utilities: object, *, bits: Bits | None = None) -> Hashable:
        """Return the candidate that was chosen.

        Args:    utilities: a mapping from candidates, or a list or array in their order (`Choice.costs`).
        """
        place = weighted(self.choice.costs(utilities), self.choice.rate, bits or SystemBits())
        return self.choice.candidates[place]

    def error(self, *, confidence: Number = Fraction(95, 100)) -> UpperBound:
        """Return the w such that the utility of the choice is within w of the best with this probability.

        In the worst case the other n - 1 candidates are all a step further below than that, x in the
        exponent: one is chosen with probability (n - 1) e**-x / (1 + (n - 1) e**-x) = 1 - confidence.
        """
        sure, others = probability(confidence, "confidence"), len(self.choice.candidates) - 1
        return self.choice.reach(_log(others * sure / (1 - sure)))

    @property
    def statement(self) -> str:
        """What a release promises, and how far from the best it may be, in words."""
        many = f"{len(self.choice.candidates):,} candidates"
        rule = f"One of {many}, chosen by the exponential mechanism."
        return _statement(rule, self.choice, self.error())


@dataclass(frozen=True, slots=True, init=False, repr=False)
class NoisyMax:
    """Noisy max with exponential noise: the candidate with the largest utility plus noise.

    Never worse than `Exponential` on average for one choice; dearer where many are made, because its event is
    `PureDP`, whatever the utilities. (Noisy max with Gumbel noise is `Exponential`.) Arguments as there.
    """

    choice: Choice

    def __init__(
        self,
        *,
        epsilon: Number,
        sensitivity: Number,
        candidates: int | Iterable[Hashable],
        monotone: bool = False,
        whole: bool = False,
    ) -> None:
        made = _choice(epsilon, sensitivity, candidates, monotone=monotone, whole=whole)
        object.__setattr__(self, "choice", made)

    def __repr__(self) -> str:
        return _called("NoisyMax", self.choice)

    @property
    def event(self) -> events.PureDP:
        """What a release costs (step 4)."""
        return self.guarantee

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy."""
        return PureDP(epsilon=self.choice.epsilon)

    def release(self, utilities: object, *, bits: Bits | None = None) -> Hashable:
        """Return the candidate that was chosen; utilities as for `Exponential`."""
        place = _first_heads(self.choice.costs(utilities), self.choice.rate, bits or SystemBits())
        return self.choice.candidates[place]

    def error(self, *, confidence: Number = Fraction(95, 100)) -> UpperBound:
        """Return the w such that the utility of the choice is within w of the best with this probability.

        In the worst case the other n - 1 candidates are all a step further below than that, x in the
        exponent, and show heads with probability q = e**-x. The best one comes after k of them, k from 0 to
        n - 1 equally likely, and wins if none of them does: with the mean of (1 - q)**k >= 1 - k q, that is
        1 - (n - 1) q/2 at least. (Taking a good candidate for a bad one, or raising a chance of heads, only
        helps the bad ones.)
        """
        sure, others = probability(confidence, "confidence"), len(self.choice.candidates) - 1
        return self.choice.reach(_log(others / (2 * (1 - sure))))

    @property
    def statement(self) -> str:
        """What a release promises, and how far from the best it may be, in words."""
        many = f"{len(self.choice.candidates):,} candidates"
        rule = f"One of {many}, the best after exponential noise on each utility."
        return _statement(rule, self.choice, self.error())


def _choice(
    epsilon: Number,
    sensitivity: Number,
    candidates: int | Iterable[Hashable],
    *,
    monotone: bool,
    whole: bool,
) -> Choice:
    spend, moved = spendable(epsilon), positive(sensitivity, "sensitivity", up=True)
    known = options_from(candidates, "candidates")
    shape = (len(known),)
    grid = whole_grid(moved, shape) if whole else fine_grid(moved, moved / spend, shape, 1)
    steps = Grid(grid.exponent, (), grid.whole).l1(moved)
    check_scale(steps / spend, spend)
    rate = spend / (steps if monotone else 2 * steps)
    return Choice(known, spend, moved, bool(monotone), grid, int(steps), rate)


def options_from(given: object, argument: str, *, at_least: int = 1) -> tuple[Hashable, ...]:
    """Return what can be chosen: the things listed, or 0, ..., n - 1 for a number n.

    Raises:  ParameterError: too few, two that are equal, or something that cannot be told apart by hashing.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        return tuple(range(whole_number(given, argument, at_least=at_least, at_most=_MOST)))
    known = tuple(given)
    if len(known) < at_least or not all(isinstance(one, Hashable) for one in known):
        fix = "Give a list of texts or numbers, or how many there are."
        raise ParameterError(argument, given, f"must list at least {at_least} different things", fix)
    if len(set(known)) < len(known):
        raise ParameterError(argument, given, "lists something twice", "List each thing once; 1 equals True.")
    return known


def _first_heads(costs: Sequence[int], rate: Fraction, bits: Bits) -> int:
    """Return the first i, in random order, whose coin shows heads; that of the best always does (step 5)."""
    order = list(range(len(costs)))
    for place in range(len(costs)):
        other = place + uniform(len(costs) - place, bits)
        order[place], order[other] = order[other], order[place]
        if coin(falling(costs[order[place]], rate), bits):
            break
    return order[place]


def _log(number: Fraction) -> Fraction:
    """Return ln(number) rounded up, and 0 below 1."""
    return logarithm(number)[1] if number > 1 else Fraction(0)


def _called(name: str, choice: Choice) -> str:
    flags = ["monotone=True"] * choice.monotone + ["whole=True"] * choice.grid.whole
    shown = [f"epsilon={text(choice.epsilon)}", f"sensitivity={text(choice.sensitivity)}"]
    return f"{name}({', '.join([*shown, f'candidates={len(choice.candidates)}', *flags])})"


def _statement(rule: str, choice: Choice, error: Fraction) -> str:
    reach = f"In 95 % of cases its utility is within {words.short(error)} of the best."
    promised = PureDP(epsilon=choice.epsilon)
    return words.chosen(rule, choice.sensitivity, promised, monotone=choice.monotone, reach=reach)
