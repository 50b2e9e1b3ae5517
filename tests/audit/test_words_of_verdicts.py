"""What a verdict says: claims as they were asked, runs that were all alike, numbers as people write them."""

from __future__ import annotations

from fractions import Fraction
from itertools import count

import pytest

from deniable.audit import exact, sampled, specimens
from deniable.bits import Bits


def fails(given: object) -> object:
    raise RuntimeError("boom")


def test_a_program_that_always_raises_is_not_passed_over() -> None:
    words = str(sampled(fails, 0, 1, epsilon=1, trials=200, confidence=0.95))
    assert "All 200 runs of each input raised RuntimeError: boom: nothing tells the inputs apart." in words


def test_a_program_that_always_raises_something_else_raised_all_the_same() -> None:
    numbers = count()

    def run(given: object) -> object:
        raise KeyError(next(numbers))

    words = str(sampled(run, 0, 1, trials=200, confidence=0.95))
    assert "All 200 runs of each input raised an error: nothing" in words


@pytest.mark.parametrize("batch", [None, 7])
def test_one_output_only_is_said(batch: int | None) -> None:
    def run(given: object, n: int | None = None) -> object:
        return 3 if n is None else [3] * n

    words = str(sampled(run, 0, 1, trials=200, confidence=0.95, batch=batch))
    assert "All 200 runs of each input gave 3: nothing tells" in words


def test_one_run_that_differs_is_enough_to_say_nothing() -> None:
    numbers = count()
    found = sampled(lambda given: next(numbers) == 399, 0, 1, trials=200, confidence=0.95)
    assert found.evidence is not None
    assert found.evidence.alike == ""
    assert found.evidence.witness


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("ln 3/2", "epsilon ln 3/2."),
        ("ln(3/2)", "epsilon ln 3/2."),
        ("ln 3", "epsilon ln 3."),
        ("1.5", "epsilon 1.5."),
    ],
)
def test_a_claim_is_said_as_it_was_asked(asked: str, said: str) -> None:
    assert str(exact(specimens.shuffled, [0, 1], epsilon=asked)).startswith(f"Proved: {said}")


def test_a_claim_that_is_no_logarithm_is_a_number() -> None:
    claim = Fraction(1098612288668, 10**12)
    assert str(exact(specimens.shuffled, [0, 1], epsilon=claim)).startswith("Proved: epsilon 1.0986122886")


def test_fractions_in_outputs_are_numbers() -> None:
    laws = {0: {(Fraction(-5), Fraction(1, 3)): 1}, 1: {(Fraction(5), Fraction(1, 3)): 1}}
    words = str(exact(lambda given: laws[given], [0, 1], epsilon=1))
    assert "One of [(-5, 1/3)]" in words
    assert "Fraction" not in words


def test_last_bits_are_explained() -> None:
    def run(value: float, n: int, bits: Bits) -> object:
        return specimens.float_noise(value, n, bits)

    words = str(sampled(run, 0.0, 1.0, epsilon=1, trials=4000, confidence=0.95, batch=4000, seed=1))
    assert "its last bits give the input away: the noise was added in floating point." in words
