"""The attack is run for real, so what it finds must be what arithmetic says it finds."""

from __future__ import annotations

from fractions import Fraction
from math import exp, sqrt
from pathlib import Path

import pytest

from deniable import examples
from deniable.bits import SeededBits
from deniable.examples.attack import Outcome, answers, attack

TRIALS = 20_000
SMALL = {f"p{n}": frozenset({"blue"}) for n in range(40)} | {"q": frozenset({"ultramarine"})}
SIX_SIGMA = 6 * sqrt(0.25 / TRIALS)
"""A fair share of so many trials misses by more than this less than once in 1e8 times."""


def run(colour: str, *, scale: Fraction, threshold: int | None = None) -> Outcome:
    bits = SeededBits(11, insecure=True)
    return attack(SMALL, colour, scale=scale, threshold=threshold, trials=TRIALS, bits=bits)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(10)])
def test_noise_hides_a_person_with_a_common_colour_as_well_as_it_can(scale: Fraction) -> None:
    # The best attacker of discrete Laplace noise on n against n - 1 is right with 1/(1 + exp(-1/scale)).
    outcome = run("blue", scale=scale)
    assert not outcome.only_here
    assert outcome.people == 40
    assert abs(outcome.rate - 1 / (1 + exp(-1 / scale))) < SIX_SIGMA


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1000)])
def test_no_noise_hides_a_person_whose_colour_nobody_else_gave(scale: Fraction) -> None:
    outcome = run("ultramarine", scale=scale)
    assert outcome.only_here
    assert outcome.right == TRIALS


def test_a_threshold_hides_that_person() -> None:
    outcome = run("ultramarine", scale=Fraction(1), threshold=20)
    assert abs(outcome.rate - Fraction(1, 2)) < SIX_SIGMA


def test_a_threshold_that_is_too_low_is_found_out() -> None:
    # At threshold 1 the colour is shown with 1/(1 + q) and then settles the matter: (1 + 1/(1 + q))/2.
    outcome = run("ultramarine", scale=Fraction(1), threshold=1)
    assert abs(outcome.rate - (1 + 1 / (1 + exp(-1))) / 2) < SIX_SIGMA


def test_a_colour_that_nobody_gave_cannot_be_attacked() -> None:
    with pytest.raises(ValueError, match="nobody in the file gave 'puce'"):
        run("puce", scale=Fraction(1))


def test_the_survey_is_read_person_by_person(tmp_path: Path) -> None:
    path = tmp_path / "small.csv"
    path.write_text('person,colour\n1, Blue \n1,"red, white"\n2,BLUE\n', "utf-8")
    assert answers(path) == {"1": {"blue", "red, white"}, "2": {"blue"}}
    assert len(answers(examples.colours())) == 20_000
