"""From a solved program to an integer table that keeps epsilon by construction.

1. R is a rational at most e**epsilon (`odds`, the lower end of an enclosure).
2. L_j = round(2**32 q_j), made symmetric; what is below 64 becomes 0 and its output is never used. U_j =
   floor(R L_j). Every entry of column j lies in [L_j, U_j], so no quotient in it exceeds R.
3. A row is rounded into these bounds, and what is then missing to 2**32 is added (or taken off) where there
   is most room (`_filled`). The program was solved for slightly less than epsilon, which makes room.
4. The inputs are *defined* by the rows: v_i = sum_j F_ij y_j / 2**32, exactly. The outputs are stretched
   until the last row reaches 1 (`_stretched`); the first reaches -1, as the table is symmetric.
Whatever went wrong before (a solver that is off, a row with no room) ends in an error or in a table whose
exact variance shows it; `Table.check` and `Law` look again in exact numbers.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np

from deniable.local.mean.laws import Law
from deniable.local.mean.program import Floats, Solution
from deniable.local.tables import Table

_WORD = 1 << 32
_FEWEST = 64
_FINE = 30


def rounded(solution: Solution, odds: Fraction) -> Law:
    """Return the law, a symmetric table with the outputs that it uses.

    Raises:  ArithmeticError: a row has no room for its mass. ParameterError: the inputs do not rise.
    """
    floors = [int(x) for x in np.rint(_mirrored(solution.base) * _WORD)]
    floors = [low if low >= _FEWEST else 0 for low in floors]
    used = [place for place, low in enumerate(floors) if low]
    low = [floors[place] for place in used]
    high = [odds.numerator * floor // odds.denominator for floor in low]
    share = solution.rows[:, used] / solution.rows[:, used].sum(1)[:, None]
    others = [_filled(row, low, high, _WORD) for row in share[1:]]
    half = len(used) // 2
    right = _filled(_mirrored(share[0])[half:], low[half:], high[half:], _WORD // 2)
    middle = [*reversed(right), *right]
    rows = [*([*reversed(row)] for row in reversed(others)), middle, *others]
    values = [round(y * (1 << _FINE)) for y in solution.outputs[used]]
    values = [*(-y for y in reversed(values[half:])), *values[half:]]
    return Law(Table(rows), _stretched(values, rows[-1]), Fraction(1, 1 << _FINE))


def _mirrored(masses: Floats) -> Floats:
    """Return the mean of masses and of their mirror image: the solver's v = 0 need not be symmetric."""
    mean: Floats = (masses + masses[::-1]) / 2
    return mean


def _filled(shares: Floats, low: list[int], high: list[int], mass: int) -> list[int]:
    """Return whole numbers near shares * 2**32 within their bounds, that sum to `mass` (step 3)."""
    row = [
        min(max(round(float(share) * _WORD), floor), roof)
        for share, floor, roof in zip(shares, low, high, strict=True)
    ]
    missing = mass - sum(row)
    for place in sorted(range(len(row)), key=lambda j: min(row[j] - low[j], high[j] - row[j]), reverse=True):
        move = min(max(missing, low[place] - row[place]), high[place] - row[place])
        row[place] += move
        missing -= move
    if missing:
        raise ArithmeticError("a row of the table has no room for its mass")
    return row


def _stretched(values: list[int], last: list[int]) -> list[int]:
    """Return the outputs, stretched so that the last row means at least 1 (step 4)."""
    reach = sum(entry * y for entry, y in zip(last, values, strict=True))
    one = _WORD << _FINE
    if reach >= one:
        return values
    factor = Fraction(ceil(Fraction(one, reach) * (1 << 40)) + 1, 1 << 40)
    while True:
        longer = [round(y * factor) for y in values]
        if sum(entry * y for entry, y in zip(last, longer, strict=True)) >= one:
            return longer
        factor += Fraction(1, 1 << _FINE)
