"""What is charged for noise on columns whose reach is known only after bounds were chosen privately.

The *reach* of a column is by how much one unit can change it, in the norm of its noise. Noise is planned for
public bounds and drawn for the reach that the column turns out to have: scale and reach grow together
(`grown`). What is charged are *references*, which are fixed before anything is read:

| noise    | reference, for e = reach / scale | when                                                      |
|----------|----------------------------------|-----------------------------------------------------------|
| Laplace  | e-DP                             | the e of all columns add up to no more than epsilon       |
| Laplace  | continuous, scale 1, reach a bit | else: their losses are composed                           |
|          | above e                          |                                                           |
| Gaussian | discrete, reach ONE, for as many | always                                                    |
|          | entries as a column can have     |                                                           |

Proof that the references cost no less than what is done.
1. The choices come first. Each is noise of fixed kind and scale on a histogram that a unit moves by at most
   ONE: its own event (`automatic`, step 1). What is chosen from it is public.
2. Kind of noise, and e or sigma_1 below, do not depend on what was chosen: `Plan.settled` carries nothing out
   unless the references are the same.
3. Laplace, by sums: noise of scale s / e on a column of reach s is e-DP, whatever s is. In all other cases s
   is at least ONE: what counts in full is written as ONE, or losses are not composed (`may_compose`); and the
   bound of a measure is a whole number from 1 on.
4. Laplace, by losses: the column is dominated by one integer that moves by s, with noise of scale b = s / e
   (`accounting.curves`). Let F be its distribution function, t = 1/(2b) and k = b (t - ln cosh t) <= 1/2.
   F(x) is that of continuous Laplace noise of scale b at x + k for x < 0, and at x + 1 - k for x >= 0. The
   ratio of the two laws rises, so the best tests reject above some x: their errors are 1 - F(x) and
   F(x - s). For continuous noise these are the errors of a test where the move is s, or, for 0 <= x < s,
   s + 1 - 2k. Other tests mix two of these, and the errors of continuous noise are a convex curve. So the
   column is dominated by continuous noise of scale b that moves by s + 1 - 2k; 1 - 2k = 2b ln cosh(t) <=
   1/(4b). In scales it moves by at most e + 1/(4 b**2) = e + e**2/(4 s**2) <= e + e**2/(4 ONE**2).
5. Gaussian: sigma >= sigma_1 s / ONE for a column of reach s; the reference has sigma_1, ONE, and more than
   one entry. Such noise is priced in two ways, and in both no s makes it cost more than the reference. By
   rho: s**2/sigma**2 <= ONE**2/sigma_1**2. By `accounting.discrete`, for one r**2, which the entries of all
   references together decide: s**2/(sigma**2 - r**2) <= ONE**2/(sigma_1**2 - r**2 ONE**2/s**2) <=
   ONE**2/(sigma_1**2 - r**2); the distance there grows with entries, of which a column has no more.
6. So the rest is dominated by the same pairs for every outcome of the choices. What finds groups is the same
   for every outcome, and costs what it was planned to cost: a threshold as long as the noise of units and the
   weights of groups are the same, chance as long as the number of groups is, rounds always, as they rest on
   max_keys. `settling.selection_holds` carries nothing else out, and `make` plans no max_groups="auto" with
   anything but rounds or declared groups. Mechanisms that are so dominated, each chosen after the outcomes of
   those before, are dominated by all the pairs together (Zhu, Dong, Wang 2022, theorem 10).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, floor

from deniable import accounting, events

ONE = 1 << 20
"""The least reach of a column where bounds are chosen, and that of every choice."""

NODES = 16 + 16**2 + 16**3
"""No measure has more integers than this in one group."""

_WHOLE = 1 << 16

Noise = events.DiscreteLaplace | events.DiscreteGaussian
Charge = Callable[[Sequence[Noise]], tuple[events.Event, ...]]
"""Returns what is charged for noise."""


def may_compose(one: int) -> bool:
    """Return whether losses may be composed where bounds are chosen, if counting in full is written so."""
    return one >= ONE


def references(noise: Sequence[Noise], max_keys: int, epsilon: Fraction) -> Charge:
    """Return what says what is charged for columns that are measured after choices.

    noise: all of it, that of choices and rounds too. epsilon: what all together may cost.
    """
    pure = accounting.within(noise, epsilon=epsilon)
    return lambda some: tuple(reference(event, max_keys=max_keys, pure=pure) for event in some)


def reference(event: Noise, *, max_keys: int, pure: bool) -> events.Event:
    """Return what is charged for a column's noise, whatever reach the column turns out to have.

    pure: the epsilons of all Laplace noise add up to no more than the release may cost.
    """
    if isinstance(event, events.DiscreteGaussian):
        return events.DiscreteGaussian(sigma=_first(event), sensitivity=ONE, coordinates=NODES * max_keys)
    ratio = event.sensitivity / event.scale
    if pure:
        return events.PureDP(epsilon=ratio)
    return events.Laplace(scale=1, sensitivity=ratio + ratio**2 / (4 * ONE**2))


def grown(event: Noise, reach: int, *, coordinates: int) -> Noise:
    """Return the noise of the same column where it has another reach: its reference stays the same."""
    if isinstance(event, events.DiscreteLaplace):
        return events.DiscreteLaplace(scale=event.scale * reach / event.sensitivity, sensitivity=reach)
    square = widened(_first(event), reach)
    return events.DiscreteGaussian(sigma=square, sensitivity=reach, coordinates=coordinates)


def widened(first: Fraction, reach: int) -> Fraction:
    """Return the sigma of a column of this reach, given that of reach ONE, up to rounding up.

    first: a whole number from 2**16 on, else a multiple of 2**-16. `_first` finds it again.
    """
    sigma = first * reach / ONE
    return Fraction(ceil(sigma)) if first >= _WHOLE else Fraction(ceil(sigma * _WHOLE), _WHOLE)


def _first(event: events.DiscreteGaussian) -> Fraction:
    """Return the sigma that a reach of ONE would have. The reach is ONE at least, so that rounding down finds
    the very number that was rounded up."""
    sigma = event.sigma * ONE / event.sensitivity
    return Fraction(floor(sigma)) if sigma >= _WHOLE else Fraction(floor(sigma * _WHOLE), _WHOLE)
