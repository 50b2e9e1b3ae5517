"""Numerical integration: it agrees with closed forms, refutes what is false, and never says proved."""

from __future__ import annotations

from math import exp, expm1, inf, pi, sqrt

import pytest

from deniable.audit import Computed, Density, Violated, exact
from deniable.audit.quadrature import hockey_stick
from deniable.errors import ParameterError


def laplace(value: float) -> Density:
    return Density(lambda x: exp(-abs(x - value)) / 2, breaks=(value,))


def gaussian(value: float, sigma: float = 3.7306317) -> Density:
    return Density(
        lambda x: exp(-((x - value) ** 2) / (2 * sigma**2)) / (sigma * sqrt(2 * pi)),
        breaks=(value - sigma, value + sigma),
    )


def box(value: float) -> Density:
    return Density(lambda _: 1.0, (value, value + 1))


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.9])
def test_the_area_is_that_of_the_closed_form(epsilon: float) -> None:
    area, error = hockey_stick(laplace(0), laplace(1), exp(epsilon))
    assert area == pytest.approx(-expm1((epsilon - 1) / 2), abs=1e-8)
    assert error < 1e-7
    assert hockey_stick(box(0), box(0.25), exp(epsilon))[0] == pytest.approx(
        0.25 + max(0.0, 0.75 * (1 - exp(epsilon))), abs=1e-8
    )


def test_a_true_claim_is_computed_and_a_false_one_violated() -> None:
    true = exact(gaussian, [0, 1], epsilon=1, delta="1e-5")
    assert isinstance(true, Computed)
    assert true.word == "computed"
    assert true.delta == pytest.approx(1e-5, rel=1e-3)
    false = exact(gaussian, [0, 1], epsilon=1, delta="0.9e-5")
    assert isinstance(false, Violated)
    assert false.how == "computed"


def test_a_violation_names_pieces_of_the_line() -> None:
    found = exact(laplace, [0, 1], epsilon=0.5, delta=0.2)
    assert isinstance(found, Violated)
    assert float(found.first) == pytest.approx(1 - exp(-0.25) / 2, abs=1e-6)  # up to x = 1/4
    assert float(found.second) == pytest.approx(exp(-0.75) / 2, abs=1e-6)


def test_a_density_must_have_area_one() -> None:
    with pytest.raises(ParameterError, match="area 2"):
        exact(lambda _: Density(lambda _: 2.0, (0, 1)), [0, 1], epsilon=1)


def test_the_whole_line_is_the_usual_support() -> None:
    assert laplace(0).support == (-inf, inf)
    assert box(0)(2.0) == 0
