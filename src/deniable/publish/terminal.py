"""The released table for a terminal: bars, numbers and intervals, 80 columns wide, plain text.

Keys are made harmless by `cells`; widths are counted in terminal columns, so wide signs line up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deniable.publish import cells, statement
from deniable.publish.facts import ColumnFacts, Facts, Table

WIDTH = 80

_EIGHTHS = " ▏▎▍▌▋▊▉"
_LEAST_BAR = 8
_WIDEST_NAME = 18
_WITHIN_BOUNDS = ("mean", "quantile", "minimum", "maximum")


@dataclass(frozen=True, slots=True)
class _Block:
    """One output column, ready to print: heading, cells, heading and cells of the interval, bar shares."""

    name: str
    values: list[str]
    interval: str
    intervals: list[str]
    shares: list[float]

    @property
    def width(self) -> int:
        return 4 + _widest([self.name, *self.values]) + _widest([self.interval, *self.intervals])


def table(
    published: Table, facts: Facts, *, width: int = WIDTH, plain: bool = False, most: int | None = None
) -> str:
    """Return the table, then how to read it and the rule for what is left out, at most `width` columns wide.

    Output columns that do not fit beside one another follow below, with their keys again.
    Args:    plain: ASCII alone, for terminals that show nothing else. most: rows to show; None for all.
    """
    if not len(published):
        return empty(facts) + "\n"
    notes = [*statement.shortfall(facts), reading(facts), *statement.left_out(facts)]
    below = ["", *(statement.wrapped(note, columns=width) for note in notes)]
    return "\n".join([*lines(published, facts, width=width, plain=plain, most=most), *below]) + "\n"


def lines(
    published: Table, facts: Facts, *, width: int = WIDTH, plain: bool = False, most: int | None = None
) -> list[str]:
    """Return the lines of the table alone, its headings first; it has at least one row.

    The row of all others is the last one, also where the table is cut.
    """
    cut = published if most is None or most >= len(published) else _first(published, facts, most)
    blocks = _blocks(cut, facts, plain)
    keys = _keys(cut, facts, width - max(block.width for block in blocks), plain)
    room = width - sum(_widest(column) + 2 for column in keys)
    shown: list[str] = []
    for page in _pages(blocks, room):
        shown += [""] if shown else []
        shown += _page(keys, page, room, plain)
    if len(cut) < len(published):
        shown.append(f"... and {len(published) - len(cut):,} more groups: the release's table has them all.")
    return shown


def empty(facts: Facts) -> str:
    """Return the sentence that stands for a table without rows."""
    least = statement.least_group(facts)
    _, many = statement.nouns(facts.unit)
    return "No group was published." if least is None else f"No group reached {least:,} {many}."


def reading(facts: Facts) -> str:
    """Return in one sentence what the intervals cover."""
    share = statement.confidence(facts)
    return f"Intervals hold in {share} of cases, and cover the noise only, for the value as it was bounded."


def bar(share: float, columns: int, *, plain: bool = False) -> str:
    """Return a bar for a share of 1, in eighths of a column (in whole ones if `plain`); "" up to 0."""
    if not share > 0:
        return ""
    if plain:
        return "#" * max(1, round(min(share, 1.0) * columns))
    eighths = max(1, round(min(share, 1.0) * columns * 8))
    whole, part = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[part] if part else "")


def interval(low: object, high: object, places: int) -> str:
    """Return "low to high", or nothing where there is no interval."""
    if low is None or high is None:
        return ""
    return f"{cells.number(low, places)} to {cells.number(high, places)}"


def places(values: Sequence[object], lows: Sequence[object], highs: Sequence[object]) -> int:
    """Return the decimals for a column: 0 if every number is whole, else as its intervals need."""
    if all(isinstance(value, int) or value is None for value in values):
        return 0
    halves = [
        (as_float(high) - as_float(low)) / 2
        for low, high in zip(lows, highs, strict=True)
        if low is not None and high is not None
    ]
    return cells.decimals(halves) if halves else 3


def open_ended(column: ColumnFacts, low: object, high: object) -> bool:
    """Tell whether the interval spans all that a value can be at all: then the number says nothing."""
    if column.bounds is None or column.kind not in _WITHIN_BOUNDS or low is None or high is None:
        return False
    return as_float(low) <= float(column.bounds[0]) and as_float(high) >= float(column.bounds[1])


def as_float(value: object) -> float:
    """Return a released number as a float, for drawing alone; NaN for NULL."""
    return math.nan if value is None else float(value)  # type: ignore[arg-type]


def _first(published: Table, facts: Facts, most: int) -> Table:
    """Return the first rows, the last of them replaced by the row of all others if there is one."""
    rest = any(column.rest is not None for column in facts.columns)
    ahead = most - 1 if rest else most
    columns = ([*column[:ahead], *column[len(column) - 1 :][: int(rest)]] for column in published.columns)
    return Table(published.names, tuple(columns))


def _blocks(published: Table, facts: Facts, plain: bool) -> list[_Block]:
    blocks = []
    names = [cells.visible(column.name, plain=plain) for column in facts.columns]
    names = cells.cut_apart(names, _WIDEST_NAME, ellipsis=_ellipsis(plain))
    for column, name in zip(facts.columns, names, strict=True):
        values = published.column(column.name)
        lows = published.column(f"{column.name}_low")
        highs = published.column(f"{column.name}_high")
        digits = places(values, lows, highs)
        ends = zip(values, lows, highs, strict=True)
        numbers = [
            math.nan if open_ended(column, low, high) else as_float(value) for value, low, high in ends
        ]
        largest = max((number for number in numbers if math.isfinite(number)), default=0.0)
        blocks.append(
            _Block(
                name=name,
                values=[cells.number(value, digits) for value in values],
                interval=f"{statement.confidence(facts)} interval",
                intervals=[interval(low, high, digits) for low, high in zip(lows, highs, strict=True)],
                shares=[number / largest if largest > 0 else 0.0 for number in numbers],
            )
        )
    return blocks


def _keys(published: Table, facts: Facts, room: int, plain: bool) -> list[list[str]]:
    """Return the key columns, each with its heading first, cut so that together they fit the room."""
    limit = max(4, min(36, room) // max(1, len(facts.groups)) - 2)
    columns = []
    for name in facts.groups:
        heading = cells.cut(cells.visible(name, plain=plain), limit, ellipsis=_ellipsis(plain))
        shown = [cells.key(value, plain=plain) for value in published.column(name)]
        columns.append([heading, *cells.cut_apart(shown, limit, ellipsis=_ellipsis(plain))])
    return columns


def _pages(blocks: list[_Block], room: int) -> list[list[_Block]]:
    """Return the blocks as they fit side by side into the columns that the keys leave."""
    pages: list[list[_Block]] = []
    used = room + 1
    for block in blocks:
        if used + block.width > room:
            pages.append([])
            used = 0
        pages[-1].append(block)
        used += block.width
    return pages


def _page(keys: list[list[str]], blocks: list[_Block], room: int, plain: bool) -> list[str]:
    columns: list[tuple[list[str], bool]] = [(column, False) for column in keys]
    left = room - blocks[0].width
    if keys and len(blocks) == 1 and left >= _LEAST_BAR:
        columns.append((_bars(blocks[0], left, plain), False))
    for block in blocks:
        columns.append(([block.name, *block.values], True))
        columns.append(([block.interval, *block.intervals], True))
    return [line.rstrip() for line in _joined(columns)]


def _bars(block: _Block, columns: int, plain: bool) -> list[str]:
    return [" " * columns, *(bar(share, columns, plain=plain) for share in block.shares)]


def _joined(columns: list[tuple[list[str], bool]]) -> list[str]:
    """Return the columns as lines, two spaces apart; True means aligned to the right."""
    joined = [""] * len(columns[0][0])
    for number, (column, right) in enumerate(columns):
        widest = _widest(column)
        for row, text in enumerate(column):
            filled = " " * (widest - cells.width(text)) + text if right else cells.padded(text, widest)
            joined[row] += ("  " if number else "") + filled
    return joined


def _widest(texts: list[str]) -> int:
    return max(cells.width(text) for text in texts)


def _ellipsis(plain: bool) -> str:
    return "..." if plain else "…"
