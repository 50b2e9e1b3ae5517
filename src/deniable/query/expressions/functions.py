"""The functions that expressions may call: what each takes, what it gives, how it can fail.

A function here is *plain* if it gives NULL whenever an argument is NULL; then an error in an argument may
pass through it (see the package's proof, step 3). Those that are not plain seal their arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from sqlglot import exp

from deniable.query.expressions import constants
from deniable.query.expressions.names import unknown
from deniable.query.expressions.operators import comparable, cut, require, unified
from deniable.query.expressions.scan import Text
from deniable.query.expressions.values import MOMENTS, NUMBERS, Value, call, cast, seal, tame
from deniable.query.schema import Type


class Takes(Enum):
    """What one argument must be."""

    TEXT = auto()
    INTEGER = auto()
    NUMBER = auto()
    MOMENT = auto()
    TIMESTAMP = auto()
    LITERAL = auto()
    PATTERN = auto()
    FORMAT = auto()


@dataclass(frozen=True, slots=True)
class Plain:
    """A plain function: what it takes (`optional` last) and gives, how it fails, its name in the engine."""

    takes: tuple[Takes, ...]
    gives: Type
    optional: tuple[Takes, ...] = ()
    raises: bool = False
    wild: bool = False
    named: str | None = None


_TEXT = Plain((Takes.TEXT,), Type.TEXT)
_TRIM = Plain((Takes.TEXT,), Type.TEXT, optional=(Takes.LITERAL,))
_PART_OF_TEXT = Plain(
    (Takes.TEXT, Takes.INTEGER), Type.TEXT, optional=(Takes.INTEGER,), raises=True, named="SUBSTRING"
)
_REAL = Plain((Takes.NUMBER,), Type.REAL, raises=True, wild=True)
_PART = Plain((Takes.MOMENT,), Type.INTEGER)
_PARSED = Plain((Takes.TEXT, Takes.FORMAT), Type.TIMESTAMP, wild=True, named="TRY_STRPTIME")

PLAIN: dict[str, Plain] = {
    "lower": _TEXT,
    "upper": _TEXT,
    "trim": _TRIM,
    "ltrim": _TRIM,
    "rtrim": _TRIM,
    "length": Plain((Takes.TEXT,), Type.INTEGER),
    "substring": _PART_OF_TEXT,
    "substr": _PART_OF_TEXT,
    "starts_with": Plain((Takes.TEXT, Takes.TEXT), Type.BOOLEAN),
    "contains": Plain((Takes.TEXT, Takes.TEXT), Type.BOOLEAN),
    "regexp_matches": Plain((Takes.TEXT, Takes.PATTERN), Type.BOOLEAN),
    "sqrt": _REAL,
    "ln": _REAL,
    "exp": _REAL,
    "power": Plain((Takes.NUMBER, Takes.NUMBER), Type.REAL, raises=True, wild=True),
    "year": _PART,
    "month": _PART,
    "day": _PART,
    "dayofweek": _PART,
    "hour": Plain((Takes.TIMESTAMP,), Type.INTEGER),
    "strptime": _PARSED,
    "try_strptime": _PARSED,
}
OTHERS = (
    "abs",
    "round",
    "floor",
    "ceil",
    "replace",
    "date_trunc",
    "concat",
    "coalesce",
    "nullif",
    "least",
    "greatest",
)
OFFERED = (*PLAIN, *OTHERS)

_DIGITS = 15
_LONGEST_REPLACEMENT = 100


def apply(written: Text, name: str, arguments: Sequence[Value], place: int) -> Value:
    """Return the function called `name`, any case, of these arguments.

    Raises:  ExpressionError: not offered, or arguments of another number or type.
    """
    low = name.lower()
    if (plain := PLAIN.get(low)) is not None:
        return _plain(written, low, plain, arguments, place)
    match low:
        case "abs" | "floor" | "ceil":
            _count(written, low, arguments, 1, 1, place)
            return _magnitude(written, low, arguments[0])
        case "round":
            _count(written, low, arguments, 1, 2, place)
            return _round(written, arguments)
        case "replace":
            _count(written, low, arguments, 3, 3, place)
            return _replace(written, arguments)
        case "date_trunc":
            _count(written, low, arguments, 2, 2, place)
            return _date_trunc(written, *arguments)
        case "concat":
            _count(written, low, arguments, 1, 100, place)
            return _concat(written, arguments)
        case "coalesce" | "least" | "greatest":
            _count(written, low, arguments, 1, 100, place)
            return _choice(written, low, arguments)
        case "nullif":
            _count(written, low, arguments, 2, 2, place)
            return _nullif(written, *arguments)
    raise unknown(written, name, OFFERED, place)


def _count(written: Text, name: str, arguments: Sequence[Value], least: int, most: int, place: int) -> None:
    if not least <= len(arguments) <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        fix = f"Write them in parentheses: {name}(...)."
        raise written.wrong(place, f"{name} takes {wanted} arguments, not {len(arguments)}", fix)


def _plain(written: Text, name: str, plain: Plain, arguments: Sequence[Value], place: int) -> Value:
    kinds = plain.takes + plain.optional
    _count(written, name, arguments, len(plain.takes), len(kinds), place)
    ready = [_argument(written, name, kind, value) for kind, value in zip(kinds, arguments, strict=False)]
    return Value(
        call(plain.named or name.upper(), *(value.tree for value in ready)),
        plain.gives,
        place,
        1 + sum(value.size for value in ready),
        raises=plain.raises or any(value.raises for value in ready),
        wild=plain.wild,
    )


def _argument(written: Text, name: str, kind: Takes, value: Value) -> Value:
    match kind:
        case Takes.TEXT:
            require(written, value, frozenset({Type.TEXT}), f"{name} takes text")
        case Takes.INTEGER:
            require(written, value, frozenset({Type.INTEGER}), f"{name} takes a whole number here")
        case Takes.NUMBER:
            require(written, value, NUMBERS, f"{name} takes a number")
        case Takes.MOMENT:
            require(written, value, MOMENTS, f"{name} takes a date or timestamp")
        case Takes.TIMESTAMP:
            require(written, value, frozenset({Type.TIMESTAMP}), f"{name} takes a timestamp")
        case Takes.LITERAL:
            literal(written, name, value)
        case Takes.PATTERN:
            constants.pattern(written, literal(written, name, value), value.place)
        case Takes.FORMAT:
            constants.moment_format(written, literal(written, name, value), value.place)
    return tame(value)


def literal(written: Text, name: str, value: Value) -> str:
    """Return the text of a literal, not empty; refuse all else."""
    if not value.literal:
        raise written.wrong(
            value.place, f"{name} takes text in quotes here", "Write it out, not empty, as 'blue'."
        )
    return value.literal


def _magnitude(written: Text, name: str, value: Value) -> Value:
    """Return abs, floor or ceil; whole numbers stay whole, and only abs changes them."""
    require(written, value, NUMBERS, f"{name} takes a number")
    whole = value.type is Type.INTEGER
    if whole and name != "abs":
        return value
    tree = call(name.upper(), value.tree)
    return Value(tree, value.type, value.place, value.size + 1, raises=value.raises or whole, wild=value.wild)


def _round(written: Text, arguments: Sequence[Value]) -> Value:
    """Return round(value) or round(value, digits), digits being a whole literal; whole numbers stay whole."""
    value = arguments[0]
    require(written, value, NUMBERS, "round takes a number")
    digits = _digits(written, arguments[1]) if len(arguments) == 2 else 0
    if value.type is Type.INTEGER and digits >= 0:
        return value
    places = exp.Neg(this=exp.Literal.number(-digits)) if digits < 0 else exp.Literal.number(digits)
    tree = call("ROUND", value.tree, places)
    return Value(tree, value.type, value.place, value.size + 1, raises=True, wild=value.type is Type.REAL)


def _digits(written: Text, value: Value) -> int:
    text = value.tree.this.sql() if isinstance(value.tree, exp.Cast) and value.type is Type.INTEGER else ""
    digits = int(text) if text.lstrip("-").isdigit() else _DIGITS + 1
    if not -_DIGITS <= digits <= _DIGITS:
        fix = f"Write a whole number from -{_DIGITS} to {_DIGITS}."
        raise written.wrong(value.place, "round takes a literal number of digits", fix)
    return digits


def _replace(written: Text, arguments: Sequence[Value]) -> Value:
    """Return replace(text, old, new) with literals, so that the growth is known; longer results are cut."""
    value, old, new = arguments
    require(written, value, frozenset({Type.TEXT}), "replace takes text")
    was = literal(written, "replace", old)
    if new.literal is None or len(new.literal) > _LONGEST_REPLACEMENT:
        fix = f"Write it out, at most {_LONGEST_REPLACEMENT} characters, as 'blue' or ''."
        raise written.wrong(new.place, "replace takes text in quotes here", fix)
    tree = call("REPLACE", value.tree, old.tree, new.tree)
    if len(new.literal) > len(was):
        tree = cut(tree)
    return Value(tree, Type.TEXT, value.place, value.size + 4, raises=value.raises)


def _date_trunc(written: Text, unit: Value, value: Value) -> Value:
    """Return the start of the year, month, ... : a date of a date, a timestamp of a timestamp."""
    require(written, value, MOMENTS, "date_trunc takes a date or timestamp")
    name = constants.unit(written, literal(written, "date_trunc", unit), value.type, unit.place)
    value = tame(value)
    tree = call("DATE_TRUNC", exp.Literal.string(name), value.tree)
    assert value.type is not None
    return Value(cast(tree, value.type), value.type, value.place, value.size + 3, raises=True, wild=True)


def _concat(written: Text, arguments: Sequence[Value]) -> Value:
    """Return the texts one after another; NULL counts as empty, so each is sealed."""
    for value in arguments:
        require(written, value, frozenset({Type.TEXT}), "concat takes text")
    ready = [seal(value) for value in arguments]
    tree = cut(call("CONCAT", *(value.tree for value in ready)))
    return Value(tree, Type.TEXT, arguments[0].place, 2 + sum(value.size for value in ready))


def _choice(written: Text, name: str, arguments: Sequence[Value]) -> Value:
    """Return the first, least or greatest of the arguments that are not NULL."""
    to, ready = unified(written, arguments)
    if name != "coalesce" and to is Type.BOOLEAN:
        raise written.wrong(arguments[0].place, f"{name} does not take conditions", "Write AND or OR.")
    size = 1 + sum(value.size for value in ready)
    return Value(call(name.upper(), *(value.tree for value in ready)), to, arguments[0].place, size)


def _nullif(written: Text, value: Value, excluded: Value) -> Value:
    """Return NULL where the two are equal, else the first, unchanged in type."""
    value, excluded = comparable(written, value, excluded)
    value, excluded = seal(value), seal(excluded)
    size = 2 * value.size + excluded.size + 1
    return Value(call("NULLIF", value.tree, excluded.tree), value.type, value.place, size)
