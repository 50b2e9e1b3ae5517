"""The entries of a ledger: a list that only grows, each entry holding the hash of the one before.

An entry is one line of canonical JSON (keys sorted, no spaces, ASCII, numbers as exact text), the `body`, and
its SHA-256. Its `head` is "number:hash". Entry 0 holds the budget. Each entry also holds what is spent and
which data set is bound *after* it, so that the last entry alone says what is left.

What `problems` finds, without and with heads that were published in releases:

| what was done to the entries              | without heads | with a head of that entry or a later one |
|-------------------------------------------|---------------|------------------------------------------|
| one edited, its hash left or renewed      | yes, which    | yes, which                               |
| one removed from the middle, two swapped  | yes, which    | yes, which                               |
| one edited, all after it (if any) renewed | no            | yes: rewritten at or before the head     |
| the last ones removed (a file rolled back)| no            | yes: which are missing                   |
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from deniable.errors import ParameterError
from deniable.events import Event, from_json, to_json
from deniable.ledger.filters import Rule, Spending, nothing, rule

FORMAT = 1
BEGINNING = "0" * 64

Kind = Literal["create", "bind", "reserve", "commit", "abandon"]
KINDS: tuple[Kind, ...] = ("create", "bind", "reserve", "commit", "abandon")


@dataclass(frozen=True, slots=True)
class Row:
    """One stored row, exactly as it was read: nothing in it is trusted yet."""

    number: int
    settles: int | None
    body: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One step in the life of a ledger.

    time:    UTC as the clock said, for people; the order of entries is their `number`, never the time.
    charge:  what this entry added to `spent`; nothing unless it reserves.
    claimed: the (epsilon, delta) that was asked for, None if it was left to the events.
    settles: the number of the reservation that a commit or abandon speaks of.
    published: the SHA-256 of what was published, in a commit that was given one.
    spent:   everything that is spent after this entry. data: the bound data set after it, or None.
    terms:   the budget, in entry 0 only.
    """

    number: int
    kind: Kind
    time: str
    previous: str
    spent: Spending
    data: str | None
    charge: Spending
    events: tuple[Event, ...] = ()
    claimed: tuple[Fraction, Fraction] | None = None
    purpose: str | None = None
    source: str | None = None
    settles: int | None = None
    published: str | None = None
    terms: Mapping[str, str] | None = None

    @property
    def body(self) -> str:
        """The canonical JSON that is hashed and stored."""
        record: dict[str, Any] = {
            "number": self.number,
            "kind": self.kind,
            "time": self.time,
            "previous": self.previous,
            "rule": self.spent.rule.value,
            "spent": _written(self.spent),
            "data": self.data,
        }
        match self.kind:
            case "create":
                record["terms"] = dict(self.terms or {})
            case "reserve":
                record |= self._reserved()
            case "commit" | "abandon":
                record["settles"] = self.settles
                record |= {} if self.published is None else {"published": self.published}
            case "bind":
                pass
        return canonical(record)

    def _reserved(self) -> dict[str, Any]:
        claimed = None if self.claimed is None else [str(number) for number in self.claimed]
        return {
            "charge": _written(self.charge),
            "claimed": claimed,
            "events": [to_json(event) for event in self.events],
            "purpose": self.purpose,
            "source": self.source,
        }

    @property
    def hash(self) -> str:
        """SHA-256 of the body, in hexadecimal."""
        return digest(self.body)

    @property
    def head(self) -> str:
        """What a release publishes of this entry: "number:hash"."""
        return f"{self.number}:{self.hash}"

    @property
    def row(self) -> Row:
        """The entry as it is stored."""
        return Row(self.number, self.settles, self.body, self.hash)


