"""Data for means: the ages of ADULT, and three made-up samples in [-1, 1]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.bits import SeededBits
from deniable.studies.dct import adult
from deniable.studies.dct.uniform import exponential, normal, uniform

Floats = NDArray[np.float64]
AGES = (17, 90)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One number a person, in [-1, 1]. source: where it is from, for the record."""

    name: str
    values: Floats
    synthetic: bool
    source: str

    @property
    def square(self) -> float:
        """The mean of the squares, which the expected errors depend on."""
        return float(np.mean(self.values**2))


def made_up(n: int, seed: int) -> list[Sample]:
    """Return GAUSS (mean 0, sd 1/4, cut), EXP (sd 1/2, stretched onto [-1, 1]) and UNIFORM, n people each."""
    bits = SeededBits(seed, insecure=True)
    waits = 0.5 * exponential(n, bits)
    samples = {
        "GAUSS": np.clip(0.25 * normal(n, bits), -1, 1),
        "EXP": 2 * (waits - waits.min()) / (waits.max() - waits.min()) - 1,
        "UNIFORM": 2 * uniform(n, bits) - 1,
    }
    return [Sample(name, values, True, f"made up, seed {seed}") for name, values in samples.items()]


def ages(table: adult.Rows) -> Sample:
    """Return the ages of ADULT, 17 to 90 scaled to [-1, 1]."""
    low, high = AGES
    numbers = np.array([float(age) for age in table.columns["age"]])
    return Sample("ADULT age", 2 * (numbers - low) / (high - low) - 1, False, table.source)
