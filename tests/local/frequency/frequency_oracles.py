"""What the tests of frequency protocols share: every protocol, a chi-square test, textbook formulas."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from deniable.local.frequency import Frequency
from deniable.local.frequency.choice import Name
from deniable.local.frequency.randomizer import Randomizer

ALPHA = 1e-9
EVERY: tuple[Name, ...] = ("response", "subset", "projective", "hadamard", "olh", "oue", "sue")


def made(mechanism: Any, items: int, epsilon: Any) -> Randomizer:
    return Frequency(epsilon=epsilon, domain=range(items), mechanism=mechanism).randomizer


def key(payload: NDArray[Any]) -> Hashable:
    """The name that `law` gives to one payload."""
    return int(payload) if payload.ndim == 0 else tuple(payload.tolist())


def p_value(payloads: NDArray[Any], law: Mapping[Hashable, Fraction]) -> float:
    """Chi-square of reports against a law; reports that are expected less than 10 times go together."""
    seen = dict.fromkeys(law, 0)
    values, counts = np.unique(payloads, axis=0, return_counts=True)
    for value, count in zip(values, counts, strict=True):
        seen[key(value)] += int(count)
    pairs = [(seen[report], len(payloads) * float(p)) for report, p in law.items()]
    large = [pair for pair in pairs if pair[1] >= 10]
    rest = [sum(side) for side in zip(*(pair for pair in pairs if pair[1] < 10), strict=True)]
    if rest and rest[1] >= 1:
        large.append((int(rest[0]), rest[1]))
    distance = sum((count - mean) ** 2 / mean for count, mean in large)
    return float(chi2.sf(distance, len(large) - 1))


def supports(randomizer: Randomizer, report: Hashable) -> list[int]:
    """0 or 1 for each item: what the server makes of one report."""
    one = np.array([report], randomizer.dtype)
    found: list[int] = randomizer.supported(randomizer.tally(one)).tolist()
    return found


def total(true: float, false: float, items: int) -> float:
    """The textbook total variance of a protocol with these probabilities of support."""
    return (true * (1 - true) + (items - 1) * false * (1 - false)) / (true - false) ** 2


def textbook(items: int, epsilon: float) -> dict[str, float]:
    """Total variances as published: Kairouz 2016, Ye and Barg 2018, Wang 2017, Acharya 2019."""
    e, h = exp(epsilon), exp(epsilon / 2)
    groups = round(e + 1)

    def subset(d: int) -> float:
        p = d * e / (d * e + items - d)
        return total(p, (p * (d - 1) + (1 - p) * d) / (items - 1), items)

    best = int(items / (e + 1))
    return {
        "response": total(e / (e + items - 1), 1 / (e + items - 1), items),
        "sue": total(h / (h + 1), 1 / (h + 1), items),
        "oue": total(0.5, 1 / (e + 1), items),
        "olh": total(e / (e + groups - 1), 1 / groups, items),
        "hadamard": total(e / (e + 1), 0.5, items),
        "subset": min(subset(d) for d in (max(best, 1), best + 1)),
    }
