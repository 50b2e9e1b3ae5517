"""What is counted, as integers, and by how much one unit can change it.

A *measure* turns the rows of one unit in one group into one integer; `bound` is the largest that its
size can be. `Contributions` says how a unit with many groups is cut down; from it follow the L1 and L2
bounds that noise is priced with. Everything here is public: nothing is read from data.

Proof that `l1` and `l2` bound the change when all rows of one unit are added or removed:
1. The vector has one integer for each group. It is the sum over units of w * v, with v the measure of
   (unit, group), |v| <= bound, and w a whole weight of the unit. Weights and kept groups of one unit
   depend on its own rows and on the salt alone, so the other units' terms stay as they are.
2. The unit is counted in t groups. `over="drop"`: t <= min(max_groups, max_keys), w = one.
   `over="weight"`: t = m <= max_keys, w = W[m] (`weight_table`).
3. So L1 <= bound * max of t * w, and L2^2 <= bound^2 * max of t * w^2: `_steepest` takes the maximum
   over the very integers that are used, and for the norm that the weights serve it is
   min(max_groups, max_keys) * one (L1), or min(max_groups, max_keys) * one^2 (L2 squared), because
   m * ((k * one) // m) <= k * one and m * isqrt((k * one^2) // m)^2 <= k * one^2.
4. A `Tree` or `Bins` has several integers for each group. A unit of weight w adds at least 0 to each leaf,
   and to all leaves of a group at most w * bound: c rows of n add w * c if n <= R, else floor(w * R * c / n).
   Each node above is a sum of leaves that are below no other node of its level, so on every level of a
   group the same holds: L1 <= w * bound, and L2 <= L1. Over all groups a level has the L1 and L2 of step 3;
   h levels have h times that in L1, and the squares of h equal lengths add up: sqrt(h) times in L2.
   Sums that are cut at 2^62 move no further apart.
5. `Distinct` has one integer for each group: the sum over values of the largest weight w among the units that
   count with the value there. Each unit counts with at most `bound` values of its own in a group, chosen
   from its own rows and the salt. With a unit more, of weight w, the largest weight of each of these values
   becomes max(old, w): it rises by at most w and at least 0, and that of all other values stays. So a group
   rises by at most w * bound, as in step 1, and steps 2 and 3 hold. A value that another unit of the same
   weight has too moves nothing: values that people share count once.
6. Each sum is clamped to +-2^62 at the end. That moves two sums no further apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Literal, assert_never

from deniable.errors import ParameterError

LIMIT = 1 << 62
"""No published integer is beyond this before noise."""

GRID_EXPONENTS = 900
"""A grid is 2**e with |e| at most this, so that scaling a bounded double never overflows."""

_WIDEST = 1 << 120


@dataclass(frozen=True, slots=True)
class Units:
    """1 for each (unit, group): the unit has a row there, whatever the values in it."""

    @property
    def bound(self) -> int:
        """Always 1."""
        return 1


@dataclass(frozen=True, slots=True)
class Count:
    """The rows that have a value in `column` (all rows if None), at most `max_rows`.

    max_rows None: every row is its own unit, so that one is the most there can be.
    """

    column: str | None
    max_rows: int | None

    def __post_init__(self) -> None:
        _check_rows(self.max_rows)

    @property
    def bound(self) -> int:
        """The most that one unit counts in one group."""
        return self.max_rows or 1


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of X = clamp(floor(x / grid + 1/2) - centre, low, high) over rows that have a value.

    With n > R = max_rows such rows it is trunc(sum * R / n), toward zero: the mean of all samples of
    R rows. In output units one step is `grid`, and `centre * grid` must be added for every row.
    grid: a power of two. low, high: whole steps from the centre.
    """

    column: str
    max_rows: int | None
    grid: Fraction
    centre: int
    low: int
    high: int

    def __post_init__(self) -> None:
        _check_rows(self.max_rows)
        if abs(_exponent(self.grid)) > GRID_EXPONENTS:
            raise ParameterError("grid", self.grid, "is out of range", "Give a power of two nearer to 1.")
        if not self.low <= self.high:
            raise ParameterError("low", self.low, "must not be above high", "Swap the two bounds.")
        if not self.bound <= LIMIT:
            fix = "Use a coarser grid, narrower bounds or fewer max_rows."
            raise ParameterError("bounds", (self.low, self.high), "are too wide to be summed exactly", fix)
        if not abs(self.centre) <= _WIDEST:
            raise ParameterError("centre", self.centre, "is too far from 0", "Use a coarser grid.")

    @property
    def exponent(self) -> int:
        """The whole number e of grid = 2**e."""
        return _exponent(self.grid)

    @property
    def reach(self) -> int:
        """The largest size of one X, in grid steps."""
        return max(abs(self.low), abs(self.high))

    @property
    def bound(self) -> int:
        """The most, in grid steps, that one unit adds to or takes from one group."""
        return self.reach * (self.max_rows or 1)


