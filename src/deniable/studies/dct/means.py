"""Figures 1 to 3: the mean estimate against alpha, epsilon and the number of people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deniable.studies.dct import charts, measures, rivals
from deniable.studies.dct.charts import Curve, Panel
from deniable.studies.dct.notebook import Cell, Numbers
from deniable.studies.dct.parametrisations import SCALED
from deniable.studies.dct.parts import Data, Part, Sizes, shown

SEED = 2022
MADE_UP = ("GAUSS", "EXP", "UNIFORM")
_HEADINGS = (
    *("data", "synthetic", "mechanism", "private", "epsilon", "alpha", "people", "runs"),
    *("measured error", "expected error", "tolerance", "inside"),
)


def cells(sizes: Sizes, data: Data) -> dict[str, list[Cell]]:
    """Return the computations of the three figures."""
    return {
        "figure1": [
            _cell(name, epsilon, _gauss(sizes.people), sizes.runs, alpha)
            for epsilon in sizes.epsilons
            for alpha in sizes.alphas
            for name in (SCALED.name, *(("PM",) if alpha == sizes.alphas[0] else ()))
        ],
        "figure2": [
            _cell(name, epsilon, given, sizes.runs)
            for given in _samples(sizes, data)
            for epsilon in sizes.epsilons
            for name in rivals.NAMES
        ],
        "figure3": [_cell(name, "1", _gauss(n), sizes.runs) for n in sizes.crowds for name in rivals.NAMES],
    }


def _cell(name: str, epsilon: str, data: list[Any], runs: int, alpha: str = "1/4") -> Cell:
    arguments = {"mechanism": name, "epsilon": epsilon, "data": data, "runs": runs, "alpha": alpha}
    return Cell(measures.mean_error, arguments)


def _gauss(n: int) -> list[Any]:
    return ["GAUSS", n, SEED, None, ""]


def _samples(sizes: Sizes, data: Data) -> list[list[Any]]:
    real = [["ADULT age", 0, 0, *data.file("ADULT")]] if data.adult else []
    return [*real, *([name, sizes.people, SEED, None, ""] for name in MADE_UP)]


def parts(cells: dict[str, list[Cell]], found: dict[str, list[Numbers]]) -> list[Part]:
    """Return the three figures with their tables."""
    rows = {name: _rows(cells[name], found[name]) for name in ("figure1", "figure2", "figure3")}
    return [_alpha(rows["figure1"]), _epsilon(rows["figure2"]), _people(rows["figure3"])]


def _rows(cells: Sequence[Cell], found: Sequence[Numbers]) -> list[dict[str, Any]]:
    return [
        {**cell.arguments, **numbers, "set": cell.arguments["data"][0]}
        for cell, numbers in zip(cells, found, strict=True)
    ]


def _curves(rows: Sequence[dict[str, Any]], across: str) -> list[Curve]:
    names = dict.fromkeys(row["mechanism"] for row in rows)
    return [
        Curve(name, [(float(row[across]), row["measured"]) for row in rows if row["mechanism"] == name])
        for name in names
    ]


def _alpha(rows: list[dict[str, Any]]) -> Part:
    scaled = [row for row in rows if row["mechanism"] == SCALED.name]
    for row in scaled:
        row["delta"] = float(SCALED.specimen(row["epsilon"], alpha=row["alpha"]).alone(-1, 1))
    error, delta = (_by_epsilon(scaled, number) for number in ("measured", "delta"))
    at = sorted({float(row["alpha"]) for row in scaled})
    up = "mean absolute error"
    drawing = charts.draw(
        [
            Panel("GAUSS", "alpha", up, error, log_across=True, log_up=True, synthetic=True, ticks=at),
            Panel("What a report gives away", "alpha", "delta between -1 and 1", delta, True, ticks=at),
        ],
        title="Figure 1: DCT, d = alpha/(e^(eps/2) - 1): less alpha, less error, less privacy",
        description="Mean absolute error on GAUSS, and delta, against alpha, one curve an epsilon.",
    )
    words = (
        "alpha scales the noise of DCT. The error falls with it, and so does privacy: delta is the share of "
        "reports on one value that the other cannot have made.",
    )
    return Part("figure1", "Influence of alpha", words, _HEADINGS, _table(rows), drawing, synthetic=True)


def _by_epsilon(rows: list[dict[str, Any]], number: str) -> list[Curve]:
    return [
        Curve(f"epsilon {e}", [(float(row["alpha"]), row[number]) for row in rows if row["epsilon"] == e])
        for e in dict.fromkeys(row["epsilon"] for row in rows)
    ]


def _epsilon(rows: list[dict[str, Any]]) -> Part:
    sets = list(dict.fromkeys(row["set"] for row in rows))
    panels = [
        Panel(
            name,
            "epsilon that is claimed",
            "mean absolute error",
            _curves([row for row in rows if row["set"] == name], "epsilon"),
            log_across=True,
            log_up=True,
            synthetic=name in MADE_UP,
            ticks=sorted({float(row["epsilon"]) for row in rows}),
        )
        for name in sets
    ]
    drawing = charts.draw(
        panels,
        title="Figure 2: error of the mean against epsilon (DCT keeps none)",
        description="Mean absolute error against epsilon for each mechanism, one panel a data set.",
    )
    words = (
        "Readings of DCT lie below the others by their missing privacy, not by skill: figure 5. Expected "
        "errors are sqrt(2 V / (pi n)) from exact variances; the tolerance is 7 standard deviations of the "
        "mean of the runs.",
    )
    return Part("figure2", "Error against epsilon", words, _HEADINGS, _table(rows), drawing, synthetic=True)


def _people(rows: list[dict[str, Any]]) -> Part:
    for row in rows:
        row["people"] = row["data"][1]
    panel = Panel(
        "GAUSS, epsilon 1",
        "people",
        "mean absolute error",
        _curves(rows, "people"),
        log_across=True,
        log_up=True,
        synthetic=True,
        ticks=sorted({row["people"] for row in rows}),
    )
    drawing = charts.draw(
        [panel],
        title="Figure 3: error against the number of people",
        description="Mean absolute error on GAUSS at epsilon 1 against the number of people.",
    )
    words = ("Every mechanism gains with the root of the number of people; that part of the source holds.",)
    return Part("figure3", "Error against people", words, _HEADINGS, _table(rows), drawing, synthetic=True)


def _table(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    return [
        [
            row["set"],
            "yes" if row["set"] in MADE_UP else "no",
            row["mechanism"],
            "no" if row["mechanism"] in rivals.SPECIMENS else "yes",
            row["epsilon"],
            row["alpha"] if row["mechanism"] == SCALED.name else "",
            str(row["data"][1] or "all"),
            str(row["runs"]),
            *(shown(row[name]) for name in ("measured", "expected", "tolerance")),
            "yes" if row["inside"] else "NO",
        ]
        for row in rows
    ]
