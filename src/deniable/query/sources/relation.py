"""A relation of the caller's own DuckDB connection, streamed through Arrow.

Nothing is registered, set or written there: the relation is projected to the columns that are needed,
converted (in its own SQL, see `casts`), and read as a stream, which the private engine scans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from deniable.engines.engine import Engine
from deniable.engines.relation import RelationStream, columns_of
from deniable.errors import EngineError, SourceError
from deniable.query.schema import Column, Schema, Type
from deniable.query.sources.arrow import Valid
from deniable.query.sources.casts import WIDE, cast, converted, delivered, native
from deniable.query.sources.select import Field, chosen, quoted, schema_of, select, typed

_LABEL = "a DuckDB relation"


@dataclass(frozen=True)
class Relation:
    """A relation and the types that its connection gives it."""

    label: str
    schema: Schema
    fields: tuple[Field, ...] = field(repr=False)
    relation: Any = field(repr=False)

    @property
    def assumed(self) -> tuple[str, ...]:
        return (
            f"The names and types of the columns of {self.label} are public.",
            f"The query behind {self.label} does not fail, whatever its rows hold.",
        )

    def rows(self, engine: Engine, columns: Sequence[str]) -> exp.Select:
        """Return the SELECT of these columns; each scan runs the relation anew."""
        asked = chosen(self.schema, columns)
        sent = (exp.alias_(self._sent(column), column.name, quoted=True) for column in asked)
        values = [value.sql(dialect="duckdb") for value in sent] or ["1"]
        stream = engine.run(lambda: Valid(RelationStream(self.relation, values)))
        return select(asked, self._arrived, engine.view(stream))

    def check_unchanged(self) -> None:
        """Do nothing: a relation has no identity that could be compared."""

    def _sent(self, column: Column) -> exp.Expression:
        """Return the value; an integer that is wider than 64 bits in the one form that Arrow has for it."""
        if self._is_text(column):
            return delivered(quoted(column.name), self._kind(column))
        value = typed(self.fields, column)
        return cast(value, "DECIMAL(38, 0)") if self._is_wide(column) else value

    def _arrived(self, column: Column) -> exp.Expression:
        """Return the value as the schema says. Text is read here, where all of it is UTF-8."""
        value = quoted(column.name)
        if self._is_text(column):
            return converted(value, Type.TEXT, column.type)
        return cast(value, "HUGEINT") if self._is_wide(column) else value

    def _is_wide(self, column: Column) -> bool:
        return column.type is Type.INTEGER and self._kind(column) in WIDE

    def _is_text(self, column: Column) -> bool:
        return native(self._kind(column)) is Type.TEXT

    def _kind(self, column: Column) -> str:
        return next(field.kind for field in self.fields if field.name == column.name)


def from_relation(relation: Any, types: Mapping[str, Type]) -> Relation:
    """Return the source of a relation. It is not run.

    Raises:  SourceError: a closed connection, no columns, or two with one name. ParameterError: types.
    """
    try:
        fields = tuple(Field(name, kind) for name, kind in columns_of(relation))
    except EngineError as error:
        raise SourceError(str(error)) from None
    return Relation(_LABEL, schema_of(fields, types, _LABEL), fields, relation)
