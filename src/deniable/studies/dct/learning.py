"""Figure 4: the error of linear regression; and groups of one against larger ones, which has a figure too."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, pstdev
from typing import Any

from deniable.studies.dct import charts, measures, rivals
from deniable.studies.dct.charts import Curve, Panel
from deniable.studies.dct.notebook import Cell, Numbers
from deniable.studies.dct.parts import STAND_INS, Data, Part, Sizes, shown

SEED = 2023
PENALTIES = ("1e-4", "10")
FREE = ("least squares", "clipped", "mean")
_LONG = "statistics"
_BATCHED = ("PrivUnit", "optimal", "PM")
_BATCH_EPSILON = "4"
COORDINATES = {"ADULT": 98, "BR": 90, "MX": 94, "WISDM": 43}
"""As the source counts them: the target is one."""


def tables(sizes: Sizes, data: Data) -> list[list[Any]]:
    """Return the data sets, as arguments of `measures.regression`."""
    names = ([] if data.adult is None else ["ADULT"]) + list(STAND_INS)
    return [
        [name, sizes.real_table if data.file(name)[0] else sizes.table, SEED, *data.file(name)]
        for name in names
    ]


def cells(sizes: Sizes, data: Data) -> dict[str, list[Cell]]:
    """Return the trainings, longest first."""
    given = tables(sizes, data)
    return {
        "figure4": sorted(_trainings(sizes, given), key=lambda cell: cell.arguments["learner"] != _LONG),
        "batches": [
            Cell(
                measures.batches,
                {
                    "learner": name,
                    "epsilon": _BATCH_EPSILON,
                    "data": table,
                    "batch": batch,
                    "repeats": 1 + sizes.repeats // 2,
                },
            )
            for table in given[:1]
            for name in _BATCHED
            for batch in sizes.batches
        ],
    }


def _trainings(sizes: Sizes, given: Sequence[list[Any]]) -> list[Cell]:
    found = []
    for table in given:
        found += [_cell(name, "none", table, PENALTIES[0], sizes, sizes.used, 0) for name in FREE]
        for epsilon in sizes.learning_epsilons:
            if _products(table[0]) <= sizes.products:
                found.append(_cell(_LONG, epsilon, table, PENALTIES[0], sizes, 1, 0))
            for name in (*measures.LEARNERS, *rivals.SPECIMENS):
                found += [
                    _cell(name, epsilon, table, PENALTIES[0], sizes, sizes.used, repeat)
                    for repeat in range(sizes.repeats)
                ]
        found += [
            _cell(name, sizes.learning_epsilons[-1], table, PENALTIES[1], sizes, sizes.used, 0)
            for name in ("PrivUnit", "PM", "Duchi", *rivals.SPECIMENS)
        ]
        found.append(_cell("least squares", "none", table, PENALTIES[1], sizes, sizes.used, 0))
    return found


def _products(name: str) -> int:
    """Return how many pairs of numbers a person has: attributes, a constant and the target."""
    numbers = COORDINATES[name] + 1
    return numbers * (numbers + 1) // 2


def _cell(
    learner: str, epsilon: str, table: list[Any], penalty: str, sizes: Sizes, used: int, repeat: int
) -> Cell:
    arguments = {
        "learner": learner,
        "epsilon": epsilon,
        "data": table,
        "penalty": penalty,
        "folds": sizes.folds,
        "used": used,
        "repeat": repeat,
    }
    return Cell(measures.errors_of_regression, arguments)


def parts(cells: dict[str, list[Cell]], found: dict[str, list[Numbers]]) -> list[Part]:
    """Return the two figures with their tables."""
    rows = [{**c.arguments, **f} for c, f in zip(cells["figure4"], found["figure4"], strict=True)]
    groups = [{**c.arguments, **f} for c, f in zip(cells["batches"], found["batches"], strict=True)]
    return [_regression(rows), _batches(groups)]


def _joined(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row for each data set, learner, epsilon and penalty, over all repeats."""
    errors: dict[tuple[str, ...], list[float]] = {}
    made_up: dict[str, bool] = {}
    for row in rows:
        key = (row["data"][0], row["learner"], row["epsilon"], row["penalty"])
        errors.setdefault(key, []).extend(row["errors"])
        made_up[row["data"][0]] = row["data"][3] is None
    return [
        {
            **dict(zip(("set", "learner", "epsilon", "penalty"), key, strict=True)),
            "error": fmean(values),
            "spread": pstdev(values),
            "fits": len(values),
            "synthetic": made_up[key[0]],
        }
        for key, values in errors.items()
    ]


