"""CSV is read line by line: nothing that a line holds can touch another line, or raise."""

from __future__ import annotations

import gzip
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from source_rows import read, text_rows, written

from deniable.errors import ParameterError, SourceError
from deniable.query.source import resolve
from deniable.query.sources import lines

HEADER = b"person,colour,age\n"


def naive(data: bytes, columns: int, delimiter: str = ",") -> list[tuple[str | None, ...]]:
    """The rows by the table in the docstring, one character at a time; the first line is a header."""
    body = data.split(b"\n")[1:]
    rows = []
    for line in body:
        try:
            text = line.replace(b"\r", b"").decode()
        except UnicodeDecodeError:
            continue
        fields = naive_fields(text, delimiter)
        if text and fields is not None and len(fields) == columns:
            rows.append(tuple(field or None for field in fields))
    return sorted(rows, key=repr)


def naive_fields(text: str, delimiter: str) -> list[str] | None:
    fields, place = [], 0
    while True:
        field = ""
        if text[place : place + 1] == '"':
            place += 1
            while True:
                if place >= len(text):
                    return None  # the quote does not end
                if text[place] != '"':
                    field, place = field + text[place], place + 1
                elif text[place + 1 : place + 2] == '"':
                    field, place = field + '"', place + 2
                else:
                    place += 1
                    break
        else:
            while place < len(text) and text[place] != delimiter:
                if text[place] == '"':
                    return None  # a stray quote
                field, place = field + text[place], place + 1
        fields.append(field)
        if place == len(text):
            return fields
        if text[place] != delimiter:
            return None  # something behind a closing quote
        place += 1


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ('1,"a ""b"" c",3', ("1", 'a "b" c', "3")),
        ('1,"com,ma",3', ("1", "com,ma", "3")),
        ('1,"",3', ("1", None, "3")),
        ("1,,3", ("1", None, "3")),
        (",,", (None, None, None)),
        ('1,"""",3', ("1", '"', "3")),
        ('1,"\u0301abc",e\u0301', ("1", "\u0301abc", "e\u0301")),
        ('"\U0001f1e9","\U0001f1ea\u200d","""\u0301"""', ("\U0001f1e9", "\U0001f1ea\u200d", '"\u0301"')),
        ('"1","b","3"', ("1", "b", "3")),
        (" 1 , b ,3", (" 1 ", " b ", "3")),
        ("1,b,3\r", ("1", "b", "3")),
        ("1,b\rc,3", ("1", "bc", "3")),
        ("1,a\0b,3", ("1", "a\0b", "3")),
        ("1,a\\,3", ("1", "a\\", "3")),
        ("1,'b,3", ("1", "'b", "3")),
        ("#1,b,3", ("#1", "b", "3")),
        ("1,\U0010ffff\x01\x1f,3", ("1", "\U0010ffff\x01\x1f", "3")),
        ("1,\u2028,\x0b", ("1", "\u2028", "\x0b")),
        ("NULL,NA,nan", ("NULL", "NA", "nan")),
        ('1,b"c,3', None),
        ('1,"b"c,3', None),
        ('1, "b",3', None),
        ('1,"b,3', None),
        ("1,b", None),
        ("1,b,3,", None),
        ("", None),
        ("   ", None),
    ],
)
def test_each_line_becomes_a_row_or_nothing(line: str, row: tuple[Any, ...] | None, tmp_path: Path) -> None:
    data = HEADER + line.encode() + b"\n7,green,8\n"
    assert text_rows(tmp_path / "a.csv", data) == sorted(
        [*([row] if row else []), ("7", "green", "8")], key=repr
    )
    assert naive(data, 3) == text_rows(tmp_path / "a.csv", data)


PIECES = [
    b"a",
    b"bc",
    b'"',
    b'""',
    b",",
    b"\\",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xa9",
    b"\x01",
    b"\r",
    b"#",
    b" ",
    b"'",
]
PIECES += [b"\xef\xbb\xbf", b"\xf4\x8f\xbf\xbf", b"x" * 300, b'"a,b"', b"z" * 900, b";", b"\t"]


