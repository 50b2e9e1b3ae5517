"""A relation of the caller's own DuckDB connection, streamed through Arrow.

Nothing is registered, set or written there: the relation is projected to the columns that are needed,
converted (in its own SQL, see `casts`), and read as a stream, which the private engine scans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb
from sqlglot import exp

from deniable.engines.duckdb import DuckDB
from deniable.errors import SourceError
from deniable.query.schema import Column, Schema, Type
from deniable.query.sources.casts import WIDE, cast
from deniable.query.sources.select import Field, chosen, quoted, schema_of, select, typed

_LABEL = "a DuckDB relation"


@dataclass(frozen=True)
class Relation:
    """A relation and the types that its connection gives it."""

    label: str
    schema: Schema
    fields: tuple[Field, ...]
    relation: duckdb.DuckDBPyRelation

    @property
    def assumed(self) -> tuple[str, ...]:
        return (f"The names and types of the columns of {self.label} are public.",)

    def rows(self, engine: DuckDB, columns: Sequence[str]) -> exp.Select:
        """Return the SELECT of these columns; each scan runs the relation anew."""
        asked = chosen(self.schema, columns)
        view = engine.view(engine.run(lambda: _Stream(self._projected(asked))))
        return select(asked, self._arrived, view)

    def check_unchanged(self) -> None:
        """Do nothing: a relation has no identity that could be compared."""

    def _projected(self, asked: Sequence[Column]) -> duckdb.DuckDBPyRelation:
        sent = (exp.alias_(self._sent(column), column.name, quoted=True) for column in asked)
        return self.relation.project(", ".join(value.sql(dialect="duckdb") for value in sent) or "1")

    def _sent(self, column: Column) -> exp.Expression:
        """Return the value; an integer that is wider than 64 bits in the one form that Arrow has for it."""
        value = typed(self.fields, column)
        return cast(value, "DECIMAL(38, 0)") if self._is_wide(column) else value

    def _arrived(self, column: Column) -> exp.Expression:
        value = quoted(column.name)
        return cast(value, "HUGEINT") if self._is_wide(column) else value

    def _is_wide(self, column: Column) -> bool:
        kind = next(field.kind for field in self.fields if field.name == column.name)
        return column.type is Type.INTEGER and kind in WIDE


class _Stream:
    """A relation as an Arrow stream that can be read again and again."""

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        self._relation = relation
        self._schema = relation.limit(0).to_arrow_table().schema

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._relation.to_arrow_reader(122_880).__arrow_c_stream__()


def from_relation(relation: duckdb.DuckDBPyRelation, types: Mapping[str, Type]) -> Relation:
    """Return the source of a relation. It is not run.

    Raises:  SourceError: a closed connection, no columns, or two with one name. ParameterError: types.
    """
    try:
        pairs = list(zip(relation.columns, relation.types, strict=True))
    except duckdb.Error:
        pairs = None
    if pairs is None:
        raise SourceError("The DuckDB relation cannot be described: is its connection closed?")
    fields = tuple(Field(name, str(kind)) for name, kind in pairs)
    return Relation(_LABEL, schema_of(fields, types, _LABEL), fields, relation)
