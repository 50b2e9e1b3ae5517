"""Local protocols side by side, before there are any data: their error, and how near it is to the best."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from deniable.cli.protocols import Setup
from deniable.cli.saving import save_words
from deniable.errors import ParameterError
from deniable.exact import positive
from deniable.exact import text as exact_text

_BAR = 23


@dataclass(frozen=True, slots=True)
class Line:
    """One protocol: its error and the size of a report in bytes."""

    name: str
    error: float
    size: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Protocols with the same measure of error, and the error that none can beat (or that none here does)."""

    title: str
    measure: str
    least: float
    reference: str
    lines: tuple[Line, ...]

    @property
    def notes(self) -> list[str]:
        """How to read it."""
        return [
            f"Error: {self.measure}.",
            f"Over: that error divided by {self.reference}, {_number(self.least)}. The bar is the reverse: "
            "the share of the people with whom that would be reached.",
            "Bytes: of a whole report; 9 of them are its version and the fingerprint of its parameters.",
        ]

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return the table: name, error, over, bytes."""
        return [
            (line.name, _number(line.error), _times(line.error / self.least), str(line.size))
            for line in self.lines
        ]

    def text(self) -> str:
        """Return the table with bars, at most 80 columns wide, and how to read it."""
        from deniable.publish.terminal import bar

        rows = [("protocol", "error", "over", "bytes"), *self.rows()]
        shown = [f"{name:<22} {error:>12} {over:>11} {size:>7}  " for name, error, over, size in rows]
        for place, line in enumerate(self.lines, start=1):
            shown[place] += bar(self.least / line.error, _BAR)
        notes = [textwrap.fill(note, 80) for note in self.notes]
        return "\n".join([self.title, "", *(line.rstrip() for line in shown), "", *notes])

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {
            "title": self.title,
            "measure": self.measure,
            "reference": {"name": self.reference, "error": self.least},
            "protocols": [
                {"name": line.name, "error": line.error, "over": line.error / self.least, "bytes": line.size}
                for line in self.lines
            ],
        }

    def drawing(self) -> str:
        """Return bars as SVG."""
        from deniable.publish import svg

        nan = float("nan")
        entries = [
            svg.Bar(
                line.name,
                f"{self.least / line.error:.1%}".replace("%", " %"),
                self.least / line.error,
                nan,
                nan,
            )
            for line in self.lines
        ]
        told = f"Each bar is {self.reference}, divided by the protocol's own: longer is better."
        return svg.bars(entries, name="comparison", title=self.title, description=told)


def compared(setup: Setup, norm: str) -> Comparison:
    """Return all protocols of a kind at one epsilon, the best first.

    Raises:  ParameterError: no kind is named, or its size is missing.
    """
    match setup.kind:
        case "mean":
            found = _means(setup.single())
        case "frequency":
            found = _frequencies(setup.single(), setup.items())
        case "vector":
            found = _vectors(setup.single(), setup.size(), norm)
    lines = tuple(sorted(found.lines, key=lambda line: line.error))
    return Comparison(found.title, found.measure, found.least, found.reference, lines)


def save(found: Comparison, path: Path) -> None:
    """Write the picture (.svg), or a page with picture and table (.html).

    Raises:  ParameterError: another ending, or the file cannot be written.
    """
    from deniable import __version__
    from deniable.cli import plots
    from deniable.publish import picture

    if path.suffix == ".svg":
        plots.save(found.drawing(), path, option="--out")
        return
    if path.suffix not in (".html", ".htm"):
        raise ParameterError("--out", str(path), "has another ending", "Name a file ending in .svg or .html.")
    page = picture.write(
        found.drawing(),
        title=found.title,
        lead=f"How near the error of each protocol comes to {found.reference}: longer bars are better.",
        caption=found.title,
        headings=("protocol", "error", "over", "bytes"),
        rows=found.rows(),
        notes=found.notes,
        version=__version__,
    )
    save_words(page, path, "--out")


def _means(epsilon: str) -> Comparison:
    from deniable.cli import remembering
    from deniable.local import mean
    from deniable.local.mean import protocol

    spent, least, lines = positive(epsilon, "epsilon"), mean.limit(epsilon).lower, []
    for name in get_args(protocol.Mechanism):
        made = mean.Mean(epsilon=epsilon, bounds=(-1, 1), mechanism=name)
        lines.append(Line(name, float(made.error().worst_variance), _bytes(made)))
    lines += remembering.numbers(spent)
    return Comparison(
        f"Mean of numbers from -1 to 1, epsilon {exact_text(spent)}",
        "worst-case variance of one report; n reports divide it by n",
        least,
        "the least error that any unbiased mechanism can have",
        tuple(lines),
    )


def _frequencies(epsilon: str, items: list[Any]) -> Comparison:
    from deniable import local
    from deniable.cli import remembering
    from deniable.local.frequency.choice import NAMES

    best = local.Frequency(epsilon=epsilon, domain=items, mechanism="subset")
    spent, lines = best.epsilon, []
    for name in NAMES:
        try:
            made = local.Frequency(epsilon=epsilon, domain=items, mechanism=name)
        except ParameterError:
            continue
        lines.append(Line(name, float(made.error().absent_variance), _bytes(made)))
    lines += remembering.shares(spent, items)
    return Comparison(
        f"Shares of {len(items):,} items, epsilon {exact_text(spent)}",
        "variance of the share of an item that nobody has, per report; n reports divide it by n",
        float(best.error().absent_variance),
        "the error of subset selection",
        tuple(lines),
    )


def _vectors(epsilon: str, dimension: int, norm: str) -> Comparison:
    if norm not in ("l2", "linf"):
        raise ParameterError("--norm", norm, "is unknown", "Write l2 or linf.")
    spent, lines = positive(epsilon, "epsilon"), []
    for name, made in _all_vectors(epsilon, dimension, norm):
        error = made.error()
        ends = [1.0, *[0.0] * (dimension - 1)], [dimension**-0.5] * dimension
        unit = max(float(error.variance_at(v).sum()) for v in ends)
        lines.append(Line(name, unit if norm == "l2" else error.mean_squared_error, _bytes(made)))
    best = min(line.error for line in lines)
    ball = "of length at most 1" if norm == "l2" else "with entries from -1 to 1"
    told = "of length 1" if norm == "l2" else "at worst"
    return Comparison(
        f"Mean of vectors {ball} in {dimension:,} dimensions, epsilon {exact_text(spent)}",
        f"mean squared error of one report about a vector {told}; n reports divide it by n",
        best,
        "the error of the best protocol here",
        tuple(lines),
    )


def _all_vectors(epsilon: str, dimension: int, norm: str) -> Iterator[tuple[str, Any]]:
    """Yield every mechanism for this norm; the cube's can be used for the ball too."""
    from deniable.local import Vector

    options: list[tuple[str, dict[str, Any]]] = [
        ("sampling, optimal", {"norm": "linf", "mechanism": "sampling"}),
        ("sampling, duchi", {"norm": "linf", "mechanism": "sampling", "mean": "duchi"}),
        ("sampling, piecewise", {"norm": "linf", "mechanism": "sampling", "mean": "piecewise", "k": "wang"}),
        ("harmony", {"norm": "linf", "mechanism": "harmony"}),
        ("duchi", {"norm": "linf", "mechanism": "duchi"}),
    ]
    if norm == "l2":
        options = [(name, {"norm": "l2", "mechanism": name}) for name in ("privunit", "privunitg")] + options
    for name, words in options:
        yield name, Vector(epsilon=epsilon, dimension=dimension, **words)


def _bytes(protocol: Any) -> int:
    return len(protocol.client().report(None))


def _times(ratio: float) -> str:
    return f"{ratio:,.4f}" if ratio < 1e5 else f"{ratio:.2e}"


def _number(value: float) -> str:
    return f"{value:,.6g}" if 1e-4 <= value < 1e7 else f"{value:.4e}"
