from __future__ import annotations

import sys
from datetime import date, datetime
from decimal import Decimal

import duckdb
import pytest
from row_table import SCHEMA, evaluate, one, table

from deniable.query.expressions import parse_condition, parse_value
from deniable.query.schema import Column, Schema, Type

BIG = 2**63 - 1
LEAST = -(2**63)
INF = float("inf")
NAN = float("nan")


@pytest.mark.parametrize(
    ("text", "row", "value"),
    [
        ("i + 1", {"i": 2}, 3),
        ("i - j * 2", {"i": 10, "j": 3}, 4),
        ("(i - j) * 2", {"i": 10, "j": 3}, 14),
        ("i - (j - 1)", {"i": 10, "j": 3}, 8),
        ("i / j", {"i": 7, "j": 2}, 3.5),
        ("i // j", {"i": 7, "j": 2}, 3),
        ("i // j", {"i": -7, "j": 2}, -3),
        ("i % j", {"i": -7, "j": 2}, -1),
        ("x % 2", {"x": 5.5}, 1.5),
        ("-i", {"i": 4}, -4),
        ("- - i", {"i": 4}, 4),
        ("+i", {"i": 4}, 4),
        ("2000000000 * 2", {}, 4_000_000_000),
        ("-9223372036854775808", {}, LEAST),
        ("1.5", {}, 1.5),
        ("0.1", {}, 0.1),
        ("-2.5e-3", {}, -0.0025),
        (".5 + 5.", {}, 5.5),
        ("money * 2", {"money": Decimal("1.125")}, 2.25),
        ("money = 0.1", {"money": Decimal("0.100")}, True),
        ("i < x", {"i": 1, "x": 1.5}, True),
        ("i <> 1", {"i": 1}, False),
        ("i != 1", {"i": 2}, True),
        ("i BETWEEN 1 AND 3", {"i": 3}, True),
        ("i NOT BETWEEN 1 AND 3", {"i": 3}, False),
        ("i IN (1, 2, -3)", {"i": -3}, True),
        ("s IN ('red', 'blue')", {"s": "blue"}, True),
        ("s NOT IN ('red')", {"s": "blue"}, True),
        ("i IS NULL", {}, True),
        ("i IS NOT NULL", {}, False),
        ("p IS TRUE", {}, False),
        ("p IS NOT TRUE", {}, True),
        ("p AND i = 1", {"p": False}, False),
        ("p OR i = 1", {"p": True}, True),
        ("p OR i = 1", {"p": False}, None),
        ("NOT p", {"p": False}, True),
        ("NOT i = 1 AND p", {"i": 1, "p": True}, False),
        ("CASE WHEN i > 1 THEN 'many' WHEN i = 1 THEN 'one' END", {"i": 1}, "one"),
        ("CASE WHEN i > 1 THEN 1 ELSE x END", {"x": 0.5}, 0.5),
        ("CASE s WHEN 'a' THEN 1 ELSE NULL END", {"s": "b"}, None),
        ("CASE s WHEN 'a' THEN NULL ELSE 2 END", {"s": "b"}, 2),
        ("COALESCE(i, x, 3)", {"x": 0.5}, 0.5),
        ("NULLIF(s, '')", {"s": ""}, None),
        ("NULLIF(s, '')", {"s": "a"}, "a"),
        ("LEAST(i, j)", {"i": 3}, 3),
        ("GREATEST(i, 2.5)", {"i": 3}, 3.0),
        ("abs(i)", {"i": -3}, 3),
        ("round(x)", {"x": 2.5}, 3.0),
        ("round(x, 1)", {"x": 0.25}, 0.3),
        ("round(i, -1)", {"i": 37}, 40),
        ("floor(x) + ceil(x)", {"x": 1.5}, 3.0),
        ("floor(i)", {"i": 7}, 7),
        ("sqrt(x) + ln(x) + exp(x)", {"x": 1.0}, 1 + 2.718281828459045),
        ("power(i, 2)", {"i": 5}, 25.0),
        ("lower(trim(s))", {"s": "  Blue "}, "blue"),
        ("upper(s)", {"s": "é"}, "É"),
        ("ltrim(s, 'x') || rtrim(s, 'x')", {"s": "xax"}, "axxa"),
        ("length(s)", {"s": "größe"}, 5),
        ("substring(s, 2, 2)", {"s": "colour"}, "ol"),
        ("substring(s, i)", {"s": "colour", "i": 4}, "our"),
        ("substr(s, 2, 2)", {"s": "colour"}, "ol"),
        ("replace(s, 'ü', 'ue')", {"s": "grün"}, "gruen"),
        ("concat(s, '-', t)", {"s": "a"}, "a-"),
        ("s || '-' || t", {"s": "a"}, None),
        ("s || '-' || t", {"s": "a", "t": "b"}, "a-b"),
        ("starts_with(s, 'bl')", {"s": "blue"}, True),
        ("contains(s, t)", {"s": "blue", "t": "lu"}, True),
        ("s LIKE '_l%'", {"s": "blue"}, True),
        ("s NOT LIKE '_l%'", {"s": "blue"}, False),
        ("s ILIKE 'BLUE'", {"s": "blue"}, True),
        ("s LIKE 'a\\b%'", {"s": "a\\bc"}, True),
        ("regexp_matches(s, '^b.+e$')", {"s": "blue"}, True),
        ("year(d) * 100 + month(d)", {"d": date(2024, 2, 29)}, 202402),
        ("day(m) * 100 + hour(m)", {"m": datetime(2024, 2, 29, 18)}, 2918),
        ("dayofweek(d)", {"d": date(2024, 3, 3)}, 0),
        ("date_trunc('month', d)", {"d": date(2024, 2, 29)}, date(2024, 2, 1)),
        ("date_trunc('hour', m)", {"m": datetime(2024, 2, 29, 18, 30)}, datetime(2024, 2, 29, 18)),
        ("strptime(s, '%d/%m/%Y')", {"s": "29/02/2024"}, datetime(2024, 2, 29)),
        ("try_strptime(s, '%d/%m/%Y')", {"s": "30/02/2024"}, None),
        ("d >= '2024-01-01'", {"d": date(2024, 1, 1)}, True),
        ("m < '2024-01-01 12:30'", {"m": datetime(2024, 1, 1, 12, 29)}, True),
        ("DATE '2024-01-01' = d", {"d": date(2024, 1, 1)}, True),
        ("d IN ('2024-01-01')", {"d": date(2024, 1, 1)}, True),
        ("d BETWEEN '2024-01-01' AND '2024-12-31'", {"d": date(2025, 1, 1)}, False),
        ("CAST(s AS integer)", {"s": "12"}, 12),
        ("s::real", {"s": "1e3"}, 1000.0),
        ("TRY_CAST(s AS date)", {"s": "2024-02-29"}, date(2024, 2, 29)),
        ("CAST(i AS text) || '!'", {"i": 5}, "5!"),
        ("CAST(i AS boolean)", {"i": 0}, False),
        ("CAST(m AS date)", {"m": datetime(2024, 2, 29, 18)}, date(2024, 2, 29)),
        ("CAST(p AS integer)", {"p": True}, 1),
        ("CAST(x AS integer)", {"x": 2.6}, 3),
        ("TRUE", {}, True),
        ("'it''s'", {}, "it's"),
        ("i +\n  1", {"i": 1}, 2),
    ],
)
def test_an_expression_means_what_sql_says(text: str, row: dict[str, object], value: object) -> None:
    found = one(text, **row)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("i + j", {"i": BIG, "j": BIG}),
        ("i - j", {"i": LEAST, "j": 1}),
        ("i * j", {"i": BIG, "j": 2}),
        ("-i", {"i": LEAST}),
        ("-(-9223372036854775808)", {}),
        ("abs(i)", {"i": LEAST}),
        ("i % 0", {"i": 1}),
        ("i % j", {"i": 1, "j": 0}),
        ("i // 0", {"i": 1}),
        ("i // j", {"i": LEAST, "j": -1}),
        ("i / 0", {"i": 1}),
        ("x / 0", {"x": 1.0}),
        ("0 / x", {"x": 0.0}),
        ("x % 0", {"x": 1.0}),
        ("x * 10", {"x": 1.7e308}),
        ("x + y", {"x": INF, "y": -INF}),
        ("1 / x", {"x": INF}),
        ("x", {"x": NAN}),
        ("x", {"x": INF}),
        ("x > 1", {"x": INF}),
        ("x > 1", {"x": NAN}),
        ("x % 5", {"x": INF}),
        ("5 % x", {"x": INF}),
        ("x * 0", {"x": INF}),
        ("power(1, x)", {"x": NAN}),
        ("power(x, 0)", {"x": NAN}),
        ("power(i, j)", {"i": BIG, "j": BIG}),
        ("power(i, -1)", {"i": 0}),
        ("exp(x)", {"x": 1000.0}),
        ("exp(x)", {"x": -INF}),
        ("sqrt(x)", {"x": -1.0}),
        ("ln(x)", {"x": 0.0}),
        ("ln(x)", {"x": -1.0}),
        ("round(x, 3)", {"x": NAN}),
        ("round(i, -1)", {"i": BIG}),
        ("floor(x)", {"x": INF}),
        ("substring(s, i)", {"s": "a", "i": BIG}),
        ("substr(s, i)", {"s": "a", "i": BIG}),
        ("substring(s, 1, i)", {"s": "a", "i": LEAST}),
        ("strptime(s, '%Y')", {"s": "garbled"}),
        ("strptime(s, '%Y')", {"s": "infinity"}),
        ("CAST(s AS integer)", {"s": "1000,abc"}),
        ("CAST(s AS real)", {"s": "inf"}),
        ("CAST(s AS real)", {"s": "nan"}),
        ("CAST(s AS date)", {"s": "infinity"}),
        ("CAST(s AS date)", {"s": "290000-01-01"}),
        ("CAST(s AS timestamp)", {"s": "-infinity"}),
        ("CAST(s AS timestamp)", {"s": "0001-01-01 (BC) 00:00:00"}),
        ("CAST(s AS boolean)", {"s": "perhaps"}),
        ("CAST(x AS integer)", {"x": 1e300}),
        ("CAST(x AS integer)", {"x": NAN}),
        ("CAST(x AS text)", {"x": NAN}),
        ("9223372036854775807 + 9223372036854775807", {}),
        ("1 % 0", {}),
        ("1 // 0", {}),
        ("-9223372036854775808 // -1", {}),
        ("CAST('abc' AS integer)", {}),
        ("strptime('garbled', '%Y')", {}),
        ("1e308 * 1e308", {}),
        ("CASE WHEN TRUE THEN 1 // 0 END", {}),
    ],
)
def test_what_has_no_value_is_null_and_never_an_error(text: str, row: dict[str, object]) -> None:
    assert one(text, **row) is None


