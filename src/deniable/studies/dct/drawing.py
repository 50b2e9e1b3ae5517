"""Pictures as a list of lines, dots and words, painted twice from the same list: as SVG and as PNG.

SVG is text of our own and needs nothing. PNG needs Pillow (`pip install "deniable[study]"`), whose built-in
font makes it look the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from typing import Any, Literal, assert_never

from deniable.errors import ParameterError
from deniable.publish import svg

Point = tuple[float, float]
_SHARP = 2
_ANCHORS = {"start": "l", "middle": "m", "end": "r"}


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points, in pixels. dash: lengths of strokes and gaps; empty: solid."""

    points: Sequence[Point]
    colour: str
    width: float = 1
    dash: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Dot:
    """A circle, filled with its colour or, hollow, with white."""

    at: Point
    colour: str
    radius: float = 3
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """A line of text; `at` is its end or middle on the baseline."""

    at: Point
    text: str
    size: int = 12
    anchor: Literal["start", "middle", "end"] = "start"
    colour: str = "#222222"


Shape = Line | Dot | Words


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture on white. title, description: for those who do not see it. head: height of its heading.

    narrow: the same for phones, without a heading; None if there is none.
    """

    width: int
    height: int
    shapes: Sequence[Shape]
    title: str
    description: str
    head: int = 0
    narrow: Drawing | None = None

    def svg(self, *, headed: bool = True) -> str:
        """Return the picture as one SVG element, complete in itself; not `headed`: for below a heading."""
        top = 0 if headed else self.head
        view = f"0 {top} {self.width} {self.height - top}"
        return svg.element(
            "svg",
            svg.element("title", svg.words(self.title)),
            svg.element("desc", svg.words(self.description)),
            svg.element("rect", y=top, width="100%", height="100%", fill="#ffffff"),
            *(_element(shape) for shape in self.shapes),
            xmlns="http://www.w3.org/2000/svg",
            viewBox=view,
            role="img",
            font_family="Helvetica, Arial, sans-serif",
        )

    def png(self) -> bytes:
        """Return the picture as PNG, twice as fine as its size in pixels says.

        Raises:  ParameterError: Pillow is not installed.
        """
        image_module, draw_module, _ = pillow()
        size = (self.width * 2 * _SHARP, self.height * 2 * _SHARP)
        image = image_module.new("RGB", size, "#ffffff")
        pen = draw_module.Draw(image)
        for shape in self.shapes:
            _paint(pen, shape, 2 * _SHARP)
        small = image.resize((self.width * 2, self.height * 2), image_module.Resampling.BOX)
        out = BytesIO()
        small.quantize(128).save(out, "PNG", optimize=True)
        return out.getvalue()


def pillow() -> tuple[Any, Any, Any]:
    """Return the modules of Pillow that paint.

    Raises:  ParameterError: it is not installed.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        fix = 'Install it: pip install "deniable[study]".'
        raise ParameterError("PNG pictures", None, "need Pillow, which is not here", fix) from None
    return Image, ImageDraw, ImageFont


def _element(shape: Shape) -> str:
    match shape:
        case Line():
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
            dash = {"stroke_dasharray": " ".join(map(str, shape.dash))} if shape.dash else {}
            return svg.element(
                "polyline",
                points=points,
                fill="none",
                stroke=shape.colour,
                stroke_width=shape.width,
                stroke_linejoin="round",
                **dash,
            )
        case Dot():
            x, y = shape.at
            size = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": shape.radius}
            if shape.hollow:
                return svg.element("circle", fill="#ffffff", stroke=shape.colour, stroke_width=1.5, **size)
            return svg.element("circle", fill=shape.colour, **size)
        case Words():
            x, y = shape.at
            return svg.element(
                "text",
                svg.words(shape.text),
                x=f"{x:.1f}",
                y=f"{y:.1f}",
                font_size=shape.size,
                text_anchor=shape.anchor,
                fill=shape.colour,
            )
        case _:
            assert_never(shape)


def _paint(pen: Any, shape: Shape, scale: int) -> None:
    match shape:
        case Line():
            width = max(1, round(shape.width * scale))
            for part in _dashed([(x * scale, y * scale) for x, y in shape.points], shape.dash, scale):
                pen.line(part, fill=shape.colour, width=width, joint="curve")
        case Dot():
            x, y, r = (number * scale for number in (*shape.at, shape.radius))
            inside = "#ffffff" if shape.hollow else shape.colour
            edge = round(1.5 * scale)
            pen.ellipse((x - r, y - r, x + r, y + r), fill=inside, outline=shape.colour, width=edge)
        case Words():
            font = pillow()[2].load_default(shape.size * scale)
            place = (shape.at[0] * scale, shape.at[1] * scale)
            pen.text(place, shape.text, fill=shape.colour, font=font, anchor=f"{_ANCHORS[shape.anchor]}s")
        case _:
            assert_never(shape)


def _dashed(points: Sequence[Point], dash: tuple[int, ...], scale: int) -> list[list[Point]]:
    """Return the strokes of a dashed line; the line itself if it is solid."""
    if not dash:
        return [list(points)]
    strokes: list[list[Point]] = []
    place, left, drawn = 0, float(dash[0] * scale), [points[0]]
    for start, end in pairwise(points):
        long = ((end[0] - start[0]) ** 2 + (end[1] - start[1]) ** 2) ** 0.5
        done = 0.0
        while long - done > left:
            done += left
            corner = tuple(a + (b - a) * done / long for a, b in zip(start, end, strict=True))
            drawn.append((corner[0], corner[1]))
            if place % 2 == 0:
                strokes.append(drawn)
            place, drawn = place + 1, [(corner[0], corner[1])]
            left = float(dash[place % len(dash)] * scale)
        left -= long - done
        drawn.append(end)
    return [*strokes, drawn] if place % 2 == 0 else strokes
