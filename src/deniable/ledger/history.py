"""What a ledger was spent on, for people: as lines, as an Arrow table, as text and as JSON values.

Everything here is public: purposes, labels and prices. What people typed is made harmless by `cells`.
Numbers are rounded against ourselves: costs and what is spent up, what is left down.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from deniable.exact import text
from deniable.ledger.chain import Entry
from deniable.ledger.filters import Spending
from deniable.publish import cells

if TYPE_CHECKING:
    import pyarrow as pa

    from deniable.ledger.book import Ledger

State = Literal["open", "committed", "abandoned"]
WIDTH = 80
DIGITS = 4
_LEAST_PURPOSE = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One reservation and how it ended; `open` also after a crash. spent: all that was spent after it."""

    number: int
    time: str
    purpose: str
    source: str
    did: str
    charge: Spending
    spent: Spending
    state: State


def lines(entries: Sequence[Entry]) -> tuple[Line, ...]:
    """Return one line for each reservation, oldest first."""
    ended: dict[int | None, State] = {
        entry.settles: "committed" if entry.kind == "commit" else "abandoned"
        for entry in entries
        if entry.kind in ("commit", "abandon")
    }
    return tuple(
        Line(
            number=entry.number,
            time=entry.time,
            purpose=entry.purpose or "",
            source=entry.source or "",
            did=_did(entry),
            charge=entry.charge,
            spent=entry.spent,
            state=ended.get(entry.number, "open"),
        )
        for entry in entries
        if entry.kind == "reserve"
    )


def _did(entry: Entry) -> str:
    counts = Counter(type(event).__name__ for event in entry.events)
    return ", ".join(name if count == 1 else f"{count:,} x {name}" for name, count in counts.items())


def table(written: Sequence[Line]) -> pa.Table:
    """Return the lines as a table. Its numbers are floats, for charts; entries hold the exact ones."""
    import pyarrow as pa

    amount = written[0].charge.rule.amount.replace(" ", "_") if written else "epsilon"
    return pa.table(
        {
            "entry": pa.array([line.number for line in written], pa.int64()),
            "time": pa.array([line.time for line in written], pa.string()),
            "purpose": pa.array([line.purpose for line in written], pa.string()),
            "source": pa.array([line.source for line in written], pa.string()),
            "events": pa.array([line.did for line in written], pa.string()),
            "state": pa.array([line.state for line in written], pa.string()),
            amount: pa.array([float(line.charge.amount) for line in written], pa.float64()),
            "delta": pa.array([float(line.charge.delta) for line in written], pa.float64()),
            f"spent_{amount}": pa.array([float(line.spent.amount) for line in written], pa.float64()),
            "spent_delta": pa.array([float(line.spent.delta) for line in written], pa.float64()),
        }
    )


def record(ledger: Ledger) -> dict[str, Any]:
    """Return terms, what is spent and left, and the lines, as plain JSON values with exact numbers."""
    entries = ledger.entries()
    last = entries[-1]
    return {
        "label": ledger.label,
        "unit": ledger.unit,
        "neighbours": ledger.neighbours.value,
        "rule": ledger.rule.value,
        "data": last.data,
        "budget": {"epsilon": str(ledger.epsilon), "delta": str(ledger.delta)},
        "limit": _plain(ledger.limit),
        "spent": _plain(last.spent),
        "remaining": _plain(ledger.limit.minus(last.spent)),
        "head": last.head,
        "history": [
            {
                "entry": line.number,
                "time": line.time,
                "purpose": line.purpose,
                "source": line.source,
                "events": line.did,
                "state": line.state,
                "charge": _plain(line.charge),
                "spent": _plain(line.spent),
            }
            for line in lines(entries)
        ],
    }


def _plain(spending: Spending) -> dict[str, str]:
    return {spending.rule.amount: str(spending.amount), "delta": str(spending.delta)}


