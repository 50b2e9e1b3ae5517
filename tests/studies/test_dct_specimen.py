"""The specimen and everything about it that is decided without running it: the study's tables, exactly."""

from __future__ import annotations

import ast
from fractions import Fraction
from itertools import pairwise
from math import erf, exp, log, sqrt
from pathlib import Path

import mpmath
import numpy as np
import pytest

import deniable as dn
from deniable.errors import ParameterError
from deniable.studies.dct import analysis
from deniable.studies.dct.parametrisations import ALL, DUCHI, PIECEWISE, SCALED, Parametrisation
from deniable.studies.dct.specimen import NotPrivateDCT

PACKAGE = Path(dn.__file__).parent
ALPHA = 1e-9
EPSILONS = ("0.1", "0.5", "1", "2", "4")
GAINS = (
    (PIECEWISE, (0.992, 0.960, 0.916, 0.814, 0.588)),
    (DUCHI, (0.484, 0.420, 0.346, 0.219, 0.070)),
    (SCALED, (0.124, 0.120, 0.114, 0.102, 0.073)),
)
DELTAS = (
    (PIECEWISE, (0.026, 0.142, 0.324, 0.859, 1)),
    (DUCHI, (0.053, 0.324, 0.859, 1, 1)),
    (SCALED, (0.205, 1, 1, 1, 1)),
)
AGE = (32_561, 0.1397 + 0.4087**2)


def test_the_formulas_of_the_three_readings() -> None:
    for text in EPSILONS:
        e = float(text)
        found = [float(one.specimen(text).d) for one in ALL]
        by_hand = [
            2 / (exp(e / 2) - 1),
            2 / (exp(e) - 1),
            0.25 / (exp(e / 2) - 1),
            1 / (exp(e) - 1),
            1 / (exp(e) + 1),
            0.3,
        ]
        assert found == pytest.approx(by_hand, rel=1e-9)
        assert all(one.specimen(text).m == one.specimen(text).d / 2 for one in ALL)


@pytest.mark.parametrize(("reading", "row"), GAINS, ids=lambda one: getattr(one, "name", ""))
def test_the_ratio_of_errors_to_pm(reading: Parametrisation, row: tuple[float, ...]) -> None:
    square = 0.25**2
    found = [
        sqrt(float(reading.specimen(e).variance) / analysis.piecewise(float(e), square)) for e in EPSILONS
    ]
    assert found == pytest.approx(row, abs=0.0005)


@pytest.mark.parametrize(("reading", "row"), DELTAS, ids=lambda one: getattr(one, "name", ""))
def test_the_delta_that_the_gain_was_bought_with(reading: Parametrisation, row: tuple[float, ...]) -> None:
    found = [float(reading.specimen(e).alone(-1, 1)) for e in EPSILONS]
    assert found == pytest.approx(row, abs=0.0005)


def test_the_delta_between_near_values() -> None:
    found = [float(SCALED.specimen(e).alone(0, "0.1")) for e in EPSILONS[1:]]
    assert found == pytest.approx((0.057, 0.130, 0.344, 1), abs=0.0005)


def test_half_a_range_of_uniform_noise_makes_delta_one_over_d() -> None:
    """With m = d/2 the noise is uniform on [-d, d], so what -1 and 1 do not share is 1/d, or all."""
    for reading in ALL:
        for e in EPSILONS:
            specimen = reading.specimen(e)
            assert specimen.alone(-1, 1) == min(Fraction(1), 1 / specimen.d)


