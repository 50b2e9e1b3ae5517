"""Lower bounds from two probabilities: against floating point at a distance, and on the right side of it."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, log
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.audit.losses import delta_at_least, downward, epsilon_at_least, mu_at_least, refuted

shares = st.fractions(Fraction(1, 10**6), 1 - Fraction(1, 10**6), max_denominator=10**6)


@given(shares, shares, st.sampled_from([Fraction(0), Fraction(1, 1000)]))
def test_epsilon_is_the_logarithm_of_the_ratio(p: Fraction, q: Fraction, delta: Fraction) -> None:
    found = epsilon_at_least(p, q, delta)
    if p - delta <= q:
        assert found == 0
    else:
        assert found == pytest.approx(log((p - delta) / q), abs=1e-12)


@given(shares, shares, st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(3)]))
def test_delta_is_what_is_left(p: Fraction, q: Fraction, epsilon: Fraction) -> None:
    assert delta_at_least(p, q, epsilon) == pytest.approx(
        max(0, float(p) - exp(epsilon) * float(q)), abs=1e-12
    )


@given(shares, shares)
def test_mu_is_the_distance_of_two_quantiles(p: Fraction, q: Fraction) -> None:
    normal = NormalDist()
    truth = max(0.0, normal.inv_cdf(float(p)) - normal.inv_cdf(float(q)))
    found = mu_at_least(p, q)
    assert found <= truth + 1e-12
    assert found == pytest.approx(truth, abs=1e-8)


def test_bounds_are_rounded_down() -> None:
    third = Fraction(1, 3)
    assert Fraction(downward(third)) <= third < Fraction(downward(third)) + Fraction(1, 2**54)
    assert Fraction(downward(-third)) <= -third


def test_an_impossible_output_refutes_every_epsilon() -> None:
    assert epsilon_at_least(Fraction(1, 2), Fraction(0), Fraction(1, 10)) == inf
    assert epsilon_at_least(Fraction(1, 10), Fraction(0), Fraction(1, 10)) == 0
    assert delta_at_least(Fraction(1, 2), Fraction(0), Fraction(10**9)) == 0.5
    assert mu_at_least(Fraction(1, 2), Fraction(0)) == inf
    assert refuted(Fraction(1, 2), Fraction(0), Fraction(10**9), Fraction(1, 10))
    assert not refuted(Fraction(1, 2), Fraction(1, 10**9), Fraction(10**9), Fraction(0))


def test_a_claim_that_is_met_exactly_is_not_refuted() -> None:
    assert not refuted(Fraction(1, 2), Fraction(1, 4), Fraction(0), Fraction(1, 4))
    assert refuted(Fraction(1, 2), Fraction(1, 4), Fraction(0), Fraction(24, 100))
