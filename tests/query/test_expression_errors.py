from __future__ import annotations

import pytest
from row_table import SCHEMA

from deniable.errors import ExpressionError, ParameterError
from deniable.query.expressions import parse_condition, parse_value
from deniable.query.schema import Column, Schema, Type

SURVEY = Schema(
    (
        Column("person", Type.TEXT),
        Column("age", Type.TEXT),
        Column("colour", Type.TEXT),
        Column("spend", Type.REAL, declared=True),
        Column("items", Type.INTEGER, declared=True),
        Column("member", Type.BOOLEAN, declared=True),
        Column("day", Type.DATE, declared=True),
        Column("photo", Type.OTHER),
    )
)


def refusal(text: str) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        parse_value(text, SURVEY, argument="where")
    return caught.value


def test_the_error_shows_the_text_a_caret_and_the_fix() -> None:
    error = refusal('colour = "blue"')
    assert str(error) == (
        "where: there is no column blue.\n"
        '    colour = "blue"\n'
        "             ^\n"
        "Text takes single quotes: 'blue'. The columns are 'person', 'age', 'colour', 'spend', 'items', "
        "'member', 'day', 'photo'."
    )
    assert error.column == 9
    assert error.argument == "where"
    assert error.value == 'colour = "blue"'


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        # names
        ("colr = 'x'", "colr", "Did you mean 'colour'"),
        ("1 + itms", "itms", "Did you mean 'items'"),
        ("lowr(colour) = 'x'", "lowr", "Did you mean lower"),
        ("length(len(colour))", "len(", "Did you mean length"),
        ("survey.colour = 'x'", "survey", "column's name alone"),
        ("main.survey.colour", "main", "column's name alone"),
        ("photo", "photo", "not one that expressions know"),
        ("rowid", "rowid", "no column rowid"),
        ("lambda x: x > 1", "lambda", "Python functions are not offered"),
        # signs of other languages
        ("items == 1", "==", "SQL compares with ="),
        ("items > 1 && member", "&&", "Write AND"),
        ("items > 1 || member", "1", "conditions take OR"),
        ("!member", "!", "Write NOT"),
        ("items ^ 2", "^", "power(a, b)"),
        ("items ** 2", "**", "power(a, b)"),
        ("items & 1", "&", "Write AND"),
        ("items << 70", "<<", "not offered"),
        ("items ? 1 : 2", "?", "Write the value itself"),
        ("colour = ‘blue’", "‘", "single quotes: 'blue'"),
        ("colour = “blue”", "“", "single quotes: 'blue'"),
        ("colour = `blue`", "`", "single quotes: 'blue'"),
        ("colour ~ 'b'", "~", "regexp_matches"),
        # types
        ("age >= 18", "age", "types={'age': 'real'}"),
        ("18 <= age", "18", "types={'age': 'real'}"),
        ("age + 1", "age", "types={'age': 'real'}"),
        ("spend > '5'", "spend", "Numbers take no quotes"),
        ("spend + '5'", "'5'", "Numbers take no quotes"),
        ("items AND member", "items", "Compare it"),
        ("NOT colour", "colour", "CAST(colour AS boolean)"),
        ("member + 1", "member", "CAST(member AS integer)"),
        ("member = 1", "member", "does not go with integer"),
        ("spend // 2", "spend", "floor(a / b)"),
        ("1 < items < 3", "1", "boolean does not go with integer"),
        ("colour || items", "items", "CAST(items AS text)"),
        ("lower(items)", "items", "CAST(items AS text)"),
        ("year(age)", "age", "types={'age': 'date'}"),
        ("hour(day)", "day", "CAST(day AS timestamp)"),
        ("greatest(items, colour)", "items", "types={'colour': 'real'}"),
        ("least(member, TRUE)", "member", "AND or OR"),
        ("CASE WHEN items THEN 1 END", "items", "Compare it"),
        ("CASE WHEN member THEN 1 ELSE 'a' END", "1", "integer does not go with text"),
        ("CASE colour WHEN 1 THEN 2 END", "colour", "text does not go with integer"),
        ("items IN (1, 'a')", "items", "does not go with text"),
        ("items = NULL", "NULL", "IS NULL"),
        ("items IN (NULL)", "NULL", "literal values"),
        ("items + NULL", "NULL", "this is NULL"),
        ("NULL", "NULL", "has no type"),
        ("COALESCE(NULL, NULL)", "NULL", "has no type"),
        ("day >= 'yesterday'", "'yesterday'", "'2024-12-31'"),
        ("day >= '2024-02-30'", "'2024-02-30'", "'2024-12-31'"),
        ("DATE '2024-13-01'", "'2024-13-01'", "'2024-12-31'"),
        ("date_trunc('hour', day)", "'hour'", "week, day"),
        ("date_trunc(colour, day)", "colour", "quotes"),
        ("CAST(day AS integer)", "day", "year(...)"),
        ("CAST(spend AS boolean)", "spend", "Compare it"),
        ("CAST(spend AS decimal(10, 2))", "spend", "integer, real, text"),
        ("CAST(colour AS integer[])", "colour", "integer, real, text"),
        ("CAST(colour AS uuid)", "colour", "integer, real, text"),
        ("CAST(colour AS timestamptz)", "colour", "integer, real, text"),
        # literals only
        ("colour LIKE person", "person", "'%blue%'"),
        ("colour LIKE 'a!%' ESCAPE '!'", "ESCAPE", "not offered"),
        ("items IN (1, items)", "items", "literal values"),
        ("items IN ()", "IN", "literal values"),
        ("regexp_matches(colour, person)", "person", "quotes"),
        ("regexp_matches(colour, '(')", "'('", "not a regular expression"),
        ("regexp_matches(colour, '(?=a)')", "'(?=a)'", "no look-around"),
        ("regexp_matches(colour, '((a{100}){100}){100}')", "'((", "not a regular expression"),
        ("regexp_matches(colour, '" + "a" * 501 + "')", "'aaa", "too long"),
        ("replace(colour, person, '')", "person", "quotes"),
        ("replace(colour, '', 'x')", "''", "not empty"),
        ("replace(colour, 'a', '" + "b" * 101 + "')", "'bbb", "at most 100"),
        ("trim(colour, '')", "''", "not empty"),
        ("strftime(day, '%Y')", "strftime", "year(day), month(day)"),
        ("strptime(age, colour)", "colour", "quotes"),
        ("strptime(age, '%Q')", "'%Q'", "%Q is not a directive"),
        ("strptime(age, 'plain')", "'plain'", "no directive"),
        ("strptime(age, '%Z')", "'%Z'", "not a directive"),
        ("round(spend, items)", "items", "-15 to 15"),
        ("round(spend, 400)", "400", "-15 to 15"),
        ("9223372036854775808", "9", "9223372036854775808.0"),
        ("1e400", "1e400", "too large"),
        # other rows, other times
        ("sum(items)", "sum", "mixes rows"),
        ("items > avg(items)", "avg", "mixes rows"),
        ("count(*)", "count", "mixes rows"),
        ("rank() OVER (ORDER BY spend)", "OVER", "other rows"),
        ("(items - avg(items) OVER ()) / 2", "OVER", "other rows"),
        ("lag(items) OVER (PARTITION BY person)", "OVER", "other rows"),
        ("sum(items) FILTER (WHERE member)", "sum", "aggregate"),
        ("(SELECT max(items) FROM survey)", "SELECT", "other rows"),
        ("items IN (SELECT items FROM survey)", "IN", "literal values"),
        ("EXISTS(SELECT 1)", "EXISTS", "other rows"),
        ("items = ANY(SELECT 1)", "ANY", "other rows"),
        ("SELECT 1", "SELECT", "other rows"),
        ("items UNION SELECT 1", "UNION", "other rows"),
        ("items FROM survey", "FROM", "other rows"),
        ("random() < 0.5", "random", "call to call"),
        ("now()", "now", "call to call"),
        ("current_date", "current_date", "call to call"),
        ("current_timestamp", "current_timestamp", "call to call"),
        ("day > today()", "today", "call to call"),
        ("uuid()", "uuid", "call to call"),
        ("nextval('s')", "nextval", "call to call"),
        ("getenv('HOME')", "getenv", "call to call"),
        ("age(day)", "age", "call to call"),
        ("read_text('/etc/passwd')", "read_text", "no function"),
        ("hash(person)", "hash", "no function"),
        ("chr(-1)", "chr", "no function"),
        ("try(items)", "try", "no function"),
        ("error('x')", "error", "no function"),
        ('"sum"(items)', '"sum"', "mixes rows"),
        ("pg_catalog.lower(colour)", "pg_catalog", "not offered"),
        ("colour.lower()", "colour", "not offered"),
        # other shapes
        ("*", "*", "names no column"),
        ("COLUMNS('a')", "COLUMNS", "no function"),
        ("$1", "$", "Write the value itself"),
        (":name", ":", "no value here"),
        ("[items]", "[", "not offered"),
        ("{'a': items}", "{", "not offered"),
        ("colour[1]", "[", "not offered"),
        ("(items, age)", "items", "not one value"),
        ("items, age", ",", "not SQL from ','"),
        ("items AS x", "AS", "not SQL from 'AS'"),
        ("x -> x + 1", "->", "not offered"),
        ("INTERVAL 1 DAY", "INTERVAL", "not offered"),
        ("day + INTERVAL '1 day'", "INTERVAL", "not offered"),
        ("day + 1", "day", "takes numbers"),
        ("colour COLLATE nocase", "COLLATE", "not offered"),
        ("items IS DISTINCT FROM 1", "items", "IS NULL"),
        ("items BETWEEN SYMMETRIC 1 AND 2", "items", "SYMMETRIC"),
        ("'a' 'b'", "'a'", "Join them"),
        ("E'a'", "E'a'", "plain '...' text"),
        ("$$a$$", "$$", "plain '...' text"),
        ("if(member, 1, 2)", "if", "CASE WHEN"),
        ("f(a := 1)", "f(", "no function"),
        ("lower(DISTINCT colour)", "colour", "other rows"),
        ("lower()", "lower", "takes 1 arguments"),
        ("substring(colour)", "substring", "takes 2 to 3 arguments"),
        # not SQL at all
        ("items; DROP TABLE survey", ";", "; ends it"),
        ("items -- all", "--", "Remove the comment"),
        ("items /* all */ + 1", "/*", "Remove the comment"),
        ("/* sqlglot.anonymous */ items", "/*", "Remove the comment"),
        ("colour = 'blue", "'blue", "not closed"),
        ('"colour = 1', '"colour', "not closed"),
        ("((items", "items", "not closed"),
        ("items)", ")", "not SQL from ')'"),
        ("items items", "items items", "not SQL"),
        ("items > 1 OR", "OR", "missing after 'OR'"),
        ("items >", ">", "missing after '>'"),
        ("colour = 'a\nb'", "'a", "line ends"),
        ("items\x00", "\x00", "U+0000"),
        ("items\u200b > 1", "\u200b", "U+200B"),
        ("items \u202e> 1", "\u202e", "U+202E"),
        ("items \ud800", "\ud800", "U+D800"),
    ],
)
def test_what_is_not_offered_is_refused_at_its_place(text: str, at: str, says: str) -> None:
    error = refusal(text)
    assert says in str(error)
    if "items items" in text:
        assert error.column == 6
    else:
        assert text.find(at) <= error.column <= text.rfind(at), (error.column, str(error))
    assert all(len(line) <= 100 for line in str(error).splitlines()[:3])


