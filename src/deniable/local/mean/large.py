"""What no mechanism can go below for large epsilon, where the linear program is too big to solve.

Both bounds are certificates in the sense of `program`, written down instead of solved for. With inputs v of
weight w_v take lambda_v = 2 w_v v and mu_v = w_v (k_v - v**2): then h_v(y) = w_v ((y - v)**2 - k_v), negative
within sqrt(k_v) of v only, and the bound is the average of k_v if G is nowhere below 0.

1. `flat`: all v in [-1, 1] alike (w = 1/2) and one k. The positive part of G, the integral over v of
   max(0, (y - v)**2 - k) / 2, is convex and even in y, so at least its value at 0, 1/3 - k + 2 k**1.5 / 3;
   the negative one is at most R times 2 k**1.5 / 3. So k is a bound if 2 (R - 1) k**1.5 + 3 k <= 1, k <= 1.
2. `certificate`: weights that grow towards the ends, 1 + 16 v**6, and k_v such that G is about 0 at each v,
   for the variance m of the weights: (v**2 + m - average k) / (4/3 R density) = k_v**1.5. It is then lifted
   and measured like any other (`Certificate.bound`). Against the program it is 20 % low at epsilon 6 and 10 %
   low at 8.
"""

from __future__ import annotations

from math import exp

import numpy as np

from deniable.local.mean.program import Certificate

_FEWEST, _EACH = 400, 8
_ENDS, _POWER = 16.0, 6
_ROUNDS = 30


def flat(epsilon: float) -> float:
    """Return the closed bound (step 1), rounded down; epsilon is at most 600."""
    odds, low, high = exp(epsilon), 0.0, 1 / 3
    for _ in range(200):
        middle = (low + high) / 2
        fits = 2 * (odds - 1) * middle**1.5 + 3 * middle <= 1 - 1e-9
        low, high = (middle, high) if fits else (low, middle)
    return low


def certificate(epsilon: float) -> Certificate:
    """Return the certificate of step 2; several inputs lie within sqrt(k_v) of each other."""
    odds, n = exp(epsilon), max(_FEWEST, int(_EACH * exp(epsilon / 3)))
    v = (np.arange(n) + 0.5) / n
    weights = 1 + _ENDS * v**_POWER
    weights /= weights.sum()
    needed, average = 4 / 3 * odds * weights * n / 2, 0.0
    for _ in range(_ROUNDS):
        k = (np.maximum(v**2 + weights @ v**2 - average, 0.0) / needed) ** (2 / 3)
        average = float(weights @ k)
    return Certificate(v, weights, 2 * weights * v, weights * (k - v**2)).lifted(epsilon)
