"""The charts are well-formed, escaped, named for those who do not see them, and to scale."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deniable.publish import svg

SVG = "{http://www.w3.org/2000/svg}"
LINE = [(float(n), float(Fraction(3, 4) * Fraction(1, 3) ** (n - 1))) for n in range(1, 21)]


def parsed(drawing: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawing)


def percent(element: ElementTree.Element, name: str) -> float:
    return float(element.attrib[name].removesuffix("%"))


def of_class(drawing: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    return [element for element in drawing.iter() if element.get("class") == kind]


def entries(*values: float, half: float = 3.0) -> list[svg.Bar]:
    return [svg.Bar(f"group {n}", f"{v:g}", v, v - half, v + half) for n, v in enumerate(values)]


def test_a_bar_and_its_whisker_are_as_long_as_their_numbers() -> None:
    drawing = parsed(svg.bars(entries(97, 47), name="a", title="t", description="d"))
    first, second = of_class(drawing, "bar")
    assert (percent(first, "x"), percent(first, "width")) == (0, 97)
    assert (percent(second, "x"), percent(second, "width")) == (0, 47)
    whisker = of_class(drawing, "whisker")[1]
    assert (percent(whisker, "x1"), percent(whisker, "x2")) == (44, 50)


def test_a_negative_number_goes_left_of_zero() -> None:
    drawing = parsed(svg.bars(entries(72, -22), name="a", title="t", description="d"))
    first, second = of_class(drawing, "bar")
    assert (percent(first, "x"), percent(first, "width")) == (25, 72)
    assert (percent(second, "x"), percent(second, "width")) == (3, 22)
    assert [percent(line, "x1") for line in of_class(drawing, "axis")] == [25, 25]
    labels = [float(label.attrib["y"]) for label in of_class(drawing, "label")]
    for line in of_class(drawing, "axis"):
        assert not [y for y in labels if float(line.attrib["y1"]) < y + 1 < float(line.attrib["y2"])]


def test_what_is_upright_stands_above_the_plot() -> None:
    drawing = parsed(svg.decline(LINE, name="a", title="t", description="d", across="x", up="a chance"))
    (name,) = [element for element in of_class(drawing, "tick") if element.text == "a chance"]
    (plot,) = [element for element in drawing.iter() if "transform" in element.attrib]
    moved = int(plot.attrib["transform"].removeprefix("translate(0,").removesuffix(")"))
    assert float(name.attrib["y"]) < float(of_class(plot, "grid")[0].attrib["y1"]) + moved


@pytest.mark.parametrize("value", [math.nan, math.inf, 0.0])
def test_a_number_that_cannot_be_drawn_spoils_nothing(value: float) -> None:
    drawing = parsed(svg.bars(entries(value), name="a", title="t", description="d"))
    for element in drawing.iter():
        assert not {"nan%", "inf%", "nan", "inf"} & set(element.attrib.values())


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs", "Cn"])))
@example("</text><script>alert(1)</script> & 'more'")
def test_no_text_becomes_markup(text: str) -> None:
    bar = svg.Bar(text, text, 1.0, 0.0, 2.0)
    drawing = parsed(svg.bars([bar], name="a", title=text, description=text))
    assert drawing[0].text == (text or None)
    assert [element.text for element in of_class(drawing, "label")] == [text or None]
    assert {element.tag.removeprefix(SVG) for element in drawing.iter()} <= {
        "svg", "title", "desc", "g", "text", "rect", "line",
    }  # fmt: skip


def test_attributes_are_escaped_too() -> None:
    assert svg.element("text", class_='"><script>') == '<text class="&quot;&gt;&lt;script&gt;"></text>'


def test_a_chart_names_and_describes_itself() -> None:
    drawing = parsed(svg.bars(entries(1.0), name="chart-7", title="people by hue", description="one bar"))
    assert drawing.get("role") == "img"
    ids = {element.get("id"): element.text for element in drawing.iter() if element.get("id")}
    assert [ids[name] for name in str(drawing.get("aria-labelledby")).split()] == ["people by hue", "one bar"]


def test_a_geometric_decline_is_a_straight_line_on_a_log_scale() -> None:
    drawing = parsed(svg.decline(LINE, name="a", title="t", description="d", across="threshold"))
    dots = [(percent(dot, "cx"), float(dot.attrib["cy"])) for dot in of_class(drawing, "dot")]
    assert len(dots) == 20
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(dots)]
    assert max(slopes) - min(slopes) < 0.01 * slopes[0]
    assert len(of_class(drawing, "curve")) == 19


def test_marks_stand_where_they_say() -> None:
    down, level = svg.Mark(16, "16"), svg.Mark(1e-5, "one in 100,000")
    drawing = parsed(
        svg.decline(LINE, name="a", title="t", description="d", across="x", down=down, level=level)
    )
    upright, flat = of_class(drawing, "dashed")
    dots = of_class(drawing, "dot")
    assert upright.get("x1") == upright.get("x2") == dots[15].get("cx")
    # Powers of ten are evenly spaced: 1e-5 is half way down to 1e-10, the last one shown.
    top, bottom = (float(of_class(drawing, "grid")[n].attrib["y1"]) for n in (0, -1))
    assert float(flat.attrib["y1"]) == pytest.approx((top + bottom) / 2)


def test_a_very_deep_decline_keeps_a_readable_scale() -> None:
    points = [(1.0, 0.5), (2.0, 1e-300)]
    drawing = parsed(svg.decline(points, name="a", title="t", description="d", across="x"))
    assert 3 <= len(of_class(drawing, "grid")) <= 11


@pytest.mark.parametrize(
    ("last", "ticks"),
    [
        (30, "0 3 6 9 12 15 18 21 24 27 30"),
        (4, "0 1 2 3 4"),
        (2.13, "0 0.5 1 1.5 2"),
        (0.9, "0 0.2 0.4 0.6 0.8"),
        (0.0004, "0 0.0001 0.0002 0.0003 0.0004"),
    ],
)
def test_the_scale_across_has_round_numbers_however_short_it_is(last: float, ticks: str) -> None:
    points = [(0.0, 0.5), (last, 0.001)]
    drawing = parsed(svg.decline(points, name="a", title="t", description="d", across="x"))
    level = [tick.text for tick in of_class(drawing, "tick") if tick.get("text-anchor") == "middle"]
    assert " ".join(map(str, level)) == ticks


def test_bars_of_two_kinds_have_two_colours_and_say_what_they_mean() -> None:
    entries = [svg.Bar("a", "2", 2, 1, 3), svg.Bar("b", "1", 1, 0, 2, second=True)]
    drawing = svg.bars(entries, name="n", title="t", description="d", kinds=("nobody <trusted>", "curator"))
    root = ElementTree.fromstring(drawing)
    looks = [
        found.attrib["class"] for found in root.iter() if found.attrib.get("class", "").startswith("bar")
    ]
    assert looks == ["bar", "bar second", "bar", "bar second"], "two squares, then two bars"
    assert {"nobody <trusted>", "curator"} <= set(root.itertext())
    plain = ElementTree.fromstring(svg.bars(entries, name="n", title="t", description="d"))
    assert int(root.attrib["height"]) > int(plain.attrib["height"])
