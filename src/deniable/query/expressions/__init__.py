"""Row-wise expressions: what `where` and `derive` may say about one row.

    parse_condition("age >= 18 AND city <> 'Rome'", schema, argument="where")
    parse_value("lower(trim(colour))", schema, argument="derive hue")

| offered                                                                          | notes                  |
|----------------------------------------------------------------------------------|------------------------|
| + - * / // %                                                                     | numbers; / gives a real|
| = <> != < <= > >=, BETWEEN, IN (...), IS NULL, IS TRUE, LIKE, ILIKE, AND, OR, NOT| give a boolean         |
| CASE, COALESCE, NULLIF, LEAST, GREATEST                                          | skip NULL as in DuckDB |
| ABS ROUND FLOOR CEIL SQRT LN EXP POWER                                           |                        |
| LOWER UPPER TRIM LTRIM RTRIM LENGTH SUBSTRING REPLACE CONCAT ||                  |                        |
| STARTS_WITH CONTAINS REGEXP_MATCHES                                              | RE2 pattern as literal |
| YEAR MONTH DAY HOUR DAYOFWEEK DATE_TRUNC STRPTIME TRY_STRPTIME                   | unit, format as literal|
| CAST TRY_CAST, to integer real text boolean date timestamp                       | a misfit becomes NULL  |

Whole numbers have 64 bits, reals are doubles; // and % round toward zero; decimals count as reals except
where a column stands alone. Text that || , CONCAT and REPLACE give is cut at 10,000 characters. What has no
value (overflow, x / 0, a misfit, an infinity, NaN) is NULL there and then: COALESCE(1 // x, 0) is 0 where
x is 0.

Guarantee: a parsed expression has, on every row, a value that depends on that row alone, and never raises.
 1. Only what `read.Reader` and `functions.call` build is in the tree: they look at the parsed text node by
    node, refuse every class and argument that they do not name, and copy nothing but names and literals.
 2. None of the functions they build is an aggregate, a window, a subquery or volatile, and a column is one
    of the declared schema: so the value depends on that row alone.
 3. Each part is a `values.Value`, which says whether it may raise and whether it may be wild: an infinity,
    NaN, a year outside 1 to 9999. An operator that gives NULL whenever one operand is NULL passes "may
    raise" on: an error anywhere in it and a NULL anywhere in it end alike. Every other consumer takes
    `seal`ed operands: TRY(...) turns the error, CASE WHEN ISFINITE(...) the wild value, into NULL. What is
    not finite stays not finite under + - * and as a dividend, so those pass "wild" on; all other operators
    and functions take `tame`d operands, or (abs, floor, ceil, round) keep it as it is.
 4. The whole is sealed, and wrapped in TRY once more, in `_expression`.
 5. Resources are bounded by the text: its length, depth and the size of what is built; text cannot grow
    beyond a fixed length; patterns are RE2, which is linear in the text, and are checked beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from deniable.errors import ParameterError
from deniable.query.expressions.read import Reader, looped
from deniable.query.expressions.scan import DEEPEST_TREE, levels, scan, too_deep
from deniable.query.expressions.values import Value, attempt, seal
from deniable.query.schema import Schema, Type

__all__ = ["Expression", "parse_condition", "parse_value"]


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression. `tree` is complete DuckDB SQL that never raises; `columns` are those it reads."""

    text: str
    type: Type
    tree: exp.Expression
    columns: frozenset[str]


def parse_value(text: object, schema: Schema, *, argument: str) -> Expression:
    """Return the expression that `text` means for rows of `schema`, of whatever type it has.

    Raises:  ExpressionError: with the place and a fix. ParameterError: not text at all.
    """
    return _expression(text, schema, argument, condition=False)


def parse_condition(text: object, schema: Schema, *, argument: str) -> Expression:
    """Return the expression that `text` means; it must be true or false, as `age >= 18` is.

    Raises:  as `parse_value`, and ExpressionError if it is a number, say.
    """
    return _expression(text, schema, argument, condition=True)


def _expression(text: object, schema: Schema, argument: str, *, condition: bool) -> Expression:
    if not isinstance(text, str):
        fix = "Write it as text, for example \"age >= 18 AND city = 'Rome'\"."
        raise ParameterError(argument, text, "must be an expression in text", fix)
    written, node = scan(argument, text)
    if levels(node, looped) > DEEPEST_TREE:
        raise too_deep(written, 0)
    value = Reader(written, schema).alone(node)
    if value.type is None:
        raise written.wrong(value.place, "NULL alone has no type", "Write for example CAST(NULL AS text).")
    if condition and value.type is not Type.BOOLEAN:
        fix = "Compare it with something, for example = or >=."
        raise written.wrong(value.place, f"a condition is true or false, and this is {value.type}", fix)
    tree = _whole(value)
    if levels(tree, _written_in_a_loop) > DEEPEST_TREE:
        raise too_deep(written, value.place)
    return Expression(text, value.type, tree, _columns(value))


def _whole(value: Value) -> exp.Expression:
    sealed = seal(value)
    return sealed.tree if isinstance(sealed.tree, exp.Column) else attempt(sealed.tree)


def _written_in_a_loop(node: exp.Expression, below: exp.Expression) -> bool:
    """Whether sqlglot writes the two without recursion: a chain of one operator, except %."""
    return type(node) is type(below) and isinstance(node, exp.Binary) and not isinstance(node, exp.Mod)


def _columns(value: Value) -> frozenset[str]:
    return frozenset(column.name for column in value.tree.find_all(exp.Column))
