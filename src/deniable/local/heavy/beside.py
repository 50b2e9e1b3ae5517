"""The open survey twice, from one file: when nobody is trusted, and with a curator who holds the answers.

1. Everything that can be refused is refused first: the protocol and the curator's plan are made from public
   facts.
2. The curator's release counts each person once, in one of their answers (max_groups=1); no answer and an
   empty one are one group, as on the other side, with one noise.
3. For the other side every person's device is played: one of their answers, drawn at random (`_reports`),
   is told by `HeavyHitters`. Only the reports leave that function. An empty answer counts as the empty
   text.

What it costs. Both sides read one file: it has spent the sum. How many people reported is public where
nobody is trusted, as their reports are; a curator alone would not have told it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from deniable.bits import Bits, SystemBits
from deniable.engines.unseen import unseen
from deniable.errors import ParameterError
from deniable.exact import Number
from deniable.local.heavy.protocol import HeavyHitters, Hitters
from deniable.local.reports import Reports
from deniable.query.aggregates import units
from deniable.query.schema import Type
from deniable.query.survey import Survey, protect

if TYPE_CHECKING:
    from deniable.engines.duckdb import DuckDB
    from deniable.query.release import Release


@dataclass(frozen=True, slots=True)
class Line:
    """One answer: people and interval on either side; None where that side did not find it."""

    answer: str
    alone: tuple[float, float, float] | None
    trusted: tuple[float, float, float] | None


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """Both sides of one survey."""

    column: str
    protocol: HeavyHitters
    found: Hitters
    release: Release

    @property
    def lines(self) -> list[Line]:
        """Every answer that either side found, the most frequent first."""
        table = self.release.table
        curator = {
            answer: (float(people), float(low), float(high))
            for answer, people, low, high in zip(
                *(table.column(place).to_pylist() for place in range(4)), strict=True
            )
        }
        n = self.found.n
        sides = (np.asarray(side) * n for side in (self.found.value, self.found.low, self.found.high))
        alone = dict(zip(self.found.items, zip(*(side.tolist() for side in sides), strict=True), strict=True))
        found = [Line(answer, alone.get(answer), curator.get(answer)) for answer in curator | alone]
        return sorted(found, key=lambda line: -(line.trusted or line.alone or (0.0,))[0])

    @property
    def times(self) -> tuple[str, float, float] | None:
        """The first answer that both found, and half the width of its interval: alone, trusted."""
        for line in self.lines:
            if line.alone and line.trusted:
                half = [(side[2] - side[1]) / 2 for side in (line.alone, line.trusted)]
                return line.answer, half[0], half[1]
        return None


def beside(
    data: object,
    *,
    unit: str,
    column: str,
    epsilon: Number,
    delta: Number,
    types: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    population: int | None = None,
    confidence: Number = "0.95",
    bits: Bits | None = None,
) -> Beside:
    """Return the survey of a column of text, with and without trust, at the same epsilon.

    Args:    delta: the curator's alone; without trust it is 0.
    Raises:  ParameterError, SourceError: an argument or the file cannot be used. EngineError: the engine
             failed; why is private.
    """
    from deniable.engines.duckdb import DuckDB

    protocol = HeavyHitters(epsilon=epsilon)
    survey = protect(data, unit=unit, types=types, delimiter=delimiter, population=population)
    known = survey.schema.find(column, "column")
    if known.type is not Type.TEXT:
        raise ParameterError("column", column, "is no text", "Name a column of answers in words.")
    quoted = known.name.replace('"', '""')
    name = _free(survey)
    told = f"coalesce(lower(trim(\"{quoted}\")), '')"
    asked = survey.derive(**{name: told}).group_by(name).aggregate(people=units())
    plan = asked.plan(epsilon=epsilon, delta=delta, confidence=confidence)
    source = SystemBits() if bits is None else bits
    release = plan.release(purpose="the survey with a trusted curator", bits=source)
    with DuckDB() as engine:
        reports = unseen(partial(_reports, survey, known.name, protocol, engine, source))
        survey.source.check_unchanged()
    return Beside(known.name, protocol, protocol.estimate(reports, confidence), release)


def _free(survey: Survey) -> str:
    """Return a name for the answers that no column has."""
    taken = {column.name.casefold() for column in survey.schema.columns} | {"people"}
    return next(name for name in ("answer", *(f"answer {i}" for i in range(1, 10**6))) if name not in taken)


def _reports(survey: Survey, column: str, protocol: HeavyHitters, engine: DuckDB, bits: Bits) -> Reports:
    """Return one report of each person, about one of their answers."""
    assert survey.unit is not None
    table = engine.stream(survey.rows(engine, [survey.unit, column])).read_all().combine_chunks()
    places = {name.casefold(): place for place, name in enumerate(table.column_names)}
    owners = table.column(places[survey.unit.casefold()]).combine_chunks().dictionary_encode()
    numbers = owners.indices.to_numpy(zero_copy_only=False)
    known = np.flatnonzero(~np.isnan(numbers.astype(np.float64)))
    order = known[np.lexsort((bits.uint64(len(known)), numbers[known]))]
    first = order[np.flatnonzero(np.diff(numbers[order].astype(np.int64), prepend=-1))]
    answers = table.column(places[column.casefold()]).take(first).to_pylist()
    return protocol.randomize([answer or "" for answer in answers], bits=bits)
