"""Functions and conversions of expressions in Spark's SQL: total, and free of settings and time zones."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from deniable.query.dialects.spark_parts import call, cast, literal, number, type_of
from deniable.query.schema import Type
from deniable.query.sources import casts

Spark = Callable[[exp.Expression], exp.Expression]

_ALIKE = frozenset(
    "LOWER UPPER LENGTH SUBSTRING CONTAINS SQRT LN EXP POWER YEAR MONTH DAY HOUR REPLACE LEFT NULLIF".split()
)
_WHOLE_DOUBLES = 1 << 52
_AFTER_INTEGERS = "9.223372036854775807e18"
_BLANKS = r"[\t\n\f\r ]"
_SIDES = {"LTRIM": "LEADING", "RTRIM": "TRAILING", "TRIM": "BOTH"}
_MICROSECONDS = 1_000_000


def function(name: str, node: exp.Anonymous, spark: Spark) -> exp.Expression:
    """Return a call of DuckDB's in Spark's dialect.

    Raises:  TypeError: it has no form here: a mistake in this package, as `offered` was asked before.
    """
    given = node.expressions
    ready = [spark(argument) for argument in given]
    if name in _ALIKE:
        return call(name, *ready)
    match name:
        case "ISFINITE":
            return _finite(given[0], ready[0])
        case "COALESCE" | "LEAST" | "GREATEST":
            return ready[0] if len(ready) == 1 else call(name, *ready)
        case "CONCAT":
            return call("CONCAT", *(call("COALESCE", part, literal("")) for part in ready))
        case "STARTS_WITH":
            return call("STARTSWITH", *ready)
        case "TRIM" | "LTRIM" | "RTRIM":
            return _trimmed(_SIDES[name], *ready)
        case "ABS":
            opposite = call("TRY_SUBTRACT", number(0), ready[0].copy())
            return _either(exp.LT(this=_group(ready[0]), expression=number(0)), opposite, ready[0].copy())
        case "FLOOR" | "CEIL":
            return _whole(name, ready[0])
        case "ROUND":
            return _rounded(node, ready[0])
        case "DAYOFWEEK":
            return exp.Paren(this=exp.Sub(this=call(name, *ready), expression=number(1)))
        case "DATE_TRUNC":
            return _cut(given[0].this, type_of(given[1]), ready[1])
        case "MAKE_TIMESTAMP":
            return _moment(ready[0])
        case "EPOCH_US":
            return call("UNIX_MICROS", *ready)
        case "REGEXP_EXTRACT":
            return call(name, ready[0], _pattern(given[1].this), ready[2])
        case "REGEXP_FULL_MATCH":
            return call("RLIKE", ready[0], _pattern(rf"\A(?:{given[1].this})\z"))
    raise TypeError(f"{name} has no form for Spark")


def converted(value: exp.Expression, to: exp.DataType, spark: Spark) -> exp.Expression:
    """Return TRY_CAST of a part of a user's expression."""
    given, wanted = type_of(value), _wanted(to)
    if given is Type.TEXT and wanted is not Type.TEXT:
        return spark(casts.parsed(value, wanted))
    ready = spark(value)
    if given is Type.REAL and wanted is Type.INTEGER:
        fits = exp.LT(this=_group(ready), expression=number(_AFTER_INTEGERS))
        ready = exp.Case(ifs=[exp.If(this=fits, true=call("RINT", ready.copy()))])
    return cast(ready, _KINDS[wanted])


_KINDS = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.TEXT: "STRING",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP_NTZ",
}


def _wanted(to: exp.DataType) -> Type:
    names = {
        "BIGINT": Type.INTEGER,
        "DOUBLE": Type.REAL,
        "TEXT": Type.TEXT,
        "VARCHAR": Type.TEXT,
        "BOOLEAN": Type.BOOLEAN,
        "DATE": Type.DATE,
        "TIMESTAMP": Type.TIMESTAMP,
        "TIMESTAMPNTZ": Type.TIMESTAMP,
    }
    return names[to.this.name]


def moment_of_text(text: exp.Expression) -> exp.Expression:
    """Return the moment that text means: with an offset or in UTC, whatever the session's time zone.

    `text` is what the pattern of `casts` let through, or ''. Seconds, which Spark wants, are added.
    """
    day = exp.EQ(this=call("LENGTH", text), expression=number(10))
    start = call("CONCAT", text.copy(), literal(" 00:00:00"))
    full = _replaced(text.copy(), r"\A(.{13}:..)(Z|[+-].*)?\z", "$1:00$2")
    zoned = call("RLIKE", text.copy(), _pattern(r"\A.{11}.*(Z|[+-][0-9]{2}(:[0-9]{2})?)\z"))
    clock = _either(day, start, full)
    return cast(_either(zoned, clock, call("CONCAT", clock.copy(), literal("Z"))), "TIMESTAMP")


