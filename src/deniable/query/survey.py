"""`protect` a table: name what is protected, prepare rows, group them, and ask for aggregates.

    survey = dn.protect("colours.csv", unit="person", population=1_000_000)
    query = survey.where("age >= 18").group_by("colour").aggregate(people=dn.units())

Everything here is a value made from public facts: no row is read before a plan is released.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Literal, NoReturn

from sqlglot import exp

from deniable.errors import ParameterError, SourceError
from deniable.exact import Number, whole
from deniable.guarantees import Neighbours
from deniable.ledger import Ledger
from deniable.query import keys as declared_keys
from deniable.query.aggregates import Aggregate
from deniable.query.automatic import AUTO, FALLBACK
from deniable.query.choosing import Selection, checked
from deniable.query.expressions import Expression, parse_condition, parse_value
from deniable.query.hints import hint
from deniable.query.joining import Join, joined
from deniable.query.opening import check_expression
from deniable.query.question import Groups, Query, asked
from deniable.query.schema import Column, Schema, Type
from deniable.query.source import Source, resolve

if TYPE_CHECKING:
    from deniable.engines.engine import Engine

MOST_GROUPS = 1 << 20
MOST_NAME = 200


class Row(Enum):
    """The unit when every row stands for itself: event-level privacy."""

    ROW = "row"

    def __repr__(self) -> str:
        return "dn.ROW"


ROW = Row.ROW


@dataclass(frozen=True, slots=True)
class Step:
    """One preparation of rows: a condition to keep, or a value under a new name."""

    expression: Expression
    name: str | None = None

    @property
    def adds(self) -> frozenset[str]:
        """The name of the new column, case folded; nothing for a condition."""
        return frozenset() if self.name is None else frozenset({self.name.casefold()})

    @property
    def needs(self) -> frozenset[str]:
        """The columns that the expression looks at."""
        return self.expression.columns

    @property
    def keeps_every_row(self) -> bool:
        """Whether it can be left out where nobody asks for what it adds."""
        return self.name is not None

    def over(self, tree: exp.Select, engine: Engine) -> exp.Select:  # noqa: ARG002
        """Return the rows of `tree` that the condition keeps, or with the new column beside them."""
        inner = tree.subquery("source")
        if self.name is None:
            return exp.select("*").from_(inner).where(self.expression.tree.copy())
        value = exp.alias_(self.expression.tree.copy(), self.name, quoted=True)
        return exp.select("*", value).from_(inner)

    def __str__(self) -> str:
        return f"{self.name} = {self.expression.text}" if self.name else f"where {self.expression.text}"


@dataclass(frozen=True, slots=True, repr=False)
class Survey:
    """A protected table: `where`, `derive`, `group_by`, `aggregate`. Its rows are private."""

    source: Source
    schema: Schema
    unit: str | None
    population: int | None
    steps: tuple[Step | Join, ...] = ()
    ledger: Ledger | None = None
    name: str | None = None

    @property
    def label(self) -> str:
        """How published words, and the ledger, call the data: by `name`, or as the source does."""
        return self.source.label if self.name is None else self.name

    def where(self, condition: str) -> Survey:
        """Keep the rows for which the condition is true: `where("age >= 18")`.

        Raises:  ExpressionError: it is not a row-wise condition on the columns of `schema`.
        """
        kept = parse_condition(condition, self.schema, argument="where")
        return self._with(Step(self._offered(kept, "where")))

    def derive(self, /, **columns: str) -> Survey:
        """Add columns, each computed from one row: `derive(hue="lower(trim(colour))")`.

        Raises:  ParameterError: a name is taken (case does not matter). ExpressionError: not row-wise.
        """
        survey = self
        for name, text in columns.items():
            _check_new(name)
            value = self._offered(parse_value(text, survey.schema, argument=name), name)
            schema = survey.schema.with_column(Column(name, value.type))
            survey = replace(survey._with(Step(value, name)), schema=schema)
        return survey

    def join(
        self,
        table: object,
        *,
        on: str | Sequence[str] | Mapping[str, str],
        columns: Sequence[str] | None = None,
        types: Mapping[str, str] | None = None,
        delimiter: str | None = None,
    ) -> Survey:
        """Put columns of a *public* table beside each row: `join("regions.csv", on="country")`.

        The table is read now. Each of its keys may stand there once, so every row stays one row; a row whose
        key it does not have gets NULL. The statement says that the table was taken to be public.

        Args:    table: a file, a data frame, an Arrow table or a DuckDB relation. on: the key: a column of
                 both, several, or {column here: column there}. columns: what to take; all when omitted.
                 types, delimiter: as in `protect`, of the public table.
        Raises:  ParameterError: a key stands there twice; a name is taken, missing or of another type.
                 SourceError: the table cannot be used.
        """
        step = joined(self.schema, table, on=on, columns=columns, types=types, delimiter=delimiter)
        schema = self.schema
        for column in step.added:
            schema = schema.with_column(column)
        return replace(self._with(step), schema=schema)

    def group_by(
        self,
        *columns: str,
        max_groups: int | Literal["auto"] | None = None,
        over: Literal["weight", "drop"] | None = None,
        keys: object = None,
        selection: Selection = "auto",
        max_keys: int = 100,
        share: Number | None = None,
        other: bool = False,
    ) -> Groups:
        """Ask for one line for each value (or combination of values) of the columns.

        Args:    max_groups: groups in which one unit counts in full; 1 when omitted. "auto": chosen
                 privately, so that about 95 % of units are in no more; over and selection are fixed then.
                 over: what happens to a unit in more: it counts less in each ("weight"), or not at all in
                 some, by chance ("drop"). "drop" for max_groups=1 and "weight" above, when omitted.
                 keys: the groups to publish, all of them; found in the data when omitted.
                 selection: how groups are found: by a "threshold" on their noisy number of units; by chance
                 ("truncated-geometric", with over="drop"); in rounds, before anything else is measured
                 ("sips"). "auto" is "sips" for max_groups above 2.
                 max_keys: groups of one unit that are looked at at all.
                 share: the part of the budget that finds groups, if that is paid apart ("sips": of the
                 squared budget, 0.68 when omitted; "truncated-geometric": of epsilon).
                 other: publish one more row, without a key, for everything that was not found.
        Raises:  ParameterError: an argument is wrong, or contradicts another.
        """
        found = self._keys(columns)
        auto, stated = max_groups == AUTO, None if isinstance(max_groups, str) else max_groups
        if auto:
            selection, over = self._fixed(selection, over, keyed=keys is not None)
            stated = min(FALLBACK["max_groups"], whole(max_keys, "max_keys", at_least=1, at_most=MOST_GROUPS))
        elif isinstance(max_groups, str):
            raise ParameterError("max_groups", max_groups, "must be a whole number", "Or write 'auto'.")
        most, looked = self._limits(stated, max_keys)
        part = checked(selection, over, share, keyed=keys is not None, per_row=self.unit is None)
        dropped = most == 1 or selection == "truncated-geometric"
        return Groups(
            survey=self,
            columns=found,
            max_groups=most,
            max_groups_given=max_groups is not None,
            over=over or ("drop" if dropped else "weight"),
            max_keys=looked,
            keys=None if keys is None else declared_keys.declared(keys, found),
            selection=selection,
            share=part,
            other=_other(other, keyed=keys is not None),
            auto=auto,
        )

    def aggregate(self, /, **outputs: Aggregate) -> Query:
        """Ask for totals over all rows, without groups."""
        return Query(self, None, asked(outputs, self, ()))

    @property
    def assumed(self) -> tuple[str, ...]:
        """Whole sentences about what was taken to be public: of the source, and of joined tables."""
        tables = dict.fromkeys(step.assumed for step in self.steps if isinstance(step, Join) and step.added)
        return (*self.source.assumed, *tables)

    def rows(self, engine: Engine, columns: Sequence[str]) -> exp.Select:
        """Return a SELECT of exactly these columns of the prepared rows; the data are opened in `engine`.

        Steps are nested in their order. A derived or joined column that nothing needs is not computed, so
        what one row holds there cannot matter.
        """
        needed = {column.casefold() for column in columns}
        kept: list[Step | Join] = []
        for step in reversed(self.steps):
            if not step.keeps_every_row or step.adds & needed:
                needed -= step.adds
                needed |= {column.casefold() for column in step.needs}
                kept.append(step)
        tree = self.source.rows(
            engine, [c.name for c in self.source.schema.columns if c.name.casefold() in needed]
        )
        for step in reversed(kept):
            tree = step.over(tree, engine)
        return exp.select(*(exp.column(name, quoted=True) for name in columns)).from_(
            tree.subquery("prepared")
        )

    def _fixed(
        self, selection: Selection, over: str | None, *, keyed: bool
    ) -> tuple[Selection, Literal["weight"]]:
        """Return how groups are found and units cut down where max_groups is chosen: fixed beforehand."""
        if self.unit is None:
            raise ParameterError("max_groups", AUTO, "means nothing with unit=dn.ROW", "Leave it out.")
        if over == "drop" or selection not in ("auto", "sips"):
            fix = "Leave over and selection out, or state max_groups."
            raise ParameterError(
                "max_groups", AUTO, "goes with over='weight' and selection='sips' alone", fix
            )
        return "auto" if keyed else "sips", "weight"

    def _limits(self, max_groups: int | None, max_keys: int) -> tuple[int, int]:
        """Return in how many groups a unit counts in full, and how many of its groups are looked at."""
        most = whole(1 if max_groups is None else max_groups, "max_groups", at_least=1, at_most=MOST_GROUPS)
        looked = whole(max_keys, "max_keys", at_least=1, at_most=MOST_GROUPS)
        if self.unit is None:
            if most > 1:
                fix = "Leave it out: a row is in one group."
                raise ParameterError("max_groups", most, "must be 1 with unit=dn.ROW", fix)
            return 1, 1
        if most > looked:
            fix = f"Write max_keys={most} too, or lower max_groups."
            raise ParameterError("max_groups", most, f"must not be above max_keys ({looked})", fix)
        return most, looked

    def _keys(self, names: tuple[str, ...]) -> tuple[Column, ...]:
        found = tuple(self._key(name) for name in names)
        if not found:
            raise ParameterError("columns", (), "must be named", "Leave group_by out for totals.")
        if len({column.name for column in found}) < len(found):
            raise ParameterError("columns", names, "must differ", "Name each column once.")
        return found

    def _key(self, name: str) -> Column:
        column = self.schema.find(name, "group_by")
        if self.unit is not None and column.name == self.unit:
            fix = "Group by something that many units share."
            raise ParameterError("group_by", name, "is the unit: a group for each unit would name it", fix)
        if column.type is Type.OTHER:
            fix = "Derive text or a number from it."
            raise ParameterError("group_by", name, "has a type that cannot be grouped by", fix)
        return column

    def _offered(self, expression: Expression, argument: str) -> Expression:
        check_expression(self.source, expression, argument)
        return expression

    def _with(self, step: Step | Join) -> Survey:
        return replace(self, steps=(*self.steps, step))

    def __repr__(self) -> str:
        protected = "each row" if self.unit is None else f"each {self.unit}"
        steps = "".join(f"\n    {step}" for step in self.steps)
        return f"Survey of {self.label}, protecting {protected}; its rows are private{steps}"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(hint("Survey", name))


def protect(
    source: object,
    *,
    unit: str | Row,
    population: int | None = None,
    types: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    ledger: Ledger | None = None,
    name: str | None = None,
) -> Survey:
    """Return the table as a survey whose every release protects all rows of one unit together.

    Args:    source: a file, a glob, a data frame (pandas, Polars, Spark), an Arrow table, a DuckDB relation;
             or the names and types of columns, {"person": "text", "age": "integer"}, to plan without data.
             unit: the column that says whose a row is, or `dn.ROW` if each row stands for itself.
             population: how many units there may be at most, as you state it; never read from the data.
             types: columns to declare, {"age": "integer"}; CSV and JSON lines are text otherwise.
             delimiter: what separates CSV columns; a comma when omitted.
             ledger: where every release of this survey is paid for, before the data are read. The first one
             that is paid for binds it to the name of the data.
             name: what the data are called, in the ledger and in all that is published: "visits 2026". The
             file's own name, or "a PyArrow table", when omitted. Files about the same people share one.
    Raises:  ParameterError: an argument is wrong. SourceError: the source cannot be used.
             LedgerError: the ledger counts for another unit or other data.
    """
    people = None if population is None else whole(population, "population", at_least=1, at_most=1 << 40)
    _check_unit(unit)
    _check_name(name)
    resolved = resolve(source, types=types, delimiter=delimiter)
    if all(column.type is Type.OTHER for column in resolved.schema.columns):
        raise SourceError(
            f"{resolved.label} has no column of text, numbers or dates: nothing can be counted."
        )
    column = None if isinstance(unit, Row) else _unit(resolved.schema, unit)
    survey = Survey(resolved, resolved.schema, column, people, ledger=ledger, name=name)
    if ledger is not None:
        _check_ledger(ledger)
        if isinstance(source, Mapping):
            fix = "Leave it out: planning costs nothing."
            raise ParameterError("ledger", ledger.label, "pays for releases, and a schema has no data", fix)
        relation = Neighbours.ADD_OR_REMOVE.value
        ledger.check(data=survey.label, unit=column or "row", neighbours=relation)
    return survey


def _other(other: object, *, keyed: bool) -> bool:
    if not isinstance(other, bool):
        raise ParameterError("other", other, "must be true or false", "Write other=True.")
    if other and keyed:
        fix = "Derive a column that holds one key for all others, and declare that key too."
        raise ParameterError("other", other, "means nothing beside declared keys", fix)
    return other


def _check_unit(unit: object) -> None:
    if not isinstance(unit, str | Row):
        fix = "Name the column that says whose a row is, or write unit=dn.ROW if each row stands for itself."
        raise ParameterError("unit", unit, "must be a column or dn.ROW", fix)


def _check_name(name: object) -> None:
    if name is None:
        return
    if not isinstance(name, str) or not 1 <= len(name) <= MOST_NAME or not name.isprintable():
        fix = f"Give 1 to {MOST_NAME} characters on one line, for example name='visits 2026'."
        raise ParameterError("name", name, "must be text", fix)


def _check_ledger(ledger: object) -> None:
    if not isinstance(ledger, Ledger):
        fix = "Give dn.Ledger.open('survey.ledger'), or leave it out."
        raise ParameterError("ledger", ledger, "must be a ledger", fix)


def _unit(schema: Schema, name: str) -> str:
    column = schema.find(name, "unit")
    if column.type is Type.OTHER:
        fix = "Name a column of text, numbers or dates."
        raise ParameterError("unit", name, "has a type that cannot tell units apart", fix)
    if column.name.casefold() == Row.ROW.value:
        fix = "Rename the column; or write unit=dn.ROW if each row stands for itself."
        raise ParameterError("unit", name, "would be taken for the rows themselves", fix)
    return column.name


def _check_new(name: str) -> None:
    if not name or "\0" in name or len(name) > 200:
        raise ParameterError("derive", name, "must be a name", "Give 1 to 200 characters.")
