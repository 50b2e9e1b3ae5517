"""What can be protected, and how its kind is told: by what it is, never by what its rows hold.

In this order: a path or glob (CSV, JSON lines, Parquet); a DuckDB relation; a Spark frame (refused so
far); pandas; Polars; a PyArrow table; anything else that gives an Arrow stream. Spark frames come before
Arrow streams because they are both, and as a stream they would quietly be pulled into this process.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from deniable.errors import ParameterError, SourceError
from deniable.query.schema import Schema, Type, declared
from deniable.query.sources import files

if TYPE_CHECKING:
    from sqlglot import exp

    from deniable.engines.duckdb import DuckDB


class Source(Protocol):
    """A table that can be read again and again.

    Fields: `label` says what it is, in words; `schema`: public names and types; `assumed`: sentences for
    the statement on what was taken to be public.
    """

    @property
    def label(self) -> str: ...
    @property
    def schema(self) -> Schema: ...
    @property
    def assumed(self) -> tuple[str, ...]: ...

    def rows(self, engine: DuckDB, columns: Sequence[str]) -> exp.Select:
        """Return a SELECT of exactly these columns, by the schema's names, typed as `Type` says.

        Every value that does not fit is NULL. The order of the rows means nothing.
        Raises:  ParameterError: a column that does not exist or cannot be delivered.
                 EngineError: the source failed while it was read.
        """
        ...

    def check_unchanged(self) -> None:
        """Raise SourceError (one fixed message) if a file has changed since `resolve`."""
        ...


def resolve(data: object, *, types: Mapping[str, str] | None = None, delimiter: str | None = None) -> Source:
    """Return the source that `data` is. No row is read.

    Args:    types: column -> integer, real, text, boolean, date or timestamp. delimiter: of CSV only.
    Raises:  ParameterError, SourceError: judged from names, headers and types alone.
    """
    wanted = declared(types)
    if isinstance(data, (str, os.PathLike)):
        return _from_path(data, wanted, delimiter)
    if delimiter is not None:
        raise ParameterError("delimiter", delimiter, "is only for delimited text files", "Leave it out.")
    return _from_object(data, wanted)


def _from_path(data: str | os.PathLike[str], wanted: Mapping[str, Type], delimiter: str | None) -> Source:
    found = files.find(data)
    endings = {file.ending for file in found}
    label = str(os.fspath(data))
    if endings <= set(files.TABLES) or (delimiter is not None and len(endings) == 1):
        from deniable.query.sources.delimited import delimited

        return delimited(found, label, wanted, delimiter)
    if delimiter is not None:
        raise ParameterError("delimiter", delimiter, "is only for delimited text files", "Leave it out.")
    if endings <= set(files.PARQUET) and not any(file.gzipped for file in found):
        from deniable.query.sources.parquet import parquet

        return parquet(found, label, wanted)
    raise SourceError(f"{label} is of no kind that can be read.")


def _from_object(data: object, wanted: Mapping[str, Type]) -> Source:
    import pyarrow as pa

    from deniable.query.sources import arrow

    if isinstance(data, pa.Table):
        return arrow.from_table(data, wanted)
    if hasattr(data, "__arrow_c_stream__"):
        return arrow.from_stream(data, wanted)
    raise ParameterError("data", type(data).__name__, "is no table", "Give a path.")
