"""The ledger: a budget that is fixed when it is created, and everything that was ever spent from it.

    ledger = Ledger.create("survey.ledger", epsilon=3, delta="1e-7", unit="person")
    reservation = ledger.reserve([PureDP(epsilon=1)], purpose="weekly report")    # before the data is read
    ...                                                                           # read, add noise, publish
    ledger.commit(reservation)

Guarantee: what is reserved never exceeds the budget, whatever the number of processes and wherever one of
them is killed; and nothing can be published before its reservation is on the disk.

Proof. A reservation is one appended entry. `storage.writing` lets one writer in at a time; `reserve` reads
the last entry there, `check_fits` refuses a total above the limit, and the entry is durable before
`reserve` returns. What was reserved stays spent: `commit` and `abandon` add entries that only say how it
ended. If the process dies before the commit, the reservation simply stays open, and spent. Why the sums
protect people whose queries are chosen adaptively is proved in `filters`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from deniable.errors import LedgerError
from deniable.events import Event
from deniable.exact import Number
from deniable.guarantees import Neighbours, neighbours
from deniable.ledger import asked, chain, history
from deniable.ledger.chain import BEGINNING, FORMAT, Entry, Row
from deniable.ledger.filters import Rule, Spending, check_fits, nothing
from deniable.ledger.prices import Tariff
from deniable.ledger.terms import Terms, agree, read_terms, short_text, unit_name

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy import Connection

    from deniable.ledger.storage import Storage

LONGEST_TEXT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Money that is spent: one entry of a ledger.

    number: of its entry. head: of the ledger right after it, for `release.json`. label: the ledger's name.
    charge: what it took. remaining: what it left.
    """

    number: int
    head: str
    label: str
    charge: Spending
    remaining: Spending
    purpose: str | None


