"""Polars frames, eager and lazy: names and types are assumed public; Categorical and Enum are text.

A lazy frame is collected, with the columns that are needed only, each time that rows are needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
import pyarrow as pa

from deniable.errors import SourceError
from deniable.query.schema import Type
from deniable.query.sources.arrow import ArrowSource, arrow_source, kind_of
from deniable.query.sources.select import Field


def from_polars(frame: pl.DataFrame | pl.LazyFrame, types: Mapping[str, Type]) -> ArrowSource:
    """Return the source of a Polars frame.

    Raises:  SourceError: a column of type Object, or a lazy frame without a schema.
    """
    label = "a Polars frame" if isinstance(frame, pl.DataFrame) else "a lazy Polars frame"
    schema = frame.schema if isinstance(frame, pl.DataFrame) else _lazy_schema(frame)
    objects = [name for name, kind in schema.items() if kind == pl.Object]
    if objects:
        raise SourceError(f"Column {objects[0]!r} of {label} is of type Object. Cast it, or drop it.")
    fields = [Field(name, _kind(kind)) for name, kind in schema.items()]

    def read(names: Sequence[str]) -> pa.Table:
        chosen = frame.select(list(names))
        return (chosen.collect() if isinstance(chosen, pl.LazyFrame) else chosen).to_arrow()

    return arrow_source(label, fields, types, read)


def _kind(kind: pl.DataType) -> str:
    """Return the DuckDB type of a Polars type, by way of an empty Arrow column."""
    try:
        return kind_of(pl.Series([], dtype=kind).to_arrow().type)
    except (pl.exceptions.PolarsError, pa.ArrowException):
        return "OTHER"  # Arrow has no such type: integers of 128 bits


def _lazy_schema(frame: pl.LazyFrame) -> pl.Schema:
    try:
        return frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError, ValueError, TypeError, RuntimeError):
        pass
    raise SourceError("The columns of the lazy Polars frame cannot be found. Collect it first.")
