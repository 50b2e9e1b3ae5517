"""How much noise each measured column gets, so that all of them together cost what was asked.

Every distinct measure is one column of integers with noise of its own; two outputs that need the same
measure share one noisy column. One kind of noise serves all of a plan, and each column has a share of the
budget (`_shares`): 2 % for the histogram of groups a unit is in, if there is one, the rest in equal parts.

Proof that `Price.events` describe what is done, and cost no more than epsilon and delta:
1. A unit changes column i by at most L1_i = contributions.l1(measure_i), and by at most L2_i in Euclidean
   length (proved in `measures`). The histogram counts each unit in one class, as `one`: L1 = L2 = one.
2. Laplace: column i has scale z * L1_i / share_i, z = 1/epsilon, so it costs epsilon * share_i, and the
   columns, whose noise is independent, cost epsilon in all.
3. Gaussian: column i has sigma_i >= z * L2_i / sqrt(share_i), rounded up. As N(0, sigma_i^2) the columns
   together are one Gaussian mechanism with (sensitivity/sigma)^2 <= sum of share_i / z^2 = 1/z^2. What the
   integers add to that is in the event; z is raised until `accounting.within` proves the whole.
4. Unknown keys: the threshold costs its mass b (`events.Selection`), proved in `selection.thresholds`.
   Laplace noise needs no delta, so b <= delta. Gaussian noise has a with 1 - (1 - a)(1 - b) <= delta.
5. `_verified` asks `accounting.within` about the very events that the plan stores; if that is not proved
   nothing is returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Literal, assert_never

from deniable import accounting, events
from deniable.brackets import square_root
from deniable.errors import ParameterError
from deniable.guarantees import ApproxDP, PureDP
from deniable.noise.gaussian import DiscreteGaussian
from deniable.noise.laplace import DiscreteLaplace
from deniable.query.measures import Contributions, Measure, Total, Units, weight_table
from deniable.selection.thresholds import Threshold, least_threshold

Noise = Literal["laplace", "gaussian"]
NoiseEvent = events.DiscreteLaplace | events.DiscreteGaussian
Sampler = DiscreteLaplace | DiscreteGaussian

COVERAGE_CLASSES = 8
_COVERAGE_SHARE = Fraction(1, 50)
_LARGEST_SCALE = 1 << 56
_FINE = 1 << 16


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

    def half_width(self, confidence: Fraction) -> int:
        """Return the least w with P(|noise| <= w) >= confidence, in steps of the column."""
        return sampler(self.event).quantile(confidence)


@dataclass(frozen=True, slots=True)
class Price:
    """What is measured, with how much noise, and what that costs."""

    contributions: Contributions
    measured: tuple[Noisy, ...]
    coverage: NoiseEvent | None
    threshold: Threshold | None
    guarantee: PureDP | ApproxDP

    @property
    def noise(self) -> Noise:
        """The kind of noise that all columns have."""
        return "laplace" if self.contributions.norm == "l1" else "gaussian"

    @property
    def events(self) -> tuple[events.Event, ...]:
        """Everything that is done with private data: noise in the order of columns, then the threshold."""
        done: list[events.Event] = [noisy.event for noisy in self.measured]
        if self.coverage is not None:
            done.append(self.coverage)
        if self.threshold is not None:
            done.append(events.Selection(delta=self.threshold.delta, rule="threshold"))
        return tuple(done)

    @property
    def people(self) -> Fraction | None:
        """The threshold in units (people, say): a group is published if its noisy number is at least this."""
        return None if self.threshold is None else Fraction(self.threshold.least, self.contributions.one)


def price(
    measures: Sequence[Measure],
    contributions: Contributions,
    *,
    epsilon: Fraction,
    delta: Fraction,
    unknown: bool,
    coverage: bool,
) -> Price:
    """Return the least noise with which all measures together cost (epsilon, delta).

    Args:    contributions: norm "l1" asks for Laplace noise, "l2" for Gaussian noise.
             unknown: groups are found, then thresholded: `Units` must be among the measures, delta > 0.
             coverage: a histogram of the groups a unit is in is bought too.
    Raises:  ParameterError: epsilon is too small for 64-bit integers, or Gaussian noise has no delta.
    """
    shares = _shares(len(measures), coverage=coverage)
    mass = _threshold_mass(contributions, delta) if unknown else Fraction(0)
    noise = _noise(measures, contributions, shares, epsilon, 1 - (1 - delta) / (1 - mass))
    columns = tuple(
        Noisy(measure, event, step(measure, contributions))
        for measure, event in zip(measures, noise[: len(measures)], strict=True)
    )
    threshold = None
    if unknown:
        counted = sampler(noise[list(measures).index(Units())])
        threshold = least_threshold(counted, _weights(contributions), delta=mass)
    spent = delta if unknown or contributions.norm == "l2" else Fraction(0)
    guarantee = ApproxDP(epsilon=epsilon, delta=spent) if spent else PureDP(epsilon=epsilon)
    bought = Price(contributions, columns, noise[-1] if coverage else None, threshold, guarantee)
    return _verified(bought, epsilon, spent)


def step(measure: Measure, contributions: Contributions) -> Fraction:
    """Return what 1 in the column is worth in units of the output."""
    return (measure.grid if isinstance(measure, Total) else Fraction(1)) / contributions.one


def spread(event: NoiseEvent) -> Fraction:
    """Return the scale or the standard deviation of the noise, in steps."""
    return event.scale if isinstance(event, events.DiscreteLaplace) else event.sigma


@lru_cache(maxsize=16)
def sampler(event: NoiseEvent) -> Sampler:
    """Return the noise that an event describes. Making it takes milliseconds, so the last few are kept."""
    if isinstance(event, events.DiscreteLaplace):
        return DiscreteLaplace(event.scale)
    return DiscreteGaussian(event.sigma**2)


def _shares(measures: int, *, coverage: bool) -> list[Fraction]:
    """Return the part of the budget (of epsilon, or of mu^2) of each column; the histogram's is the last."""
    if not coverage:
        return [Fraction(1, measures)] * measures
    return [(1 - _COVERAGE_SHARE) / measures] * measures + [_COVERAGE_SHARE]


