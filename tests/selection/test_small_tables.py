"""One-shot thresholds on every table of up to four units in three groups, noisy values shown and all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from selection_universe import GROUPS, MP, Unit, floor_exp, neighbours

from deniable import accounting, events
from deniable.noise.gaussian import DiscreteGaussian
from deniable.noise.laplace import DiscreteLaplace
from deniable.selection.thresholds import least_threshold

BITS = 200
SCALE = 1 << BITS
ONE = 6

Pair = tuple[tuple[int, int], ...]
"""The counts, before and after, of the groups that the added unit is counted in. The rest cancels out."""


def pairs(weights: Sequence[int], most: int) -> set[Pair]:
    """Every pair of neighbours whose units have at most `most` groups; weights[m] counts in each of m."""

    def counts(table: Sequence[Unit]) -> list[int]:
        return [sum(weights[len(unit)] for unit in table if g in unit) for g in range(GROUPS)]

    found = set()
    for less, more in neighbours():
        if all(len(unit) <= most for unit in more):
            both = zip(counts(less), counts(more), strict=True)
            found.add(tuple(sorted((before, after) for before, after in both if before != after)))
    return found


@cache
def laplace_mass(scale: Fraction) -> Any:
    q = MP.exp(-MP.mpf(scale.denominator) / scale.numerator)
    return q, (1 - q) / (1 + q)


def laplace_cells(count: int, scale: Fraction, least: int, top: int) -> list[tuple[int, int]]:
    """Enclose, times SCALE: hidden; shown as each value below `top`; shown as `top` or more.

    From the larger count on all values have the same odds on both tables: one cell for them loses nothing.
    """
    if count == 0:
        return [(SCALE, SCALE)] + [(0, 0)] * (top - least + 1)
    q, height = laplace_mass(scale)
    cells = [height * q ** abs(value - count) for value in range(least, top)]
    above = top - count
    cells.append(q**above / (1 + q) if above >= 0 else 1 - q ** (1 - above) / (1 + q))
    cells.insert(0, 1 - MP.fsum(cells))
    whole = [int(MP.floor(cell * SCALE)) for cell in cells]
    return [(max(0, cell - 1), cell + 2) for cell in whole]


def laplace_excess(pair: Pair, scale: Fraction, least: int, epsilon: Fraction) -> Fraction:
    """Bound the delta of two neighbours from above, in both directions."""
    top, bottom = floor_exp(epsilon, bits=BITS).as_integer_ratio()
    less, more = (
        [laplace_cells(both[side], scale, least, max(least, both[1])) for both in pair] for side in (0, 1)
    )
    totals = []
    for first, second in ((less, more), (more, less)):
        total = 0
        for cells in product(*(zip(a, b, strict=True) for a, b in zip(first, second, strict=True))):
            high = math.prod(ends[0][1] for ends in cells)
            low = math.prod(ends[1][0] for ends in cells)
            total += max(0, high * bottom - low * top)
        totals.append(Fraction(total, bottom * SCALE ** len(pair)))
    return max(totals)


def worst_laplace(weights: Sequence[int], most: int, scale: Fraction, least: int) -> Fraction:
    epsilon = Fraction(most * weights[1]) / scale
    return max(laplace_excess(pair, scale, least, epsilon) for pair in pairs(weights, most))


@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.1"), ("3", "0.02")])
def test_laplace_thresholds_with_dropped_groups_keep_their_claim(
    epsilon: str, delta: str, groups: int
) -> None:
    scale = groups / Fraction(epsilon)
    found = least_threshold(DiscreteLaplace(scale), [1] * groups, delta=Fraction(delta))
    weights = [1] * (GROUPS + 1)
    worst = worst_laplace(weights, groups, scale, found.least)
    assert found.delta * (1 - Fraction(1, 10**12)) <= worst <= found.delta
    assert worst_laplace(weights, groups, scale, found.least - 1) > Fraction(delta)


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.2"), ("1", "0.02"), ("0.5", "0.1"), ("2", "0.1")])
def test_laplace_thresholds_with_weights_keep_their_claim(epsilon: str, delta: str) -> None:
    weights, scale = [ONE, ONE, ONE // 2, ONE // 3], ONE / Fraction(epsilon)
    found = least_threshold(DiscreteLaplace(scale), weights[1:], delta=Fraction(delta))
    every = pairs(weights, GROUPS)

    def worst(least: int) -> Fraction:
        return max(laplace_excess(pair, scale, least, Fraction(epsilon)) for pair in every)

    assert found.delta * (1 - Fraction(1, 10**12)) <= worst(found.least) <= found.delta
    assert worst(found.least - 1) > Fraction(delta)


def test_a_threshold_for_one_group_a_unit_is_too_low_for_units_in_three() -> None:
    weights, scale, delta = [ONE, ONE, ONE // 2, ONE // 3], Fraction(ONE), Fraction(1, 5)
    naive = least_threshold(DiscreteLaplace(scale), [ONE], delta=delta).least
    assert max(laplace_excess(pair, scale, naive, Fraction(1)) for pair in pairs(weights, GROUPS)) > delta


# Gaussian noise: odds are not constant anywhere, so every value is its own output.

Cells = NDArray[np.float64]
EDGE = 2.0**-40


@cache
def gaussian_total(square: Fraction) -> Any:
    reach = 40 * math.isqrt(int(square)) + 40
    return MP.fsum(
        MP.exp(-MP.mpf(x * x) * square.denominator / (2 * square.numerator)) for x in range(-reach, reach)
    )


def gaussian_cells(count: int, square: Fraction, least: int, top: int) -> Cells:
    """Probabilities of: hidden; each value from `least` to `top`; more. Each is within a relative 2**-50."""
    if count == 0:
        return np.array([1.0] + [0.0] * (top - least + 2))
    total = gaussian_total(square)
    far = top + 12 * math.isqrt(int(square)) + 12
    masses = [
        MP.exp(-MP.mpf((x - count) ** 2) * square.denominator / (2 * square.numerator)) / total
        for x in range(least, far)
    ]
    shown = masses[: top - least + 1]
    return np.array([float(p) for p in (1 - MP.fsum(masses), *shown, MP.fsum(masses[len(shown) :]))])


def gaussian_excess(pair: Pair, square: Fraction, least: int, epsilon: float) -> float:
    """Bound the delta of two neighbours from above, in both directions.

    Cells are enclosed by factors 1 +- EDGE, e**epsilon by its neighbours. What is far out is no common cell:
    all its probability counts as excess.
    """
    top = max(least, max(after for _, after in pair)) + 7 * math.isqrt(int(square)) + 7
    sides = []
    for side in (0, 1):
        joint = np.ones(())
        for both in pair:
            joint = np.multiply.outer(joint, gaussian_cells(both[side], square, least, top))
        sides.append(joint)
    inner = tuple(slice(0, -1) for _ in pair)
    found = []
    for first, second in (sides, sides[::-1]):
        gaps = first[inner] * (1 + EDGE) - math.exp(epsilon) * (1 - EDGE) * second[inner]
        found.append(float(np.maximum(gaps, 0).sum() + first.sum() - first[inner].sum()) + EDGE)
    return max(found)


GAUSSIANS = [([1, 1, 1, 1], 1, 2, "0.01"), ([1, 1, 1, 1], 3, 6, "0.1"), ([4, 4, 2, 2], 3, 48, "0.1")]


def claimed(weights: Sequence[int], most: int, square: int, mass: Fraction, epsilon: str) -> float:
    """What the events say, with the standard deviation rounded down and the L2 bound rounded up."""
    length = max(t * weights[t] ** 2 for t in range(1, most + 1))
    noise = events.DiscreteGaussian(
        sigma=Fraction(math.isqrt(square << 40), 1 << 20),
        sensitivity=Fraction(math.isqrt(length << 40) + 1, 1 << 20),
        coordinates=most,
    )
    return float(accounting.account([noise, events.Selection(delta=mass)]).delta(epsilon=epsilon))


@pytest.mark.parametrize(("weights", "most", "square", "delta"), GAUSSIANS)
def test_gaussian_thresholds_keep_the_claim_of_their_events(
    weights: list[int], most: int, square: int, delta: str
) -> None:
    mass = Fraction(delta)
    found = least_threshold(DiscreteGaussian(square), weights[1 : most + 1], delta=mass)
    for epsilon in ("0.2", "1"):
        worst = max(
            gaussian_excess(pair, Fraction(square), found.least, float(epsilon))
            for pair in pairs(weights, most)
        )
        assert 0.4 * float(found.delta) <= worst <= claimed(weights, most, square, found.delta, epsilon)


@pytest.mark.parametrize(("weights", "most", "square", "delta"), [([1, 1, 1, 1], 1, 6, "0.1"), GAUSSIANS[2]])
def test_gaussian_thresholds_that_are_too_low_or_noise_that_is_halved_break_it(
    weights: list[int], most: int, square: int, delta: str
) -> None:
    found = least_threshold(DiscreteGaussian(square), weights[1 : most + 1], delta=Fraction(delta))
    variance = Fraction(square)
    for epsilon, least, wrong in (("1", found.least - 1, variance), ("0.2", found.least, variance / 4)):
        worst = max(gaussian_excess(pair, wrong, least, float(epsilon)) for pair in pairs(weights, most))
        assert worst > claimed(weights, most, square, found.delta, epsilon)


# The counts that are kept half of the time, against published tables.


@pytest.mark.parametrize(("groups", "half"), [(1, 18.73), (3, 57.5), (10, 201.3), (100, 2234)])
def test_laplace_thresholds_keep_half_of_the_groups_of_the_known_size(groups: int, half: float) -> None:
    fine = 1 << 20
    found = least_threshold(DiscreteLaplace(groups * fine), [fine] * groups, delta=Fraction(1, 10**8))
    assert math.isclose(found.least / fine, half, rel_tol=5e-4)
    each = 1 - (1 - MP.mpf(10) ** -8) ** (MP.mpf(1) / groups)
    assert math.isclose(found.least / fine, 1 - groups * MP.log(2 * each), rel_tol=1e-6)


@pytest.mark.parametrize(("groups", "half"), [(1, 30.9), (3, 54.5), (10, 101.9), (100, 338.7)])
def test_gaussian_thresholds_keep_half_of_the_groups_of_the_known_size(groups: int, half: float) -> None:
    fine = 1 << 20
    sigma = accounting.calibrate(events.Gaussian, epsilon=1, delta="5e-9").sigma
    noise = DiscreteGaussian((sigma * fine) ** 2 * groups)
    found = least_threshold(noise, [fine] * groups, delta=Fraction(5, 10**9))
    assert math.isclose(found.least / fine, half, rel_tol=3e-3)
