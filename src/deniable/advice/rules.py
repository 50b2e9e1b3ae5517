"""`dn.advise`: which model, which delta, which noise and which threshold, from public facts alone.

It reads no data and spends nothing: everything follows from how many people there are, how much risk is
acceptable, and how many numbers about each person will be published. The rules:

1. Model: with somebody who may hold the raw data, the curator's; without, randomised response, whose error
   grows with the square root of the number of people.
2. delta = risk / population, rounded down, and at most 1e-6: `risk` people are exposed on average at worst.
3. Noise: Laplace (pure, if the groups are named beforehand) unless Gaussian noise is more precise. Laplace
   noise grows with queries * max_groups, Gaussian noise with the square root of that.
4. Groups that are found in the data need a threshold. With Laplace noise delta pays for it alone; with
   Gaussian noise half of it does.

Errors are those of `mechanisms`, exact, for one number about one group of people.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, floor, sqrt
from typing import get_args

from deniable.accounting import UpperBound
from deniable.advice.facts import COUNT, Advice, Choice, Example, Keys
from deniable.brackets import square_root
from deniable.errors import ParameterError
from deniable.exact import Number, positive, whole
from deniable.mechanisms import Gaussian, Laplace, textbook_sigma
from deniable.noise.gaussian import DiscreteGaussian
from deniable.noise.laplace import DiscreteLaplace
from deniable.selection.thresholds import least_threshold

CONFIDENCE = Fraction(95, 100)
LARGEST_DELTA = Fraction(1, 10**6)
_COMPARED = (Fraction(1, 10**6), Fraction(1, 10**9), Fraction(1, 10**12))
_ONE = 1 << 20
_FARTHEST = Fraction(50)


def advise(
    *,
    population: int,
    risk: Number = Fraction(1, 10),
    queries: int = 1,
    max_groups: int = 1,
    epsilon: Number = 1,
    keys: Keys = "unknown",
    trusted: bool = True,
) -> Advice:
    """Return which model, delta, noise and threshold fit, and why. Reads no data, spends nothing.

    Args:    population: how many people there are, as is publicly known.
             risk: how many of them may be exposed in the worst case, on average: below 1.
             queries: how many numbers are published about each group.
             max_groups: in how many groups one person counts.
             epsilon: for everything together; 0.1 to 10 is usual.
             keys: "unknown" if groups are found in the data (free text), "public" if named beforehand.
             trusted: whether people trust somebody to hold what they said.
    Raises:  ParameterError: an argument is out of range.
    """
    people = whole(population, "population", at_least=1, at_most=10**12)
    accepted, spend = _risk(risk), _epsilon(epsilon)
    many = whole(queries, "queries", at_least=1, at_most=10**6)
    groups = whole(max_groups, "max_groups", at_least=1, at_most=10**4)
    if keys not in get_args(Keys):
        raise ParameterError("keys", keys, "is not known", "Write 'unknown' or 'public'.")
    if not isinstance(trusted, bool):
        raise ParameterError("trusted", trusted, "must be True or False", "Leave it out, or write False.")
    delta = _delta(accepted, people)
    choices = (_laplace(spend, delta, many, groups, keys), _gaussian(spend, delta, many, groups, keys))
    best = min(choices, key=lambda choice: choice.error)
    return Advice(
        population=people,
        risk=accepted,
        queries=many,
        max_groups=groups,
        epsilon=spend,
        keys=keys,
        model="curator" if trusted else "local",
        noise=best.noise if trusted else "randomized response",
        delta=best.delta if trusted else Fraction(0),
        threshold=best.threshold if trusted else None,
        choices=choices,
        local_error=_local_error(people, spend / (many * groups)),
        examples=_examples(min(COUNT, people)),
    )


def _risk(risk: object) -> Fraction:
    accepted = positive(risk, "risk")
    if not accepted < 1:
        fix = "It is a number of people who may be exposed: give for example 0.1."
        raise ParameterError("risk", risk, "must be below 1", fix)
    return accepted


def _epsilon(epsilon: object) -> Fraction:
    spend = positive(epsilon, "epsilon")
    if not Fraction(1, 10**6) <= spend <= 1000:
        raise ParameterError("epsilon", epsilon, "is out of range", "0.1 to 10 is usual.")
    return spend


def _delta(risk: Fraction, people: int) -> Fraction:
    """Return risk / people with two digits, rounded down; at most 1e-6."""
    exact = risk / people
    grid = Fraction(10) ** (1 + len(str(floor(1 / exact))))
    return min(LARGEST_DELTA, floor(exact * grid) / grid)


def _laplace(epsilon: Fraction, delta: Fraction, queries: int, groups: int, keys: Keys) -> Choice:
    """All numbers together move by queries * groups (L1)."""
    mechanism = Laplace(epsilon=epsilon, sensitivity=queries * groups, whole=True)
    threshold = None
    if keys == "unknown":
        noise = DiscreteLaplace(mechanism.scale)
        threshold = least_threshold(noise, [1] * groups, delta=delta).least
    spent = delta if keys == "unknown" else Fraction(0)
    error = mechanism.error(confidence=CONFIDENCE)
    return Choice("laplace", spent, mechanism.scale, UpperBound(mechanism.scale), error, threshold)


def _gaussian(epsilon: Fraction, delta: Fraction, queries: int, groups: int, keys: Keys) -> Choice:
    """All numbers together move by sqrt(queries * groups) (L2). E|X| = sigma sqrt(2/pi) < .7979 sigma."""
    root = square_root(Fraction(queries * groups), 40)[1]
    mass = delta / 2 if keys == "unknown" else Fraction(0)
    mechanism = Gaussian(epsilon=epsilon, delta=1 - (1 - delta) / (1 - mass), sensitivity=root)
    threshold = None
    if keys == "unknown":
        noise = DiscreteGaussian((mechanism.sigma * _ONE) ** 2)
        threshold = ceil(Fraction(least_threshold(noise, [_ONE] * groups, delta=mass).least, _ONE))
    expected = UpperBound(mechanism.sigma * Fraction(7979, 10_000))
    error = mechanism.error(confidence=CONFIDENCE)
    return Choice("gaussian", delta, mechanism.sigma, expected, error, threshold)


def _local_error(people: int, epsilon: Fraction) -> Fraction:
    """Return about how far off a count is, 95 times in 100, if all report by randomised response.

    Two answers: the estimate of a count has the variance people * e**epsilon / (e**epsilon - 1)**2.
    """
    growth = exp(float(min(epsilon, _FARTHEST)))
    return Fraction(1.96 * sqrt(people * growth) / (growth - 1)).limit_denominator(10**6)


def _examples(true: int) -> tuple[Example, ...]:
    laplace = Laplace(epsilon=1, sensitivity=1, whole=True)
    near = int(laplace.error(confidence=CONFIDENCE))
    rows = [Example("laplace", Fraction(0), laplace.scale, true - near, true + near, None)]
    for delta in _COMPARED:
        gaussian = Gaussian(epsilon=1, delta=delta, sensitivity=1, whole=True)
        far = int(gaussian.error(confidence=CONFIDENCE))
        textbook = textbook_sigma(epsilon=1, delta=delta)
        rows.append(Example("gaussian", delta, gaussian.sigma, true - far, true + far, textbook))
    return tuple(rows)
