"""A relation of somebody else's DuckDB connection, as an Arrow stream that can be read again and again.

Nothing is registered, set or written on that connection: the relation is projected and read.

A connection runs one statement at a time: the next one ends the result that is still being read. No relation
tells which connection it belongs to, so only one relation is read at a time in this process (`_READING`).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence

import duckdb
import pyarrow as pa

from deniable.errors import EngineError

_CLOSED = "The DuckDB relation cannot be described. Is its connection closed?"
_ROWS_A_BATCH = 122_880
_READING = threading.Lock()


class RelationStream:
    """The values of these expressions (SQL, at least one) for every row of a relation.

    Raises:  duckdb.Error, when made or read: use it in `DuckDB.run` and `DuckDB.view`, which hide why.
    """

    def __init__(self, relation: duckdb.DuckDBPyRelation, values: Sequence[str]) -> None:
        with _READING:
            self._relation = relation.project(", ".join(values))
            self._schema = self._relation.limit(0).to_arrow_table().schema

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.RecordBatchReader.from_batches(self._schema, self._batches()).__arrow_c_stream__()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        with _READING:
            yield from self._relation.to_arrow_reader(_ROWS_A_BATCH)


def columns_of(relation: duckdb.DuckDBPyRelation) -> tuple[tuple[str, str], ...]:
    """Return the names and DuckDB types of the columns. The relation is not run.

    Raises:  EngineError: its connection is closed.
    """
    described = None
    with contextlib.suppress(duckdb.Error):
        described = tuple(zip(relation.columns, map(str, relation.types), strict=True))
    if described is None:
        raise EngineError(_CLOSED)
    return described
