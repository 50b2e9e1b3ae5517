"""The lost parameters of DCT: every plausible d(epsilon), with m = d/2. The paper also has a parameter alpha.

Values are exact dyadics within 2**-40 of the formulas, so that everything that follows is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from deniable.brackets import exponential
from deniable.exact import Number, exact, positive
from deniable.studies.dct.specimen import NotPrivateDCT

ALPHA = Fraction(1, 4)
_GRID = 1 << 40


@dataclass(frozen=True, slots=True)
class Parametrisation:
    """One reading of the paper. why: what speaks for it. d: of epsilon and alpha."""

    name: str
    formula: str
    why: str
    d: Callable[[Fraction, Fraction], Fraction]

    def specimen(self, epsilon: Number, *, alpha: Number = ALPHA) -> NotPrivateDCT:
        """Return the specimen at this claimed epsilon, with m = d/2."""
        claimed = positive(epsilon, "epsilon")
        d = round(self.d(claimed, exact(alpha, "alpha")) * _GRID) / Fraction(_GRID)
        return NotPrivateDCT(epsilon=claimed, d=d, m=d / 2)


def _e(power: Fraction) -> Fraction:
    low, high = exponential(power)
    return (low + high) / 2


PIECEWISE = Parametrisation(
    "DCT, range of PM",
    "d = 2/(e^(eps/2) - 1)",
    "the reports then have the range of PM's",
    lambda epsilon, _: 2 / (_e(epsilon / 2) - 1),
)
DUCHI = Parametrisation(
    "DCT, range of Duchi",
    "d = 2/(e^eps - 1)",
    "the reports then have the range of Duchi's",
    lambda epsilon, _: 2 / (_e(epsilon) - 1),
)
SCALED = Parametrisation(
    "DCT, alpha 1/4",
    "d = alpha/(e^(eps/2) - 1), alpha = 1/4",
    "it fits the claimed gain best",
    lambda epsilon, alpha: alpha / (_e(epsilon / 2) - 1),
)
HALVED = Parametrisation(
    "DCT, half of Duchi",
    "d = 1/(e^eps - 1)",
    "half the range of Duchi's beyond the values",
    lambda epsilon, _: 1 / (_e(epsilon) - 1),
)
FLIPPED = Parametrisation(
    "DCT, flip rate",
    "d = 1/(e^eps + 1)",
    "the rate at which randomised response lies",
    lambda epsilon, _: 1 / (_e(epsilon) + 1),
)
FIXED = Parametrisation(
    "DCT, fixed",
    "d = 0.3",
    "a range that does not look at epsilon",
    lambda _, __: Fraction(3, 10),
)
MAIN = (PIECEWISE, DUCHI, SCALED)
"""The three that the study follows through every figure."""

ALL = (*MAIN, HALVED, FLIPPED, FIXED)
