"""The numbers in words, held against closed forms in 60-digit decimals, which share no code with them."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.exact import exact
from deniable.guarantees import ApproxDP, PureDP, ZeroConcentratedDP
from deniable.publish import odds

epsilons = st.fractions(min_value=0, max_value=13, max_denominator=10**9)
deltas = st.fractions(min_value=0, max_value=Fraction(1, 2), max_denominator=10**12)


def as_decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def read(words: str) -> Decimal:
    return Decimal(words.replace(",", "").removesuffix(" %"))


@pytest.mark.parametrize("up", [False, True])
def test_ln_3_is_3_fold_and_75_percent_whichever_way_it_was_rounded(up: bool) -> None:
    epsilon = exact("ln 3", "epsilon", up=up)
    assert odds.fold(epsilon) == "3"
    assert odds.percent(odds.best_hit_rate(PureDP(epsilon=epsilon))) == "75 %"
    assert odds.epsilon_text(epsilon) == "1.0987 (ln 3)"


@pytest.mark.parametrize(
    ("epsilon", "fold", "rate"),
    [
        ("0", "1", "50 %"),
        ("0.1", "1.11", "52.5 %"),  # e^0.1 = 1.10517..., and of 1 + it 52.4979 %
        ("ln 2", "2", "66.7 %"),
        ("1", "2.72", "73.2 %"),  # e = 2.71828..., 73.1059 %
        ("10", "22,100", "99.9955 %"),  # 22,026.47, 99.99546 %
        ("100", "10^44", "100 %"),  # 2.7e43
    ],
)
def test_known_epsilons_have_known_words(epsilon: str, fold: str, rate: str) -> None:
    number = exact(epsilon, "epsilon")
    assert odds.fold(number) == fold
    assert odds.percent(odds.best_hit_rate(PureDP(epsilon=number))) == rate


@given(epsilon=epsilons, delta=deltas)
def test_words_are_never_below_the_truth_and_never_far_above(epsilon: Fraction, delta: Fraction) -> None:
    with localcontext(prec=60):
        power = as_decimal(epsilon).exp()
        rate = min(Decimal(1), (power + as_decimal(delta)) / (1 + power))
        fold = read(odds.fold(epsilon))
        percent = read(odds.percent(odds.best_hit_rate(ApproxDP(epsilon=epsilon, delta=delta))))
        tiny = Decimal(2) ** -80
        assert power * (1 - tiny) <= fold <= power * Decimal("1.1") + tiny
        assert 100 * rate * (1 - tiny) <= percent <= 100 * rate + Decimal("0.1") + tiny


def test_a_delta_is_visible_in_the_hit_rate() -> None:
    # (3 + 1e-7)/4 = 0.750000025
    guarantee = ApproxDP(epsilon="ln 3", delta="1e-7")
    assert odds.percent(odds.best_hit_rate(guarantee)) == "75.000003 %"


def test_randomised_response_at_ln_3_reaches_the_bound_on_the_hit_rate() -> None:
    # Truth with 3/4, a lie with 1/4: guessing what is said is right 3/4 of the time.
    assert odds.best_hit_rate(PureDP(epsilon=exact("ln 3", "epsilon"))) >= Fraction(3, 4) - Fraction(
        1, 2**100
    )


def test_the_hit_rate_covers_every_pair_of_distributions_on_three_outcomes() -> None:
    # By enumeration: the best attacker of p against q is right with (1 + |p - q|_1 / 2)/2.
    grid = [Fraction(n, 8) for n in range(9)]
    triples = [(a, b, 1 - a - b) for a in grid for b in grid if a + b <= 1]
    three = exact("ln 3", "epsilon", up=True)
    for p in triples:
        for q in triples:
            excess = sum(max(Fraction(0), a - 3 * b) for a, b in zip(p, q, strict=True))
            other = sum(max(Fraction(0), b - 3 * a) for a, b in zip(p, q, strict=True))
            delta = max(excess, other)
            if delta < 1:
                best = (1 + sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2) / 2
                assert odds.best_hit_rate(ApproxDP(epsilon=three, delta=delta)) >= best


def test_rho_is_worded_at_a_delta_of_one_in_a_billion() -> None:
    words = odds.in_words(ZeroConcentratedDP(rho="0.01"))
    with localcontext(prec=60):
        known = Decimal("0.01") + 2 * (Decimal("0.01") * Decimal(10**9).ln()).sqrt()
        assert 0 <= as_decimal(words.epsilon) - known < Decimal("1e-30")
    assert words.delta == Fraction(1, 10**9)


def test_the_hit_rate_of_rho_covers_the_gaussian_that_has_it() -> None:
    # A Gaussian with sensitivity/sigma = mu has rho = mu^2/2; its best attacker is right with Phi(mu/2).
    from statistics import NormalDist

    for mu in (0.01, 0.1, 0.5, 1.0, 1.9):
        bound = odds.best_hit_rate(ZeroConcentratedDP(rho=Fraction(mu) ** 2 / 2))
        assert NormalDist().cdf(mu / 2) <= bound <= NormalDist().cdf(mu / 2) + mu / 10


@pytest.mark.parametrize(
    ("delta", "chance", "times"),
    [("1e-300", "1 in 10^300", 996), ("1e-7", "1 in 10,000,000", 23), ("1e-6", "1 in 1,000,000", 19),
     ("1/1024", "1 in 1,024", 10), ("1/1023", "1 in 1,023", 9), ("1/4", "1 in 4", 2)],
)  # fmt: skip
def test_a_delta_is_compared_with_a_coin_that_shows_heads_more_often_than_that(
    delta: str, chance: str, times: int
) -> None:
    number = exact(delta, "delta")
    assert Fraction(1, 2 ** (times + 1)) < number <= Fraction(1, 2**times)
    assert odds.chance(number) == chance
    assert odds.tosses(number) == f"no more than that of {times} tosses of a coin all showing heads"


def test_a_large_delta_is_compared_with_one_toss() -> None:
    assert odds.tosses(Fraction(1, 2)) == "no more than that of a coin showing heads"
    assert odds.tosses(Fraction(1, 3)) == "no more than that of a coin showing heads"
    assert odds.tosses(Fraction(2, 3)) == "more than that of a coin showing heads"


@pytest.mark.parametrize(
    ("delta", "population", "words"),
    [
        ("1e-7", 1_000_000, "0.1"),
        ("0.01", 100_000, "1,000"),
        ("1.0001e-7", 1_000_000, "0.11"),
        ("1e-9", 20_000, "2e-5"),
    ],
)
def test_exposed_people_are_counted_upwards(delta: str, population: int, words: str) -> None:
    assert odds.expected_harm(exact(delta, "delta"), population) == words


@given(number=st.fractions(max_denominator=10**6), digits=st.integers(1, 6))
def test_rounding_up_gives_the_least_number_of_so_many_digits(number: Fraction, digits: int) -> None:
    rounded = odds.rounded_up(number, digits)
    assert rounded >= number
    if number:
        step = Fraction(10) ** (len(str(int(abs(number)))) - digits) if abs(number) >= 1 else None
        if step is not None:
            assert rounded - number < step
        assert len(f"{abs(rounded.numerator * 10**12 // rounded.denominator)}".strip("0")) <= digits or (
            abs(number) < Fraction(1, 10**5)
        )
