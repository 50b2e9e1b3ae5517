"""What a review found: one line a check, and what every theorem says, on one screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from deniable.accounting import Theorems
from deniable.exact import text
from deniable.guarantees import ApproxDP, PureDP
from deniable.publish import cells

WIDTH = 80
_MARKS = {"right": "ok", "wrong": "WRONG", "unknown": "?"}
_BEFORE = 18
_UNVOUCHED = (
    "Nothing here vouches for the numbers themselves: whoever changes them, and all",
    "that follows from them, is not seen. A ledger that pays for a release keeps",
    "their hash.",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One check. unknown: it could not be made, and the words say why."""

    check: str
    verdict: Literal["right", "wrong", "unknown"]
    words: str


@dataclass(frozen=True, slots=True)
class Review:
    """All checks of one folder. `print` shows them on a screen of 80 columns.

    promise: what is claimed, None if it could not be read. theorems: what its events cost. vouched: a ledger
    holds the hash of just these numbers.
    """

    directory: str
    promise: PureDP | ApproxDP | None
    findings: tuple[Finding, ...]
    theorems: Theorems | None
    vouched: bool = False

    @property
    def sound(self) -> bool:
        """Whether every check was made and found nothing wrong."""
        return all(finding.verdict == "right" for finding in self.findings)

    def __getitem__(self, check: str) -> Finding:
        return next(finding for finding in self.findings if finding.check == check)

    def to_json(self) -> dict[str, Any]:
        """Return the review as plain JSON values."""
        return {
            "directory": self.directory,
            "sound": self.sound,
            "promise": None if self.promise is None else _promise(self.promise),
            "checks": [
                {"check": finding.check, "verdict": finding.verdict, "words": finding.words}
                for finding in self.findings
            ],
            "numbers_vouched_for": self.vouched,
            "theorems": None if self.theorems is None else _theorems(self.theorems),
        }

    def __str__(self) -> str:
        bad = sum(finding.verdict != "right" for finding in self.findings)
        fail = "fails" if bad == 1 else "fail"
        verdict = "everything is as it says" if self.sound else f"{bad} of {len(self.findings)} checks {fail}"
        name = cells.cut(cells.visible(self.directory), WIDTH - len(verdict) - 2)
        lines = [f"{name}: {verdict}", ""]
        for finding in self.findings:
            lines += _shown(finding)
        if self.theorems is not None:
            lines += ["", *_table(self.theorems)]
        if not self.vouched:
            lines += ["", *_UNVOUCHED]
        return "\n".join(lines)


def _promise(promise: PureDP | ApproxDP) -> Mapping[str, str]:
    return {"epsilon": text(promise.epsilon), "delta": text(promise.delta)}


def _theorems(theorems: Theorems) -> list[dict[str, str | None]]:
    return [
        {
            "theorem": row.theorem,
            "epsilon": None if row.epsilon is None else str(row.epsilon),
            "note": row.note,
        }
        for row in theorems
    ]


def _shown(finding: Finding) -> list[str]:
    """Return the finding in lines of 80 columns; what somebody typed cannot act in them."""
    before = f"  {finding.check:<10}{_MARKS[finding.verdict]:<6}"
    lines, line = [], ""
    for word in cells.visible(finding.words).split(" "):
        longer = f"{line} {word}" if line else word
        if line and cells.width(longer) > WIDTH - _BEFORE:
            lines.append(line)
            longer = word
        line = cells.cut(longer, WIDTH - _BEFORE)
    return [(before if not number else " " * _BEFORE) + words for number, words in enumerate([*lines, line])]


def _table(theorems: Theorems) -> list[str]:
    lines = [f"  The events cost, by theorem, at delta {text(theorems.delta)}:"]
    for row in theorems:
        said = row.note if row.epsilon is None else f"epsilon {text(row.epsilon, digits=6)}"
        lines.append(f"    {row.theorem:<18}  {said}"[:WIDTH])
    return lines
