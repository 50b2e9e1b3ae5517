"""Days together: what adds up between histories that change at the same times, and what nothing bounds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from deniable import audit
from deniable.bits import Bits, SeededBits
from deniable.errors import ParameterError
from deniable.local.telemetry import RAPPOR, DBitFlip, OneBitMean
from deniable.local.telemetry.texts import bloom

NUMBER = OneBitMean(epsilon=1, bounds=(0, 5))
ITEMS = DBitFlip(epsilon=1, domain=range(3), bits=3)
TEXT = RAPPOR(epsilon=2, bits=8, hashes=1, cohorts=1, coins=(0, 1))
BLUE, RED = TEXT.inputs()


def together(days: Sequence[object], laws: Mapping[object, Mapping[Any, Fraction]]) -> dict[Any, Fraction]:
    """The law of all days' reports, from the law of each class's one answer; answers are drawn apart."""
    classes = list(dict.fromkeys(days))
    found: dict[Any, Fraction] = defaultdict(Fraction)
    for answers in product(*(laws[one].items() for one in classes)):
        likely = Fraction(1)
        for _, odds in answers:
            likely *= odds
        found[tuple(answers[classes.index(day)][0] for day in days)] += likely
    every = product(sorted({answer for law in laws.values() for answer in law}), repeat=len(days))
    return {reports: found.get(reports, Fraction(0)) for reports in every}


def number(days: object) -> dict[Any, Fraction]:
    assert isinstance(days, tuple)
    return together(days, {value: NUMBER.probabilities(value) for value in (0, 5)})


def items(days: object) -> dict[Any, Fraction]:
    assert isinstance(days, tuple)
    return together(days, {item: ITEMS.probabilities(item) for item in range(3)})


def text(days: object) -> dict[Any, Fraction]:
    """The two bits in which the texts differ; all others are as likely for both."""
    assert isinstance(days, tuple)
    own = sum(1 << place for place in {*bloom(BLUE.encode(), 0, 1, 8), *bloom(RED.encode(), 0, 1, 8)})
    laws: dict[object, dict[Any, Fraction]] = {BLUE: defaultdict(Fraction), RED: defaultdict(Fraction)}
    for value, law in laws.items():
        for answer, likely in TEXT.answers(str(value)).items():
            law[answer[2] & own] += likely
    return together(days, laws)


def test_the_published_counterexample() -> None:
    """P((0, 1) | values (0, 0)) = 0 and P((0, 1) | values (0, 5)) = (e / (e + 1))**2 = 0.5344..."""
    assert number((0, 0))[0, 1] == 0
    assert float(number((0, 5))[0, 1]) == pytest.approx(0.53444665, abs=1e-6)


@pytest.mark.parametrize(
    ("law", "still", "moving", "total"),
    [
        (number, (0, 0, 0), (0, 5, 0), NUMBER.epsilon * NUMBER.most_answers),
        (items, (0, 0), (0, 2), ITEMS.epsilon * ITEMS.most_answers),
        (text, (BLUE, BLUE), (BLUE, RED), TEXT.epsilon * 1000),
    ],
)
def test_no_sum_covers_that_a_value_changed(law: Any, still: Any, moving: Any, total: Fraction) -> None:
    for first, second in ((still, moving), (moving, still)):
        found = audit.exact(law, [first, second], epsilon=total, pairs=[(first, second)])
        assert isinstance(found, audit.Violated)
        assert found.epsilon == float("inf")


@pytest.mark.parametrize(
    ("law", "first", "second", "total"),
    [
        (number, (0, 5, 0), (5, 0, 5), 2 * NUMBER.epsilon),
        (number, (0, 0, 0), (5, 5, 5), NUMBER.epsilon),
        (items, (0, 1), (2, 0), 2 * ITEMS.epsilon),
        (text, (BLUE, RED), (RED, BLUE), 2 * TEXT.epsilon),
    ],
)
def test_between_histories_that_change_at_the_same_times_answers_add_up(
    law: Any, first: Any, second: Any, total: Fraction
) -> None:
    found = audit.exact(law, [first, second], epsilon=total)
    assert isinstance(found, audit.Proved)
    assert not isinstance(audit.exact(law, [first, second], epsilon=total * Fraction(99, 100)), audit.Proved)


def test_where_few_items_are_asked_a_change_to_others_shows_too() -> None:
    """Both people change on the second day and back; if only 1 is asked, one of them does not seem to."""
    found = DBitFlip(epsilon=1, domain=range(6), bits=1)
    asked = next(client for client in iter(found.client, None) if client.report(0)[9] // 2 == 1)
    before = asked.spent.times
    for item in (0, 5, 0):
        asked.report(item)
    assert asked.spent.times == before == 1
    for item in (1, 2, 1):
        asked.report(item)
    assert asked.spent.times == 2


@pytest.mark.parametrize("protocol", [NUMBER, ITEMS])
def test_a_device_is_caught_by_the_audit_where_the_sum_is_claimed_for_all_histories(protocol: Any) -> None:
    first, other = (0.0, 5.0) if protocol is NUMBER else (0, 2)

    def days(values: Sequence[float], bits: Bits) -> bool:
        client = protocol.client(bits=bits)
        return len({client.report(value) for value in values}) == 1

    total = protocol.epsilon * protocol.most_answers
    found = audit.sampled(
        days, (first, first, first), (first, other, first), trials=1500, confidence="0.999999", epsilon=total
    )
    assert isinstance(found, audit.Violated)


@pytest.mark.parametrize(
    "protocol", [NUMBER, ITEMS, TEXT, RAPPOR(epsilon=1)], ids=["number", "items", "text", "coins"]
)
def test_statements_say_that_changes_show_and_claim_no_sum_for_them(protocol: Any) -> None:
    said = " ".join(protocol.statement.split())
    assert "not hidden" in said
    assert "costs it again" not in said
    assert "another text costs" not in said
    client = protocol.client()
    client.report("a")
    assert "That a value changed, and when, is not hidden" in " ".join(client.statement.split())
    assert not hasattr(protocol, "lifetime")


BLURRED = OneBitMean(epsilon=1, bounds=(0, 5), flips="0.2")


def blurred(days: object) -> dict[Any, Fraction]:
    """Reports of remembered bits, each flipped with probability 1/5 (nearly: a whole number of words)."""
    assert isinstance(days, tuple)
    flip, found = Fraction(round(2**32 / 5), 2**32), {}
    remembered = number(days)
    for reports in product((0, 1), repeat=len(days)):
        found[reports] = Fraction(0)
        for bits, likely in remembered.items():
            for told, bit in zip(reports, bits, strict=True):
                likely *= flip if told != bit else 1 - flip
            found[reports] += likely
    return found


def test_flipped_bits_cost_for_each_day_that_differs_whatever_the_history() -> None:
    assert BLURRED.day is not None
    assert float(BLURRED.day.epsilon) == pytest.approx(1.3862944, abs=1e-6)
    every = list(product((0, 5), repeat=3))
    for first, second in product(every, every):
        days = sum(a != b for a, b in zip(first, second, strict=True))
        if days:
            found = audit.exact(blurred, [first, second], epsilon=days * BLURRED.day.epsilon)
            assert isinstance(found, audit.Proved)
    assert NUMBER.day is None
    said = " ".join(BLURRED.statement.split())
    assert "at most epsilon 1.387" in said
    assert "2 grid points cost epsilon 1 once" in said


def test_flipped_bits_have_the_stated_law_and_price() -> None:
    assert {(bit,): odds for bit, odds in BLURRED.probabilities(5).items()} == blurred((5,))
    assert isinstance(audit.exact(BLURRED.probabilities, [0, 5], epsilon=BLURRED.event.epsilon), audit.Proved)
    smaller = BLURRED.event.epsilon * Fraction(999_999, 1_000_000)
    assert isinstance(audit.exact(BLURRED.probabilities, [0, 5], epsilon=smaller), audit.Violated)
    assert BLURRED.parameters.epsilon == BLURRED.event.epsilon < 1 == BLURRED.permanent.epsilon
    wrong: list[Any] = [-1, "0.5", 1, "x", None]
    for flips in wrong:
        with pytest.raises(ParameterError):
            OneBitMean(epsilon=1, bounds=(0, 5), flips=flips)


def test_flipped_bits_are_estimated_right_and_flip_anew_every_day() -> None:
    reports = BLURRED.randomize(np.full(100_000, 4.0), bits=SeededBits(3, insecure=True))
    estimate = BLURRED.estimate(reports)
    assert abs(float(estimate.value) - 4) < 6.2 * float(estimate.standard_error)
    assert float(estimate.standard_error) == pytest.approx(float(BLURRED.error() / 100_000) ** 0.5, rel=0.05)
    seen = []
    for _ in range(40):
        client = BLURRED.client()
        days = [client.report(5)[9] for _ in range(50)]
        seen.append(min(sum(days), 50 - sum(days)))
        assert client.spent.times == 1
    assert abs(np.mean(seen) - 10) < 6.2 * (50 * 0.16 / 40) ** 0.5
