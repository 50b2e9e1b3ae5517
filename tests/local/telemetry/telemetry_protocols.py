"""One small protocol of each kind, with values that a person may have: what the shared tests go through."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from deniable import local
from deniable.local import Estimate, telemetry
from deniable.local.keyvalue.protocol import Held


def extreme() -> Held:
    """An estimate whose means are at the lower bound: where PrivKVM's lies tell most."""
    nothing = np.zeros(3)
    mean = Estimate(nothing - 1, nothing, nothing, nothing, 1, Fraction(1, 2))
    return Held(nothing, nothing, nothing, nothing, 1, Fraction(1, 2), mean=mean)


PROTOCOLS: dict[str, tuple[Callable[[], Any], Callable[[int], Any]]] = {
    "distribution": (
        lambda: local.Distribution(epsilon=1, bounds=(0, 10), buckets=8),
        lambda n: np.arange(n) % 11,
    ),
    "rappor": (
        lambda: telemetry.RAPPOR(epsilon=2, bits=8, hashes=1, cohorts=2),
        lambda n: [f"site {number % 5}" for number in range(n)],
    ),
    "one bit": (
        lambda: telemetry.OneBitMean(epsilon=1, bounds=(-5, 5), segments=2),
        lambda n: np.arange(n) % 11 - 5.0,
    ),
    "d bits": (
        lambda: telemetry.DBitFlip(epsilon=1, domain=["a", "b", "c", "d"], bits=2),
        lambda n: [("a", "b", "c", "d")[number % 4] for number in range(n)],
    ),
    "pckv-grr": (
        lambda: local.KeyValue(epsilon=1, keys=["red", "blue", "else"], padding=2),
        lambda n: [{"red": 1.0}, {}, {"red": 0.5, "blue": -1.0}, {"else": 0.25}] * (n // 4) + [{}] * (n % 4),
    ),
    "pckv-ue": (
        lambda: local.KeyValue(epsilon=1, keys=["red", "blue"], mechanism="pckv-ue"),
        lambda n: [{"red": 1.0}, {}, {"blue": -1.0}, {"blue": 0.25}] * (n // 4) + [{}] * (n % 4),
    ),
    "privkvm": (
        lambda: local.KeyValue(epsilon=2, keys=["red", "blue", "else"], mechanism="privkvm", rounds=2).next(
            extreme()
        ),
        lambda n: [{"red": 1.0}, {}, {"red": 0.5, "blue": -1.0}, {"else": 0.25}] * (n // 4) + [{}] * (n % 4),
    ),
    "heavy hitters": (
        lambda: local.HeavyHitters(epsilon=1, length=1, step=1, cells=2),
        lambda n: [("a", "b", "else", "")[number % 4] for number in range(n)],
    ),
}
"""Name -> (how it is made, n values of n people)."""
