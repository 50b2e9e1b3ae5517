"""Literals that must make sense before any data is read: numbers, moments, patterns, formats, units."""

from __future__ import annotations

import math
import re
from datetime import date, datetime

from sqlglot import exp

from deniable.errors import EngineError
from deniable.query.expressions.scan import Text
from deniable.query.expressions.values import Value, call, cast, literal_integer, literal_real
from deniable.query.schema import Type

LONGEST_PATTERN = 500
DATE_UNITS = ("year", "quarter", "month", "week", "day")
TIME_UNITS = ("hour", "minute", "second")

_DIRECTIVES = frozenset("aAbBdfHIjmMpSyY%") | {"-d", "-H", "-I", "-j", "-m", "-M", "-S", "-y"}
_DIRECTIVE = re.compile(r"%(-?[a-zA-Z%]?)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?")


def number(written: Text, text: str, place: int, *, negative: bool = False) -> Value:
    """Return the literal: digits alone are an integer of 64 bits, all else a double."""
    sign = -1 if negative else 1
    if text.isascii() and text.isdigit():
        whole = sign * int(text)
        if not -(2**63) <= whole < 2**63:
            fix = f"Whole numbers have 64 bits; write it as a real number, {text}.0."
            raise written.wrong(place, "this number is too large", fix)
        return Value(literal_integer(whole), Type.INTEGER, place)
    real = sign * float(text)
    if not math.isfinite(real):
        raise written.wrong(place, "this number is too large", "Real numbers reach 1.7e308.")
    return Value(literal_real(real), Type.REAL, place)


def moment(written: Text, text: str, to: Type, place: int) -> Value:
    """Return the date or timestamp that a text literal means."""
    shape, example = (_DATE, "2024-12-31") if to is Type.DATE else (_TIMESTAMP, "2024-12-31 18:30:00")
    read: type[date] = date if to is Type.DATE else datetime
    try:
        parsed = read.fromisoformat(text) if shape.fullmatch(text) else None
    except ValueError:
        parsed = None
    if parsed is None:
        raise written.wrong(place, f"this text is not a {to}", f"Write it as '{example}'.")
    return Value(cast(exp.Literal.string(str(parsed)), to), to, place)


def pattern(written: Text, text: str, place: int) -> str:
    """Return the regular expression if the engine can compile it.

    RE2 takes time linear in the text for every pattern; the pattern's own length is bounded here.
    """
    from deniable.engines.duckdb import DuckDB

    if len(text) > LONGEST_PATTERN:
        raise written.wrong(place, "this pattern is too long", f"Use at most {LONGEST_PATTERN} characters.")
    trial = exp.select(call("REGEXP_MATCHES", exp.Literal.string(""), exp.Literal.string(text)))
    try:
        with DuckDB(threads=1) as engine:
            engine.execute(trial)
    except EngineError:
        fix = "Patterns are RE2: no look-around, no back references; double every \\ only in Python."
        raise written.wrong(place, "this pattern is not a regular expression", fix) from None
    return text


def moment_format(written: Text, text: str, place: int) -> str:
    """Return the format of STRPTIME if each directive in it is known."""
    directives = _DIRECTIVE.findall(text)
    unknown = next((name for name in directives if name not in _DIRECTIVES), None)
    if unknown is not None or not directives:
        problem = "this format has no directive" if unknown is None else f"%{unknown} is not a directive"
        raise written.wrong(place, problem, "Write for example '%Y-%m-%d' or '%d/%m/%Y %H:%M'.")
    return text


def unit(written: Text, text: str, of: Type | None, place: int) -> str:
    """Return the unit of DATE_TRUNC, in lower case."""
    units = DATE_UNITS if of is Type.DATE else DATE_UNITS + TIME_UNITS
    if text.lower() not in units:
        raise written.wrong(place, f"a {of} is not cut to this unit", f"Write one of {', '.join(units)}.")
    return text.lower()
