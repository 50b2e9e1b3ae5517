"""The un-noised result shows nothing and is opened once, by what adds noise."""

from __future__ import annotations

import ast
import copy
import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from deniable.query.sealed import Sealed

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "deniable"
MAY_IMPORT = {"query/collect.py", "query/rounds.py", "query/rest.py", "query/tallies.py", "query/run.py"}


def sealed() -> Sealed:
    table = pa.table({"g0": ["ultramarine"], "m0": [4711]})
    return Sealed(table.to_reader(), (31_337, 0))


def test_it_shows_nothing_however_it_is_printed() -> None:
    for shown in (repr(sealed()), str(sealed()), f"{sealed()}", repr([sealed()])):
        for secret in ("4711", "31337", "ultramarine"):
            assert secret not in shown
    assert not hasattr(sealed(), "__dict__")


def test_it_cannot_be_pickled_or_copied() -> None:
    for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="private"):
            duplicate(sealed())


def test_it_is_opened_once() -> None:
    result = sealed()
    assert [batch.to_pydict() for batch in result.batches()] == [{"g0": ["ultramarine"], "m0": [4711]}]
    with pytest.raises(RuntimeError, match="once") as refused:
        result.batches()
    assert "4711" not in str(refused.value)


def test_its_columns_and_coverage_can_be_asked_for() -> None:
    result = sealed()
    assert result.schema.names == ["g0", "m0"]
    assert result.coverage == (31_337, 0)
    assert Sealed(pa.table({"m0": [1]}).to_reader(), None).coverage is None


def test_only_what_makes_it_and_what_adds_noise_import_it() -> None:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "deniable.query.sealed":
                found.add(path.relative_to(PACKAGE).as_posix())
    assert found <= MAY_IMPORT