@pytest.mark.parametrize(
    ("text", "row", "value"),
    [
        ("COALESCE(1 // i, 7)", {"i": 0}, 7),
        ("COALESCE(x / i, 7)", {"x": 1.0, "i": 0}, 7.0),
        ("CONCAT('a', substring(s, i))", {"s": "b", "i": BIG}, "a"),
        ("i + j > 0 OR p", {"i": BIG, "j": BIG, "p": True}, True),
        ("p OR i + j > 0", {"i": BIG, "j": BIG, "p": True}, True),
        ("i + j > 0 OR TRUE", {"i": BIG, "j": BIG}, True),
        ("i + j > 0 AND p", {"i": BIG, "j": BIG, "p": False}, False),
        ("i + j > 0 AND FALSE", {"i": BIG, "j": BIG}, False),
        ("(i + j) IS NULL", {"i": BIG, "j": BIG}, True),
        ("x IS NULL", {"x": NAN}, True),
        ("CASE WHEN i + j > 0 THEN 'a' ELSE 'b' END", {"i": BIG, "j": BIG}, "b"),
        ("CASE WHEN p THEN i + j ELSE 5 END", {"i": BIG, "j": BIG, "p": False}, 5),
        ("GREATEST(i + j, 3)", {"i": BIG, "j": BIG}, 3),
        ("LEAST(x, 3)", {"x": -INF}, 3.0),
        ("NULLIF(5, i + j)", {"i": BIG, "j": BIG}, 5),
        ("5 BETWEEN 7 AND i + j", {"i": BIG, "j": BIG}, False),
        ("(i + j > 0) IS TRUE", {"i": BIG, "j": BIG}, False),
    ],
)
def test_null_in_place_of_an_error_is_null_there_and_not_of_the_whole(
    text: str, row: dict[str, object], value: object
) -> None:
    assert one(text, **row) == value