@pytest.mark.parametrize("block", [7, 64, 1000])
def test_any_bytes_give_the_rows_of_a_naive_reader(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "_BLOCK", block)
    monkeypatch.setattr(lines, "LIMIT", 2000)
    rng = random.Random(block)
    for trial in range(12):
        body = [
            b"".join(rng.choice(PIECES) for _ in range(rng.randrange(9)))
            if rng.random() < 0.6
            else b"p%d,col%d,%d" % (place, place % 9, place % 90)
            for place in range(300)
        ]
        end = rng.choice([b"\n", b"\r\n"])
        data = HEADER + end.join(line for line in body if len(line) < 1990) + rng.choice([b"", end])
        assert text_rows(tmp_path / f"{trial}.csv", data) == naive(data, 3)


ODD = {
    "unclosed quote": b'x,"blue,3',
    "not UTF-8": b"x,\xff\xfe\xc3,3",
    "half a character at its end": b"x,blue,\xc3",
    "rest of a character at its start": b"\xa9,blue,3",
    "NUL": b"x,\0,3\0",
    "carriage returns": b"x,a\rb\r,\r\r3\r\r",
    "50 MB": b"x," + b"a" * 50_000_000 + b",3",
    "50 MB of quotes": b'"' * 50_000_000,
    "1 MB of fields": b"," * 1_000_000,
    "1 MB of quoted fields": b'"",' * 300_000,
    "separators of other readers": b"x\x01\x1e\x1f\xe2\x80\xa8\x0b\x0c\x1c,b,3",
    "byte order mark": b"\xef\xbb\xbfx,b,3",
    "blank": b"",
}


def among_200_000(odd: dict[int, bytes], folder: Path) -> Counter[tuple[Any, ...]]:
    """The rows, less the good ones, of 12 MB of lines (several blocks) with odd ones among them."""
    body = [b"p%d,colour number %d,%d,%s" % (i, i % 100, i % 90, b"y" * 40) for i in range(200_000)]
    for place, line in sorted(odd.items(), reverse=True):
        body.insert(place, line)
    data = b"person,colour,age,more\n" + b"\n".join(body)
    source = resolve(written(folder / "a.csv", data), types={"age": "integer"})
    rows = Counter(read(source, ["person", "colour", "age"]))
    rows.subtract((f"p{i}", f"colour number {i % 100}", i % 90) for i in range(200_000))
    return Counter({row: times for row, times in rows.items() if times})


def test_an_unclosed_quote_in_row_1_of_200_000_changes_only_row_1(tmp_path: Path) -> None:
    assert among_200_000({0: b'x,"blue,3,z'}, tmp_path) == {}


@pytest.mark.parametrize("start", [0, 100_001, 199_000], ids=["first", "middle", "last"])
def test_odd_lines_among_200_000_change_themselves_alone(start: int, tmp_path: Path) -> None:
    odd = {start + 83 * place: line + b",z" for place, line in enumerate(ODD.values())}
    assert among_200_000(odd, tmp_path) == {
        ("x", "\0", None): 1,
        ("x", "ab", 3): 1,
        ("x\x01\x1e\x1f\u2028\x0b\x0c\x1c", "b", 3): 1,
        ("\ufeffx", "b", 3): 1,
    }


def test_a_line_of_the_limit_is_read_and_a_longer_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LIMIT", 100)
    for block in (7, 99, 100):
        monkeypatch.setattr(lines, "_BLOCK", block)
        for end in (b"", b"\n1\n"):
            for size, kept in ((99, True), (100, False), (350, False)):
                data = b"a\n2\n" + b"x" * size + end
                rows = text_rows(tmp_path / "a.csv", data)
                expected = ["2", *(["x" * size] if kept else []), *(["1"] if end == b"\n1\n" else [])]
                assert rows == sorted(((value,) for value in expected), key=repr), (block, end, size)


def test_the_rows_do_not_depend_on_how_many_threads_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", HEADER + b"".join(b"p%d,c,%d\n" % (i, i) for i in range(300_000)))
    source = resolve(path, types={"age": "integer"})
    assert read(source, ["age"], threads=1) == read(source, ["age"], threads=4)


