"""Check a claim by numerical integration of two densities. Its verdict is `Computed`: never a proof.

delta(epsilon) is the area of max(0, p(x) - e**epsilon q(x)). The line is cut where that difference changes
its sign on a fine grid, and where the densities say that they break; each piece is integrated by itself. The
error is the sum of QUADPACK's estimates and of what the densities themselves miss to area 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import exp, inf, isfinite

from deniable.audit.verdict import Claim, Computed, Violated
from deniable.errors import ParameterError

_GRID = 2000
_AREA_ERROR = 1e-6
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Density:
    """A density on the line as a Python function.

    of:      x -> density, at least 0. support: where it is not 0. breaks: points where it jumps or bends, or
             around which it lives (they place the grid).
    """

    of: Callable[[float], float]
    support: tuple[float, float] = (-inf, inf)
    breaks: tuple[float, ...] = ()

    def __call__(self, x: float) -> float:
        return float(self.of(x)) if self.support[0] <= x <= self.support[1] else 0.0


def decided(
    inputs: Sequence[object], densities: Sequence[Density], pairs: Sequence[tuple[int, int]], claim: Claim
) -> Computed | Violated:
    """Return the verdict on the claim for these ordered pairs of places.

    Raises:  ParameterError: a density does not have area 1.
    """
    areas = [_area_error(given, density) for given, density in zip(inputs, densities, strict=True)]
    power = exp(float(claim.epsilon))
    most, most_error = 0.0, max(areas, default=0.0)
    for first, second in pairs:
        delta, error = hockey_stick(densities[first], densities[second], power)
        error += areas[first] + power * areas[second] + _ROUNDING
        if delta - error > claim.delta:
            return _violated(inputs, densities, (first, second), claim, power)
        if delta > most:
            most, most_error = delta, error
    how = f"{len(pairs):,} ordered pairs of densities were integrated numerically."
    return Computed(claim, most, most_error, how)


def hockey_stick(p: Density, q: Density, power: float) -> tuple[float, float]:
    """Return the area of max(0, p - power q) and an estimate of its error."""

    def above(x: float) -> float:
        return max(0.0, p(x) - power * q(x))

    return _area(above, _cuts(p, q, power))


def _area_error(given: object, density: Density) -> float:
    area, error = _area(density, sorted({*density.support, *density.breaks}))
    if not abs(area - 1) <= _AREA_ERROR:
        fix = "Scale it to area 1, or name the points where it jumps in `breaks`."
        raise ParameterError("mechanism", given, f"has a density of area {area:.6g} on this input", fix)
    return abs(area - 1) + error


def _area(height: Callable[[float], float], cuts: Sequence[float]) -> tuple[float, float]:
    from scipy.integrate import quad

    area = error = 0.0
    for left, right in pairwise(cuts):
        found = quad(height, left, right, limit=200)
        area, error = area + found[0], error + found[1]
    return area, error


def _cuts(p: Density, q: Density, power: float) -> list[float]:
    """Return where to cut: ends, breaks, and changes of the sign of p - power q."""
    from scipy.optimize import brentq

    ends = (min(p.support[0], q.support[0]), max(p.support[1], q.support[1]))
    fixed = sorted({*ends, *p.support, *q.support, *p.breaks, *q.breaks})
    cuts = set(fixed)

    def over(x: float) -> float:
        return p(x) - power * q(x)

    for left, right in pairwise(sorted({*_grid(fixed), *(x for x in fixed if isfinite(x))})):
        if over(left) * over(right) < 0:
            cuts.add(float(brentq(over, left, right)))
    return sorted(cuts)


def _grid(fixed: Sequence[float]) -> Iterator[float]:
    """Yield points over the whole support, densest around the breaks."""
    finite = [x for x in fixed if isfinite(x)]
    if len(finite) == len(fixed):
        low, high = finite[0], finite[-1]
        yield from (low + (high - low) * i / _GRID for i in range(_GRID + 1))
        return
    middle = sum(finite) / len(finite) if finite else 0.0
    spread = max(1.0, *(abs(x - middle) for x in finite)) if finite else 1.0
    for i in range(1, _GRID):
        t = 2 * i / _GRID - 1
        x = middle + spread * t / (1 - t * t)
        if fixed[0] < x < fixed[-1]:
            yield x


def _violated(
    inputs: Sequence[object], densities: Sequence[Density], pair: tuple[int, int], claim: Claim, power: float
) -> Violated:
    p, q = densities[pair[0]], densities[pair[1]]
    pieces = [
        (a, b) for a, b in pairwise(_cuts(p, q, power)) if _area(lambda x: p(x) - power * q(x), (a, b))[0] > 0
    ]
    first = sum(_area(p, piece)[0] for piece in pieces)
    second = sum(_area(q, piece)[0] for piece in pieces)
    shown = Fraction(min(max(first, 0.0), 1.0)), Fraction(min(max(second, 0.0), 1.0))
    return Violated(claim, (inputs[pair[0]], inputs[pair[1]]), tuple(pieces), *shown, "computed")
