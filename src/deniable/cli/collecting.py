"""The two ends of a local protocol as filters: from lines of values to lines of reports, to an estimate."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from deniable.cli.lines import batches, opened, progress
from deniable.cli.protocols import Collecting, Setup, payload
from deniable.errors import ParameterError, ReportError

if TYPE_CHECKING:
    from deniable.local.estimates import Aggregate

_SOME = 1 << 14


def randomize(setup: Setup, path: str | None, *, as_bytes: bool) -> None:
    """Print one report for each line of the input, whatever the line holds."""
    from deniable.bits import SystemBits
    from deniable.local import Reports

    kind, read, bits = setup.kind, setup.reader(), SystemBits()
    protocol = setup.made(setup.single())
    with opened(path) as file, progress(file) as advance:
        for batch in batches(file, advance):
            for start in range(0, len(batch), _SOME):
                values = [read(line) for line in batch[start : start + _SOME]]
                reports = Reports(protocol.parameters, payload(protocol, kind, values, bits))
                found = _in_hexadecimal(reports) if as_bytes else reports.to_json_lines()
                sys.stdout.write("\n".join(found) + "\n")
            sys.stdout.flush()


def aggregates(setup: Setup, path: str | None) -> list[tuple[Collecting, Aggregate]]:
    """Return the totals of all reports in the input, one for each epsilon.

    Raises:  ReportError: a line is no report of these protocols; the message says which line.
    """
    ends = [_End(setup.made(epsilon)) for epsilon in setup.epsilons()]
    before = 0
    with opened(path) as file, progress(file) as advance:
        for batch in batches(file, advance):
            for start in range(0, len(batch), _SOME):
                lines = batch[start : start + _SOME]
                _taken(ends, lines, before)
                before += len(lines)
    found = [(end.protocol, end.totals) for end in ends if end.totals is not None]
    if not found:
        raise ParameterError("FILE", path or "-", "holds no reports", "Make some: deniable local randomize.")
    return found


class _End:
    """The server's end at one epsilon: how its reports begin, and what they add up to."""

    def __init__(self, protocol: Collecting) -> None:
        from deniable.bits import SystemBits
        from deniable.local import Reports

        sample = protocol.answer(None, SystemBits())
        self.protocol = protocol
        self.dtype = sample.dtype
        self.width = sample.shape[1] if sample.ndim == 2 else None
        self.totals: Aggregate | None = None
        example = Reports(protocol.parameters, sample)
        self.digits = 2 * len(example.to_bytes())
        self._short = example.to_bytes()[:9].hex()
        self._full = next(example.to_json_lines()).rpartition('"report"')[0]

    def begins(self, line: str) -> bool:
        """Whether a line looks like a report of this end."""
        return line.startswith((self._short, self._full))

    def take(self, lines: Sequence[str]) -> None:
        """Add up the reports of these lines; nothing is added if one is refused."""
        from deniable.local import Reports

        found = self.protocol.parameters, self.dtype, self.width
        short = [line for line in lines if not line.startswith("{")]
        parts = [Reports.from_bytes(_octets(short, self.digits), *found)] if short else []
        if len(short) < len(lines):
            parts.append(Reports.from_json_lines([line for line in lines if line.startswith("{")], *found))
        for reports in parts:
            more = self.protocol.aggregate(reports)
            self.totals = more if self.totals is None else self.totals + more


def _taken(ends: Sequence[_End], lines: Sequence[str], before: int) -> None:
    """Hand each line to the end it belongs to; say which line is none."""
    known: list[list[str]] = [[] for _ in ends]
    for line in filter(None, map(str.strip, lines)):
        known[next((place for place, end in enumerate(ends) if end.begins(line)), 0)].append(line)
    for end, some in zip(ends, known, strict=True):
        if not some:
            continue
        try:
            end.take(some)
        except ReportError:
            for number, line in enumerate(lines, start=before + 1):
                _checked(end, ends, line.strip(), number)
            raise


def _checked(end: _End, ends: Sequence[_End], line: str, number: int) -> None:
    """Raise if a line is no report, naming its number."""
    if not line or any(other is not end and other.begins(line) for other in ends):
        return
    try:
        _End(end.protocol).take([line])
    except ReportError as error:
        raise ReportError(f"Line {number:,}: {error}", differs=error.differs) from None


def _octets(lines: Sequence[str], digits: int) -> bytes:
    if any(len(line) != digits for line in lines):
        raise ReportError(f"A report has {digits} hexadecimal digits, or is a JSON object.", differs="size")
    try:
        return bytes.fromhex("".join(lines))
    except ValueError:
        raise ReportError("A line is no report: it is not hexadecimal.", differs="size") from None


def _in_hexadecimal(reports: Any) -> Iterator[str]:
    digits, size = reports.to_bytes().hex(), 2 * len(reports[:1].to_bytes())
    return (digits[place : place + size] for place in range(0, len(digits), size))
