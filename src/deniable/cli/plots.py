"""Drawings as files of their own: our style inside, so that any browser shows them."""

from __future__ import annotations

import sys
import textwrap
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from deniable.cli.saving import save_words
from deniable.errors import ParameterError

if TYPE_CHECKING:
    from deniable.accounting import Account
    from deniable.advice import Advice

_STEPS = 40
_FURTHER = 1000
_SMALLEST = 1e-300
_FINE = 1 << 20
_WIDTH, _MARGIN = 760, 24
_TITLE, _TOLD = 80, 105
_LOOKS = (
    "svg{background:var(--page);font-family:system-ui,sans-serif}svg .name{font-size:17px;font-weight:600}"
)


def save(drawing: str, path: Path, *, option: str = "--plot") -> None:
    """Write a drawing of `publish.svg` as a picture that stands alone, and say so on stderr.

    It carries the style sheet of our pages, its title and description as text, margins, and a size.
    Raises:  ParameterError: the file's ending is not .svg, or it cannot be written.
    """
    if path.suffix.casefold() != ".svg":
        raise ParameterError(option, str(path), "has another ending", "Name a file ending in .svg.")
    save_words(f"{_alone(drawing)}\n", path, option)
    print(f"Wrote {path}.", file=sys.stderr)


def _alone(drawing: str) -> str:
    """Return the drawing inside a larger one, with its title and description above it."""
    from deniable.publish import svg

    looks = (files("deniable.publish") / "templates" / "page.css").read_text("utf-8") + _LOOKS
    parsed = ElementTree.fromstring(drawing)  # noqa: S314 - our own drawing
    title, told = (element.text or "" for element in parsed[:2])
    lines = [(line, "name", 21) for line in textwrap.wrap(title, _TITLE)]
    lines += [(line, "tick", 18) for line in textwrap.wrap(told, _TOLD)]
    parts, top = [svg.element("style", looks)], _MARGIN
    for line, kind, height in lines:
        top += height
        parts.append(svg.element("text", svg.words(line), class_=kind, x=_MARGIN, y=top))
    top, inside = top + 16, _WIDTH - 2 * _MARGIN
    place = f'<svg x="{_MARGIN}" y="{top}" width="{inside}"'
    parts.append(drawing.replace("<svg", place, 1).replace(' width="100%"', "", 1))
    height = top + int(parsed.attrib["height"]) + _MARGIN
    size = {"width": _WIDTH, "height": height, "viewBox": f"0 0 {_WIDTH} {height}"}
    return svg.element("svg", *parts, xmlns="http://www.w3.org/2000/svg", **size)


def curve(spent: Account, *, title: str, epsilon: Fraction, delta: Fraction) -> str:
    """Return a drawing of delta against epsilon, with a mark at one point of it.

    Raises:  ParameterError: there is no curve: delta is 0 at every epsilon.
    """
    from deniable.exact import text
    from deniable.publish import svg

    last = _end(spent, epsilon, delta)
    places = [last * step / _STEPS for step in range(_STEPS + 1)]
    points = [(float(at), float(spent.delta(epsilon=at))) for at in places]
    points = [(at, value) for at, value in points if value >= _SMALLEST]
    if len(points) < 2:
        fix = "Its delta is 0 wherever one looks: leave out --plot."
        raise ParameterError("--plot", title, "has no curve to draw", fix)
    inside = points[0][0] <= epsilon <= points[-1][0]
    return svg.decline(
        points,
        name="privacy-curve",
        title=f"delta against epsilon: {title}",
        description=f"delta falls from {points[0][1]:.3g} to {points[-1][1]:.3g} as epsilon rises.",
        across="epsilon",
        up="delta",
        down=svg.Mark(float(epsilon), f"epsilon {text(epsilon, digits=4)}") if inside else None,
        level=svg.Mark(float(delta), f"delta {text(delta, digits=3)}") if delta >= _SMALLEST else None,
    )


def threshold(advice: Advice) -> str:
    """Return a drawing of the chance that a group of one person is published, against the threshold.

    Raises:  ParameterError: no groups have to be found, so there is no threshold.
    """
    from deniable.exact import text
    from deniable.noise.gaussian import DiscreteGaussian
    from deniable.noise.laplace import DiscreteLaplace
    from deniable.publish import svg

    best = advice.curator
    if best.threshold is None:
        fix = "Leave out --plot, or --public-keys."
        raise ParameterError(
            "--plot", advice.keys, "has nothing to draw: named groups need no threshold", fix
        )
    laplace = best.noise == "laplace"
    noise = DiscreteLaplace(best.scale) if laplace else DiscreteGaussian((best.scale * _FINE) ** 2)
    last = best.threshold + max(3, best.threshold // 8)
    places = range(1, last + 1, max(1, last // _STEPS))
    one = 1 if laplace else _FINE
    points = [(float(at), float(noise.tail((at - 1) * one)[1])) for at in places]
    return svg.decline(
        points,
        name="threshold",
        title="The price of a threshold",
        description=f"The chance that a group of one person is published falls from {points[0][1]:.3g} "
        f"to {points[-1][1]:.3g} as the threshold rises.",
        across="threshold, in people",
        up="chance that a group of one person is published",
        down=svg.Mark(best.threshold, f"threshold {best.threshold:,}"),
        level=svg.Mark(float(best.delta), f"delta {text(best.delta)}"),
    )


def _end(spent: Account, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return an epsilon a little beyond the one that is marked, and above 0."""
    least = max(delta / _FURTHER, Fraction(_SMALLEST)) if delta else Fraction(1, 10**12)
    try:
        return max(Fraction(spent.epsilon(least)), epsilon * Fraction(21, 20)) or Fraction(1)
    except ParameterError:
        return epsilon * 3 / 2 or Fraction(1)
