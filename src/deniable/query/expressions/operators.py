"""Arithmetic, comparison and logic: which types meet, and what each operator does to "raises" and "wild"."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from sqlglot import exp

from deniable.errors import ExpressionError
from deniable.query.expressions.constants import moment
from deniable.query.expressions.scan import Text, is_word_of_sql
from deniable.query.expressions.values import (
    LONGEST_TEXT,
    MOMENTS,
    NUMBERS,
    Value,
    call,
    cast,
    group,
    literal_integer,
    seal,
    tame,
)
from deniable.query.schema import Type

Operator = type[exp.Expression]

ARITHMETIC: dict[Operator, str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "//",
    exp.Mod: "%",
}
COMPARISON: dict[Operator, str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
LOGIC: dict[Operator, str] = {exp.And: "AND", exp.Or: "OR"}


def arithmetic(written: Text, operator: Operator, left: Value, right: Value) -> Value:
    """Return left + right, or another of `ARITHMETIC`.

    Whole numbers stay whole except under /. Division by zero is made NULL without an error, because an
    error costs the engine microseconds a row; overflow raises, and TRY turns it into NULL.
    """
    for operand in (left, right):
        require(written, operand, NUMBERS, f"{ARITHMETIC[operator]} takes numbers")
    whole = left.type is right.type is Type.INTEGER
    if operator is exp.IntDiv and not whole:
        raise written.wrong(left.place, "// takes whole numbers", "Write floor(a / b).")
    if operator in (exp.Div, exp.IntDiv, exp.Mod):
        right = _not_zero(tame(right))
    tree = operator(this=_left(operator, left.tree), expression=group(right.tree))
    real = operator is exp.Div or not whole
    return Value(
        tree,
        Type.REAL if real else Type.INTEGER,
        left.place,
        left.size + right.size + 1,
        raises=left.raises or right.raises or not real,
        wild=real,
    )


def _not_zero(value: Value) -> Value:
    zero = exp.Literal.number(0)
    return replace(value, tree=call("NULLIF", value.tree, zero), size=2 * value.size + 2)


def _left(operator: Operator, tree: exp.Expression) -> exp.Expression:
    """Return the left operand; a chain of one precedence needs no parentheses."""
    sums = (exp.Add, exp.Sub)
    same = type(tree) is operator or (isinstance(tree, sums) and operator in sums)
    return tree if same else group(tree)


def negative(written: Text, value: Value) -> Value:
    """Return -value. The least whole number has no opposite: NULL.

    It is 0 - value for whole numbers: DuckDB widens the negation of a constant to 128 bits.
    """
    require(written, value, NUMBERS, "- takes a number")
    whole = value.type is Type.INTEGER
    tree: exp.Expression = exp.Neg(this=group(value.tree))
    if whole:
        tree = exp.Sub(this=literal_integer(0), expression=group(value.tree))
    raises = value.raises or whole
    return Value(tree, value.type, value.place, value.size + 1, raises=raises, wild=value.wild)


def joined(written: Text, left: Value, right: Value) -> Value:
    """Return left || right, cut at the longest text; NULL if either is."""
    for operand in (left, right):
        require(written, operand, frozenset({Type.TEXT}), "|| joins text (conditions take OR)")
    tree = exp.DPipe(this=_left(exp.DPipe, uncut(left.tree)), expression=group(right.tree))
    raises = left.raises or right.raises
    return Value(cut(tree), Type.TEXT, left.place, left.size + right.size + 2, raises=raises)


def cut(tree: exp.Expression) -> exp.Expression:
    """Return the text with at most `LONGEST_TEXT` characters, so that no expression can make it explode."""
    return call("LEFT", tree, exp.Literal.number(LONGEST_TEXT))


def uncut(tree: exp.Expression) -> exp.Expression:
    """Return the text before `cut`, where another cut follows: LEFT(LEFT(a) || b) is LEFT(a || b)."""
    if isinstance(tree, exp.Anonymous) and tree.this == "LEFT":
        inner: exp.Expression = tree.expressions[0]
        return inner
    return tree


def comparison(written: Text, operator: Operator, left: Value, right: Value) -> Value:
    """Return left = right, or another of `COMPARISON`: NULL if either is, so an error may pass through."""
    left, right = comparable(written, left, right)
    tree = operator(this=group(left.tree), expression=group(right.tree))
    size = left.size + right.size + 1
    return Value(tree, Type.BOOLEAN, left.place, size, raises=left.raises or right.raises)


def comparable(written: Text, left: Value, right: Value) -> tuple[Value, Value]:
    """Return both sides, ready to be compared: one kind of type, no infinities; text literals as dates."""
    for operand in (left, right):
        if operand.type is None:
            raise written.wrong(operand.place, "nothing compares with NULL", "Write IS NULL or IS NOT NULL.")
    left, right = as_moment(written, left, right.type), as_moment(written, right, left.type)
    if left.type is not right.type and not {left.type, right.type} <= NUMBERS:
        raise mixed(written, left, right)
    return tame(left), tame(right)


def as_moment(written: Text, value: Value, to: Type | None) -> Value:
    """Return a text literal that stands beside a date or timestamp as one; any other value unchanged."""
    if value.literal is None or to not in MOMENTS:
        return value
    assert to is not None
    return moment(written, value.literal, to, value.place)


def mixed(written: Text, left: Value, right: Value) -> ExpressionError:
    """Return the error that says why the two types do not meet, and how to make them."""
    text, other = (left, right) if left.type is Type.TEXT else (right, left)
    fix = "Convert one of them with CAST(... AS ...)."
    if text.type is Type.TEXT and other.type is not None:
        fix = _as(text, other.type)
    return written.wrong(left.place, f"{left.type} does not go with {right.type}", fix)


def _as(value: Value, wanted: Type) -> str:
    """Return what to write so that the value becomes of the wanted type."""
    if value.literal is not None and wanted in NUMBERS:
        return "Numbers take no quotes."
    if wanted is Type.BOOLEAN and value.type in NUMBERS | MOMENTS:
        return "Compare it with something, for example = or >=."
    if value.type is Type.TEXT and wanted in NUMBERS:
        wanted = Type.REAL  # holds whole numbers too, while values with decimals would be no integers
    name = value.column or "..."
    if value.column is not None and (not name.isidentifier() or is_word_of_sql(name)):
        quoted = name.replace('"', '""')
        name = f'"{quoted}"'
    convert = f"CAST({name} AS {wanted})"
    if value.column is not None and value.type is Type.TEXT:
        return f"Declare the column, types={{{value.column!r}: {str(wanted)!r}}}, or write {convert}."
    return f"Write {convert}, if that is what you mean."


def logic(written: Text, operator: Operator, left: Value, right: Value) -> Value:
    """Return left AND right, or OR. FALSE AND NULL is FALSE: so both sides are sealed."""
    for operand in (left, right):
        require(written, operand, frozenset({Type.BOOLEAN}), f"{LOGIC[operator]} takes conditions")
    left, right = seal(left), seal(right)
    tree = operator(this=_left(operator, left.tree), expression=group(right.tree))
    return Value(tree, Type.BOOLEAN, left.place, left.size + right.size + 1)


def opposite(written: Text, value: Value) -> Value:
    """Return NOT value."""
    require(written, value, frozenset({Type.BOOLEAN}), "NOT takes a condition")
    tree = exp.Not(this=group(value.tree))
    return Value(tree, Type.BOOLEAN, value.place, value.size + 1, raises=value.raises)


def between(written: Text, value: Value, low: Value, high: Value) -> Value:
    """Return low <= value AND value <= high. One false half decides, so all three are sealed."""
    value, low = comparable(written, value, low)
    value, high = comparable(written, value, high)
    value, low, high = seal(value), seal(low), seal(high)
    tree = exp.Between(this=group(value.tree), low=group(low.tree), high=group(high.tree))
    return Value(tree, Type.BOOLEAN, value.place, 2 * value.size + low.size + high.size + 1)


def among(written: Text, value: Value, choices: Sequence[Value]) -> Value:
    """Return value IN (choices), which are literals."""
    ready = []
    for choice in choices:
        value, comparable_choice = comparable(written, value, choice)
        ready.append(comparable_choice.tree)
    tree = exp.In(this=group(value.tree), expressions=ready)
    return Value(tree, Type.BOOLEAN, value.place, value.size + len(ready), raises=value.raises)


def like(written: Text, operator: Operator, value: Value, pattern: Value) -> Value:
    """Return value LIKE pattern (a literal; % is any text, _ one character, and nothing escapes them)."""
    require(written, value, frozenset({Type.TEXT}), "LIKE takes text")
    if pattern.literal is None:
        raise written.wrong(pattern.place, "LIKE takes a pattern in quotes", "Write for example '%blue%'.")
    tree = operator(this=group(value.tree), expression=pattern.tree)
    return Value(tree, Type.BOOLEAN, value.place, value.size + 2, raises=value.raises)


def test(written: Text, value: Value, against: exp.Expression) -> Value:
    """Return value IS NULL, IS TRUE or IS FALSE; never NULL, so the value is sealed."""
    if not isinstance(against, exp.Null):
        require(written, value, frozenset({Type.BOOLEAN}), "IS TRUE takes a condition")
    value = seal(value)
    return Value(
        exp.Is(this=group(value.tree), expression=against), Type.BOOLEAN, value.place, value.size + 1
    )


def require(written: Text, value: Value, types: Set[Type], problem: str) -> None:
    """Refuse the value unless its type is one of `types`."""
    if value.type in types:
        return
    if value.type is None:
        raise written.wrong(value.place, f"{problem}, and this is NULL", "Write a value.")
    raise written.wrong(value.place, f"{problem}, and this is {value.type}", _as(value, sorted(types)[0]))


def unified(written: Text, values: Sequence[Value]) -> tuple[Type, tuple[Value, ...]]:
    """Return the one type of alternatives (CASE, COALESCE, ...) and the alternatives, sealed, all of it."""
    typed = [value for value in values if value.type is not None]
    if not typed:
        raise written.wrong(
            values[0].place, "NULL alone has no type", "Write for example CAST(NULL AS text)."
        )
    to = typed[0].type
    for value in typed:
        if value.type is not to and {value.type, to} <= NUMBERS:
            to = Type.REAL
        elif value.type is not to:
            raise mixed(written, typed[0], value)
    assert to is not None
    return to, tuple(converted(seal(value), to) for value in values)


def converted(value: Value, to: Type) -> Value:
    """Return a sealed value as the type `to`: whole numbers become real, NULL gets a type."""
    return (
        value if value.type is to else replace(value, tree=cast(value.tree, to), type=to, size=value.size + 1)
    )
