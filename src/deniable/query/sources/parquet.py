"""Parquet, read by DuckDB: names and types come from the file and are assumed public."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from deniable.engines.duckdb import DuckDB
from deniable.errors import SourceError
from deniable.query.schema import Schema, Type
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

    @property
    def assumed(self) -> tuple[str, ...]:
        return (f"The names and types of the columns of {self.label} are public.",)

    def rows(self, engine: DuckDB, columns: Sequence[str]) -> exp.Select:
        """Return the SELECT of these columns, straight from the files."""
        del engine
        asked = chosen(self.schema, columns)
        return select(asked, lambda column: typed(self.fields, column), _scan(self.files))

    def check_unchanged(self) -> None:
        """Raise SourceError if a file is no longer what it was when it was opened."""
        check_unchanged(self.files)


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
    return Parquet(label, schema_of(fields, types, label), files, fields)


def _scan(files: Sequence[File]) -> exp.Expression:
    paths = exp.Array(expressions=[text(glob.escape(file.path)) for file in files])
    no = {name: exp.false() for name in ("hive_partitioning", "union_by_name", "filename")}
    options = [exp.PropertyEQ(this=exp.to_identifier(name), expression=value) for name, value in no.items()]
    return exp.Table(this=exp.Anonymous(this="read_parquet", expressions=[paths, *options]))


def _fields(file: File) -> tuple[Field, ...]:
    """Return names by PyArrow (DuckDB renames what coincides) with the types by which DuckDB reads them."""
    try:
        names = pq.read_schema(file.path).names
        with duckdb.connect(":memory:", config={"threads": "1"}) as connection:
            query = exp.select("*").from_(_scan([file])).limit(0).sql(dialect="duckdb")
            kinds = [str(kind) for kind in connection.sql(query).types]
    except (duckdb.Error, pa.ArrowException, OSError):
        names, kinds = [], None
    if kinds is None:
        raise SourceError(f"{file.name} is not a Parquet file that can be read.")
    return tuple(Field(name, kind) for name, kind in zip(names, kinds, strict=True))
