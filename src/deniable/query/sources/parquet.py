"""Parquet: names and types come from the file and are assumed public.

| what is asked for                                     | who reads it                                       |
|-------------------------------------------------------|----------------------------------------------------|
| only integers, reals, booleans, dates, finer times    | DuckDB, straight from the file                     |
| text beside numbers, booleans and dates (`_QUICK`)    | DuckDB, and where it fails PyArrow, as below       |
| also text, decimals, coarse times (`_COARSE`)         | PyArrow, in batches, in which `plain` looks at all |

DuckDB ends with an error when one text is not UTF-8, one decimal has too many digits, or one time in
milliseconds or INT96 is too far away for microseconds (the year 294247), so that one odd value would fail the
whole release. Between these ways, types alone decide; so they do for `assumed`.

Proof that nobody's value decides what another's is, in the third way. (1) DuckDB has read every value that it
uses, or failed and changed nothing (`DuckDB.execute`). (2) Where it read a text, the text is UTF-8, by
the same rule as that of `plain` (a test holds them together), which then keeps it; a value of the other types
in `_QUICK` is the same bits on both ways. (3) It skips no row for what the file says of its least and largest
text (`_unskipped`): to old writers they are in another order. (4) So a value that both ways deliver is the
same on both, and only how long a release takes depends on which was gone.
"""

from __future__ import annotations

import glob
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from deniable.engines.duckdb import describe
from deniable.engines.engine import Engine, quick
from deniable.errors import EngineError, SourceError
from deniable.query.schema import Column, Schema, Type
from deniable.query.sources.arrow import fields_of, kind_of, plain
from deniable.query.sources.casts import call, native, text
from deniable.query.sources.files import File, check_unchanged
from deniable.query.sources.select import Field, chosen, schema_of, select, typed

