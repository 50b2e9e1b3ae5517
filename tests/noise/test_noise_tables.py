"""A table draws exactly the law it was built from, whatever bits come."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from noise_oracles import ALPHA, WORD, ScriptedBits, chi_square, words

from deniable.bits import SeededBits, SystemBits
from deniable.noise.tables import Table


class Listed:
    """A law with rational probabilities, enclosed exactly or, with `slack`, badly and unevenly."""

    def __init__(self, masses: list[Fraction], slack: int = 0) -> None:
        assert sum(masses) == 1
        self.masses = masses
        self.slack = slack

    def cumulative(self, precision: int) -> Iterator[tuple[int, int]]:
        total = Fraction(0)
        for atom, mass in enumerate(self.masses):
            total += mass
            slack = self.slack >> 7 * (atom % 3)
            scaled = total * 2**precision
            low, high = scaled.numerator // scaled.denominator, -(-scaled.numerator // scaled.denominator)
            last = atom == len(self.masses) - 1
            yield max(0, low - slack), 2**precision if last else min(2**precision, high + slack)

    def value(self, atom: int) -> int:
        return 10 * atom - 7


class Halves:
    """P(atom k) = 2**-(k + 1) without end; atoms from 100 on stand for numbers beyond 16 bits."""

    def cumulative(self, precision: int) -> Iterator[tuple[int, int]]:
        k = 1
        while True:
            low = 2**precision - (2 ** (precision - k) if k <= precision else 1)
            yield low, low + (k > precision)
            k += 1

    def value(self, atom: int) -> int:
        return atom if atom < 100 else 10**6 + atom


def inverse(masses: list[Fraction], word: int) -> int:
    """The atom of U = word/2**64, by definition: the number of k with F(k) <= U."""
    total, atom = Fraction(0), 0
    for mass in masses:
        total += mass
        atom += total <= Fraction(word, WORD)
    return atom


MASSES = {
    "a third": [Fraction(1, 3), Fraction(2, 3)],
    "one atom": [Fraction(1)],
    "an atom of nothing": [Fraction(1, 2), Fraction(0), Fraction(1, 2)],
    "three in one bucket": [Fraction(x, 10**9) for x in (142_857_143, 1000, 1, 857_141_856)],
    "hundreds": [Fraction(k, 200 * 201 // 2) for k in range(1, 201)],
    "rare at the end": [1 - Fraction(1, 2**70), Fraction(1, 2**70)],
}


@pytest.mark.parametrize("name", MASSES)
def test_words_on_both_sides_of_every_threshold_mean_the_right_atoms(name: str) -> None:
    masses = MASSES[name]
    table = Table(Listed(masses))
    for threshold in np.unique(table.low).tolist():
        for word in {max(0, threshold - 1), min(WORD - 1, threshold + 1)}:
            ties = sum(int(low) <= word <= int(high) for low, high in zip(table.low, table.high, strict=True))
            bits = words([word], more=[0] if ties or word == 0 else [])
            atom = (int(table.sample(1, bits)[0]) + 7) // 10
            assert atom == inverse(masses, word)


@pytest.mark.parametrize("name", MASSES)
def test_every_settled_bucket_means_one_atom_from_end_to_end(name: str) -> None:
    masses = MASSES[name]
    table = Table(Listed(masses))
    settled = np.flatnonzero(table._buckets != -(1 << 15))
    for bucket in settled[:: max(1, len(settled) // 400)].tolist():
        value = (int(table._buckets[bucket]) + 7) // 10
        assert value == inverse(masses, bucket << 48) == inverse(masses, (bucket + 1 << 48) - 1)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_tie_is_decided_by_the_bits_that_follow(depth: int) -> None:
    """U agrees with F(0) = 1/3 in its first 64 * depth bits; the next 64 bits put it below or above."""
    table = Table(Listed([Fraction(1, 3), Fraction(2, 3)]))
    third = WORD // 3
    for last, value in ((third - 1, -7), (third + 1, 3), (0, -7), (WORD - 1, 3)):
        bits = words([third], more=[third] * (depth - 1) + [last])
        assert table.sample(1, bits).tolist() == [value]
        assert bits.integers == []


def test_no_bit_beyond_the_first_sixteen_is_drawn_for_a_settled_bucket() -> None:
    table = Table(Listed([Fraction(1, 3), Fraction(2, 3)]))
    first = [0, 21844, 21846, 65535]
    assert table.sample(4, ScriptedBits(first=first, second=[0])).tolist() == [-7, -7, 3, 3]


@pytest.mark.parametrize("slack", [1, 2**40, 2**66, 2**90])
def test_bad_enclosures_cost_time_but_never_change_the_law(slack: int) -> None:
    """The same bits mean the same atoms as with exact enclosures, apart from bits drawn to be sure."""
    near = Fraction(1, 2**30)
    masses = [Fraction(1, 5) - near, near, Fraction(1, 7) - near, near, Fraction(23, 35)]
    table = Table(Listed(masses, slack))
    assert np.all(np.diff(table.low.astype(object)) >= 0)
    assert np.all(np.diff(table.high.astype(object)) >= 0)
    draws = np.asarray(table.sample(200_000, SystemBits()))
    observed = np.array([(draws == value).sum() for value in (-7, 13, 33)])
    assert 199_990 <= observed.sum() <= 200_000
    assert chi_square(observed, np.array([1 / 5, 1 / 7, 23 / 35])) > ALPHA
    assert chi_square(observed, np.array([1 / 5 - 0.02, 1 / 7 + 0.02, 23 / 35])) < ALPHA


def test_atoms_too_rare_to_be_tabled_are_reached_and_may_be_wider_than_sixteen_bits() -> None:
    table = Table(Halves())
    assert len(table.low) == 64
    ones = WORD - 1
    tabled = table.sample(3, ScriptedBits(first=[0, 65535, 49152], second=[1 << 63 | 1 << 20, ones]))
    assert tabled.dtype == np.int16
    assert tabled.tolist() == [0, 16 + 1, 2]
    for integers, ones_in_front in (([WORD - 4], 126), ([ones, 0], 128), ([ones, ones, 1 << 63], 193)):
        wide = table.sample(2, ScriptedBits(first=[0, 65535], second=[ones], integers=integers))
        assert wide.dtype == np.int64
        assert wide.tolist() == [0, 10**6 + ones_in_front]


def test_a_table_with_halves_has_the_right_frequencies() -> None:
    draws = Table(Halves()).sample(1 << 20, SeededBits(3, insecure=True))
    observed = np.bincount(draws, minlength=20)[:20]
    observed = np.append(observed, (1 << 20) - observed.sum())
    assert chi_square(observed, np.append(0.5 ** np.arange(1, 21), 0.5**20)) > ALPHA
    assert chi_square(observed, np.append(0.51 ** np.arange(1, 21), 0)) < ALPHA