def worded(spending: Spending, *, up: bool) -> str:
    """Return "epsilon 0.5, delta 1e-8", rounded as asked where it is long; without delta where that is 0."""
    amount = f"{spending.rule.amount} {short(spending.amount, up=up)}"
    return f"{amount}, delta {short(spending.delta, up=up)}" if spending.delta else amount


def show(ledger: Ledger, *, plain: bool = False) -> str:
    """Return the ledger as text, at most 80 columns wide; with `plain`, of ASCII alone."""
    entries = ledger.entries()
    spent, data = entries[-1].spent, entries[-1].data
    named = cells.visible(ledger.label, plain=plain)
    about = (
        f"protects: each {cells.visible(ledger.unit, plain=plain)} ({ledger.neighbours.value})",
        f"data: {cells.visible(data, plain=plain) if data else 'none yet'}",
        f"rule: {ledger.rule.value}",
        f"head: {entries[-1].head}",
    )
    head = [_cut(named, WIDTH, plain), *(_cut(f"  {words}", WIDTH, plain) for words in about), ""]
    return "\n".join([*head, *_gauges(ledger, spent, plain), "", *_listed(lines(entries), plain)]) + "\n"


def _gauges(ledger: Ledger, spent: Spending, plain: bool) -> list[str]:
    limit = ledger.limit
    rows = [(ledger.rule.amount, spent.amount, limit.amount)]
    if limit.delta:
        rows.append(("delta", spent.delta, limit.delta))
    drawn = [
        f"{name:<10}  {_gauge(used / whole, plain)}  {short(used)} of {short(whole, up=False)}, "
        f"{short(whole - used, up=False)} left"
        for name, used, whole in rows
    ]
    if limit.amount != ledger.epsilon or limit.delta != ledger.delta:
        drawn.append(f"together at most epsilon {short(ledger.epsilon)}, delta {short(ledger.delta)}")
    return drawn


def _gauge(share: Fraction, plain: bool, width: int = 20) -> str:
    full = min(width, int(share * width) + (share * width % 1 > 0))
    used, free = ("#", ".") if plain else ("█", "░")
    return used * full + free * (width - full)


def _listed(written: Sequence[Line], plain: bool) -> list[str]:
    if not written:
        return ["Nothing was spent."]
    amount = written[0].charge.rule.amount
    with_delta = any(line.charge.delta for line in written)
    headings = ["entry", "time", "purpose", "state", amount, *(["delta"] if with_delta else [])]
    rows = [
        [
            str(line.number),
            line.time[:16].replace("T", " "),
            cells.visible(line.purpose or line.did, plain=plain),
            line.state,
            short(line.charge.amount),
            *([short(line.charge.delta)] if with_delta else []),
        ]
        for line in written
    ]
    widths = [max(cells.width(row[place]) for row in [headings, *rows]) for place in range(len(headings))]
    others = sum(widths) - widths[2] + 2 * (len(widths) - 1)
    widths[2] = min(widths[2], max(_LEAST_PURPOSE, WIDTH - others))
    return [_row(row, widths, plain) for row in [headings, *rows]]


def _row(row: Sequence[str], widths: Sequence[int], plain: bool) -> str:
    last_text = 3
    shown = [
        cells.padded(_cut(cell, width, plain), width) if place <= last_text and place else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(shown).rstrip()


def _cut(words: str, width: int, plain: bool) -> str:
    return cells.cut(words, width, ellipsis="..." if plain else "…")


def short(number: Fraction, *, up: bool = True) -> str:
    """Return the number with four significant digits, or as it is if that is shorter: 1/3, 0.5, 1.262."""
    if number.denominator < 10 or number <= 0:
        return text(number)
    magnitude = math.floor(math.log10(number.numerator) - math.log10(number.denominator))
    grid = Fraction(10) ** (DIGITS - 1 - magnitude)
    return text(Fraction(math.ceil(number * grid) if up else math.floor(number * grid)) / grid)
