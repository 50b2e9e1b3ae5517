"""Fields, vectors as numbers, and sums over hyperplanes, against arithmetic written out here."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from deniable.local.frequency.fields import exists, field
from deniable.local.frequency.hashing import folded
from deniable.local.frequency.planes import point_sums
from deniable.local.frequency.projective import orthogonal
from deniable.local.frequency.sizes import above, near, root
from deniable.local.frequency.spaces import Space

SPACES = [(2, 1), (2, 4), (3, 3), (4, 3), (5, 2), (8, 2), (16, 2), (17, 2), (101, 1), (257, 2), (7, 5)]


@pytest.mark.parametrize("q", [2, 3, 4, 5, 7, 8, 16, 32])
def test_a_field_is_a_field(q: int) -> None:
    one = field(q)
    every = np.arange(q)
    a, b, c = (grid.ravel() for grid in np.meshgrid(every, every, every))
    assert (one.add(a, b) == one.add(b, a)).all()
    assert (one.multiply(a, b) == one.multiply(b, a)).all()
    assert (one.add(one.add(a, b), c) == one.add(a, one.add(b, c))).all()
    assert (one.multiply(one.multiply(a, b), c) == one.multiply(a, one.multiply(b, c))).all()
    assert (one.multiply(a, one.add(b, c)) == one.add(one.multiply(a, b), one.multiply(a, c))).all()
    assert (one.add(one.subtract(a, b), b) == a).all()
    assert (one.multiply(every[1:], one.inverses[1:]) == 1).all()
    assert one.inverses[0] == 0


def test_the_field_of_four_elements_is_not_the_integers_modulo_four() -> None:
    assert field(4).multiply(np.array([2, 2, 3]), np.array([2, 3, 3])).tolist() == [3, 1, 2]
    assert field(256).multiply(np.array([0x80]), np.array([2])).tolist() == [0x1B]  # as in AES


def test_sizes_of_fields() -> None:
    known = [q for q in range(60) if exists(q)]
    assert known == [2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 19, 23, 29, 31, 32, 37, 41, 43, 47, 53, 59]
    assert not exists(512)
    assert near(4) == [2, 3, 4, 5, 7]
    assert next(above(10_000)) == 10_007
    assert [root(items, 2) for items in (4, 5, 9, 10, 10_000, 10_001)] == [2, 3, 3, 4, 100, 101]


def digits(number: int, q: int, dimension: int) -> list[int]:
    return [number // q**place % q for place in range(dimension)]


def inner(a: int, b: int, q: int, dimension: int) -> int:
    """The inner product, one digit after the other."""
    total = 0
    for x, y in zip(digits(a, q, dimension), digits(b, q, dimension), strict=True):
        term = int(field(q).multiply(np.array([x]), np.array([y]))[0])
        total = total ^ term if q & (q - 1) == 0 else (total + term) % q
    return total


@pytest.mark.parametrize(("q", "dimension"), SPACES)
def test_inner_products_and_lines_by_digits(q: int, dimension: int) -> None:
    space = Space(field(q), dimension)
    rng = np.random.default_rng(q)
    a, b = rng.integers(0, space.size, (2, 40))
    expected = [inner(int(x), int(y), q, dimension) for x, y in zip(a, b, strict=True)]
    assert space.inner(a, b).tolist() == expected
    assert space.lines == len(space.named) == (q**dimension - 1) // (q - 1)
    assert (space.line(space.named) == np.arange(space.lines)).all()
    vectors, factor = rng.integers(1, space.size, 60), rng.integers(1, q, 60)
    assert (space.line(space.scaled(factor, vectors)) == space.line(vectors)).all()
    for number in space.named[:: max(1, space.lines // 50)].tolist():
        assert [digit for digit in digits(number, q, dimension) if digit][-1] == 1
    if space.size < 300:
        assert len(np.unique(space.line(np.arange(1, space.size)), return_counts=True)[0]) == space.lines


@pytest.mark.parametrize(("q", "dimension"), [(2, 4), (3, 3), (4, 3), (5, 2), (16, 2), (101, 1)])
def test_sums_over_hyperplanes_by_brute_force(q: int, dimension: int) -> None:
    space = Space(field(q), dimension)
    rng = np.random.default_rng(q)
    weights = rng.integers(0, 1000, (space.lines, q))
    expected = [
        sum(int(weights[u, v]) for u, v in enumerate(space.inner(space.named, np.full(space.lines, x))))
        for x in range(space.size)
    ]
    assert point_sums(space, weights).tolist() == expected
    counts = rng.integers(0, 1000, (space.size, q))
    plain = [
        sum(int(counts[u, inner(u, x, q, dimension)]) for u in range(1, space.size))
        for x in range(0, space.size, max(1, space.size // 5))
    ]
    sums = point_sums(space, folded(space, counts))
    assert sums[:: max(1, space.size // 5)].tolist() == plain


@pytest.mark.parametrize(
    ("q", "dimension"), [(2, 4), (3, 3), (4, 3), (4, 2), (5, 4), (7, 3), (11, 2), (257, 2)]
)
def test_sums_over_orthogonal_points_by_brute_force(q: int, dimension: int) -> None:
    space = Space(field(q), dimension)
    counts = np.random.default_rng(q).integers(0, 1000, space.lines)
    found = orthogonal(space, counts)
    for x in range(0, space.lines, max(1, space.lines // 60)):
        zero = space.inner(np.full(space.lines, space.named[x]), space.named) == 0
        assert found[x] == counts[zero].sum()


def test_large_counts_stay_exact() -> None:
    space = Space(field(4), 4)
    counts = np.full(space.lines, 1 << 50, np.int64)
    assert set(orthogonal(space, counts).tolist()) == {21 << 50}


def test_every_pair_of_elements_is_hashed_together_by_one_function_in_g() -> None:
    q, dimension = 4, 3
    space = Space(field(q), dimension)
    functions = np.arange(space.size)
    hashed = [space.inner(functions, np.full(space.size, x)) for x in range(space.size)]
    for a, b in list(product(range(0, 64, 7), range(1, 64, 11))):
        if a != b:
            assert (hashed[a] == hashed[b]).sum() * q == space.size
