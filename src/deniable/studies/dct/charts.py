"""The charts of the study: panels of curves with linear or logarithmic scales, and one legend below."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle

from deniable.studies.dct.drawing import Dot, Drawing, Line, Shape, Words

_WIDTH, _NARROW, _HEIGHT = 760, 380, 270
_LETTER = 6.2
_LEFT, _TOP, _RIGHT, _BOTTOM = 62, 40, 26, 46
_GREY, _LIGHT, _RED = "#555555", "#dddddd", "#b00020"
_SOLID, _LONG, _SHORT, _MIXED = (), (7, 3), (2, 3), (8, 3, 2, 3)
_HEAD, _LEGEND = 34, 20


@dataclass(frozen=True, slots=True)
class Style:
    """How a curve is drawn. hollow: its dots are; so are those of all that is not private."""

    colour: str
    dash: tuple[int, ...] = _SOLID
    hollow: bool = False


STYLES = {
    "DCT, range of PM": Style("#d55e00", _SOLID, hollow=True),
    "DCT, range of Duchi": Style("#cc79a7", _LONG, hollow=True),
    "DCT, alpha 1/4": Style("#8b1a1a", _SHORT, hollow=True),
    "DCT, half of Duchi": Style("#e69f00", _MIXED, hollow=True),
    "DCT, flip rate": Style("#7a4b1e", _LONG, hollow=True),
    "DCT, fixed": Style("#f0776c", _SHORT, hollow=True),
    "PM": Style("#0072b2"),
    "Duchi": Style("#009e73", _LONG),
    "HM": Style("#7b3fa0", _MIXED),
    "Laplace": Style("#56b4e9", _SHORT),
    "repair": Style("#9a9400", _LONG),
    "optimal": Style("#000000"),
    "PrivUnit": Style("#00c2a8"),
    "statistics": Style("#3b49ff", _MIXED),
    "least squares": Style("#606060", _SHORT, hollow=True),
    "clipped": Style("#909090", _LONG, hollow=True),
    "mean": Style("#b9b9b9", _SOLID, hollow=True),
    "the claim": Style("#606060", _LONG),
}
"""What a mechanism looks like, in every figure."""

_OTHERS = tuple(map(Style, ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9")))


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of one name; a mechanism looks the same in all figures, other names in all panels of one."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart. level: a y to mark with a line and a name. synthetic: the data is made up; it is stamped."""

    title: str
    across: str
    up: str
    curves: Sequence[Curve]
    log_across: bool = False
    log_up: bool = False
    level: tuple[float, str] | None = None
    synthetic: bool = False
    ticks: Sequence[float] = field(default=())


def draw(panels: Sequence[Panel], *, title: str, description: str, columns: int = 2) -> Drawing:
    """Return the panels in rows, with a title above and one legend below; one under another for phones."""
    shapes, height = _placed(panels, _WIDTH, min(columns, len(panels)), across=3)
    narrow, narrow_height = _placed(panels, _NARROW, 1, across=2)
    heading = Words((12, 22), title, 15)
    return Drawing(
        _WIDTH,
        height,
        [heading, *shapes],
        title,
        description,
        _HEAD,
        Drawing(_NARROW, narrow_height, narrow, title, description, _HEAD),
    )


