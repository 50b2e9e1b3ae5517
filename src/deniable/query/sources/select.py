"""How a source writes its SELECT: one conversion for each column, chosen from public facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from deniable.errors import ParameterError, SourceError
from deniable.query.schema import Column, Schema, Type, distinct
from deniable.query.sources.casts import converted, converts, delivered, native


@dataclass(frozen=True)
class Field:
    """A column as the source has it: `kind` is its DuckDB type, as DuckDB writes it."""

    name: str
    kind: str


def schema_of(fields: Sequence[Field], types: Mapping[str, Type], source: str) -> Schema:
    """Return the schema of typed columns, of which `types` declares some to be something else.

    Raises:  SourceError: no column, or two with one name. ParameterError: a declared column does not
             exist, or cannot be converted.
    """
    if not fields:
        raise SourceError(f"{source} has no columns.")
    distinct(tuple(field.name for field in fields), source)
    own = Schema(tuple(_column(field) for field in fields))
    wanted = {own.find(name, "types").name: kind for name, kind in types.items()}
    for column in own.columns:
        kind = wanted.get(column.name, column.type)
        if column.name in wanted and not converts(column.type, kind):
            raise ParameterError(
                f"types[{column.name!r}]", str(kind), f"cannot be made of a column of {column.type}",
                "Convert it before it is protected, or leave it out of types.",
            )  # fmt: skip
    return Schema(tuple(_declared(column, wanted.get(column.name)) for column in own.columns))


def _column(field: Field) -> Column:
    """Return a column as the source types it; of an ENUM only that it is text, as its values are private."""
    numbers = (Type.INTEGER, Type.REAL, Type.DECIMAL)
    found = native(field.kind)
    return Column(field.name, found, kind=field.kind if found in numbers else "")


def _declared(column: Column, wanted: Type | None) -> Column:
    match wanted:
        case None:
            return column
        case column.type:
            return replace(column, declared=True)
        case _:
            return Column(column.name, wanted, declared=True)


def chosen(schema: Schema, columns: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns asked for.

    Raises:  ParameterError: one does not exist, or is of a type that cannot be delivered.
    """
    found = tuple(schema.find(name, "column") for name in columns)
    for column in found:
        if column.type is Type.OTHER:
            raise ParameterError(
                "column", column.name, "is nested, binary or of another type that cannot be used",
                "Convert it to text or numbers before it is protected.",
            )  # fmt: skip
    return found


def typed(fields: Sequence[Field], column: Column) -> exp.Expression:
    """Return the value of a typed column, as the schema says."""
    field = next(field for field in fields if field.name == column.name)
    value = delivered(quoted(column.name), field.kind)
    return converted(value, native(field.kind), column.type)


def select(
    columns: Sequence[Column], value: Callable[[Column], exp.Expression], origin: exp.Expression | str
) -> exp.Select:
    """Return SELECT value AS "name", ... FROM origin; without columns, the number 1 for every row."""
    values = [exp.alias_(value(column), column.name, quoted=True) for column in columns]
    query = exp.Select(expressions=values or [exp.alias_(exp.Literal.number(1), "row", quoted=True)])
    return query.from_(exp.to_table(origin) if isinstance(origin, str) else origin)


def quoted(name: str) -> exp.Expression:
    """Return a column by its exact name."""
    return exp.column(exp.to_identifier(name, quoted=True))
