"""Which law a mechanism of a given name has.

| mechanism    | law                                                                                     |
|--------------|-----------------------------------------------------------------------------------------|
| "optimal"    | the integer table of the linear program (`optimal`, `shipped`); beyond its range Duchi's |
|              | (epsilon below 0.1) or the best window (above 8)                                        |
| "duchi"      | two outputs (Duchi, Jordan, Wainwright 2018; 1BitMean is the same)                      |
| "piecewise"  | PM of Wang et al. 2019, a window of the share (C - 1) / 2C                              |
| "hybrid"     | HM: PM with probability 1 - e**(-epsilon / 2) if epsilon > 0.61, else Duchi's alone     |
| "classified" | a window of the best share (the sound form of a "classified transformation")            |

PM, HM and the classified response are continuous in their papers; here they live on an odd number of evenly
spaced outputs, fine enough to change the variance by less than 1 % up to epsilon 8 (the exact variance is
known and stated).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import exp
from typing import Literal, assert_never

from deniable.errors import ParameterError
from deniable.local.mean import optimal as programs
from deniable.local.mean import shipped, windows
from deniable.local.mean.laws import Law
from deniable.local.mean.priors import Prior

Finite = Literal["optimal", "duchi", "piecewise", "hybrid", "classified"]
LEAST = Fraction(1, 1 << 40)
_PLACES = (1023, 2047, 4095, 8191, 16383)
_WIDE = 128
_HYBRID = Fraction(61, 100)


@lru_cache(maxsize=64)
def law_of(mechanism: Finite, epsilon: Fraction, assumed: Prior | None) -> Law:
    """Return the law, checked; epsilon is at least `LEAST`."""
    match mechanism:
        case "optimal":
            law = optimal(epsilon, assumed)
        case "duchi":
            law = windows.duchi(epsilon)
        case "piecewise":
            law = windows.of_width(epsilon, *_piecewise(epsilon))
        case "hybrid":
            law = _hybrid(epsilon)
        case "classified":
            places = _places(epsilon)
            law = windows.of_width(epsilon, places, windows.best_share(epsilon, places))
        case _:
            assert_never(mechanism)
    law.drawn.check(epsilon)
    return law


@lru_cache(maxsize=64)
def optimal(epsilon: Fraction, assumed: Prior | None) -> Law:
    """Return the best law there is for an epsilon and an objective."""
    if epsilon < programs.LEAST:
        return windows.duchi(epsilon)
    if epsilon > programs.MOST:
        return law_of("classified", epsilon, None)
    found = shipped.law(epsilon, assumed) or programs.build(epsilon, assumed)
    return programs.better(epsilon, assumed, found)


def used(mechanism: Finite | Literal["laplace"], epsilon: Fraction) -> Finite | Literal["laplace"]:
    """Return the mechanism that one of this name is at this epsilon: beyond its range it is another."""
    match mechanism:
        case "optimal" if epsilon < programs.LEAST:
            return "duchi"
        case "optimal" if epsilon > programs.MOST:
            return "classified"
        case "hybrid" if epsilon <= _HYBRID:
            return "duchi"
    return mechanism


def _piecewise(epsilon: Fraction) -> tuple[int, int]:
    places = _places(epsilon)
    return places, max(1, round(windows.piecewise_share(epsilon) * places))


def _places(epsilon: Fraction) -> int:
    """Return how many outputs a window needs to be of some width itself."""
    enough = (places for places in _PLACES if places * windows.piecewise_share(epsilon) >= _WIDE)
    return next(enough, _PLACES[-1])


def _hybrid(epsilon: Fraction) -> Law:
    if epsilon <= _HYBRID:
        return windows.duchi(epsilon)
    share = 1 - Fraction(exp(-float(min(epsilon, Fraction(1400))) / 2))
    if share > 1 - Fraction(1, 1 << 40):
        return law_of("piecewise", epsilon, None)
    return windows.hybrid(epsilon, *_piecewise(epsilon), windows.duchi(epsilon).unit, share)


def named(mechanism: object) -> Finite | Literal["laplace"]:
    """Return the name of a mechanism; refuse any other."""
    for name in ("optimal", "duchi", "piecewise", "hybrid", "classified", "laplace"):
        if mechanism == name:
            return name
    fix = 'Write "optimal", "duchi", "piecewise", "hybrid", "laplace" or "classified".'
    raise ParameterError("mechanism", mechanism, "is unknown", fix)
