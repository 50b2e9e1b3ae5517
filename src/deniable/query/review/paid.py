"""Was the release paid for? Its entry in the ledger must say what the release says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.errors import DeniableError
from deniable.ledger import Entry, Ledger
from deniable.ledger.chain import parse_head
from deniable.publish.facts import LedgerFacts
from deniable.query import wording
from deniable.query.fingerprint import fingerprint
from deniable.query.release import Release
from deniable.query.review.fields import Unreadable

if TYPE_CHECKING:
    import pyarrow as pa


def problems(
    release: Release, table: pa.Table | Unreadable, folder: Path, place: str | os.PathLike[str] | None
) -> Iterator[str]:
    """Yield a sentence for everything that the ledger and the release disagree on.

    table: what table.parquet holds.
    folder: where the release lies. place: the ledger; if None, a file of the name that the release gives is
    looked for in the current folder and around the release.
    Raises:  Unreadable: there is no ledger to look at.
    """
    written = release.ledger
    if written is None:
        if place is not None:
            yield "the release was made without a ledger: it is not in the one that you named"
        return
    ledger = _opened(_nearby(written.label, folder) if place is None else place)
    try:
        ledger.verify(heads=[written.head])
        entries = ledger.entries()
        number, _ = parse_head(written.head)
    except DeniableError as error:
        yield str(error)
        return
    yield from _terms(release, ledger)
    yield from _entry(release, written, ledger, entries[number])
    yield from _end(number, entries)
    if not isinstance(table, Unreadable) and _kept(number, entries) not in (None, _fingerprint(release)):
        yield f"the numbers are not those that were published: entry {number} committed others"


def vouched(release: Release, folder: Path, place: str | os.PathLike[str] | None) -> bool:
    """Return whether the ledger holds the hash of just these numbers."""
    written = release.ledger
    if written is None:
        return False
    try:
        ledger = _opened(_nearby(written.label, folder) if place is None else place)
        number, _ = parse_head(written.head)
        kept = _kept(number, ledger.entries())
        return kept is not None and kept == _fingerprint(release)
    except (DeniableError, Unreadable):
        return False


def _fingerprint(release: Release) -> str | None:
    """Return the hash of the numbers in a folder; None of a table that no release can have had."""
    import pyarrow as pa

    try:
        return fingerprint(release.table, release.histogram, release.plan.choices)
    except pa.ArrowException:
        return None


def _kept(number: int, entries: tuple[Entry, ...]) -> str | None:
    """Return the hash that the ledger keeps of what the reservation published; None if it keeps none."""
    return next((entry.published for entry in entries if entry.settles == number), None)


def _nearby(name: str, folder: Path) -> Path:
    """Return the file of that name. Only a bare name is followed: the record may have been edited."""
    if name == Path(name).name:
        for around in (Path(), folder.parent, folder):
            with suppress(OSError):  # a name that is too long
                if (around / name).is_file():
                    return around / name
    raise Unreadable(f"'{name}' is not here: say where it is with --ledger (in Python: ledger=)")


def _opened(place: str | os.PathLike[str]) -> Ledger:
    try:
        return Ledger.open(place, patience=5)
    except DeniableError as error:
        raise Unreadable(str(error).partition(". ")[0].rstrip(".")) from None


def _terms(release: Release, ledger: Ledger) -> Iterator[str]:
    facts = release.facts
    if ledger.unit.casefold() != facts.unit.casefold():
        yield f"the ledger counts for the unit '{ledger.unit}', the release for '{facts.unit}'"
    if ledger.neighbours is not facts.neighbours:
        yield "the ledger counts for other neighbours"


def _entry(release: Release, written: LedgerFacts, ledger: Ledger, entry: Entry) -> Iterator[str]:
    if entry.kind != "reserve":
        yield f"entry {entry.number} of the ledger pays for nothing"
        return
    if entry.events != release.events:
        yield f"entry {entry.number} of the ledger paid for other events"
    promised = release.guarantee
    if entry.claimed != (promised.epsilon, promised.delta):
        yield f"entry {entry.number} of the ledger was made for another epsilon or delta"
    purposes = (release.purpose, wording.asked(release.plan) if release.purpose is None else release.purpose)
    if entry.purpose not in purposes or entry.source != release.facts.source:
        yield f"entry {entry.number} of the ledger names another purpose or source"
    if str(ledger.limit.minus(entry.spent)) != written.remaining:
        yield f"after entry {entry.number} the ledger had something else left than the release says"


def _end(number: int, entries: tuple[Entry, ...]) -> Iterator[str]:
    ended = [entry.kind for entry in entries if entry.settles == number]
    if ended != ["commit"]:
        how = "was abandoned" if ended else "was never committed"
        yield f"entry {number} of the ledger {how}, so nothing should have been published with it"