_ROWS_A_BATCH = 122_880
_BYTES_A_READ = 1 << 16
_QUICK = {"BOOLEAN", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DATE", "VARCHAR"}
"""Types that both readers deliver bit by bit, but for text that is not UTF-8."""
_COARSE = ("s", "ms", "INT96")


@dataclass(frozen=True)
class Parquet:
    """Files with the same columns. Only the columns asked for are read."""

    label: str
    schema: Schema
    files: tuple[File, ...]
    fields: tuple[Field, ...]
    arrow: pa.Schema = field(repr=False)
    units: tuple[str | None, ...]

    @property
    def assumed(self) -> tuple[str, ...]:
        public = f"The names and types of the columns of {self.label} are public."
        whole = (
            f"{self.label} is a whole Parquet file: reading its pages does not fail, whatever they hold, "
            "and what it says of their least and largest values is true."
        )
        odd = [found.name for found in self.fields if self._is_odd(found)]
        if not odd:
            return public, whole
        return public, whole, f"Where {', '.join(odd)} of {self.label} is used, all text in it is UTF-8."

    def rows(self, engine: Engine, columns: Sequence[str]) -> exp.Select:
        """Return the SELECT of these columns, straight from the files."""
        asked = chosen(self.schema, columns)
        names = [column.name for column in asked]
        used = [found for found in self.fields if found.name in names]
        if any(self._is_odd(found) for found in used) or not any(self._needs_care(found) for found in used):
            return select(asked, lambda column: typed(self.fields, column), _scan(self.files))
        view = engine.view(_Batches(self.files, pa.schema([self.arrow.field(name) for name in names])))
        fields = fields_of(self.arrow)
        both = [field for field in fields if field in used and field.kind in _QUICK]
        if len(both) < len(used):
            return select(asked, lambda column: typed(fields, column), view)
        return select(asked, lambda column: _unskipped(fields, column), quick(_scan(self.files), view))

    def _needs_care(self, column: Field) -> bool:
        """Return whether one value of the column could make DuckDB fail."""
        unit = self.units[self.arrow.get_field_index(column.name)]
        return unit in _COARSE or native(column.kind) in (Type.TEXT, Type.DECIMAL)

    def _is_odd(self, column: Field) -> bool:
        """Return whether DuckDB delivers the column and PyArrow cannot: decimals of more than 38 digits."""
        kind = kind_of(self.arrow.field(column.name).type)
        return kind == "OTHER" and native(column.kind) is not Type.OTHER

    def check_unchanged(self) -> None:
        """Raise SourceError if a file is no longer what it was when it was opened."""
        check_unchanged(self.files)


class _Batches:
    """Columns of files, in the order of `schema`, as an Arrow stream that can be read again and again.

    Text is read as it is, never kept in PyArrow's dictionaries: it has none for some codings of pages, and
    how pages are coded follows from the values in them.
    """

    def __init__(self, files: Sequence[File], schema: pa.Schema) -> None:
        self._files = files
        self._names = schema.names
        self._schema = plain(schema.empty_table()).schema

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.RecordBatchReader.from_batches(self._schema, self._batches()).__arrow_c_stream__()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for found in self._files:
            with _open(found) as file:
                for batch in file.iter_batches(_ROWS_A_BATCH, columns=self._names, use_threads=False):
                    table = pa.Table.from_batches([batch.select(self._names)])
                    yield from plain(table).cast(self._schema).to_batches()


def _open(file: File) -> pq.ParquetFile:
    """Return the file, to be read in small pieces, with text as text.

    What the writer kept in Arrow's dictionaries PyArrow would put into dictionaries again, and it cannot for
    some codings of pages: then it does not get to see Arrow's own schema, which says so.
    """
    metadata = pq.read_metadata(file.path)
    if any(pa.types.is_dictionary(kind) for kind in metadata.schema.to_arrow_schema().types):
        footer = io.BytesIO()
        metadata.write_metadata_file(footer)
        without = footer.getvalue().replace(b"ARROW:schema", b"ARROW:unread")
        metadata = pq.read_metadata(io.BytesIO(without))
    return pq.ParquetFile(
        file.path,
        metadata=metadata,
        pre_buffer=False,
        buffer_size=_BYTES_A_READ,
        coerce_int96_timestamp_unit="us",
    )


def parquet(files: tuple[File, ...], label: str, types: Mapping[str, Type]) -> Parquet:
    """Return the source of Parquet files with the same names and types of columns.

    Raises:  SourceError: not Parquet, or the files differ. ParameterError: types.
    """
    for file in files:
        if "\\" in file.path and glob.has_magic(file.path):
            raise SourceError(
                f"{file.name}: DuckDB opens no path that has a backslash and one of *, ? or [. Rename it."
            )
    fields = _fields(files[0])
    arrow, units = _arrow(files[0], fields), _units(files[0])
    for file in files[1:]:
        if _fields(file) != fields or _units(file) != units:
            raise SourceError(
                f"The columns of {files[0].name} and {file.name} differ in name or type. "
                "Read them one by one."
            )
    return Parquet(label, schema_of(fields, types, label), files, fields, arrow, units)


def _arrow(file: File, fields: Sequence[Field]) -> pa.Schema:
    """Return names and types as PyArrow reads them; a UUID, which is plain bytes to it, by its own type."""
    with _open(file) as opened:
        schema = opened.schema_arrow
    for place, column in enumerate(fields):
        if column.kind == "UUID":
            schema = schema.set(place, schema.field(place).with_type(pa.uuid()))
    return schema


def _units(file: File) -> tuple[str | None, ...]:
    """Return the unit of each column of times. DuckDB's types do not tell units apart, and a time that one
    unit can hold may be too far away for another.
    """
    with _open(file) as opened:
        kinds, leaves = opened.schema_arrow.types, opened.schema
    old = {leaves.column(at).path for at in range(len(leaves)) if leaves.column(at).physical_type == "INT96"}
    names = opened.schema_arrow.names
    times = [kind.unit if pa.types.is_timestamp(kind) else None for kind in kinds]
    return tuple("INT96" if name in old else unit for name, unit in zip(names, times, strict=True))


def _unskipped(fields: Sequence[Field], column: Column) -> exp.Expression:
    """Return the value of a column; what is text in the file as TRY(value), for which nothing is skipped."""
    value = typed(fields, column)
    held = next(found.kind for found in fields if found.name == column.name)
    return call("try", value) if held == "VARCHAR" else value


def _scan(files: Sequence[File]) -> exp.Table:
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