@pytest.mark.parametrize(("d", "m"), [("3", "1"), ("1/2", "1/3"), ("7", "6"), ("2", "1")])
def test_variance_and_delta_against_integrals_of_the_density(d: str, m: str) -> None:
    specimen, wide, near = NotPrivateDCT(epsilon=1, d=d, m=m), Fraction(d), Fraction(m)

    def density(z: mpmath.mpf) -> mpmath.mpf:
        size = abs(z)
        if size <= near:
            return mpmath.mpf(1) / (4 * near)
        return mpmath.mpf(1) / (4 * (wide - near)) if size <= wide else mpmath.mpf(0)

    places = [-wide, -near, Fraction(0), near, wide]
    square = mpmath.quad(lambda z: z * z * density(z), places)
    assert float(square) == pytest.approx(float(specimen.variance), rel=1e-12)
    for first, second, epsilon in ((-1, 1, "0.1"), (0, Fraction(1, 10), "0.5"), (1, -1, "3")):
        cuts = sorted({c + p for c in (Fraction(first), Fraction(second)) for p in places})
        middles = [(float(b - a), (a + b) / 2) for a, b in pairwise(cuts)]
        naive = sum(
            width * max(0, density(x - Fraction(first)) - exp(float(epsilon)) * density(x - Fraction(second)))
            for width, x in middles
        )
        low, high = specimen.delta(first, second, epsilon=epsilon)
        assert low <= high < low + Fraction(1, 10**9)
        assert float(low) == pytest.approx(float(naive), abs=1e-9)


def test_from_the_ratio_of_the_segments_on_delta_is_the_mass_outside() -> None:
    specimen = NotPrivateDCT(epsilon=1, d=3, m=1)
    enough, short = "0.7", "0.6"
    assert float(short) < log((3 - 1) / 1) < float(enough)
    for first, second in ((-1, 1), (0, Fraction(1, 10))):
        alone = specimen.alone(first, second)
        for epsilon in (enough, "20"):
            assert specimen.delta(first, second, epsilon=epsilon) == (alone, alone)
        assert specimen.delta(first, second, epsilon=short)[0] > alone


def test_no_finite_epsilon_holds_for_any_reading() -> None:
    for reading in ALL:
        for e in EPSILONS:
            verdict = dn.audit.exact(reading.specimen(e).density, [-1, 1], epsilon=1000)
            assert verdict.word == "violated"
            assert isinstance(verdict, dn.audit.Violated)
            assert verdict.second == 0
            assert verdict.how == "exact"
            assert verdict.first == reading.specimen(e).alone(-1, 1)


def test_randomised_response_on_a_fair_coin_does_nothing() -> None:
    """The share of reports near the value is a half at any epsilon, so epsilon plays no part in the law."""
    for epsilon in ("0.1", "1", "20", "2000"):
        specimen = NotPrivateDCT(epsilon=epsilon, d=1, m="1/4")
        draws = specimen.report(np.zeros(100_000), dn.SeededBits(3, insecure=True))
        assert float(np.mean(np.abs(draws) <= 0.25)) == pytest.approx(0.5, abs=6.2 * sqrt(0.25 / 100_000))


def kolmogorov(draws: np.ndarray, specimen: NotPrivateDCT, value: float) -> float:
    """P(a sample of this size is so far from the law of a report), by the bound of Massart."""
    d, m = float(specimen.d), float(specimen.m)
    cumulated = np.interp(np.sort(draws) - value, [-d, -m, m, d], [0, 0.25, 0.75, 1])
    steps = np.arange(1, len(draws) + 1) / len(draws)
    far = max(float(np.max(steps - cumulated)), float(np.max(cumulated - steps)) + 1 / len(draws))
    return 2 * exp(-2 * len(draws) * far**2)


def test_reports_follow_the_law_and_not_that_of_a_near_twin() -> None:
    specimen = NotPrivateDCT(epsilon=1, d=1, m="1/4")
    twin = NotPrivateDCT(epsilon=1, d=1, m="0.27")
    draws = specimen.report(np.full(100_000, 0.3), dn.SeededBits(5, insecure=True))
    assert kolmogorov(draws, specimen, 0.3) > ALPHA
    assert kolmogorov(draws, twin, 0.3) < ALPHA