def _placed(panels: Sequence[Panel], width: int, columns: int, *, across: int) -> tuple[list[Shape], int]:
    """Return what is drawn below the title, and where it ends. across: names in a row of the legend."""
    names = list(dict.fromkeys(curve.name for panel in panels for curve in panel.curves))
    styles = _styles(names)
    rows = math.ceil(len(panels) / columns)
    wide = width // columns
    shapes: list[Shape] = []
    for place, panel in enumerate(panels):
        left, above = (place % columns) * wide, _HEAD + (place // columns) * _HEIGHT
        shapes += _panel(panel, left, above, wide, styles)
    height = _HEAD + rows * _HEIGHT
    for place, name in enumerate(names):
        x, y = 14 + (place % across) * (width // across), height + 14 + (place // across) * _LEGEND
        shapes += _sample(name, styles[name], x, y)
    return shapes, height + 18 + math.ceil(len(names) / across) * _LEGEND


def _styles(names: Sequence[str]) -> dict[str, Style]:
    """Return the style of each name; those without one of their own take turns."""
    others = cycle(_OTHERS)
    return {name: STYLES.get(name) or next(others) for name in names}


def _sample(name: str, style: Style, x: float, y: float) -> list[Shape]:
    return [
        Line(((x, y - 4), (x + 26, y - 4)), style.colour, 2, style.dash),
        Dot((x + 13, y - 4), style.colour, hollow=style.hollow),
        Words((x + 33, y), name, 12),
    ]


def _panel(panel: Panel, left: float, above: float, wide: float, styles: Mapping[str, Style]) -> list[Shape]:
    low_x, high_x, low_y, high_y = _range(panel)
    right, bottom = left + wide - _RIGHT, above + _HEIGHT - _BOTTOM
    x = _scale(low_x, high_x, left + _LEFT, right, log=panel.log_across)
    y = _scale(low_y, high_y, bottom, above + _TOP, log=panel.log_up)
    shapes: list[Shape] = [Words((left + _LEFT, above + 22), panel.title, 13)]
    shapes += _axes(panel, (low_x, high_x, low_y, high_y), x, y)
    shapes.append(Words((right, bottom + 36), panel.across, 12, "end", _GREY))
    shapes.append(Words((left + _LEFT, above + 36), panel.up, 11, "start", _GREY))
    if panel.synthetic:
        shapes.append(Words((right, above + 36), "synthetic data", 12, "end", _RED))
    for curve in panel.curves:
        style = styles[curve.name]
        seen = [(x(a), y(b)) for a, b in curve.points if math.isfinite(b) and (b > 0 or not panel.log_up)]
        if len(seen) > 1:
            shapes.append(Line(seen, style.colour, 2, style.dash))
        dots = seen if len(seen) <= 15 else []
        shapes += [Dot(point, style.colour, hollow=style.hollow) for point in dots]
    if panel.level is not None:
        at, name = panel.level
        fits = _LETTER * (len(panel.title) + len(name) + 12) < wide - _LEFT - _RIGHT
        shapes += [
            Line(((x(low_x), y(at)), (x(high_x), y(at))), _RED, 1, (5, 4)),
            Words((right, above + (22 if fits else 9)), f"- - -  {name}", 11, "end", _RED),
        ]
    return shapes


def _range(panel: Panel) -> tuple[float, float, float, float]:
    points = [point for curve in panel.curves for point in curve.points if math.isfinite(point[1])]
    ups = [b for _, b in points if b > 0 or not panel.log_up] + ([panel.level[0]] if panel.level else [])
    overs = [a for a, _ in points]
    low, high = min(ups, default=0.1), max(ups, default=1)
    if panel.log_up:
        low, high = _round(low / 1.02, up=False), _round(high * 1.02, up=True)
    else:
        low, high = min(0.0, low), high * 1.05
    first, last = min(overs, default=1), max(overs, default=1)
    if first == last:
        first, last = (first / 2, last * 2) if panel.log_across else (first - 1, last + 1)
    return first, last, low, high if high > low else low + 1


def _round(value: float, *, up: bool) -> float:
    """Return the next of 1, 2, 5, 10, 20, ... and their tenths, above or below."""
    power = 10.0 ** math.floor(math.log10(value))
    steps = [size * power for size in (1, 2, 5, 10)]
    return next(step for step in steps if step >= value) if up else max(s for s in steps if s <= value)


def _scale(low: float, high: float, start: float, end: float, *, log: bool) -> Callable[[float], float]:
    """Return the place in pixels of a value between low and high."""

    def place(value: float) -> float:
        if log:
            return start + (end - start) * math.log(value / low) / math.log(high / low)
        return start + (end - start) * (value - low) / (high - low)

    return place


def _axes(
    panel: Panel,
    ends: tuple[float, float, float, float],
    x: Callable[[float], float],
    y: Callable[[float], float],
) -> list[Shape]:
    low_x, high_x, low_y, high_y = ends
    shapes: list[Shape] = []
    for value in _ticks(low_y, high_y, log=panel.log_up):
        shapes.append(Line(((x(low_x), y(value)), (x(high_x), y(value))), _LIGHT))
        shapes.append(Words((x(low_x) - 6, y(value) + 4), f"{value:,.9g}", 11, "end", _GREY))
    marked = panel.ticks or _ticks(low_x, high_x, log=panel.log_across)
    shapes += [Words((x(at), y(low_y) + 17), f"{at:,.9g}", 11, "middle", _GREY) for at in marked]
    shapes.append(Line(((x(low_x), y(high_y)), (x(low_x), y(low_y)), (x(high_x), y(low_y))), _GREY))
    return shapes


def _ticks(low: float, high: float, *, log: bool) -> list[float]:
    if log:
        powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
        sizes = (1, 2, 5) if len(powers) <= 2 else (1,)
        marks = [size * 10.0**power for power in range(powers.start - 1, powers.stop) for size in sizes]
        return [mark for mark in marks if low * 0.999 <= mark <= high * 1.001]
    power = 10.0 ** math.floor(math.log10((high - low) / 4))
    step = next(size * power for size in (5, 2, 1) if (high - low) / (size * power) >= 3)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]
