"""The same trees in Spark's SQL: `written` gives the text, with {name} for each table.

Nothing in the text depends on a setting of the session, and nothing raises on a value:

| in DuckDB                   | in Spark                                        | because                    |
|-----------------------------|-------------------------------------------------|----------------------------|
| CAST, TRY_CAST              | TRY_CAST                                        | ANSI mode on or off        |
| a + b in an expression      | TRY_ADD(a, b), ...; TRY itself goes             | the same                   |
| a // b, a % b               | DIV by what is not 0 or -1, TRY_MOD             | the same                   |
| HUGEINT, and SUM's result   | DECIMAL(38, 0): 2**44 times 2**82 fit           | BIGINT wraps or raises     |
| x >> n                      | SHIFTRIGHT, or (x - PMOD(x, 2**n)) DIV 2**n     | both are floor             |
| floor(x) of a step          | FLOOR                                           | it is BIGINT or a decimal  |
| x - trunc(x)                | TRY_MOD(x, 1)                                   | a decimal keeps its digits |
| HASH(a, b, salt)            | XXHASH64(salt, b, b IS NULL, a, a IS NULL)      | it skips NULL              |
| ROW_NUMBER() OVER ()        | a number made of the row's values (`_numbered`) | a task may run twice       |
| QUALIFY                     | a subquery, and SELECT * EXCEPT                 | Spark 4.0 has none         |
| TIMESTAMP                   | TIMESTAMP_NTZ                                   | the session's time zone    |
| text with any odd character | CAST(X'...' AS STRING)                          | escapes, ${...} and {...}  |
| a column with an odd name   | `deniable_` and its bytes                       | the same                   |

Steps of a grid are in BIGINT or DECIMAL(38, 0) and do not overflow (proof in `rounding` and `bounding`), so
there + - * are plain.

Where arithmetic is that of an expression of the user's, its parts know their types (`values.Value`). What of
those has no exact form here is refused before data are read: `offered`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import ErrorLevel, exp

from deniable.query.dialects import spark_functions
from deniable.query.dialects.spark_parts import call, cast, data_type, literal, named, number, type_of

Form = Callable[[Any], exp.Expression]

_BUCKETS = 4096
_HALF = 1 << 24


def written(tree: exp.Expression, *, pretty: bool = False) -> str:
    """Return the text of a tree for Spark, each table as {name}; other braces do not occur in it."""
    return spark(tree).sql(dialect="spark", identify=True, pretty=pretty, unsupported_level=ErrorLevel.RAISE)


def spark(node: exp.Expression) -> exp.Expression:
    """Return the tree in Spark's dialect.

    Raises:  TypeError: a kind of node that has no form here: a mistake in this package.
    """
    form = _FORMS.get(type(node))
    if form is None:
        raise TypeError(f"{type(node).__name__} has no form for Spark")
    spoken: exp.Expression = form(node)
    return spoken


def _same(node: exp.Expression) -> exp.Expression:
    """Return the node with its parts in Spark's dialect. (Few frames a level: trees are up to 100 deep.)"""
    same: exp.Expression = type(node)(**_parts(node.args))
    return same


