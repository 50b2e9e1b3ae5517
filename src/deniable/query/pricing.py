"""What each measured column costs, so that all of them together cost what was asked.

Every distinct measure is one column of integers with noise of its own; two outputs that need the same
measure share one noisy column. One kind of noise serves all of a plan: a mixture would gain nothing, or a
few percent beside several trees (`benchmarks.kinds`). Each column has a share of the budget (`parts`).
`multiplier` finds the least noise with these shares.

Proof that `Price.events` describe what is done, and cost no more than epsilon and delta:
1. A unit changes column i by at most L1_i = contributions.l1(measure_i), and by at most L2_i in Euclidean
   length (proved in `measures`). The histogram counts each unit in one class, as `one`: L1 = L2 = one.
   These are the sensitivities of the events, and the noise of each column is independent of all else.
   The row of everything else is measured after the groups were shown: given them, it is one entry that a
   unit changes as if it were in one group (proved in `rest`).
   Where bounds are chosen first, what is charged for these columns are references (proved in `charged`).
2. Unknown keys: the threshold costs its mass b (`events.Selection`), proved in `selection.thresholds`
   beside noise of any (epsilon, a): together (epsilon, 1 - (1 - a)(1 - b)).
3. `verified` asks `accounting.within` about the very events that the plan stores, noise, histogram and
   threshold as one composition. If they are not proved to cost (epsilon, delta), nothing is returned.

The parts of delta for noise and for the threshold come from a few public shares (`_Asked.splits`): those
with the least product of noise and threshold. What the threshold then leaves of its part, since it is a
whole number, goes to the noise too (`_Asked.with_the_rest`). Nothing of this looks at data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import Literal, assert_never

from deniable import accounting, events
from deniable.errors import ParameterError
from deniable.guarantees import ApproxDP, PureDP
from deniable.noise.gaussian import DiscreteGaussian
from deniable.noise.laplace import DiscreteLaplace
from deniable.query import charged, multiplier
from deniable.query.measures import Contributions, Measure, Summed, Units, weight_table
from deniable.query.parts import Parts
from deniable.selection.geometric import TruncatedGeometric
from deniable.selection.sips import Rounds
from deniable.selection.thresholds import Threshold, least_threshold

Noise = Literal["laplace", "gaussian"]
Composed = Literal["basic", "gaussian", "loss distribution"]
NoiseEvent = charged.Noise
Sampler = DiscreteLaplace | DiscreteGaussian
Found = Threshold | TruncatedGeometric | Rounds
"""How groups are found: by their noisy number of units, by chance, or in rounds before the columns."""

Events = tuple[events.Event, ...]
Split = tuple[Fraction, "Price"]
"""How much of delta the threshold may use, and the price that comes of it."""

_HALF = Fraction(1, 2)
_LAPLACE_SPLITS = (Fraction(0), Fraction(1, 10), _HALF)
_GAUSSIAN_SPLITS = (_HALF, Fraction(3, 4))
_CRUMBS = Fraction(1, 100)
_ROUNDS = 4
_MUCH = 1 << 16


@dataclass(frozen=True, slots=True)
class Noisy:
    """One column of integers and the noise that each of its entries gets.

    step: what 1 in the column is worth in units of the output.
    """

    measure: Measure
    event: NoiseEvent
    step: Fraction

    @property
    def scale(self) -> Fraction:
        """Laplace scale or Gaussian standard deviation, in units of the output."""
        return self.step * spread(self.event)

    @property
    def deviation(self) -> float:
        """About the standard deviation of the noise in steps, and not less."""
        scale = float(spread(self.event))
        return sqrt(2) * scale if isinstance(self.event, events.DiscreteLaplace) else scale

    def half_width(self, confidence: Fraction) -> int:
        """Return the least w with P(|noise| <= w) >= confidence, in steps of the column."""
        return _quantile(self.event, confidence)

    def reach(self, confidence: Fraction) -> Fraction:
        """Return about the half width, in units of the output, at once: much noise grows with its scale."""
        event = self.event
        alike = _alike(event)
        return self.step * max(1, _quantile(alike, confidence)) * spread(event) / spread(alike)


@dataclass(frozen=True, slots=True)
class Price:
    """What is measured, with how much noise, and what that costs.

    found: how groups are found in the data; None if they are declared, or there are none.
    rest: the same measures again, of everything that was not found, as one row; () if that is not asked for.
    choices: the noise of each histogram that a bound is chosen from, before anything else.
    """

    contributions: Contributions
    measured: tuple[Noisy, ...]
    coverage: NoiseEvent | None
    found: Found | None
    guarantee: PureDP | ApproxDP
    rest: tuple[Noisy, ...] = ()
    choices: tuple[NoiseEvent, ...] = ()

    @property
    def threshold(self) -> Threshold | None:
        """The threshold of the noisy number of units, if groups are found by that alone."""
        return self.found if isinstance(self.found, Threshold) else None

    @property
    def noise(self) -> Noise:
        """The kind of noise that all columns have."""
        return "laplace" if self.contributions.norm == "l1" else "gaussian"

    @property
    def noises(self) -> tuple[NoiseEvent, ...]:
        """All noise: of the choices, the rounds, the columns in their order, the histogram, the rest."""
        rounds = self.found.noises if isinstance(self.found, Rounds) else ()
        return (*self.choices, *rounds, *self._columns, *(noisy.event for noisy in self.rest))

    @property
    def _columns(self) -> tuple[NoiseEvent, ...]:
        columns = tuple(noisy.event for noisy in self.measured)
        return columns if self.coverage is None else (*columns, self.coverage)

    @property
    def composed(self) -> Composed | None:
        """The theorem that prices all noise together, as `accounting` names it; None for one column alone."""
        if len(self.noises) == 1:
            return None
        if self.noise == "gaussian":
            return "gaussian"
        is_sum = accounting.within(self.noises, epsilon=self.guarantee.epsilon)
        return "basic" if is_sum else "loss distribution"

    @property
    def saved(self) -> Fraction:
        """By which part Laplace noise is less than if the epsilons of its columns were added: 1 - z epsilon.

        The epsilons of all columns add up to 1/z, as their shares add up to 1.
        """
        added = sum(noise.epsilon for noise in self.noises if isinstance(noise, events.DiscreteLaplace))
        return 1 - self.guarantee.epsilon / added if added else Fraction(0)

    @property
    def events(self) -> Events:
        """What is charged for everything that is done with private data, in its order.

        A threshold comes after its noise. Where bounds are chosen first, columns have references.
        """
        if not self.choices:
            return self.done
        most = self.contributions.max_keys
        return (
            *self.choices,
            *self._ordered(charged.references(self.noises, most, self.guarantee.epsilon)),
        )

    @property
    def done(self) -> Events:
        """Everything that is done with private data after the choices, in its order."""
        return self._ordered(tuple)

    def _ordered(self, charge: charged.Charge) -> Events:
        """Return what is charged for noise, with what finds groups in its place."""
        noise, rest = charge(self._columns), charge([noisy.event for noisy in self.rest])
        match self.found:
            case None:
                return (*noise, *rest)
            case Threshold():
                return (*noise, events.Selection(delta=self.found.delta, rule="threshold"), *rest)
            case TruncatedGeometric():
                return (self.found.event, *noise, *rest)
            case Rounds():
                return (*self.found.events, *noise, *rest)
            case other:
                assert_never(other)

    @property
    def people(self) -> Fraction | None:
        """About how many units (people, say) a group needs to be published; None if none are needed.

        By threshold: at least this noisy number. In rounds: at least this noisy number of units, each in no
        other group that was left to the last round. By chance: published every second time with so many.
        """
        match self.found:
            case None:
                return None
            case Threshold():
                return Fraction(self.found.least, self.contributions.one)
            case TruncatedGeometric():
                return Fraction(self.found.half)
            case Rounds():
                return self.found.people
            case other:
                assert_never(other)


def price(
    measures: Sequence[Measure],
    contributions: Contributions,
    *,
    epsilon: Fraction,
    delta: Fraction,
    unknown: bool,
    coverage: bool,
    rest: bool = False,
    weights: tuple[Fraction, ...] = (),
    choices: tuple[int, ...] = (),
) -> Price:
    """Return the least noise with which all measures together cost (epsilon, delta).

    Args:    contributions: norm "l1" asks for Laplace noise, "l2" for Gaussian noise.
             unknown: groups are found, then thresholded: `Units` must be among the measures, delta > 0.
             coverage: a histogram of the groups a unit is in is bought too. rest: so is the row of everything
             that was not found. weights: how columns share their budget; () for equal parts.
             choices: bounds that are chosen first, as `Parts` has them.
    Raises:  ParameterError: epsilon is too small for 64-bit integers, or Gaussian noise has no delta.
    """
    asked = _Asked(Parts(tuple(measures), contributions, coverage, rest, weights, choices), epsilon, delta)
    if unknown:
        split = min((asked.split(share) for share in asked.splits()), key=_size)
        bought = asked.with_the_rest(split)
    else:
        bought = asked.price(asked.noise(delta), None)
    return verified(bought, epsilon, delta)


def together(
    parts: Parts, noise: Sequence[NoiseEvent], found: Found | None, guarantee: PureDP | ApproxDP
) -> Price:
    """Put the noise of every part beside its measure."""
    each = parts.split(noise)

    def noisy(of: Sequence[NoiseEvent]) -> tuple[Noisy, ...]:
        pairs = zip(parts.measures, of, strict=True) if of else ()
        return tuple(Noisy(measure, event, step(measure, parts.contributions)) for measure, event in pairs)

    columns, alone = noisy(each.columns), noisy(each.rest)
    return Price(parts.contributions, columns, each.coverage, found, guarantee, alone, each.choices)


def for_reach(price: Price, measures: Sequence[Measure], contributions: Contributions) -> Price:
    """Return the price with the same noise for measures and bounds that were chosen, grown with their reach.

    Raises:  ParameterError: a column has no reach, or its noise is more than 64-bit integers hold.
    """
    most = contributions.groups if contributions.over == "drop" else contributions.max_keys
    rest = bool(price.rest)
    parts = Parts(tuple(measures), contributions, False, rest)
    planned = [noisy.event for noisy in (*price.measured, *price.rest)]
    noise = [
        charged.grown(event, move, coordinates=touched)
        for event, move, touched in zip(planned, parts.moves, parts.touched(most), strict=True)
    ]
    multiplier.check_scales([spread(event) for event in noise], price.guarantee.epsilon)
    found = together(parts, noise, price.found, price.guarantee)
    return replace(found, coverage=price.coverage, choices=price.choices)


def judging(parts: Parts, epsilon: Fraction, *, rounds: int = 0) -> charged.Charge | None:
    """Return what is charged for noise where bounds are chosen (`charged`); None where they are stated."""
    if not parts.choices:
        return None
    first, most = len(parts.choices) + rounds, parts.contributions.max_keys
    return lambda noise: (*noise[:first], *charged.references(noise, most, epsilon)(noise[first:]))


def step(measure: Measure, contributions: Contributions) -> Fraction:
    """Return what 1 in the column is worth in units of the output."""
    return (measure.grid if isinstance(measure, Summed) else Fraction(1)) / contributions.one


def spread(event: NoiseEvent) -> Fraction:
    """Return the scale or the standard deviation of the noise, in steps."""
    return event.scale if isinstance(event, events.DiscreteLaplace) else event.sigma


@lru_cache(maxsize=16)
def sampler(event: NoiseEvent) -> Sampler:
    """Return the noise that an event describes. Making it takes milliseconds, so the last few are kept."""
    if isinstance(event, events.DiscreteLaplace):
        return DiscreteLaplace(event.scale)
    return DiscreteGaussian(event.sigma**2)


@lru_cache(maxsize=256)
def _quantile(event: NoiseEvent, confidence: Fraction) -> int:
    return sampler(event).quantile(confidence)


def _alike(event: NoiseEvent) -> NoiseEvent:
    """Return the event, or one of its kind with a scale of _MUCH if it has more."""
    if spread(event) <= _MUCH:
        return event
    if isinstance(event, events.DiscreteLaplace):
        return events.DiscreteLaplace(scale=_MUCH)
    return events.DiscreteGaussian(sigma=_MUCH)


def group_weights(contributions: Contributions) -> list[int]:
    """Return W[t] for every number t of groups that a unit can be counted in."""
    match contributions.over:
        case "drop":
            return [contributions.one] * contributions.groups
        case "weight":
            return weight_table(contributions)[1:]
        case other:
            assert_never(other)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What `price` was asked for."""

    parts: Parts
    epsilon: Fraction
    delta: Fraction

    def noise(self, delta: Fraction) -> tuple[NoiseEvent, ...]:
        """Return the noise of every part, in their order, for (epsilon, delta)."""
        parts, bounds = self.parts, self.parts.contributions
        judged = judging(parts, self.epsilon)
        match bounds.norm:
            case "l1":
                by_sums = judged is not None and not charged.may_compose(bounds.one)
                risk = Fraction(0) if by_sums else delta
                return multiplier.laplace(
                    parts.moves, parts.shares, epsilon=self.epsilon, delta=risk, judged=judged
                )
            case "l2":
                most = bounds.groups if bounds.over == "drop" else bounds.max_keys
                return multiplier.gaussian(
                    parts.moves,
                    parts.shares,
                    parts.touched(most),
                    epsilon=self.epsilon,
                    delta=delta,
                    judged=judged,
                )
            case other:
                assert_never(other)

    def price(self, noise: Sequence[NoiseEvent], threshold: Threshold | None) -> Price:
        """Put together what was found; no delta is promised where none is needed."""
        pure = threshold is None and self._is_pure(noise)
        guarantee = PureDP(epsilon=self.epsilon) if pure else ApproxDP(epsilon=self.epsilon, delta=self.delta)
        return together(self.parts, noise, threshold, guarantee)

    def splits(self) -> Sequence[Fraction]:
        """Return the shares of delta to try for the noise; the threshold gets the rest.

        Laplace noise needs none; it gets none where even all of delta would not make it smaller. With half
        of delta Gaussian noise has about the least threshold, which is best if nothing else is measured.
        """
        match self.parts.contributions.norm:
            case "l1":
                return _LAPLACE_SPLITS[: 1 if self._is_pure(self.noise(self.delta)) else None]
            case "l2":
                return _GAUSSIAN_SPLITS[: 1 if len(self.parts.measures) == 1 else None]
            case other:
                assert_never(other)

    def split(self, share: Fraction) -> Split:
        """Return the price with that share of delta for the noise, and the rest for the threshold."""
        mass = (1 - share) * self.delta
        rest = beside(mass, self.delta)
        noise = self.noise(rest)
        return mass, self.price(noise, self._threshold(noise, mass))

    def with_the_rest(self, split: Split) -> Price:
        """Return the price in which the noise also gets what the threshold left of its mass, if it is much.

        Less noise needs no higher threshold: it is taken again, at the mass that it had. That leaves a little
        again, so this is done a few times.
        """
        mass, found = split
        for _ in range(_ROUNDS):
            assert found.threshold is not None
            if found.threshold.delta >= (1 - _CRUMBS) * mass:
                break
            mass = found.threshold.delta
            noise = self.noise(beside(mass, self.delta))
            if noise == found.noises:
                break
            found = self.price(noise, self._threshold(noise, mass))
        return found

    def _threshold(self, noise: Sequence[NoiseEvent], mass: Fraction) -> Threshold:
        counted = sampler(self.parts.split(noise).columns[self.parts.measures.index(Units())])
        return least_threshold(counted, group_weights(self.parts.contributions), delta=mass)

    def _is_pure(self, noise: Sequence[NoiseEvent]) -> bool:
        return accounting.within(noise, epsilon=self.epsilon)


def beside(mass: Fraction, delta: Fraction) -> Fraction:
    """Return the a with 1 - (1 - a)(1 - mass) = delta."""
    return 1 - (1 - delta) / (1 - mass)


def _size(split: Split) -> Fraction:
    """Return noise times threshold. The scale of one column stands for all, which have one multiplier."""
    found = split[1]
    assert found.people is not None
    return found.measured[0].scale * max(Fraction(1), found.people)


def verified(bought: Price, epsilon: Fraction, delta: Fraction) -> Price:
    if not accounting.within(bought.events, epsilon=epsilon, delta=delta):
        fix = "Give them with fewer digits, for example epsilon=1 and delta='1e-8'."
        given = f"epsilon {float(epsilon):.6g}, delta {float(delta):.6g}"
        raise ParameterError("epsilon and delta", given, "could not be proved to be met", fix)
    return bought
