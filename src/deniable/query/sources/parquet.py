"""Parquet, read by DuckDB: names and types come from the file and are assumed public.

One kind of column is read by PyArrow instead: timestamps in milliseconds. DuckDB fails on one that is too far
away for microseconds (the year 294247), so that one odd value would fail the whole release.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from deniable.engines.duckdb import DuckDB, describe
from deniable.errors import EngineError, SourceError
from deniable.query.schema import Schema, Type
from deniable.query.sources.arrow import fields_of, plain
from deniable.query.sources.casts import text
from deniable.query.sources.files import File, check_unchanged
from deniable.query.sources.select import Field, chosen, schema_of, select, typed


@dataclass(frozen=True)
class Parquet:
    """Files with the same columns. Only the columns asked for are read."""

    label: str
    schema: Schema
    files: tuple[File, ...]
    fields: tuple[Field, ...]
    arrow: tuple[pa.Field, ...]

    @property
    def assumed(self) -> tuple[str, ...]:
        return (f"The names and types of the columns of {self.label} are public.",)

    def rows(self, engine: DuckDB, columns: Sequence[str]) -> exp.Select:
        """Return the SELECT of these columns, straight from the files."""
        asked = chosen(self.schema, columns)
        names = {column.name for column in asked}
        kept = tuple(field for field in self.arrow if field.name in names)
        if any(pa.types.is_timestamp(field.type) and field.type.unit in ("s", "ms") for field in kept):
            fields = fields_of(pa.schema(kept))
            if all(field.kind != "OTHER" for field in fields):
                view = engine.view(_Batches(self.files, pa.schema(kept)))
                return select(asked, lambda column: typed(fields, column), view)
        return select(asked, lambda column: typed(self.fields, column), _scan(self.files))

    def check_unchanged(self) -> None:
        """Raise SourceError if a file is no longer what it was when it was opened."""
        check_unchanged(self.files)


class _Batches:
    """Columns of files, in the order of `schema`, as an Arrow stream that can be read again and again."""

    def __init__(self, files: Sequence[File], schema: pa.Schema) -> None:
        self._files = files
        self._names = schema.names
        self._schema = plain(schema.empty_table()).schema

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.RecordBatchReader.from_batches(self._schema, self._batches()).__arrow_c_stream__()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for file in self._files:
            with pq.ParquetFile(file.path) as opened:
                for batch in opened.iter_batches(columns=self._names):
                    table = pa.Table.from_batches([batch]).select(self._names)
                    yield from plain(table).cast(self._schema).to_batches()


def parquet(files: tuple[File, ...], label: str, types: Mapping[str, Type]) -> Parquet:
    """Return the source of Parquet files with the same names and types of columns.

    Raises:  SourceError: not Parquet, or the files differ. ParameterError: types.
    """
    fields = _fields(files[0])
    for file in files[1:]:
        if _fields(file) != fields:
            raise SourceError(
                f"The columns of {files[0].name} and {file.name} differ in name or type. "
                "Read them one by one."
            )
    return Parquet(
        label, schema_of(fields, types, label), files, fields, tuple(pq.read_schema(files[0].path))
    )


def _scan(files: Sequence[File]) -> exp.Expression:
    paths = exp.Array(expressions=[text(glob.escape(file.path)) for file in files])
    no = {name: exp.false() for name in ("hive_partitioning", "union_by_name", "filename")}
    options = [exp.PropertyEQ(this=exp.to_identifier(name), expression=value) for name, value in no.items()]
    return exp.Table(this=exp.Anonymous(this="read_parquet", expressions=[paths, *options]))


def _fields(file: File) -> tuple[Field, ...]:
    """Return names by PyArrow (DuckDB renames what coincides) with the types by which DuckDB reads them."""
    fields = None
    try:
        names = pq.read_schema(file.path).names
        kinds = (kind for _, kind in describe(exp.select("*").from_(_scan([file]))))
        fields = tuple(Field(name, kind) for name, kind in zip(names, kinds, strict=True))
    except (EngineError, pa.ArrowException, OSError):
        pass
    if fields is None:
        raise SourceError(f"{file.name} is not a Parquet file that can be read.")
    return fields