@pytest.mark.parametrize("text", ["", "  ", "\n", "-- nothing", "/* nothing */"])
def test_empty_text_is_refused(text: str) -> None:
    assert "is empty" in str(refusal(text))


@pytest.mark.parametrize("text", [None, 5, True, b"age", ["age"], object()])
def test_what_is_not_text_is_refused(text: object) -> None:
    with pytest.raises(ParameterError, match="must be an expression in text"):
        parse_condition(text, SURVEY, argument="where")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + "items" + ")" * 10_000,
        "(" * 1_500 + "items" + ")" * 1_500,
        "NOT " * 900 + "member",
        "- " * 900 + "items",
        "abs(" * 300 + "items" + ")" * 300,
        "CASE WHEN member THEN " * 100 + "1" + " END" * 100,
        "items" + "::int" * 450,
        "items" + " IS NULL" * 400,
        "items+" * 600 + "items",
        "items" + "+items-items" * 200,
        "[" * 500 + "]" * 500,
        "items" * 20_000,
        "x/(" * 19 + "x" + ")" * 19,
        "'" + "a" * 100_000 + "'",
    ],
)
def test_long_and_deep_text_is_refused(text: str) -> None:
    schema = Schema((*SURVEY.columns, Column("x", Type.REAL)))
    with pytest.raises(ExpressionError) as caught:
        parse_value(text, schema, argument="where")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(("text", "kind"), [("items", "integer"), ("lower(colour)", "text"), ("day", "date")])