@dataclass(frozen=True, slots=True)
class Squares:
    """The sum of Y = floor(X**2 / 2**shift + 1/2) - centre over rows that have a value, X that of `of`.

    Shared as a total is where there are more than max_rows rows. X is between -B and B, so
    Y + centre is a whole number from 0 to top = floor(B**2 / 2**shift + 1/2), and centre = top // 2 makes
    the largest size of Y half of that: |Y| <= top - centre. One step is worth grid**2 * 2**shift, and
    `centre` steps must be added for every row.
    """

    of: Total
    shift: int

    def __post_init__(self) -> None:
        if not self.of.reach < 1 << 30 or not 0 <= self.shift <= 62:
            raise ParameterError("bounds", self.of, "are too wide to be squared", "Use a coarser grid.")
        if not self.bound <= LIMIT:
            raise ParameterError("bounds", self.of, "are too wide to be squared", "Use fewer max_rows.")

    @property
    def column(self) -> str:
        """The column whose values are squared."""
        return self.of.column

    @property
    def max_rows(self) -> int | None:
        """The rows of one unit that count in one group."""
        return self.of.max_rows

    @property
    def half(self) -> int:
        """What is added before the shift, so that it rounds to the nearest."""
        return (1 << self.shift) >> 1

    @property
    def top(self) -> int:
        """The largest rounded square."""
        return (self.of.reach**2 + self.half) >> self.shift

    @property
    def centre(self) -> int:
        """What is taken off every rounded square."""
        return self.top // 2

    @property
    def low(self) -> int:
        """The least Y."""
        return -self.centre

    @property
    def high(self) -> int:
        """The largest Y."""
        return self.top - self.centre

    @property
    def grid(self) -> Fraction:
        """What one step is worth, in squared units of the column."""
        return self.of.grid**2 * (1 << self.shift)

    @property
    def bound(self) -> int:
        """The most, in steps, that one unit adds to or takes from one group."""
        return self.high * (self.max_rows or 1)


Summed = Total | Squares
"""What adds up a number of steps for every row."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Rows by value: one integer for each node, at every level, of a tree over the values that may be.

    of: in which leaf a value is: its X, from 0. branching, levels: each node has `branching` children, and
    the level of leaves is the last of `levels`; the root is not measured. With n > R = max_rows rows, c of
    them in a leaf, a unit of weight w counts floor(w * R * c / n) there, else w * c; nodes above hold sums
    of leaves.
    """

    of: Total
    branching: int
    levels: int

    @property
    def column(self) -> str:
        """The column whose values are told apart."""
        return self.of.column

    @property
    def max_rows(self) -> int | None:
        """The rows of one unit that count in one group."""
        return self.of.max_rows

    @property
    def leaves(self) -> int:
        """How many leaves a value can be in; the tree may have a few more, which stay empty."""
        return self.of.high + 1

    @property
    def nodes(self) -> int:
        """How many integers there are for each group."""
        return sum(self.branching**level for level in range(1, self.levels + 1))

    @property
    def bound(self) -> int:
        """The most that one unit counts in all nodes of one level of one group."""
        return self.max_rows or 1


@dataclass(frozen=True, slots=True)
class Bins:
    """Rows by value: one integer for each of the bins between edges; a tree of one level.

    Bin i holds edges[i] <= x < edges[i + 1], the last one its upper edge too; other values count nowhere.
    """

    column: str
    max_rows: int | None
    edges: tuple[Fraction, ...]

    @property
    def levels(self) -> int:
        """Always 1."""
        return 1

    @property
    def leaves(self) -> int:
        """How many bins there are."""
        return len(self.edges) - 1

    @property
    def nodes(self) -> int:
        """How many integers there are for each group."""
        return self.leaves

    @property
    def bound(self) -> int:
        """The most that one unit counts in all bins of one group."""
        return self.max_rows or 1


