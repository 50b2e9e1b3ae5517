"""Random expressions on random rows: they never raise, keep their type, and mean what Python says."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from row_table import SCHEMA, SQL, TYPES, table

from deniable.errors import ExpressionError
from deniable.query.expressions import Expression, parse_value
from deniable.query.schema import Type

TEXTS = (
    *("", " ", "a", "Blue ", "1", "1000,abc", "-7", "1e400", "nan", "inf", "infinity", "true", "%", "_", "'"),
    *(
        '"',
        "\\",
        "é",
        "İß",
        "👩\u200d🦰",
        "2024-02-29",
        "2024-02-30",
        "290000-01-01",
        "0001-01-01 (BC)",
        "24:00",
    ),
    *("x" * 300, "\x00", "(", "a\nb", "9223372036854775808"),
)
LAST = datetime(9999, 12, 31, 23, 59, 59, 999999)
EXTREMES: dict[Type, Sequence[object]] = {
    Type.INTEGER: [None, 0, 1, -1, 2, 7, 37, -40, 2**31, 2**62, 2**63 - 1, -(2**63), 10**18],
    Type.REAL: [
        *(None, 0.0, -0.0, 0.5, 1.0, -2.5, 1e-320, 1e18),
        *(1.7e308, -1.7e308, math.inf, -math.inf, math.nan),
    ],
    Type.DECIMAL: [None, Decimal("0.000"), Decimal("0.100"), Decimal("-999999999999999.999")],
    Type.TEXT: [None, *TEXTS],
    Type.BOOLEAN: [None, True, False],
    Type.DATE: [None, date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), date(1969, 12, 31)],
    Type.TIMESTAMP: [None, datetime(1, 1, 1), LAST, datetime(2024, 2, 29, 18)],
}


def rows(number: int, seed: int) -> list[dict[str, object]]:
    generator = random.Random(seed)
    return [{name: generator.choice(EXTREMES[kind]) for name, kind in TYPES.items()} for _ in range(number)]


NUMBERS, MOMENTS = (Type.INTEGER, Type.REAL), (Type.DATE, Type.TIMESTAMP)
NAMES = {kind: [name for name, of in TYPES.items() if of is kind] for kind in TYPES.values()}
LITERALS = {
    Type.INTEGER: ["0", "1", "-1", "2", "10", "9223372036854775807", "-9223372036854775808"],
    Type.REAL: ["0.0", "0.5", "-2.5", "1e308", "1e-300"],
    Type.TEXT: ["''", "'a'", "'it''s'", "'%'", "'\\'", "'é'", "'2024-02-29'", "'12'"],
    Type.BOOLEAN: ["TRUE", "FALSE"],
    Type.DATE: ["DATE '2024-02-29'"],
    Type.TIMESTAMP: ["CAST('2024-02-29 18:00' AS timestamp)"],
}
ORDERED = [*NUMBERS, Type.TEXT, *MOMENTS]


@st.composite
def expression(draw: st.DrawFn, kind: Type, depth: int = 3) -> str:
    """Return the text of an expression of the type, built from everything that is offered."""

    def part(of: Type) -> str:
        return draw(expression(of, depth - 1))

    def pick(*choices: str) -> str:
        return draw(st.sampled_from(choices))

    def any_number() -> str:
        return part(draw(st.sampled_from(NUMBERS)))

    if depth <= 0 or draw(st.integers(0, 5)) == 0:
        names = NAMES[kind] + (["money"] if kind is Type.REAL else [])
        return draw(st.sampled_from(names + LITERALS[kind]))
    if draw(st.integers(0, 3)) == 0:
        same = [part(kind) for _ in range(3)]
        when = part(Type.BOOLEAN)
        return pick(
            f"COALESCE({same[0]}, {same[1]})",
            f"NULLIF({same[0]}, {same[1]})",
            f"CASE WHEN {when} THEN {same[0]} ELSE {same[1]} END",
            f"CASE WHEN {when} THEN {same[0]} END",
            f"CASE {same[0]} WHEN {same[1]} THEN {same[2]} END",
            f"({same[0]})",
            *(
                [f"LEAST({same[0]}, {same[1]})", f"GREATEST({', '.join(same)})"]
                if kind is not Type.BOOLEAN
                else []
            ),
        )
    match kind:
        case Type.INTEGER:
            a, b = part(kind), part(kind)
            sign = pick("+", "-", "*", "//", "%")
            return pick(
                f"({a}) {sign} ({b})", f"-({a})", f"abs({a})", f"round({a}, -2)",
                f"length({part(Type.TEXT)})",
                f"year({part(Type.DATE)})", f"month({part(Type.TIMESTAMP)})", f"hour({part(Type.TIMESTAMP)})",
                f"dayofweek({part(Type.DATE)})", f"CAST({any_number()} AS integer)",
                f"day({part(Type.DATE)})", f"CAST({part(Type.TEXT)} AS integer)",
                f"CAST({part(Type.BOOLEAN)} AS integer)",
            )  # fmt: skip
        case Type.REAL:
            a, b = any_number(), any_number()
            real = part(kind)
            sign = pick("+", "-", "*", "%")
            return pick(
                f"({a}) / ({b})", f"({a}) {sign} ({real})", f"-({real})", f"abs({real})", f"round({real}, 2)",
                f"floor({real})", f"ceil({real})", f"sqrt({a})", f"ln({a})", f"exp({a})", f"power({a}, {b})",
                f"CAST({a} AS real)", f"CAST({part(Type.TEXT)} AS real)", f"round({real}, -15)",
            )  # fmt: skip
        case Type.TEXT:
            a, b = part(kind), part(kind)
            every = part(draw(st.sampled_from(list(LITERALS))))
            return pick(
                f"({a}) || ({b})", f"concat({a}, {b}, '-')", f"lower({a})", f"upper({a})", f"trim({a})",
                f"ltrim({a}, 'a')", f"rtrim({a})", f"replace({a}, 'a', 'bcd')",
                f"substring({a}, {part(Type.INTEGER)})",
                f"substring({a}, {part(Type.INTEGER)}, {part(Type.INTEGER)})", f"CAST({every} AS text)",
            )  # fmt: skip
        case Type.BOOLEAN:
            of = draw(st.sampled_from(ORDERED))
            a, b, c = part(of), part(of), part(of)
            left, right, text = part(kind), part(kind), part(Type.TEXT)
            sign = pick("=", "<>", "!=", "<", "<=", ">", ">=")
            return pick(
                f"({a}) {sign} ({b})", f"({left}) AND ({right})", f"({left}) OR ({right})", f"NOT ({left})",
                f"({a}) BETWEEN ({b}) AND ({c})", f"({a}) IS NULL", f"({left}) IS NOT TRUE",
                f"({part(Type.INTEGER)}) IN (1, 2, -3)", f"({text}) NOT LIKE '%a_'", f"({text}) ILIKE 'A%'",
                f"starts_with({text}, {part(Type.TEXT)})", f"contains({text}, {part(Type.TEXT)})",
                f"CAST({text} AS boolean)", f"CAST({part(Type.INTEGER)} AS boolean)",
            )  # fmt: skip
        case Type.DATE:
            moment = part(draw(st.sampled_from(MOMENTS)))
            unit = pick("year", "quarter", "month", "week", "day")
            return pick(
                f"date_trunc('{unit}', {part(kind)})",
                f"CAST({moment} AS date)",
                f"CAST({part(Type.TEXT)} AS date)",
            )
        case _:
            moment = part(draw(st.sampled_from(MOMENTS)))
            unit = pick("year", "week", "hour", "second")
            return pick(
                f"date_trunc('{unit}', {part(kind)})", f"CAST({moment} AS timestamp)",
                f"CAST({part(Type.TEXT)} AS timestamp)", f"strptime({part(Type.TEXT)}, '%Y-%m-%d')",
                f"try_strptime({part(Type.TEXT)}, '%H:%M')",
            )  # fmt: skip


@pytest.fixture(scope="module")
def odd() -> duckdb.DuckDBPyConnection:
    connection = table(rows(300, seed=1))
    connection.execute("CREATE TABLE half AS SELECT * FROM rows WHERE n % 2 = 0 ORDER BY n DESC")
    return connection


@given(st.data())
@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_no_expression_raises_on_any_row_and_rows_do_not_touch(
    odd: duckdb.DuckDBPyConnection, data: st.DataObject
) -> None:
    kind = data.draw(st.sampled_from(list(LITERALS)))
    text = data.draw(expression(kind))
    try:
        parsed = parse_value(text, SCHEMA, argument="derive")
    except ExpressionError as error:
        reason = str(error)
    else:
        check(odd, parsed, text)
        return
    assert any(word in reason for word in ("too complex", "too deeply", "this text is not a")), text


def check(odd: duckdb.DuckDBPyConnection, parsed: Expression, text: str) -> None:
    """Demand that the expression runs on all rows, is finite, of its type, and does not mix rows."""
    kind = parsed.type
    sql = parsed.tree.sql(dialect="duckdb")
    found = dict(odd.execute(f"SELECT n, {sql} FROM rows").fetchall())
    assert odd.execute(f"SELECT DISTINCT typeof({sql}) FROM rows").fetchall() == [(SQL[parsed.type],)]
    for number, value in odd.execute(f"SELECT n, {sql} FROM half").fetchall():
        assert value == found[number], text
    for value in found.values():
        assert not isinstance(value, float) or math.isfinite(value), text
        assert not isinstance(value, str) or kind is Type.TEXT, text
    if kind is Type.BOOLEAN:
        kept = {n for (n,) in odd.execute(f"SELECT n FROM rows WHERE {sql}").fetchall()}
        assert kept == {n for n, value in found.items() if value}, text


Meaning = Callable[[dict[str, object]], object]


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def whole(value: int) -> int | None:
    return value if -(2**63) <= value < 2**63 else None


def arithmetic(sign: str, a: object, b: object) -> object:
    """Return a sign b as the documentation defines it."""
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        return None
    if sign in ("/", "//", "%") and b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int) and sign != "/":
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if sign in ("//", "%") else 0
        return whole({"+": a + b, "-": a - b, "*": a * b, "//": quotient, "%": a - b * quotient}[sign])
    x, y = float(a), float(b)
    match sign:
        case "+":
            return finite(x + y)
        case "-":
            return finite(x - y)
        case "*":
            return finite(x * y)
        case "/":
            return finite(x / y)
    return math.fmod(x, y)


def ordered(sign: str, a: object, b: object) -> bool | None:
    if a is None or b is None:
        return None
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)  # type: ignore[arg-type]
    less, equal = bool(a < b), bool(a == b)  # type: ignore[operator]
    return {"=": equal, "<>": not equal, "<": less, "<=": less or equal, ">": not less and not equal}[sign]


def conjunction(a: object, b: object) -> bool | None:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def opposite(a: object) -> bool | None:
    return None if a is None else not a


@st.composite
def meant(draw: st.DrawFn, kind: Type, depth: int = 4) -> tuple[str, Meaning]:
    """Return the text of an expression of the type, and its meaning in Python."""

    def pair(of: Type) -> tuple[str, Meaning]:
        return draw(meant(of, depth - 1))

    if depth <= 0 or draw(st.integers(0, 4)) == 0:
        name = draw(st.sampled_from(NAMES[kind]))
        clean = finite if kind is Type.REAL else (lambda value: value)
        return name, lambda row: None if row[name] is None else clean(row[name])
    (a, first), (b, second) = pair(kind), pair(kind)
    choice = draw(st.integers(0, 5))
    if choice == 0:
        return f"COALESCE({a}, {b})", lambda row: first(row) if first(row) is not None else second(row)
    if choice == 1:
        when, test = pair(Type.BOOLEAN)
        return f"CASE WHEN {when} THEN {a} ELSE {b} END", lambda row: first(row) if test(row) else second(row)
    if kind is Type.BOOLEAN:
        return draw(condition(depth, (a, first), (b, second)))
    if choice == 2:
        return f"NULLIF({a}, {b})", lambda row: None if ordered("=", first(row), second(row)) else first(row)
    if kind is Type.TEXT:
        return (
            f"{a} || {b}",
            lambda row: (
                None
                if first(row) is None or second(row) is None
                else ((str(first(row)) + str(second(row)))[:10_000])
            ),
        )
    sign = draw(
        st.sampled_from(["+", "-", "*", "//", "%"] if kind is Type.INTEGER else ["+", "-", "*", "/", "%"])
    )
    return f"({a}) {sign} ({b})", lambda row: arithmetic(sign, first(row), second(row))


@st.composite
def condition(
    draw: st.DrawFn, depth: int, one: tuple[str, Meaning], other: tuple[str, Meaning]
) -> tuple[str, Meaning]:
    """Return a condition: one AND other, or a comparison, and its meaning."""
    (a, first), (b, second) = one, other
    match draw(st.integers(0, 4)):
        case 0:
            return f"({a}) AND ({b})", lambda row: conjunction(first(row), second(row))
        case 1:
            return f"({a}) OR ({b})", lambda row: opposite(
                conjunction(opposite(first(row)), opposite(second(row)))
            )
        case 2:
            return f"NOT ({a})", lambda row: opposite(first(row))
    of = draw(st.sampled_from([Type.INTEGER, Type.REAL, Type.TEXT]))
    (left, low), (right, high) = draw(meant(of, depth - 1)), draw(meant(of, depth - 1))
    if draw(st.booleans()):
        return f"({left}) IS NULL", lambda row: low(row) is None
    sign = draw(st.sampled_from(["=", "<>", "<", "<=", ">"]))
    return f"({left}) {sign} ({right})", lambda row: ordered(sign, low(row), high(row))


@given(st.sampled_from([Type.INTEGER, Type.REAL, Type.TEXT, Type.BOOLEAN]).flatmap(meant))
@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_the_engine_and_python_agree_on_what_an_expression_means(
    odd: duckdb.DuckDBPyConnection, case: tuple[str, Meaning]
) -> None:
    text, meaning = case
    sql = parse_value(text, SCHEMA, argument="derive").tree.sql(dialect="duckdb")
    for row, value in zip(
        rows(300, seed=1)[:200], odd.execute(f"SELECT {sql} FROM rows LIMIT 200").fetchall(), strict=True
    ):
        assert value == (meaning(row),), (text, row)


@st.composite
def chain(draw: st.DrawFn, depth: int) -> str:
    """Return conditions, comparisons or sums in a row, without a parenthesis to say what goes first."""
    prefixes, operands, infixes = (
        (["", "", "", "NOT "], [comparison()], [" AND ", " OR "]),
        (["", "", "", "-", "- -", "+"], [st.sampled_from(["i", "j", "1", "2"])], [*"+-*/%", " // "]),
    )[depth]
    parts = [draw(st.sampled_from(prefixes)) + draw(st.one_of(operands))]
    for _ in range(draw(st.integers(0, 3))):
        infix, prefix = draw(st.sampled_from(infixes)), draw(st.sampled_from(prefixes))
        parts.append(f"{infix} {prefix}{draw(st.one_of(operands))}")
    return "".join(parts)


@st.composite
def comparison(draw: st.DrawFn) -> str:
    """Return one condition on numbers or texts, without parentheses."""
    left, right, third = (draw(chain(1)) for _ in range(3))
    sign = draw(st.sampled_from(["=", "<>", "<", ">="]))
    joined = draw(st.sampled_from(["s || t", "s || t || 'a'", "s"]))
    return draw(
        st.sampled_from(
            [
                *(f"{left} {sign} {right}", f"{left} BETWEEN {right} AND {third}", f"{left} IN (1, 2)"),
                *(f"{left} IS NULL", f"{left} NOT BETWEEN {right} AND {third}", f"{left} NOT IN (2)", "p"),
                *(f"{joined} LIKE 'a%'", f"{joined} = 'aab'", f"{joined} IN ('a')", "p IS NOT TRUE"),
                *(f"{joined} NOT LIKE 'a'", f"p = {left} {sign} {right}", f"{left}::text || s = '2a'"),
            ]
        )
    )


@given(chain(0))
@settings(max_examples=600, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_an_expression_groups_as_the_engine_itself_would_read_it(
    plain: duckdb.DuckDBPyConnection, text: str
) -> None:
    """Where both accept the text, DuckDB's own reading has our value, on rows without surprises."""
    try:
        sql = parse_value(text, SCHEMA, argument="derive").tree.sql(dialect="duckdb")
    except ExpressionError:
        return
    try:
        own = plain.execute(f"SELECT {text} FROM rows").fetchall()
    except duckdb.Error:
        return
    ours = plain.execute(f"SELECT {sql} FROM rows").fetchall()
    assert own == ours, text
    COMPARED.append(text)


COMPARED: list[str] = []


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    yield table(
        [{"i": 5, "j": 3, "s": "a", "t": "ab", "p": True}, {"i": 2, "j": 7, "s": "b", "t": "", "p": False}]
    )
    assert len(COMPARED) > 300
