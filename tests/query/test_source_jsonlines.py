"""JSON lines: the declared columns, each line by itself, and no line can raise."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from source_rows import read, text_rows, written

from deniable.errors import ParameterError, SourceError
from deniable.query.source import resolve
from deniable.query.sources import lines

TYPES = {"person": "text", "age": "integer"}


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ('{"person": "1", "age": 3}', ("1", 3)),
        ('{"person": 1, "age": "3"}', ("1", 3)),
        ('{"age": 3.0, "other": [1, {"age": 9}]}', (None, 3)),
        ('{"person": "a\\"b\\u00e9\\n", "age": 3.7}', ('a"bé\n', None)),
        ('{"person": null, "age": true}', (None, None)),
        ('{"person": true, "age": 99999999999999999999}', ("true", None)),
        ('{"person": {"x": [1, 2]}, "age": [3]}', ('{"x":[1,2]}', None)),
        ('{"person": "first", "person": "second"}', ("first", None)),
        ('{"Person": "1", "AGE": 3}', (None, None)),
        ("{}", (None, None)),
        ('  {"person": ""}\r', ("", None)),
        ('{"person": "1", "age": 1e400}', ("1", None)),
        ('{"person": "\\u0000"}', ("\0", None)),
        ('{"person": "a\0b"}', None),
        ('{"person": "\\ud800"}', None),
        ('{"person": "1"', None),
        ('{"person": "1"} x', None),
        ('{"person": "1"}{"person": "2"}', None),
        ("{'person': '1'}", None),
        ('[{"person": "1"}]', None),
        ('"person"', None),
        ("null", None),
        ("3", None),
        ("", None),
        ("{", None),
        ("}", None),
        ('{"person": ' + "[" * 100_000, None),
    ],
)
def test_each_line_becomes_a_row_or_nothing(line: str, row: tuple[Any, ...] | None, tmp_path: Path) -> None:
    data = line + '\n{"person": "7", "age": 8}\n'
    assert text_rows(tmp_path / "a.jsonl", data, types=TYPES) == sorted(
        [*([row] if row else []), ("7", 8)], key=repr
    )


def test_a_deep_line_touches_itself_alone(tmp_path: Path) -> None:
    deep = '{"person": ' + "[" * 1_000_000 + "]" * 1_000_000 + "}"
    rows = text_rows(tmp_path / "a.jsonl", deep + '\n{"person": "7", "age": 8}', types=TYPES)
    assert ("7", 8) in rows
    assert len(rows) <= 2


def test_odd_lines_among_200_000_change_themselves_alone(tmp_path: Path) -> None:
    good = [b'{"person": "p%d", "age": %d, "more": "%s"}' % (i, i % 90, b"y" * 20) for i in range(200_000)]
    odd = [
        b'{"person": "x',
        b"\xff",
        b'{"person": "\xc3"}',
        b"\0",
        b"[",
        b'{"person": "' + b"a" * 50_000_000 + b'"}',
    ]
    odd += [
        b'"' * 1_000_000,
        b"{" * 1_000_000,
        b'{"person": "x", "new key": 3}',
        b'{"person": 7, "age": "odd"}',
    ]
    for place, line in zip((0, 1, 99_999, 100_000, 199_990, 199_995), odd * 2, strict=False):
        good.insert(place, line)
    good += odd
    rows = Counter(text_rows(tmp_path / "a.jsonl", b"\n".join(good), types=TYPES))
    rows.subtract((f"p{i}", i % 90) for i in range(200_000))
    assert {row: times for row, times in rows.items() if times} == {("x", None): 1, ("7", None): 1}


def test_random_damage_gives_the_rows_of_pythons_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "_BLOCK", 61)
    rng = random.Random(5)
    body = []
    for i in range(3000):
        line = json.dumps({"person": rng.choice(["a", "é", '"', "1,2", None, "x" * 30]), "age": i})
        if rng.random() < 0.5:
            place = rng.randrange(len(line))
            line = (
                line[:place]
                + rng.choice(['"', "{", "}", ",", "[", ":", "\\", " ", "0", "€"])
                + line[place + 1 :]
            )
        body.append(line)

    def strict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(reversed(pairs))  # the first of two equal keys counts

    expected = Counter[tuple[Any, ...]]()
    for line in body:
        try:
            found = json.loads(line, object_pairs_hook=strict)
        except ValueError:
            continue
        if isinstance(found, dict):
            age = found.get("age")
            expected[found.get("person"), age if isinstance(age, int) else None] += 1
    rows = Counter(text_rows(tmp_path / "a.jsonl", "\n".join(body), types=TYPES))
    assert sum((expected - rows).values()) == 0
    assert sum((rows - expected).values()) <= len(body) // 50  # the engine also reads ",}" and the like
    assert 1500 < sum(expected.values()) < 2500


@pytest.mark.parametrize(
    "key", ["a/b", "~", "~1", 'q"q', "a.b", "$", "*", "", " ", "größe", "select", "doc", "0"]
)
def test_weird_keys_work(key: str, tmp_path: Path) -> None:
    if not key.strip():
        with pytest.raises(SourceError, match="has no name"):
            resolve(written(tmp_path / "a.jsonl", ""), types={key: "text"})
        return
    data = json.dumps({"person": 1, key: "v"}) + "\n" + json.dumps(["w"])
    assert text_rows(tmp_path / "a.jsonl", data, types={key: "text", "person": "text"}) == [("v", "1")]


@pytest.mark.parametrize("types", [None, {}])
def test_the_columns_must_be_declared(types: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", '{"person": 1}')
    with pytest.raises(ParameterError, match="types must name the columns of JSON lines"):
        resolve(path, types=types)


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json", "A.JSONL", "a.jsonl.gz"])
def test_the_endings_of_json_lines(name: str, tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"person": 1, "age": 2}\n{"person": 3}'
    path = written(tmp_path / name, gzip.compress(data) if name.endswith("gz") else data)
    source = resolve(path, types=TYPES)
    assert read(source) == [("1", 2), ("3", None)]
    assert [column.declared for column in source.schema.columns] == [True, True]


def test_no_delimiter_for_json_lines(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="only for delimited text"):
        resolve(written(tmp_path / "a.jsonl", ""), types=TYPES, delimiter=",")


def test_an_empty_file_is_an_empty_table(tmp_path: Path) -> None:
    assert text_rows(tmp_path / "a.jsonl", "", types=TYPES) == []
