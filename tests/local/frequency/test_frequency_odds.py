"""Thresholds: the largest that keep epsilon, held again in rationals when anything is made."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.local.frequency.odds import WORD, Coin, coin, largest_ratio, usable
from deniable.local.frequency.unary import Unary, optimised, symmetric


@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", "1", "3.7", "20"])
@pytest.mark.parametrize(("inside", "outside"), [(1, 1), (1, 9), (27, 74), (341, 1024), (1, 10**6)])
def test_a_coin_has_the_largest_threshold_that_keeps_epsilon(epsilon: str, inside: int, outside: int) -> None:
    one = coin(Fraction(epsilon), inside, outside)
    mp.dps = 60
    best = inside * mp.e ** mpf(epsilon) / (inside * mp.e ** mpf(epsilon) + outside)
    assert one.threshold == int(mp.floor(best * WORD))
    with pytest.raises(ParameterError, match="does not keep epsilon"):
        replace(one, threshold=one.threshold + 1)


def test_a_coin_that_says_nothing_or_everything_is_refused() -> None:
    for threshold, words in ((1 << 63, "keep"), (1 << 62, "keep"), (0, "certain"), (WORD, "certain")):
        with pytest.raises(ParameterError, match=words):
            Coin(threshold, 1, 1, Fraction(3))


@pytest.mark.parametrize("epsilon", ["1e-6", "0.5", "1", "8"])
def test_unary_thresholds_are_the_closest_ones(epsilon: str) -> None:
    mp.dps = 60
    odds = mp.e ** mpf(epsilon)
    plain, best = symmetric(10, Fraction(epsilon)), optimised(10, Fraction(epsilon))
    assert plain.own == int(mp.floor(WORD * mp.sqrt(odds) / (mp.sqrt(odds) + 1)))
    assert plain.others == WORD - plain.own
    assert best.others == int(mp.ceil(WORD / (odds + 1)))
    for own, others in ((plain.own + 1, plain.others - 1), (best.own, best.others - 1)):
        with pytest.raises(ParameterError, match="do not keep epsilon"):
            Unary("oue", 10, own, others, largest_ratio(Fraction(epsilon)))


class One:
    """Bits in which every word is the same number."""

    def __init__(self, word: int) -> None:
        self.word = word

    def uint64(self, n: int) -> NDArray[np.uint64]:
        return np.full(n, self.word, np.uint64)


def test_exactly_the_words_below_the_threshold_come_up() -> None:
    one = coin(Fraction(1), 1, 9)
    for word, expected in ((0, True), (one.threshold - 1, True), (one.threshold, False), (WORD - 1, False)):
        assert one.toss(3, One(word)).tolist() == [expected] * 3  # type: ignore[arg-type]


def test_epsilon_is_read_exactly_and_capped_where_more_would_change_nothing() -> None:
    assert usable(0.1) == Fraction(1, 10)
    assert usable("1e-6") == Fraction(1, 10**6)
    assert largest_ratio(Fraction(10**300)) == largest_ratio(Fraction(45)) > WORD
    with pytest.raises(ParameterError, match="too small"):
        usable("9e-7")
