"""Would columns err less if some had Laplace noise and others Gaussian noise? Against one kind for all.

    python -m benchmarks.kinds [--most 7] [--json FILE]

A *plain* column (units, counts, sums) moves as much in L1 as in L2; a *tree* (a quantile) of three levels
moves sqrt(3) times as much in L1. For each number of both, at each epsilon and delta, this finds the kinds
and the split of the budget that make the product of all errors (at 95 %) least: what `noise="auto"` compares.
Within a kind all columns have equal parts; between the kinds the split is searched.

| column | meaning                                                                           |
|--------|-----------------------------------------------------------------------------------|
| laplace, gaussian, mixed | the geometric mean of the errors of all columns, in steps       |
| of     | how many columns of the best mixture have Laplace noise                           |
| gain   | by how many percent the mixture errs less than the better kind, for each column   |

Continuous noise stands for the discrete, whose grid is fine. delta of a mixture is that of the Gaussian part,
averaged over the losses of the Laplace part, on a grid.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from benchmarks.report import publish

Cell = str | int | float
Floats = NDArray[np.float64]

LAPLACE, GAUSSIAN = float(np.log(20)), 1.959964
"""Half widths of 95 % of standard noise."""

EPSILONS, DELTAS = (0.1, 1.0, 4.0), (1e-8, 1e-6, 1e-5)
_STEPS = 500
_SPLITS = np.geomspace(0.02, 20, 24)


@dataclass(frozen=True)
class Best:
    """The mean logarithm of the errors of all columns, the least that there is; for each kind."""

    laplace: float
    gaussian: float
    mixed: float
    of: int

    @property
    def gain(self) -> float:
        """By which part the mixture errs less than the better kind, for each column; below 0: more."""
        return 1 - float(np.exp(self.mixed - min(self.laplace, self.gaussian)))


def gaussian_delta(epsilon: Floats, mu: float) -> Floats:
    """Return delta of Gaussian noise (Balle and Wang 2018)."""
    return np.asarray(
        ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu)), dtype=np.float64
    )


def losses(each: float, number: int) -> tuple[Floats, Floats]:
    """Return the losses of so many Laplace columns, rounded up on a grid, and how likely they are."""
    loss = np.linspace(-each, each, 2 * _STEPS + 1)
    below = np.append(np.exp(-(each - loss[:-1]) / 2) / 2, 1.0)
    one = np.diff(below, prepend=0.0)
    size = (len(loss) - 1) * number + 1
    length = 1 << size.bit_length()
    wave = np.fft.rfft(one, length) ** number
    chance = np.maximum(np.fft.irfft(wave, length)[:size], 0)
    return np.linspace(-each * number, each * number, size), chance


def delta(epsilon: float, each: float, number: int, mu: float) -> float:
    """Return delta of so many Laplace columns and a Gaussian part; `each`, `mu` or both above 0."""
    if not number:
        return float(gaussian_delta(np.array([epsilon]), mu)[0])
    loss, chance = losses(each, number)
    if not mu:
        return float((chance * -np.expm1(np.minimum(epsilon - loss, 0))).sum())
    return float((chance * gaussian_delta(epsilon - loss, mu)).sum())


@cache
def error(laplace: int, gaussian: int, epsilon: float, risk: float) -> float:
    """Return the least sum of logarithms of the errors of plain columns, so many of each kind."""
    if not laplace:
        mu = brentq(lambda m: delta(epsilon, 0, 0, m) - risk, 1e-4 * epsilon, 50)
        return float(gaussian * np.log(GAUSSIAN * np.sqrt(gaussian) / mu))
    if not gaussian:
        each = epsilon / laplace
        if delta(epsilon, 1.001 * each, laplace, 0) < risk:
            each = brentq(lambda e: delta(epsilon, e, laplace, 0) - risk, each, 30 * each)
        return float(laplace * np.log(LAPLACE / each))
    return min(_split(laplace, gaussian, epsilon, risk, float(split)) for split in _SPLITS)


def _split(laplace: int, gaussian: int, epsilon: float, risk: float, split: float) -> float:
    """Return the same where mu of the Gaussian part is `split` times the epsilon of each Laplace column."""
    each = brentq(lambda e: delta(epsilon, e, laplace, split * e) - risk, 1e-9, 6 * epsilon + 5, rtol=1e-6)
    errors = laplace * np.log(LAPLACE / each)
    return float(errors + gaussian * np.log(GAUSSIAN * np.sqrt(gaussian) / (split * each)))


def best(plain: int, trees: int, epsilon: float, risk: float) -> Best:
    """Return what each kind and the best mixture make of these columns: the plain ones are Laplace first."""
    columns = plain + trees
    sums = [
        error(of, columns - of, epsilon, risk) + max(0, of - plain) * np.log(3) / 2
        for of in range(columns + 1)
    ]
    of = min(range(1, columns), key=lambda place: sums[place])
    means = [float(total) / columns for total in sums]
    return Best(means[-1], means[0], means[of], of)


def rows(most: int) -> list[dict[str, Cell]]:
    """Return a row for each epsilon, delta and mix of at least two and at most so many columns."""
    found: list[dict[str, Cell]] = []
    for epsilon, risk in product(EPSILONS, DELTAS):
        for columns in range(2, most + 1):
            for trees in range(columns + 1):
                one = best(columns - trees, trees, epsilon, risk)
                means = {"laplace": one.laplace, "gaussian": one.gaussian, "mixed": one.mixed}
                found.append(
                    {"epsilon": epsilon, "delta": risk, "plain": columns - trees, "trees": trees}
                    | {name: f"{np.exp(mean):.4g}" for name, mean in means.items()}
                    | {"of": one.of, "gain": round(100 * one.gain, 2)}
                )
    return found


def main() -> None:
    """Print the table, and the largest gain for each number of trees."""
    parser = argparse.ArgumentParser(description="One kind of noise for all columns, beside mixtures.")
    parser.add_argument("--most", type=int, default=7, help="columns, at most")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    given = parser.parse_args()
    found = rows(given.most)
    publish("kinds", "Kinds of noise", found, f"python -m benchmarks.kinds --most {given.most}", given.json)
    for trees in range(given.most + 1):
        gains = [float(row["gain"]) for row in found if row["trees"] == trees]
        print(f"{trees} trees: at most {max(gains):.2f} % for each column")


if __name__ == "__main__":
    main()
