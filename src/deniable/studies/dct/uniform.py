"""Floating-point draws for a study: good enough to reproduce a figure, and never used to protect anybody."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits

Floats = NDArray[np.float64]


def uniform(n: int, bits: Bits) -> Floats:
    """Return n multiples of 2**-53 in [0, 1)."""
    return (bits.uint64(n) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def normal(n: int, bits: Bits) -> Floats:
    """Return n standard normal draws, by inversion."""
    from scipy.special import ndtri

    drawn: Floats = ndtri(uniform(n, bits) + 2.0**-54)
    return drawn


def exponential(n: int, bits: Bits) -> Floats:
    """Return n draws of the exponential law with mean 1, by inversion."""
    return -np.log1p(-uniform(n, bits))