def canonical(record: Mapping[str, Any]) -> str:
    """Return the one text that stands for this record."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(body: str) -> str:
    """Return the SHA-256 of a body, in hexadecimal."""
    return hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()


def read(row: Row) -> Entry:
    """Return the entry that a row holds.

    Raises:  ValueError: in words that follow "entry 3 ": what is wrong with it.
    """
    if not (isinstance(row.body, str) and isinstance(row.hash, str)) or digest(row.body) != row.hash:
        raise ValueError("was edited: its hash does not fit it")
    try:
        entry = _parsed(json.loads(row.body))
        faithful = entry.body == row.body
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ZeroDivisionError):
        raise ValueError("cannot be read: it was not written by this program") from None
    if not faithful:
        raise ValueError("was edited: it is not in the form in which it was written")
    if entry.number != row.number:
        raise ValueError(f"holds entry {entry.number}: entries were moved")
    if entry.settles != row.settles:
        raise ValueError("was edited: it settles another reservation than its row says")
    return entry


def _parsed(record: dict[str, Any]) -> Entry:
    kind, counted = record["kind"], rule(record["rule"])
    if kind not in KINDS or type(record["number"]) is not int:
        raise ValueError("unknown kind")
    reserves = kind == "reserve"
    claimed = record["claimed"] if reserves else None
    return Entry(
        number=record["number"],
        kind=kind,
        time=_text(record["time"]),
        previous=_text(record["previous"]),
        spent=_spending(record["spent"], counted),
        data=_text_or_none(record["data"]),
        charge=_spending(record["charge"], counted) if reserves else nothing(counted),
        events=tuple(from_json(event) for event in record["events"]) if reserves else (),
        claimed=None if claimed is None else (_number(claimed[0]), _number(claimed[1])),
        purpose=_text_or_none(record["purpose"]) if reserves else None,
        source=_text_or_none(record["source"]) if reserves else None,
        settles=record["settles"] if kind in ("commit", "abandon") else None,
        published=_text_or_none(record.get("published")) if kind == "commit" else None,
        terms={key: _text(value) for key, value in record["terms"].items()} if kind == "create" else None,
    )


def _written(spending: Spending) -> dict[str, str]:
    return {"amount": str(spending.amount), "delta": str(spending.delta)}


def _spending(record: dict[str, str], counted: Rule) -> Spending:
    return Spending(rule=counted, amount=_number(record["amount"]), delta=_number(record["delta"]))


def _number(value: object) -> Fraction:
    """Read an exact number that is at least 0, as `str(Fraction)` writes it; nothing like 1e999999999."""
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{1,4000}(/[0-9]{1,4000})?", value):
        raise ValueError("not a number")
    return Fraction(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    return value


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)


def problems(rows: Sequence[Row], limit: Spending, heads: Iterable[str] = ()) -> list[str]:
    """Return everything that is wrong with the rows, sorted by number; nothing if they are sound.

    Each sentence names its entry. An entry whose predecessor is damaged is not blamed for it.
    Raises:  ParameterError: a head is not "number:hash".
    """
    found: list[str] = []
    entries: dict[int, Entry] = {}
    expected = 0
    for row in rows:
        if row.number != expected:
            found.append(_missing(expected, row.number - 1))
        expected = row.number + 1
        try:
            entries[row.number] = read(row)
        except ValueError as error:
            found.append(f"entry {row.number} {error}")
    if not rows:
        found.append("entry 0 is missing")
    settled: set[int] = set()
    for number, entry in entries.items():
        before = entries.get(number - 1)
        if before is not None:
            found += _link_problems(before, entry, limit)
        if entry.settles is not None:
            found += _settling_problems(entry, entries, settled)
            settled.add(entry.settles)
    if 0 in entries and (entries[0].kind != "create" or entries[0].previous != BEGINNING):
        found.append("entry 0 does not begin a ledger")
    hashes = {row.number: row.hash for row in rows}
    return found + [problem for head in dict.fromkeys(heads) for problem in _head_problems(head, hashes)]


def _link_problems(before: Entry, entry: Entry, limit: Spending) -> list[str]:
    if entry.previous != before.hash:
        return [f"entry {before.number} was replaced: entry {entry.number} follows another one"]
    found = []
    if entry.kind == "create":
        found.append(f"entry {entry.number} begins another ledger")
    if entry.spent.rule is not before.spent.rule or entry.spent != before.spent.plus(entry.charge):
        found.append(f"entry {entry.number} has a wrong total")
    if not (entry.spent.amount <= limit.amount and entry.spent.delta <= limit.delta):
        found.append(f"entry {entry.number} spends more than the budget")
    if entry.data != before.data and (entry.kind != "bind" or before.data is not None):
        found.append(f"entry {entry.number} changes the data set")
    return found


def _settling_problems(entry: Entry, entries: Mapping[int, Entry], settled: set[int]) -> list[str]:
    if entry.settles in settled:
        return [f"entry {entry.number} settles entry {entry.settles} a second time"]
    reservation = entries.get(entry.settles or 0)
    if reservation is not None and (reservation.kind != "reserve" or reservation.number > entry.number):
        return [f"entry {entry.number} settles entry {entry.settles}, which is no reservation before it"]
    return []


def _head_problems(head: str, hashes: Mapping[int, str]) -> list[str]:
    number, hashed = parse_head(head)
    if number not in hashes:
        last = max(hashes, default=-1)
        if number < last:
            return [f"entry {number} is missing, although a release was published with it"]
        return [f"{_missing(last + 1, number)}: a release was published with entry {number}"]
    if hashes[number] != hashed:
        return [f"entry {number} is not the one of a published release: rewritten there or before"]
    return []


def _missing(first: int, last: int) -> str:
    return f"entry {first} is missing" if first == last else f"entries {first} to {last} are missing"


def parse_head(head: object) -> tuple[int, str]:
    """Return the number and the hash of a head; refuse other text."""
    if not isinstance(head, str) or not re.fullmatch(r"[0-9]{1,18}:[0-9a-f]{64}", head):
        raise ParameterError(
            "heads", head, "must be heads of a ledger", "Write them as in release.json, '7:9f86...'."
        )
    number, _, hashed = head.partition(":")
    return int(number), hashed
