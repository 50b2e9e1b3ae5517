"""A public table beside private rows: each row gets the columns of the one public row with its key, or NULL.

    survey.join("regions.csv", on="country")
    survey.join(prices, on={"article": "code"}, columns=["price"])

| key in the private row        | the new columns hold                                   |
|-------------------------------|--------------------------------------------------------|
| equal to a public row's       | that row's values                                      |
| equal to none, or missing     | NULL: the row stays                                    |

Why a unit's rows stay its own, so that everything that is promised about them holds.
1. The public table is read when `join` is called, before private data are; what is joined later is that very
   copy. Rows of it with a missing key are left out: nothing equals them.
2. Its keys are made the type that they are compared in, and then no two rows may have the same
   (`repeated`). Private keys are made the same type by TRY_CAST, which never fails.
3. Equality of one type is transitive: a private row equals the keys of at most one public row. So the left
   join gives exactly one row for each private row, whatever that holds, and what is beside it depends on
   that row and on public facts alone: it is a row-wise expression.
Text, whole numbers, truth values, dates and times can be keys. Real numbers cannot: which of two that print
alike are equal is decided by digits that nobody sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from deniable.errors import EngineError, ParameterError, SourceError
from deniable.query.rounding import named, sql
from deniable.query.schema import Column, Schema, Type
from deniable.query.source import Source, resolve

if TYPE_CHECKING:
    import pyarrow as pa

    from deniable.engines.engine import Engine

MOST_KEYS = 16
_HELD = "deniable_public"
_TYPES = {
    Type.TEXT: "VARCHAR",
    Type.INTEGER: "HUGEINT",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}
"""Types of keys, and what they are compared as in SQL."""


@dataclass(frozen=True, slots=True)
class Join:
    """A preparation of rows: columns of a public table are put beside each.

    words: how it is shown. keys: the columns of the rows that it looks at, with the types they are compared
    in. added: the new columns. held: the public rows: k0, k1, ... and c0, c1, ...; None in what was read back
    from a saved release.
    """

    words: str
    label: str
    keys: tuple[tuple[str, Type], ...]
    added: tuple[Column, ...]
    held: pa.Table | None = field(repr=False, compare=False)

    @property
    def adds(self) -> frozenset[str]:
        """The names of the new columns, case folded."""
        return frozenset(column.name.casefold() for column in self.added)

    @property
    def needs(self) -> frozenset[str]:
        """The columns of the rows that it looks at."""
        return frozenset(name for name, _ in self.keys)

    @property
    def keeps_every_row(self) -> bool:
        """Whether it can be left out where nobody asks for what it adds: always."""
        return True

    @property
    def assumed(self) -> str:
        """What the statement says of the public table."""
        return (
            f"The joined table {self.label} is public: it was read as it is, and says nothing about any one "
            "protected unit that may not be known."
        )

    def over(self, tree: exp.Select, engine: Engine) -> exp.Select:
        """Return the rows of `tree` with the new columns beside them: a row each."""
        assert self.held is not None
        joined = exp.select("source.*").from_(tree.subquery("source"))
        for place, column in enumerate(self.added):
            value = exp.column(f"c{place}", table="public")
            wide = column.type is Type.INTEGER and str(self.held.schema.field(f"c{place}").type) != "int64"
            whole = sql("TRY_CAST(:x AS HUGEINT)", x=value) if wide else value
            joined = joined.select(exp.alias_(whole, column.name, quoted=True))
        same = [
            sql(
                f"TRY_CAST(:own AS {_TYPES[kind]}) = TRY_CAST(:held AS {_TYPES[kind]})",
                own=exp.column(name, table="source", quoted=True),
                held=exp.column(f"k{place}", table="public"),
            )
            for place, (name, kind) in enumerate(self.keys)
        ]
        view = exp.to_table(engine.view(self.held), alias="public")
        return joined.join(view, on=exp.and_(*same), join_type="left")

    def __str__(self) -> str:
        return self.words


def joined(
    schema: Schema,
    table: object,
    *,
    on: str | Sequence[str] | Mapping[str, str],
    columns: Sequence[str] | None,
    types: Mapping[str, str] | None,
    delimiter: str | None,
) -> Join:
    """Return the join of rows of this schema with a public table, which is read here.

    Raises:  ParameterError: a column is missing, taken or of a type that does not serve; a key stands there
             twice. SourceError: the table cannot be used.
    """
    source = resolve(table, types=types, delimiter=delimiter)
    if source.schema.columns and all(column.type is Type.OTHER for column in source.schema.columns):
        raise SourceError(f"{source.label} has no column of text, numbers or dates: nothing can be joined.")
    pairs = _keys(schema, source.schema, on)
    theirs = [other for _, other in pairs]
    added = _added(schema, source.schema, theirs, columns)
    held = _read(source, theirs, added)
    names = ", ".join(
        own.name if own.name == other.name else f"{own.name} = {other.name}" for own, other in pairs
    )
    words = f"join {source.label} on {names} for {', '.join(column.name for column in added)}"
    plain = tuple(replace(column, kind="") if column.type is Type.TEXT else column for column in added)
    return Join(words, source.label, tuple((own.name, own.type) for own, _ in pairs), plain, held)


def _keys(
    schema: Schema, public: Schema, on: str | Sequence[str] | Mapping[str, str]
) -> list[tuple[Column, Column]]:
    """Return the columns that are compared: of the rows, and of the public table."""
    fix = "Write on='country', on=['country', 'year'] or on={'country': 'code'}."
    if isinstance(on, str):
        named_pairs = [(on, on)]
    elif isinstance(on, Mapping):
        named_pairs = list(on.items())
    elif isinstance(on, Sequence):
        named_pairs = [(name, name) for name in on]
    else:
        raise ParameterError("on", on, "must name columns", fix)
    pairs = [(schema.find(own, "on"), public.find(other, "on")) for own, other in named_pairs]
    for side in (0, 1):
        if not 1 <= len({pair[side].name for pair in pairs}) == len(pairs) <= MOST_KEYS:
            raise ParameterError("on", on, "must name columns, each once", fix)
    for own, other in pairs:
        _check_types(own, other)
    return pairs


def _check_types(own: Column, other: Column) -> None:
    if own.type is not other.type:
        problem = f"is {own.type.value} in the protected table and {other.type.value} in the public one"
        fix = "Declare it in both (types=...), or derive a column of the other's type."
        raise ParameterError("on", own.name, problem, fix)
    if own.type not in _TYPES:
        fix = "Join on text, whole numbers, truth values, dates or times."
        raise ParameterError("on", own.name, f"is of a type that cannot be joined on: {own.type.value}", fix)


def _added(
    schema: Schema, public: Schema, keys: Sequence[Column], columns: Sequence[str] | None
) -> tuple[Column, ...]:
    """Return the public columns that come beside the rows, under names that are free."""
    fix = "Name columns of the public table: columns=['region']."
    if columns is None:
        found = [column for column in public.columns if column not in keys and column.type is not Type.OTHER]
    elif isinstance(columns, str) or not isinstance(columns, Sequence):
        raise ParameterError("columns", columns, "must be a list of names", fix)
    else:
        found = [public.find(name, "columns") for name in columns]
    if not found or len({column.name for column in found}) < len(found):
        raise ParameterError("columns", columns, "must name what to take, each once", fix)
    taken = {column.name.casefold(): column.name for column in schema.columns}
    for column in found:
        if column.type is Type.OTHER:
            raise ParameterError("columns", column.name, "is of a type that cannot be used", fix)
        if column.name.casefold() in taken:
            problem = f"is a column of the protected table already, as '{taken[column.name.casefold()]}'"
            other = "Rename it in the public table, or take others with columns=[...]."
            raise ParameterError("columns", column.name, problem, other)
    return tuple(found)


def _read(source: Source, keys: Sequence[Column], added: Sequence[Column]) -> pa.Table:
    """Return the public rows that have a key, in the types that they are compared in.

    Raises:  ParameterError: a key stands there twice. SourceError: the table cannot be read.
    """
    from deniable.engines.duckdb import DuckDB

    wanted = list(dict.fromkeys(column.name for column in (*keys, *added)))
    repeats = 0
    try:
        with DuckDB() as engine:
            engine.execute(held(source.rows(engine, wanted), keys, added))
            repeats = engine.stream(repeated(len(keys))).read_all().num_rows
            table = engine.stream(exp.select("*").from_(_HELD)).read_all()
        source.check_unchanged()
    except EngineError:
        raise SourceError(f"{source.label} could not be read to be joined.") from None
    if repeats:
        problem = f"has rows of the public table ({source.label}) with the same key: a row could get several"
        fix = "Leave one row for each key in it."
        raise ParameterError("on", ", ".join(column.name for column in keys), problem, fix)
    return table


def held(rows: exp.Select, keys: Sequence[Column], added: Sequence[Column]) -> exp.Create:
    """Return the statement that makes a table of the public rows that have a key."""
    found = exp.select().from_(rows.subquery("public"))
    for place, column in enumerate(keys):
        value = exp.column(column.name, table="public", quoted=True)
        key = sql(f"TRY_CAST(:x AS {_TYPES[column.type]})", x=value)
        found = found.select(named(key, f"k{place}")).where(sql(":key IS NOT NULL", key=key))
    for place, column in enumerate(added):
        value = exp.column(column.name, table="public", quoted=True)
        text = sql("CAST(:x AS VARCHAR)", x=value) if column.type is Type.TEXT else value
        found = found.select(named(text, f"c{place}"))
    return exp.Create(this=exp.to_table(_HELD), kind="TABLE", expression=found)


def repeated(keys: int) -> exp.Select:
    """Return a row for each key that stands there twice; if none does, a row joins at most one."""
    names = [f"k{place}" for place in range(keys)]
    return exp.select("1 AS found").from_(_HELD).group_by(*names).having("COUNT(*) > 1")
