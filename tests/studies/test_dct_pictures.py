"""Pictures are painted twice from one list of shapes, and say what is synthetic."""

from __future__ import annotations

import io
import sys
from math import log
from xml.etree import ElementTree

import pytest

from deniable.errors import ParameterError
from deniable.studies.dct import charts, measures, rivals
from deniable.studies.dct.charts import Curve, Panel
from deniable.studies.dct.drawing import Dot, Drawing, Line, Words, pillow
from deniable.studies.dct.parametrisations import ALL

SPACE = "{http://www.w3.org/2000/svg}"


def picture(**changes: object) -> Drawing:
    options: dict[str, object] = {"log_across": True, "log_up": True, "synthetic": True}
    panel = Panel(
        "P & Q",
        "epsilon",
        "error",
        [Curve("one", [(0.1, 0.5), (1, 0.05)]), Curve("two", [(0.1, 0.2), (1, 0)])],
        **{**options, **changes},  # type: ignore[arg-type]
    )
    return charts.draw([panel, panel], title="<T>", description="D")


def texts(drawing: Drawing) -> list[str]:
    root = ElementTree.fromstring(drawing.svg())
    return [element.text or "" for element in root.iter(f"{SPACE}text")]


def test_a_picture_is_one_complete_svg_with_everything_named() -> None:
    drawing = picture()
    root = ElementTree.fromstring(drawing.svg())
    assert root.tag == f"{SPACE}svg"
    assert [root[0].text, root[1].text] == ["<T>", "D"]
    assert {"P & Q", "epsilon", "error", "one", "two", "0.1", "1"} <= set(texts(drawing))
    assert texts(drawing).count("synthetic data") == 2
    assert "synthetic data" not in texts(picture(synthetic=False))


def test_equal_steps_on_a_log_scale_are_equally_far() -> None:
    lines = [shape for shape in picture(level=(0.05, "limit")).shapes if isinstance(shape, Line)]
    curve = next(line for line in lines if line.width == 2 and line.points[0][0] < 100)
    (left, high), (right, low) = curve.points
    frame = next(line for line in lines if len(line.points) == 3)
    assert left == pytest.approx(frame.points[0][0])
    assert right == pytest.approx(frame.points[2][0])
    full = frame.points[1][1] - frame.points[0][1]
    assert low - high == pytest.approx(full * log(10) / log(1 / 0.02))


def test_points_that_a_log_scale_cannot_hold_are_left_out() -> None:
    dots = [shape for shape in picture().shapes if isinstance(shape, Dot)]
    assert len(dots) == 2 + 2 * (2 + 1)


def test_a_linear_scale_starts_at_zero() -> None:
    shown = texts(picture(log_up=False, log_across=False))
    assert "0" in shown


def test_a_mechanism_looks_the_same_in_every_figure_and_like_no_other() -> None:
    def colours(*names: str) -> set[tuple[str, str]]:
        curves = [Curve(name, [(0.0, 1.0), (1.0, 2.0)]) for name in names]
        shapes = charts.draw([Panel("p", "x", "y", curves)], title="t", description="d").shapes
        dots = [shape for shape in shapes if isinstance(shape, Dot)][-len(names) :]
        return {(name, dot.colour) for name, dot in zip(names, dots, strict=True)}

    assert colours("PM", "optimal") < colours("PM", "optimal", "DCT, range of PM", "something else")
    assert set(charts.STYLES) >= {*rivals.NAMES, *(reading.name for reading in ALL), *measures.LEARNERS}
    assert len({(style.colour, style.dash) for style in charts.STYLES.values()}) == len(charts.STYLES)
    for name in rivals.SPECIMENS:
        assert charts.STYLES[name].hollow


def test_numbers_on_an_axis_have_separators() -> None:
    curve = Curve("one", [(1000, 0.5), (316_228, 0.05)])
    panel = Panel("p", "people", "y", [curve], log_across=True, ticks=[1000, 316_228])
    assert {"1,000", "316,228"} <= set(texts(charts.draw([panel], title="t", description="d")))


def test_below_a_heading_the_picture_leaves_its_own_out() -> None:
    drawing = picture()
    view = ElementTree.fromstring(drawing.svg(headed=False)).attrib["viewBox"]
    _, top, width, height = (int(number) for number in view.split())
    heading = next(shape for shape in drawing.shapes if isinstance(shape, Words))
    assert heading.text == "<T>"
    assert heading.at[1] < top
    assert (width, height + top) == (drawing.width, drawing.height)


def test_png_has_twice_the_pixels_and_the_colours_of_the_svg() -> None:
    image_module = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    drawing = Drawing(60, 40, [Line(((10, 20), (50, 20)), "#ff0000", 4), Words((5, 10), "x")], "t", "d")
    image = image_module.open(io.BytesIO(drawing.png())).convert("RGB")
    assert image.size == (120, 80)
    assert image.getpixel((60, 40)) == pytest.approx((255, 0, 0), abs=4)
    assert image.getpixel((60, 70)) == (255, 255, 255)


def test_dashes_are_painted_as_dashes() -> None:
    image_module = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    drawing = Drawing(100, 20, [Line(((0, 10), (50, 10), (100, 10)), "#000000", 2, (10, 10))], "t", "d")
    image = image_module.open(io.BytesIO(drawing.png())).convert("L")
    row = [image.getpixel((x, 20)) < 128 for x in range(10, 190, 20)]
    assert row == [True, False] * 4 + [True]


def test_without_pillow_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ParameterError, match=r'pip install "deniable\[study\]"'):
        pillow()


def test_for_a_phone_the_charts_stand_below_one_another() -> None:
    drawing = picture()
    assert drawing.narrow is not None
    root = ElementTree.fromstring(drawing.narrow.svg(headed=False))
    titles = [element for element in root.iter(f"{SPACE}text") if element.text == "P & Q"]
    assert len({element.get("x") for element in titles}) == 1
    assert len({element.get("y") for element in titles}) == 2
    assert drawing.narrow.width == drawing.width / 2
    dots = [shape.at for shape in drawing.narrow.shapes if isinstance(shape, Dot)]
    assert all(0 < x < drawing.narrow.width and 0 < y < drawing.narrow.height for x, y in dots)
