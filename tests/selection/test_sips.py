"""Rounds of weighted Gaussian selection: enumeration of small tables, wrong twins, known numbers, draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import chdtrc
from selection_universe import EVERY_UNIT, GROUPS, MP, Law, Table, tables, worst_excess

from deniable import accounting, brackets
from deniable.bits import Bits, SeededBits
from deniable.errors import ParameterError
from deniable.events import DiscreteGaussian, Selection
from deniable.query.measures import Contributions, weight_table
from deniable.selection import sips
from deniable.selection.sips import ONE, SHARES, Round, fitted, schedule
from deniable.selection.thresholds import Threshold, least_threshold

ALPHA = 1e-9
BLUR = Fraction(1, 10**8)
STATE = (0,) * GROUPS
BITS = 120
SCALE = 1 << BITS

Ends = tuple[int, int]
"""Integers around a probability times SCALE."""


@dataclass(frozen=True)
class NormalTail:
    """The continuous neighbour of the noise: enough to find a threshold that is wrong on purpose."""

    sigma: Fraction

    def tail(self, m: int, precision: int = 128) -> tuple[Fraction, Fraction]:
        return brackets.normal_tail(Fraction(m) / self.sigma, precision)


@dataclass(frozen=True)
class Rule:
    """What one round does, written down so that a test can get it wrong."""

    weights: tuple[int, ...]
    sigma: Fraction
    least: int

    @staticmethod
    def of(one: Round) -> Rule:
        return Rule(one.weights, one.noise.sigma, one.threshold.least)


@cache
def kept(rule: Rule, count: int) -> Ends:
    """P(count + X >= least), X discrete Gaussian; at sigma > 2**18 it is the normal tail but for 1e-11."""
    if count == 0:
        return 0, 0
    z = (MP.mpf(rule.least - count) - 0.5) / MP.mpf(rule.sigma.numerator) * rule.sigma.denominator
    scaled = int(MP.floor(MP.erfc(z / MP.sqrt(2)) / 2 * SCALE))
    blur = scaled // 10**10 + 2
    return max(0, scaled - blur), min(SCALE, scaled + blur)


@cache
def one_round(rule: Rule, counts: tuple[int, ...]) -> dict[tuple[int, ...], Ends]:
    """Enclose the probability of each set of kept groups."""
    found = {}
    for choice in product((0, 1), repeat=GROUPS):
        low = high = SCALE
        for yes, count in zip(choice, counts, strict=True):
            ends = kept(rule, count)
            low = low * (ends[0] if yes else SCALE - ends[1]) >> BITS
            high = up(high * (ends[1] if yes else SCALE - ends[0]))
        if high:
            found[choice] = low, high
    return found


def up(product: int) -> int:
    return -(-product >> BITS)


def law(table: Table, rules: Sequence[Rule]) -> dict[tuple[int, ...], Ends]:
    """Enclose the probability of each output: for every group the round that showed it, or 0."""
    states = {STATE: (SCALE, SCALE)}
    for number, rule in enumerate(rules, 1):
        after: dict[tuple[int, ...], Ends] = {}
        for state, (low, high) in states.items():
            open_groups = {g for g in range(GROUPS) if not state[g]}
            left = [unit & open_groups for unit in table]
            counts = tuple(sum(rule.weights[len(u)] for u in left if g in u) for g in range(GROUPS))
            for choice, ends in one_round(rule, counts).items():
                new = tuple(number if yes else old for yes, old in zip(choice, state, strict=True))
                before = after.get(new, (0, 0))
                after[new] = before[0] + (low * ends[0] >> BITS), before[1] + up(high * ends[1])
        states = after
    return states


def worst(rules: Sequence[Rule], *points: str) -> list[Fraction]:
    """The largest delta over all pairs of neighbours, at each of these epsilons."""
    laws: dict[Table, Law] = {table: dict(law(table, rules)) for table in tables()}
    return [worst_excess(laws, Fraction(point)) / SCALE for point in points]


def shown_alone(rules: Sequence[Rule]) -> Fraction:
    """The largest probability, over its groups, that anything of a unit alone in the table is shown."""
    return 1 - Fraction(min(law((unit,), rules)[STATE][0] for unit in EVERY_UNIT), SCALE)


def rules(rounds: Sequence[Round]) -> list[Rule]:
    return [Rule.of(one) for one in rounds]


def events(rounds: Sequence[Round]) -> list[DiscreteGaussian | Selection]:
    return [event for one in rounds for event in one.events]


BUDGETS = [
    ("1", "0.2", ("1/4", "3/4")),
    ("3", "0.1", ("1",)),
    ("4", "0.1", ("1/3", "2/3")),
    ("2", "0.3", ("0.1", "0.2", "0.7")),
]


@pytest.mark.parametrize(("epsilon", "delta", "shares"), BUDGETS)
def test_no_two_small_tables_are_further_apart_than_claimed(
    epsilon: str, delta: str, shares: tuple[str, ...]
) -> None:
    rounds = fitted(epsilon=epsilon, delta=delta, shares=shares, max_keys=GROUPS)
    points = (epsilon, "0.1", "1", "5")
    found = worst(rules(rounds), *points)
    assert found[0] <= Fraction(delta)
    account = accounting.account(events(rounds))
    for point, distance in zip(points, found, strict=True):
        assert distance <= Fraction(account.delta(epsilon=point)) * (1 + BLUR)


@pytest.mark.parametrize(("epsilon", "delta", "shares"), BUDGETS)
def test_a_unit_alone_is_shown_as_often_as_the_thresholds_allow(
    epsilon: str, delta: str, shares: tuple[str, ...]
) -> None:
    rounds = fitted(epsilon=epsilon, delta=delta, shares=shares, max_keys=GROUPS)
    shown = shown_alone(rules(rounds))
    assert shown <= Fraction(delta) / 2
    assert Fraction(9, 10) * any_of(rounds) < shown <= any_of(rounds) * (1 + BLUR)
    first = shown_alone(rules(rounds[:1]))
    assert first >= rounds[0].threshold.delta * (1 - Fraction(1, 10**6)), "the mass is not used"


def wrong(rounds: Sequence[Round], twin: str) -> list[Rule]:
    """The rules with one mistake in them."""
    sound = rules(rounds)
    match twin:
        case "a unit counts in full in every group":
            return [replace(rule, weights=(ONE,) * (GROUPS + 1)) for rule in sound]
        case "half the noise":
            return [replace(rule, sigma=rule.sigma / 2) for rule in sound]
        case "a threshold that is one unit too low":
            return [replace(rule, least=rule.least - ONE) for rule in sound]
        case _:
            raise AssertionError(twin)


@pytest.mark.parametrize(
    "twin",
    ["a unit counts in full in every group", "half the noise", "a threshold that is one unit too low"],
)
@pytest.mark.parametrize(("epsilon", "delta", "shares"), BUDGETS)
def test_wrong_twins_are_further_apart_than_claimed(
    epsilon: str, delta: str, shares: tuple[str, ...], twin: str
) -> None:
    rounds = fitted(epsilon=epsilon, delta=delta, shares=shares, max_keys=GROUPS)
    assert worst(wrong(rounds, twin), epsilon)[0] > Fraction(delta)


@pytest.mark.parametrize(("epsilon", "delta", "shares"), [BUDGETS[0], BUDGETS[2]])
def test_a_mass_that_is_not_split_among_rounds_or_groups_is_exceeded(
    epsilon: str, delta: str, shares: tuple[str, ...]
) -> None:
    rounds = fitted(epsilon=epsilon, delta=delta, shares=shares, max_keys=GROUPS)
    mass = Fraction(delta) / 2
    each_the_whole = [
        replace(Rule.of(one), least=least_threshold(noise_of(one), one.weights[1:], delta=mass).least)
        for one in rounds
    ]
    assert shown_alone(each_the_whole) > mass * Fraction(3, 2)
    one_group_only = [
        replace(Rule.of(one), least=least_threshold(noise_of(one), [ONE], delta=one.threshold.delta).least)
        for one in fitted(epsilon=1, delta="0.2", shares=("1/4", "3/4"), max_keys=GROUPS)
    ]
    assert shown_alone(one_group_only) > Fraction(1, 10)


def noise_of(one: Round) -> NormalTail:
    return NormalTail(one.noise.sigma)


def any_of(rounds: Sequence[Round]) -> Fraction:
    return 1 - math.prod((1 - one.threshold.delta for one in rounds), start=Fraction(1))


# The schedule.


def test_sigmas_share_the_squared_budget_and_masses_share_the_risk() -> None:
    shares = [Fraction(64, 100) * share for share in SHARES]
    rounds = schedule(multiplier="5.3", mass="4e-9", shares=shares, max_keys=100)
    for one, share in zip(rounds, shares, strict=True):
        exact = MP.mpf(53) / 10 * ONE / MP.sqrt(MP.mpf(share.numerator) / share.denominator)
        assert exact <= one.noise.sigma < exact + 1
        part = Fraction(4, 10**9) * share / sum(shares)
        assert part * (1 - Fraction(1, 10**5)) < one.threshold.delta <= part
    spent = sum(Fraction(ONE) ** 2 / one.noise.sigma**2 for one in rounds)
    assert spent <= sum(shares) / Fraction("5.3") ** 2
    assert any_of(rounds) <= Fraction(4, 10**9)


def test_events_say_what_each_round_does() -> None:
    (one,) = schedule(multiplier=5, mass="1e-9", shares=[1], max_keys=7)
    noise, selection = one.events
    assert noise == DiscreteGaussian(sigma=5 * ONE, sensitivity=ONE, coordinates=7)
    assert selection == Selection(delta=one.threshold.delta, rule="sips")
    assert one.people == Fraction(one.threshold.least, ONE)


@pytest.mark.parametrize("max_keys", [1, 2, 1000])
def test_weights_are_the_largest_that_keep_a_unit_within_its_length(max_keys: int) -> None:
    (one,) = schedule(multiplier=5, mass="1e-9", shares=[1], max_keys=max_keys)
    assert len(one.weights) == max_keys + 1
    for m, weight in enumerate(one.weights[1:], 1):
        assert m * weight**2 <= ONE**2 < m * (weight + 1) ** 2


def test_weights_are_those_that_an_engine_counts_with() -> None:
    (one,) = schedule(multiplier=5, mass="1e-9", shares=[1], max_keys=50)
    counted = Contributions(over="weight", norm="l2", max_groups=1, max_keys=50, one=ONE)
    assert list(one.weights) == weight_table(counted)


def test_one_group_a_unit_is_half_kept_at_the_known_number() -> None:
    (one,) = fitted(epsilon=1, delta="1e-8", shares=[1], max_keys=1)
    sigma, z = gaussian_sigma(1, "5e-9"), normal_quantile("5e-9")
    assert math.isclose(one.people, 1 + sigma * z, rel_tol=1e-5)
    assert math.isclose(one.people, 30.9, abs_tol=0.1)


def gaussian_sigma(epsilon: int, delta: str) -> Any:
    """The analytic Gaussian mechanism: the least sigma, by bisection in 600 bits."""

    def spent(sigma: Any) -> Any:
        a, b = 1 / (2 * sigma), epsilon * sigma
        return MP.ncdf(a - b) - MP.exp(epsilon) * MP.ncdf(-a - b)

    low, high = MP.mpf("0.1"), MP.mpf(100)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if spent(middle) > MP.mpf(delta) else (low, middle)
    return high


def normal_quantile(tail: str) -> Any:
    low, high = MP.mpf(0), MP.mpf(40)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if MP.ncdf(-middle) > MP.mpf(tail) else (low, middle)
    return high


@pytest.mark.parametrize("shares", [("1",), ("0.03", "0.12", "0.85")])
def test_a_fitted_schedule_is_proved_and_less_is_not(shares: tuple[str, ...]) -> None:
    done = events(fitted(epsilon=1, delta="1e-8", shares=shares, max_keys=100))
    assert accounting.within(done, epsilon=1, delta="1e-8")
    assert not accounting.within(done, epsilon="0.999", delta="1e-8")
    assert not accounting.within(done, epsilon=1, delta="9.9e-9")


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"multiplier": 0}, "multiplier"),
        ({"multiplier": "nan"}, "multiplier"),
        ({"multiplier": 10**12}, "multiplier"),
        ({"mass": 0}, "mass"),
        ({"mass": 1}, "mass"),
        ({"shares": []}, "shares"),
        ({"shares": ["0.5", "0.6"]}, "shares"),
        ({"shares": [1, 0]}, "shares"),
        ({"shares": [1, -1]}, "shares"),
        ({"max_keys": 0}, "max_keys"),
        ({"max_keys": 2**20 + 1}, "max_keys"),
    ],
)
def test_what_makes_no_schedule_is_refused_by_name(wrong: dict[str, Any], named: str) -> None:
    right = {"multiplier": 5, "mass": "1e-9", "shares": [1], "max_keys": 10}
    with pytest.raises(ParameterError) as caught:
        schedule(**{**right, **wrong})
    assert caught.value.argument == named


@pytest.mark.parametrize(("wrong", "named"), [({"epsilon": 0}, "epsilon"), ({"delta": 0}, "delta")])
def test_a_budget_of_nothing_is_refused_by_name(wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(ParameterError) as caught:
        fitted(**{"epsilon": 1, "delta": "1e-8", "shares": [1], "max_keys": 10, **wrong})
    assert caught.value.argument == named


# The decision.


class Silent:
    """Noise that is always the same."""

    def __init__(self, value: int) -> None:
        self.value = value

    def sample(self, n: int, *, bits: Bits) -> NDArray[np.int64]:
        return np.full(n, self.value, np.int64)


SEVEN = SeededBits(7, insecure=True)


def round_with(least: int, sigma: int = 5 * ONE) -> Round:
    noise = DiscreteGaussian(sigma=sigma, sensitivity=ONE)
    return Round((ONE, ONE), noise, Threshold(least, Fraction(1, 10**9)))


def test_exactly_the_threshold_is_kept_and_one_step_less_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sips, "_sampler", lambda sigma: Silent(-3))
    counts = np.array([1002, 1003, 1004, 2**63 - 1, 0, -5], np.int64)
    assert round_with(1000).keep(counts, bits=SEVEN).tolist() == [False, True, True, True, False, False]


def test_no_sum_leaves_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sips, "_sampler", lambda sigma: Silent(2**62 - 1))
    counts = np.array([1, 2**62, 2**63 - 1], np.int64)
    assert round_with(2**62).keep(counts, bits=SEVEN).all()


def test_a_group_that_nobody_is_in_is_never_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sips, "_sampler", lambda sigma: Silent(10**9))
    assert round_with(-5).keep(np.array([0, 1], np.int64), bits=SEVEN).tolist() == [False, True]


def test_counts_are_left_as_they_were() -> None:
    counts = np.array([5, 2**63 - 1], np.int64)
    round_with(1000).keep(counts, bits=SEVEN)
    assert counts.tolist() == [5, 2**63 - 1]


def p_value(kept: NDArray[np.int64], tries: int, chances: Sequence[float]) -> float:
    statistic = sum((k - tries * p) ** 2 / (tries * p * (1 - p)) for k, p in zip(kept, chances, strict=True))
    return float(chdtrc(len(chances), statistic))


def test_groups_are_kept_with_their_chances_and_not_with_those_of_less_noise() -> None:
    one, tries = round_with(20 * ONE), 60_000
    counts = np.arange(12, 30, 2) * ONE
    drawn = one.keep(np.repeat(counts, tries), bits=SeededBits(21, insecure=True))
    kept = drawn.reshape(-1, tries).sum(axis=1)

    def chances(sigma: float) -> list[float]:
        return [float(MP.ncdf((int(count) / ONE - 20) / sigma)) for count in counts]

    assert p_value(kept, tries, chances(5)) > ALPHA
    assert p_value(kept, tries, chances(4.8)) < ALPHA


def test_chances_are_enclosed() -> None:
    one = round_with(20 * ONE)
    for count in (ONE, 12 * ONE + 5, 20 * ONE, 40 * ONE):
        low, high = one.chance(count)
        expected = MP.ncdf((MP.mpf(count - 20 * ONE) + 0.5) / (5 * ONE))
        assert low <= high
        for end in (low, high):
            assert abs(MP.mpf(end.numerator) / end.denominator - expected) < expected / 10**10


def test_arrays_of_any_length_keep_their_shape() -> None:
    one = round_with(20 * ONE)
    assert one.keep(np.empty(0, np.int64), bits=SEVEN).shape == (0,)
    many = np.resize(np.array([0, 100 * ONE]), 150_001)
    assert (one.keep(many, bits=SEVEN) == (many > 0)).all()
