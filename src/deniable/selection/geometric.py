"""Show a group with the largest chance that (epsilon, delta) allows for its number of units.

Nothing but the list of groups is published: no noisy number. Every unit is counted in at most k =
`max_groups` groups, by 1 in each, the others being dropped.

The rule. p(0) = 0 and p(n) is the largest multiple of 2**-B that is at most
    (a) L p(n-1) + d,     (b) 1 - (1 - p(n-1) - d) / L,     (c) 1,
with a rational L <= e**(epsilon/k), and d a multiple of 2**-B with 1 - (1 - d)**k <= delta (`_rising`,
`_each`; B is `_precision`). p reaches 1: a large group is always shown.

Proof that the groups shown are (epsilon, delta)-private, in both directions.
1. p never falls: (a) and (b) are at least p(n-1), which is itself a multiple of 2**-B.
2. One group, p = p(n-1) and q = p(n). Let e = min(d, q - p). Both laws are drawn so: with probability e the
   group is hidden (n-1 units), is shown (n units); else it is shown with chance p' = p/(1 - e), or
   q' = (q - e)/(1 - e). If q - p <= d, then p' = q'. Otherwise e = d and p < q - d <= L p by (a), and
   1 - q < 1 - d - p <= L (1 - q) by (b). So p' and q', and 1 - p' and 1 - q', are within the factor L.
3. A unit more means one unit more in t <= k groups, each with a coin of its own. With probability
   1 - f >= (1 - d)**t no group is in its first case, and then the laws P', Q' of what is shown are within
   L**t <= e**epsilon of each other. P = (1 - f) P' + f P'' and Q = (1 - f) Q' + f Q'', so for every set S
   P(S) - e**epsilon Q(S) <= (1 - f) (P'(S) - e**epsilon Q'(S)) + f <= f <= delta, and the same with P and Q
   exchanged.
4. Which k of its groups a unit is counted in depends on those groups and a salt alone. Step 3 holds for every
   salt, so it holds on average.
A group that nobody has is never shown, as p(0) = 0: it need not be known.

No other rule for one group shows more: (a) and (b) are what (ln L, d) itself asks of p(n-1) and p(n), so by
induction p(n) is the largest, but for rounding.

Sampling (`keep`). With U uniform on 0 .. 2**B - 1, a group is shown if and only if U < P(n) = 2**B p(n):
exact. The first 16 bits of U decide unless they equal those of P(n) (65,535 where p(n) = 1); then, once in
65,536 groups whatever their numbers are, the other B - 16 bits are drawn.

Source: Desfontaines, Voss, Gipson, Mandayam 2022, "Differentially private partition selection".
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from math import floor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from deniable.accounting.powers import chance_of_any
from deniable.bits import Bits
from deniable.brackets import exponential
from deniable.errors import ParameterError
from deniable.events import Selection
from deniable.exact import Number, positive, probability, text, whole

_SPARE_BITS = 80
_FIRST_BITS = 16
_PIECE = 1 << 16
_LONGEST = 1 << 18


class TruncatedGeometric:
    """The rule for one budget. Make one and use it often: making it takes microseconds for each n.

    Args:    epsilon, delta: above 0; what showing the groups may cost.
             max_groups: in how many groups one unit counts at most.
    Raises:  ParameterError: one is out of range, or epsilon/max_groups is so small that only a group of more
             than 2**18 units would always be shown.
    """

    def __init__(self, *, epsilon: Number, delta: Number, max_groups: int) -> None:
        self.epsilon: Final = positive(epsilon, "epsilon")
        self.delta: Final = probability(delta, "delta")
        self.max_groups: Final = whole(max_groups, "max_groups", at_least=1, at_most=1 << 20)
        if not self.delta > 0:
            raise ParameterError("delta", delta, "must be above 0 to find groups", "Give for example '1e-8'.")
        self._bits = _precision(self.delta, self.max_groups)
        growth, mass = _each(self.epsilon, self.delta, self.max_groups, self._bits)
        self._chances = _rising(growth, mass, self._bits)
        if self.chance(self.certain) < 1:
            fix = "Lower it, raise epsilon, or select by a threshold, which needs fewer units here."
            raise ParameterError("max_groups", max_groups, "is too large for this epsilon", fix)
        rest = self._bits - _FIRST_BITS
        first = [min(p >> rest, (1 << _FIRST_BITS) - 1) for p in self._chances]
        self._first = np.array(first, np.uint16)

    def __repr__(self) -> str:
        budget = f"epsilon={text(self.epsilon)}, delta={text(self.delta)}"
        return f"TruncatedGeometric({budget}, max_groups={self.max_groups})"

    @property
    def event(self) -> Selection:
        """What `keep` does to private data, for all groups together."""
        return Selection(epsilon=self.epsilon, delta=self.delta, rule="truncated-geometric")

    @property
    def half(self) -> int:
        """The least number of units with which a group is shown with a chance of 1/2 or more."""
        return bisect_left(self._chances, 1 << (self._bits - 1))

    @property
    def certain(self) -> int:
        """The least number of units with which a group is always shown."""
        return len(self._chances) - 1

    def chance(self, units: int) -> Fraction:
        """Return the exact chance that a group of so many units is shown; 0 for 0 and below."""
        return Fraction(self._chances[min(max(units, 0), self.certain)], 1 << self._bits)

    def keep(self, counts: NDArray[np.int64], *, bits: Bits) -> NDArray[np.bool_]:
        """Return for each group whether to show it, `(groups,) bool`.

        Args:    counts: units in each group, `(groups,) int64`, in whole units, not in steps of 2**-20. One
                 unit changes at most `max_groups` of them, each by 1. Groups with none are never shown.
        Guarantee: each group is shown with exactly the `chance` of its count, independently.
        """
        kept = np.empty(len(counts), np.bool_)
        for start in range(0, len(counts), _PIECE):
            piece = slice(start, start + _PIECE)
            kept[piece] = self._shown(np.clip(counts[piece], 0, self.certain), bits)
        return kept

    def _shown(self, counts: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
        drawn, first = bits.uint16(len(counts)), self._first.take(counts)
        shown = drawn < first
        rest = self._bits - _FIRST_BITS
        for place in np.flatnonzero(drawn == first):
            word = int(drawn[place]) << rest | bits.integer(rest)
            shown[place] = word < self._chances[counts[place]]
        return shown


def _precision(delta: Fraction, groups: int) -> int:
    """Return B: chances are multiples of 2**-B, so that delta/groups is at least 2**80 of them."""
    return _SPARE_BITS + floor(groups / delta).bit_length()


def _each(epsilon: Fraction, delta: Fraction, groups: int, bits: int) -> tuple[Fraction, int]:
    """Return L <= e**(epsilon/groups), L >= 1, and 2**bits d: the largest with 1 - (1 - d)**groups <= delta.

    L = e**bits is enough: from there on (a) exceeds 1, and (b) is within 2**-bits of 1.
    """
    grid = 1 << (bits + 8)
    power = exponential(min(epsilon / groups, Fraction(bits)), bits + 8)[0]
    low, high = 0, floor(delta * (1 << bits)) + 1
    while high - low > 1:
        middle = (low + high) // 2
        met = chance_of_any(Fraction(middle, 1 << bits), groups) <= delta
        low, high = (middle, high) if met else (low, middle)
    return max(Fraction(1), Fraction(floor(power * grid), grid)), low


def _rising(growth: Fraction, mass: int, bits: int) -> list[int]:
    """Return 2**bits p(n) for n = 0, 1, ... until it is 2**bits, or the list is at its longest."""
    one, (top, bottom) = 1 << bits, growth.as_integer_ratio()
    chances = [0]
    while chances[-1] < one and len(chances) <= _LONGEST:
        p = chances[-1]
        by_growth = p * top // bottom + mass
        by_mirror = one + (one - p - mass) * bottom // -top
        chances.append(min(by_growth, by_mirror, one))
    return chances
