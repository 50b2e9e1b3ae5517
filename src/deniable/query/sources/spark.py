"""A Spark data frame: rows stay in the cluster, and are read by the frame's own session.

| in the frame                 | as it is read here                                                     |
|------------------------------|------------------------------------------------------------------------|
| text                         | compared byte by byte, whatever its collation; NULL if it is not UTF-8 |
| a timestamp (with time zone) | in UTC, whatever the session's time zone                               |
| a timestamp_ntz              | as it is                                                               |

Columns are renamed first (`encoded`): no name of theirs is read as SQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from deniable.engines.engine import Engine
from deniable.engines.frames import MOMENT, columns_of, kind_of
from deniable.errors import ParameterError, SourceError
from deniable.query.dialects.spark import encoded
from deniable.query.schema import Column, Schema, Type
from deniable.query.sources.casts import native
from deniable.query.sources.select import Field, chosen, schema_of, select, typed

_LABEL = "a Spark data frame"
_LEAST_VERSION = 4


@dataclass(frozen=True)
class SparkFrame:
    """A frame and the types that Spark gives its columns."""

    label: str
    schema: Schema
    fields: tuple[Field, ...] = field(repr=False)
    frame: Any = field(repr=False)

    @property
    def assumed(self) -> tuple[str, ...]:
        return (
            f"The names and types of the columns of {self.label} are public.",
            f"The query behind {self.label} does not fail, whatever its rows hold, and gives the same rows "
            "when a task runs twice.",
        )

    def rows(self, engine: Engine, columns: Sequence[str]) -> exp.Select:
        """Return the SELECT of these columns; nothing is read before the engine reads it."""
        asked = chosen(self.schema, columns)
        names = [found.name for found in self.fields]
        kept = [found for found in self.fields if found.name in {column.name for column in asked}]
        renamed = engine.run(lambda: self.frame.toDF(*(f"c{place}" for place in range(len(names)))))
        types = engine.run(lambda: [one.dataType.simpleString() for one in self.frame.schema.fields])
        values = [_value(f"c{names.index(f.name)}", types[names.index(f.name)], f.name) for f in kept]
        view = engine.view(engine.run(lambda: renamed.selectExpr(*(values or ["1 AS one"]))))
        return select(asked, lambda column: typed(self.fields, column), view)

    def check_unchanged(self) -> None:
        """Do nothing: a frame has no identity that could be compared."""


def from_spark(frame: Any, types: Mapping[str, Type]) -> SparkFrame:
    """Return the source of a Spark data frame. It is not run.

    Raises:  SourceError: a stream, Spark before 4, no columns, or two with one name. ParameterError: types.
    """
    if frame.isStreaming:
        raise SourceError("A Spark stream never ends: protect a frame of rows that are there.")
    if int(frame.sparkSession.version.partition(".")[0]) < _LEAST_VERSION:
        raise SourceError(f"This Spark session is older than Spark {_LEAST_VERSION}. Upgrade Spark.")
    fields = tuple(Field(name, kind) for name, kind in columns_of(frame))
    schema = schema_of(fields, types, _LABEL)
    for column, found in zip(schema.columns, fields, strict=True):
        _check_text(column, found)
    return SparkFrame(_LABEL, schema, fields, frame)


def _check_text(column: Column, found: Field) -> None:
    """Refuse to declare a real or a decimal as text: Spark prints numbers by a setting."""
    if column.declared and column.type is Type.TEXT and native(found.kind) in (Type.REAL, Type.DECIMAL):
        fix = "Convert it in Spark before it is protected, or leave it out of types."
        raise ParameterError(f"types[{column.name!r}]", "text", "cannot be made of a number here", fix)


def _value(column: str, kind: str, name: str) -> str:
    """Return Spark's SQL for a column under its encoded name, as the table at the top says."""
    value = column
    if kind_of(kind) == "VARCHAR":
        binary = column if kind == "string" else f"CAST({column} AS STRING) COLLATE UTF8_BINARY"
        value = f"try_validate_utf8({binary})"
    elif kind == "timestamp":
        value = MOMENT.format(f"unix_micros({column})")
    return f"{value} AS `{encoded(name)}`"
