"""`dn.RandomizedResponse`: the law by closed form, outsiders by the public rule, its price."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, nan
from typing import Any

import numpy as np
import pytest
from mechanism_oracles import ALPHA, MP, WORD, ListedBits, chi_square, real

from deniable import accounting, events
from deniable.bits import SeededBits
from deniable.errors import ParameterError
from deniable.mechanisms import RandomizedResponse


def bits() -> SeededBits:
    return SeededBits(17, insecure=True)


def test_ln_3_tells_the_truth_three_times_out_of_four() -> None:
    low, high = RandomizedResponse(epsilon="ln 3").truth
    assert low <= Fraction(3, 4) <= high + Fraction(1, 2**60)
    assert high - low < Fraction(1, 2**60)


@pytest.mark.parametrize("epsilon", ["1e-12", "0.5", "1", "10", "50", "1000"])
@pytest.mark.parametrize("k", [2, 3, 1000])
def test_the_truth_is_told_with_its_probability_to_the_last_bit(epsilon: str, k: int) -> None:
    mechanism = RandomizedResponse(epsilon=epsilon, options=k)
    p = 1 / (1 + (k - 1) * MP.exp(-real(Fraction(epsilon))))
    low, high = mechanism.truth
    assert real(low) <= p <= real(high)
    edge = int(MP.floor(p * WORD))
    assert mechanism.release(1, bits=ListedBits([max(0, edge - 3)])) == 1


@pytest.mark.parametrize("k", [2, 3, 5])
def test_reports_have_the_law_and_no_other(k: int) -> None:
    mechanism, source = RandomizedResponse(epsilon=1, options=k), bits()
    found = [int(str(mechanism.release(1, bits=source))) for _ in range(6000)]

    def law(epsilon: float) -> list[float]:
        return [(exp(epsilon) if option == 1 else 1) / (exp(epsilon) + k - 1) for option in range(k)]

    assert chi_square(found, law(1)) > ALPHA
    assert chi_square(found, law(1.25)) < ALPHA
    assert chi_square(found, law(0.75)) < ALPHA


@pytest.mark.parametrize(
    "odd", [-1, 3, 4, None, nan, 2.0, True, "a", "2", [2], np.array([2]), inf, {}, np.float64(1)]
)
def test_an_answer_that_is_no_option_is_reported_as_any_of_them(odd: Any) -> None:
    mechanism, source = RandomizedResponse(epsilon=8, options=3), bits()
    found = [int(str(mechanism.release(odd, bits=source))) for _ in range(300)]
    assert chi_square(found, [1 / 3] * 3) > ALPHA
    assert min(found.count(option) for option in range(3)) > 50


def test_numpy_numbers_and_texts_are_the_options_that_they_equal() -> None:
    numbers = RandomizedResponse(epsilon=200, options=3)
    assert {numbers.release(np.int16(2)), numbers.release(np.uint64(2)), numbers.release(2)} == {2}
    assert RandomizedResponse(epsilon=200, options=["no", "yes"]).release(np.str_("yes")) == "yes"
    assert RandomizedResponse(epsilon=200).release(np.True_) is True
    assert RandomizedResponse(epsilon=200, options=[None, 1.5]).release(None) is None


def test_no_two_answers_change_the_odds_by_more_than_e_to_epsilon() -> None:
    epsilon, k = 1.3, 4
    total = exp(epsilon) + k - 1
    law = {answer: [(exp(epsilon) if i == answer else 1) / total for i in range(k)] for answer in range(k)}
    law[-1] = [1 / k] * k
    worst = max(a / b for p in law.values() for q in law.values() for a, b in zip(p, q, strict=True))
    assert worst == pytest.approx(exp(epsilon))
    event = RandomizedResponse(epsilon="1.3", options=k).event
    assert event == events.RandomizedResponse(epsilon="1.3", options=4)
    assert accounting.account(event).epsilon() == Fraction("1.3")


@pytest.mark.parametrize("options", [0, 1, -1, True, None, "yes", [], ["yes"], ["a", "a"], [[1], [2]], 2.0])
def test_options_that_cannot_be_are_named(options: Any) -> None:
    with pytest.raises(ParameterError, match="^options"):
        RandomizedResponse(epsilon=1, options=options)


@pytest.mark.parametrize("epsilon", [0, -1, nan, inf, True, None, "abc", 1e300])
def test_an_epsilon_that_cannot_be_is_named(epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="^epsilon"):
        RandomizedResponse(epsilon=epsilon)


def test_an_error_covers_estimated_shares() -> None:
    mechanism, source, people = RandomizedResponse(epsilon=1, options=3), bits(), 400
    w = float(mechanism.error(answers=people))
    p, q = exp(1) / (exp(1) + 2), 1 / (exp(1) + 2)
    missed = 0
    for _ in range(40):
        reports = [mechanism.release(0 if person < 100 else 1, bits=source) for person in range(people)]
        missed += abs((reports.count(0) / people - q) / (p - q) - 0.25) > w
    assert missed == 0
    assert mechanism.error(answers=100 * people) == pytest.approx(w / 10)
    assert mechanism.error(confidence="0.99") > mechanism.error(confidence="0.9")


def test_a_statement_says_how_often_a_report_is_true() -> None:
    mechanism = RandomizedResponse(epsilon="ln 3", options=["yes", "no"])
    words = " ".join(mechanism.statement.split())
    assert "a report is the true answer with probability 75.0 %" in words
    assert "thinks two answers equally likely names the right one at most 75 % of the time" in words
    assert repr(RandomizedResponse(epsilon="1/3", options=4)) == "RandomizedResponse(epsilon=1/3, options=4)"
    assert max(map(len, mechanism.statement.splitlines())) <= 80
