"""A part of an expression while it is built: its SQL, its type, and what could go wrong in it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from deniable.query.schema import Type

NUMBERS = frozenset({Type.INTEGER, Type.REAL})
MOMENTS = frozenset({Type.DATE, Type.TIMESTAMP})
LONGEST_TEXT = 10_000
"""Characters that `||`, CONCAT and REPLACE may give; the rest is cut off."""

SQL_TYPES = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.TEXT: "TEXT",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}
"""How each type that expressions know is written in DuckDB."""


_LAST = {Type.DATE: "9999-12-31", Type.TIMESTAMP: "9999-12-31 23:59:59.999999"}
_SINGLE = (exp.Column, exp.Literal, exp.Anonymous, exp.Cast, exp.Paren, exp.Case, exp.Boolean, exp.Null)


@dataclass(frozen=True, slots=True)
class Value:
    """One part of an expression.

    tree:    DuckDB SQL that stands by itself (no parentheses needed around a function call; see `group`).
    type:    None for the literal NULL, which has any type.
    place:   where it starts in the text.
    size:    how many nodes the engine evaluates for it, repetitions counted.
    raises:  the engine may raise on some row, which means NULL.
    wild:    it may be an infinity, NaN or a moment outside the years 1 to 9999, which means NULL.
    literal: the text, if it is a text literal.
    column:  the name, if it is a bare column.
    """

    tree: exp.Expression
    type: Type | None
    place: int
    size: int = 1
    raises: bool = False
    wild: bool = False
    literal: str | None = None
    column: str | None = None

    def __post_init__(self) -> None:
        """Note the type on the tree: other dialects need it, and copies keep it."""
        self.tree.meta["type"] = self.type


def call(name: str, *arguments: exp.Expression) -> exp.Expression:
    """Return the engine's function of that name, exactly as spelt."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def attempt(tree: exp.Expression) -> exp.Expression:
    """Return the tree with every error in it turned into NULL."""
    return tree if isinstance(tree, exp.Anonymous) and tree.this == "TRY" else call("TRY", tree)


def cast(tree: exp.Expression, to: Type) -> exp.Expression:
    """Return the tree converted; what does not fit is NULL."""
    return exp.TryCast(this=tree, to=exp.DataType.build(SQL_TYPES[to], dialect="duckdb"))


def group(tree: exp.Expression) -> exp.Expression:
    """Return the tree so that it can be an operand: in parentheses unless it is a single piece."""
    return tree if isinstance(tree, _SINGLE) else exp.Paren(this=tree)


def tame(value: Value) -> Value:
    """Return the value with infinities, NaN and moments outside the years 1 to 9999 turned into NULL."""
    if not value.wild:
        return value
    usable: exp.Expression = call("ISFINITE", value.tree)
    if value.type in MOMENTS:
        first, last = (exp.Literal.string(text) for text in ("0001-01-01", _LAST[value.type]))
        usable = exp.Between(this=value.tree, low=cast(first, value.type), high=cast(last, value.type))
    branch = exp.If(this=usable, true=value.tree.copy())
    return replace(value, tree=exp.Case(ifs=[branch]), size=2 * value.size + 4, wild=False, column=None)


def seal(value: Value) -> Value:
    """Return the value with errors, infinities and NaN turned into NULL: what COALESCE, OR, ... take."""
    if value.raises:
        value = replace(value, tree=attempt(value.tree), size=value.size + 1, raises=False)
    return tame(value)


def literal_integer(number: int) -> exp.Expression:
    """Return the number as a 64-bit integer: DuckDB's own literals are 32-bit and overflow by themselves."""
    size = exp.Literal.number(abs(number))
    return exp.Cast(this=exp.Neg(this=size) if number < 0 else size, to=exp.DataType.build("BIGINT"))


def literal_real(number: float) -> exp.Expression:
    """Return the finite number as a double: with an exponent, or DuckDB would read a decimal."""
    shortest = repr(abs(number))
    size = exp.Literal.number(shortest if "e" in shortest else shortest + "e0")
    return exp.Paren(this=exp.Neg(this=size)) if number < 0 else size
