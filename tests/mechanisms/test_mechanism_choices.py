"""`dn.Exponential` and `dn.NoisyMax`: their laws by independent routes, and that their claims cover them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import permutations, product
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from mechanism_oracles import ALPHA, MP, chi_square, real

from deniable import accounting, events
from deniable.bits import SeededBits
from deniable.errors import ParameterError
from deniable.mechanisms import Exponential, NoisyMax

TWO = ([0, 0], [1, -1])


def bits() -> SeededBits:
    return SeededBits(13, insecure=True)


def gumbel(scores: Sequence[float]) -> list[Any]:
    """P(i) proportional to e**score: the exponential mechanism."""
    weights = [MP.exp(MP.mpf(score)) for score in scores]
    return [w / MP.fsum(weights) for w in weights]


def flips(scores: Sequence[float]) -> list[Any]:
    """Permute and flip, over all orders."""
    best = max(scores)
    heads = [MP.exp(MP.mpf(score) - best) for score in scores]
    chances = [MP.mpf(0)] * len(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = MP.mpf(1)
        for i in order:
            chances[i] += left * heads[i] / len(orders)
            left *= 1 - heads[i]
    return chances


def largest(scores: Sequence[float]) -> list[Any]:
    """Noisy max with exponential noise: the density of one, times the chance that the others are below."""

    def wins(i: int) -> Any:
        others = [score for j, score in enumerate(scores) if j != i]

        def density(y: Any) -> Any:
            below = (max(MP.mpf(0), 1 - MP.exp(-(y - score))) for score in others)
            return MP.exp(-(y - scores[i])) * MP.fprod(below)

        top = MP.mpf(max(scores))
        return MP.quad(density, [top, top + 2, top + 10, MP.inf])

    return [wins(i) for i in range(len(scores))]


def second_order(p: Sequence[Any], q: Sequence[Any]) -> float:
    """The Renyi divergence of order 2."""
    return float(MP.log(MP.fsum(a**2 / b for a, b in zip(p, q, strict=True))))


def test_noisy_max_with_exponential_noise_is_permute_and_flip() -> None:
    with MP.workprec(60):
        for scores in ([0, 0], [1, -1], [0, 0.5, 2], [3, 1, 1, 0]):
            assert all(abs(a - b) < 1e-9 for a, b in zip(flips(scores), largest(scores), strict=True))


def test_the_claim_covers_the_noise_that_is_used() -> None:
    exponential = second_order(flips(TWO[0]), flips(TWO[1]))
    with_gumbel = second_order(gumbel(TWO[0]), gumbel(TWO[1]))
    assert (round(exponential, 3), round(with_gumbel, 3)) == (1.377, 0.868)
    most_of_range = 2 * 2**2 / 8
    most_of_pure = second_order(*([1 / (1 + MP.exp(s)), 1 / (1 + MP.exp(-s))] for s in (2, -2)))
    assert with_gumbel <= most_of_range < exponential <= most_of_pure
    arguments: dict[str, Any] = {"epsilon": 2, "sensitivity": 1, "candidates": 2}
    assert NoisyMax(**arguments).event == events.PureDP(epsilon=2)
    assert Exponential(**arguments).event == events.Exponential(epsilon=2)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("kind", [Exponential, NoisyMax])
def test_no_pair_of_neighbouring_utilities_breaks_the_promise(kind: Any, monotone: bool) -> None:
    mechanism = kind(epsilon="0.8", sensitivity=1, candidates=3, whole=True, monotone=monotone)
    law = gumbel if kind is Exponential else flips
    chances = {}
    for utilities in product(range(-1, 4), repeat=3):
        costs = mechanism.choice.costs(list(utilities))
        chances[utilities] = law([-float(mechanism.choice.rate) * cost for cost in costs])
    moves = list(product((0, 1) if monotone else (-1, 0, 1), repeat=3))
    worst = 0.0
    for before, move in product(product(range(3), repeat=3), moves):
        after = tuple(u + m for u, m in zip(before, move, strict=True))
        ratios = [MP.log(a / b) for a, b in zip(chances[before], chances[after], strict=True)]
        worst = max(worst, float(max(ratios)), -float(min(ratios)))
        if kind is Exponential:
            assert max(ratios) - min(ratios) <= 0.8 + 1e-12
    assert 0.4 < worst <= 0.8 + 1e-12


@pytest.mark.parametrize("epsilon", ["0", "0.3", "1", "1.5", "2"])
def test_the_price_is_never_below_the_true_curve(epsilon: str) -> None:
    growth = MP.exp(MP.mpf(epsilon))
    for kind, law in ((Exponential, gumbel), (NoisyMax, flips)):
        event = kind(epsilon=2, sensitivity=1, candidates=2).event
        for p, q in ((law(TWO[0]), law(TWO[1])), (law(TWO[1]), law(TWO[0]))):
            true = MP.fsum(max(a - growth * b, 0) for a, b in zip(p, q, strict=True))
            assert accounting.account(event).delta(epsilon=epsilon) >= float(true)


@pytest.mark.parametrize("kind", [Exponential, NoisyMax])
def test_choices_have_their_own_law_and_not_the_other_one(kind: Any) -> None:
    mechanism = kind(epsilon=2, sensitivity=1, candidates=["a", "b", "c"])
    source = bits()
    utilities = {"a": 0.5, "b": 2, "c": 1.25}
    found = Counter(mechanism.release(utilities, bits=source) for _ in range(8000))
    draws = ["abc".index(one) for one in found.elements()]
    laws = {law: [float(p) for p in law([0.5, 2, 1.25])] for law in (gumbel, flips)}
    right, wrong = (gumbel, flips) if kind is Exponential else (flips, gumbel)
    assert chi_square(draws, laws[right]) > ALPHA
    assert chi_square(draws, laws[wrong]) < ALPHA


def test_utilities_on_the_fine_grid_are_worth_what_they_say() -> None:
    for monotone, factor in ((False, 2), (True, 1)):
        choice = Exponential(epsilon=1, sensitivity="1/3", candidates=2, monotone=monotone).choice
        cost = choice.costs([0, 1])[0]
        assert float(cost * choice.rate) == pytest.approx(3 / factor, rel=1e-3)
        assert cost * choice.rate <= Fraction(3, factor)


@pytest.mark.parametrize("kind", [Exponential, NoisyMax])
def test_no_utility_raises_and_each_has_its_place(kind: Any) -> None:
    mechanism = kind(epsilon=1, sensitivity=1, candidates=["a", "b", "c"])
    step = mechanism.grid.step if hasattr(mechanism, "grid") else mechanism.choice.grid.step
    one = int(1 / step)
    assert mechanism.choice.costs({"a": nan, "c": 1, "zzz": 10**9}) == [one, one, 0]
    assert mechanism.choice.costs([None, Decimal(1), Fraction(1)]) == [one, 0, 0]
    assert mechanism.choice.costs(np.array([0, 1, 1], np.uint8)) == [one, 0, 0]
    assert mechanism.choice.costs([inf, -inf, 0]) == [0, 2 * 2**61, 2**61]
    for odd in ([nan, nan, nan], {}, [inf, -inf, nan], [10**400, 0, -(10**400)], {"b": 1e300}):
        assert mechanism.release(odd, bits=bits()) in ("a", "b", "c")
    for _ in range(20):
        assert mechanism.release({"b": inf, "d": inf}) == "b"


def test_another_number_of_utilities_is_refused_without_showing_them() -> None:
    mechanism = Exponential(epsilon=1, sensitivity=1, candidates=3)
    for wrong in ([37, 37], 37, "373", [37, "37", 37]):
        with pytest.raises(ParameterError, match="value") as caught:
            mechanism.release(wrong)
        assert "37" not in str(caught.value)


@pytest.mark.parametrize("candidates", [0, -1, 1.5, True, None, "red", [], ["a", "a"], [1, True], [[1], [2]]])
def test_candidates_that_cannot_be_are_named(candidates: Any) -> None:
    for kind in (Exponential, NoisyMax):
        with pytest.raises(ParameterError, match="^candidates"):
            kind(epsilon=1, sensitivity=1, candidates=candidates)


@pytest.mark.parametrize("argument", ["epsilon", "sensitivity"])
@pytest.mark.parametrize("value", [0, -1, nan, inf, True, None, "abc", "1e-320"])
def test_parameters_that_cannot_be_are_named(argument: str, value: Any) -> None:
    arguments = {"epsilon": 1, "sensitivity": 1, "candidates": 2, argument: value}
    for kind in (Exponential, NoisyMax):
        with pytest.raises(ParameterError, match=f"^{argument}"):
            kind(**arguments)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999"])
def test_an_error_holds_as_often_as_it_says(n: int, confidence: str) -> None:
    for kind, law in ((Exponential, gumbel), (NoisyMax, flips)):
        mechanism = kind(epsilon=1, sensitivity=1, candidates=n, whole=True)
        w = int(mechanism.error(confidence=confidence))
        worst = law([0.0] + [-float(mechanism.choice.rate) * (w + 1)] * (n - 1))[0]
        assert worst >= float(confidence)
        if kind is Exponential and w:
            assert law([0.0] + [-float(mechanism.choice.rate) * w] * (n - 1))[0] < float(confidence)


def test_noisy_max_is_the_better_single_choice() -> None:
    arguments: dict[str, Any] = {"epsilon": 1, "sensitivity": 1, "candidates": 50}
    assert NoisyMax(**arguments).error() < Exponential(**arguments).error()


def test_numbers_stand_for_candidates_in_order() -> None:
    mechanism = NoisyMax(epsilon=1000, sensitivity=1, candidates=4)
    assert mechanism.release([0, 0, 9, 0]) == 2
    assert mechanism.release(np.array([0.0, 0, 0, 9])) == 3
    assert mechanism.release({1: 9}) == 1


def test_choices_say_what_they_are() -> None:
    mechanism = Exponential(epsilon="1/3", sensitivity=2, candidates=4, monotone=True, whole=True)
    assert (
        repr(mechanism) == "Exponential(epsilon=1/3, sensitivity=2, candidates=4, monotone=True, whole=True)"
    )
    words = " ".join(mechanism.statement.split())
    assert words.startswith("One of 4 candidates, chosen by the exponential mechanism.")
    assert "moves each utility by at most 2, all in the same direction" in words
    assert "within 24 of the best" in words
    other = " ".join(NoisyMax(epsilon=1, sensitivity=1, candidates=4).statement.split())
    assert other.startswith("One of 4 candidates, the best after exponential noise on each utility.")
    assert real(mechanism.guarantee.epsilon) == MP.mpf(1) / 3