def _threshold_mass(contributions: Contributions, delta: Fraction) -> Fraction:
    match contributions.norm:
        case "l1":
            return delta
        case "l2":
            return delta / 2
        case other:
            assert_never(other)


def _weights(contributions: Contributions) -> list[int]:
    """Return W[t] for every number t of groups that a unit can be counted in."""
    match contributions.over:
        case "drop":
            return [contributions.one] * contributions.groups
        case "weight":
            return weight_table(contributions)[1:]
        case other:
            assert_never(other)


def _noise(
    measures: Sequence[Measure],
    contributions: Contributions,
    shares: Sequence[Fraction],
    epsilon: Fraction,
    delta: Fraction,
) -> list[NoiseEvent]:
    """Return the noise of each measure, and of the histogram if there is a share for it."""
    histogram = [contributions.one] * (len(shares) - len(measures))
    match contributions.norm:
        case "l1":
            moves = [contributions.l1(measure) for measure in measures] + histogram
            scales = [move / (epsilon * share) for move, share in zip(moves, shares, strict=True)]
            _check_scales(scales, epsilon)
            return [
                events.DiscreteLaplace(scale=scale, sensitivity=move)
                for scale, move in zip(scales, moves, strict=True)
            ]
        case "l2":
            moves = [contributions.l2(measure) for measure in measures] + histogram
            touched = contributions.groups if contributions.over == "drop" else contributions.max_keys
            return _gaussian(moves, shares, touched, epsilon, delta)
        case other:
            assert_never(other)


def _gaussian(
    moves: Sequence[int], shares: Sequence[Fraction], touched: int, epsilon: Fraction, delta: Fraction
) -> list[NoiseEvent]:
    """Return Gaussian columns whose common multiplier is the least that is proved (step 3)."""
    if not delta > 0:
        raise ParameterError("delta", "0", "must be above 0 for Gaussian noise", "Give for example '1e-8'.")
    least = accounting.calibrate(events.Gaussian, epsilon=epsilon, delta=delta).sigma
    for doubling in range(40):
        multiplier = least * (1 + Fraction(1 << doubling, 1 << 24))
        sigmas = [_sigma(move * multiplier, share) for move, share in zip(moves, shares, strict=True)]
        _check_scales(sigmas, epsilon)
        noise: list[NoiseEvent] = [
            events.DiscreteGaussian(sigma=sigma, sensitivity=move, coordinates=touched)
            for sigma, move in zip(sigmas, moves, strict=True)
        ]
        if accounting.within(noise, epsilon=epsilon, delta=delta):
            return noise
    raise ParameterError("epsilon", epsilon, "is out of reach of Gaussian noise", "Ask for Laplace noise.")


def _sigma(numerator: Fraction, share: Fraction) -> Fraction:
    """Return numerator / sqrt(share), rounded up: to a whole number from 2**16 on, else to 2**-16."""
    exact = square_root(numerator**2 / share)[1]
    return Fraction(ceil(exact)) if exact >= _FINE else Fraction(ceil(exact * _FINE), _FINE)


def _check_scales(scales: Sequence[Fraction], epsilon: Fraction) -> None:
    if not max(scales) <= _LARGEST_SCALE:
        fix = "Raise epsilon, or lower max_groups, max_rows or the bounds."
        raise ParameterError("epsilon", str(epsilon), "needs more noise than 64-bit integers hold", fix)


def _verified(bought: Price, epsilon: Fraction, delta: Fraction) -> Price:
    if not accounting.within(bought.events, epsilon=epsilon, delta=delta):
        fix = "Give them with fewer digits, for example epsilon=1 and delta='1e-8'."
        given = f"epsilon {float(epsilon):.6g}, delta {float(delta):.6g}"
        raise ParameterError("epsilon and delta", given, "could not be proved to be met", fix)
    return bought
