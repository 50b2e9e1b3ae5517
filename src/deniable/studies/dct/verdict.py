"""The verdict, in words, from the numbers of the study: what reproduces, what does not, and the price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from deniable.exact import Number
from deniable.studies.dct import analysis
from deniable.studies.dct.notebook import Cell, Numbers
from deniable.studies.dct.parametrisations import DUCHI, FIXED, PIECEWISE, SCALED, Parametrisation

Rows = list[dict[str, Any]]
_MARGIN = 0.95


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim, and what became of it."""

    claim: str
    found: str
    words: str


def verdict(cells: dict[str, list[Cell]], found: dict[str, list[Numbers]]) -> list[Finding]:
    """Return the findings, in the order of a reader's questions."""
    rows = {
        name: [{**cell.arguments, **numbers} for cell, numbers in zip(cells[name], found[name], strict=True)]
        for name in cells
    }
    gain, private = _gain(rows["figure2"]), _private(rows["figure5"])
    price = _price(list(dict.fromkeys(row["epsilon"] for row in rows["figure2"])))
    return [
        gain,
        private,
        price,
        _impossible(rows["figure6"]),
        _people(rows["figure3"]),
        _learning(rows["figure4"]),
        _groups(rows["batches"]),
        _expected([*rows["figure1"], *rows["figure2"], *rows["figure3"]]),
        Finding(
            "What was studied",
            "a reconstruction",
            "The formulas (5) to (14) and the figures of the paper are missing from the copy at hand. DCT "
            "was rebuilt from its text, with every plausible d and m = d/2; what is said about privacy holds "
            "for every d and m. A sound repair keeps the idea and fixes the range: 'repair' in the figures.",
        ),
        _short(gain, private, price),
    ]


def lines(findings: Sequence[Finding]) -> list[str]:
    """Return the findings as text, one a line."""
    return [f"{one.claim}: {one.found}. {one.words}" for one in findings]


def _ratios(rows: Rows, name: str, other: str = "PM") -> list[float]:
    """Return measured errors of a reading over those of another mechanism, everywhere."""
    base = {(row["data"][0], row["epsilon"]): row["measured"] for row in rows if row["mechanism"] == other}
    return [
        row["measured"] / base[row["data"][0], row["epsilon"]] for row in rows if row["mechanism"] == name
    ]


def _between(numbers: Sequence[float]) -> str:
    return f"{min(numbers):.2f} to {max(numbers):.2f}"


def _gain(rows: Rows) -> Finding:
    readings = [reading.name for reading in (PIECEWISE, DUCHI, SCALED)]
    over = {
        other: "; ".join(f"{name}: {_between(_ratios(rows, name, other))}" for name in readings)
        for other in ("PM", "Duchi")
    }
    good = sum(_ratios(rows, SCALED.name)) / len(_ratios(rows, SCALED.name))
    kept = "reproduces, for one reading" if good < 0.25 else "does not reproduce"
    return Finding(
        "An error nearly ten times below PM and Duchi",
        kept,
        f"Measured errors over those of PM, for all data and epsilons: {over['PM']}. "
        f"Over those of Duchi: {over['Duchi']}.",
    )


def _private(rows: Rows) -> Finding:
    mine = [row for row in rows if row["mechanism"] in (PIECEWISE.name, DUCHI.name, SCALED.name)]
    refuted = all(row["exact"] == "violated" for row in mine)
    others = not any(row["refuted"] for row in rows if row not in mine)
    most = max(row["bound"] for row in mine)
    return Finding(
        "Local differential privacy",
        "refuted, exactly" if refuted else "NOT REFUTED",
        "The range of reports moves with the value: some reports are possible for one value and impossible "
        "for another, so DCT as reconstructed keeps no finite epsilon, for any d and m. The random bit in "
        "its middle is a fair coin before and after randomised response; the proof in the paper compares "
        f"these bits only. A black-box audit certifies an epsilon of at least {most:.2f}; "
        + ("no audit contradicts the others." if others else "AN AUDIT CONTRADICTS ANOTHER MECHANISM."),
    )


def _short(gain: Finding, private: Finding, price: Finding) -> Finding:
    return Finding(
        "In short",
        "DCT is not private",
        f"Its gain {gain.found}; its privacy is {private.found}. The gain was bought with a {price.found}, "
        "and no unbiased mechanism could have had it at that epsilon.",
    )


