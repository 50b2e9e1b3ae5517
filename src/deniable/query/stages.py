"""Price a release that first finds its groups and then measures them: in rounds, or by chance.

| found     | the budget                           | its parts                                              |
|-----------|--------------------------------------|--------------------------------------------------------|
| in rounds | mu^2, all noise being Gaussian       | of what columns have in `parts`, `share` is for rounds |
| by chance | epsilon, then that of the noise kind | `share` for groups; of the rest, each as in `parts`    |

`share` is `ROUNDS_SHARE` for rounds, and that of one column by
chance, unless it is given. Half of delta is for finding groups, the rest for noise; by chance, Laplace noise
needs none of it. All of this follows from public facts, before data are read.

Proof that `Price.events` describe what `run` does, and cost no more than epsilon and delta.
1. Rounds: what they show costs no more than the events of all rounds, one after the other; they are fixed
   beforehand, and so is their number (proof in `selection.sips`; the SQL is that of `query.rounds`).
   By chance: the groups shown cost `TruncatedGeometric.event` (proof in `selection.geometric`), each unit
   counting in at most `contributions.groups` groups, by 1 (over="drop", in whole units).
2. What was shown, S, is public. For every S, the columns are a table with one entry for each group in S,
   whoever is in it. With the rows of one more unit, column i moves by at most contributions.l1(measure_i),
   and by at most contributions.l2(measure_i) in length: the proof in `measures` holds for whatever groups a
   unit is in, so also for those of its groups that are in S (rounds), or for those of its at most max_groups
   kept groups that are in S (chance). The histogram counts a unit in one class, as `one`.
   The row of everything else, given S, moves as a unit in one group moves it (proved in `rest`).
3. So given S the columns and the histogram are noise of fixed kinds and scales on vectors of fixed
   sensitivities: their events. S changes which vectors, and nothing else.
4. Mechanisms that are so dominated, each chosen after the outcomes of those before, are dominated by all the
   events together (Zhu, Dong, Wang 2022, theorem 10): what `pricing.verified` asks `accounting.within`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

from deniable.guarantees import ApproxDP
from deniable.query import multiplier
from deniable.query.measures import Contributions, Measure
from deniable.query.parts import Parts
from deniable.query.pricing import NoiseEvent, Price, beside, judging, together, verified
from deniable.selection import sips
from deniable.selection.geometric import TruncatedGeometric

ROUNDS_SHARE = Fraction(68, 100)
"""The part of the squared budget for rounds that served well on ten million skewed visits."""

Number = TypeVar("Number")

_HALF = Fraction(1, 2)


def in_rounds(
    measures: Sequence[Measure],
    contributions: Contributions,
    *,
    epsilon: Fraction,
    delta: Fraction,
    coverage: bool,
    share: Fraction | None,
    rest: bool = False,
    weights: tuple[Fraction, ...] = (),
    choices: tuple[int, ...] = (),
) -> Price:
    """Return the least noise with which rounds and all measures together cost (epsilon, delta).

    Args:    contributions: norm "l2". coverage: a histogram of the groups shown of a unit is bought too.
             rest: so is the row of everything that was not found.
             share: the part of mu^2, but for the histogram's, that goes to the rounds; above 0 and below 1.
    Raises:  ParameterError: epsilon is too small for 64-bit integers, or delta is 0.
    """
    parts = Parts(tuple(measures), contributions, coverage, rest, weights, choices)
    first, most = len(choices), contributions.max_keys
    mass, last = delta * _HALF, first + len(sips.SHARES)
    noise = multiplier.gaussian(
        with_rounds(parts, [sips.ONE] * len(sips.SHARES), parts.moves),
        shares_in_rounds(parts, share),
        with_rounds(parts, [most] * len(sips.SHARES), parts.touched(most)),
        epsilon=epsilon,
        delta=beside(mass, delta),
        judged=judging(parts, epsilon, rounds=len(sips.SHARES)),
    )
    found = sips.thresholded(noise[first:last], [mass * part for part in sips.SHARES])
    guarantee = ApproxDP(epsilon=epsilon, delta=delta)
    return verified(together(parts, [*noise[:first], *noise[last:]], found, guarantee), epsilon, delta)


def by_chance(
    measures: Sequence[Measure],
    contributions: Contributions,
    *,
    epsilon: Fraction,
    delta: Fraction,
    coverage: bool,
    share: Fraction | None,
    rest: bool = False,
    weights: tuple[Fraction, ...] = (),
    choices: tuple[int, ...] = (),
) -> Price:
    """Return the least noise with which the truncated geometric rule and all measures cost (epsilon, delta).

    Args:    contributions: over="drop"; either norm. share: the part of epsilon for the rule.
    Raises:  ParameterError: epsilon is too small for 64-bit integers, or for so many groups of one unit.
    """
    first = epsilon * (Fraction(1, len(measures) + 1) if share is None else share)
    left = epsilon - first
    parts = Parts(tuple(measures), contributions, coverage, rest, weights, choices)
    judged = judging(parts, left)
    noise: Sequence[NoiseEvent]
    if contributions.norm == "l1":
        mass = delta
        noise = multiplier.laplace(parts.moves, parts.shares, epsilon=left, delta=Fraction(0), judged=judged)
    else:
        mass = delta * _HALF
        touched = parts.touched(contributions.groups)
        noise = multiplier.gaussian(
            parts.moves, parts.shares, touched, epsilon=left, delta=beside(mass, delta), judged=judged
        )
    found = TruncatedGeometric(epsilon=first, delta=mass, max_groups=contributions.groups)
    guarantee = ApproxDP(epsilon=epsilon, delta=delta)
    return verified(together(parts, noise, found, guarantee), epsilon, delta)


def shares_in_rounds(parts: Parts, share: Fraction | None) -> list[Fraction]:
    """Return the part of mu^2 of each choice, round and part: rounds take from what columns would have."""
    first = ROUNDS_SHARE if share is None else share
    each = parts.split(parts.shares)
    rounds = [sum(each.columns) * first * part for part in sips.SHARES]
    columns = [(1 - first) * column for column in each.columns]
    coverage = [] if each.coverage is None else [each.coverage]
    return with_rounds(parts, rounds, [*each.choices, *columns, *coverage, *each.rest])


def with_rounds(parts: Parts, rounds: Sequence[Number], each: Sequence[Number]) -> list[Number]:
    """Return a number for each choice, then for each round, then for every other part."""
    first = len(parts.choices)
    return [*each[:first], *rounds, *each[first:]]
