"""What can be protected, and how its kind is told: by what it is, never by what its rows hold.

In this order: a path or glob (CSV, JSON lines, Parquet); a DuckDB relation; a Spark data frame;
pandas; Polars; a PyArrow table; anything else that gives an Arrow stream. Spark frames come before
Arrow streams because they are both, and as a stream they would quietly be pulled into this process.
A mapping of names to types is a schema whose data are elsewhere: it can be planned with.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from deniable.errors import ParameterError, SourceError
from deniable.query.schema import Schema, Type, declared
from deniable.query.sources import files

if TYPE_CHECKING:
    from sqlglot import exp

    from deniable.engines.engine import Engine

_ACCEPTED = (
    "Give the path of a CSV, JSON lines or Parquet file, a pandas, Polars or Spark data frame, "
    "a PyArrow table or a DuckDB relation; or, to plan without data, names and types: {'age': 'integer'}."
)


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

    def rows(self, engine: Engine, columns: Sequence[str]) -> exp.Select:
        """Return a SELECT of exactly these columns, by the schema's names, typed as `Type` says.

        Every value that does not fit is NULL. The order of the rows means nothing. Without columns: one
        column of ones, a row each.
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
    if isinstance(data, Mapping) and _is_schema(data):
        from deniable.query.sources.absent import from_schema

        return from_schema(declared(data), wanted)
    if delimiter is not None:
        raise _no_delimiter(delimiter)
    return _from_object(data, wanted)


def _from_path(data: str | os.PathLike[str], wanted: Mapping[str, Type], delimiter: str | None) -> Source:
    found = files.find(data)
    label = _named(Path(os.fspath(data)))
    match files.kind(found, delimited=delimiter is not None):
        case "delimited":
            from deniable.query.sources.delimited import delimited

            return delimited(found, label, wanted, delimiter)
        case "json lines" | "parquet" if delimiter is not None:
            raise _no_delimiter(delimiter)
        case "json lines":
            from deniable.query.sources.jsonlines import json_lines

            return json_lines(found, label, wanted)
        case "parquet":
            from deniable.query.sources.parquet import parquet

            return parquet(found, label, wanted)


def _named(path: Path) -> str:
    """Return how published words call a path: folders above it tell of the machine, not of the data."""
    return files.printable("/".join(path.parts[-2:]) if "*" in path.name else path.name)


def _from_object(data: Any, wanted: Mapping[str, Type]) -> Source:
    if _is(data, "duckdb", "DuckDBPyRelation"):
        from deniable.query.sources.relation import from_relation

        return from_relation(data, wanted)
    if any(kind.__module__.partition(".")[0] == "pyspark" for kind in type(data).__mro__):
        return _from_spark(data, wanted)
    if _is(data, "pandas", "DataFrame"):
        from deniable.query.sources.pandas import from_pandas

        return from_pandas(data, wanted)
    if _is(data, "polars", "DataFrame") or _is(data, "polars", "LazyFrame"):
        from deniable.query.sources.polars import from_polars

        return from_polars(data, wanted)
    if hasattr(data, "__arrow_c_stream__") and not _is(data, "pandas", "Series"):
        from deniable.query.sources.arrow import from_arrow

        return from_arrow(data, wanted)
    raise ParameterError("data", type(data).__name__, "is not a table that can be protected", _ACCEPTED)


def _from_spark(data: Any, wanted: Mapping[str, Type]) -> Source:
    """Return the source of a Spark data frame. It is an Arrow stream too, which nobody may ask it for."""
    from deniable.engines.frames import is_frame

    if not is_frame(data):
        raise SourceError(
            f"A {type(data).__name__} of PySpark cannot be protected. Give a Spark data frame: "
            "spark.table('visits'), spark.read.parquet('visits'), or psdf.to_spark()."
        )
    from deniable.query.sources.spark import from_spark

    return from_spark(data, wanted)


def _is(data: object, module: str, name: str) -> bool:
    """Return whether `data` is of this class, without importing its module: an object has done so."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(data, kind)


def _is_schema(data: Mapping[Any, Any]) -> bool:
    """Return whether names are mapped to types. All else may hold somebody's values: no error shows it."""
    return all(isinstance(kind, str) and kind.strip().casefold() in tuple(Type) for kind in data.values())


def _no_delimiter(delimiter: object) -> ParameterError:
    return ParameterError("delimiter", delimiter, "is only for delimited text files", "Leave it out.")