@dataclass(frozen=True, slots=True)
class Distinct:
    """How many different values `column` has in the group, of each unit at most `max_values`.

    Of a unit with more, a salted hash of value and unit chooses. A value counts as much as that of its units
    that counts most: 1 without weights. max_values None: every row is its own unit, with one value.
    """

    column: str
    max_values: int | None

    def __post_init__(self) -> None:
        _check_rows(self.max_values, "max_values")

    @property
    def bound(self) -> int:
        """The most values that one unit brings into one group."""
        return self.max_values or 1


Rank = Fraction | Literal["minimum", "maximum"]
"""Which of the sorted values: the one at a share of all rows, or one near an end."""

Spread = Tree | Bins
"""What has several integers for each group."""

Measure = Units | Count | Summed | Spread | Distinct


@dataclass(frozen=True, slots=True)
class Contributions:
    """How a unit that is in many groups is cut down to a known size.

    over="weight": in m groups it counts W[m] / one in each. over="drop": in `max_groups` of them, chosen
    by a salted hash, `one` in each. Either way it is in at most `max_keys` groups to begin with.
    norm: "l1" (weights for Laplace noise) or "l2" (for Gaussian noise). one: what counting fully is
    written as: 2**20 with weights and with Gaussian noise, else 1.
    """

    over: Literal["weight", "drop"]
    norm: Literal["l1", "l2"]
    max_groups: int
    max_keys: int
    one: int

    def __post_init__(self) -> None:
        for name in ("max_groups", "max_keys", "one"):
            if not 1 <= getattr(self, name) <= 1 << 20:
                fix = "Give a whole number from 1 to 1,048,576."
                raise ParameterError(name, getattr(self, name), "is out of range", fix)

    @property
    def groups(self) -> int:
        """In how many groups one unit can count in full."""
        return min(self.max_groups, self.max_keys)

    def l1(self, measure: Measure) -> int:
        """Return the most that one unit changes the sum of |entries| of this measure's column."""
        return measure.bound * levels(measure) * self._steepest(1)

    def l2(self, measure: Measure) -> int:
        """Return the most that one unit changes the Euclidean length of this measure's column, rounded up."""
        square = measure.bound**2 * levels(measure) * self._steepest(2)
        root = isqrt(square)
        return root if root * root == square else root + 1

    def _steepest(self, power: Literal[1, 2]) -> int:
        """Return the maximum of t * w**power over every number of groups t that a unit can count in."""
        full = self.groups * _power(self.one, power)
        match self.over:
            case "drop":
                return full
            case "weight":
                if (self.norm, power) in (("l1", 1), ("l2", 2)):
                    return full
                return max(m * _power(weight, power) for m, weight in enumerate(weight_table(self)))
            case other:
                assert_never(other)


def is_by_value(measure: Measure) -> bool:
    """Return whether rows must be told apart by their value: then they go into a table of their own."""
    return isinstance(measure, Spread | Distinct)


def levels(measure: Measure) -> int:
    """Return on how many levels of a tree a row counts: 1 without a tree."""
    return measure.levels if isinstance(measure, Spread) else 1


def nodes(measure: Measure) -> int:
    """Return how many integers there are for each group."""
    return measure.nodes if isinstance(measure, Spread) else 1


def weight_table(contributions: Contributions) -> list[int]:
    """Return W: W[m] is what a unit in m groups counts as in each, for m = 0 .. max_keys.

    | m              | norm "l1"        | norm "l2"                    |
    |----------------|------------------|------------------------------|
    | 0 .. max_groups| one              | one                          |
    | more           | (k * one) // m   | isqrt((k * one**2) // m)     |
    """
    k, one = contributions.max_groups, contributions.one
    match contributions.norm:
        case "l1":
            return [one if m <= k else k * one // m for m in range(contributions.max_keys + 1)]
        case "l2":
            return [one if m <= k else isqrt(k * one**2 // m) for m in range(contributions.max_keys + 1)]
        case other:
            assert_never(other)


def _power(number: int, power: Literal[1, 2]) -> int:
    return number if power == 1 else number * number


def _exponent(grid: Fraction) -> int:
    top, bottom = grid.numerator, grid.denominator
    if not top > 0 or top & (top - 1) or bottom & (bottom - 1):
        raise ParameterError("grid", grid, "must be a power of two", "Give for example Fraction(1, 1024).")
    return top.bit_length() - bottom.bit_length()


def _check_rows(most: int | None, name: str = "max_rows") -> None:
    if most is not None and not 1 <= most <= 1 << 30:
        raise ParameterError(name, most, "is out of range", "Give a whole number from 1 to 2**30.")
