"""Figures 5 and 6, which the paper lacks: claimed against audited epsilon, and variance against the limit."""

from __future__ import annotations

from fractions import Fraction
from math import inf, sqrt
from typing import Any

import numpy as np

from deniable.local.mean.limits import limit
from deniable.studies.dct import analysis, charts, measures, rivals
from deniable.studies.dct.charts import Curve, Panel
from deniable.studies.dct.notebook import Cell, Numbers
from deniable.studies.dct.parametrisations import ALL
from deniable.studies.dct.parts import Data, Part, Sizes, shown

_SPREAD = "0.25"
_FAR = 10
_POINTS = 41


def cells(sizes: Sizes, data: Data) -> dict[str, list[Cell]]:
    """Return the audits, and the limits, which take a moment each."""
    del data
    audits = [
        Cell(measures.audit, {"mechanism": name, "epsilon": epsilon, "trials": sizes.trials})
        for name in rivals.NAMES
        for epsilon in sizes.epsilons
    ]
    limits = [Cell(bounds, {"epsilon": epsilon}) for epsilon in sizes.epsilons]
    return {"figure5": audits, "figure6": limits}


def bounds(epsilon: str, seed: int) -> Numbers:
    """Return the limit at this epsilon, worst case and on GAUSS, the worst variances, and PM's on GAUSS."""
    del seed
    prior = limit(epsilon, ("gaussian", _SPREAD)).lower
    piecewise = analysis.piecewise(float(epsilon), float(_SPREAD) ** 2)
    return {
        "limit": limit(epsilon).lower,
        "gain": sqrt(piecewise / prior),
        "worst": {name: rivals.worst(name, epsilon) for name in rivals.NAMES},
    }


def parts(cells: dict[str, list[Cell]], found: dict[str, list[Numbers]]) -> list[Part]:
    """Return the two figures with their tables, and the table of all readings of DCT."""
    audits = [{**c.arguments, **f} for c, f in zip(cells["figure5"], found["figure5"], strict=True)]
    limits = [{**c.arguments, **f} for c, f in zip(cells["figure6"], found["figure6"], strict=True)]
    return [_audited(audits), _limited(limits)]


def _audited(rows: list[dict[str, Any]]) -> Part:
    seen = [
        Curve(name, [(float(row["epsilon"]), row["bound"]) for row in rows if row["mechanism"] == name])
        for name in rivals.NAMES
    ]
    ends = [float(row["epsilon"]) for row in rows]
    claim = Curve("the claim", [(min(ends), min(ends)), (max(ends), max(ends))])
    ticks = sorted(set(ends))
    shape = [Curve(reading.name, _curve(reading.name)) for reading in ALL]
    allowed = Curve("the claim", [(0.0, 1.0), (1.0, 0.0), (float(_FAR), 0.0)])
    drawing = charts.draw(
        [
            Panel(
                "Audits between -1 and 1",
                "claimed epsilon",
                "audited epsilon, at least",
                [*seen, claim],
                ticks=ticks,
            ),
            Panel("All readings of DCT, claim: epsilon 1", "epsilon", "delta", [allowed, *shape]),
        ],
        title="Figure 5: what was claimed, and what an audit finds",
        description="First: lower bounds on epsilon by mechanism. Second: exact delta against epsilon.",
    )
    trials = rows[0]["trials"]
    words = (
        f"The first chart: {trials:,} reports of each value, a tenth to choose a witness, the others to test "
        "it, 95 % confidence. A private mechanism stays below the claim. Where supports do not meet, what an "
        f"audit can show at most is {_most(trials):.2f}; the truth is infinite.",
        "The second, exact: delta never falls below the share of reports that only one of the two values can "
        "make; a mechanism that kept epsilon 1 would be at 0 from 1 on.",
    )
    headings = (
        "mechanism",
        "private",
        "claimed",
        "audited, at least",
        "exact verdict",
        "delta, any epsilon",
        "trials",
    )
    table = [
        (
            row["mechanism"],
            "no" if row["mechanism"] in rivals.SPECIMENS else "yes",
            row["epsilon"],
            shown(row["bound"]),
            row["exact"],
            shown(row["delta"]),
            str(row["trials"]),
        )
        for row in rows
    ]
    return Part("figure5", "Claimed and audited epsilon", words, headings, table, drawing, synthetic=False)


def _curve(name: str) -> list[tuple[float, float]]:
    """Return the exact delta between -1 and 1 against epsilon, for a claim of 1."""
    specimen = next(reading for reading in ALL if reading.name == name).specimen(1)
    points = [Fraction(_FAR * i, _POINTS - 1) for i in range(_POINTS)]
    return [(float(e), float(specimen.delta(-1, 1, epsilon=e)[1])) for e in points]


def _most(trials: int) -> float:
    """Return what Clopper-Pearson at 95 % can certify at most from nine tenths of the trials."""
    rest = trials - trials // 10
    edge = 0.025 ** (1 / rest)
    return float(np.log(edge / (1 - edge)))


def _limited(rows: list[dict[str, Any]]) -> Part:
    seen = [
        Curve(name, [(float(row["epsilon"]), row["worst"][name] / row["limit"]) for row in rows])
        for name in rivals.NAMES
    ]
    drawing = charts.draw(
        [
            Panel(
                "Worst variance, as a multiple of the limit",
                "claimed epsilon",
                "times the limit",
                seen,
                log_across=True,
                log_up=True,
                level=(1.0, "below: impossible for whoever keeps epsilon, without bias"),
                ticks=[float(row["epsilon"]) for row in rows],
            )
        ],
        title="Figure 6: what lies below the limit is not private",
        description="Worst-case variance over the limit against epsilon for each mechanism.",
    )
    words = (
        "The limit is proved for every unbiased mechanism that keeps epsilon, by the dual of a linear "
        "program. A reading of DCT below the line is convicted by its error alone. The best gain in error "
        "over PM on GAUSS that privacy permits is in the last column.",
    )
    headings = ("epsilon", "limit", *rivals.NAMES, "best gain over PM on GAUSS")
    table = [
        (
            row["epsilon"],
            shown(row["limit"]),
            *(shown(row["worst"][name]) for name in rivals.NAMES),
            shown(row["gain"]),
        )
        for row in rows
    ]
    assert all(row["limit"] < inf for row in rows)
    return Part("figure6", "Variance and its limit", words, headings, table, drawing, synthetic=False)
