"""How noisy all columns of a plan are together: the least common multiplier z that is proved.

Column i can move by moves[i] and has a share of the budget; the shares add up to 1.

| noise    | scale of column i               | z of basic composition | tried first              |
|----------|---------------------------------|------------------------|--------------------------|
| Laplace  | z * moves[i] / shares[i]        | 1 / epsilon            | that one: needs no delta |
| Gaussian | z * moves[i] / sqrt(shares[i])  |                        | the continuous one's z   |

Where bounds are chosen privately, sigma is that of `charged.widened`, and references are judged (`charged`).

All columns are one composition: `accounting.within` judges the very events, and no z is used that it does not
prove. Larger z means more noise in every column and is never worse, so halving finds the least to within
CLOSE (Laplace), and adding ever more to the continuous z to within 2**-24 or little more (Gaussian).

Laplace noise that is smaller by less than WORTH than basic composition's is not worth the delta that it
would take: there z = 1/epsilon stays, exactly. So a few columns (fewer than about ten, at a delta of 1e-6)
are composed by adding their epsilons: when all of k losses are at their largest together, which happens with
a chance of about 2**-k, nothing less than the sum of the epsilons will do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil

from deniable import accounting, events
from deniable.brackets import square_root
from deniable.errors import ParameterError
from deniable.exact import text
from deniable.query import charged

WORTH = Fraction(1, 1000)
CLOSE = Fraction(1, 1 << 13)
_LARGEST_SCALE = 1 << 56
_FINE = 1 << 16
_DIGITS = 12


def laplace(
    moves: Sequence[int],
    shares: Sequence[Fraction],
    *,
    epsilon: Fraction,
    delta: Fraction,
    judged: charged.Charge | None = None,
) -> tuple[events.DiscreteLaplace, ...]:
    """Return Laplace columns that together are (epsilon, delta)-private, with the least noise.

    judged: what is charged for noise, where that is not the noise itself.
    Guarantee: at delta 0 basic composition, exactly; never more noise than that.
    Raises:  ParameterError: epsilon is too small for 64-bit integers.
    """

    def noise(multiplier: Fraction) -> tuple[events.DiscreteLaplace, ...]:
        return tuple(
            events.DiscreteLaplace(scale=multiplier * move / share, sensitivity=move)
            for move, share in zip(moves, shares, strict=True)
        )

    def holds(multiplier: Fraction) -> bool:
        found = noise(multiplier)
        return accounting.within(judged(found) if judged else found, epsilon=epsilon, delta=delta)

    check_scales([move / (epsilon * share) for move, share in zip(moves, shares, strict=True)], epsilon)
    worth = (1 - WORTH) / epsilon
    if not (len(moves) > 1 and delta > 0 and holds(worth)):
        return noise(1 / epsilon)
    return noise(_least(holds, worth))


def gaussian(
    moves: Sequence[int],
    shares: Sequence[Fraction],
    touched: Sequence[int],
    *,
    epsilon: Fraction,
    delta: Fraction,
    judged: charged.Charge | None = None,
) -> tuple[events.DiscreteGaussian, ...]:
    """Return Gaussian columns that together are (epsilon, delta)-private, with about the least noise.

    touched: in how many entries of each column a unit can be. judged: what is charged for noise, where bounds
    are chosen.
    Raises:  ParameterError: delta is 0, or epsilon is too small for 64-bit integers.
    """
    if not delta > 0:
        raise ParameterError("delta", "0", "must be above 0 for Gaussian noise", "Give for example '1e-8'.")
    least = accounting.calibrate(events.Gaussian, epsilon=epsilon, delta=delta).sigma
    for doubling in range(40):
        multiplier = least * (1 + Fraction(1 << doubling, 1 << 24))
        sigmas = [
            _sigma(move * multiplier, share)
            if judged is None
            else charged.widened(_sigma(charged.ONE * multiplier, share), move)
            for move, share in zip(moves, shares, strict=True)
        ]
        check_scales(sigmas, epsilon)
        noise = tuple(
            events.DiscreteGaussian(sigma=sigma, sensitivity=move, coordinates=most)
            for sigma, move, most in zip(sigmas, moves, touched, strict=True)
        )
        if accounting.within(judged(noise) if judged else noise, epsilon=epsilon, delta=delta):
            return noise
    raise ParameterError(
        "epsilon", text(epsilon), "is out of reach of Gaussian noise", "Ask for Laplace noise."
    )


def _least(holds: Callable[[Fraction], bool], known: Fraction) -> Fraction:
    """Return a multiplier that holds, and not by more than CLOSE above one that does not; `known` holds."""
    low, high = known / 2, known
    while holds(low):
        low, high = low / 2, low
    while high > low * (1 + CLOSE):
        middle = _short((low + high) / 2)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _short(number: Fraction) -> Fraction:
    """Return the number with at least 12 significant digits, so that what is stored stays short."""
    places = _DIGITS + len(str(number.denominator)) - len(str(number.numerator))
    grid = Fraction(10) ** places
    return ceil(number * grid) / grid


def _sigma(numerator: Fraction, share: Fraction) -> Fraction:
    """Return numerator / sqrt(share), rounded up: to a whole number from 2**16 on, else to 2**-16."""
    exact = square_root(numerator**2 / share)[1]
    return Fraction(ceil(exact)) if exact >= _FINE else Fraction(ceil(exact * _FINE), _FINE)


def check_scales(scales: Sequence[Fraction], epsilon: Fraction) -> None:
    """Refuse noise that 64-bit integers do not hold."""
    if not max(scales) <= _LARGEST_SCALE:
        fix = "Raise epsilon, or lower max_groups, max_rows or the bounds."
        raise ParameterError("epsilon", text(epsilon), "needs more noise than 64-bit integers hold", fix)
