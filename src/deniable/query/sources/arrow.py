"""Arrow tables and streams: names and types are assumed public, nothing is copied but one-shot streams.

Columns travel to the engine by name, in batches; columns that are not asked for are never touched, so
that a type which the engine does not know is no obstacle.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from sqlglot import exp

from deniable.engines.engine import Engine
from deniable.errors import SourceError
from deniable.query.schema import Schema, Type
from deniable.query.sources.select import Field, chosen, schema_of, select, typed
from deniable.query.sources.validity import valid

_ROWS_A_BATCH = 122_880
_KINDS = {
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "uint64": "UBIGINT",
    "halffloat": "FLOAT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "bool": "BOOLEAN",
    "string": "VARCHAR",
    "large_string": "VARCHAR",
    "string_view": "VARCHAR",
    "date32[day]": "DATE",
    "date64[ms]": "DATE",
    "extension<arrow.uuid>": "UUID",
}


@dataclass(frozen=True)
class ArrowSource:
    """Columns that `read(names)` returns as an Arrow table, whenever it is called."""

    label: str
    schema: Schema
    fields: tuple[Field, ...]
    read: Callable[[Sequence[str]], pa.Table] = field(repr=False)

    @property
    def assumed(self) -> tuple[str, ...]:
        return (
            f"The names and types of the columns of {self.label} are public.",
            f"Reading {self.label} does not fail, whatever its rows hold.",
        )

    def rows(self, engine: Engine, columns: Sequence[str]) -> exp.Select:
        """Return the SELECT of these columns; each scan reads the table anew."""
        asked = chosen(self.schema, columns)
        table = engine.run(lambda: self._read([column.name for column in asked]))
        return select(asked, lambda column: typed(self.fields, column), engine.view(Batches(table)))

    def check_unchanged(self) -> None:
        """Do nothing: a table in memory has no identity that could be compared."""

    def _read(self, names: Sequence[str]) -> pa.Table:
        if names:
            return plain(self.read(names))
        rows = self.read([self.fields[0].name]).num_rows  # a table of no columns would have no rows
        return pa.table({"row": pa.nulls(rows, pa.int8())})


class Batches:
    """A table as an Arrow stream that can be read again and again."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_schema__(self) -> object:
        return self._table.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.to_reader(max_chunksize=_ROWS_A_BATCH).__arrow_c_stream__()


class Valid:
    """A stream that can be read again and again, with `plain` batches."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._schema = plain(pa.schema(stream).empty_table()).schema

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.RecordBatchReader.from_batches(self._schema, self._batches()).__arrow_c_stream__()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        with pa.RecordBatchReader.from_stream(self._stream) as reader:
            for batch in reader:
                yield from plain(pa.Table.from_batches([batch])).to_batches()


class Once:
    """A stream that can be read only once: copied when it is first needed, then kept.

    A stream that failed half way stays failed: what is left of it would look like a whole, smaller table.
    """

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self._reader: pa.RecordBatchReader | None = reader
        self._table: pa.Table | None = None
        self._lock = threading.Lock()

    def read(self, names: Sequence[str]) -> pa.Table:
        """Return the columns. Raises: RuntimeError: an earlier read failed."""
        with self._lock:
            if self._table is None:
                reader, self._reader = self._reader, None
                if reader is None:
                    raise RuntimeError("this stream has failed before")
                self._table = reader.read_all()
            return self._table.select(list(names))


def from_arrow(data: Any, types: Mapping[str, Type]) -> ArrowSource:
    """Return the source of a PyArrow table (not copied) or of anything with `__arrow_c_stream__`.

    A stream is read when rows are first needed.
    Raises:  SourceError: not a stream of tables, no columns, or two with one name. ParameterError: types.
    """
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        table = data if isinstance(data, pa.Table) else pa.Table.from_batches([data])
        label, schema, read = "a PyArrow table", table.schema, lambda names: table.select(list(names))
    else:
        reader = _reader(data)
        label, schema, read = "an Arrow stream", reader.schema, Once(reader).read
    return arrow_source(label, fields_of(schema), types, read)


def arrow_source(
    label: str, fields: Sequence[Field], types: Mapping[str, Type], read: Callable[[Sequence[str]], pa.Table]
) -> ArrowSource:
    """Return the source of columns which `read` delivers by name.

    Raises:  SourceError: no columns, or two with one name. ParameterError: types.
    """
    return ArrowSource(label, schema_of(fields, types, label), tuple(fields), read)


def fields_of(schema: pa.Schema) -> tuple[Field, ...]:
    """Return the names of an Arrow schema with the DuckDB types that they arrive as."""
    return tuple(Field(column.name, kind_of(column.type)) for column in schema)


def _reader(data: object) -> pa.RecordBatchReader:
    reader = None
    with contextlib.suppress(pa.ArrowException, TypeError, ValueError, RuntimeError, OSError):
        reader = pa.RecordBatchReader.from_stream(data)
    if reader is None:
        raise SourceError("The Arrow stream cannot be opened as a table with columns. Give a whole table.")
    return reader


def kind_of(kind: pa.DataType) -> str:
    """Return the DuckDB type that an Arrow type arrives as; "OTHER" for what is not delivered."""
    if pa.types.is_dictionary(kind):
        return kind_of(kind.value_type)
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP"  # `plain` takes a time zone away: Arrow's zoned timestamps are UTC already
    if pa.types.is_decimal(kind):
        fits = kind.precision <= 38 and 0 <= kind.scale <= kind.precision
        return f"DECIMAL({kind.precision},{kind.scale})" if fits else "OTHER"
    return _KINDS.get(str(kind), "OTHER")


def plain(table: pa.Table) -> pa.Table:
    """Return the table with what DuckDB cannot take, or what can make it fail, made plainer.

    The few types that it does not know, and (`valid`) the values that their type does not allow.
    """
    for place, (name, given) in enumerate(zip(table.column_names, table.columns, strict=True)):
        column, target = valid(given), _plain_type(given.type)
        if target != given.type:
            column = _as(column, target)
        if column is not given:
            table = table.set_column(place, name, column)
    return table


def _as(column: pa.ChunkedArray, target: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_timestamp(column.type):
        return pa.chunked_array([chunk.view(target) for chunk in column.chunks], target)  # the same numbers
    return column.cast(target)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_timestamp(kind):
        return pa.timestamp(kind.unit)
    if pa.types.is_decimal(kind):
        return pa.decimal128(kind.precision, kind.scale)
    return kind
