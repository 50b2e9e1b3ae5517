"""One kind of noise serves all columns: what a mixture of both could gain, computed."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from benchmarks import kinds

from deniable import accounting, events


@pytest.mark.parametrize(("laplace", "gaussian"), [(1, 1), (3, 2), (0, 4), (12, 0)])
def test_delta_of_a_mixture_is_that_of_the_accountant(laplace: int, gaussian: int) -> None:
    each, mu, epsilon = Fraction(1, 4), Fraction(1, 5), Fraction(1)
    done = [events.Laplace(scale=1, sensitivity=each)] * laplace
    noise = done + [events.Gaussian(sigma=1 / mu)] * gaussian
    exact = float(accounting.account(noise).delta(epsilon=epsilon))
    about = kinds.delta(float(epsilon), float(each), laplace, float(mu) * math.sqrt(gaussian))
    assert about == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("columns", [2, 3])
@pytest.mark.parametrize("epsilon", [0.1, 4.0])
@pytest.mark.parametrize("delta", [1e-8, 1e-5])
def test_a_mixture_of_plain_columns_errs_more_than_the_better_kind(
    columns: int, epsilon: float, delta: float
) -> None:
    assert kinds.best(columns, 0, epsilon, delta).gain < -0.01


@pytest.mark.parametrize(
    ("plain", "trees", "epsilon", "delta", "most"),
    [(1, 1, 0.1, 1e-5, 0.005), (2, 1, 0.1, 1e-5, 0.005), (1, 2, 1.0, 1e-5, 0.05), (1, 2, 4.0, 1e-6, 0.05)],
)
def test_beside_trees_a_mixture_errs_little_less(
    plain: int, trees: int, epsilon: float, delta: float, most: float
) -> None:
    assert kinds.best(plain, trees, epsilon, delta).gain < most