class Ledger:
    """A budget of (epsilon, delta) for one unit of privacy and one data set; see the module.

    An object holds no state that could go stale: every question is answered from the stored entries.
    """

    def __init__(self, storage: Storage, terms: Terms) -> None:
        """Not for callers: use `Ledger.create` or `Ledger.open`."""
        self._storage = storage
        self._terms = terms
        self._tariff = Tariff(
            rule=terms.rule, neighbours=terms.neighbours, epsilon=terms.epsilon, delta=terms.delta
        )

    @classmethod
    def create(
        cls,
        path_or_url: str | os.PathLike[str],
        *,
        epsilon: Number,
        delta: Number = 0,
        unit: str | Enum,
        rule: str = "basic",
        data: str | None = None,
        neighbours: str = "add or remove",
        patience: float = 30,
    ) -> Ledger:
        """Make a new ledger and return it; an existing one is never overwritten.

        Args:    epsilon, delta: the whole budget. unit: who is protected: the unit column, or dn.ROW.
                 rule: what is summed, "basic", "concentrated" or "gaussian" (see `filters`); never changed.
                 data: the label of the data set; if None, the first use decides.
                 neighbours: "add or remove" or "replace one". patience: seconds to wait for other writers.
        Raises:  ParameterError: a budget of 0 or less, a delta outside [0, 1), an unknown rule.
                 LedgerError: it exists, or cannot be written.
        """
        terms = agree(epsilon, delta, unit, rule, neighbours)
        first = Entry(
            number=0,
            kind="create",
            time=_now(),
            previous=BEGINNING,
            spent=nothing(terms.rule),
            charge=nothing(terms.rule),
            data=None if data is None else short_text(data, "data"),
            terms=terms.written(),
        )
        storage = _locate(path_or_url, patience)
        storage.create(first.row)
        return cls(storage, terms)

    @classmethod
    def open(cls, path_or_url: str | os.PathLike[str], *, patience: float = 30) -> Ledger:
        """Return the ledger that is there. Its first entry is checked; `verify` checks all.

        Raises:  LedgerError: it is not there, not a ledger, damaged, or of a version this program does
                 not know. ParameterError: patience is no number of seconds.
        """
        from deniable.ledger import tables

        storage = _locate(path_or_url, patience)
        with storage.reading() as connection:
            formats, first = tables.formats(connection), tables.at(connection, 0)
        if formats != [FORMAT]:
            fix = "Use the version of deniable that wrote it, or a newer one."
            raise LedgerError(f"'{storage.label}' has the format {formats}, not {FORMAT}. {fix}")
        entry = _checked(first, storage.label)
        if entry.terms is None:
            raise LedgerError(f"'{storage.label}' is damaged: entry 0 holds no budget.")
        return cls(storage, read_terms(entry.terms, entry.spent.rule, storage.label))

    @property
    def label(self) -> str:
        """The file name or URL, without a password."""
        return self._storage.label

    @property
    def epsilon(self) -> Fraction:
        """The whole budget's epsilon."""
        return self._terms.epsilon

    @property
    def delta(self) -> Fraction:
        """The whole budget's delta."""
        return self._terms.delta

    @property
    def unit(self) -> str:
        """Who is protected."""
        return self._terms.unit

    @property
    def rule(self) -> Rule:
        """What is summed."""
        return self._terms.rule

    @property
    def neighbours(self) -> Neighbours:
        """Which two tables must look alike."""
        return self._terms.neighbours

    @property
    def limit(self) -> Spending:
        """What the sums may reach: (epsilon, delta) under the basic rule; see `filters` for the others."""
        return self._terms.limit

    @property
    def data(self) -> str | None:
        """The data set that it is bound to; None before the first use."""
        return self._last().data

    @property
    def spent(self) -> Spending:
        """Everything that was ever reserved: committed, abandoned or neither."""
        return self._last().spent

    @property
    def remaining(self) -> Spending:
        """The limit minus what is spent, exactly."""
        return self.limit.minus(self.spent)

    @property
    def head(self) -> str:
        """The last entry as "number:hash": publish it, and nobody can take the entry back unseen."""
        return self._last().head

    def __repr__(self) -> str:
        return f"<Ledger {self.label!r}: {self.remaining} of {self.limit} left>"

    def bind(self, *, data: str | None, unit: str | Enum, neighbours: str) -> None:
        """Check that this ledger counts for this data; the first data set that is named is bound for good.

        Raises:  LedgerError: another data set, unit or neighbour relation than the ledger's.
        """
        self.check(data=data, unit=unit, neighbours=neighbours)
        if data is None or self.data is not None:
            return
        with self._storage.writing() as connection:
            self._bound(connection, self._last_of(connection), data)

    def check(self, *, data: str | None, unit: str | Enum, neighbours: str) -> None:
        """Check that this ledger counts for this data, or is bound to none yet; it stays as it is.

        Raises:  LedgerError: another data set, unit or neighbour relation than the ledger's.
        """
        self._check_terms(unit_name(unit), neighbours)
        if data is not None:
            self._same_data(self._last(), short_text(data, "data"))

    def reserve(
        self,
        events: Iterable[Event],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        purpose: str | None = None,
        source: str | None = None,
        data: str | None = None,
    ) -> Reservation:
        """Spend what the events cost, durably, before anything private is read.

        A ledger that is bound to no data yet is bound to `data` in the same transaction: what is refused
        binds nothing, and of two processes with different data exactly one binds it.

        Args:    events: what is going to be done.
                 epsilon, delta: their price under the basic rule, checked against their account; may be
                 omitted if the events have an epsilon of their own, and under the other rules, which price
                 each event by themselves. purpose, source: for people, up to 1,000 characters; public.
                 data: the label of the data set that is going to be read.
        Raises:  BudgetError: it does not fit; nothing was spent. LedgerError: it could not be written, or
                 the ledger belongs to other data.
                 ParameterError: a price below what the events cost, or an event the rule cannot price.
        """
        what = asked.events(events)
        claimed = asked.price(epsilon, delta)
        charge = self._charge(what, claimed)
        named = None if data is None else short_text(data, "data")
        with self._storage.writing() as connection:
            last = self._last_of(connection)
            if named is not None:
                self._same_data(last, named)
            spent = check_fits(charge, spent=last.spent, limit=self.limit, label=self.label)
            entry = self._append(
                connection,
                self._bound(connection, last, named),
                kind="reserve",
                charge=charge,
                spent=spent,
                events=what,
                claimed=claimed,
                purpose=None if purpose is None else short_text(purpose, "purpose"),
                source=None if source is None else short_text(source, "source"),
            )
        return Reservation(
            number=entry.number,
            head=entry.head,
            label=self.label,
            charge=charge,
            remaining=self.limit.minus(spent),
            purpose=purpose,
        )

    def commit(self, reservation: Reservation, *, published: str | None = None) -> None:
        """Record that the reservation's results were made. Raises LedgerError if it is settled already.

        published: the SHA-256 of the results, in hexadecimal, so that later ones can be told from them.
        """
        self._settle(reservation, "commit", published=asked.digest(published))

    def abandon(self, reservation: Reservation) -> None:
        """Record that the reservation came to nothing. It stays spent: the data may have been read."""
        self._settle(reservation, "abandon")

    def entries(self) -> tuple[Entry, ...]:
        """Return every entry, oldest first. Raises LedgerError at the first one that is damaged."""
        return tuple(_checked([row], self.label) for row in self._rows())

    def events(self) -> tuple[Event, ...]:
        """Return every event that was paid for, in order: what `account` can price again."""
        return tuple(event for entry in self.entries() for event in entry.events)

    def history(self) -> pa.Table:
        """Return one row for each reservation, oldest first: what for, how it ended, cost, total so far."""
        return history.table(history.lines(self.entries()))

    def verify(self, *, heads: Iterable[str] = ()) -> int:
        """Check every entry, link and total, and return the number of entries.

        Args:    heads: heads that were published in releases; each must be in the chain.
        Raises:  LedgerError: says of each bad entry whether it was edited, replaced, moved or is missing;
                 the sentences are in its `problems`.
        """
        rows = self._rows()
        found = chain.problems(rows, self.limit, heads)
        if found:
            raise LedgerError(f"'{self.label}' is not sound: {'; '.join(found)}.", problems=tuple(found))
        return len(rows)

    def to_json(self) -> dict[str, Any]:
        """Return the whole ledger as plain JSON values: every entry with its hash, oldest first."""
        import json

        entries = [{"hash": row.hash, **json.loads(row.body)} for row in (e.row for e in self.entries())]
        return {"format": FORMAT, "label": self.label, "head": self.head, "entries": entries}

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json` to a file. Raises LedgerError if it cannot be written."""
        import json

        words = json.dumps(self.to_json(), indent=1, sort_keys=True) + "\n"
        name = _place_name(path)
        try:
            Path(name).write_text(words, "utf-8")
        except OSError as error:
            raise LedgerError(f"'{name}' cannot be written: {error.strerror}.") from None

    def _charge(self, events: tuple[Event, ...], claimed: tuple[Fraction, Fraction] | None) -> Spending:
        if claimed is None or self.rule is not Rule.BASIC:
            return self._tariff.charge(events)
        return self._tariff.claim(events, epsilon=claimed[0], delta=claimed[1])

    def _settle(
        self, reservation: Reservation, kind: Literal["commit", "abandon"], **about: str | None
    ) -> None:
        from deniable.ledger import tables

        number, hashed = chain.parse_head(reservation.head)
        with self._storage.writing() as connection:
            found = tables.at(connection, number)
            if not found or found[0].hash != hashed:
                raise LedgerError(f"'{self.label}' holds no such reservation: it was made in another ledger.")
            settled = tables.settling(connection, number)
            if settled:
                how = _checked(settled, self.label).kind
                raise LedgerError(f"Reservation {number} of '{self.label}' has its {how} already.")
            self._append(connection, self._last_of(connection), kind=kind, settles=number, **about)

    def _bound(self, connection: Connection, last: Entry, named: str | None) -> Entry:
        """Return the last entry after the ledger was bound to the data, if it was bound to none."""
        if named is None or self._same_data(last, named):
            return last
        return self._append(connection, last, kind="bind", data=named)

    def _append(self, connection: Connection, last: Entry, **changes: Any) -> Entry:
        from deniable.ledger import tables

        kept = {"spent": last.spent, "data": last.data, "charge": nothing(self.rule)}
        entry = Entry(number=last.number + 1, time=_now(), previous=last.hash, **{**kept, **changes})
        tables.append(connection, entry.row)
        return entry

    def _last(self) -> Entry:
        with self._storage.reading() as connection:
            return self._last_of(connection)

    def _last_of(self, connection: Connection) -> Entry:
        from deniable.ledger import tables

        return _checked(tables.last(connection), self.label)

    def _rows(self) -> list[Row]:
        from deniable.ledger import tables

        with self._storage.reading() as connection:
            return tables.rows(connection)

    def _check_terms(self, unit: str, relation: str) -> None:
        if unit.casefold() != self.unit.casefold():
            raise LedgerError(f"'{self.label}' counts for the unit '{self.unit}', not for '{unit}'.")
        if neighbours(relation) is not self.neighbours:
            raise LedgerError(
                f"'{self.label}' counts for neighbours by '{self.neighbours}', not '{relation}'."
            )

    def _same_data(self, last: Entry, label: str) -> bool:
        """Return whether the ledger is bound to this data; False if to none; raise if to another."""
        if last.data is not None and last.data != label:
            fix = (
                f"If both are about the same people, call both by one name: name='{last.data}'. Other people "
                "have a ledger of their own."
            )
            raise LedgerError(f"'{self.label}' belongs to the data '{last.data}', not '{label}'. {fix}")
        return last.data is not None


def _checked(found: list[Row], label: str) -> Entry:
    """Return the entry in the one row that was found; refuse a damaged one."""
    if not found:
        raise LedgerError(f"'{label}' is damaged: an entry is missing. Run verify.")
    try:
        return chain.read(found[0])
    except ValueError as error:
        raise LedgerError(f"'{label}': entry {found[0].number} {error}. Run verify.") from None


def _locate(path_or_url: str | os.PathLike[str], patience: float) -> Storage:
    from deniable.ledger.storage import locate

    return locate(path_or_url, patience=patience)


def _place_name(path: object) -> str:
    from deniable.ledger.storage import place_name

    return place_name(path, "path")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