def test_one_odd_row_changes_no_other_row() -> None:
    rows: list[dict[str, object]] = [{"i": n, "j": n, "s": str(n)} for n in range(5000)]
    odd = [*rows[:2500], {"i": BIG, "j": BIG, "s": "x"}, *rows[2500:]]
    for text in ("i + j", "CAST(s AS integer)", "10 // i", "substring(s, i * 1000000000000000)"):
        values = evaluate(text, *odd)
        assert values[:2500] + values[2501:] == evaluate(text, *rows)


def test_text_that_an_expression_makes_cannot_explode() -> None:
    text = "s"
    for _ in range(3):
        text = f"replace({text}, 'a', '{'a' * 90}')"
    assert one(text, s="aaaa") == "a" * 10_000
    assert one(" || ".join(["s"] * 400), s="a" * 1000) == "a" * 10_000
    assert one("concat(s, s)", s="ä" * 9000) == "ä" * 10_000
    assert one("s", s="a" * 20_000) == "a" * 20_000


def test_names_are_quoted_and_spelt_as_in_the_schema() -> None:
    names = ("Select", 'the "best"', "größe", "a.b", "light blue", "COUNT", "1st", "order")
    schema = Schema(tuple(Column(name, Type.INTEGER) for name in names))
    texts = ('"select"', '"THE ""best"""', "GRÖSSE", '"a.b"', '"Light Blue"', "count", '"1ST"', "order")
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE rows (" + ", ".join('"' + n.replace('"', '""') + '" BIGINT' for n in names) + ")"
    )
    connection.execute("INSERT INTO rows VALUES (1, 2, 3, 4, 5, 6, 7, 8)")
    for number, (name, text) in enumerate(zip(names, texts, strict=True), start=1):
        expression = parse_value(f"{text} + 0", schema, argument="derive")
        assert expression.columns == {name}
        assert connection.execute(f"SELECT {expression.tree.sql('duckdb')} FROM rows").fetchall() == [
            (number,)
        ]


