"""How a key and a number are written into one cell: keys come from people, so they are made harmless.

A key can hold anything that somebody typed: a newline, a terminal's escape sequence, a mark that reverses
the line, invisible letters, marks piled on one another, or nothing at all.

| key                                             | shown                                      |
|-------------------------------------------------|--------------------------------------------|
| NULL                                            | (no value)                                 |
| the row of everything that was not found        | (all others)                               |
| the text "NULL"                                 | NULL                                       |
| the text "(no value)", "", " red", '"red"'      | in quotes: "(no value)" "" " red" "\\"red\\"" |
| control, format, private and unassigned signs,  | their escape: \\n \\x1b \\u200f               |
| odd spaces, invisible letters                   |                                            |
| a backslash                                     | \\\\                                         |
| a mark without a letter, or the fourth in a row | its escape                                 |
| everything else, any script, emoji              | itself                                     |

So two keys that differ are written differently (before long ones are cut), in one line of ordinary
characters.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from enum import Enum
from fractions import Fraction
from itertools import takewhile

NO_VALUE = "(no value)"
ALL_OTHERS = "(all others)"

_ESCAPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_MARKS = frozenset({"Mn", "Me", "Mc"})
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_EMOJI_STYLE = "\ufe0f"
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
_MOST_MARKS = 3


class Others(Enum):
    """The key of the row that holds everything that was not found."""

    OTHERS = ALL_OTHERS


OTHERS = Others.OTHERS


def key(value: object, *, plain: bool = False) -> str:
    """Return a group's key as one line of ordinary characters; with `plain`, of ASCII alone."""
    if value is None:
        return NO_VALUE
    if value is OTHERS:
        return ALL_OTHERS
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.hex()
    if not isinstance(value, str):
        return visible(str(value), plain=plain)
    shown = visible(value, plain=plain)
    if value == "" or value != value.strip() or value in (NO_VALUE, ALL_OTHERS) or value.startswith('"'):
        return '"' + shown.replace('"', '\\"') + '"'
    return shown


def visible(text: str, *, plain: bool = False) -> str:
    """Return the text with everything that could act, hide or pile up replaced by its escape."""
    shown: list[str] = []
    marks = _MOST_MARKS
    for sign in text:
        category = unicodedata.category(sign)
        marks = marks + 1 if category in _MARKS else 0
        if sign == "\\":
            shown.append("\\\\")
        elif (
            category in _ESCAPED
            or sign in _INVISIBLE
            or (category == "Zs" and sign != " ")
            or marks > _MOST_MARKS
            or (plain and not sign.isascii())
        ):
            shown.append(_escape(sign))
            marks = _MOST_MARKS
        else:
            shown.append(sign)
    return "".join(shown)


def _escape(sign: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    point = ord(sign)
    if sign in named:
        return named[sign]
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def width(text: str) -> int:
    """Return how many columns of a terminal the (visible) text takes: 2 for wide signs, 0 for marks."""
    total = 0
    before = 0
    for sign in text:
        if sign == _EMOJI_STYLE:
            now = 2 - before if before else 0
        elif unicodedata.category(sign) in {"Mn", "Me"} or _joins(sign):
            continue
        else:
            now = 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        total += now
        before = now
    return total


def _joins(sign: str) -> bool:
    """Tell whether this is a vowel or final of Hangul, which is drawn into the letter before it."""
    return "\u1160" <= sign <= "\u11ff" or "\ud7b0" <= sign <= "\ud7ff"


def cut(text: str, limit: int, *, ellipsis: str = "…") -> str:
    """Return the text in at most `limit` columns, its end replaced by the ellipsis where it is longer."""
    if width(text) <= limit:
        return text
    kept = ""
    for sign in text:
        if width(kept + sign) > limit - len(ellipsis):
            break
        kept += sign
    return kept + ellipsis


def cut_apart(texts: Sequence[str], limit: int, *, ellipsis: str = "…") -> list[str]:
    """Return the texts in at most `limit` columns each, so that one can tell those that differ apart.

    The end of a long one is cut; its middle, where others begin like it; where they end alike too, what all
    of them begin with.
    """
    shown = {text: cut(text, limit, ellipsis=ellipsis) for text in texts}
    begun = {text: cut(text, 1 + limit // 2, ellipsis="") for text in texts}
    for group in _twins(begun):
        shown.update({text: _cut_middle(text, limit, ellipsis) for text in group})
        shown.update(_cut_alike(group, limit, ellipsis))
    for group in _twins(shown):
        same = takewhile(lambda signs: len(set(signs)) == 1, zip(*group, strict=False))
        common = len(list(same)) if width(group[0]) > limit else 0
        shown.update({text: cut(ellipsis + text[common:], limit, ellipsis=ellipsis) for text in group})
    return [shown[text] for text in texts]


def _cut_alike(texts: Sequence[str], limit: int, ellipsis: str) -> dict[str, str]:
    """Return the long ones of texts that begin alike, all cut at the same places; nothing if one has a mark.

    A third is of what all begin with, and the rest whatever fits of the end of the longest.
    """
    same = list(takewhile(lambda signs: len(set(signs)) == 1, zip(*texts, strict=False)))
    head = cut(texts[0], limit // 3, ellipsis="")
    room = limit - width(head) - len(ellipsis)
    widest = max(texts, key=width)
    start = next((at for at in range(len(head), 1 + len(same)) if width(widest[at:]) <= room), None)
    if start is None or any(unicodedata.category(sign) in _MARKS for text in texts for sign in text):
        return {}
    shown = {text: head + ellipsis + text[start:] for text in texts if width(text) > limit}
    return shown if all(width(text) <= limit for text in shown.values()) else {}


def _twins(shown: Mapping[str, str]) -> list[list[str]]:
    """Return the groups of texts that are shown as the same."""
    groups: dict[str, list[str]] = {}
    for text, seen in shown.items():
        groups.setdefault(seen, []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def _cut_middle(text: str, limit: int, ellipsis: str) -> str:
    """Return the beginning, the ellipsis and the end of a text; more of its end than of its beginning."""
    if width(text) <= limit:
        return text
    room = limit - len(ellipsis)
    kept = ""
    for sign in reversed(text):
        if width(sign + kept) > room - room // 3:
            break
        kept = sign + kept
    kept = kept.lstrip("".join(sign for sign in kept if unicodedata.category(sign) in _MARKS)) or kept
    return cut(text, limit - width(kept), ellipsis=ellipsis) + kept


def padded(text: str, columns: int) -> str:
    """Return the text followed by spaces, `columns` wide.

    After right-to-left letters comes one invisible left-to-right mark of our own: without it a terminal
    that reorders would pull the next number to the left of the key.
    """
    turned = any(unicodedata.bidirectional(sign) in _RIGHT_TO_LEFT for sign in text)
    return text + ("\u200e" if turned else "") + " " * (columns - width(text))


def decimals(halves: Sequence[float]) -> int:
    """Return how many decimals a column needs: the second digit of its median half-width, at most 9."""
    known = sorted(half for half in halves if half > 0 and math.isfinite(half))
    if not known:
        return 0
    return min(9, max(0, 1 - math.floor(math.log10(known[len(known) // 2]))))


def number(value: object, places: int) -> str:
    """Return a released number with thousands separators; whole numbers stay whole, NULL is empty."""
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Fraction):
        value = float(value)
    shown = f"{value:,.{places}f}"
    return shown.removeprefix("-") if not any(sign in "123456789" for sign in shown) else shown
