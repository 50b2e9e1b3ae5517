"""The exact laws of mean mechanisms against closed forms and against counting row by row."""

from __future__ import annotations

from fractions import Fraction
from math import exp, sqrt
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2

from deniable.bits import SeededBits
from deniable.brackets import exponential
from deniable.errors import ParameterError
from deniable.local import Mean, Table
from deniable.local.mean import integers, optimal, selecting, shipped, windows
from deniable.local.mean.laplace import Noise
from deniable.local.mean.laws import Law
from deniable.local.mean.priors import Prior
from deniable.local.mean.program import solve

ALPHA = 1e-9
FINITE: tuple[Any, ...] = ("optimal", "duchi", "piecewise", "hybrid", "classified")


def law(mechanism: Any, epsilon: Any) -> Law:
    return selecting.law_of(mechanism, Fraction(epsilon), None)


@pytest.mark.parametrize("mechanism", FINITE)
@pytest.mark.parametrize("epsilon", ["1/10", "1", "4"])
def test_rows_sum_to_one_keep_epsilon_and_mean_what_they_say(mechanism: Any, epsilon: str) -> None:
    found = law(mechanism, epsilon)
    y = [value * found.unit for value in found.values]
    one = 1 << found.drawn.bits
    odds = exponential(Fraction(epsilon))[1]
    rows = [found.drawn.row(place) for place in range(0, found.inputs, max(1, found.inputs // 40))]
    rows.append(found.drawn.row(found.inputs - 1))
    for column in zip(*rows, strict=True):
        assert min(column) > 0
        assert max(column) <= odds * min(column)
    for place in (0, found.inputs // 3, found.inputs - 1):
        row = found.drawn.row(place)
        assert sum(row) == one
        assert found.point(place) == sum(p * v for p, v in zip(row, y, strict=True)) / one
        assert found.square(place) == sum(p * v * v for p, v in zip(row, y, strict=True)) / one
    assert found.point(0) <= -1
    assert found.point(-1) >= 1
    assert found.drawn.ratio() <= exponential(Fraction(epsilon))[0]


@pytest.mark.parametrize("mechanism", FINITE)
def test_the_variance_between_inputs_is_that_of_the_mixture(mechanism: Any) -> None:
    found = law(mechanism, 2)
    y = [float(value * found.unit) for value in found.values]
    for v in (Fraction(-1), Fraction(-7, 9), Fraction(1, 1000), Fraction(1, 3), Fraction(1)):
        place = max(i for i in range(found.inputs - 1) if found.point(i) <= v)
        share = float((v - found.point(place)) / (found.point(place + 1) - found.point(place)))
        rows = [np.array(found.drawn.row(place + k), float) / 2.0**found.drawn.bits for k in (0, 1)]
        mixed = (1 - share) * rows[0] + share * rows[1]
        assert float(mixed @ y) == pytest.approx(float(v), abs=1e-9)
        assert float(found.variance_at(v)) == pytest.approx(float(mixed @ np.square(y)) - float(v) ** 2)
        assert float(found.variances(np.array([float(v)]))[0]) == pytest.approx(float(found.variance_at(v)))


@pytest.mark.parametrize("mechanism", FINITE)
@pytest.mark.parametrize("epsilon", ["1/2", "4"])
def test_the_worst_and_the_average_variance_are_those_of_a_fine_grid(mechanism: Any, epsilon: str) -> None:
    found = law(mechanism, epsilon)
    v = np.linspace(-1, 1, 200_001)
    grid = found.variances(v)
    assert grid.max() <= float(found.worst) * (1 + 1e-12)
    assert grid.max() == pytest.approx(float(found.worst), rel=1e-6)
    assert np.trapezoid(grid, v) / 2 == pytest.approx(float(found.average()), rel=1e-6)


def test_duchi_answers_with_the_published_numbers() -> None:
    found = law("duchi", 1)
    assert float(found.unit) == pytest.approx(2.163953414, abs=1e-9)
    assert found.drawn.row(1)[1] / 2**64 == pytest.approx(exp(1) / (exp(1) + 1), abs=1e-15)
    for epsilon in ("1/10", "1", "8"):
        odds = float(mpmath.exp(mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator))
        c = (odds + 1) / (odds - 1)
        for v in (0, Fraction(1, 2), 1):
            assert float(law("duchi", epsilon).variance_at(Fraction(v))) == pytest.approx(
                c * c - float(v) ** 2
            )


def piecewise(epsilon: float, v: float) -> float:
    """The variance of PM as published."""
    half = exp(epsilon / 2)
    return v * v / (half - 1) + (half + 3) / (3 * (half - 1) ** 2)


@pytest.mark.parametrize("epsilon", ["1/10", "1/2", "1", "2", "4", "8"])
def test_piecewise_on_a_grid_has_the_variance_of_the_published_one(epsilon: str) -> None:
    found = law("piecewise", epsilon)
    e = float(Fraction(epsilon))
    c = (exp(e / 2) + 1) / (exp(e / 2) - 1)
    reach = float(found.values[-1] * found.unit)
    assert reach == pytest.approx(c, rel=3e-3)
    for v in (0.0, 0.3, 1.0):
        assert float(found.variance_at(Fraction(v))) == pytest.approx(piecewise(e, v), rel=1e-2)
    if epsilon == "1":
        assert c == pytest.approx(4.082988165, abs=1e-9)


@pytest.mark.parametrize("epsilon", ["1", "3"])
def test_hybrid_has_the_variance_of_its_parts(epsilon: str) -> None:
    e = float(Fraction(epsilon))
    share, c = 1 - exp(-e / 2), (exp(e) + 1) / (exp(e) - 1)
    for v in (0.0, 0.5, 1.0):
        expected = share * piecewise(e, v) + (1 - share) * (c * c - v * v)
        assert float(law("hybrid", epsilon).variance_at(Fraction(v))) == pytest.approx(expected, rel=5e-3)
    assert law("hybrid", "3/5").drawn == law("duchi", "3/5").drawn


@pytest.mark.parametrize(
    ("epsilon", "worst", "half"),
    [("1/2", 21.06, 21.2), ("1", 5.07, 5.24), ("2", 1.092, 1.30), ("4", 0.162, 0.435), ("6", 0.0348, 0.347)],
)
def test_the_classified_response_has_the_published_variance(epsilon: str, worst: float, half: float) -> None:
    assert float(law("classified", epsilon).worst) == pytest.approx(worst, rel=5e-3)
    wide = windows.of_width(Fraction(epsilon), 8191, 4096)
    assert float(wide.worst) == pytest.approx(half, rel=3e-3)


@pytest.mark.parametrize("epsilon", ["1/100", "1", "8"])
def test_the_width_of_the_classified_response_is_the_best(epsilon: str) -> None:
    chosen = windows.best_share(Fraction(epsilon), 1023)
    best = float(windows.of_width(Fraction(epsilon), 1023, chosen).worst)
    for other in (chosen - 20, chosen - 5, chosen + 5, chosen + 20):
        if 0 < other < 1023:
            assert float(windows.of_width(Fraction(epsilon), 1023, other).worst) >= 0.9999 * best


@pytest.mark.parametrize("epsilon", ["1/1000", "1", "9"])
def test_laplace_noise_has_the_variance_of_the_continuous_one_and_a_little(epsilon: str) -> None:
    found, e = Noise(Fraction(epsilon)), float(Fraction(epsilon))
    assert 8 / e**2 <= float(found.worst) <= 8 / e**2 * (1 + 1e-4) + 0.25
    t = mpmath.exp(-1 / mpmath.mpf(float(found.scale)))
    assert float(found.spread) * 4.0**found.fine == pytest.approx(float(2 * t / (1 - t) ** 2), rel=1e-9)
    assert found.scale == 2 * 2**found.fine / Fraction(epsilon)
    assert float(found.average()) <= float(found.worst)


def chi_square(counts: Any, row: Any) -> float:
    expected = counts.sum() * np.array([float(p) for p in row]) / float(sum(row))
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), len(counts) - 1))


@pytest.mark.parametrize("coin", [False, True])
def test_a_window_is_drawn_row_by_row_as_it_is_written_and_not_as_its_neighbour(coin: bool) -> None:
    if coin:
        found = windows.hybrid(Fraction(2), 31, 8, Fraction(3, 2), Fraction(3, 5))
    else:
        found = windows.of_width(Fraction(2), 31, 8)
    n = 300_000
    for place in (0, 11, found.inputs - 1):
        draws = found.drawn.sample(np.full(n, place), SeededBits(place + 1, insecure=True))
        counts = np.bincount(draws, minlength=found.drawn.outputs)
        assert chi_square(counts, found.drawn.row(place)) > ALPHA
        assert chi_square(counts, found.drawn.row(place - 1 if place else 1)) < ALPHA


class Words:
    """Bits that are given, to look at the edges of runs."""

    def __init__(self, words: list[int]) -> None:
        self.words = words

    def uint64(self, n: int) -> Any:
        return np.array(self.words[:n], np.uint64)


@pytest.mark.parametrize("coin", [False, True])
def test_every_run_of_words_begins_and_ends_where_it_is_counted(coin: bool) -> None:
    if coin:
        found = windows.hybrid(Fraction(1), 15, 4, Fraction(2), Fraction(1, 2))
    else:
        found = windows.of_width(Fraction(1), 15, 4)
    drawn: Any = found.drawn
    for place in range(found.inputs):
        edges = [drawn.high * k for k in range(4)] + [4 * drawn.high + drawn.low * k for k in range(11)]
        edges += [4 * drawn.high + 11 * drawn.low] * bool(drawn.rest)
        edges += [(1 << 64) - drawn.coin, (1 << 64) - drawn.coin + drawn.upper[place]] if coin else []
        bits: Any = Words([*edges, *(edge - 1 for edge in [*edges[1:], 1 << 64])])
        first, last = np.split(drawn.sample(np.full(2 * len(edges), place), bits), 2)
        assert np.array_equal(first, last)
        words = [0] * found.drawn.outputs
        for edge, until, output in zip(edges, [*edges[1:], 1 << 64], first, strict=True):
            words[int(output)] += until - edge
        assert words == drawn.row(place)


@pytest.mark.parametrize("mechanism", FINITE)
def test_values_take_the_two_rows_around_them_without_bias(mechanism: Any) -> None:
    found, n = law(mechanism, 4), 200_000
    for seed, v in enumerate((-1.0, -0.123, 0.0, 0.77, 1.0)):
        rows = found.rows(np.full(n, v), SeededBits(seed, insecure=True))
        place = max(i for i in range(found.inputs - 1) if found.points[i] <= v)
        assert set(rows.tolist()) <= {place, place + 1}
        width = found.points[place + 1] - found.points[place]
        share = (v - found.points[place]) / width
        assert abs((rows == place + 1).mean() - share) <= 6.2 * sqrt(share * (1 - share) / n) + 1e-9


@pytest.mark.parametrize("mechanism", ["optimal", "piecewise"])
def test_any_value_takes_a_row_beside_it(mechanism: Any) -> None:
    found = law(mechanism, 4)
    v = np.concatenate([np.linspace(-1, 1, 100_001), found.points, np.nextafter(found.points, 0)])
    v = v[(v >= -1) & (v <= 1)]
    rows = found.rows(v, SeededBits(1, insecure=True))
    places = np.clip(np.searchsorted(found.points, v, side="right") - 1, 0, found.inputs - 2)
    assert np.all((rows == places) | (rows == places + 1))


def test_a_table_from_the_solver_stays_within_its_bounds_when_it_is_rounded() -> None:
    epsilon = Fraction(5, 2)
    odds = exponential(epsilon)[0]
    outputs = np.linspace(-1.5, 1.5, 24)
    found = integers.rounded(solve(2.5, np.linspace(0, 1, 9), outputs), odds)
    table: Any = found.drawn
    assert table.ratio() <= odds
    assert all(sum(row) == 1 << 32 for row in table.entries)
    assert all(
        tuple(reversed(row)) == other
        for row, other in zip(table.entries, reversed(table.entries), strict=True)
    )
    assert list(found.values) == [-y for y in reversed(found.values)]
    assert found.point(-1) >= 1


def test_a_table_that_does_not_keep_its_epsilon_is_refused() -> None:
    table: Any = law("optimal", 1).drawn
    with pytest.raises(ParameterError, match="do not keep"):
        table.check(Fraction(999, 1000))
    with pytest.raises(ParameterError, match="does not keep"):
        windows.of_width(Fraction(1), 31, 8).drawn.check(Fraction(999, 1000))
    with pytest.raises(ParameterError, match="does not keep"):
        windows.hybrid(Fraction(1), 31, 8, Fraction(2), Fraction(1, 2)).drawn.check(Fraction(999, 1000))


def test_inputs_that_do_not_rise_to_one_are_refused() -> None:
    half = 1 << 31
    with pytest.raises(ParameterError, match="do not rise"):
        Law(Table([[half, half], [half, half]]), (-1, 1), Fraction(1))
    with pytest.raises(ParameterError, match="do not rise"):
        Law(Table([[half + 1, half - 1], [half - 1, half + 1]]), (-1, 1), Fraction(1))


@pytest.mark.parametrize("prior", [None, Prior(None)])
@pytest.mark.parametrize("epsilon", "0.1 0.2 0.25 0.5 0.75 1 1.5 2 2.5 3 4 5 6 7 8".split())
def test_each_table_that_ships_is_read_and_checked(epsilon: str, prior: Prior | None) -> None:
    found = shipped.law(Fraction(epsilon), prior)
    assert found is not None
    assert found.drawn.ratio() <= exponential(Fraction(epsilon))[0]
    assert found.drawn.outputs <= 256


def test_what_ships_is_what_would_be_built() -> None:
    built, read = optimal.build(Fraction(1), None), shipped.law(Fraction(1), None)
    assert read is not None
    assert float(built.worst) == pytest.approx(float(read.worst), rel=1e-3)
    assert shipped.law(Fraction("1.01"), None) is None
    assert shipped.law(Fraction(1), Prior(Fraction(1, 4))) is None


def test_a_table_that_was_tampered_with_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    record = shipped._read(Fraction(1), None)
    assert record is not None
    rows = [list(row) for row in record["rows"]]
    low = min(range(len(rows[-1])), key=rows[-1].__getitem__)
    high = max(range(len(rows[-1])), key=rows[-1].__getitem__)
    rows[-1][low], rows[-1][high] = rows[-1][low] - 9999, rows[-1][high] + 9999
    monkeypatch.setattr(shipped, "_read", lambda *_: {**record, "rows": rows})
    with pytest.raises(ParameterError, match="do not keep"):
        shipped.law(Fraction(1), None)


@pytest.mark.parametrize("prior", [Prior(None), Prior(Fraction(1, 4)), Prior(Fraction(3))])
def test_a_prior_is_cut_into_cells_with_its_mass_mean_and_spread(prior: Prior) -> None:
    sd = None if prior.sd is None else float(prior.sd)

    def density(v: float) -> float:
        return 1.0 if sd is None else exp(-((v / sd) ** 2) / 2)

    whole = quad(density, 0, 1)[0]
    cells = prior.cells(6)
    edges = [0.0, *((k + 0.5) / 5.5 for k in range(6))]
    spread = 0.0
    for k in range(6):
        mass = quad(density, edges[k], edges[k + 1])[0]
        mean = quad(lambda v: v * density(v), edges[k], edges[k + 1])[0] / mass if k else 0.0
        square = quad(lambda v: v**2 * density(v), edges[k], edges[k + 1])[0]
        spread += (square - mean**2 * mass) / whole
        assert cells.masses[k] == pytest.approx(mass / whole)
        assert cells.means[k] == pytest.approx(mean)
    assert cells.spread == pytest.approx(spread)
    assert prior.masses(np.array([0.0, 0.5, 1.0]))[1] == pytest.approx(quad(density, 0.25, 0.75)[0] / whole)
    middles = (np.arange(1000) + 0.5) / 1000
    expected = quad(lambda v: v**2 * density(v), 0, 1)[0] / whole
    assert prior.average(middles**2) == pytest.approx(expected, rel=1e-5)


def test_on_bell_shaped_values_each_objective_is_best_at_its_own() -> None:
    prior = Prior(Fraction(1, 4))
    worst, best = law("optimal", 1), selecting.optimal(Fraction(1), prior)
    pm = optimal.achieved(law("piecewise", 1), prior)
    assert optimal.achieved(worst, prior) == pytest.approx(3.99, abs=0.01)
    assert pm == pytest.approx(3.78, abs=0.01)
    assert optimal.achieved(best, prior) == pytest.approx(3.55, abs=0.01)
    assert float(best.worst) > float(worst.worst)


def test_errors_are_in_the_units_of_the_value() -> None:
    wide, unit = (Mean(epsilon=1, bounds=ends).error() for ends in ((0, 100), (-1, 1)))
    assert wide.worst_variance == 2500 * unit.worst_variance
    assert wide.average_variance == 2500 * unit.average_variance
    assert wide.variance_at(75) == 2500 * unit.variance_at("0.5")
    assert wide.variance_at(1000) == wide.variance_at(100)
    assert wide.standard_error(10_000) == pytest.approx(float(wide.worst_variance) ** 0.5 / 100)
