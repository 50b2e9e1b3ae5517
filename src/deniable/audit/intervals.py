"""Clopper-Pearson bounds on a probability, rounded outward and checked in integer arithmetic.

After `hits` successes in `trials` independent trials of probability p, `lower` and `upper` each miss p with
probability at most `alpha`, whatever p is.

Proof for `lower` (`upper` is the same for failures).
1. `tail` encloses P(B >= k), B binomial(n, x), with integers and rationals only (its own docstring).
2. `lower(k, n, alpha)` returns 0, or an x with P(B >= k) <= alpha proved by `tail`. Floating point proposes
   x, a hair below the true root; a proposal that is not proved is moved further down.
3. P(B >= k) rises with x. If the returned bound is above the true p, then P_p(B >= k) <= alpha. The k for
   which that holds are {k >= k0} for some k0, and P_p(B >= k0) <= alpha: so p is missed at most that often.

Source: Clopper, Pearson 1934.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import factorial, nextafter

from deniable.brackets import exponential, logarithm, pi

_HAIR = 2.0**-30
_TRIES = 20
_PRECISION = 128
_TERM_BITS = 96
_REST_BITS = 48
_SMALL = 64


@lru_cache(maxsize=4096)
def lower(hits: int, trials: int, alpha: Fraction) -> Fraction:
    """Return a lower confidence bound: 0 <= bound, P(bound > p) <= alpha.

    | hits   | bound                                     |
    |--------|-------------------------------------------|
    | 0      | 0                                         |
    | trials | just below alpha**(1/trials)              |
    """
    if not 0 <= hits <= trials or trials < 1:
        raise ValueError("hits must be between 0 and trials, trials above 0")
    if hits == 0:
        return Fraction(0)
    from scipy.special import betaincinv

    root = float(betaincinv(hits, trials - hits + 1, float(alpha)))
    hair = _HAIR
    for _ in range(_TRIES):
        proposal = Fraction(nextafter(root - hair * root * max(1 - root, hair), 0))
        if not 0 < proposal < 1 or hits < trials * proposal:
            break
        if tail(hits, trials, proposal)[1] <= alpha:
            return proposal
        hair *= 4
    return Fraction(0)


def upper(hits: int, trials: int, alpha: Fraction) -> Fraction:
    """Return an upper confidence bound: bound <= 1, P(bound < p) <= alpha."""
    return 1 - lower(trials - hits, trials, alpha)


def tail(hits: int, trials: int, x: Fraction) -> tuple[Fraction, Fraction]:
    """Enclose P(B >= hits) for a binomial(trials, x) B, where hits > 0 is not below trials * x and 0 < x < 1.

    Proof. P(B >= k) = t_k (1 + r_k + r_k r_(k+1) + ...), t_k = P(B = k), r_j = (n - j) x / ((j + 1)(1 - x)).
    1. ln t_k is a sum of enclosed logarithms (`_log_term`), so t_k is enclosed by rationals.
    2. The series is summed in fixed point, each product floored for the lower end, ceiled for the upper.
    3. As k >= n x, r_j <= r_k < 1 and r_j falls with j: what is left out after a term u is at most
       u r/(1 - r), r the next ratio; the sum ends when that is below 2**-48 of what was summed, or at n.
    """
    if not (0 < hits <= trials and 0 < x < 1 and hits >= trials * x):
        raise ValueError("the tail is enclosed above the mean only")
    top, bottom = x.numerator, x.denominator - x.numerator
    one = 1 << _TERM_BITS
    low = high = low_sum = high_sum = one
    for j in range(hits, trials):
        up, down = (trials - j) * top, (j + 1) * bottom
        if (high * up) << _REST_BITS < low_sum * (down - up):
            high_sum += high * up // (down - up) + 1
            break
        low, high = low * up // down, -(-high * up // down)
        low_sum, high_sum = low_sum + low, high_sum + high
    ends = _log_term(hits, trials, x)
    if ends[1] < -(1 << 18):
        return Fraction(0), Fraction(1, 1 << 4096)
    return exponential(ends[0])[0] * low_sum / one, exponential(ends[1])[1] * high_sum / one


def _log_term(hits: int, trials: int, x: Fraction) -> tuple[Fraction, Fraction]:
    """Enclose ln P(B = hits)."""
    misses = trials - hits
    plus, minus = _log_factorial(trials), (_log_factorial(hits), _log_factorial(misses))
    hit, miss = logarithm(x, _PRECISION), logarithm(1 - x, _PRECISION)
    low = plus[0] - minus[0][1] - minus[1][1] + hits * hit[0] + misses * miss[0]
    high = plus[1] - minus[0][0] - minus[1][0] + hits * hit[1] + misses * miss[1]
    return _down(low), -_down(-high)


@lru_cache(maxsize=1024)
def _log_factorial(n: int) -> tuple[Fraction, Fraction]:
    """Enclose ln n!: exactly for small n, else Stirling's series, whose partial sums lie on both sides.

    ln n! = (n + 1/2) ln n - n + ln(2 pi)/2 + 1/(12 n) - 1/(360 n**3) + 1/(1260 n**5) - ...
    Source: Whittaker, Watson 1927, 12.33 (the error has the sign of the first term left out).
    """
    if n <= _SMALL:
        return logarithm(Fraction(factorial(n)), _PRECISION)
    of_n, turn = logarithm(Fraction(n), _PRECISION), pi(_PRECISION)
    constant = logarithm(2 * turn[0], _PRECISION)[0] / 2, logarithm(2 * turn[1], _PRECISION)[1] / 2
    half = Fraction(2 * n + 1, 2)
    series = Fraction(1, 12 * n) - Fraction(1, 360 * n**3) + Fraction(1, 1260 * n**5)
    low = half * of_n[0] - n + constant[0] + series - Fraction(1, 1680 * n**7)
    high = half * of_n[1] - n + constant[1] + series
    return _down(low), -_down(-high)


def _down(x: Fraction) -> Fraction:
    return Fraction((x.numerator << _PRECISION) // x.denominator, 1 << _PRECISION)