def test_only_the_columns_asked_for_are_delivered_in_that_order(tmp_path: Path) -> None:
    source = resolve(written(tmp_path / "a.csv", HEADER + b"1,blue,3\n"))
    assert read(source, ["age", "person"]) == [("3", "1")]
    assert read(source, ["age"]) == [("3",)]


@pytest.mark.parametrize(
    "delimiter", [",", ";", "\t", "|", " ", "^", "-", "]", "\\", ".", "*", "$", "'", "~"]
)
def test_any_delimiter_splits_header_and_lines(delimiter: str, tmp_path: Path) -> None:
    lines = ["person,colour,age", '1,"a,b",3', "2,b,c", "4,5"]
    data = "\n".join(lines).replace(",", delimiter)
    source = resolve(written(tmp_path / "a.csv", data), delimiter=delimiter)
    assert source.schema.names == ("person", "colour", "age")
    assert read(source) == [("1", f"a{delimiter}b", "3"), ("2", "b", "c")]


@pytest.mark.parametrize("delimiter", ["", ",,", "a", "7", '"', "\n", "\r", "\0", "é", 3, None, True])
def test_a_delimiter_that_cannot_separate_is_refused(delimiter: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", HEADER)
    if delimiter is None:
        assert resolve(path, delimiter=delimiter).schema.names == ("person", "colour", "age")
        return
    with pytest.raises(ParameterError, match="delimiter cannot separate fields"):
        resolve(path, delimiter=delimiter)


@pytest.mark.parametrize("ending", [".tsv", ".tab", ".TSV", ".tsv.gz"])
def test_the_ending_tsv_means_tabs(ending: str, tmp_path: Path) -> None:
    data = b"a\tb\n1\t2\n"
    path = written(tmp_path / f"x{ending}", gzip.compress(data) if ending.endswith("gz") else data)
    assert read(resolve(path)) == [("1", "2")]


@pytest.mark.parametrize("right", [";", "\t", "|", ","])
def test_a_wrong_delimiter_gets_an_error_that_names_the_right_one(right: str, tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", right.join(["person", "colour", "age"]) + "\n")
    wrong = "," if right != "," else ";"
    with pytest.raises(SourceError) as caught:
        resolve(path, delimiter=wrong)
    assert f"Pass delimiter={right!r}" in str(caught.value)
    assert resolve(path, delimiter=right).schema.names == ("person", "colour", "age")


def test_a_quoted_name_may_hold_another_delimiter(tmp_path: Path) -> None:
    assert text_rows(tmp_path / "a.csv", b'"a;b"\n1\n') == [("1",)]


NAMES = """a:b a"b select größe a,b a;b line field lines row x'y $1 %s {x} [1] 日本語 🙂 a\\b -- /*"""


@pytest.mark.parametrize("name", [*NAMES.split(), "two words", "no\u00a0break"])
def test_weird_names_of_columns_work(name: str, tmp_path: Path) -> None:
    others = [other for other in ("id", "line", "field", "third", "row") if other != name][:3]
    header = ",".join([others[0], '"' + name.replace('"', '""') + '"', *others[1:]]) + "\n"
    source = resolve(written(tmp_path / "a.csv", header + "1,2,3,4\n"), types={name: "integer"})
    assert source.schema.names[1] == name
    assert read(source) == [("1", 2, "3", "4")]
    assert read(source, [name, others[1]]) == [(2, "3")]


@pytest.mark.parametrize(
    "name", ["a:b.csv", "it's.csv", "a b.csv", "größe.csv", "a[1].csv", "*.csv", "%.csv", "-.csv"]
)
def test_weird_names_of_files_work(name: str, tmp_path: Path) -> None:
    written(tmp_path / "a1.csv", b"other\n9\n")
    assert text_rows(tmp_path / name, b"a\n1\n") == [("1",)]


HEADERS = [
    (b"", "is empty"),
    (b"\n", "is empty"),
    (b"   \n1\n", "is empty"),
    (b"\xef\xbb\xbf", "is empty"),
    (b"a,A\n", "Columns 1 and 2 of a.csv are both called 'A'"),
    (b"a,b, a \n", "Columns 1 and 3"),
    ("straße,STRASSE\n".encode(), "Columns 1 and 2"),
    (b"a,,b\n", "Column 2 of a.csv has no name"),
    (b'a,"",b\n', "Column 2 of a.csv has no name"),
    (b"a,\n", "Column 2 of a.csv has no name"),
    ("a,b\n1,2\n".encode("utf-16"), "UTF-16"),
    ("a,b\n1,2\n".encode("utf-16-le"), "UTF-16"),
    ("a,b\n1,2\n".encode("utf-16-be"), "UTF-16"),
    ("a,b\n1,2\n".encode("utf-32"), "UTF-16 or UTF-32"),
    ("größe,b\n".encode("latin-1"), "not UTF-8"),
    (b'a,"b\nc"\n', "stray quote"),
    (b'a,b"c\n', "stray quote"),
    (b"a,b\r1,2\r3,4\r", "bare CR"),
    (b"x" * (1 << 21), "more than 1 MiB"),
    (b"x" * (1 << 20) + b"y\n", "more than 1 MiB"),
]


@pytest.mark.parametrize(
    ("data", "problem"), HEADERS, ids=[problem + f" {i}" for i, (_, problem) in enumerate(HEADERS)]
)
def test_a_header_that_cannot_be_used_is_refused_with_its_reason(
    data: bytes, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(SourceError) as caught:
        resolve(written(tmp_path / "a.csv", data))
    assert problem in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "data", [b"a,b", b"a,b\n", b"a,b\r\n", b"\xef\xbb\xbfa,b\r\n", b' a , "b" \n'[:4] + b"b\n"]
)
def test_a_header_alone_is_an_empty_table(data: bytes, tmp_path: Path) -> None:
    source = resolve(written(tmp_path / "a.csv", data))
    assert source.schema.names == ("a", "b")
    assert read(source) == []


def test_the_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    source = resolve(written(tmp_path / "a.csv", b"\xef\xbb\xbfperson,b\n1,2\n"))
    assert source.schema.names == ("person", "b")
    assert read(source) == [("1", "2")]


def test_a_header_of_a_million_bytes_is_read(tmp_path: Path) -> None:
    names = [f"column {i:06}" for i in range(70_000)]
    data = ",".join(names) + "\n" + ",".join(map(str, range(70_000))) + "\n"
    source = resolve(written(tmp_path / "a.csv", data))
    assert read(source, [names[69_999], names[0]]) == [("69999", "0")]


def test_gzip_is_unpacked_in_one_or_several_members(tmp_path: Path) -> None:
    packed = gzip.compress(b"\xef\xbb\xbfa,b\n1,2\n3") + gzip.compress(b",4\n")
    assert read(resolve(written(tmp_path / "a.csv.gz", packed))) == [("1", "2"), ("3", "4")]


def test_what_is_not_gzip_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read as gzip"):
        resolve(written(tmp_path / "a.csv.gz", b"a,b\n1,2\n"))


def test_types_are_found_whatever_their_case(tmp_path: Path) -> None:
    source = resolve(written(tmp_path / "a.csv", b"Person,AGE\n1, 7 \n2,x\n"), types={"age": " Integer "})
    assert read(source) == [("1", 7), ("2", None)]
    assert "AGE     integer  (declared)" in str(source.schema)


def test_the_statement_says_what_is_no_row(tmp_path: Path) -> None:
    source = resolve(written(tmp_path / "a.csv", HEADER))
    assert any("one line of UTF-8 text with 3 fields" in sentence for sentence in source.assumed)


def test_one_odd_value_in_a_numeric_column_changes_only_its_row(tmp_path: Path) -> None:
    data = b"person,amount\n" + b"".join(b"%d,%d\n" % (i, i % 7) for i in range(100_000))
    source = resolve(written(tmp_path / "a.csv", data), types={"amount": "integer"})
    odd = resolve(written(tmp_path / "b.csv", data + b"1000,abc\n"), types={"amount": "integer"})
    assert Counter(read(odd)) - Counter(read(source)) == {("1000", None): 1}
    assert odd.schema == source.schema
