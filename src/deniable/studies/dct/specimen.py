"""DCT, as reconstructed from its text. It is NOT private: a specimen for the study, and for nothing else.

A value v in [-1, 1] is reported as a number in [-1 - d, 1 + d]; d > m > 0 are public.
1. *Classify*: around v lie [v-d, v-m), [v-m, v], [v, v+m], (v+m, v+d]. The middle two stand for 1, the outer
   two for 0. v is at the centre, so a fair coin decides (`_classified`).
2. *Perturb*: the bit is kept with probability 1 - f, else it is 0 or 1 with f/2 each, f = 2/(e**epsilon + 1)
   (`_perturbed`).
3. *Invert*: bit 1: uniform on the middle two segments; bit 0: uniform on the outer two (`_inverted`).

What follows, and why.
1. A fair coin through step 2 is a fair coin: epsilon plays no part in what is reported.
2. So a report is v + Z, Z independent of v, with density 1/(4m) for |z| <= m and 1/(4(d-m)) for m < |z| <= d:
   E Z = 0, Var Z = (1/2) m**2/3 + (1/2) (d**2 + d m + m**2)/3 = (d**2 + d m + 2 m**2)/6 (`variance`).
3. The support [v-d, v+d] moves with v. For v < w every report in [v-d, w-d) is possible for v and impossible
   for w: no finite epsilon holds. The mass of those reports is the least delta at any epsilon (`alone`); from
   epsilon = |ln((d-m)/m)| on it is delta itself: where both laws live, their ratio is (d-m)/m, 1 or m/(d-m).
4. If d < 1 the supports of -1 and 1 do not meet: one report tells which it was.

Source: see `deniable.studies.dct`. That paper compares the probabilities of the bits only.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deniable.audit.distributions import Steps
from deniable.bits import Bits
from deniable.brackets import exponential
from deniable.errors import ParameterError
from deniable.exact import Number, exact, positive
from deniable.studies.dct.uniform import uniform

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, init=False)
class NotPrivateDCT:
    """The specimen. epsilon is what the paper claims for it; it keeps none.

    Raises:  ParameterError: d > m > 0 does not hold.
    """

    epsilon: Fraction
    d: Fraction
    m: Fraction

    def __init__(self, *, epsilon: Number, d: Number, m: Number) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "d", positive(d, "d"))
        object.__setattr__(self, "m", positive(m, "m"))
        if not self.m < self.d:
            raise ParameterError("m", m, "must be below d", "Give for example half of d.")

    @property
    def variance(self) -> Fraction:
        """The variance of a report, whatever the value."""
        return (self.d**2 + self.d * self.m + 2 * self.m**2) / 6

    def density(self, value: Number) -> Steps:
        """Return the exact law of a report on this value, for an audit."""
        v, near, far = exact(value, "value"), 1 / (4 * self.m), 1 / (4 * (self.d - self.m))
        edges = [v - self.d, v - self.m, v + self.m, v + self.d]
        return Steps(edges, [far, near, far])

    def alone(self, first: Number, second: Number) -> Fraction:
        """Return the probability of a report on one value that the other cannot have made."""
        gap = min(abs(exact(first, "first") - exact(second, "second")), 2 * self.d)
        return self._mass_below(gap - self.d)

    def delta(self, first: Number, second: Number, *, epsilon: Number) -> tuple[Fraction, Fraction]:
        """Enclose the least delta at this epsilon between two values (the area of (p - e**epsilon q)+)."""
        low, high = exponential(exact(epsilon, "epsilon"))
        p, q = self.density(first), self.density(second)
        cuts = sorted({*p.edges, *q.edges})
        have, lack = p.on(cuts), q.on(cuts)
        over = [[max(Fraction(0), have[cut] - power * lack[cut]) for cut in have] for power in (high, low)]
        return sum(over[0], Fraction(0)), sum(over[1], Fraction(0))

    def report(self, values: Floats, bits: Bits) -> Floats:
        """Return one report for each value, `(n,)`: the three steps of the paper."""
        return values + self._inverted(self._perturbed(_classified(len(values), bits), bits), bits)

    def _perturbed(self, classes: NDArray[np.bool_], bits: Bits) -> NDArray[np.bool_]:
        keep = 1 - 2 / (float(exponential(min(self.epsilon, Fraction(700)))[0]) + 1)
        kept = uniform(len(classes), bits) < keep
        return np.where(kept, classes, uniform(len(classes), bits) < 0.5)

    def _inverted(self, classes: NDArray[np.bool_], bits: Bits) -> Floats:
        d, m = float(self.d), float(self.m)
        place = 2 * uniform(len(classes), bits) - 1
        return np.where(classes, m * place, np.copysign(m, place) + (d - m) * place)

    def _mass_below(self, place: Fraction) -> Fraction:
        """Return P(Z <= place), for place >= -d."""
        steps = self.density(0)
        pieces = zip(pairwise(steps.edges), steps.heights, strict=True)
        return sum(
            (max(Fraction(0), min(right, place) - left) * height for (left, right), height in pieces),
            Fraction(0),
        )


def _classified(n: int, bits: Bits) -> NDArray[np.bool_]:
    return uniform(n, bits) < 0.5
