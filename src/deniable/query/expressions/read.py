"""From sqlglot's tree to ours, node by node: what is not named here is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from deniable.errors import ParameterError
from deniable.query.expressions import casts, constants, functions, operators
from deniable.query.expressions.names import unknown
from deniable.query.expressions.refusals import refused
from deniable.query.expressions.scan import Text
from deniable.query.expressions.values import Value, cast, seal
from deniable.query.schema import Column, Schema, Type

MOST_NODES = 20_000
"""How many nodes the engine may have to evaluate, repetitions counted."""

_ALLOWED: dict[type[exp.Expression], frozenset[str]] = {
    exp.Paren: frozenset({"this"}),
    exp.Column: frozenset({"this"}),
    exp.Literal: frozenset({"this", "is_string"}),
    exp.Boolean: frozenset({"this"}),
    exp.Null: frozenset(),
    exp.Neg: frozenset({"this"}),
    exp.Not: frozenset({"this"}),
    exp.Is: frozenset({"this", "expression"}),
    exp.In: frozenset({"this", "expressions"}),
    exp.Between: frozenset({"this", "low", "high"}),
    exp.Like: frozenset({"this", "expression", "negate"}),
    exp.ILike: frozenset({"this", "expression", "negate"}),
    exp.DPipe: frozenset({"this", "expression", "safe"}),
    exp.Case: frozenset({"this", "ifs", "default"}),
    exp.If: frozenset({"this", "true"}),
    exp.Cast: frozenset({"this", "to"}),
    exp.TryCast: frozenset({"this", "to", "safe"}),
    exp.Anonymous: frozenset({"this", "expressions"}),
    **dict.fromkeys(operators.ARITHMETIC, frozenset({"this", "expression", "typed", "safe"})),
    **dict.fromkeys(operators.COMPARISON, frozenset({"this", "expression"})),
    **dict.fromkeys(operators.LOGIC, frozenset({"this", "expression"})),
}
"""Every node that may stand in an expression, and every argument that it may have."""

_CHAINS = (*operators.ARITHMETIC, *operators.COMPARISON, *operators.LOGIC, exp.DPipe)


class Reader:
    """Reads expressions about rows of one schema."""

    def __init__(self, written: Text, schema: Schema) -> None:
        self._written = written
        self._schema = schema

    def alone(self, node: exp.Expression) -> Value:
        """Return the value of a whole expression: a bare column keeps its own type, decimals too."""
        while isinstance(node, exp.Paren):
            node = node.this
        if type(node) is exp.Column:
            self._check(node)
            return self._column(node)
        return self.read(node)

    def read(self, node: exp.Expression) -> Value:
        """Return the value of one part.

        Raises:  ExpressionError: it is not offered, or its types do not fit.
        """
        spine = []
        while type(node) in _CHAINS:
            self._check(node)
            spine.append(node)
            node = node.this
        value = self._small(self._piece(node))
        for operation in reversed(spine):
            right = self.read(operation.expression)
            value = self._small(self._binary(type(operation), value, right))
        return value

    def _binary(self, operator: type[exp.Expression], left: Value, right: Value) -> Value:
        if operator in operators.ARITHMETIC:
            return operators.arithmetic(self._written, operator, left, right)
        if operator in operators.COMPARISON:
            return operators.comparison(self._written, operator, left, right)
        if operator in operators.LOGIC:
            return operators.logic(self._written, operator, left, right)
        return operators.joined(self._written, left, right)

    def _small(self, value: Value) -> Value:
        if value.size > MOST_NODES:
            fix = "Split it: a derived column can hold a part of it."
            raise self._written.wrong(value.place, "is too complex", fix)
        return value

    def _check(self, node: exp.Expression) -> None:
        """Refuse a node, or an argument of one, that is not in `_ALLOWED`."""
        allowed = _ALLOWED.get(type(node))
        if allowed is None:
            raise refused(self._written, node, place_of(node))
        for name, argument in node.args.items():
            if argument and name not in allowed:
                raise refused(self._written, node, place_of(node), argument=name)

    def _piece(self, node: exp.Expression) -> Value:
        self._check(node)
        written, place = self._written, self._place(node)
        match node:
            case exp.Paren():
                return replace(self.read(node.this), literal=None, column=None)
            case exp.Column():
                return _number(self._column(node))
            case exp.Literal(is_string=True):
                return Value(exp.Literal.string(node.this), Type.TEXT, place, literal=node.this)
            case exp.Literal():
                return constants.number(written, node.this, place)
            case exp.Boolean():
                return Value(exp.Boolean(this=node.this), Type.BOOLEAN, place)
            case exp.Null():
                return Value(exp.Null(), None, place)
            case exp.Neg(this=exp.Literal(is_string=False) as digits):
                return constants.number(written, digits.this, place, negative=True)
            case exp.Neg():
                return operators.negative(written, self.read(node.this))
            case exp.Not():
                return operators.opposite(written, self.read(node.this))
            case exp.Case():
                return self._case(node)
            case exp.Cast():
                return casts.converted(
                    written, self.read(node.this), casts.target(written, node.args["to"], place)
                )
            case exp.Anonymous():
                return self._call(node)
            case _:
                return self._predicate(node)

    def _predicate(self, node: exp.Expression) -> Value:
        written, value = self._written, self.read(node.this)
        match node:
            case exp.Is(expression=exp.Null() | exp.Boolean() as against):
                return operators.test(written, value, against.copy())
            case exp.In():
                if not node.expressions:
                    raise refused(written, node, place_of(node), argument="empty")
                return operators.among(
                    written, value, [self._constant(choice) for choice in node.expressions]
                )
            case exp.Between():
                return operators.between(
                    written, value, self.read(node.args["low"]), self.read(node.args["high"])
                )
            case exp.Like() | exp.ILike():
                matched = operators.like(written, type(node), value, self._piece(node.expression))
                return operators.opposite(written, matched) if node.args.get("negate") else matched
        raise refused(written, node, place_of(node))

    def _constant(self, node: exp.Expression) -> Value:
        literal = node.this if isinstance(node, exp.Neg) else node
        if not isinstance(literal, exp.Literal | exp.Boolean | exp.Cast):
            fix = "Write the values out, or compare with = and OR."
            raise self._written.wrong(self._place(node), "IN takes literal values", fix)
        return self.read(node)

    def _call(self, node: exp.Expression) -> Value:
        written, place = self._written, self._place(node)
        name = node.this if isinstance(node.this, str) else node.this.name
        if name.lower() not in functions.OFFERED:
            raise unknown(written, name, functions.OFFERED, place)
        return functions.apply(written, name, [self.read(argument) for argument in node.expressions], place)

    def _case(self, node: exp.Expression) -> Value:
        """Return CASE; its branches have one type, and everything in it is sealed."""
        branches = node.args["ifs"]
        for branch in branches:
            self._check(branch)
        conditions = [self._when(node.this, branch.this) for branch in branches]
        results = [self.read(branch.args["true"]) for branch in branches]
        default = node.args.get("default")
        if default is not None:
            results.append(self.read(default))
        to, ready = operators.unified(self._written, results)
        ifs = [exp.If(this=c.tree, true=r.tree) for c, r in zip(conditions, ready, strict=False)]
        tree = exp.Case(ifs=ifs, default=None if default is None else ready[-1].tree)
        size = 1 + _size(conditions) + _size(ready)
        return Value(tree, to, place_of(node), size)

    def _place(self, node: exp.Expression) -> int:
        """Return where a node starts; sqlglot notes no place for NULL, TRUE and FALSE."""
        if isinstance(node, exp.Null | exp.Boolean) and isinstance(node.parent, exp.Expression):
            return self._written.nearest(r"\b(null|true|false)\b", place_of(node.parent))
        return place_of(node)

    def _when(self, subject: exp.Expression | None, node: exp.Expression) -> Value:
        """Return one condition: what stands after WHEN, or `subject` = that."""
        if subject is not None:
            equal = operators.comparison(self._written, exp.EQ, self.read(subject), self.read(node))
            return self._small(seal(equal))
        condition = self.read(node)
        operators.require(self._written, condition, frozenset({Type.BOOLEAN}), "WHEN takes a condition")
        return seal(condition)

    def _column(self, node: exp.Expression) -> Value:
        """Return a column. A real may be infinite or NaN in the source; sources deliver no such moments."""
        column, place = self._find(node), place_of(node)
        if column.type is Type.OTHER:
            fix = "Use another column, or convert it before."
            raise self._written.wrong(
                place, f"the type of {column.name} is not one that expressions know", fix
            )
        tree = exp.column(column.name, quoted=True)
        return Value(tree, column.type, place, wild=column.type is Type.REAL, column=column.name)

    def _find(self, node: exp.Expression) -> Column:
        """Return the column of the schema that an identifier names."""
        name, place = node.this.name, place_of(node)
        try:
            return self._schema.find(name, self._written.argument)
        except ParameterError as error:
            fix = error.fix
        if node.this.args.get("quoted"):
            text = name.replace("'", "''")
            fix = f"Text takes single quotes: '{text}'. {fix}"
        raise self._written.wrong(place, f"there is no column {name}", fix)


def _number(value: Value) -> Value:
    """Return a column as an operand: a whole number of 64 bits, a decimal as a real; others unchanged."""
    match value.type:
        case Type.INTEGER:
            return replace(value, tree=cast(value.tree, Type.INTEGER), size=2)
        case Type.DECIMAL:
            return replace(value, tree=cast(value.tree, Type.REAL), type=Type.REAL, size=2)
        case _:
            return value


def _size(values: Sequence[Value]) -> int:
    return sum(value.size for value in values)


def looped(node: exp.Expression, below: exp.Expression) -> bool:
    """Whether `Reader.read` walks from one to the other in a loop and not by recursion."""
    return type(node) in _CHAINS and type(below) in _CHAINS and below is node.this


def place_of(node: exp.Expression) -> int:
    """Return where the node starts in the text: the first place noted on it or anything below it."""
    return min((part.meta["start"] for part in node.walk() if "start" in part.meta), default=0)
