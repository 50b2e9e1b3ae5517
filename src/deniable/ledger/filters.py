"""Which sums may be spent from, when each query is chosen after seeing the answers to those before.

Such a sum is called a *filter*. Each rule counts two numbers, an amount and a probability mass, and admits
a charge only while both stay within a limit that is fixed when the ledger is created:

| rule         | amount        | limit of the amount          | limit of the mass |
|--------------|---------------|------------------------------|-------------------|
| basic        | sum of epsilon| epsilon                      | delta             |
| concentrated | sum of rho    | `_rho_limit(epsilon, d)`     | delta - d         |
| gaussian     | sum of mu**2  | `largest_mu(epsilon, d)`**2  | delta - d         |

with d = delta/2: half of delta pays for turning rho or mu into epsilon, half is for selection masses.

Guarantee: whoever sees everything that was released within the limits sees something that is
(epsilon, delta)-DP, whatever was asked and in whatever order it was chosen.

Proof. Let P, Q be the laws of the whole transcript on neighbours D, D'. A finite number of releases is made;
what is asked next may depend on everything seen.
1. Masses. A release with mass d has laws (1 - d) P0 + d P1 and (1 - d) Q0 + d Q1, with P0, Q0 as private as
   its amount says: for (epsilon, d)-DP this is the theorem of Kairouz, Oh and Viswanath (2015), both
   directions at once. Let P*, Q* be the laws if every release used its P0, Q0, and w = the product of the
   (1 - d_i) along a transcript. `Spending` never exceeds its limit, so w >= 1 - (sum of d_i) >= 1 - m.
2. P(S) <= (probability under P that some P1 was used) + int_S w dP* <= m + int_S w dP*, and
   int_S w dQ* <= Q(S). Since 0 <= w <= 1, a bound "P*(T) <= e**eps Q*(T) + d for all T" also holds with
   w 1_S in place of 1_T. So P(S) <= e**eps Q(S) + d + m: it remains to bound P* against Q*.
3. basic: along every transcript the likelihood ratio is at most e**(sum of eps_i): d = 0 and m = delta.
4. concentrated: let L be the log-likelihood ratio so far and R the rho so far. For each order a > 1,
   exp((a - 1)(L - a R)) is a supermartingale under P*, because the next release's rho is known before it is
   made. R never exceeds its limit rho, so E[exp((a - 1) L)] <= exp((a - 1) a rho) at the end, and the
   conversion of Canonne, Kamath and Steinke (2020, corollary 13) holds with any one a.
5. gaussian: a release with mu is a function of a Brownian motion over a time mu**2, whose drift (0 or 1)
   is what D and D' disagree on, and of independent randomness. Each stretch starts where the last one
   ended and its length is known then; the sum of the lengths never exceeds the limit mu**2. So the whole
   transcript is a function of the motion up to the time mu**2, on which the two laws are as far apart as
   N(0, 1) and N(mu, 1): d is the Gaussian delta of mu (Balle, Wang 2018, theorem 8).

Why delta is split beforehand: in 4 and 5 the admissible pairs (amount, mass) must be one rectangle. With
"conversion(amount) + mass <= delta" an analyst could spend mass on transcripts whose loss turned out low
and amount on those whose loss turned out high, and pay nearly delta on both. For the same reason nothing
is admitted by another rule's sum, and the rule never changes.

Sources: Rogers, Roth, Ullman, Vadhan 2016 (filters); Feldman, Zrnic 2021 and Whitehouse, Ramdas, Rogers, Wu
2023 (concentrated); Smith, Thakurta 2022 (gaussian).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import assert_never

from deniable.accounting.gaussian import largest_mu
from deniable.brackets import logarithm
from deniable.errors import BudgetError, ParameterError
from deniable.exact import text

EXACT_BITS = 4096


class Rule(StrEnum):
    """Which sum a ledger counts."""

    BASIC = "basic"
    CONCENTRATED = "concentrated"
    GAUSSIAN = "gaussian"

    @property
    def amount(self) -> str:
        """The name of what is summed."""
        match self:
            case Rule.BASIC:
                return "epsilon"
            case Rule.CONCENTRATED:
                return "rho"
            case Rule.GAUSSIAN:
                return "mu squared"
            case _:
                assert_never(self)


def rule(value: object) -> Rule:
    """Return the rule that the text names; refuse any other."""
    for known in Rule:
        if value == known.value:
            return known
    raise ParameterError("rule", value, "must name a rule", "Write 'basic', 'concentrated' or 'gaussian'.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """An amount and a probability mass: what something costs, what is spent, or what is left.

    `amount` is epsilon, rho or mu squared, as the rule says; `delta` is the mass. Both exact, at least 0.
    """

    rule: Rule
    amount: Fraction
    delta: Fraction

    @property
    def epsilon(self) -> Fraction:
        """The amount, under the basic rule."""
        return self._named(Rule.BASIC)

    @property
    def rho(self) -> Fraction:
        """The amount, under the concentrated rule."""
        return self._named(Rule.CONCENTRATED)

    @property
    def mu_squared(self) -> Fraction:
        """The amount, under the gaussian rule."""
        return self._named(Rule.GAUSSIAN)

    def _named(self, wanted: Rule) -> Fraction:
        if self.rule is not wanted:
            raise AttributeError(f"this ledger counts {self.rule.amount}, not {wanted.amount}")
        return self.amount

    def plus(self, charge: Spending) -> Spending:
        """Return the sum, rounded up where its fractions would grow without end.

        Guarantee: never below the true sum. The sum is exact while its denominators have at most 4096
        bits, so shares of a budget add up to it exactly; above that it is at most 2**-2048 too high.
        """
        amount, delta = _shortened(self.amount + charge.amount), _shortened(self.delta + charge.delta)
        return Spending(rule=self.rule, amount=amount, delta=delta)

    def minus(self, spent: Spending) -> Spending:
        """Return the difference, of a limit and what is spent from it."""
        return Spending(rule=self.rule, amount=self.amount - spent.amount, delta=self.delta - spent.delta)

    def __str__(self) -> str:
        """Write it for what is left: long numbers are rounded down."""
        amount = f"{self.rule.amount} {text(self.amount, up=False)}"
        return f"{amount}, delta {text(self.delta, up=False)}" if self.delta else amount


def nothing(counted: Rule) -> Spending:
    """Return the spending of an unused ledger."""
    return Spending(rule=counted, amount=Fraction(0), delta=Fraction(0))


def limits(counted: Rule, *, epsilon: Fraction, delta: Fraction) -> Spending:
    """Return what a ledger of (epsilon, delta) may spend under a rule; see the table above.

    Raises:  ParameterError: a rule other than basic without a delta, or with one too small to convert.
    """
    if counted is Rule.BASIC:
        return Spending(rule=counted, amount=epsilon, delta=delta)
    if not delta > 0:
        fix = "Give for example delta='1e-8', or rule='basic'."
        raise ParameterError("delta", text(delta), f"must be above 0 under the {counted} rule", fix)
    half = delta / 2
    rho = _rho_limit(epsilon, half)
    if not rho > 0:
        fix = "Give a larger epsilon or delta, or rule='basic'."
        raise ParameterError("epsilon", text(epsilon), f"is too small for the {counted} rule", fix)
    amount = rho if counted is Rule.CONCENTRATED else _down(largest_mu(epsilon, half) ** 2)
    return Spending(rule=counted, amount=amount, delta=half)


def check_fits(charge: Spending, *, spent: Spending, limit: Spending, label: str) -> Spending:
    """Return what is spent once the charge is added; refuse if that exceeds the limit in either number.

    Raises:  BudgetError: names what is short, how much was asked, is left and would fit.
    """
    after, left = spent.plus(charge), limit.minus(spent)
    pairs = ((charge.rule.amount, charge.amount, left.amount), ("delta", charge.delta, left.delta))
    fits = (after.amount <= limit.amount, after.delta <= limit.delta)
    short = [
        (name, text(asked), text(has, up=False))
        for (name, asked, has), enough in zip(pairs, fits, strict=True)
        if not enough
    ]
    if not short:
        return after
    costs = " and ".join(f"{name} {asked}" for name, asked, _ in short)
    has_left = " and ".join(f"{name} {has}" for name, _, has in short)
    message = f"This costs {costs}; {has_left} is left in '{label}'. {_advice(left, short[0][0])}"
    raise BudgetError(message, short=short[0][0], asked=short[0][1], left=short[0][2])


def _advice(left: Spending, short: str) -> str:
    amount, delta = text(left.amount, up=False), text(left.delta, up=False)
    if left.amount == 0:
        return f"Nothing that costs {left.rule.amount} fits any more."
    fits = f"At most {left.rule.amount} {amount} with delta {delta} fits."
    if short == "delta":
        return f"{fits} Lower delta, or name the keys so that none is needed."
    return f"{fits} Lower epsilon, or ask for fewer groups."


def _shortened(number: Fraction) -> Fraction:
    if number.denominator.bit_length() <= EXACT_BITS:
        return number
    grid = 1 << (EXACT_BITS // 2)
    return Fraction(math.ceil(number * grid), grid)


def _rho_limit(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a rho such that rho-zCDP implies (epsilon, delta)-DP, rounded down; within 1e-6 of the best.

    The condition exp((a - 1)(a rho - epsilon)) (1 - 1/a)**a / (a - 1) <= delta is solved for rho at one
    order a. Floats choose a, near the best; the rho at that a is then computed with enclosures.
    """
    low_log = float(logarithm(delta)[0])

    def roughly(log_excess: float) -> float:
        excess = math.exp(log_excess)
        order = 1 + excess
        gain = (low_log + log_excess + order * math.log1p(1 / excess)) / excess
        return (float(epsilon) + gain) / order

    best = max(range(-40, 160), key=lambda step: roughly(step / 4)) / 4
    low, high = best - 0.25, best + 0.25
    for _ in range(60):
        third = (high - low) / 3
        low, high = (
            (low + third, high) if roughly(low + third) < roughly(high - third) else (low, high - third)
        )
    excess = Fraction(math.exp(low))
    order = 1 + excess
    gain = logarithm(delta)[0] + logarithm(excess)[0] - order * logarithm(excess / order)[1]
    return _down((epsilon + gain / excess) / order)


def _down(number: Fraction) -> Fraction:
    """Round down to 64 significant bits."""
    if not number > 0:
        return number
    shift = number.denominator.bit_length() - number.numerator.bit_length() + 64
    grid = Fraction(2) ** shift
    return Fraction(math.floor(number * grid)) / grid