def _regression(rows: list[dict[str, Any]]) -> Part:
    joined = _joined(rows)
    plain = [row for row in joined if row["penalty"] == PENALTIES[0]]
    panels = [
        _panel(name, [row for row in plain if row["set"] == name])
        for name in dict.fromkeys(r["set"] for r in plain)
    ]
    drawing = charts.draw(
        panels,
        title="Figure 4: mean squared error of linear regression, held-out people",
        description="Mean squared error against epsilon for each learner, one panel a data set.",
    )
    words = (
        "Targets lie in [-1, 1]. Everybody sends one report to a training; five folds would cost them four. "
        "'clipped' is the same descent without noise, 'mean' predicts the average: a curve above it has "
        "learnt nothing. PrivUnit randomises a whole gradient (L2 clip), the others one or more of its "
        "entries; 'statistics' asks once for products of pairs.",
        "The paper's copy prints lambda as 10, most probably 10^-4: both are in the table.",
    )
    headings = ("data", "synthetic", "learner", "private", "epsilon", "lambda", "fits", "error", "sd of fits")
    table = [
        (
            row["set"] + (" stand-in" if row["synthetic"] else ""),
            "yes" if row["synthetic"] else "no",
            row["learner"],
            "no" if row["learner"] in (*FREE, *rivals.SPECIMENS) else "yes",
            row["epsilon"],
            row["penalty"],
            str(row["fits"]),
            shown(row["error"]),
            shown(row["spread"]),
        )
        for row in joined
    ]
    made_up = any(row["synthetic"] for row in joined)
    return Part("figure4", "Linear regression", words, headings, table, drawing, synthetic=made_up)


def _panel(name: str, rows: list[dict[str, Any]]) -> Panel:
    epsilons = sorted({float(row["epsilon"]) for row in rows if row["epsilon"] != "none"})
    curves = []
    for learner in dict.fromkeys(row["learner"] for row in rows):
        mine = [row for row in rows if row["learner"] == learner]
        if mine[0]["epsilon"] == "none":
            points = [(epsilon, mine[0]["error"]) for epsilon in epsilons]
        else:
            points = [(float(row["epsilon"]), row["error"]) for row in mine]
        curves.append(Curve(learner, points))
    title = f"{name} stand-in" if rows[0]["synthetic"] else name
    return Panel(
        title,
        "epsilon that is claimed",
        "mean squared error",
        curves,
        log_across=True,
        log_up=True,
        synthetic=rows[0]["synthetic"],
        ticks=epsilons,
    )


def _batches(rows: list[dict[str, Any]]) -> Part:
    names = list(dict.fromkeys(row["learner"] for row in rows))
    curves = [
        Curve(name, [(row["batch"], row["mean"]) for row in rows if row["learner"] == name]) for name in names
    ]
    made_up = rows[0]["data"][3] is None
    title = rows[0]["data"][0] + (" stand-in" if made_up else "")
    panel = Panel(
        f"{title}, epsilon {_BATCH_EPSILON}",
        "people in a group",
        "mean squared error",
        curves,
        log_across=True,
        log_up=True,
        synthetic=made_up,
        ticks=sorted({row["batch"] for row in rows}),
    )
    drawing = charts.draw(
        [panel],
        title="Groups of one against larger ones, each with the step of the rule",
        description="Mean squared error of linear regression against the size of a group.",
    )
    words = (
        "The source holds that mini-batches win over single gradients. Every size has the step that the rule "
        "of `deniable.learn.plan` gives it, and everybody still sends one report.",
    )
    headings = ("data", "synthetic", "learner", "epsilon", "people in a group", "trainings", "error")
    table = [
        (
            title,
            "yes" if made_up else "no",
            row["learner"],
            row["epsilon"],
            str(row["batch"]),
            str(len(row["errors"])),
            shown(row["mean"]),
        )
        for row in rows
    ]
    return Part("batches", "Size of a group", words, headings, table, drawing, synthetic=made_up)
