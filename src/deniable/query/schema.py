"""The declared shape of a table: names and types, which are public, and nothing of its rows."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from deniable.errors import ParameterError, SourceError


class Type(StrEnum):
    """What a column holds, in words, and as which DuckDB type `Source.rows` delivers it."""

    INTEGER = "integer"  # BIGINT; HUGEINT where the source's own type is wider
    REAL = "real"  # DOUBLE
    DECIMAL = "decimal"  # DECIMAL, its digits as in the source
    TEXT = "text"  # VARCHAR
    BOOLEAN = "boolean"  # BOOLEAN
    DATE = "date"  # DATE from the year 1 to 9999
    TIMESTAMP = "timestamp"  # TIMESTAMP in UTC, from the year 1 to 9999
    OTHER = "other"  # nested, binary, times of day, ...: not delivered


DECLARABLE = (Type.INTEGER, Type.REAL, Type.TEXT, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP)
"""The types that `types=` may name: a DECIMAL has digits of its own, which come from the source."""


@dataclass(frozen=True)
class Column:
    """`name` as the source spells it; `declared`: its type was named in `types=`.

    kind: the DuckDB type in the source, where it says more than `type`: which keys the column can hold.
    """

    name: str
    type: Type
    declared: bool = False
    kind: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Schema:
    """The columns in the order of the source. No two names are the same when case is ignored."""

    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def find(self, name: object, argument: str) -> Column:
        """Return the column that is called `name`, whatever the case of its letters.

        Raises:  ParameterError: there is none; the nearest name is suggested.
        """
        if not isinstance(name, str):
            raise ParameterError(argument, name, "must be the name of a column", f"Write {self._listed()}.")
        for column in self.columns:
            if column.name.casefold() == name.casefold():
                return column
        raise ParameterError(argument, name, "names no column", self.suggestion(name))

    def suggestion(self, name: str) -> str:
        """Return a sentence which names the columns nearest to `name`."""
        folded = {column.name.casefold(): column.name for column in self.columns}
        near = difflib.get_close_matches(name.strip().casefold(), folded, n=1, cutoff=0.6)
        if near:
            return f"Did you mean {folded[near[0]]!r}?"
        return f"The columns are {self._listed()}."

    def with_column(self, column: Column) -> Schema:
        """Return this schema with one more column at the end.

        Raises:  ParameterError: the name is taken, case ignored.
        """
        if any(known.name.casefold() == column.name.casefold() for known in self.columns):
            raise ParameterError("derive", column.name, "is already a column", "Choose another name.")
        return Schema((*self.columns, column))

    def _listed(self, most: int = 12) -> str:
        names = ", ".join(repr(name) for name in self.names[:most])
        return names + (f" and {len(self.columns) - most} more" if len(self.columns) > most else "")

    def __str__(self) -> str:
        """Return one line a column: its name, its type, and whether the type was declared."""
        wide = max((len(column.name) for column in self.columns), default=0)
        wide = max(wide, len("column"))
        lines = [f"{'column':<{wide}}  type"]
        for column in self.columns:
            line = f"{column.name:<{wide}}  {column.type}"
            lines.append(line + ("  (declared)" if column.declared else ""))
        return "\n".join(lines)


def distinct(names: tuple[str, ...], source: str) -> None:
    """Refuse names which are empty, not text for an engine, or the same when case is ignored.

    Raises:  SourceError: says which columns, counted from 1.
    """
    first: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if not name.strip():
            raise SourceError(f"Column {place} of {source} has no name. Give every column a name.")
        if "\0" in name or any("\ud800" <= sign <= "\udfff" for sign in name):
            raise SourceError(
                f"The name of column {place} of {source} holds a NUL or half a character, "
                "which no engine takes. Rename it."
            )
        if name.casefold() in first:
            raise SourceError(
                f"Columns {first[name.casefold()]} and {place} of {source} are both called {name!r} "
                "(upper and lower case count as the same). Rename one."
            )
        first[name.casefold()] = place


def declared(types: Mapping[str, str] | None) -> dict[str, Type]:
    """Return `types=` as name -> Type.

    Raises:  ParameterError: not a mapping of names to types, an unknown type (the types are listed), or
             one column named twice when case is ignored.
    """
    if types is None:
        return {}
    if not isinstance(types, Mapping):
        raise ParameterError("types", types, "must map columns to types", "Write types={'age': 'integer'}.")
    result: dict[str, Type] = {}
    for name, kind in types.items():
        if not isinstance(name, str):
            raise ParameterError("types", name, "must name columns", "Write types={'age': 'integer'}.")
        if any(name.casefold() == known.casefold() for known in result):
            raise ParameterError(
                "types", name, "names this column twice", "Upper and lower case are the same."
            )
        result[name] = _declarable(name, kind)
    return result


def _declarable(name: str, kind: object) -> Type:
    for known in DECLARABLE:
        if isinstance(kind, str) and kind.strip().casefold() == known:
            return known
    fix = f"The types are {', '.join(DECLARABLE)}."
    raise ParameterError(f"types[{name!r}]", kind, "is not a known type", fix)