def _price(epsilons: Sequence[str]) -> Finding:
    """Return what is given away, at the epsilons of the run."""

    def chances(reading: Parametrisation, value: Number, other: Number) -> str:
        alone = [(float(reading.specimen(epsilon).alone(value, other)), epsilon) for epsilon in epsilons]
        return ", ".join(f"{delta:.3g} at {epsilon}" for delta, epsilon in alone)

    deltas = sorted(
        {f"{float(SCALED.specimen(epsilon).alone(-1, 1)):.3g}" for epsilon in epsilons}, key=float
    )
    others = [f"{reading.name}: {chances(reading, -1, 1)}" for reading in (PIECEWISE, DUCHI, FIXED)]
    return Finding(
        "What the gain was bought with",
        f"delta of {' to '.join(deltas[:1] + deltas[1:][-1:])}",
        "That is the chance that a report on -1 could not have come from 1, for the reading "
        f"'{SCALED.name}' at epsilons {', '.join(epsilons)}: with 1, one report gives its sender away. In "
        f"that reading even 0 and 0.1 are told apart, with chance {chances(SCALED, 0, '0.1')}. The other "
        f"readings, -1 and 1 again: {'; '.join(others)}.",
    )


def _impossible(rows: Rows) -> Finding:
    claimed = analysis.piecewise(1, 0.0625) / analysis.GAIN**2
    gains = ", ".join(f"{row['gain']:.2f} at {row['epsilon']}" for row in rows)
    return Finding(
        "Could any private mechanism do it",
        "no",
        f"An error ten times below PM's at epsilon 1 is a variance of {claimed:.3f}. An unbiased mechanism "
        f"with that worst-case variance needs epsilon {analysis.needed(claimed):.2f} at least. The best gain "
        f"over PM on GAUSS that any unbiased private mechanism can have is {gains}. (With bias allowed, a "
        "constant 0 beats everything on data around 0, and says nothing.)",
    )


def _people(rows: Rows) -> Finding:
    slopes = []
    for name in dict.fromkeys(row["mechanism"] for row in rows):
        mine = [row for row in rows if row["mechanism"] == name]
        first, last = mine[0], mine[-1]
        run = log(last["data"][1] / first["data"][1])
        slopes.append(log(last["measured"] / first["measured"]) / run)
    return Finding(
        "Errors fall with the number of people",
        "reproduces",
        f"As people to the power {_between(slopes)} (theory: -0.5), for private and other mechanisms alike.",
    )


def _learning(rows: Rows) -> Finding:
    plain = [row for row in rows if row["penalty"] == "1e-4"]

    def mean(name: str, place: str, epsilon: str) -> float:
        found = [
            row["mean"]
            for row in plain
            if (row["learner"], row["data"][0]) == (name, place) and row["epsilon"] in (epsilon, "none")
        ]
        return float(sum(found) / len(found))

    places = list(dict.fromkeys(row["data"][0] for row in plain))
    epsilons = list(dict.fromkeys(row["epsilon"] for row in plain if row["epsilon"] != "none"))
    pairs = [(place, epsilon) for place in places for epsilon in epsilons]
    below = sum(mean(SCALED.name, *pair) < mean("PM", *pair) for pair in pairs)
    private = sum(mean("PrivUnit", *pair) < mean(SCALED.name, *pair) for pair in pairs)
    return Finding(
        "A lower error of regression than PM's",
        f"in {below} of {len(pairs)} cases, without privacy",
        f"DCT with alpha 1/4 is below PM in {below} of {len(pairs)} pairs of data and epsilon, for the same "
        f"price as above; PrivUnit, which keeps epsilon, is below that DCT in {private} of them.",
    )


def _groups(rows: Rows) -> Finding:
    words = []
    for name in dict.fromkeys(row["learner"] for row in rows):
        mine = {row["batch"]: row["mean"] for row in rows if row["learner"] == name}
        best = min(mine, key=lambda batch: mine[batch])
        words.append(f"{name}: {mine[1]:.4f} with groups of 1, {mine[best]:.4f} with {best}")
    wins = all(
        min(row["mean"] for row in rows if row["learner"] == name)
        < _MARGIN * next(row["mean"] for row in rows if row["learner"] == name and row["batch"] == 1)
        for name in dict.fromkeys(row["learner"] for row in rows)
    )
    return Finding(
        "Mini-batches win over single gradients",
        "reproduces" if wins else "does not reproduce here",
        f"Mean squared errors: {'; '.join(words)}. A win is 5 % at least.",
    )


def _expected(rows: Rows) -> Finding:
    inside = sum(bool(row["inside"]) for row in rows)
    return Finding(
        "Measured errors agree with theory",
        f"{inside} of {len(rows)} within their tolerance",
        "Expected errors come from exact variances; the tolerance is 7 standard deviations.",
    )
