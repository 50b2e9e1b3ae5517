"""Truncated geometric selection: exact enumeration, the paper's closed form, known counts, the sampler."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import chdtrc
from selection_universe import GROUPS, MP, UNITS, Law, Table, floor_exp, tables, worst_excess

from deniable import accounting
from deniable.bits import SeededBits
from deniable.errors import ParameterError
from deniable.events import Selection
from deniable.selection.geometric import TruncatedGeometric

ALPHA = 1e-9
Chance = Callable[[int], Fraction]


def law_of_counts(counts: tuple[int, ...], chance: Chance) -> dict[tuple[int, ...], Fraction]:
    """The probability of each set of shown groups."""
    found = {}
    for shown in product((0, 1), repeat=GROUPS):
        parts = [chance(n) if yes else 1 - chance(n) for n, yes in zip(counts, shown, strict=True)]
        found[shown] = math.prod(parts, start=Fraction(1))
    return found


def counts_of(table: Table, most: int) -> dict[tuple[int, ...], Fraction]:
    """The law of the counts when each unit keeps `most` of its groups, all choices equally likely."""
    law = {(0,) * GROUPS: Fraction(1)}
    for unit in table:
        choices = list(combinations(sorted(unit), min(most, len(unit))))
        after: dict[tuple[int, ...], Fraction] = {}
        for counts, p in law.items():
            for kept in choices:
                more = tuple(n + (g in kept) for g, n in enumerate(counts))
                after[more] = after.get(more, Fraction(0)) + p / len(choices)
        law = after
    return law


def laws(chance: Chance, most: int) -> dict[Table, Law]:
    """The exact law of what is shown, for every table of the small universe."""
    shown = cache(lambda counts: law_of_counts(counts, chance))
    found: dict[Table, Law] = {}
    for table in tables():
        law: dict[tuple[int, ...], Fraction] = {}
        for counts, p in counts_of(table, most).items():
            for output, q in shown(counts).items():
                law[output] = law.get(output, Fraction(0)) + p * q
        found[table] = {output: (p, p) for output, p in law.items()}
    return found


BUDGETS = [("1", "0.1"), ("0.3", "0.02"), ("2", "1e-8"), ("ln 3", "0.25")]


@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_no_two_small_tables_are_further_apart_than_claimed(epsilon: str, delta: str, groups: int) -> None:
    rule = TruncatedGeometric(epsilon=epsilon, delta=delta, max_groups=groups)
    worst = worst_excess(laws(rule.chance, groups), rule.epsilon)
    assert worst <= rule.delta
    assert worst >= rule.delta * (1 - Fraction(1, 10**20)), "less is shown than delta allows"


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_one_unit_too_many_breaks_the_claim(groups: int) -> None:
    rule = TruncatedGeometric(epsilon=1, delta="0.1", max_groups=groups)
    off_by_one: Chance = lambda n: rule.chance(n + 1) if n else Fraction(0)  # noqa: E731
    assert worst_excess(laws(off_by_one, groups), rule.epsilon) > rule.delta


@pytest.mark.parametrize("groups", [2, 3])
def test_a_delta_that_is_not_divided_breaks_the_claim(groups: int) -> None:
    whole_delta = TruncatedGeometric(epsilon=Fraction(1, groups), delta="0.1", max_groups=1)
    assert worst_excess(laws(whole_delta.chance, groups), Fraction(1)) > Fraction(1, 10)


@pytest.mark.parametrize("groups", [2, 3])
def test_an_epsilon_that_is_not_divided_breaks_the_claim(groups: int) -> None:
    delta = Fraction(1, 50)
    each = TruncatedGeometric(epsilon=1, delta=delta / groups, max_groups=1)
    assert worst_excess(laws(each.chance, groups), Fraction(1)) > 3 * delta


def test_units_in_more_groups_than_they_may_be_break_the_claim() -> None:
    rule = TruncatedGeometric(epsilon=1, delta="0.1", max_groups=1)
    assert worst_excess(laws(rule.chance, 2), rule.epsilon) > rule.delta


def test_the_universe_is_complete() -> None:
    assert len(tables()) == sum(math.comb(6 + size, size) for size in range(UNITS + 1))
    assert sum(p for p in counts_of(tables()[-1], 2).values()) == 1


@pytest.mark.parametrize(
    ("epsilon", "delta", "groups"), [("1", "1e-8", 3), ("0.05", "1e-6", 1), ("20", "1e-300", 7)]
)
def test_every_step_keeps_both_promises_exactly_and_one_grid_step_more_breaks_one(
    epsilon: str, delta: str, groups: int
) -> None:
    rule = TruncatedGeometric(epsilon=epsilon, delta=delta, max_groups=groups)
    factor, mass = floor_exp(rule.epsilon / groups), rule.chance(1)
    assert 1 - (1 - mass) ** groups <= rule.delta
    step = Fraction(2, max(rule.chance(n).denominator for n in range(rule.certain)))
    for n in range(1, rule.certain + 1):
        p, q = rule.chance(n - 1), rule.chance(n)
        assert q <= factor * p + mass
        assert 1 - p <= factor * (1 - q) + mass
        more = q + step
        assert q == 1 or more > factor * p + mass or 1 - p > factor * (1 - more) + mass
    assert rule.chance(0) == 0
    assert rule.chance(rule.certain) == rule.chance(10**30) == 1 > rule.chance(rule.certain - 1)


def published_chance(n: int, epsilon: Any, delta: Any) -> Any:
    """Theorem 1 of Desfontaines, Voss, Gipson, Mandayam 2022."""
    e = MP.exp(epsilon)
    first = 1 + int(MP.floor(MP.log((e + 2 * delta - 1) / ((e + 1) * delta)) / epsilon))

    def rising(m: int) -> Any:
        return delta * (MP.exp(m * epsilon) - 1) / (e - 1)

    if n <= first:
        return rising(n)
    last = first + int(MP.floor(MP.log(1 + (e - 1) / delta * (1 - rising(first))) / epsilon))
    if n > last:
        return MP.mpf(1)
    back = MP.exp(-(n - first) * epsilon)
    return (1 - back) * (1 + delta / (e - 1)) + back * rising(first)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1", "1e-8"), ("0.1", "1e-5"), ("3", "1e-12"), ("0.02", "0.01")]
)
def test_chances_are_those_of_the_papers_closed_form(epsilon: str, delta: str) -> None:
    rule = TruncatedGeometric(epsilon=epsilon, delta=delta, max_groups=1)
    for n in range(rule.certain + 2):
        expected = published_chance(n, MP.mpf(epsilon), MP.mpf(delta))
        got = MP.mpf(rule.chance(n).numerator) / rule.chance(n).denominator
        assert got <= expected
        assert abs(got - expected) <= expected * MP.mpf(10) ** -20


@pytest.mark.parametrize(("groups", "half"), [(1, 19), (3, 54), (10, 178), (100, 1774)])
def test_half_of_the_groups_of_this_size_are_shown(groups: int, half: int) -> None:
    rule = TruncatedGeometric(epsilon=1, delta="1e-8", max_groups=groups)
    assert rule.half == half
    assert rule.chance(half - 1) < Fraction(1, 2) <= rule.chance(half)


def test_the_share_of_delta_for_each_group_is_the_largest_there_is() -> None:
    delta = Fraction(1, 10**8)
    each = TruncatedGeometric(epsilon=1, delta=delta, max_groups=100).chance(1)
    known = 1 - (1 - MP.mpf(10) ** -8) ** (MP.mpf(1) / 100)
    assert MP.mpf(each.numerator) / each.denominator <= known
    assert MP.mpf(each.numerator) / each.denominator > known * (1 - MP.mpf(10) ** -23)


def test_the_event_costs_exactly_what_was_asked() -> None:
    event = TruncatedGeometric(epsilon=1, delta="1e-8", max_groups=3).event
    assert event == Selection(epsilon=1, delta="1e-8", rule="truncated-geometric")
    assert accounting.within(event, epsilon=1, delta="1e-8")
    assert not accounting.within(event, epsilon=1, delta="9.99e-9")
    assert not accounting.within(event, epsilon="0.999", delta="1e-8")


@pytest.mark.parametrize(
    ("epsilon", "delta", "groups", "certain"),
    [("1e6", "1e-8", 1, 3), ("1e6", "0.6", 1, 2), ("1e-9", "0.25", 1, 4), ("1e-60", "0.5", 1, 2)],
)
def test_extreme_budgets_have_the_chances_of_their_limits(
    epsilon: str, delta: str, groups: int, certain: int
) -> None:
    rule = TruncatedGeometric(epsilon=epsilon, delta=delta, max_groups=groups)
    assert rule.certain == certain
    assert math.isclose(rule.chance(1), Fraction(delta), rel_tol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"epsilon": 0, "delta": "1e-8", "max_groups": 1}, "epsilon"),
        ({"epsilon": "nan", "delta": "1e-8", "max_groups": 1}, "epsilon"),
        ({"epsilon": 1, "delta": 0, "max_groups": 1}, "delta"),
        ({"epsilon": 1, "delta": 1, "max_groups": 1}, "delta"),
        ({"epsilon": 1, "delta": "1e-8", "max_groups": 0}, "max_groups"),
        ({"epsilon": 1, "delta": "1e-8", "max_groups": 2.5}, "max_groups"),
        ({"epsilon": "1e-5", "delta": "1e-8", "max_groups": 10}, "max_groups"),
    ],
)
def test_what_cannot_be_met_is_refused_by_name(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(ParameterError) as caught:
        TruncatedGeometric(**arguments)
    assert caught.value.argument == named


# The sampler.


def p_value(rule: TruncatedGeometric, kept: NDArray[np.int64], tries: int, chance: Chance) -> float:
    """Chi-square over all counts whose chance is neither near 0 nor near 1; those must be exact."""
    statistic, cells = 0.0, 0
    for n, shown in enumerate(kept):
        p = float(chance(n))
        if min(p, 1 - p) * tries >= 25:
            statistic += (shown - tries * p) ** 2 / (tries * p * (1 - p))
            cells += 1
    assert cells >= 4
    return float(chdtrc(cells, statistic))


def test_groups_are_shown_with_their_chances_and_not_with_those_of_one_unit_more() -> None:
    rule, tries = TruncatedGeometric(epsilon="0.7", delta="1e-3", max_groups=2), 40_000
    counts = np.repeat(np.arange(rule.certain + 3), tries)
    kept = rule.keep(counts, bits=SeededBits(11, insecure=True)).reshape(-1, tries).sum(axis=1)
    assert kept[0] == 0
    assert (kept[rule.certain :] == tries).all()
    assert p_value(rule, kept, tries, rule.chance) > ALPHA
    assert p_value(rule, kept, tries, lambda n: rule.chance(n + 1)) < ALPHA


def test_groups_are_shown_independently() -> None:
    rule = TruncatedGeometric(epsilon=1, delta="0.1", max_groups=1)
    kept = rule.keep(np.full(400_000, 2, np.int64), bits=SeededBits(12, insecure=True))
    together = int((kept[0::2] & kept[1::2]).sum())
    p, tries = float(rule.chance(2)) ** 2, 200_000
    assert float(chdtrc(1, (together - tries * p) ** 2 / (tries * p * (1 - p)))) > ALPHA
    assert float(chdtrc(1, (together - tries * p**0.5) ** 2 / (tries * p))) < ALPHA


class Spelled:
    """Bits that a test wrote down: the first 16 of each group, then the rest where that is asked for."""

    def __init__(self, first: Iterable[int], rest: Iterable[int]) -> None:
        self.first, self.rest, self.asked = list(first), list(rest), 0

    def fill(self, buffer: NDArray[Any]) -> None:
        raise NotImplementedError

    def uint16(self, n: int) -> NDArray[np.uint16]:
        return np.array([self.first.pop(0) for _ in range(n)], np.uint16)

    def uint32(self, n: int) -> NDArray[np.uint32]:
        raise NotImplementedError

    def uint64(self, n: int) -> NDArray[np.uint64]:
        raise NotImplementedError

    def integer(self, bits: int) -> int:
        self.asked = bits
        return self.rest.pop(0)


def test_ties_are_decided_to_the_last_bit() -> None:
    rule = TruncatedGeometric(epsilon=1, delta="1e-8", max_groups=3)
    n = rule.half
    grid = max(rule.chance(count).denominator for count in range(rule.certain))
    rest = grid.bit_length() - 1 - 16
    target = int(rule.chance(n) * grid)
    first, low = target >> rest, target % 2**rest
    bits = Spelled([first - 1, first + 1, first, first, first], [low - 1, low, low + 1])
    kept = rule.keep(np.full(5, n, np.int64), bits=bits)
    assert kept.tolist() == [True, False, True, False, False]
    assert bits.asked == rest


def test_certain_groups_and_empty_ones_are_decided_whatever_the_bits_are() -> None:
    rule = TruncatedGeometric(epsilon=1, delta="1e-8", max_groups=3)
    most = 2**93 - 1
    counts = np.array([0, 0, 0, -1, -(2**63), rule.certain, rule.certain, 2**63 - 1], np.int64)
    bits = Spelled([0, 0, 1, 0, 0, 65535, 65535, 65535], [0, most, 0, 0, 0, most, most])
    assert rule.keep(counts, bits=bits).tolist() == [False] * 5 + [True] * 3


def test_the_same_number_of_bits_is_drawn_whatever_the_counts_are() -> None:
    rule = TruncatedGeometric(epsilon=1, delta="1e-8", max_groups=3)
    for n in (0, 1, rule.half, rule.certain, 10**12):
        bits = Spelled([17], [])
        rule.keep(np.array([n], np.int64), bits=bits)
        assert bits.first == []


def test_an_empty_array_and_one_longer_than_a_piece_keep_their_shapes() -> None:
    rule = TruncatedGeometric(epsilon=1, delta="1e-8", max_groups=1)
    bits = SeededBits(13, insecure=True)
    assert rule.keep(np.empty(0, np.int64), bits=bits).shape == (0,)
    many = np.resize(np.array([0, 10**6]), 150_001)
    assert (rule.keep(many, bits=bits) == (many > 0)).all()


def test_a_rule_shows_its_budget() -> None:
    rule = TruncatedGeometric(epsilon=1, delta="1e-8", max_groups=3)
    assert repr(rule) == "TruncatedGeometric(epsilon=1, delta=1e-8, max_groups=3)"