def _parts(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a node in Spark's dialect; names and switches stay."""
    found: dict[str, Any] = {}
    for name, value in args.items():
        if isinstance(value, list):
            found[name] = list(map(spark, value))
        else:
            found[name] = spark(value) if isinstance(value, exp.Expression) else value
    return found


def _select(node: exp.Select) -> exp.Expression:
    args = dict(node.args)
    qualify = args.pop("qualify", None)
    if (group := args.get("group")) is not None:
        args["group"] = exp.Group(expressions=[_grouped(by, node) for by in group.expressions])
    select = exp.Select(**_parts(args | {"expressions": []}))
    if _rows_of_units(node):
        hint = exp.Hint(expressions=[call("REPARTITION", exp.column("unit"))])
        select.args["from_"].this.this.set("hint", hint)
    for part in node.expressions:
        numbered = isinstance(part, exp.Alias) and part.this.find(exp.RowNumber)
        select.append("expressions", _numbered(part, node) if numbered else spark(part))
    return select if qualify is None else _qualified(select, qualify.this)


def _rows_of_units(node: exp.Select) -> bool:
    """Return whether rows are grouped by unit and key here: they are brought together by unit at once.

    Whatever is asked of units later then finds all of one unit in one place, and needs no other exchange.
    """
    by = [column.name for column in node.args["group"].expressions] if node.args.get("group") else []
    source = node.args["from_"].this if node.args.get("from_") else None
    if by[:1] != ["unit"] or len(by) == 1 or not isinstance(source, exp.Subquery):
        return False
    return isinstance(source.this, exp.Select) and source.alias == "source"


def _grouped(by: exp.Expression, node: exp.Select) -> exp.Expression:
    """Return what is grouped by; a place in the list of columns is a setting elsewhere."""
    return node.expressions[int(by.this) - 1].unalias() if isinstance(by, exp.Literal) else by


def _qualified(select: exp.Select, condition: exp.LTE) -> exp.Expression:
    """Return the rows of `select` for which window <= number."""
    rank = named(_window(condition.this), "rank")
    inner = select.select(rank, append=True).subquery("ranked")
    everything = exp.Star(except_=[exp.to_identifier("rank")])
    return exp.select(everything).from_(inner).where(f"rank <= {condition.expression.this}")


def _numbered(part: exp.Expression, node: exp.Select) -> exp.Expression:
    """Return different whole numbers for rows that differ in their bare columns.

    A row's number is its rank among the rows with the same hash, cut to a few values, beside that hash. So it
    follows from the set of rows, in whatever order and however often tasks see them.
    """
    columns = [spark(column) for column in node.expressions if isinstance(column, exp.Column)]
    hashed = call("PMOD", _hash_of(columns), number(_BUCKETS))
    order = exp.Order(expressions=[exp.Ordered(this=column.copy()) for column in columns])
    rank = exp.Window(this=exp.RowNumber(), partition_by=[hashed], order=order)
    place = exp.Add(this=exp.Mul(this=cast(rank, "BIGINT"), expression=number(_BUCKETS)), expression=hashed)
    return named(cast(place, "BIGINT"), part.alias)


def _window(node: exp.Window) -> exp.Expression:
    return _same(node)


def _table(node: exp.Table) -> exp.Expression:
    alias = exp.TableAlias(this=exp.to_identifier(node.alias or node.name))
    return exp.Table(this=exp.to_identifier(f"{{{node.name}}}"), alias=alias)


def _identifier(node: exp.Identifier) -> exp.Expression:
    return exp.to_identifier(encoded(node.this) if node.args.get("quoted") else node.this)


def encoded(name: str) -> str:
    """Return a name that means the same column in every session: odd ones in hexadecimal."""
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and not name.lower().startswith("deniable_")
    return name if plain else f"deniable_{name.encode().hex()}"


def _literal(node: exp.Literal) -> exp.Expression:
    return literal(node.this) if node.is_string else number(node.this)


def _cast(node: exp.Cast) -> exp.Expression:
    to, value = data_type(node.to), node.this
    if node.to.is_type("TIMESTAMPTZ") and type_of(value) is None:
        return spark_functions.moment_of_text(spark(value))
    if type_of(value) is not None:
        return spark_functions.converted(value, node.to, spark)
    return exp.TryCast(this=spark(value), to=to, safe=True)


def _arithmetic(node: Any) -> exp.Expression:
    left, right = spark(node.this), spark(node.expression)
    if isinstance(node, exp.Mod):
        return call("TRY_MOD", left, right)
    if isinstance(node, exp.IntDiv):
        return _divided(node, left, right)
    if isinstance(node, exp.Sub) and node.expression == exp.Trunc(this=node.this):
        return call("TRY_MOD", left, cast(number(1), "DECIMAL(1, 0)"))
    if type_of(node) is None:
        plain: exp.Expression = type(node)(this=left, expression=right)
        return plain
    names = {exp.Add: "TRY_ADD", exp.Sub: "TRY_SUBTRACT", exp.Mul: "TRY_MULTIPLY", exp.Div: "TRY_DIVIDE"}
    return call(names[type(node)], left, right)


def _divided(node: exp.IntDiv, left: exp.Expression, right: exp.Expression) -> exp.Expression:
    """Return the whole part of left / right; the least BIGINT by -1, which overflows, is NULL."""
    if isinstance(node.expression, exp.Literal):
        return exp.Paren(this=exp.IntDiv(this=left, expression=right))
    safe = exp.Paren(this=exp.IntDiv(this=left, expression=call("NULLIF", right, number(0))))
    if type_of(node) is None:
        return safe
    divisor = call("NULLIF", call("NULLIF", right.copy(), number(0)), number(-1))
    rest = exp.Paren(this=exp.IntDiv(this=left.copy(), expression=divisor))
    opposite = call("TRY_SUBTRACT", number(0), left.copy())
    negative = exp.EQ(this=exp.Paren(this=right.copy()), expression=number(-1))
    return exp.Case(ifs=[exp.If(this=negative, true=opposite)], default=rest)


def _shifted(node: exp.BitwiseRightShift) -> exp.Expression:
    value, bits = spark(node.this), int(node.expression.this)
    if not _is_wide(node.this):
        return call("SHIFTRIGHT", value, number(bits))
    rest = call("PMOD", value.copy(), number(1 << bits))
    whole = exp.Paren(this=exp.Sub(this=exp.Paren(this=value), expression=rest))
    return cast(exp.IntDiv(this=whole, expression=number(1 << bits)), "DECIMAL(38, 0)")


def _is_wide(node: exp.Expression) -> bool:
    """Return whether the number is a HUGEINT in DuckDB: a part of it was made one."""
    if isinstance(node, exp.Cast):
        return bool(node.to.is_type("INT128"))
    parts = (exp.Paren, exp.Binary, exp.Greatest, exp.Least)
    return isinstance(node, parts) and any(_is_wide(part) for part in node.iter_expressions())


def _sum(node: exp.Sum) -> exp.Expression:
    """Return the sum, exact for 2**39 numbers: in BIGINT, in two halves of BIGINT, or in decimals.

    With x = q 2**24 + r (DIV and % truncate) and |x| <= 2**48, both |q| and |r| are at most 2**24.
    """
    value, largest = spark(node.this), node.meta.get("largest", _HALF * _HALF + 1)
    if largest <= _HALF:
        return cast(call("SUM", value), "DECIMAL(38, 0)")
    if largest <= _HALF * _HALF:
        high = call("SUM", exp.IntDiv(this=exp.Paren(this=value), expression=number(_HALF)))
        low = call("SUM", call("TRY_MOD", value.copy(), number(_HALF)))
        upper = exp.Mul(this=cast(high, "DECIMAL(38, 0)"), expression=number(_HALF))
        return exp.Paren(this=exp.Add(this=upper, expression=low))
    return call("SUM", cast(value, "DECIMAL(38, 0)"))


def _chosen(node: exp.Func) -> exp.Expression:
    """Return GREATEST, LEAST or COALESCE."""
    return call(node.sql_name(), spark(node.this), *(spark(part) for part in node.expressions))


def _listed(node: exp.ArrayAgg) -> exp.Expression:
    """Return a list of structures; their order means nothing."""
    fields = []
    for field in node.this.expressions:
        fields += [literal(field.this.name), cast(spark(field.expression), "BIGINT")]
    return call("COLLECT_LIST", call("NAMED_STRUCT", *fields))


def _truncated(node: exp.Trunc) -> exp.Expression:
    value = spark(node.this)
    up, down = call("CEIL", value), call("FLOOR", value.copy())
    below = exp.LT(this=value.copy(), expression=number(0))
    return exp.Case(ifs=[exp.If(this=below, true=up)], default=down)


def _like(node: exp.Like | exp.ILike) -> exp.Expression:
    """Return LIKE with an escape that means itself: here a backslash would escape."""
    pattern = spark(exp.Literal.string(node.expression.this.replace("!", "!!")))
    return exp.Escape(
        this=type(node)(this=spark(node.this), expression=pattern), expression=exp.Literal.string("!")
    )


def _function(node: exp.Anonymous) -> exp.Expression:
    match node.this.upper():
        case "TRY":
            return spark(node.expressions[0])
        case "HASH":
            *keys, last = (spark(argument) for argument in node.expressions)
            return _hash_of(keys, first=last)
        case name:
            return spark_functions.function(name, node, spark)


def _hash_of(values: list[exp.Expression], *, first: exp.Expression | None = None) -> exp.Expression:
    """Return a hash of 64 bits, in which NULL counts too."""
    parts = [] if first is None else [first]
    for value in reversed(values):
        parts += [value.copy(), exp.Is(this=exp.Paren(this=value.copy()), expression=exp.Null())]
    return call("XXHASH64", *parts)


_AS_THEY_ARE = (
    exp.Alias, exp.And, exp.Between, exp.Boolean, exp.Case, exp.Column, exp.Count, exp.Distinct, exp.DPipe,
    exp.EQ, exp.From, exp.Group, exp.GT, exp.GTE, exp.Having, exp.If, exp.In, exp.Is, exp.Join, exp.LT,
    exp.LTE, exp.Limit, exp.NEQ, exp.Neg, exp.Not, exp.Null, exp.NullSafeEQ, exp.Or, exp.Order, exp.Ordered,
    exp.Paren, exp.Star, exp.Subquery, exp.TableAlias, exp.Union, exp.Where, exp.Window, exp.WindowSpec,
)  # fmt: skip
_FORMS: Mapping[type[exp.Expression], Form] = {
    **dict.fromkeys(_AS_THEY_ARE, _same),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod), _arithmetic),
    **dict.fromkeys((exp.Cast, exp.TryCast), _cast),
    **dict.fromkeys((exp.Greatest, exp.Least, exp.Coalesce), _chosen),
    **dict.fromkeys((exp.Like, exp.ILike), _like),
    exp.Anonymous: _function,
    exp.ArrayAgg: _listed,
    exp.BitwiseRightShift: _shifted,
    exp.Floor: lambda node: call("FLOOR", spark(node.this)),
    exp.Identifier: _identifier,
    exp.IsNan: lambda node: call("ISNAN", spark(node.this)),
    exp.Literal: _literal,
    exp.Max: lambda node: call("MAX", spark(node.this)),
    exp.Select: _select,
    exp.Sum: _sum,
    exp.Table: _table,
    exp.Trunc: _truncated,
    exp.Try: lambda node: spark(node.this),
}
"""What each kind of node becomes. There is no form for any other: nothing slips through as it is."""
