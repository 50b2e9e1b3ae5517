"""Every protocol, enumerated in rationals for few items and checked by structure for many."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from frequency_oracles import EVERY, made, supports

from deniable.bits import SeededBits
from deniable.brackets import exponential
from deniable.local.frequency.fields import field
from deniable.local.frequency.odds import coin
from deniable.local.frequency.projective import Projective
from deniable.local.frequency.randomizer import MOST_CELLS
from deniable.local.frequency.spaces import Space
from deniable.local.frequency.subset import Affine, Listed, subset

SMALL = [(2, "1"), (3, "0.5"), (5, "1"), (6, "ln 3"), (7, "3"), (4, "0.01"), (5, "9")]


@pytest.mark.parametrize(
    ("mechanism", "items", "epsilon"),
    [(name, *at) for name in EVERY for at in SMALL if (name, at[1]) != ("olh", "9")],  # 65,536 reports
)
def test_few_items_keep_epsilon_and_are_estimated_without_bias_exactly(
    mechanism: str, items: int, epsilon: str
) -> None:
    one = made(mechanism, items, epsilon)
    laws = [one.law(item) for item in range(items)]
    assert all(sum(law.values()) == 1 for law in laws)
    assert all(law.keys() == laws[0].keys() for law in laws)
    largest = max(max(column) / min(column) for column in ([law[y] for law in laws] for y in laws[0]))
    given = Fraction(epsilon) if epsilon != "ln 3" else None
    most = exponential(given)[0] if given else Fraction(3)
    assert largest == one.ratio <= most
    assert largest > most * (1 - Fraction(1, 10**12))
    seen = {y: supports(one, y) for y in laws[0]}
    for item, law in enumerate(laws):
        for other in range(items):
            mean = sum((p for y, p in law.items() if seen[y][other]), Fraction(0))
            estimate = (mean - one.false) / (one.true - one.false)
            assert estimate == (1 if other == item else 0)


@pytest.mark.parametrize("mechanism", EVERY)
def test_the_stated_variance_is_that_of_the_enumerated_law(mechanism: str) -> None:
    one = made(mechanism, 6, 1)
    scale = one.true - one.false
    variances = []
    for item in (0, 4):
        law = one.law(item)
        shown = sum((p for y, p in law.items() if supports(one, y)[4]), Fraction(0))
        variances.append(shown * (1 - shown) / scale**2)
    absent, present = one.false * (1 - one.false) / scale**2, one.true * (1 - one.true) / scale**2
    assert variances == [absent, present]


@pytest.mark.parametrize("mechanism", EVERY)
@pytest.mark.parametrize("items", [2, 3, 37, 100, 10_000])
@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", "1", "5", "12", "44", "45", "800", "10000", "1e308"])
def test_many_items_keep_epsilon_and_use_it_up(mechanism: str, items: int, epsilon: str) -> None:
    one = made(mechanism, items, epsilon)
    number = Fraction(epsilon)
    assert 0 < one.false < one.true < 1
    assert one.ratio <= exponential(min(number, Fraction(60)))[0]
    if number <= 12:
        assert one.ratio - 1 > (exponential(number)[1] - 1) * (1 - Fraction(1, 10**6))
    elif number > 40:
        assert one.ratio > 1 << 55


@pytest.mark.parametrize("dimension", [1, 2])
def test_affine_sets_are_a_two_design(dimension: int) -> None:
    """Every two points are together in equally many sets: counted over all sets of a real size."""
    one = subset(100, Fraction(1)) if dimension == 1 else subset(10_000, Fraction(1))
    assert isinstance(one, Affine)
    assert one.space.dimension == dimension
    q, points = one.space.field.q, one.space.size
    u, chosen = np.arange(1, points), np.arange(q) < one.size
    together = [int((chosen & np.roll(chosen, gap)).sum()) for gap in range(q)]
    counts = set()
    for x, other in [(0, 1), (1, 2), (3, 97), (17, q - 1), (5, one.items - 1)]:
        a, b = one.space.inner(u, np.full(len(u), x)), one.space.inner(u, np.full(len(u), other))
        counts.add(sum(together[gap] for gap in ((b - a) % q).tolist()))
    size = one.size * points // q
    assert counts == {len(u) * q * size * (size - 1) // (points * (points - 1))}
    given = Fraction(size - 1, points - 1), Fraction(size, points - 1)
    assert one.false == one.true * given[0] + (1 - one.true) * given[1]


@pytest.mark.parametrize(("items", "epsilon"), [(100, 1), (100, 4), (10_000, 1), (10_000, 4)])
def test_two_points_of_a_plane_share_as_many_orthogonal_ones_as_stated(items: int, epsilon: int) -> None:
    one = made("projective", items, epsilon)
    assert isinstance(one, Projective)
    named, q = one.space.named, one.space.field.q
    inside = (q ** (one.space.dimension - 1) - 1) // (q - 1)
    both = (q ** (one.space.dimension - 2) - 1) // (q - 1)
    assert one.coin.inside == inside
    assert one.coin.outside == one.space.lines - inside
    orthogonal = [one.space.inner(np.full(len(named), named[x]), named) == 0 for x in (0, 1, 2, items - 1)]
    assert {int(side.sum()) for side in orthogonal} == {inside}
    assert {int((a & b).sum()) for a, b in combinations(orthogonal, 2)} == {both}
    p = one.true
    assert one.false == p * Fraction(both, inside) + (1 - p) * Fraction(inside - both, one.coin.outside)


@pytest.mark.parametrize(
    ("q", "dimension", "size"), [(5, 1, 2), (7, 1, 3), (8, 1, 3), (4, 2, 1), (4, 2, 2), (3, 2, 1), (2, 3, 1)]
)
def test_affine_sets_keep_epsilon_and_are_estimated_without_bias_exactly(
    q: int, dimension: int, size: int
) -> None:
    points = q**dimension
    one = Affine(points, Space(field(q), dimension), size, coin(Fraction(1), size, q - size))
    laws = [one.law(item) for item in range(points)]
    assert all(sum(law.values()) == 1 for law in laws)
    assert (
        max(max(column) / min(column) for column in ([law[y] for law in laws] for y in laws[0])) == one.ratio
    )
    seen = {y: supports(one, y) for y in laws[0]}
    assert {sum(members) for members in seen.values()} == {size * points // q}
    for item, law in enumerate(laws):
        for other in range(points):
            mean = sum((p for y, p in law.items() if seen[y][other]), Fraction(0))
            assert mean == (one.true if other == item else one.false)


def test_sets_too_many_to_count_are_counted_by_their_points() -> None:
    """5,003 * 5,003 reports: each supports the few x with u x + b among the first elements of the field."""
    one = subset(5000, Fraction(8))
    assert isinstance(one, Affine)
    assert one.cells > MOST_CELLS
    assert 1 < one.size < 32
    payload = one.randomize(np.arange(0, 5000, 100), SeededBits(8, insecure=True))
    found = one.supported(one.tally(payload))
    assert len(one.tally(payload)) == one.space.size
    u, b = payload.astype(np.int64) // 5003, payload.astype(np.int64) % 5003
    items = np.arange(5000)
    expected = sum(((a * items + c) % 5003 < one.size).astype(int) for a, c in zip(u, b, strict=True))
    assert found.tolist() == list(expected)


def test_a_listed_set_gives_no_position_away() -> None:
    """With every item equally likely beforehand, all members of a reported set are so after it."""
    one = subset(10, Fraction(1))
    assert isinstance(one, Listed)
    assert one.size == 3
    laws = [one.law(item) for item in range(10)]
    for report in laws[0]:
        members = [item for item in range(10) if supports(one, report)[item]]
        assert len(members) == 3
        assert len({laws[item][report] for item in members}) == 1
        assert len({laws[item][report] for item in range(10) if item not in members}) == 1
