"""From a value in a column to a whole number of steps, in SQL, exactly; and what a value and a key are.

`steps` writes X = clamp(floor(x / g + 1/2) - centre, low, high) for g = 2**e, decided in this order: round,
centre, clamp, and last of all "missing" (NULL, NaN, an infinity, text that is no number): X is NULL then.
GREATEST and LEAST skip NULL and take NaN for the largest number, so a missing value would look like a bound.

Why X is exact.
1. floor(x/g + 1/2) = floor((floor(2x/g) + 1) / 2): the fraction of 2x/g never reaches the next whole
   number. With t = floor(2x/g), X = ((t + 1) >> 1) - centre; `>>` floors, `//` would truncate.
2. Values beyond the ends of [low + centre - 1, high + centre + 1] in steps are moved there first
   (`_margins`): rounding never falls, so the last clamp gives them low or high as before. Nothing after
   that overflows or raises.
3. DOUBLE: 2x/g only shifts the exponent, and floor and the cast are exact. If it underflows, t is 0 or -1
   as it should be or the other of the two, and X is the same for both.
4. Integers: e <= 0: x * 2**-e is whole. e > 0: x >> (e - 1) is t. In BIGINT where it fits, else HUGEINT.
5. DECIMAL: with i = trunc(x), q digits after the point and F = (x - i) * 10**q, a whole number,
   x/g + 1/2 = (i - 1)/g + ((F + 10**q) * 2/g + 10**q) / (2 * 10**q), and the last numerator is not negative:
   there `//` is floor. A grid above 1 needs floor(x) only. Of more than 18 digits after the point the first
   18 are used, rounded.
6. Integers and decimals on a grid finer than 2**-64 or coarser than 2**62 go through the nearest DOUBLE.
   What a unit can change does not rest on this: the clamp is last.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, assert_never, cast

import sqlglot
from sqlglot import exp

from deniable.errors import ParameterError
from deniable.query.measures import LIMIT, Bins, Spread, Squares, Total, Tree
from deniable.query.schema import Type
from deniable.query.sources import casts

_REAL = ("DOUBLE", "FLOAT")
_SHORT = ("BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UINTEGER", "USMALLINT", "UTINYINT", "BOOLEAN")
_LONG = ("HUGEINT", "UBIGINT")
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_MOST_DIGITS = 18
_FINEST, _COARSEST = -64, 62
_HUGE = (1 << 127) - 1
_CLAMP = "CAST(greatest(:low, least(:high, {} - :centre)) AS BIGINT)"


def sql(template: str, **parts: exp.Expression | int) -> exp.Expression:
    """Parse DuckDB text and put a copy of each part in the place of its :name."""
    trees = {name: exp.convert(part) for name, part in parts.items()}

    def placed(node: Any) -> Any:
        return trees[node.name].copy() if isinstance(node, exp.Placeholder) else node

    return cast("exp.Expression", sqlglot.parse_one(template, dialect="duckdb").transform(placed))


def named(value: exp.Expression, name: str) -> exp.Alias:
    """Return the value under a name."""
    return exp.Alias(this=value, alias=exp.to_identifier(name))


def saturated(number: exp.Expression) -> exp.Expression:
    """Return a sum cut at +-2^62; that of nothing is 0."""
    return sql(f"CAST(GREATEST({-LIMIT}, LEAST({LIMIT}, COALESCE(:number, 0))) AS BIGINT)", number=number)


def steps(column: exp.Expression, kind: str, total: Total) -> exp.Expression:
    """Return X for a column of the DuckDB type `kind`: BIGINT, NULL if the value is missing.

    Raises:  ParameterError: numbers cannot be made of this type.
    """
    exact = _FINEST <= total.exponent <= _COARSEST
    if exact and kind in _SHORT + _LONG:
        return _of_integers(column, kind in _SHORT, total)
    if exact and (digits := _DECIMAL.fullmatch(kind)):
        return _of_decimals(column, int(digits[1]), int(digits[2]), total)
    return _of_reals(_number(column, kind, total.column), total)


def squared(column: exp.Expression, kind: str, squares: Squares) -> exp.Expression:
    """Return Y of `Squares` for a column of the DuckDB type `kind`: BIGINT, NULL if the value is missing.

    |X| < 2**30, so that X * X and half of what is shifted out stay below 2**62.
    """
    x = steps(column, kind, squares.of)
    return sql(
        "((:x * :x + :half) >> :shift) - :centre",
        x=x,
        half=squares.half,
        shift=squares.shift,
        centre=squares.centre,
    )


def leaf(column: exp.Expression, kind: str, measure: Spread) -> exp.Expression:
    """Return the leaf of a value, from 0; NULL if it is missing, or outside of all bins.

    Edges of bins are compared as the nearest DOUBLE, and so are values.
    """
    match measure:
        case Tree():
            return steps(column, kind, measure.of)
        case Bins():
            return _bin(_number(column, kind, measure.column), measure.edges)
        case other:
            assert_never(other)


def _bin(number: exp.Expression, edges: Sequence[Fraction]) -> exp.Expression:
    first, *inner, last = (f"CAST('{float(edge)!r}' AS DOUBLE)" for edge in edges)
    cases = " ".join(f"WHEN :x < {edge} THEN {place}" for place, edge in enumerate(inner))
    outside = f"NOT isfinite(:x) OR :x IS NULL OR :x < {first} OR :x > {last}"
    return sql(f"CASE WHEN {outside} THEN NULL {cases} ELSE {len(inner)} END", x=number)


def value(column: exp.Expression, kind: str) -> exp.Expression:
    """Return something that is NULL where the column has no value."""
    return sql("CASE WHEN isfinite(:x) THEN TRUE END", x=column) if kind in _REAL else column


def different(column: exp.Expression, kind: str) -> exp.Expression:
    """Return the value as it is told apart from others: one zero; NULL if it is missing, NaN or infinite."""
    same = key(column, kind)
    return sql("CASE WHEN isfinite(:x) THEN :same END", x=column, same=same) if kind in _REAL else same


def unit(column: exp.Expression, kind: str) -> exp.Expression:
    """Return the unit, NULL where there is none: a unit that is NaN is missing."""
    return sql("CASE WHEN NOT isnan(:x) THEN :x END", x=column) if kind in _REAL else column


def key(column: exp.Expression, kind: str) -> exp.Expression:
    """Return the value as a key: one zero, one NaN, and text for an ENUM, whose list of values is private.

    -0.0 and 0.0 are one group to the engine, and which of them comes out would depend on the order of rows;
    so would the bits of a NaN.
    """
    if kind in _REAL:
        template = "CASE WHEN isnan(:x) THEN CAST('nan' AS {0}) WHEN :x = 0 THEN CAST(0 AS {0}) ELSE :x END"
        return sql(template.format(kind), x=column)
    return sql("CAST(:x AS VARCHAR)", x=column) if kind.startswith("ENUM") else column


def key_type(kind: str) -> str:
    """Return the DuckDB type of `key(column, kind)`."""
    return "VARCHAR" if kind.startswith("ENUM") else kind


def _number(column: exp.Expression, kind: str, name: str) -> exp.Expression:
    if kind == "DOUBLE":
        return column
    if kind == "VARCHAR":
        return casts.parsed(column, Type.REAL)
    if kind in ("FLOAT", "UHUGEINT", *_SHORT, *_LONG) or _DECIMAL.fullmatch(kind):
        return sql("CAST(:x AS DOUBLE)", x=column)
    fix = "Sum or average a column of numbers."
    raise ParameterError("column", name, "does not hold numbers", fix)


def _of_reals(column: exp.Expression, total: Total) -> exp.Expression:
    low, high = _margins(total)
    work = "BIGINT" if max(abs(low), abs(high)) < LIMIT // 2 else "HUGEINT"
    rounded = f"((CAST(floor(greatest(:least, least(:most, :x)) * :twice) AS {work}) + 1) >> 1)"
    return sql(
        f"CASE WHEN isfinite(:x) THEN {_CLAMP.format(rounded)} END",
        x=column,
        least=_double(low * total.grid, up=False),
        most=_double(high * total.grid, up=True),
        twice=_double(2 / total.grid, up=True),
        **_clamp(total),
    )


def _clamp(total: Total) -> dict[str, int]:
    return {"low": total.low, "high": total.high, "centre": total.centre}


def _of_integers(column: exp.Expression, short: bool, total: Total) -> exp.Expression:
    low, high = _margins(total)
    least, most = math.floor(low * total.grid), math.ceil(high * total.grid)
    finer = max(1, int(1 / total.grid))
    work = _work(short, max(abs(least), abs(most)) * finer, abs(total.centre))
    inside = f"greatest(:least, least(:most, CAST(:x AS {work})))"
    if total.exponent > 0:
        rounded = f"((({inside} >> {total.exponent - 1}) + 1) >> 1)"
    else:
        rounded = f"{inside} * {finer}"
    return sql(
        f"CASE WHEN :x IS NOT NULL THEN {_CLAMP.format(rounded)} END",
        x=column,
        least=min(max(least, -_HUGE), _HUGE),
        most=min(max(most, -_HUGE), _HUGE),
        **_clamp(total),
    )


def _work(short: bool, *sizes: int) -> str:
    """Return the type to compute in: BIGINT if the column and every intermediate number fit."""
    return "BIGINT" if short and max(sizes) < LIMIT // 2 else "HUGEINT"


def _of_decimals(column: exp.Expression, width: int, places: int, total: Total) -> exp.Expression:
    short = width - places <= _MOST_DIGITS
    if total.exponent > 0 or places == 0:
        whole = sql(f"CAST(floor(:x) AS {'BIGINT' if short else 'HUGEINT'})", x=column)
        return _of_integers(whole, short, total)
    low, high = _margins(total)
    digits = min(places, _MOST_DIGITS)
    unit, finer = 10**digits, int(1 / total.grid)
    least, most = math.floor(low * total.grid) - 1, math.ceil(high * total.grid) + 1
    work = _work(short, (max(abs(least), abs(most)) + 1) * finer, 5 * unit * finer, abs(total.centre))
    before = f"(greatest(:least, least(:most, CAST(trunc(:x) AS {work}))) - 1) * {finer}"
    digits_of = f"CAST(:x - trunc(:x) AS DECIMAL(38, {digits})) * CAST({unit} AS DECIMAL({digits + 1}, 0))"
    after = f"((CAST({digits_of} AS {work}) + {unit}) * {2 * finer} + {unit}) // {2 * unit}"
    return sql(
        f"CASE WHEN :x IS NOT NULL THEN {_CLAMP.format(f'({before} + {after})')} END",
        x=column,
        least=least,
        most=most,
        **_clamp(total),
    )


def _margins(total: Total) -> tuple[int, int]:
    """Return the ends of the clamp, counted from 0 and one step wider on either side."""
    return total.low + total.centre - 1, total.high + total.centre + 1


def _double(number: Fraction, *, up: bool) -> exp.Expression:
    """Return the nearest DOUBLE that is not below `number` (not above it with up=False)."""
    nearest = float(number)
    outward: Callable[[Fraction, Fraction], bool] = Fraction.__ge__ if up else Fraction.__le__
    if not outward(Fraction(nearest), number):
        nearest = math.nextafter(nearest, math.inf if up else -math.inf)
    return sql(f"CAST('{nearest!r}' AS DOUBLE)")
