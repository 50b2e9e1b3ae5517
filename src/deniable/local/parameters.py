"""What a device and a server must agree on: the protocol, epsilon, its other public numbers, its table.

All of it travels with the reports: in full in JSON, as a fingerprint of 8 bytes in the short form. So two
ends that were set up differently notice it, instead of estimating nonsense.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from deniable.errors import ParameterError, ReportError
from deniable.exact import exact, text
from deniable.publish import cells

VERSION = 1


@dataclass(frozen=True, slots=True)
class Parameters:
    """The public parameters of a protocol.

    protocol: for example "mean/optimal". epsilon: of one report. facts: the other parameters, (name, exact
    text), sorted by name. table: SHA-256 of the integer table, in hexadecimal; None if there is none.
    Raises:  ParameterError: facts are not sorted pairs of text, each name once.
    """

    protocol: str
    epsilon: Fraction
    facts: tuple[tuple[str, str], ...] = ()
    table: str | None = None

    def __post_init__(self) -> None:
        names = [name for name, _ in self.facts]
        if names != sorted(set(names)):
            raise ParameterError("facts", names, "must be sorted names, each once", "Sort them.")

    @property
    def fingerprint(self) -> bytes:
        """The first 8 bytes of the SHA-256 of the parameters as JSON with sorted keys and no spaces."""
        return _fingerprint(self)

    def to_json(self) -> dict[str, Any]:
        """Return the parameters as plain JSON values, with the version of reports."""
        return {
            "deniable": VERSION,
            "protocol": self.protocol,
            "epsilon": str(self.epsilon),
            "parameters": dict(self.facts),
            "table": self.table,
        }

    @classmethod
    def from_json(cls, record: object) -> Parameters:
        """Return the parameters that `to_json` wrote; other keys (a report, say) are ignored.

        Raises:  ReportError: another version, or not such a record.
        """
        if not isinstance(record, Mapping) or record.get("deniable") != VERSION:
            raise ReportError(f"This is no report of version {VERSION}.", differs="version")
        protocol, epsilon, facts, table = (record.get(key) for key in _KEYS)
        if not (isinstance(protocol, str) and isinstance(epsilon, str) and isinstance(facts, Mapping)):
            raise ReportError("This report does not say how it was made.", differs="parameters")
        if not all(isinstance(part, str) for pair in facts.items() for part in pair):
            raise ReportError("This report does not say how it was made.", differs="parameters")
        try:
            number = exact(epsilon, "epsilon")
        except ParameterError:
            raise ReportError("This report has no epsilon.", differs="epsilon") from None
        return cls(protocol, number, tuple(sorted(facts.items())), None if table is None else str(table))

    def check(self, other: Parameters) -> None:
        """Raise unless `other`, the parameters of a report, are these; name what differs.

        Raises:  ReportError.
        """
        if other == self:
            return
        if other.protocol != self.protocol:
            raise _differs("protocol", other.protocol, self.protocol)
        if other.epsilon != self.epsilon:
            raise _differs("epsilon", text(other.epsilon), text(self.epsilon))
        ours, theirs = dict(self.facts), dict(other.facts)
        for name in sorted(ours.keys() | theirs.keys()):
            if ours.get(name) != theirs.get(name):
                raise _differs(name, str(theirs.get(name)), str(ours.get(name)))
        raise _differs("table", str(other.table), str(self.table))


@lru_cache(maxsize=256)
def _fingerprint(parameters: Parameters) -> bytes:
    written = json.dumps(parameters.to_json(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode()).digest()[:8]


_KEYS = ("protocol", "epsilon", "parameters", "table")


def _differs(name: str, theirs: str, ours: str) -> ReportError:
    """Return the error; what a report says of itself is anybody's words, so it is made harmless."""
    name, theirs, ours = (
        cells.cut(cells.visible(words[:61]), 60, ellipsis="...") for words in (name, theirs, ours)
    )
    return ReportError(
        f"These reports were made with {name} {theirs}; here it is {ours}. Use the same on both ends.",
        differs=name,
    )
