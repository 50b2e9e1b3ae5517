"""Which candidates RAPPOR finds: nobody's are found as rarely as said, with any number of reports."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.bits import SeededBits
from deniable.local.telemetry import RAPPOR
from deniable.local.telemetry.decoding import Regression

ABSENT = [f"absent {number}" for number in range(60)]


@pytest.mark.parametrize(("epsilon", "n"), [(16, 1), (16, 5), (16, 20), (4, 3), (4, 100)])
@pytest.mark.parametrize("same", [True, False])
def test_candidates_that_nobody_has_are_rarely_found_with_few_reports(
    epsilon: int, n: int, same: bool
) -> None:
    sizes = {} if n == 1 else {"bits": 64, "cohorts": 16}
    protocol = RAPPOR(epsilon=epsilon, **sizes, coins=(0, 1))
    bits, runs = SeededBits(n, insecure=True), 60
    people = ["blue"] * n if same else [f"rare {number}" for number in range(n)]
    candidates = ["blue", *ABSENT]
    false = sum(
        bool(protocol.decode(protocol.randomize(people, bits=bits), candidates).found[1:].any())
        for _ in range(runs)
    )
    assert false <= runs / 20 + 5 * math.sqrt(runs / 20)


def test_the_bound_covers_second_moments_by_enumeration() -> None:
    """One report about "red": its part in the share of "blue" has mean 0; all patterns of bits are tried."""
    protocol = RAPPOR(epsilon=3, bits=8, hashes=1, cohorts=8)
    regression = Regression.of(protocol, ["blue", "red", "green"])
    p, q = (float(rate) for rate in protocol.rates)
    mean, second, largest = 0.0, 0.0, -math.inf
    for cohort in range(8):
        for pattern in range(256):
            told = np.array([pattern >> place & 1 for place in range(8)])
            rate = np.where(regression.design[cohort, :, 1] == 1, q, p)
            likely = float(np.prod(np.where(told == 1, rate, 1 - rate))) / 8
            part = 8 * float(regression.solution[0, cohort] @ (told - p)) / (q - p)
            mean, second, largest = mean + likely * part, second + likely * part**2, max(largest, part)
    assert mean == pytest.approx(0, abs=1e-9)
    for n in (1, 100):
        likely = math.log(20)
        bernstein = math.sqrt(2 * second * likely / n) + largest * likely / (3 * n)
        assert bernstein <= regression.least(n, 0.05)[0] * (1 + 1e-9)
        assert regression.least(n, 0.05)[0] < 2.5 * bernstein


def test_what_many_have_is_found_among_many_candidates() -> None:
    protocol = RAPPOR(epsilon=4, coins=(0, 1))
    people = ["blue"] * 1500 + ["red"] * 500
    found = protocol.decode(
        protocol.randomize(people, bits=SeededBits(3, insecure=True)), ["blue", "red", *ABSENT]
    )
    assert found.found.tolist() == [True, True, *[False] * 60]
