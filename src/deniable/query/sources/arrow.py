"""Arrow tables and streams: names and types are assumed public, nothing is copied but one-shot streams.

Columns travel to the engine by name, in batches; columns that are not asked for are never touched, so
that a type which the engine does not know is no obstacle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from deniable.engines.duckdb import DuckDB
from deniable.query.schema import Schema, Type
from deniable.query.sources.select import Field, chosen, schema_of, select, typed

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
}


@dataclass(frozen=True)
class ArrowSource:
    """Columns that `read(names)` returns as an Arrow table, whenever it is called."""

    label: str
    schema: Schema
    fields: tuple[Field, ...]
    read: Callable[[Sequence[str]], pa.Table]

    @property
    def assumed(self) -> tuple[str, ...]:
        return (f"The names and types of the columns of {self.label} are public.",)

    def rows(self, engine: DuckDB, columns: Sequence[str]) -> exp.Select:
        """Return the SELECT of these columns; each scan reads the table anew."""
        asked = chosen(self.schema, columns)
        table = plain(engine.run(lambda: self.read([column.name for column in asked])))
        return select(asked, lambda column: typed(self.fields, column), engine.view(Batches(table)))

    def check_unchanged(self) -> None:
        """Do nothing: a table in memory has no identity that could be compared."""


class Batches:
    """A table as an Arrow stream that can be read again and again."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_schema__(self) -> object:
        return self._table.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.to_reader(max_chunksize=_ROWS_A_BATCH).__arrow_c_stream__()


class Once:
    """A stream that can be read only once: copied when it is first needed, then kept."""

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self._reader = reader
        self._table: pa.Table | None = None

    def read(self, names: Sequence[str]) -> pa.Table:
        if self._table is None:
            self._table = self._reader.read_all()
        return self._table.select(list(names))


def from_table(table: pa.Table, types: Mapping[str, Type]) -> ArrowSource:
    """Return the source of a PyArrow table, which is not copied."""
    return arrow_source("a PyArrow table", table.schema, types, lambda names: table.select(list(names)))


def from_stream(stream: object, types: Mapping[str, Type]) -> ArrowSource:
    """Return the source of anything with `__arrow_c_stream__`. It is read when rows are first needed."""
    reader = pa.RecordBatchReader.from_stream(stream)
    return arrow_source("an Arrow stream", reader.schema, types, Once(reader).read)


def arrow_source(
    label: str, schema: pa.Schema, types: Mapping[str, Type], read: Callable[[Sequence[str]], pa.Table]
) -> ArrowSource:
    """Return the source of Arrow columns.

    Raises:  SourceError: no columns, or two with one name. ParameterError: types.
    """
    fields = tuple(Field(field.name, kind_of(field.type)) for field in schema)
    return ArrowSource(label, schema_of(fields, types, label), fields, read)


def kind_of(kind: pa.DataType) -> str:
    """Return the DuckDB type that an Arrow type arrives as; "OTHER" for what is not delivered."""
    if pa.types.is_dictionary(kind):
        return kind_of(kind.value_type)
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP WITH TIME ZONE" if kind.tz is not None else "TIMESTAMP"
    if pa.types.is_decimal(kind):
        fits = kind.precision <= 38 and 0 <= kind.scale <= kind.precision
        return f"DECIMAL({kind.precision},{kind.scale})" if fits else "OTHER"
    return _KINDS.get(str(kind), "OTHER")


def plain(table: pa.Table) -> pa.Table:
    """Return the table with the few types that DuckDB cannot take cast to their wider kin."""
    for place, field in enumerate(table.schema):
        target = _plain_type(field.type)
        if target != field.type:
            table = table.set_column(place, field.name, table.column(place).cast(target))
    return table


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_decimal(kind):
        return pa.decimal128(kind.precision, kind.scale)
    return kind


def rows_of(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatchReader:
    """Return batches as a reader."""
    return pa.RecordBatchReader.from_batches(schema, batches)
