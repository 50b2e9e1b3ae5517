"""The limits of each rule, held against mpmath, and the sums that never come out too low."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest

from deniable.errors import BudgetError, ParameterError
from deniable.ledger.filters import Rule, Spending, check_fits, limits, nothing, rule

BUDGETS = [
    ("1", "1e-6"),
    ("3", "1e-7"),
    ("0.001", "1e-9"),
    ("10", "1e-5"),
    ("1", "1e-300"),
    ("1000", "1e-10"),
    ("0.1", "0.4"),
    ("1e-6", "1e-12"),
]


def spending(amount: str | Fraction, delta: str | Fraction = "0", counted: Rule = Rule.BASIC) -> Spending:
    return Spending(rule=counted, amount=Fraction(amount), delta=Fraction(delta))


def real(number: Fraction) -> mp.mpf:
    return mp.mpf(number.numerator) / number.denominator


def conversion(rho: mp.mpf, epsilon: mp.mpf) -> mp.mpf:
    """The least delta over all orders, found by mpmath: naive, from the formula in the paper."""

    def log_delta(log_excess: mp.mpf) -> mp.mpf:
        excess = mp.exp(log_excess)
        order = 1 + excess
        return excess * (order * rho - epsilon) - mp.log(excess) + order * mp.log(excess / order)

    best = min((log_delta(mp.mpf(step) / 4), step) for step in range(-100, 200))[1]
    low, high = mp.mpf(best - 1) / 4, mp.mpf(best + 1) / 4
    for _ in range(120):
        third = (high - low) / 3
        if log_delta(low + third) < log_delta(high - third):
            high -= third
        else:
            low += third
    return mp.exp(log_delta(low))


def gaussian_delta(mu: mp.mpf, epsilon: mp.mpf) -> mp.mpf:
    """The Gaussian curve (Balle, Wang 2018, theorem 8), by mpmath."""
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_the_rho_limit_is_private_and_almost_nothing_is_left_on_the_table(epsilon: str, delta: str) -> None:
    with mp.workdps(60):
        limit = limits(Rule.CONCENTRATED, epsilon=Fraction(epsilon), delta=Fraction(delta))
        total = real(Fraction(epsilon)), real(Fraction(delta))
        assert conversion(real(limit.rho), total[0]) + real(limit.delta) <= total[1]
        assert conversion(real(limit.rho) * (1 + mp.mpf(10) ** -6), total[0]) > total[1] / 2
        assert limit.delta == Fraction(delta) / 2


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_the_gaussian_limit_is_private_and_almost_nothing_is_left_on_the_table(
    epsilon: str, delta: str
) -> None:
    with mp.workdps(60 + 900):
        limit = limits(Rule.GAUSSIAN, epsilon=Fraction(epsilon), delta=Fraction(delta))
        total, mu = (real(Fraction(epsilon)), real(Fraction(delta))), mp.sqrt(real(limit.mu_squared))
        assert gaussian_delta(mu, total[0]) + real(limit.delta) <= total[1]
        assert gaussian_delta(mu * (1 + mp.mpf(10) ** -6), total[0]) > total[1] / 2
        assert limit.delta == Fraction(delta) / 2


def test_the_basic_limit_is_the_budget() -> None:
    assert limits(Rule.BASIC, epsilon=Fraction(1), delta=Fraction(0)) == spending("1")


@pytest.mark.parametrize("counted", [Rule.CONCENTRATED, Rule.GAUSSIAN])
def test_a_rule_that_converts_needs_a_delta(counted: Rule) -> None:
    with pytest.raises(ParameterError, match="delta must be above 0"):
        limits(counted, epsilon=Fraction(1), delta=Fraction(0))
    with pytest.raises(ParameterError, match="too small"):
        limits(counted, epsilon=Fraction(1, 10**30), delta=Fraction(1, 10**40))


def test_spending_mass_or_amount_by_what_was_seen_would_beat_a_limit_that_is_no_rectangle() -> None:
    """The reason for the rectangle: an analyst who chooses by the loss so far pays more than either branch.

    First comes a Gaussian of mu = 1, then, where its output is below c, a release of mass m, and above c a
    Gaussian of mu = 1. Each branch alone would be within (epsilon, d): d for mu**2 = 2, or d1 + m = d with
    d1 for mu**2 = 1. By quadrature, the analyst's delta is above d.
    """
    with mp.workdps(20):
        epsilon, cut = mp.mpf(2), mp.mpf(2)
        once, twice = gaussian_delta(mp.mpf(1), epsilon), gaussian_delta(mp.sqrt(2), epsilon)
        mass = twice - once
        assert mass > 0

        def second(first_loss: mp.mpf) -> mp.mpf:
            return gaussian_delta(mp.mpf(1), epsilon - first_loss)

        def pay(x: mp.mpf) -> mp.mpf:
            loss = x - mp.mpf(1) / 2
            if x < cut:
                kept = max(mp.mpf(0), 1 - mp.exp(epsilon - loss))
                return mp.npdf(x - 1) * (mass + (1 - mass) * kept)
            return mp.npdf(x - 1) * second(loss)

        chosen = mp.quad(pay, [-8, cut]) + mp.quad(pay, [cut, 4, 10])
        assert chosen > twice * mp.mpf("1.2")


def test_a_charge_fits_until_the_limit_and_not_beyond_it() -> None:
    limit = spending("1", "1e-6")
    spent = check_fits(spending("1", "1e-6"), spent=nothing(Rule.BASIC), limit=limit, label="a")
    assert spent == limit
    for charge, short in [(spending("1e-400"), "epsilon"), (spending("0", "1e-400"), "delta")]:
        with pytest.raises(BudgetError) as raised:
            check_fits(charge, spent=spent, limit=limit, label="a")
        assert raised.value.short == short
    with pytest.raises(BudgetError, match="Nothing that costs epsilon fits any more"):
        check_fits(spending("1"), spent=spent, limit=limit, label="a")


def test_sums_stay_short_and_never_come_out_too_low() -> None:
    total, true = nothing(Rule.BASIC), Fraction(0)
    for prime in (p for p in range(10**6, 10**6 + 6000) if all(p % q for q in range(2, 1010))):
        total, true = total.plus(spending(Fraction(1, prime))), true + Fraction(1, prime)
        assert total.amount >= true
        assert total.amount.denominator.bit_length() <= 4096 + 20
    assert true.denominator.bit_length() > 4096
    assert total.amount - true < Fraction(1, 1 << 2000)


def test_unknown_rules_are_refused() -> None:
    assert rule("gaussian") is Rule.GAUSSIAN
    with pytest.raises(ParameterError, match="'basic', 'concentrated' or 'gaussian'"):
        rule("pld")
