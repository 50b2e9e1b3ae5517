"""The curves that are enclosed by rationals, against mpmath at 60 digits and against plain sums."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from accounting_oracles import gaussian_delta, number, upper

from deniable import events
from deniable.accounting import account, concentrated, discrete, gaussian, lattice
from deniable.accounting.powers import amplified, any_of, chance_of_any, negative_exponential

SHIFTS = ["1e-9", "0.001", "0.3", "1", "7", "100"]
LEVELS = ["0", "1e-9", "0.01", "1", "12", "500", "10000"]


@pytest.mark.parametrize("mu", SHIFTS)
@pytest.mark.parametrize("epsilon", LEVELS)
def test_the_gaussian_curve_is_enclosed(mu: str, epsilon: str) -> None:
    low, high = gaussian.delta(Fraction(mu) ** 2, Fraction(epsilon))
    mp.mp.dps = 400
    truth = gaussian_delta(mu, epsilon)
    mp.mp.dps = 60
    assert number(low) <= truth <= number(high)
    far = (Fraction(epsilon) / Fraction(mu) - Fraction(mu) / 2) ** 2 / 2 > 2**15
    assert far or high - low <= high / 2**60


@pytest.mark.parametrize("x", ["0", "0.01", "2.999", "3", "8", "40", "1000"])
def test_mills_ratio_is_enclosed(x: str) -> None:
    low, high = gaussian.mills(Fraction(x), 96)
    truth = upper(x) * mp.exp(mp.mpf(x) ** 2 / 2) * mp.sqrt(2 * mp.pi)
    assert number(low) <= truth <= number(high)
    assert high - low < Fraction(1, 2**85)


@pytest.mark.parametrize("mu", ["0.001", "0.3", "1", "7"])
@pytest.mark.parametrize("delta", ["0.5", "0.01", "1e-9", "1e-100", "1e-300"])
def test_epsilon_and_delta_of_the_gaussian_curve_are_inverse(mu: str, delta: str) -> None:
    square, asked = Fraction(mu) ** 2, Fraction(delta)
    epsilon = gaussian.epsilon(square, asked)
    assert gaussian.delta(square, epsilon)[1] <= asked
    if epsilon:
        assert gaussian.delta(square, epsilon * (1 - Fraction(1, 10**9)) - Fraction(1, 10**12))[0] > asked


@pytest.mark.parametrize("epsilon", ["0", "1e-9", "0.1", "1", "100", "10000"])
@pytest.mark.parametrize("delta", ["0.5", "1e-6", "1e-300"])
def test_the_largest_shift_keeps_delta_and_a_larger_one_does_not(epsilon: str, delta: str) -> None:
    asked, target = Fraction(epsilon), Fraction(delta)
    mu = gaussian.largest_mu(asked, target)
    assert gaussian.delta(mu**2, asked)[1] <= target
    assert gaussian.delta((mu * (1 + Fraction(1, 10**9))) ** 2, asked)[0] > target


def lattice_delta(sigma: Any, shift: int, epsilon: Any) -> Any:
    """P(S) - e**epsilon Q(S) over every integer where it is positive, summed term by term."""
    sigma, epsilon = mp.mpf(sigma), mp.mpf(epsilon)
    reach = int(60 * sigma) + 10 * shift + 60
    weights = {x: mp.exp(-(mp.mpf(x) ** 2) / (2 * sigma**2)) for x in range(-reach - shift, reach + 1)}
    total = mp.fsum(weights.values())
    parts = (weights[x] - mp.exp(epsilon) * weights[x - shift] for x in range(-reach, reach + 1))
    return mp.fsum(max(mp.mpf(0), part) for part in parts) / total


@pytest.mark.parametrize(
    ("sigma", "shift", "epsilon"),
    [("1", 1, "0"), ("3.73063", 1, "1"), ("0.3", 1, "2"), ("10", 7, "3"), ("2", 9, "40"), ("5", 1, "0.01")],
)
def test_the_lattice_sum_is_enclosed(sigma: str, shift: int, epsilon: str) -> None:
    event = events.DiscreteGaussian(sigma=sigma, sensitivity=shift)
    low, high = lattice.delta(event, Fraction(epsilon))
    truth = lattice_delta(sigma, shift, epsilon)
    assert number(low) <= truth * (1 + mp.mpf(10) ** -40)
    assert truth <= number(high) * (1 + mp.mpf(10) ** -40)
    assert high - low <= high / 2**60


@pytest.mark.parametrize(("sigma", "delta"), [("1", "0.39894"), ("0.3", "0.992327482"), ("1", "0.398942278")])
def test_the_delta_at_epsilon_zero_is_the_chance_of_no_noise(sigma: str, delta: str) -> None:
    found = account(events.DiscreteGaussian(sigma=sigma)).delta(epsilon=0)
    assert abs(found - Fraction(delta)) < Fraction(1, 10**5)


@pytest.mark.parametrize(("sigma", "epsilon"), [(3, "0.5"), (3, "3"), (6, "0"), (20, "0.2")])
def test_smoothing_is_never_below_the_lattice_sum(sigma: int, epsilon: str) -> None:
    event = events.DiscreteGaussian(sigma=sigma)
    about = lattice.delta(event, Fraction(epsilon))[0]
    r_squared = discrete.smoothing(1, Fraction(epsilon), about)
    smoothed = discrete.smoothed([(event, 1)], r_squared)
    assert smoothed is not None
    growth = 1 / negative_exponential(Fraction(epsilon), 96)[0]
    assert (1 + growth) * smoothed.distance <= discrete.SHARE * about
    upper_end = gaussian.delta(smoothed.mu_squared, Fraction(epsilon))[1] + discrete.SHARE * about
    assert about <= upper_end


@pytest.mark.parametrize("r_squared", [0.125, 0.2, 0.3])
@pytest.mark.parametrize("share", [1.05, 2.0, 10.0])
def test_the_smoothing_lemma_holds_where_it_is_tightest(r_squared: float, share: float) -> None:
    """X and Y of the lemma on a fine grid of G: their distance is below 4 exp(-2 pi**2 r**2)."""
    variance = share * r_squared
    y = np.arange(-40, 41)
    g = np.linspace(-12, 12, 48001)
    weights = np.exp(-((y[:, None] - g) ** 2) / (2 * r_squared))
    density = np.exp(-(g**2) / (2 * (variance - r_squared)))
    smooth = (weights / weights.sum(axis=0)) @ (density / density.sum())
    exact = np.exp(-(y**2) / (2 * variance))
    distance = np.maximum(smooth - exact / exact.sum(), 0).sum()
    assert 0 < distance <= 4 * np.exp(-2 * np.pi**2 * r_squared)


def test_a_vector_of_integers_costs_no_more_than_its_price() -> None:
    """Two coordinates moved by (1, 1), noise of sigma 2: every outcome listed, against the price."""
    sigma, reach, epsilon = 2.0, 30, 0.5
    law = {x: float(mp.exp(-(x**2) / (2 * sigma**2))) for x in range(-reach - 1, reach + 1)}
    total = sum(law.values())
    growth = float(mp.exp(epsilon))
    truth = sum(
        max(0.0, law[x] * law[y] - growth * law[x - 1] * law[y - 1])
        for x, y in itertools.product(range(-reach, reach + 1), repeat=2)
    ) / (total * total)
    event = events.DiscreteGaussian(sigma=2, sensitivity="1.41421357", coordinates=2)
    found = account(event).delta(epsilon="0.5")
    assert truth * (1 - 1e-12) <= found


def cks(rho: Any, epsilon: Any) -> Any:
    """Proposition 12 of Canonne, Kamath, Steinke 2020, minimised by mpmath."""
    rho, epsilon = mp.mpf(rho), mp.mpf(epsilon)

    def bound(u: Any) -> Any:
        a = 1 + mp.exp(u)
        return (a - 1) * (a * rho - epsilon) + a * mp.log1p(-1 / a) - mp.log(a - 1)

    start = min((mp.mpf(i) / 20 for i in range(-400, 400)), key=bound)
    return mp.exp(min(bound(start + mp.mpf(i) / 4000) for i in range(-400, 401)))


@pytest.mark.parametrize(("rho", "epsilon"), [("0.1", "1"), ("0.5", "5"), ("1e-6", "0.01"), ("3", "4")])
def test_the_conversion_of_concentrated_promises_is_the_best_one(rho: str, epsilon: str) -> None:
    found = number(concentrated.delta(Fraction(rho), Fraction(epsilon)))
    best = cks(rho, epsilon)
    assert best * (1 - mp.mpf(10) ** -5) <= found <= best * (1 + mp.mpf(10) ** -5)
    back = concentrated.epsilon(Fraction(rho), concentrated.delta(Fraction(rho), Fraction(epsilon)))
    assert abs(back / Fraction(epsilon) - 1) < Fraction(1, 10**9)


def test_gaussian_noise_obeys_its_concentrated_promise() -> None:
    for epsilon in ("0.1", "1", "5"):
        assert gaussian.delta(Fraction(1), Fraction(epsilon))[0] <= concentrated.delta(
            Fraction(1, 2), Fraction(epsilon)
        )


@pytest.mark.parametrize("x", ["0", "1e-30", "1", "700", "32000"])
def test_exponentials_keep_their_digits(x: str) -> None:
    low, high = negative_exponential(Fraction(x), 96)
    truth = mp.exp(-mp.mpf(x))
    assert number(low) <= truth <= number(high) * (1 + mp.mpf(10) ** -50)
    assert high - low <= high / 2**90
    assert negative_exponential(Fraction(40000), 96)[1] >= Fraction(1, 10**17372)


@pytest.mark.parametrize(("delta", "times"), [("0.5", 3), ("1e-9", 10**6), ("1e-300", 10**12)])
def test_the_chance_of_any_failure_is_rounded_up_by_nothing(delta: str, times: int) -> None:
    mp.mp.dps = 350
    found, truth = number(chance_of_any(Fraction(delta), times)), -mp.expm1(times * mp.log1p(-mp.mpf(delta)))
    assert truth * (1 - mp.mpf(10) ** -340) <= found <= truth * (1 + mp.mpf(10) ** -30)
    mp.mp.dps = 60


def test_any_of_several_chances() -> None:
    assert any_of([Fraction(1, 2), Fraction(1, 3)]) == Fraction(2, 3)
    assert any_of([]) == 0


def test_sampling_a_pure_promise() -> None:
    assert abs(number(amplified(Fraction(1), Fraction(1, 2))) - mp.log((1 + mp.e) / 2)) < mp.mpf(10) ** -30
    assert number(amplified(Fraction(1), Fraction(1, 2))) >= mp.log((1 + mp.e) / 2)
    assert amplified(Fraction(10**6), Fraction(1, 2)) == 10**6


def test_two_outputs_of_one_value_are_one_gaussian_with_the_root_of_the_sum_of_squares() -> None:
    """f and f/2, each with noise of deviation 1: a person moves them by sqrt(1.25) together, not by 1."""
    both = account([events.Gaussian(sigma=1), events.Gaussian(sigma=1, sensitivity="1/2")])

    def delta(epsilon: float, mu: float) -> float:
        near, far = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
        return float(mp.ncdf(near) - mp.exp(epsilon) * mp.ncdf(far))

    found = float(both.epsilon(delta="1e-5"))
    assert delta(found, 1.25**0.5) == pytest.approx(1e-5, rel=1e-6)
    assert delta(found, 1.0) < 1e-6
