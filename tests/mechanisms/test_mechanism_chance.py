"""Coins and choices are exact: they decide as 300-bit arithmetic does, whatever bits come."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import accumulate
from math import e

import pytest
from mechanism_oracles import ALPHA, MP, WORD, ListedBits, chi_square, real

from deniable.bits import SeededBits
from deniable.mechanisms.chance import coin, falling, uniform, weighted

COSTS = [3, 0, 1, 1, 40, 0, 7]
RATE = Fraction(1, 3)


def bits() -> SeededBits:
    return SeededBits(11, insecure=True)


def ends(costs: list[int], rate: Fraction) -> list[int]:
    """The words in which F(0), F(1), ... lie: floor(F 2**64)."""
    weights = [MP.exp(-real(rate) * cost) for cost in costs]
    total = MP.fsum(weights)
    return [int(MP.floor(s / total * WORD)) for s in accumulate(weights)][:-1]


def test_a_word_beside_the_end_of_a_coin_is_decided_without_more_bits() -> None:
    for rate in (Fraction(1, 7), Fraction(2), Fraction(30)):
        edge = int(MP.floor(MP.exp(-real(rate)) * WORD))
        assert coin(falling(1, rate), ListedBits([edge - 3])) is True
        assert coin(falling(1, rate), ListedBits([edge + 3])) is False


def test_the_word_at_the_end_of_a_coin_is_decided_by_the_bits_that_follow() -> None:
    p = MP.exp(-real(Fraction(1, 7)))
    edge = int(MP.floor(p * WORD))
    rest = int(MP.floor((p * WORD - edge) * WORD))
    for shift in (-5, 5):
        assert coin(falling(1, Fraction(1, 7)), ListedBits([edge, rest + shift])) is (shift < 0)


def test_coins_that_always_or_never_show_heads() -> None:
    assert coin(lambda precision: (1 << precision, 1 << precision), ListedBits([WORD - 1])) is True
    assert coin(lambda precision: (0, 0), ListedBits([0])) is False
    assert coin(falling(0, Fraction(5)), ListedBits([WORD - 1])) is True
    assert coin(falling(10**9, Fraction(5)), ListedBits([1])) is False


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1, 1000), Fraction(9)])
def test_words_beside_the_ends_of_a_choice_are_decided_rightly(rate: Fraction) -> None:
    for place, edge in enumerate(ends(COSTS, rate)):
        if edge < WORD - 10:
            assert weighted(COSTS, rate, ListedBits([edge + 3])) > place
        assert weighted(COSTS, rate, ListedBits([edge - 3])) <= place
    assert weighted(COSTS, Fraction(1, 3), ListedBits([0])) == 0
    assert weighted(COSTS, Fraction(1, 3), ListedBits([WORD - 1])) == 6


def test_the_word_at_the_end_of_a_choice_is_decided_by_the_bits_that_follow() -> None:
    weights = [MP.exp(-real(RATE) * cost) for cost in COSTS]
    for place, total in enumerate(list(accumulate(weights))[:-1]):
        scaled = total / MP.fsum(weights) * WORD
        edge = int(MP.floor(scaled))
        rest = int(MP.floor((scaled - edge) * WORD))
        assert weighted(COSTS, RATE, ListedBits([edge, rest - 9])) == place
        assert weighted(COSTS, RATE, ListedBits([edge, rest + 9])) == place + 1


def test_choices_have_the_law_of_their_weights_and_no_other() -> None:
    weights = [e ** -(cost / 3) for cost in COSTS]
    source = bits()
    found = [weighted(COSTS, RATE, source) for _ in range(6000)]
    assert chi_square(found, [w / sum(weights) for w in weights]) > ALPHA
    wrong = [e ** -(cost / 2.4) for cost in COSTS]
    assert chi_square(found, [w / sum(wrong) for w in wrong]) < ALPHA


def test_a_choice_of_one_and_of_equals() -> None:
    assert weighted([0], RATE, ListedBits([5])) == 0
    for place in range(4):
        assert weighted([0] * 4, RATE, ListedBits([place * WORD // 4 + 7])) == place


@pytest.mark.parametrize("n", [1, 2, 3, 6, 1000])
def test_uniform_numbers_are_uniform(n: int) -> None:
    source = bits()
    found = Counter(uniform(n, source) for _ in range(12 * max(n, 500)))
    assert set(found) == set(range(n))
    assert n == 1 or chi_square(found.elements(), [1 / n] * n) > ALPHA


def test_remainders_would_not_be_uniform() -> None:
    source = bits()
    found = [source.integer(3) % 6 for _ in range(6000)]
    assert chi_square(found, [1 / 6] * 6) < ALPHA
