"""Carry a plan out: open the engine, count, add noise, keep what passes the threshold, and publish.

What holds here, and where.
1. Everything that can be refused was refused when the plan was made; `carried_out` checks its own arguments.
   Then the ledger is charged (`payment.paid`), durably, and only then are data read (`_read`).
2. Every entry of every published column gets its own draw of its own noise (`_add_noise`, `_selected`):
   declared groups that nobody is in have entries too, of 0. Two outputs that share a measure share its
   noisy column, and so cost once.
3. A found group is published if and only if its noisy number of units is at least the threshold
   (`_selected`), in the same integers that the plan decided on; or if chance shows it (`_by_chance`); or if
   one of the rounds showed it (`_searched`), each of which draws noise for every group left. The noise of its
   other columns is drawn only if it is published: their noise is independent, so what is not published need
   not be drawn.
4. The order of rows is that of the declared keys, or of the published numbers and keys (`_published`): the
   order in which the engine gave them is forgotten.
   Bounds that are chosen privately are chosen first (`chosen`); the source is read once more for that.
5. Everything else (`_rest`), if it was asked for, is measured last, once the groups that are shown are known,
   and published as the last row, whose keys are missing: always, and with noise of its own (`rest`).
6. An error or Ctrl-C in `_read` leaves without a frame that holds private numbers (`unseen`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits, SystemBits
from deniable.engines.unseen import unseen
from deniable.errors import ParameterError
from deniable.query.fingerprint import fingerprint
from deniable.query.measures import Units
from deniable.query.opening import opened
from deniable.query.outputs import columns
from deniable.query.payment import paid
from deniable.query.pricing import Sampler, sampler
from deniable.query.release import Release
from deniable.query.schema import Type
from deniable.query.sealed import Sealed
from deniable.query.trees import Reading
from deniable.selection.geometric import TruncatedGeometric
from deniable.selection.sips import Round, Rounds
from deniable.selection.thresholds import Threshold

if TYPE_CHECKING:
    import pyarrow as pa

    from deniable.engines.engine import Engine
    from deniable.query.automatic import Choice
    from deniable.query.bounding import Bounding
    from deniable.query.plan import Plan

Integers = NDArray[np.int64]
MOST_PURPOSE = 1000


@dataclass(frozen=True, slots=True)
class _Noisy:
    """Groups that may be published, and for each measure one array of their noisy integers."""

    keys: pa.Table
    numbers: list[Integers]


def carried_out(
    plan: Plan,
    *,
    purpose: str | None,
    bits: Bits | None,
    memory_limit: str | None,
    threads: int | None,
) -> Release:
    """Return the release of the plan: the data are read once, after everything that can be checked was.

    Raises:  ParameterError: an argument is wrong. BudgetError: the ledger has less left. EngineError: the
             engine failed; why is private. SourceError: a file changed meanwhile (nothing is paid if it had
             changed before), or there are no data. NoiseError: a draw left 64 bits (less than once in e**63).
    """
    _check_purpose(purpose)
    _check_bits(bits)
    _check_data(plan)
    source = SystemBits() if bits is None else bits
    engine = opened(plan.query.survey.source, memory_limit=memory_limit, threads=threads)
    with engine as opened_engine, paid(plan, purpose) as payment:
        plan, table, histogram = unseen(partial(_read, plan, opened_engine, source))
        plan.query.survey.source.check_unchanged()
        if payment.facts is not None:
            payment.published = fingerprint(table, histogram, plan.choices)
    return Release(
        plan=plan,
        table=table,
        histogram=histogram,
        purpose=purpose,
        when=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        secure=isinstance(source, SystemBits),
        ledger=payment.facts,
    )


def _read(plan: Plan, engine: Engine, bits: Bits) -> tuple[Plan, pa.Table, tuple[int, ...] | None]:
    """Return the plan with what was chosen, the published table and the noisy histogram of groups."""
    if plan.choices:
        [choices] = chosen(plan, engine, bits)
        plan = plan.settled(choices)
    rounds = plan.price.found
    counted = _searched if isinstance(rounds, Rounds) else _collected
    sealed, question, table = counted(plan, engine, bits)
    noisy = _noisy(plan, sealed, bits)
    published = _published(plan, noisy)
    if plan.price.rest:
        published = _with_rest(plan, published, _rest(plan, engine, question, noisy.keys, table, bits))
    return plan, published, _histogram(plan, sealed, bits)


def chosen(plan: Plan, engine: Engine, bits: Bits) -> list[tuple[Choice, ...]]:
    """Return for each part of the table what is chosen, each from its noisy histogram: every class has noise
    of its own. Without `Groups.parts` there is one part.
    """
    from deniable.query.tallies import tallies

    survey, groups = plan.query.survey, plan.query.groups
    parts = _parts(plan)
    places = {part: place for place, part in enumerate(parts)}
    names = len(parts[0])
    found = []
    sealed = tallies(
        engine,
        survey.rows(engine, _needed(plan)),
        plan.choices,
        unit=survey.unit,
        groups=_names(plan),
        keys=None if groups is None else groups.keys,
        bits=bits,
        parts=names,
    )
    for choice, exact in zip(plan.choices, sealed, strict=True):
        counts = np.zeros((len(parts), choice.size), np.int64)
        for batch in exact.batches():
            *of, classes, numbers = batch.columns
            where = [places[part] for part in _tuples(of, batch.num_rows)]
            counts[where, classes.to_numpy()] = numbers.to_numpy()
        noise = sampler(choice.event)
        noisy = counts + noise.sample(counts.size, bits=bits).reshape(counts.shape)
        width = noise.quantile(choice.width_confidence)
        found.append([choice.settled(one, width) for one in noisy])
    return list(zip(*found, strict=True))


def _parts(plan: Plan) -> list[tuple[object, ...]]:
    """Return the name of each public part of the table; one without a name if there are none."""
    groups = plan.query.groups
    parts = None if groups is None else groups.parts
    return [()] if parts is None else list(_tuples(parts.columns, parts.num_rows))


def _tuples(columns: Sequence[Any], rows: int) -> Iterable[tuple[object, ...]]:
    return zip(*(column.to_pylist() for column in columns), strict=True) if columns else [()] * rows


_Counted = tuple[Sealed, "Bounding", str]
"""The sealed integers, the question that they answer, and the table that holds all rows for the rest."""


def _asked(plan: Plan, engine: Engine, bits: Bits) -> Bounding:
    """Return the question of the plan; if chance chooses among groups, their whole units come first."""
    from deniable.query.collect import asked

    survey, groups = plan.query.survey, plan.query.groups
    counted = [Units()] if isinstance(plan.price.found, TruncatedGeometric) else []
    question = asked(
        engine,
        survey.rows(engine, _needed(plan)),
        unit=survey.unit,
        groups=_names(plan),
        keyed=groups is not None and groups.keys is not None,
        measures=[*counted, *(noisy.measure for noisy in plan.price.measured)],
        contributions=plan.price.contributions,
        bits=bits,
        rest=bool(plan.price.rest),
    )
    parts = None if groups is None else groups.parts
    return question if parts is None else replace(question, apart=parts.num_columns)


def _collected(plan: Plan, engine: Engine, bits: Bits) -> _Counted:
    """Return the integers of every group."""
    from deniable.query.by_value import ROWS
    from deniable.query.collect import answered

    question, groups = _asked(plan, engine, bits), plan.query.groups
    return answered(engine, question, None if groups is None else groups.keys, plan.classes), question, ROWS


def _searched(plan: Plan, engine: Engine, bits: Bits) -> _Counted:
    """Return the integers of the groups that were found, round after round."""
    from deniable.query.rounds import Search

    assert isinstance(plan.price.found, Rounds)
    question = _asked(plan, engine, bits)
    search = Search(engine, question)
    for one in plan.price.found.rounds:
        search.show(_shown(search.counts(one.weights), one, bits))
    return search.measured(plan.classes), question, search.table


def _rest(
    plan: Plan, engine: Engine, question: Bounding, shown: pa.Table, table: str, bits: Bits
) -> list[Integers]:
    """Return the noisy integers of everything whose group is not shown: for each measure an entry, or one
    for each part.
    """
    import pyarrow as pa

    from deniable.query.rest import everything_else

    alone, groups = plan.of_rest, plan.query.groups
    parts = None if groups is None else groups.parts
    samplers = [sampler(noisy.event) for noisy in alone.price.measured]
    sealed = everything_else(engine, question, shown, table, parts)
    [batch] = pa.Table.from_batches(list(sealed.batches()), sealed.schema).combine_chunks().to_batches()
    counts = [batch.column(place) for place in range(batch.num_columns - len(samplers), batch.num_columns)]
    return _add_noise(counts, samplers, bits, alone.readings)


def _with_rest(plan: Plan, table: pa.Table, rest: Sequence[Integers]) -> pa.Table:
    """Return the table with one row more, the last, whose keys are missing; or one for each part."""
    import pyarrow as pa

    groups = plan.query.groups
    parts = None if groups is None else groups.parts
    alone = {name: pa.array(values) for name, values in columns(plan.of_rest, rest)}
    alone |= {} if parts is None else dict(zip(parts.column_names, parts.columns, strict=True))
    arrays = [
        alone[field.name] if field.name in alone else pa.nulls(len(rest[0]), field.type)
        for field in table.schema
    ]
    return pa.concat_tables([table, pa.table(arrays, schema=table.schema)])


def _shown(sealed: Sealed, one: Round, bits: Bits) -> Integers:
    """Return the numbers of the groups that a round shows; each group gets noise of its own."""
    places = [np.empty(0, np.int64)]
    for batch in sealed.batches():
        numbers, (counts,) = _halves(batch, 1)
        places.append(numbers.column(0).to_numpy()[one.keep(counts.to_numpy(), bits=bits)])
    return np.concatenate(places)


def _names(plan: Plan) -> tuple[str, ...]:
    groups = plan.query.groups
    return () if groups is None else tuple(column.name for column in groups.columns)


def _check_data(plan: Plan) -> None:
    """Refuse before anything is paid: data that are not here, or a file that has changed already."""
    plan.query.survey.source.check_unchanged()


def _check_purpose(purpose: object) -> None:
    if purpose is not None and not (isinstance(purpose, str) and len(purpose) <= MOST_PURPOSE):
        fix = f"Give a sentence of at most {MOST_PURPOSE:,} characters."
        raise ParameterError("purpose", purpose, "must be text", fix)
    if purpose is not None and any("\ud800" <= sign <= "\udfff" for sign in purpose):
        raise ParameterError("purpose", purpose, "holds half a character", "Write it as Unicode text.")


def _check_bits(bits: object) -> None:
    if bits is not None and not all(hasattr(bits, name) for name in ("fill", "uint16", "uint64", "integer")):
        raise ParameterError(
            "bits", bits, "must be a source of bits", "Leave it out, or give dn.SystemBits()."
        )


def _needed(plan: Plan) -> list[str]:
    """Return the columns to read, each once; at least one, as SQL wants one."""
    survey, groups = plan.query.survey, plan.query.groups
    names = [] if survey.unit is None else [survey.unit]
    names += [] if groups is None else [column.name for column in groups.columns]
    names += [aggregate.column for _, aggregate in plan.query.outputs if aggregate.column is not None]
    usable = [column.name for column in survey.schema.columns if column.type is not Type.OTHER]
    return list(dict.fromkeys(names)) or usable[:1]


def _noisy(plan: Plan, sealed: Sealed, bits: Bits) -> _Noisy:
    """Return the groups to publish with noise on every number, batch by batch."""
    samplers = [sampler(noisy.event) for noisy in plan.price.measured]
    readings = plan.readings
    measures = len(samplers) + isinstance(plan.price.found, TruncatedGeometric)
    kept: list[pa.RecordBatch] = []
    numbers: list[list[Integers]] = [[] for _ in samplers]
    for batch in sealed.batches():
        keys, counts = _halves(batch, measures)
        match plan.price.found:
            case None | Rounds():
                found = _add_noise(counts, samplers, bits, readings)
            case Threshold() as threshold:
                keys, found = _selected(keys, counts, samplers, threshold.least, bits, readings)
            case TruncatedGeometric() as rule:
                keys, found = _by_chance(keys, counts, samplers, rule, plan, bits)
            case other:
                assert_never(other)
        kept.append(keys)
        for column, values in zip(numbers, found, strict=True):
            column.append(values)
    return _Noisy(
        _joined(kept, sealed, measures),
        [_stacked(column, readings.get(place)) for place, column in enumerate(numbers)],
    )


def _stacked(parts: Sequence[Integers], reading: Reading | None) -> Integers:
    empty = np.empty(0, np.int64) if reading is None else np.empty((0, reading.width), np.int64)
    return np.concatenate([empty, *parts])


def _add_noise(
    counts: Sequence[Any],
    samplers: Sequence[Sampler],
    bits: Bits,
    readings: Mapping[int, Reading],
    first: int = 0,
) -> list[Integers]:
    """Return noisy numbers, and what is read from noisy trees. first: the place of the first measure."""
    return [
        readings[place].of(count, noise, bits)
        if place in readings
        else count.to_numpy() + noise.sample(len(count), bits=bits)
        for place, (count, noise) in enumerate(zip(counts, samplers, strict=True), start=first)
    ]


def _selected(
    keys: Any,
    counts: Sequence[Any],
    samplers: Sequence[Sampler],
    least: int,
    bits: Bits,
    readings: Mapping[int, Reading],
) -> tuple[Any, list[Integers]]:
    """Keep the groups whose noisy number of units, the first measure, is at least `least`."""
    units = counts[0].to_numpy() + samplers[0].sample(len(counts[0]), bits=bits)
    places = np.flatnonzero(units >= least)
    others = [count.take(places) for count in counts[1:]]
    return keys.take(places), [units[places], *_add_noise(others, samplers[1:], bits, readings, 1)]


def _by_chance(
    keys: Any,
    counts: Sequence[Any],
    samplers: Sequence[Sampler],
    rule: TruncatedGeometric,
    plan: Plan,
    bits: Bits,
) -> tuple[Any, list[Integers]]:
    """Keep the groups that the rule shows for their units, the first column, in steps of 1/one of a unit."""
    units = counts[0].to_numpy() // plan.price.contributions.one
    places = np.flatnonzero(rule.keep(units, bits=bits))
    others = [count.take(places) for count in counts[1:]]
    return keys.take(places), _add_noise(others, samplers, bits, plan.readings)


def _halves(batch: pa.RecordBatch, measures: int) -> tuple[pa.RecordBatch, list[pa.Array]]:
    """Return the key columns of a batch, and its measure columns: integers, or lists of leaves."""
    keys = batch.num_columns - measures
    counts = [batch.column(place) for place in range(keys, batch.num_columns)]
    return batch.select(list(range(keys))), counts


def _joined(kept: Sequence[pa.RecordBatch], sealed: Sealed, measures: int) -> pa.Table:
    """Return the keys as one table, typed as the engine types them even if there are none."""
    import pyarrow as pa

    schema = pa.schema(list(sealed.schema)[: len(sealed.schema) - measures])
    return pa.Table.from_batches(list(kept), schema=schema)


def _published(plan: Plan, noisy: _Noisy) -> pa.Table:
    """Return the table as it is published: keys under their names, then every output with its interval."""
    import pyarrow as pa

    names = list(_names(plan))
    arrays = list(noisy.keys.columns)
    for name, values in columns(plan, noisy.numbers):
        names.append(name)
        arrays.append(pa.array(values))
    table = pa.table(arrays, names=names)
    if plan.price.found is None:
        return table
    order = [(plan.outputs[0].name, "descending")]
    order += [(name, "ascending") for name in names[: noisy.keys.num_columns]]
    return table.sort_by(order)


def _histogram(plan: Plan, sealed: Sealed, bits: Bits) -> tuple[int, ...] | None:
    """Return the noisy number of units in each class, in steps of 1/one."""
    if plan.price.coverage is None:
        return None
    counts = np.array(sealed.coverage, np.int64) * plan.price.contributions.one
    noise = sampler(plan.price.coverage).sample(len(counts), bits=bits)
    return tuple(int(count) for count in counts + noise)
