"""Bit patterns of floats: which doubles occur can tell two inputs apart where their sizes do not.

A double is m 2**e with an odd integer m. Noise that is added in floating point leaves traces in e (a sum is
rounded to the step of its larger part) and in the last bits of the significand. Zeros tell their sign.
Source: Mironov 2012.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deniable.audit.outcomes import Outcomes
from deniable.audit.witnesses.sets import Counts, Feature, Reals

_LAST = 4
PATTERNS = ("binary exponent of the last bit", f"last {_LAST} bits", "sign of zero")
"""What the features of this module are called, after the words of the number."""
_ALWAYS = 2000.0


def features(feature: Feature, first: Reals, second: Reals) -> Iterator[Feature]:
    """Yield e, the last four bits of the 53-bit significand, and the sign of zero; nothing for integers."""
    finite = np.concatenate([first, second])
    finite = finite[np.isfinite(finite)]
    if not len(finite) or (finite == np.floor(finite)).all():
        return
    words = feature.words

    def step(outcomes: Outcomes) -> Reals:
        return exponent_of_last_bit(feature.of(outcomes))

    def last(outcomes: Outcomes) -> Reals:
        return last_bits(feature.of(outcomes))

    def zero(outcomes: Outcomes) -> Reals:
        found = feature.of(outcomes)
        return np.where(found == 0, np.copysign(1.0, found), np.nan)

    yield Feature(f"{words}: {PATTERNS[0]}", step)
    yield Feature(f"{words}: {PATTERNS[1]}", last)
    if (finite == 0).any():
        yield Feature(f"{words}: {PATTERNS[2]}", zero)


def exponent_of_last_bit(found: Reals) -> Reals:
    """Return e of m 2**e, m odd: the output is a multiple of 2**k if and only if e >= k. 2000 for zero."""
    significand, exponent = _parts(found)
    lowest = significand & -significand
    trailing = np.log2(np.maximum(lowest, 1).astype(np.float64))
    e = np.where(significand == 0, _ALWAYS, trailing + exponent - 53)
    return np.where(np.isfinite(found), e, np.nan)


def last_bits(found: Reals) -> Reals:
    """Return the last four bits of the 53-bit significand as a number."""
    significand, _ = _parts(found)
    return np.where(np.isfinite(found), (significand & ((1 << _LAST) - 1)).astype(np.float64), np.nan)


def _parts(found: Reals) -> tuple[Counts, Counts]:
    fraction, exponent = np.frexp(np.where(np.isfinite(found), np.abs(found), 0.0))
    return np.ldexp(fraction, 53).astype(np.int64), exponent.astype(np.int64)
