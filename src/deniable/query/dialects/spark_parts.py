"""The small parts of Spark's SQL: calls, casts, literals, types."""

from __future__ import annotations

import re

from sqlglot import exp

from deniable.query.schema import Type

_MOST = 10**38 - 1
_PLAIN = re.compile(r"[A-Za-z0-9 _.:+/,-]*")
_TYPES = {
    "INT": "INT",
    "BIGINT": "BIGINT",
    "UINT": "BIGINT",
    "UINTEGER": "BIGINT",
    "INT128": "DECIMAL(38, 0)",
    "FLOAT": "FLOAT",
    "DOUBLE": "DOUBLE",
    "VARCHAR": "STRING",
    "TEXT": "STRING",
    "BOOLEAN": "BOOLEAN",
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP_NTZ",
    "TIMESTAMPNTZ": "TIMESTAMP_NTZ",
    "TIMESTAMPTZ": "TIMESTAMP",
}


def call(name: str, *arguments: exp.Expression) -> exp.Expression:
    """Return a call of the function of that name, exactly as spelt."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def cast(value: exp.Expression, kind: str) -> exp.Expression:
    """Return TRY_CAST(value AS kind): the same in every session."""
    return exp.TryCast(this=value, to=exp.DataType.build(kind, dialect="spark"), safe=True)


def data_type(kind: exp.DataType) -> exp.DataType:
    """Return Spark's type for one of DuckDB's."""
    if kind.is_type("DECIMAL"):
        return kind.copy()
    name = kind.args.get("kind") or kind.this.name  # a name that only DuckDB knows
    return exp.DataType.build(_TYPES[str(name)], dialect="spark")


def number(value: int | str) -> exp.Expression:
    """Return a number: whole, within 38 digits; or real, as a DOUBLE by its letter."""
    text = str(value)
    if text.lstrip("-").isdigit():
        whole = max(-_MOST, min(_MOST, int(text)))
        size = exp.Literal.number(str(abs(whole)))
        return exp.Paren(this=exp.Neg(this=size)) if whole < 0 else size
    return exp.Literal.number(f"{text}D")


def literal(text: str) -> exp.Expression:
    """Return text. What a session might read in another way is written as bytes."""
    if _PLAIN.fullmatch(text):
        return exp.Literal.string(text)
    held = exp.Var(this=f"X'{text.encode().hex()}'")
    return exp.Cast(this=held, to=exp.DataType.build("STRING", dialect="spark"))


def named(value: exp.Expression, name: str) -> exp.Alias:
    return exp.Alias(this=value, alias=exp.to_identifier(name))


def type_of(node: exp.Expression) -> Type | None:
    """Return the type that a part of a user's expression was built with; None for all other trees."""
    while isinstance(node, exp.Paren) and "type" not in node.meta:
        node = node.this
    found: Type | None = node.meta.get("type")
    return found
