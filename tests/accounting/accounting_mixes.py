"""A mix of 500 mechanisms of five kinds, none twice."""

from __future__ import annotations

import numpy as np

from deniable import events


def five_hundred() -> list[events.Event]:
    """Laplace, pure, Gaussian, discrete Gaussian, pure, approximate, in turn; sizes within a factor of 4."""
    spread = np.random.default_rng(0).uniform(0.5, 2, size=500)
    mixed: list[events.Event] = []
    for i, u in enumerate(spread.tolist()):
        small, wide = 1 / (30 * u), 60 * u
        kinds: list[events.Event] = [
            events.Laplace(scale=1, sensitivity=small),
            events.PureDP(epsilon=small),
            events.Gaussian(sigma=wide),
            events.DiscreteGaussian(sigma=wide),
            events.PureDP(epsilon=small),
            events.ApproxDP(epsilon=small, delta=1e-10),
        ]
        mixed.append(kinds[i % 6])
    return mixed
