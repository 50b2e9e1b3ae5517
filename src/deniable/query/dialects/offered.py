"""What an expression may not say where rows are read by Spark: what has no total, exact form there.

| not offered                          | why                                                         |
|--------------------------------------|-------------------------------------------------------------|
| regexp_matches                       | Java's patterns are another language, and can take for ever |
| strptime, try_strptime               | formats are Java's, and a setting changes what they mean    |
| CAST(a real AS text)                 | numbers are printed in another way                          |
| substring but for literal places > 0 | places from the end, and 0, mean other characters           |

What has no single function there is written with its operand several times (`_COPIES`), so size is bounded.
"""

from __future__ import annotations

from sqlglot import exp

from deniable.query.dialects.spark_parts import type_of
from deniable.query.expressions import Expression
from deniable.query.expressions.scan import Text
from deniable.query.schema import Type

_COPIES = {"ROUND": 6, "FLOOR": 3, "CEIL": 3, "ABS": 3, "DATE_TRUNC": 3, "ISFINITE": 2}
_DIVISIONS = 4
_MOST_NODES = 50_000


def check(expression: Expression, argument: str) -> None:
    """Refuse what Spark cannot answer exactly.

    Raises:  ExpressionError: with the place and a fix.
    """
    written = Text(argument, expression.text)
    if _size(expression.tree) > _MOST_NODES:
        fix = "Split it: a derived column can hold a part of it."
        raise written.wrong(0, "is too complex for Spark", fix)
    for node in expression.tree.walk():
        match node:
            case exp.Anonymous(this="REGEXP_MATCHES"):
                fix = "Write LIKE, contains(...) or starts_with(...)."
                _refuse(written, r"regexp_matches", "regexp_matches is not offered on Spark", fix)
            case exp.Anonymous(this="TRY_STRPTIME"):
                fix = "Convert the column in Spark before it is protected, with to_timestamp."
                _refuse(written, r"(try_)?strptime", "formats of dates are not offered on Spark", fix)
            case exp.Anonymous(this="SUBSTRING") if not all(map(_is_place, node.expressions[1:])):
                fix = "Write whole numbers from 1, as substring(code, 1, 2)."
                _refuse(written, r"substr(ing)?", "substring takes literal places on Spark", fix)
            case exp.Cast() if node.to.is_type("TEXT") and type_of(node.this) is Type.REAL:
                fix = "Round it to a whole number first: CAST(CAST(x AS integer) AS text)."
                _refuse(written, r"(try_)?cast", "a real does not become text on Spark", fix)


def _size(node: exp.Expression) -> int:
    """Return about how many nodes Spark has to read for an expression."""
    inside = sum(map(_size, node.iter_expressions()))
    copies = _DIVISIONS if isinstance(node, exp.IntDiv) else 1
    if isinstance(node, exp.Anonymous):
        copies = _COPIES.get(node.this, 1)
    elif isinstance(node, exp.Cast):
        copies = 2
    return min(1 + copies * inside, 2 * _MOST_NODES)


def _is_place(node: exp.Expression) -> bool:
    literal = node.this if isinstance(node, exp.Cast) else node
    return isinstance(literal, exp.Literal) and literal.this.isdigit() and int(literal.this) > 0


def _refuse(written: Text, word: str, problem: str, fix: str) -> None:
    raise written.wrong(written.nearest(rf"\b{word}\b", 0), problem, fix)
