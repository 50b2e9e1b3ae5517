"""On which grid a column is summed, so that sums are exact integers and noise is what the reals need.

The grid is a power of two, public, and as fine as fits: with B the largest size of one value in steps,
R = max_rows and P the population (2**27 if not stated),

    one * R * B * P <= 2**61  and  B <= 2**24,

so the largest sum that there can be stays below where integers saturate, and noise has room above it.
Bounds are rounded inward onto the grid and the clamp is the last step (`Total`): no value counts as more
than the stated bound, and B steps are never more than the bound in output units. A mean is centred on
the grid point nearest the middle of its bounds: B is then about half their distance.

Squares of centred steps are rounded to the nearest multiple of 2**shift, with the least shift for which they,
centred too, fit in the same way: their largest size is about half of the largest square.

| column                                   | grid                                                        |
|------------------------------------------|-------------------------------------------------------------|
| declared integer, summed, fits           | 1: sums are exact and published as integers                  |
| anything else                            | the finest power of two that fits                            |
| bounds that no grid point lies between   | one grid point nearest their middle (sum); refused (mean)    |
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from deniable.errors import ParameterError
from deniable.query.measures import Squares, Total, Tree

UNSTATED_POPULATION = 1 << 27
_LARGEST_SUM = 1 << 61
_MOST_STEPS = 1 << 24
_FEWEST_STEPS = 1 << 8
_EXACT_DOUBLE = 51
_BRANCHING = 16
_MOST_LEAVES = _BRANCHING**3


def total(
    column: str,
    bounds: tuple[Fraction, Fraction],
    *,
    centred: bool,
    whole_numbers: bool,
    max_rows: int | None,
    one: int,
    population: int | None,
) -> Total:
    """Return the sum of `column` on the finest grid that fits.

    one: what a unit that counts in full is written as. whole_numbers: the column is declared an integer.
    Raises:  ParameterError: max_rows times population leaves no room for values, or the bounds of a mean
             are closer together than numbers of their size can be told apart.
    """
    most = _most_steps(max_rows, one, population)
    if whole_numbers and not centred:
        ends = ceil(bounds[0]), floor(bounds[1])
        if ends[0] <= ends[1] and 1 <= max(abs(ends[0]), abs(ends[1])) <= most:
            return Total(column, max_rows, Fraction(1), 0, *ends)
    exponent = _finest(bounds, most, centred=centred)
    return _on_grid(column, bounds, max_rows, Fraction(2) ** exponent, centred=centred)


def squares(of: Total, *, one: int, population: int | None) -> Squares:
    """Return the sum of the squares of a total's steps, rounded by as few bits as fit.

    Raises:  ParameterError: max_rows times population leaves no room.
    """
    most = _most_steps(of.max_rows, one, population)
    shift = 0
    while (found := Squares(of, shift)).high > most:
        shift += 1
    return found


def tree(
    column: str,
    bounds: tuple[Fraction, Fraction],
    *,
    whole_numbers: bool,
    max_rows: int | None,
    one: int,
    population: int | None,
) -> Tree:
    """Return the tree over the values between the bounds: at most 4,096 leaves.

    A leaf is one step of a power of two, as fine as fits; of declared integers no finer than 1.
    Raises:  ParameterError: max_rows times population leaves no room.
    """
    check_room(max_rows, one, population)
    exponent = _power_of_two((bounds[1] - bounds[0]) / (_MOST_LEAVES - 1))
    exponent = max(exponent, _power_of_two(max(abs(bounds[0]), abs(bounds[1]))) - _EXACT_DOUBLE)
    if whole_numbers:
        exponent = max(exponent, 0)
    grid = Fraction(2) ** exponent
    low, high = _inward(bounds, grid)
    of = Total(column, max_rows, grid, low, 0, high - low)
    levels = next(h for h in (1, 2, 3) if of.high < _BRANCHING**h)
    branching = next(b for b in range(1, _BRANCHING + 1) if of.high < b**levels)
    return Tree(of, branching, levels)


def check_room(most: int | None, one: int, population: int | None, *, argument: str = "max_rows") -> None:
    """Refuse counts of values that could fill 2**61.

    most: how many one unit counts, as the argument of that name says.
    Raises:  ParameterError: so many times the population leave no room.
    """
    if one * (most or 1) * (population or UNSTATED_POPULATION) > _LARGEST_SUM:
        fix = f"State the population (how many units there may be at most), or lower {argument}."
        raise ParameterError(argument, most, "leaves no room for exact counts", fix)


def _most_steps(max_rows: int | None, one: int, population: int | None) -> int:
    """Return how many steps one value may have, so that the largest sum stays below 2**61."""
    rows = max_rows or 1
    most = min(_MOST_STEPS, _LARGEST_SUM // (one * rows * (population or UNSTATED_POPULATION)))
    if most < _FEWEST_STEPS:
        fix = "State the population (how many units there may be at most), or lower max_rows."
        raise ParameterError("max_rows", max_rows, "leaves no room for an exact sum", fix)
    return most


def _finest(bounds: tuple[Fraction, Fraction], most: int, *, centred: bool) -> int:
    """Return the least e for which 2**e makes at most `most` steps of every clamped value.

    Also at least 2**-51 of the larger bound: a finer grid than the doubles' own would add nothing.
    """
    low, high = bounds
    reach = (high - low) / 2 if centred else max(abs(low), abs(high))
    exponent = _power_of_two(reach / most)
    if centred:  # the centre is rounded: half a step more on one side
        exponent += ceil(reach / Fraction(2) ** exponent + Fraction(1, 2)) > most
    return max(exponent, _power_of_two(max(abs(low), abs(high))) - _EXACT_DOUBLE)


def _on_grid(
    column: str, bounds: tuple[Fraction, Fraction], max_rows: int | None, grid: Fraction, *, centred: bool
) -> Total:
    middle = floor((bounds[0] + bounds[1]) / 2 / grid + Fraction(1, 2))
    low, high = _inward(bounds, grid)
    centre = middle if centred else 0
    if low == high == centre:
        fix = "Move them apart, or derive the difference from a fixed number and average that."
        raise ParameterError("bounds", bounds, "are too close together for their distance from 0", fix)
    return Total(column, max_rows, grid, centre, low - centre, high - centre)


def _inward(bounds: tuple[Fraction, Fraction], grid: Fraction) -> tuple[int, int]:
    """Return the first and the last step within the bounds; twice the nearest to both if there is none."""
    low, high = ceil(bounds[0] / grid), floor(bounds[1] / grid)
    if not low <= high:
        low = high = floor((bounds[0] + bounds[1]) / 2 / grid + Fraction(1, 2))
    return low, high


def _power_of_two(number: Fraction) -> int:
    """Return the least e with number <= 2**e, number > 0."""
    exponent = number.numerator.bit_length() - number.denominator.bit_length() - 1
    while Fraction(2) ** exponent < number:
        exponent += 1
    return exponent