def test_a_condition_must_be_true_or_false(text: str, kind: str) -> None:
    with pytest.raises(ExpressionError, match=f"a condition is true or false, and this is {kind}"):
        parse_condition(text, SURVEY, argument="where")
    assert parse_condition("member", SURVEY, argument="where").type is Type.BOOLEAN


def test_a_long_text_is_shown_around_the_caret() -> None:
    text = "items + " * 100 + "colour" + " + items" * 50
    lines = str(refusal(text)).splitlines()
    assert len(lines[1]) < 100
    assert lines[1][lines[2].index("^") :].startswith("colour")


def test_the_caret_stands_under_wide_letters_too() -> None:
    lines = str(refusal("colour = '青い' AND nope")).splitlines()
    assert lines[1] == "    colour = '青い' AND nope"
    assert lines[2].index("^") == len(lines[1]) - len("nope") + 2


def test_no_error_of_another_kind_escapes_on_text_of_any_words() -> None:
    words = (
        "i x s p d ( ) [ ] { } , . ; : :: = == <> < >= + - * / // % ^ ** || && & | ~ ! ? $ @ # 'x' \"i\" "
        "'' 1 2.5 1e5 and or not in is null true like between case when then else end cast as integer "
        "text date interval select from where union all any exists over partition by order distinct "
        "filter within group array struct map lambda -> := escape collate at time zone lower( trim( "
        "count( if( timestamp values with lateral ignore nulls default columns( similar to isnull "
        "notnull current_date mod div position( $a$ {{ }} "
    ).split()
    state, accepted = 7, 0
    for _ in range(4000):
        picked = []
        for _ in range(1 + state % 7):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            picked.append(words[(state >> 33) % len(words)])
        try:
            parse_value(" ".join(picked), SCHEMA, argument="derive")
        except ExpressionError:
            continue
        accepted += 1
    assert accepted > 20


def test_a_column_that_is_a_word_of_sql_is_helped_into_double_quotes() -> None:
    schema = Schema((Column("Alter", Type.TEXT), Column("größe x", Type.TEXT)))
    with pytest.raises(ExpressionError, match='If it is a column, write it in double quotes: "Alter"'):
        parse_condition("Alter > 30", schema, argument="where")
    with pytest.raises(ExpressionError) as caught:
        parse_condition('"Alter" > 30', schema, argument="where")
    assert """types={'Alter': 'real'}, or write CAST("Alter" AS real)""" in " ".join(
        str(caught.value).split()
    )
    fixed = parse_condition('CAST("Alter" AS real) > 30', schema, argument="where")
    assert fixed.type is Type.BOOLEAN
