"""CAST and TRY_CAST: to which types, from which; what does not fit becomes NULL in both."""

from __future__ import annotations

from sqlglot import exp

from deniable.query.expressions.constants import moment
from deniable.query.expressions.scan import Text
from deniable.query.expressions.values import MOMENTS, Value, cast, tame
from deniable.query.schema import Type

_NAMES = {
    "INT": Type.INTEGER,
    "BIGINT": Type.INTEGER,
    "DOUBLE": Type.REAL,
    "FLOAT": Type.REAL,
    "TEXT": Type.TEXT,
    "VARCHAR": Type.TEXT,
    "BOOLEAN": Type.BOOLEAN,
    "DATE": Type.DATE,
    "TIMESTAMP": Type.TIMESTAMP,
    "TIMESTAMPNTZ": Type.TIMESTAMP,
    "DATETIME": Type.TIMESTAMP,
}
_FROM = {
    Type.INTEGER: {Type.INTEGER, Type.REAL, Type.TEXT, Type.BOOLEAN},
    Type.REAL: {Type.INTEGER, Type.REAL, Type.TEXT, Type.BOOLEAN},
    Type.TEXT: {Type.INTEGER, Type.REAL, Type.TEXT, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP},
    Type.BOOLEAN: {Type.INTEGER, Type.TEXT, Type.BOOLEAN},
    Type.DATE: {Type.DATE, Type.TIMESTAMP, Type.TEXT},
    Type.TIMESTAMP: {Type.DATE, Type.TIMESTAMP, Type.TEXT},
}


def target(written: Text, named: exp.Expression, place: int) -> Type:
    """Return the type that CAST names; whole numbers have 64 bits and reals are doubles by any name."""
    kind = named.this
    plain = isinstance(named, exp.DataType) and not named.expressions and isinstance(kind, exp.DataType.Type)
    to = _NAMES.get(kind.name) if plain else None
    if to is None:
        fix = "Write integer, real, text, boolean, date or timestamp."
        raise written.wrong(place, f"CAST to {named.sql('duckdb')} is not offered", fix)
    return to


def converted(written: Text, value: Value, to: Type) -> Value:
    """Return CAST(value AS to). An infinity, too, fits no other type than its own."""
    if value.type is None:
        return Value(cast(value.tree, to), to, value.place, 2)
    if value.type not in _FROM[to]:
        raise written.wrong(value.place, f"{value.type} does not become {to}", _instead(value.type, to))
    if value.literal is not None and to in MOMENTS:
        return moment(written, value.literal, to, value.place)
    value = tame(value)
    wild = to is Type.REAL or to in MOMENTS
    return Value(cast(value.tree, to), to, value.place, value.size + 1, raises=value.raises, wild=wild)


def _instead(given: Type, to: Type) -> str:
    if to is Type.BOOLEAN:
        return "Compare it with something, for example = or >=."
    if given in MOMENTS:
        return "Write year(...), month(...) or day(...)."
    return "Convert it to text first."
