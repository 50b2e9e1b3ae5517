"""Mechanisms that are broken on purpose, as published software has been: what an audit must catch.

Nothing here protects anybody. Each specimen names its claim and what is wrong. `deniable audit --all` never
looks at these; the tests and the gallery in the documentation do.

| specimen         | claim         | what is wrong                                                         |
|------------------|---------------|-----------------------------------------------------------------------|
| `half_noise`     | epsilon 1     | noise of scale 1/2                                                    |
| `wrong_distance` | epsilon 1     | one person moves the sum by 2; noise was made for 1                   |
| `float_noise`    | epsilon 1     | the right law, in doubles: which doubles occur tells the value        |
| `unshuffled`     | epsilon 1     | subset selection that lists the true item first                       |
| `one_way`        | epsilon ln 3  | a bit that is 1 is always reported as 1                               |
| `wrong_rule`     | (1, .0049258) | publishes at the threshold; that delta belongs to "above it"          |
| `loud_vector`    | epsilon 1     | sparse vector without noise on its threshold                          |
| `published`      | (0, 1/100)    | nothing: the claim holds. With probability delta all data are printed |

Sources: Mironov 2012 (`float_noise`); Lyu, Su, Li 2017 (`loud_vector`); Dwork, Roth 2014 (`published`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.noise.laplace import DiscreteLaplace

ITEMS = 5
"""Items of `unshuffled`; two are listed."""
BITS = 3
"""Bits of a `one_way` report."""
THRESHOLD = 5
"""Of `wrong_rule`."""
RISK = Fraction(1, 100)
"""The delta of `published`."""

_STEPS = 64
_QUERIES = 20
_HALF_BITS = 1 << 63


def half_noise(value: int, n: int, bits: Bits) -> NDArray[np.float64]:
    """Return n results: a count with discrete Laplace noise of scale 1/2 (on a grid of 1/64)."""
    return value + DiscreteLaplace(Fraction(_STEPS, 2)).sample(n, bits=bits) / _STEPS


def wrong_distance(value: int, n: int, bits: Bits) -> NDArray[np.float64]:
    """Return n results: every person counts twice, the noise has scale 1."""
    return 2 * value + DiscreteLaplace(_STEPS).sample(n, bits=bits) / _STEPS


def float_noise(value: float, n: int, bits: Bits) -> NDArray[np.float64]:
    """Return n results: value plus or minus ln(u), u uniform in (0, 1] on the grid of 2**-53, in doubles."""
    uniform = ((bits.uint64(n) >> np.uint64(11)) + 1) * 2.0**-53
    sign = np.where(bits.uint64(n) >= np.uint64(_HALF_BITS), 1.0, -1.0)
    results: NDArray[np.float64] = value + sign * np.log(uniform)
    return results


def unshuffled(item: int) -> dict[tuple[int, ...], Fraction]:
    """Return the law of a report: two of five items; the true one, if it is listed, comes first.

    The true item is listed with probability 1/2, as subset selection at epsilon ln(3/2) would.
    """
    others = [other for other in range(ITEMS) if other != item]
    listed: list[tuple[int, ...]] = [(item, other) for other in others]
    absent: list[tuple[int, ...]] = list(permutations(others, 2))
    law = {report: Fraction(1, 2 * len(listed)) for report in listed}
    return law | {report: Fraction(1, 2 * len(absent)) for report in absent}


def shuffled(item: int) -> dict[tuple[int, ...], Fraction]:
    """Return the law of the same report in random order: epsilon ln(3/2)."""
    law: dict[tuple[int, ...], Fraction] = {}
    for report, share in unshuffled(item).items():
        for order in permutations(report):
            law[order] = law.get(order, Fraction(0)) + share / 2
    return law


def one_way(item: int) -> dict[tuple[int, ...], Fraction]:
    """Return the law of a report of three bits: the bit of the item is 1, any other is 1 by chance 1/4."""
    law = {}
    for report in product((0, 1), repeat=BITS):
        ones = [Fraction(1) if place == item else Fraction(1, 4) for place in range(BITS)]
        law[report] = _all(p if bit else 1 - p for p, bit in zip(ones, report, strict=True))
    return law


def wrong_rule(people: int, n: int, bits: Bits) -> list[frozenset[str]]:
    """Return n results: the group's name if its noisy number of people is at least 5."""
    if people == 0:
        return [frozenset()] * n
    noisy = people + DiscreteLaplace(1).sample(n, bits=bits)
    return [frozenset(["group"]) if shown else frozenset() for shown in noisy >= THRESHOLD]


def loud_vector(count: int, n: int, bits: Bits) -> NDArray[np.int64]:
    """Return n results: the place of the first of 20 equal counts that reaches 1 with noise of scale 2."""
    noisy = count + DiscreteLaplace(2 * _STEPS).sample(n * _QUERIES, bits=bits).reshape(n, _QUERIES) / _STEPS
    above = noisy >= 1
    return np.where(above.any(axis=1), above.argmax(axis=1), _QUERIES)


def published(table: tuple[str, ...]) -> dict[Any, Fraction]:
    """Return the law of the result: the whole table by chance 1/100, else nothing."""
    return {None: 1 - RISK, table: RISK}


def drawn(law: Callable[[Any], dict[Any, Fraction]]) -> Callable[..., list[Any]]:
    """Return a program that draws by a law of this module, to be run as a black box."""

    def run(given: Any, n: int, bits: Bits) -> list[Any]:
        table = law(given)
        outputs = list(table)
        ends = np.cumsum([float(share) for share in table.values()])
        places = np.searchsorted(ends, (bits.uint64(n) >> np.uint64(11)) * 2.0**-53, side="right")
        return [outputs[min(int(place), len(outputs) - 1)] for place in places]

    return run


def _all(shares: Any) -> Fraction:
    whole = Fraction(1)
    for share in shares:
        whole *= share
    return whole
