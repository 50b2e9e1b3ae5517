"""Our own charts: small SVG drawings that grow with the page, without scripts, fonts or outside files.

Horizontal places are percentages and letters keep their size, so one drawing serves a phone and a desk.
Colours come from the page's style sheet by class; each drawing names itself for those who do not see it.
Every text goes through `element`, which escapes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

_ROW = 34
_LEGEND = 52
_PLOT_HEIGHT = 300
_ABOVE = 16
_LEFT, _RIGHT = 13.0, 97.0
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: what it is called, how its number is written, its value and interval (NaN without one).

    drawn: False leaves only the interval, for a value that may be anything.
    second: it is of the second kind, which has a colour of its own.
    """

    label: str
    shown: str
    value: float
    low: float
    high: float
    drawn: bool = True
    second: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Mark:
    """A place on an axis that is worth naming: drawn as a dashed line across the plot."""

    at: float
    label: str


def element(name: str, *content: str, **attributes: object) -> str:
    """Return one SVG element. Attribute values are escaped; content is: pass text through `words`.

    An underscore in a name is written as a hyphen, one at its end is dropped (`class_`).
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value), quote=True)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{''.join(content)}</{name}>"


def words(text: str) -> str:
    """Return the text, escaped for the inside of an element."""
    return escape(text, quote=False)


def bars(
    entries: Sequence[Bar], *, name: str, title: str, description: str, kinds: tuple[str, str] | None = None
) -> str:
    """Return horizontal bars with their intervals as whiskers, one above the other.

    The scale starts at 0, or at the least interval where that lies below; then each bar shows where 0 is.
    `name` is unique in the page. kinds: what the two colours mean, written above the bars.
    """
    ends = [end for entry in entries for end in (entry.value, entry.low, entry.high) if math.isfinite(end)]
    least, most = min([0.0, *ends]), max([0.0, *ends])
    if most == least:
        most = least + 1

    def place(value: float) -> float:
        return 100 * (value - least) / (most - least)

    drawn = [_bar(entry, number * _ROW, place) for number, entry in enumerate(entries)]
    if least < 0:
        tops = [number * _ROW for number in range(len(entries))]
        drawn += [_line(place(0), top + 16, place(0), top + 32, "axis") for top in tops]
    height, above = _ROW * len(entries), _LEGEND if kinds else 0
    if kinds:
        drawn = [_legend(kinds), element("g", *drawn, transform=f"translate(0,{above})")]
    return _drawing("".join(drawn), height + above, name, title, description)


def _legend(kinds: tuple[str, str]) -> str:
    """Return a square of each colour and what it means, one under the other."""
    parts = []
    for number, (look, kind) in enumerate(zip(("bar", "bar second"), kinds, strict=True)):
        top = 20 * number
        parts.append(element("rect", class_=look, x=0, y=top, width=12, height=12, rx=2))
        parts.append(element("text", words(kind), class_="tick", x=20, y=top + 11))
    return "".join(parts)


def _bar(entry: Bar, top: int, place: Callable[[float], float]) -> str:
    base = top + 14
    parts = [
        element("text", words(entry.label), class_="label", x="0", y=base),
        element("text", words(entry.shown), class_="number", x="100%", y=base, text_anchor="end"),
        element("rect", class_="track", x="0", y=top + 19, width="100%", height=10, rx=2),
    ]
    if entry.drawn and math.isfinite(entry.value):
        left, right = sorted((place(0), place(entry.value)))
        size = {"x": _percent(left), "width": _percent(max(right - left, 0.2))}
        look = "bar second" if entry.second else "bar"
        parts.append(element("rect", class_=look, y=top + 19, height=10, rx=2, **size))
    if math.isfinite(entry.low) and math.isfinite(entry.high):
        parts.append(_line(place(entry.low), top + 24, place(entry.high), top + 24, "whisker"))
    return element("g", element("title", words(f"{entry.label}: {entry.shown}")), *parts)


def decline(
    points: Sequence[tuple[float, float]],
    *,
    name: str,
    title: str,
    description: str,
    across: str,
    up: str = "",
    down: Mark | None = None,
    level: Mark | None = None,
) -> str:
    """Return a chance (0 < y <= 1, on a log scale) against x: a geometric decline is a straight line.

    across, up: what x and y are; the latter stands above the plot. down: one x to name, by an upright line.
    level: one y to name, by a level line.
    """
    first, last = points[0][0], points[-1][0]
    lowest = [y for _, y in points] + ([level.at] if level else [])
    powers = max(1, math.ceil(-math.log10(min(lowest))))

    def x(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * (value - first) / (last - first)

    def y(value: float) -> float:
        return 12 + _PLOT_HEIGHT * -math.log10(value) / powers

    parts = [_scale_down(powers, y), _scale_across(first, last, x), _caption(across)]
    if down is not None:
        parts.append(_upright(down, x))
    if level is not None:
        parts.append(_level(level, y))
    corners = [(x(at), y(value)) for at, value in points]
    parts += [_line(*a, *b, "curve") for a, b in pairwise(corners)]
    parts += [_dot(corner, point) for corner, point in zip(corners, points, strict=True)]
    above = _ABOVE if up else 0
    if up:
        plot = element("g", *parts, transform=f"translate(0,{above})")
        parts = [element("text", words(up), class_="tick", x=_percent(_LEFT), y=14), plot]
    return _drawing("".join(parts), _PLOT_HEIGHT + 66 + above, name, title, description, kind="chart plot")


def _scale_down(powers: int, y: Callable[[float], float]) -> str:
    step = math.ceil(powers / 9)
    parts = []
    for power in range(0, powers + 1, step):
        at = y(10.0**-power)
        label = "1" if power == 0 else "10" + f"-{power}".translate(_SUPERSCRIPTS)
        parts.append(_line(_LEFT, at, _RIGHT, at, "grid"))
        parts.append(
            element("text", words(label), class_="tick", x=_percent(_LEFT - 1.5), y=at + 4, text_anchor="end")
        )
    return "".join(parts)


def _scale_across(first: float, last: float, x: Callable[[float], float]) -> str:
    bottom = 12 + _PLOT_HEIGHT
    parts = [_line(_LEFT, bottom, _RIGHT, bottom, "axis")]
    for value in _ticks(first, last):
        place, shown = _percent(x(value)), f"{value:.12g}"
        parts.append(element("text", shown, class_="tick", x=place, y=bottom + 19, text_anchor="middle"))
    return "".join(parts)


def _ticks(first: float, last: float) -> list[float]:
    """Return up to eleven whole numbers; where there are fewer than five, round decimals in between."""
    if last - first >= 4:
        return list(range(math.ceil(first), math.floor(last) + 1, max(1, math.ceil((last - first) / 10))))
    power = 10.0 ** math.floor(math.log10((last - first) / 4))
    step = next(size * power for size in (5, 2, 1) if (last - first) / (size * power) >= 4)
    return [number * step for number in range(math.ceil(first / step), math.floor(last / step) + 1)]


def _caption(across: str) -> str:
    bottom = 12 + _PLOT_HEIGHT + 44
    return element("text", words(across), class_="tick", x=_percent(_RIGHT), y=bottom, text_anchor="end")


def _upright(mark: Mark, x: Callable[[float], float]) -> str:
    at = x(mark.at)
    anchor, shift = ("end", -1.5) if at > (_LEFT + _RIGHT) / 2 else ("start", 1.5)
    label = element(
        "text", words(mark.label), class_="mark", x=_percent(at + shift), y=28, text_anchor=anchor
    )
    return _line(at, 12, at, 12 + _PLOT_HEIGHT, "dashed") + label


def _level(mark: Mark, y: Callable[[float], float]) -> str:
    at = y(mark.at)
    label = element("text", words(mark.label), class_="mark", x=_percent(_LEFT + 1.5), y=at - 6)
    return _line(_LEFT, at, _RIGHT, at, "dashed") + label


def _dot(corner: tuple[float, float], point: tuple[float, float]) -> str:
    told = element("title", words(f"{point[0]:g}: {point[1]:.3g}"))
    return element("circle", told, class_="dot", cx=_percent(corner[0]), cy=round(corner[1], 2), r=4)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return element("line", class_=kind, x1=_percent(x1), y1=round(y1, 2), x2=_percent(x2), y2=round(y2, 2))


def _percent(value: float) -> str:
    return f"{value:.3f}%"


def _drawing(content: str, height: int, name: str, title: str, description: str, kind: str = "chart") -> str:
    named = element("title", words(title), id=f"{name}-title")
    told = element("desc", words(description), id=f"{name}-desc")
    return element(
        "svg",
        named,
        told,
        content,
        xmlns="http://www.w3.org/2000/svg",
        class_=kind,
        width="100%",
        height=height,
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )
