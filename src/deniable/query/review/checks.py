"""The checks of a review, in the order in which they are shown."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable import __version__, accounting
from deniable.accounting import Theorems
from deniable.errors import DeniableError, ParameterError
from deniable.publish import odds
from deniable.query.release import Release
from deniable.query.review import fields, follows, paid, saved, tables
from deniable.query.review.fields import Fields, Unreadable
from deniable.query.review.findings import Finding, Review

if TYPE_CHECKING:
    import pyarrow as pa

FILES = ("release.json", "statement.txt", "table.parquet", "table.csv", "page.html")
_ODD = (DeniableError, ArithmeticError, ValueError, MemoryError)
"""What numbers that no release holds may raise on the way."""

_MOST_SHOWN = 3


class _Unchecked(Exception):  # noqa: N818
    """A check that cannot be made, and why."""


def review(directory: str | os.PathLike[str], *, ledger: str | os.PathLike[str] | None = None) -> Review:
    """Return what is right and what is wrong with a release that was saved into a folder.

    Args:    ledger: where the release was paid for; where it says itself, when omitted.
    Raises:  ParameterError: there is no such folder.
    """
    folder = Path(directory)
    if not folder.is_dir():
        fix = "Give a folder that Release.save or `deniable release --out` wrote."
        raise ParameterError("directory", str(folder), "is no folder", fix)
    case = _case(folder, ledger)
    findings = tuple(_finding(name, check) for name, check in case.checks().items())
    release = case.release if isinstance(case.release, Release) else None
    promise = None if release is None else release.guarantee
    theorems = None if release is None else _theorems(release)
    vouched = release is not None and paid.vouched(release, folder, ledger)
    return Review(str(folder), promise, findings, theorems, vouched)


@dataclass(frozen=True, slots=True)
class _Case:
    """One folder, as far as it can be read; where it cannot, the reason stands in place."""

    folder: Path
    ledger: str | os.PathLike[str] | None
    record: Fields | Unreadable
    table: pa.Table | Unreadable
    release: Release | Unreadable

    def checks(self) -> dict[str, Callable[[], _Said]]:
        return {
            "files": self.files,
            "versions": self.versions,
            "record": self.written,
            "promise": self.promise,
            "events": self.follows,
            "statement": self.statement,
            "table": self.fits,
            "csv": self.csv,
            "page": self.page,
            "noise": self.noise,
            "ledger": self.paid,
        }

    def files(self) -> _Said:
        missing = [name for name in FILES if not (self.folder / name).is_file()]
        return f"all {len(FILES)} are there", [f"{name} is missing" for name in missing]

    def versions(self) -> _Said:
        record = _readable(self.record)
        saved.check_versions(record)
        made = record.inside("plan").text("deniable")
        other = f"made by deniable {made}, and this is {__version__}: review it with that version"
        versions = record.values["version"], record.inside("plan").values["version"]
        right = f"deniable {made}, release.json of version {versions[0]} and plan of version {versions[1]}"
        return right, [] if made == __version__ else [other]

    def written(self) -> _Said:
        if isinstance(self.release, Unreadable):
            raise self.release
        record = _readable(self.record).values
        expected = json.loads(json.dumps(self.release.record()))
        return "release.json is what this release writes", _differences("", record, expected)

    def promise(self) -> _Said:
        release = self._release()
        promised = release.guarantee
        if accounting.within(release.events, epsilon=promised.epsilon, delta=promised.delta):
            return f"{promised} is proved: {_cost(release)}", []
        return "", [f"{promised} is not proved: {_cost(release)}"]

    def follows(self) -> _Said:
        plan = self._release().plan
        number = len(plan.events)
        said = "the event follows" if number == 1 else f"the {number} events follow"
        return f"{said} from the plan", follows.problems(plan)

    def statement(self) -> _Said:
        release = self._release()
        expected = release.statement
        found = tables.content(self.folder / "statement.txt", 2 * len(expected.encode()))
        words = found.decode("utf-8", "replace").replace("\r\n", "\n")
        return "statement.txt is what the facts say", _lines(words, expected)

    def fits(self) -> _Said:
        plan = self._release().plan
        table = _readable(self.table)
        rows = "1 row" if table.num_rows == 1 else f"{table.num_rows:,} rows"
        return f"{rows}, and intervals as wide as the noise asks", tables.problems(plan, table)

    def csv(self) -> _Said:
        files = self._files()
        plan = self._release().plan
        keys = 0 if plan.query.groups is None else len(plan.query.groups.columns)
        different = tables.differences(self.folder / "table.csv", files["table.csv"], keys)
        return "table.csv holds the same as table.parquet", different

    def page(self) -> _Said:
        expected = self._files()["page.html"]
        same = tables.content(self.folder / "page.html", 2 * len(expected)) == expected
        return "page.html shows this table and statement", [] if same else ["page.html shows something else"]

    def noise(self) -> _Said:
        seeded = "it came from a seed: whoever knows it can take the noise away, nobody is protected"
        return "it came from the operating system", [] if self._release().secure else [seeded]

    def paid(self) -> _Said:
        release = self._release()
        written = release.ledger
        problems = paid.problems(release, self.table, self.folder, self.ledger)
        if written is None:
            return "made without a ledger", problems
        return f"entry {written.head.partition(':')[0]} of '{written.label}' paid for it", problems

    def _release(self) -> Release:
        if isinstance(self.release, Unreadable):
            raise _Unchecked("not checked: release.json is not what a release writes")
        return self.release

    def _files(self) -> dict[str, bytes]:
        """Return the files that the table goes into, if it is one that can."""
        release = self._release()
        if isinstance(self.table, Unreadable) or any(tables.problems(release.plan, self.table)):
            raise _Unchecked("not checked: table.parquet is not what the release published")
        return release.files()


_Said = tuple[str, Iterable[str]]
"""What to say if all is right, and what is wrong."""


def _case(folder: Path, ledger: str | os.PathLike[str] | None) -> _Case:
    import pyarrow as pa

    record = _tried(lambda: fields.read(folder / "release.json"))
    table = _tried(lambda: tables.read(folder / "table.parquet"))
    published = pa.table({}) if isinstance(table, Unreadable) else table
    release = _tried(lambda: _release_of(_readable(record), published))
    return _Case(folder, ledger, record, table, release)


def _release_of(record: Fields, table: pa.Table) -> Release:
    saved.check_versions(record)
    return saved.release(record, table)


def _tried(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Unreadable as reason:
        return reason


def _readable(found: Any) -> Any:
    if isinstance(found, Unreadable):
        raise found
    return found


def _finding(name: str, check: Callable[[], _Said]) -> Finding:
    try:
        right, problems = check()
        wrong = list(islice(problems, _MOST_SHOWN))
    except Unreadable as reason:
        return Finding(name, "wrong", str(reason))
    except _Unchecked as reason:
        return Finding(name, "unknown", str(reason))
    except _ODD:
        return Finding(name, "wrong", "it holds numbers that no release holds")
    return Finding(name, "wrong", "; ".join(wrong)) if wrong else Finding(name, "right", right)


def _cost(release: Release) -> str:
    """Return what the events cost at the promised delta, in words."""
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            spent = accounting.account(release.events).epsilon(delta=release.guarantee.delta)
    except _ODD:
        return "no epsilon is known at that delta"
    return f"the events cost epsilon {odds.epsilon_text(spent)}"


def _theorems(release: Release) -> Theorems | None:
    """Return what every theorem says of the events; None where they are beyond what can be computed."""
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return accounting.account(release.events).by_theorem(delta=release.guarantee.delta)
    except _ODD:
        return None


def _differences(place: str, found: object, expected: object) -> Iterator[str]:
    """Yield the fields that differ, by their place."""
    if isinstance(found, dict) and isinstance(expected, dict):
        for name in dict.fromkeys([*expected, *found]):
            inner = f"{place}.{name}" if place else str(name)
            if name not in found or name not in expected:
                yield f"{inner} is {'missing' if name in expected else 'no field of a release'}"
            else:
                yield from _differences(inner, found[name], expected[name])
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            yield from _differences(f"{place}[{number}]", one, other)
    elif type(found) is not type(expected) or found != expected:
        yield f"{place} does not follow from the rest"


def _lines(found: str, expected: str) -> Iterator[str]:
    """Yield the first line of a statement that is not what it should be."""
    for number, (here, there) in enumerate(zip_longest(found.split("\n"), expected.split("\n")), start=1):
        if here != there:
            should = "end before" if there is None else f"be '{there.strip()}'"
            yield f"line {number} of statement.txt should {should}"
            return
