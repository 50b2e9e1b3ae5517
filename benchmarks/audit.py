"""Measure the audit: how many runs a second it takes in, and how much an audit of what size can see.

    python -m benchmarks.audit [--most 10000000] [--audits 5] [--plot docs/audit-power.svg] [--json FILE]

Bounds are medians of several audits of a correct mechanism at 95 % confidence, without a claim. "best" is
what Clopper-Pearson gives for the best half-line {output >= t}, known beforehand, when its rates are exactly
their probabilities and no run is spent on a pilot: no audit that looks at half-lines can expect more.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction
from math import log, log10
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import betaincinv
from scipy.stats import norm

import deniable as dn
from benchmarks.report import Row, middle, publish
from deniable.audit import Case, release, sampled
from deniable.noise.gaussian import DiscreteGaussian
from deniable.noise.laplace import DiscreteLaplace
from deniable.publish.svg import element, words

STEPS = 64
SIGMA = 3.7306317
DELTA = 1e-5
SURE = 0.95
BITS = dn.SystemBits()


def laplace() -> Callable[[int, int], Any]:
    """Laplace noise of scale 1 on a grid of 1/64: epsilon 1."""
    noise = DiscreteLaplace(STEPS)
    return lambda value, n: value + noise.sample(n, bits=BITS) / STEPS


def gaussian() -> Callable[[int, int], Any]:
    """Gaussian noise on a grid of 1/64: (1, 1e-5)."""
    noise = DiscreteGaussian(Fraction(SIGMA * STEPS) ** 2)
    return lambda value, n: value + noise.sample(n, bits=BITS) / STEPS


def reached(run: Callable[[int, int], Any], trials: int, delta: float, audits: int) -> float:
    """The median bound on epsilon."""
    batch = min(trials, 200_000)
    found = [
        sampled(run, 0, 1, trials=trials, confidence=SURE, delta=delta, batch=batch) for _ in range(audits)
    ]
    return middle([one.evidence.epsilon for one in found if one.evidence is not None])


def best(kind: str, trials: int, delta: float) -> float:
    """The bound of the best half-line when rates are what they should be."""
    tail = (
        norm.sf
        if kind == "Gaussian"
        else lambda t: np.where(t > 0, np.exp(-np.abs(t)) / 2, 1 - np.exp(-np.abs(t)) / 2)
    )
    wide = SIGMA if kind == "Gaussian" else 1.0
    t = np.linspace(-3 * wide, 7 * wide, 4001)
    p, q = tail((t - 1) / wide), tail(t / wide)
    low = betaincinv(p * trials, trials - p * trials + 1, (1 - SURE) / 2)
    high = betaincinv(q * trials + 1, trials - q * trials, (1 + SURE) / 2)
    return float(np.max(np.log(np.maximum(low - delta, 1e-300) / high)))


def power(most: int, audits: int) -> list[Row]:
    """Bounds against trials."""
    rows: list[Row] = []
    for exponent in range(6, 2 * int(log10(most)) + 1):
        trials = round(10 ** (exponent / 2))
        row: dict[str, object] = {"runs of each input": f"{trials:,}"}
        for kind, run, delta in (("Laplace", laplace(), 0.0), ("Gaussian", gaussian(), DELTA)):
            row[f"{kind}: bound"] = f"{reached(run, trials, delta, audits):.3f}"
            row[f"{kind}: best"] = f"{best(kind, trials, delta):.3f}"
        rows.append(row)
    return rows


def speed() -> list[Row]:
    """Runs a second, of both inputs together."""
    table = pa.table({"colour": ["red", "blue", "green"], "people": [5, 7, 9]})
    subjects: list[tuple[str, Callable[..., Any], int | None, int]] = [
        ("numbers, 100,000 in a batch", lambda value, n: np.zeros(n) + value, 100_000, 5_000_000),
        ("numbers, one by one", lambda value: value + 0.5, None, 200_000),
        ("tables of three rows, one by one", lambda _: table, None, 20_000),
    ]
    rows: list[Row] = []
    for name, run, batch, trials in subjects:
        start = time.perf_counter()
        sampled(run, 0, 1, trials=trials, confidence=SURE, batch=batch)
        rows.append({"subject": name, "runs a second": _per_second(2 * trials, start)})
    for together in (1000, 1):
        trials = 5000 if together > 1 else 50
        start = time.perf_counter()
        release(_query(), epsilon=1, trials=trials, cases=[_case()], together=together)
        rows.append(
            {"subject": f"a release, {together:,} together", "runs a second": _per_second(2 * trials, start)}
        )
    return rows


def _query() -> Any:
    empty = pa.table(
        {
            "person": pa.array([], pa.string()),
            "colour": pa.array([], pa.string()),
            "spend": pa.array([], pa.float64()),
        }
    )
    grouped = dn.protect(empty, unit="person").group_by("colour", keys=["red", "blue"])
    return grouped.aggregate(people=dn.units(), spend=dn.sum("spend", bounds=(0, 10), max_rows=2))


def _case() -> Case:
    crowd = [
        {"person": unit, "colour": colour, "spend": 3.0} for unit in (1, 2) for colour in ("red", "blue")
    ]
    return Case("one more", crowd, [{"person": 0, "colour": "red", "spend": 10.0}])


def _per_second(runs: int, start: float) -> str:
    return f"{runs / (time.perf_counter() - start):,.0f}"


def drawing(rows: list[Row]) -> str:
    """Return the bounds as an SVG drawing that stands by itself."""
    left, right, top, bottom = 60.0, 640.0, 20.0, 320.0
    trials = [float(str(row["runs of each input"]).replace(",", "")) for row in rows]

    def x(value: float) -> float:
        return left + (right - left) * log(value / trials[0]) / log(trials[-1] / trials[0])

    def y(value: float) -> float:
        return bottom - (bottom - top) * value

    parts = [_line(left, y(level), right, y(level), "#8884") for level in (0, 0.25, 0.5, 0.75, 1)]
    parts += [_text(left - 8, y(level) + 4, f"{level:g}", "end") for level in (0, 0.25, 0.5, 0.75, 1)]
    parts += [
        _text(x(10**power), bottom + 20, f"{10**power:,}", "middle")
        for power in range(3, 1 + int(log10(trials[-1])))
    ]
    parts += [
        _text(right, bottom + 44, "runs of each input", "end"),
        _text(left, 12, "epsilon is at least", "start"),
    ]
    for column, colour, dash in (
        ("Laplace: bound", "#1f6feb", ""),
        ("Laplace: best", "#1f6feb", "4 4"),
        ("Gaussian: bound", "#c2410c", ""),
        ("Gaussian: best", "#c2410c", "4 4"),
    ):
        points = [(x(at), y(max(0.0, float(str(row[column]))))) for at, row in zip(trials, rows, strict=True)]
        parts.append(_curve(points, colour, dash))
    parts += [
        _text(x(12_000), y(0.85), "Laplace, epsilon 1", "start", "#1f6feb"),
        _text(right - 8, y(0.6), "Gaussian, (1, 1e-5)", "end", "#c2410c"),
        _text(right - 8, y(0.1), "dashed: the best half-line, known beforehand", "end"),
    ]
    named = element("title", words("What an audit of a correct mechanism shows, by its size"))
    return element(
        "svg",
        named,
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox="0 0 690 380",
        font_family="system-ui, sans-serif",
        font_size=13,
        role="img",
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return element("line", x1=round(x1, 1), y1=round(y1, 1), x2=round(x2, 1), y2=round(y2, 1), stroke=colour)


def _curve(points: list[tuple[float, float]], colour: str, dash: str) -> str:
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    return element("polyline", points=path, fill="none", stroke=colour, stroke_width=2, stroke_dasharray=dash)


def _text(x: float, y: float, content: str, anchor: str, colour: str = "#666") -> str:
    return element("text", words(content), x=round(x, 1), y=round(y, 1), text_anchor=anchor, fill=colour)


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=int, default=10_000_000)
    parser.add_argument("--audits", type=int, default=5)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    command = f"python -m benchmarks.audit --most {given.most} --audits {given.audits}"
    fast = speed()
    publish("audit speed", "Runs that an audit takes in", fast, command, None)
    rows = power(given.most, given.audits)
    title = (
        "What an audit of a correct mechanism shows: the lower bound on epsilon (truth 1), 95 % confidence"
    )
    publish("audit", title, rows, command, given.json)
    if given.plot is not None:
        given.plot.write_text(drawing(rows) + "\n", "utf-8")


if __name__ == "__main__":
    main()