def test_a_column_alone_keeps_its_own_type() -> None:
    assert parse_value("money", SCHEMA, argument="derive").type is Type.DECIMAL
    assert parse_value("((I))", SCHEMA, argument="derive").tree.sql("duckdb") == '"i"'
    assert parse_value("money + 0", SCHEMA, argument="derive").type is Type.REAL


def test_integers_wider_than_64_bits_count_as_missing() -> None:
    expression = parse_value("i * 0", SCHEMA, argument="derive")
    query = f"SELECT {expression.tree.sql('duckdb')} FROM (VALUES (CAST(2 AS HUGEINT) ** 100), (5)) AS r(i)"
    query = query.replace("CAST(2 AS HUGEINT) ** 100", "CAST('1267650600228229401496703205376' AS HUGEINT)")
    assert duckdb.execute(query).fetchall() == [(None,), (0,)]


def test_the_sql_of_a_condition_is_this() -> None:
    condition = parse_condition("i + 1 > x / j OR lower(s) = 'a'", SCHEMA, argument="where")
    assert condition.text == "i + 1 > x / j OR lower(s) = 'a'"
    assert condition.columns == {"i", "j", "x", "s"}
    quotient = '"x" / NULLIF(TRY_CAST("j" AS BIGINT), 0)'
    assert condition.tree.sql("duckdb") == (
        'TRY(TRY((TRY_CAST("i" AS BIGINT) + CAST(1 AS BIGINT)) > '
        f"CASE WHEN ISFINITE({quotient}) THEN {quotient} END) OR (LOWER(\"s\") = 'a'))"
    )


def test_the_longest_expressions_that_are_accepted_also_run() -> None:
    assert one("+".join(["i"] * 450), i=1) == 450
    assert one("i" + "+j-i" * 45, i=1, j=2) == 46
    assert one(" AND ".join(["p"] * 450), p=True) is True
    assert one("p" + " AND p OR p" * 200, p=True) is True
    assert one("(" * 20 + "i" + ")" * 20, i=1) == 1
    assert one("coalesce(1+" * 19 + "i" + ",1)" * 19, i=1) == 20
    assert one("i IN (" + ",".join(["1"] * 450) + ")", i=1) is True
    assert one("CASE " + "WHEN i = 1 THEN 2 " * 120 + "END", i=1) == 2


def test_half_the_usual_stack_is_enough_for_the_deepest_expression() -> None:
    usual = sys.getrecursionlimit()
    frame, used = sys._getframe(), 0
    while frame.f_back is not None:
        frame, used = frame.f_back, used + 1
    try:
        sys.setrecursionlimit(used + 650)
        for text in (
            "coalesce(1+" * 19 + "i" + ",1)" * 19,
            "-(" * 20 + "i" + ")" * 20,
            "CASE WHEN p THEN " * 19 + "i" + " END" * 19,
        ):
            parse_value(text, SCHEMA, argument="derive").tree.sql("duckdb")
    finally:
        sys.setrecursionlimit(usual)


def test_every_format_that_is_accepted_is_one_the_engine_knows() -> None:
    directives = ["%" + name for name in "aAbBdfHIjmMpSyY%"] + ["%-" + name for name in "dHIjmMSy"]
    texts = [f"strptime(s, '{first} {second}')" for first in directives for second in directives]
    trees = [parse_value(text, SCHEMA, argument="derive").tree.sql("duckdb") for text in texts]
    with table([{"s": "garbled"}, {"s": "2024 12"}]) as connection:
        for start in range(0, len(trees), 50):
            connection.execute(f"SELECT {', '.join(trees[start : start + 50])} FROM rows").fetchall()


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        ("integer int bigint INT8", Type.INTEGER),
        ("real double float", Type.REAL),
        ("text varchar string", Type.TEXT),
        ("boolean bool", Type.BOOLEAN),
        ("date", Type.DATE),
        ("timestamp datetime", Type.TIMESTAMP),
    ],
)
def test_types_have_the_names_of_sql_too(names: str, kind: Type) -> None:
    for name in names.split():
        expression = parse_value(f"CAST(s AS {name})", SCHEMA, argument="derive")
        assert expression.type is kind
