"""A question about a survey, complete but unpriced: groups, and what is asked of each.

query = survey.group_by("colour", max_groups=3).aggregate(people=dn.units())
plan = query.plan(epsilon=1, delta="1e-8")          # reads no data
release = query.release(epsilon=1, delta="1e-8")    # exactly plan(...).release()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NoReturn

from deniable.bits import Bits
from deniable.errors import ParameterError
from deniable.exact import Number, text
from deniable.query.aggregates import Aggregate
from deniable.query.choosing import Selection
from deniable.query.hints import hint
from deniable.query.plan import Plan, make
from deniable.query.release import Release
from deniable.query.schema import Column, Type

if TYPE_CHECKING:
    import pyarrow as pa

    from deniable.query.survey import Survey

_NUMBERS = (Type.INTEGER, Type.REAL, Type.DECIMAL, Type.TEXT, Type.BOOLEAN)
_COUNTABLE = tuple(kind for kind in Type if kind is not Type.OTHER)
_TAKEN = ("_low", "_high")


@dataclass(frozen=True, slots=True, repr=False)
class Groups:
    """A survey cut into groups; `aggregate` says what to publish of each.

    keys: the declared groups, one row each, in order; None if groups are found in the data.
    selection: how they are found. share: the part of the budget for that; None: as the way has it.
    other: everything that is not found is published too, as one row without a key.
    auto: max_groups is chosen privately (`automatic`); till then it is the public number that serves if
    nothing is found.
    parts: public parts of the table, named by the first key columns, one row each. What is one for the whole
    table, the row of everything else and what is chosen, is then one for each part. Each unit is in one part
    only, and audits alone ask for it: many small tables in one (`audit.copies`).
    """

    survey: Survey
    columns: tuple[Column, ...]
    max_groups: int
    max_groups_given: bool
    over: Literal["weight", "drop"]
    max_keys: int
    keys: pa.Table | None
    selection: Selection = "auto"
    share: Fraction | None = None
    other: bool = False
    auto: bool = False
    parts: pa.Table | None = None

    def aggregate(self, /, **outputs: Aggregate) -> Query:
        """Ask these things of each group: `aggregate(people=dn.units(), spend=dn.sum(...))`."""
        return Query(self.survey, self, asked(outputs, self.survey, self.columns))

    def __repr__(self) -> str:
        return f"{self.survey!r}\n    group by {', '.join(column.name for column in self.columns)}"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(hint("Groups", name))


@dataclass(frozen=True, slots=True, repr=False)
class Query:
    """What to publish of each group (or in total); `plan` prices it, `release` publishes it."""

    survey: Survey
    groups: Groups | None
    outputs: tuple[tuple[str, Aggregate], ...]

    def plan(
        self,
        *,
        epsilon: Number,
        delta: Number = 0,
        confidence: Number = 0.95,
        noise: Literal["auto", "laplace", "gaussian"] = "auto",
        coverage: bool = True,
        allow_large_delta: bool = False,
    ) -> Plan:
        """Price the query from public facts alone; nothing is read.

        Args:    epsilon, delta: what the whole release may cost. confidence: of the intervals.
                 noise: "auto" takes the kind with the smaller expected error.
                 coverage: buy (for 2 % of the budget) how much of the data the bounds let count.
                 allow_large_delta: accept a delta of 1/population or more.
        Raises:  ParameterError: an argument is wrong, or the query needs a delta.
        """
        return make(
            self,
            epsilon=epsilon,
            delta=delta,
            confidence=confidence,
            noise=noise,
            coverage=coverage,
            allow_large_delta=allow_large_delta,
        )

    def release(
        self,
        *,
        epsilon: Number,
        delta: Number = 0,
        confidence: Number = 0.95,
        noise: Literal["auto", "laplace", "gaussian"] = "auto",
        coverage: bool = True,
        allow_large_delta: bool = False,
        purpose: str | None = None,
        bits: Bits | None = None,
        memory_limit: str | None = None,
        threads: int | None = None,
    ) -> Release:
        """Plan and release at once: exactly `plan(...).release(...)`."""
        plan = self.plan(
            epsilon=epsilon,
            delta=delta,
            confidence=confidence,
            noise=noise,
            coverage=coverage,
            allow_large_delta=allow_large_delta,
        )
        return plan.release(purpose=purpose, bits=bits, memory_limit=memory_limit, threads=threads)

    def __repr__(self) -> str:
        of = self.survey if self.groups is None else self.groups
        return f"{of!r}\n    " + "\n    ".join(f"{name} = {aggregate}" for name, aggregate in self.outputs)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(hint("Query", name))


def asked(
    outputs: Mapping[str, Aggregate], survey: Survey, keys: tuple[Column, ...]
) -> tuple[tuple[str, Aggregate], ...]:
    """Return the outputs with column names as the schema spells them; refuse what cannot be answered."""
    if not outputs:
        raise ParameterError(
            "aggregate", "nothing", "must ask something", "Write aggregate(people=dn.units())."
        )
    _check_names([column.name for column in keys], list(outputs))
    checked = [(name, _checked(name, aggregate, survey)) for name, aggregate in outputs.items()]
    _check_shares([aggregate for _, aggregate in checked])
    found = tuple(column for name, aggregate in checked for column in aggregate.columns(name))
    _check_names([column.name for column in keys], [name for name, _ in found])
    return found


def _check_shares(aggregates: Sequence[Aggregate]) -> None:
    stated = [aggregate.share for aggregate in aggregates if aggregate.share is not None]
    total = sum(stated, start=Fraction(0))
    if not total < 1:
        fix = "Let them add up to less than 1; what is left goes to columns without a share, or to all alike."
        raise ParameterError("share", text(total), "of all columns is too much", fix)


def _check_names(keys: list[str], outputs: list[str]) -> None:
    """Refuse two published columns of one name; each output also takes `<name>_low` and `<name>_high`."""
    taken = {key.casefold(): f"the key column '{key}'" for key in keys}
    for name in outputs:
        if not name or "\0" in name or len(name) > 200:
            raise ParameterError("aggregate", name, "must be a name", "Give 1 to 200 characters.")
        for column in (name, *(name + ending for ending in _TAKEN)):
            if other := taken.get(column.casefold()):
                fix = "Rename one: each output also has <name>_low and <name>_high; case does not matter."
                raise ParameterError("aggregate", name, f"would publish '{column}' beside {other}", fix)
            taken[column.casefold()] = f"the output '{name}'"


def _checked(name: str, aggregate: object, survey: Survey) -> Aggregate:
    if not isinstance(aggregate, Aggregate):
        fix = "Write for example dn.units() or dn.sum('spend', bounds=(0, 100), max_rows=2)."
        raise ParameterError(name, aggregate, "must be an aggregate", fix)
    _check_rows(name, aggregate, survey)
    if aggregate.column is None:
        return aggregate
    column = survey.schema.find(aggregate.column, name)
    usable = _COUNTABLE if aggregate.kind in ("units", "count", "distinct") else _NUMBERS
    if column.type not in usable:
        fix = "Derive a number from it, or name another column."
        raise ParameterError(name, column.name, f"is a column of type {column.type.value}", fix)
    return replace(aggregate, column=column.name)


def _check_rows(name: str, aggregate: Aggregate, survey: Survey) -> None:
    if aggregate.kind == "units":
        return
    of_values = aggregate.kind == "distinct"
    argument, counted = ("max_values", "values") if of_values else ("max_rows", "rows")
    most = aggregate.max_values if of_values else aggregate.max_rows
    if survey.unit is None and most is not None:
        fix = "Leave it out: with unit=dn.ROW each row is its own unit."
        raise ParameterError(argument, most, f"of '{name}' has no meaning per row", fix)
    if survey.unit is not None and most is None:
        fix = f"Say how many {counted} of one {survey.unit} may count in one group, for example {argument}=2."
        raise ParameterError(argument, None, f"of '{name}' is missing", fix)
