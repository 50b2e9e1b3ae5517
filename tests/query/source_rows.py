"""What the tests of sources share: reading a source through a real engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deniable.engines.duckdb import DuckDB
from deniable.query.source import Source, resolve


def read(source: Source, columns: Sequence[str] | None = None, *, threads: int = 2) -> list[tuple[Any, ...]]:
    """The rows of a source, in an order that depends on the rows alone."""
    names = list(source.schema.names if columns is None else columns)
    with DuckDB(threads=threads) as engine:
        table = engine.stream(source.rows(engine, names)).read_all()
    assert table.column_names == names
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return sorted(rows, key=repr)


def written(path: Path, data: bytes | str) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def text_rows(
    path: Path, data: bytes | str, *, types: Mapping[str, str] | None = None, delimiter: str | None = None
) -> list[tuple[Any, ...]]:
    """The rows of a text file with this content."""
    return read(resolve(written(path, data), types=types, delimiter=delimiter))