def _finite(given: exp.Expression, ready: exp.Expression) -> exp.Expression:
    """Return whether a real is no infinity and not NaN; a moment always is."""
    if any(part.to.is_type("TIMESTAMPTZ") for part in given.find_all(exp.Cast)):
        return exp.Not(this=exp.Is(this=_group(ready), expression=exp.Null()))
    least, most = (cast(literal(end), "DOUBLE") for end in ("-Infinity", "Infinity"))
    above = exp.GT(this=_group(ready), expression=least)
    return exp.Paren(this=exp.And(this=above, expression=exp.LT(this=_group(ready.copy()), expression=most)))


def _trimmed(side: str, text: exp.Expression, signs: exp.Expression | None = None) -> exp.Expression:
    return exp.Trim(this=text, expression=literal(" ") if signs is None else signs, position=side)


def _whole(name: str, value: exp.Expression) -> exp.Expression:
    """Return floor or ceil of a DOUBLE as a DOUBLE: Spark's are whole numbers of 64 bits."""
    small = exp.LT(this=call("ABS", value), expression=number(_WHOLE_DOUBLES))
    return _either(small, cast(call(name, value.copy()), "DOUBLE"), value.copy())


def _rounded(node: exp.Anonymous, value: exp.Expression) -> exp.Expression:
    """Return round(value, digits), half away from zero, as DuckDB computes it: by a product in DOUBLE."""
    digits = node.expressions[1]
    places = -int(digits.this.this) if isinstance(digits, exp.Neg) else int(digits.this)
    if type_of(node) is Type.INTEGER:
        return _away(value, number(10**-places), number(10**-places // 2))
    scale = number(f"{float(10 ** abs(places))!r}")
    times, by = ("TRY_MULTIPLY", "TRY_DIVIDE") if places > 0 else ("TRY_DIVIDE", "TRY_MULTIPLY")
    scaled = call(times, value, scale) if places else value
    whole = call("ROUND", scaled, number(0))
    return call(by, whole, scale.copy()) if places else whole


def _away(value: exp.Expression, unit: exp.Expression, half: exp.Expression) -> exp.Expression:
    """Return the multiple of `unit` nearest to a whole number; of two the one that is further from 0."""
    rest = call("TRY_MOD", value, unit)
    down = call("TRY_SUBTRACT", value.copy(), rest)
    up = exp.GTE(this=rest.copy(), expression=half)
    low = exp.LTE(this=rest.copy(), expression=exp.Neg(this=half.copy()))
    return exp.Case(
        ifs=[
            exp.If(this=up, true=call("TRY_ADD", down, unit.copy())),
            exp.If(this=low, true=call("TRY_SUBTRACT", down.copy(), unit.copy())),
        ],
        default=down.copy(),
    )


def _cut(unit: str, of: Type | None, value: exp.Expression) -> exp.Expression:
    """Return the start of the year, ..., second of a date or of a TIMESTAMP_NTZ."""
    if unit in ("hour", "minute", "second"):
        second = call("DATE_PART", literal("SECOND"), value)
        part: exp.Expression = call("TRY_MOD", second, number(1)) if unit == "second" else second
        if unit == "hour":
            minutes = exp.Mul(this=call("MINUTE", value.copy()), expression=number(60))
            part = exp.Paren(this=exp.Add(this=minutes, expression=second))
        since = cast(exp.Mul(this=part, expression=number(-_MICROSECONDS)), "BIGINT")
        return call("TIMESTAMPADD", exp.Var(this="MICROSECOND"), since, value.copy())
    day = value if of is Type.DATE else cast(value, "DATE")
    start = day if unit == "day" else call("TRUNC", day, literal(unit))
    return start if of is Type.DATE else cast(start, "TIMESTAMP_NTZ")


def _moment(microseconds: exp.Expression) -> exp.Expression:
    """Return the TIMESTAMP_NTZ so many microseconds after 1970, in UTC."""
    first = cast(literal("1970-01-01 00:00:00"), "TIMESTAMP_NTZ")
    return call("TIMESTAMPADD", exp.Var(this="MICROSECOND"), microseconds, first)


def _pattern(text: str) -> exp.Expression:
    """Return one of this package's own patterns for Java, whose blanks are others."""
    return literal(text.replace(r"\s", _BLANKS).replace(r"\d", "[0-9]"))


def _replaced(text: exp.Expression, pattern: str, by: str) -> exp.Expression:
    return call("REGEXP_REPLACE", text, literal(pattern), literal(by))


def _either(condition: exp.Expression, then: exp.Expression, otherwise: exp.Expression) -> exp.Expression:
    return exp.Case(ifs=[exp.If(this=condition, true=then)], default=otherwise)


def _group(value: exp.Expression) -> exp.Expression:
    return value if isinstance(value, exp.Column | exp.Anonymous | exp.Paren) else exp.Paren(this=value)
