"""The door for numbers: what each spelling means, and the error for everything else."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import ParameterError
from deniable.exact import exact, positive, probability, text, whole, written


@pytest.mark.parametrize(
    ("given_", "meant"),
    [
        (1, Fraction(1)),
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        (Decimal("0.1"), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int8(-3), Fraction(-3)),
        (np.uint64(2**63), Fraction(2**63)),
        ("1/3", Fraction(1, 3)),
        (Fraction(1, 3), Fraction(1, 3)),
        (" 1e-8 ", Fraction(1, 10**8)),
        (5e-324, Fraction(5, 10**324)),
        ("5e-324", Fraction(5, 10**324)),
        (1e300, Fraction(10**300)),
        (".5", Fraction(1, 2)),
    ],
)
def test_a_number_means_what_it_prints(given_: object, meant: Fraction) -> None:
    assert exact(given_, "epsilon") == meant


@pytest.mark.parametrize(
    "bad",
    [
        True, None, "", " ", "abc", "nan", math.nan, math.inf, -math.inf, "inf", 1j, [1], np.array([1]),
        np.bool_(True), np.float64("nan"), Decimal("NaN"), Decimal("Infinity"), Decimal("1e999999"),
        "1e99999", "1/0", "1_000", "٣",
        "9" * 401, "ln 0", "ln -1", "ln", "ln 1/0", "1//2", b"1", object,
    ],
)  # fmt: skip
def test_everything_else_is_refused_by_name(bad: object) -> None:
    with pytest.raises(
        ParameterError, match=r"^epsilon must be a (finite )?number, got .*Write it as"
    ) as caught:
        exact(bad, "epsilon")
    assert caught.value.argument == "epsilon"
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("spelling", "truth"),
    [("ln 3", math.log(3)), ("ln(3)", math.log(3)), ("2 ln 3", 2 * math.log(3)), ("ln 3/2", math.log(1.5))],
)
def test_a_logarithm_is_rounded_down_for_budgets_and_up_for_claims(spelling: str, truth: float) -> None:
    low, high = exact(spelling, "epsilon"), exact(spelling, "epsilon", up=True)
    assert low < high
    assert high - low <= Fraction(1, 1 << 120)
    assert math.isclose(float(low), truth, rel_tol=1e-15)


@pytest.mark.parametrize("bad", [0, -1, "-0.0", -5e-324])
def test_positive_refuses_zero_and_below(bad: object) -> None:
    with pytest.raises(ParameterError, match=r"scale must be greater than 0"):
        positive(bad, "scale")


@pytest.mark.parametrize("bad", [1, -1e-9, "1.5", 1e300])
def test_probability_refuses_one_and_what_is_outside(bad: object) -> None:
    with pytest.raises(ParameterError, match=r"delta must be at least 0 and below 1"):
        probability(bad, "delta")


@pytest.mark.parametrize("bad", [0, 1_000_000_001, -1])
def test_whole_says_the_range(bad: int) -> None:
    with pytest.raises(ParameterError, match=r"max_groups is out of range, got .* from 1 to 1,000,000\."):
        whole(bad, "max_groups", at_least=1, at_most=1_000_000)


@pytest.mark.parametrize("bad", [True, 1.0, "1", None, Fraction(1)])
def test_whole_refuses_what_is_no_whole_number(bad: object) -> None:
    with pytest.raises(ParameterError, match=r"max_groups must be a whole number"):
        whole(bad, "max_groups", at_least=1, at_most=9)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (Fraction(0), "0"), (Fraction(1, 10), "0.1"), (Fraction(1, 3), "1/3"), (Fraction(1, 10**8), "1e-8"),
        (Fraction(-1, 4), "-0.25"), (Fraction(10**20), "1e20"), (Fraction(123456789, 10**9), "0.123456789"),
    ],
)  # fmt: skip
def test_short_numbers_are_written_exactly(number: Fraction, words: str) -> None:
    assert text(number) == words
    assert exact(words, "x") == number


@given(st.fractions())
def test_long_numbers_are_rounded_the_way_that_is_asked(number: Fraction) -> None:
    assert exact(text(number, up=False), "x") <= number <= exact(text(number, up=True), "x")


@given(st.fractions())
def test_what_is_written_is_read_back_unchanged(number: Fraction) -> None:
    assert exact(written(number), "x") == number


def test_what_is_written_is_short_where_it_can_be() -> None:
    assert [written(Fraction(n)) for n in ("1/10", "1/3", "1e-8", "1/1000003")] == [
        "0.1",
        "1/3",
        "1e-8",
        "1/1000003",
    ]


def test_a_number_of_very_many_digits_is_refused_in_words() -> None:
    with pytest.raises(ParameterError, match="delta must be .* got a number of very many digits"):
        probability(Fraction(10**9000), "delta")