def test_expected_errors_on_adult_ages() -> None:
    n, square = AGE
    epsilons = (0.5, 1, 2, 4)
    for variance, row in (
        (analysis.piecewise, (0.01916, 0.00901, 0.00401, 0.00161)),
        (analysis.duchi, (0.01789, 0.00925, 0.00526, 0.00388)),
        (lambda e, _: float(SCALED.specimen(e).variance), (0.00225, 0.00098, 0.00037, 0.00010)),
    ):
        found = [analysis.absolute_error(variance(e, square), n) for e in epsilons]
        assert found == pytest.approx(row, abs=0.0000051)


def test_one_run_of_a_hundred_scatters_by_about_eight_percent() -> None:
    assert analysis.spread(1, 1000, 100) / analysis.absolute_error(1, 1000) == pytest.approx(0.0755, abs=5e-4)


def test_the_expected_absolute_error_is_that_of_a_normal_mean() -> None:
    """E|X| of a normal law with variance V/n, integrated."""
    deviation = sqrt(3.7 / 1000)
    found = mpmath.quad(lambda x: 2 * x * mpmath.npdf(x, 0, deviation), [0, deviation, 12 * deviation])
    assert analysis.absolute_error(3.7, 1000) == pytest.approx(float(found), rel=1e-9)


def test_the_claim_needs_an_epsilon_of_more_than_five_and_a_half() -> None:
    claimed = analysis.piecewise(1, 0.0625) / analysis.GAIN**2
    assert claimed == pytest.approx(0.037, abs=0.001)
    assert analysis.needed(claimed) == pytest.approx(5.6, abs=0.05)
    assert analysis.needed(3.98993) == pytest.approx(1)
    with pytest.raises(ParameterError, match="beyond the table"):
        analysis.needed(0.001)


def test_pm_and_duchi_have_the_variances_of_their_densities() -> None:
    for e in (0.5, 1.0, 4.0):
        for v in (0.0, 0.4, -1.0):
            root, power = exp(e / 2), exp(e)
            size = (root + 1) / (root - 1)
            left = (size + 1) / 2 * v - (size - 1) / 2
            inside, outside = root / (root + 1) / (size - 1), 1 / (root + 1) / (size + 1)

            def third(a: float, b: float) -> float:
                return (b**3 - a**3) / 3

            right = left + size - 1
            square = inside * third(left, right) + outside * (third(-size, left) + third(right, size))
            assert analysis.piecewise(e, v * v) == pytest.approx(square - v * v, rel=1e-9)
            level = (power + 1) / (power - 1)
            up = 0.5 + v / (2 * level)
            assert analysis.duchi(e, v * v) == pytest.approx(
                up * (level - v) ** 2 + (1 - up) * (-level - v) ** 2, rel=1e-9
            )


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ParameterError, match="m must be below d"):
        NotPrivateDCT(epsilon=1, d=1, m=1)
    with pytest.raises(ParameterError, match="d must be greater than 0"):
        NotPrivateDCT(epsilon=1, d=0, m=1)


def test_nothing_that_collects_or_learns_can_reach_the_specimen() -> None:
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE).as_posix()
        if inside.startswith("studies/") or inside == "cli/study.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            words = ast.unparse(node) if isinstance(node, ast.Import | ast.ImportFrom) else ""
            assert "studies" not in words, inside
    assert not {name for name in dn.__all__ if "dct" in name.lower()}
    assert not hasattr(NotPrivateDCT, "client")


def test_a_normal_quantile_gives_a_normal_law() -> None:
    from deniable.studies.dct.uniform import exponential, normal

    bits = dn.SeededBits(8, insecure=True)
    draws = normal(100_000, bits)
    share = float(np.mean(draws < 0.5))
    assert share == pytest.approx(0.5 + erf(0.5 / sqrt(2)) / 2, abs=6 * sqrt(0.25 / 100_000))
    waits = exponential(100_000, bits)
    assert float(np.mean(waits > 1)) == pytest.approx(exp(-1), abs=6 * sqrt(0.25 / 100_000))
