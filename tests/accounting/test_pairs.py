"""Each pair against an independent way to its delta, and on a grid never below itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from accounting_oracles import Law, gaussian_delta, hockey_stick, mixture, upper

from deniable.accounting.curves import (
    Added,
    BoundedRangeCurve,
    DiscreteLaplaceCurve,
    GaussianCurve,
    LaplaceCurve,
    Removed,
)
from deniable.accounting.losses import SLACK, losses
from deniable.accounting.pairs import Atoms, Pair, Smooth, answers, steps
from deniable.accounting.promised import concentrated_pair
from deniable.accounting.sums import DiscreteGaussianCurve
from deniable.accounting.together import together

PAIRS: dict[str, Pair] = {
    "gaussian": GaussianCurve(0.5),
    "wide gaussian": GaussianCurve(6.0),
    "laplace": LaplaceCurve(1.0),
    "wide laplace": LaplaceCurve(30.0),
    "discrete laplace": DiscreteLaplaceCurve(100, 60.0),
    "exponential": BoundedRangeCurve(1.5),
    "discrete gaussian": DiscreteGaussianCurve(2, 3.0, 60.0),
    "concentrated": concentrated_pair(0.1, 60.0),
    "removed": Removed(GaussianCurve(1.0), 0.1),
    "added": Added(GaussianCurve(1.0), 0.1),
    "removed laplace": Removed(LaplaceCurve(1.0), 0.01),
    "added laplace": Added(LaplaceCurve(1.0), 0.3),
    "sampled twice": Removed(Removed(GaussianCurve(2.0), 0.5), 0.5),
    "two answers": answers(1.0),
    "five answers": answers(1.0, 5),
    "steps": steps(4, 2.0),
    "removed answers": answers(2.0).removed(0.3),
    "added answers": answers(2.0).added(0.3),
}


def delta_of(pair: Pair, epsilon: float) -> float:
    """delta from the tails, or summed over atoms."""
    if isinstance(pair, Atoms):
        parts = np.exp(pair.log_mass) * np.maximum(0.0, -np.expm1(epsilon - pair.losses))
        return float(parts.sum() + np.exp(pair.log_infinite))
    near, far = pair.tails(np.array([epsilon]))
    return float(np.exp(near[0]) - np.exp(epsilon + far[0]))


def delta_on_grid(pair: Pair, step: float, epsilon: float) -> float:
    found = losses(pair, step, 60.0)
    parts = np.exp(found.log_mass) * np.maximum(0.0, -np.expm1(epsilon - found.index * step))
    return float(parts.sum() + np.exp(found.log_infinite))


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("step", [0.3, 0.01])
def test_on_a_grid_a_pair_is_never_below_itself_and_close(name: str, step: float) -> None:
    pair = PAIRS[name]
    for epsilon in np.random.default_rng(1).uniform(-2, 3, size=200):
        truth, found = delta_of(pair, epsilon), delta_on_grid(pair, step, epsilon)
        assert found >= truth * (1 - 1e-12) - 1e-15
        assert found <= delta_of(pair, epsilon - step) + 1e-12


@pytest.mark.parametrize("name", PAIRS)
def test_masses_on_a_grid_add_up_to_one(name: str) -> None:
    found = losses(PAIRS[name], 0.01, 60.0)
    assert 1 - 1e-12 <= np.exp(found.log_mass).sum() + np.exp(found.log_infinite) <= 1 + 1e-9


def close(found: float, truth: Any, epsilon: float) -> bool:
    """Within what `tails` promises."""
    return bool(abs(mp.mpf(found) - truth) <= SLACK * (1 + abs(epsilon) + abs(truth)))


def tail_pair(smooth: Smooth, epsilon: float) -> tuple[float, float]:
    near, far = smooth.tails(np.array([epsilon]))
    return float(near[0]), float(far[0])


@pytest.mark.parametrize("mu", [1e-3, 0.5, 6.0, 40.0])
def test_gaussian_tails_are_as_precise_as_promised(mu: float) -> None:
    for z in np.linspace(-39, 39, 79):
        epsilon = float(mu * mu / 2 + z * mu)
        near, far = tail_pair(GaussianCurve(mu), epsilon)
        m, e = mp.mpf(mu), mp.mpf(epsilon)
        assert close(near, mp.log(upper(e / m - m / 2)), epsilon)
        assert close(far, mp.log(upper(e / m + m / 2)), epsilon)


@pytest.mark.parametrize("most", [1e-3, 1.0, 700.0])
def test_laplace_tails_are_as_precise_as_promised(most: float) -> None:
    for epsilon in np.linspace(-0.999 * most, 0.999 * most, 41):
        near, far = tail_pair(LaplaceCurve(most), float(epsilon))
        e, m = mp.mpf(float(epsilon)), mp.mpf(most)
        assert close(near, mp.log(1 - mp.exp(-(m - e) / 2) / 2), epsilon)
        assert close(far, -(m + e) / 2 - mp.log(2), epsilon)


@pytest.mark.parametrize("most", [1e-3, 1.0, 700.0])
def test_bounded_range_tails_are_as_precise_as_promised(most: float) -> None:
    for epsilon in np.linspace(-0.999 * most, 0.999 * most, 41):
        near, far = tail_pair(BoundedRangeCurve(most), float(epsilon))
        e, m = mp.mpf(float(epsilon)), mp.mpf(most)
        assert close(near, mp.log((mp.exp(m) - mp.exp((m + e) / 2)) / mp.expm1(m)), epsilon)
        assert close(far, mp.log(mp.expm1((m - e) / 2) / mp.expm1(m)), epsilon)


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.9])
@pytest.mark.parametrize("mu", [0.2, 2.0])
def test_tails_on_a_sample_are_as_precise_as_promised(rate: float, mu: float) -> None:
    """Removed: the mixed loss of the normal place x; its tails are those of x."""
    q, m = mp.mpf(rate), mp.mpf(mu)
    for z in np.linspace(-6, 12, 19):
        loss = m * mp.mpf(float(z)) - m * m / 2
        epsilon = float(mp.log1p(q * mp.expm1(loss)))
        there = mp.log(1 + mp.expm1(mp.mpf(epsilon)) / q)
        near, far = tail_pair(Removed(GaussianCurve(mu), rate), epsilon)
        p_tail, q_tail = upper(there / m - m / 2), upper(there / m + m / 2)
        assert abs(mp.mpf(near) - mp.log((1 - q) * q_tail + q * p_tail)) < mp.mpf(10) ** -12
        assert abs(mp.mpf(far) - mp.log(q_tail)) < mp.mpf(10) ** -12


@pytest.mark.parametrize(("sigma", "shift"), [(0.7, 1), (3.0, 2), (60.0, 5)])
def test_lattice_tails_are_on_the_safe_side_of_the_sums(sigma: float, shift: int) -> None:
    curve = DiscreteGaussianCurve(shift, sigma, 40.0)
    s = mp.mpf(sigma)
    reach = int(14 * sigma) + shift + 5
    weights = [mp.exp(-(mp.mpf(x) ** 2) / (2 * s * s)) for x in range(-reach, reach + 1)]
    total = mp.fsum(weights)
    for c in range(-int(6 * sigma), int(6 * sigma) + 1, max(1, int(sigma / 2))):
        epsilon = float((shift**2 - 2 * shift * (mp.mpf(c) - mp.mpf("0.5"))) / (2 * s * s))
        near, far = tail_pair(curve, epsilon)
        p_tail = mp.log(mp.fsum(weights[: c + reach]) / total)
        assert p_tail <= near <= p_tail + mp.mpf(10) ** -11
        if c - shift + reach > 0:
            q_tail = mp.log(mp.fsum(weights[: c - shift + reach]) / total)
            assert q_tail - mp.mpf(10) ** -9 <= far <= q_tail


@pytest.mark.parametrize("rho", [1e-8, 0.02, 0.5, 40.0])
def test_the_concentrated_pair_is_never_below_what_its_promise_allows(rho: float) -> None:
    """Gaussian noise and coins of many biases keep the promise: their delta is below, at every epsilon."""
    pair = concentrated_pair(rho, 60.0)
    spread = math.sqrt(2 * rho)
    for z in np.linspace(-8, 8, 33):
        epsilon = rho + z * spread
        gaussian = float(gaussian_delta(mp.sqrt(2 * mp.mpf(rho)), epsilon))
        assert delta_of(pair, epsilon) >= gaussian - 1e-15
        bound = math.exp(min(0.0, conversion(rho, epsilon)))
        assert delta_of(pair, epsilon) <= bound * 1.01 + 1e-15


def conversion(rho: float, epsilon: float) -> float:
    """Proposition 12 of Canonne, Kamath, Steinke 2020 on a grid of orders, as a logarithm."""
    a = 1 + np.exp(np.linspace(-15, 20, 3501))
    return float(((a - 1) * (a * rho - epsilon) + a * np.log1p(-1 / a) - np.log(a - 1)).min())


def laplace_delta(shift: float, epsilon: float) -> float:
    if epsilon >= shift:
        return 0.0
    return -math.expm1((epsilon - shift) / 2) if epsilon >= -shift else -math.expm1(epsilon)


@pytest.mark.parametrize(("first", "second"), [(0.3, 0.3), (0.2, 1.5), (1.0, 3.0)])
def test_a_vector_with_laplace_noise_is_dominated_by_one_number(first: float, second: float) -> None:
    """delta of two coordinates, by quadrature over the loss of the first."""
    for epsilon in np.linspace(-3, first + second, 23):
        atoms = laplace_delta(second, epsilon - first) / 2
        atoms += math.exp(-first) / 2 * laplace_delta(second, epsilon + first)
        x = (np.arange(4000) + 0.5) * first / 4000
        spread = sum(math.exp(-place) / 2 * laplace_delta(second, epsilon - first + 2 * place) for place in x)
        both = atoms + spread * first / 4000
        assert both <= laplace_delta(first + second, epsilon) + 1e-7


@pytest.mark.parametrize("shifts", [(1, 1), (1, 2), (2, 3)])
def test_a_vector_with_discrete_laplace_noise_is_dominated_by_one_number(shifts: tuple[int, int]) -> None:
    """Noise of scale 1/ln 2, so that every probability is 2**-|x| / 3; all outcomes within 30 listed."""
    first, second = shifts
    reach = range(-30, 31)
    one = steps(sum(shifts), 1 / math.log(2))
    for top, bottom in ((1, 4), (1, 1), (3, 1), (7, 1)):
        both = sum(
            max(0, (bottom << 70 - abs(x) - abs(y)) - (top << 70 - abs(x - first) - abs(y - second)))
            for x, y in itertools.product(reach, repeat=2)
        )
        truth = Fraction(both, bottom * 9 * 2**70)
        assert float(truth) <= delta_of(one, math.log(top / bottom)) + 1e-8


def test_no_exponential_mechanism_is_above_its_curve() -> None:
    """Random utilities of up to 6 candidates that move by at most the sensitivity, every epsilon."""
    random = np.random.default_rng(3)
    curve = BoundedRangeCurve(1.5)
    closest = 0.0
    for _ in range(3000):
        candidates = int(random.integers(2, 7))
        before = random.uniform(-2, 2, size=candidates)
        after = before + random.choice([-1.0, 1.0, 0.0], size=candidates)
        p, q = np.exp(1.5 * before / 2), np.exp(1.5 * after / 2)
        p, q = p / p.sum(), q / q.sum()
        epsilon = float(random.uniform(-1.4, 1.4))
        truth = float(np.maximum(0, p - np.exp(epsilon) * q).sum())
        assert truth <= delta_of(curve, epsilon) + 1e-12
        closest = max(closest, truth / delta_of(curve, epsilon))
    assert closest > 0.98


def answers_law(options: int, growth: Fraction, true: int) -> Law:
    whole = growth + options - 1
    return {x: (growth if x == true else Fraction(1)) / whole for x in range(options)}


@pytest.mark.parametrize("options", [2, 3, 7])
@pytest.mark.parametrize("growth", [Fraction(3), Fraction(5, 4)])
def test_randomised_response_is_what_enumeration_says(options: int, growth: Fraction) -> None:
    p, q = answers_law(options, growth, 0), answers_law(options, growth, 1)
    pair = answers(math.log(growth), options)
    for w in (Fraction(1, 5), Fraction(1), Fraction(11, 10), Fraction(2)):
        assert delta_of(pair, math.log(w)) == pytest.approx(float(hockey_stick(p, q, w)), abs=1e-14)


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(3, 4)])
@pytest.mark.parametrize("options", [2, 3])
def test_sampling_is_what_enumeration_says(rate: Fraction, options: int) -> None:
    p, q = answers_law(options, Fraction(4), 0), answers_law(options, Fraction(4), 1)
    pair = answers(math.log(4), options)
    for w in (Fraction(1, 5), Fraction(9, 10), Fraction(1), Fraction(21, 20), Fraction(2)):
        removed = hockey_stick(mixture(q, p, rate), q, w)
        added = hockey_stick(p, mixture(p, q, rate), w)
        assert delta_of(pair.removed(float(rate)), math.log(w)) == pytest.approx(float(removed), abs=1e-14)
        assert delta_of(pair.added(float(rate)), math.log(w)) == pytest.approx(float(added), abs=1e-14)


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(3, 4)])
def test_sampling_what_may_fail_is_what_enumeration_says(rate: Fraction) -> None:
    """(ln 3, 1/5)-privacy at its worst: with chance 1/5 the side is told, else randomised response."""
    fails = Fraction(1, 5)
    p = {"told P": fails, 0: (1 - fails) * Fraction(3, 4), 1: (1 - fails) / 4}
    q = {"told Q": fails, 1: (1 - fails) * Fraction(3, 4), 0: (1 - fails) / 4}
    pair = together([(answers(math.log(3)), 1)], fails)
    assert isinstance(pair, Atoms)
    for w in (Fraction(1, 5), Fraction(1), Fraction(21, 20), Fraction(2)):
        removed = hockey_stick(mixture(q, p, rate), q, w)
        added = hockey_stick(p, mixture(p, q, rate), w)
        assert delta_of(pair.removed(float(rate)), math.log(w)) == pytest.approx(float(removed), abs=1e-14)
        assert delta_of(pair.added(float(rate)), math.log(w)) == pytest.approx(float(added), abs=1e-14)


def test_several_draws_on_one_sample_are_composed_before_they_are_sampled() -> None:
    """Three randomised responses as one pair, against all 8 outcomes."""
    p, q = answers_law(2, Fraction(3), 0), answers_law(2, Fraction(3), 1)
    pair = together([(answers(math.log(3)), 3)], Fraction(0))
    for w in (Fraction(1, 2), Fraction(1), Fraction(4)):
        truth = sum(
            (
                max(Fraction(0), p[a] * p[b] * p[c] - w * q[a] * q[b] * q[c])
                for a, b, c in itertools.product(range(2), repeat=3)
            ),
            Fraction(0),
        )
        found = delta_of(pair, math.log(w))
        assert float(truth) <= found <= float(truth) * 1.001


@pytest.mark.parametrize("mistake", ["no mass kept", "other direction"])
def test_a_wrong_sampling_would_be_seen(mistake: str) -> None:
    """The oracle tells the right pair from two wrong ones."""
    wrong: dict[str, Callable[[Atoms], Atoms]] = {
        "no mass kept": lambda pair: Atoms(pair.removed(0.1).losses, pair.log_mass),
        "other direction": lambda pair: pair.added(0.1),
    }
    p, q = answers_law(2, Fraction(4), 0), answers_law(2, Fraction(4), 1)
    truth = float(hockey_stick(mixture(q, p, Fraction(1, 10)), q, Fraction(21, 20)))
    assert abs(delta_of(wrong[mistake](answers(math.log(4))), math.log(1.05)) - truth) > 1e-4
