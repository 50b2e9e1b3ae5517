"""The tilted transform: never below the truth, close to it, at every scale."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from accounting_oracles import Law, gaussian_delta, number

from deniable import events
from deniable.accounting import account, distribution, gaussian
from deniable.accounting.composition import ETA, UNIT, Bend, Stack, fast_length
from deniable.accounting.curves import GaussianCurve
from deniable.accounting.losses import Losses
from deniable.accounting.pairs import Atoms, answers

TIGHT = 1.001


def exact_sum(masses: dict[int, float], times: int) -> dict[int, Fraction]:
    """The law of the sum of `times` draws, in rationals."""
    law = {0: Fraction(1)}
    for _ in range(times):
        grown: dict[int, Fraction] = {}
        for (at, p), (step, q) in itertools.product(law.items(), masses.items()):
            grown[at + step] = grown.get(at + step, Fraction(0)) + p * Fraction(q)
        law = grown
    return law


def stack_of(masses: dict[int, float], times: int, step: float) -> Stack:
    index = np.array(list(masses), dtype=np.int64)
    return Stack([Losses(index, np.log(list(masses.values())), -np.inf)], [times], step)


MASSES = {-3: 0.1234, -1: 0.2511, 0: 0.0622, 2: 0.5017, 5: 0.0616}


@pytest.mark.parametrize("times", [1, 7, 40])
@pytest.mark.parametrize("tilt", [0.0, 1.5, 20.0])
def test_no_place_of_the_transform_is_below_the_exact_convolution(times: int, tilt: float) -> None:
    step = 0.25
    stack = stack_of(MASSES, times, step)
    bend = Bend(tilt, stack.cumulants(tilt))
    found = stack.tilted(bend, low=-1000.0 * step, log_delta=-50.0)
    law = exact_sum(MASSES, times)
    below_without = 0
    for i, tilted in enumerate(found.masses):
        at = found.start + i
        truth = number(law.get(at, Fraction(0))) * mp.exp(mp.mpf(tilt) * at * step - bend.at.total)
        assert truth <= mp.mpf(float(tilted)) * (1 + mp.mpf(10) ** -13)
        eta = ETA * (times + 1) * UNIT * math.log2(len(found.masses))
        assert mp.mpf(float(tilted)) <= truth * (1 + mp.mpf(10) ** -10) + 3 * eta
        below_without += truth > mp.mpf(float(tilted) - eta)
    assert below_without > 0 or times < 40, "without eta some place is below: the term is needed"


def test_what_lies_above_the_window_is_added() -> None:
    """A window that was made for a large delta ends inside the law: the rest of it is bounded."""
    step, times = 0.25, 200
    stack = stack_of(MASSES, times, step)
    bend = Bend(0.3, stack.cumulants(0.3))
    found = stack.tilted(bend, low=0.0, log_delta=-1.0)
    law = np.ones(1)
    for _ in range(times):
        law = np.convolve(law, [0.1234, 0, 0.2511, 0.0622, 0, 0.5017, 0, 0, 0.0616])
    end = found.start + len(found.masses)
    above = law[end + 3 * times :].sum()
    assert 0 < above <= math.exp(found.log_rest)


def test_mass_far_out_is_not_lost_by_a_narrow_window() -> None:
    """50 events with mass 1e-4 at loss 12: a window made for the rest would claim 2.6e-5."""
    far = Atoms(np.array([12.0, 0.0]), np.log(np.array([1e-4, 1 - 1e-4])))
    found = math.exp(distribution.log_delta([(far, 50)], 8.0))
    one, two = (math.comb(50, k) * 1e-4**k * (1 - 1e-4) ** (50 - k) for k in (1, 2))
    truth = one * -math.expm1(8.0 - 12) + two * -math.expm1(8.0 - 24)
    assert truth <= found <= truth * 1.001
    assert found > 0.0048


SPLITS = [
    (0.02, 1000),
    (1.0, 2),
    (0.1, 5),
    (0.001, 100000),
    (30.0, 3),
]


@pytest.mark.parametrize(("mu", "times"), SPLITS)
@pytest.mark.parametrize("delta", ["0.5", "0.1", "1e-3", "1e-6", "1e-12", "1e-30", "1e-100", "1e-300"])
def test_gaussians_composed_one_by_one_cost_what_their_sum_costs(mu: float, times: int, delta: str) -> None:
    """Epsilon: never below the exact curve, at most 0.1 % above (or 1e-9)."""
    truth = gaussian.epsilon(times * Fraction(mu) ** 2, Fraction(delta))
    found = distribution.epsilon([(GaussianCurve(mu), times)], float(mp.log(mp.mpf(delta))))
    assert float(truth) * (1 - 1e-11) <= found <= max(float(truth) * TIGHT, float(truth) + 1e-9)


@pytest.mark.parametrize(("mu", "times"), [(0.02, 1000), (1.0, 2), (0.1, 5), (30.0, 3)])
@pytest.mark.parametrize("z", [-1.0, 0.0, 1.0, 4.0, 10.0, 20.0, 36.0])
def test_delta_of_gaussians_composed_one_by_one(mu: float, times: int, z: float) -> None:
    """At the epsilon whose normal place is z: never below the exact curve, at most 0.1 % above."""
    whole = math.sqrt(times) * mu
    epsilon = whole * whole / 2 + z * whole
    if epsilon < 0:
        return
    found = mp.exp(distribution.log_delta([(GaussianCurve(mu), times)], epsilon))
    truth = gaussian_delta(mp.sqrt(times) * mp.mpf(mu), epsilon)
    assert truth * (1 - mp.mpf(10) ** -11) <= found <= truth * TIGHT


def answers_law(options: int, growth: Fraction, true: int) -> Law:
    whole = growth + options - 1
    return {x: (growth if x == true else Fraction(1)) / whole for x in range(options)}


def failing_law(growth: Fraction, fails: Fraction, side: int) -> Law:
    """(ln growth, fails)-privacy at its worst."""
    kept = {x: (1 - fails) * p for x, p in answers_law(2, growth, side).items()}
    return {**kept, f"told {side}": fails}


def enumerated(pairs: list[tuple[Law, Law]], w: Fraction) -> Fraction:
    """delta at ln w of independent pairs, every joint outcome in rationals."""
    total = Fraction(0)
    for outcome in itertools.product(*(list(p) for p, _ in pairs)):
        p = math.prod((law[x] for (law, _), x in zip(pairs, outcome, strict=True)), start=Fraction(1))
        q = math.prod(
            (law.get(x, Fraction(0)) for (_, law), x in zip(pairs, outcome, strict=True)), start=Fraction(1)
        )
        total += max(Fraction(0), p - w * q)
    return total


SMALL: dict[str, tuple[list[events.Event], list[tuple[Law, Law]]]] = {
    "three answers, four times": (
        [events.RandomizedResponse(epsilon="ln 2", options=3)] * 4,
        [(answers_law(3, Fraction(2), 0), answers_law(3, Fraction(2), 1))] * 4,
    ),
    "different answers": (
        [
            events.RandomizedResponse(epsilon="ln 2", options=5),
            events.RandomizedResponse(epsilon="ln 3"),
            events.RandomizedResponse(epsilon="ln 7", options=3),
            events.PureDP(epsilon="ln 5/4"),
        ],
        [
            (answers_law(5, Fraction(2), 0), answers_law(5, Fraction(2), 1)),
            (answers_law(2, Fraction(3), 0), answers_law(2, Fraction(3), 1)),
            (answers_law(3, Fraction(7), 0), answers_law(3, Fraction(7), 1)),
            (answers_law(2, Fraction(5, 4), 0), answers_law(2, Fraction(5, 4), 1)),
        ],
    ),
    "promises that may fail": (
        [events.ApproxDP(epsilon="ln 2", delta="0.01"), events.ApproxDP(epsilon="ln 3", delta="0.02")] * 2,
        [
            (failing_law(Fraction(2), Fraction(1, 100), 0), failing_law(Fraction(2), Fraction(1, 100), 1)),
            (failing_law(Fraction(3), Fraction(1, 50), 0), failing_law(Fraction(3), Fraction(1, 50), 1)),
        ]
        * 2,
    ),
}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("w", ["1", "11/10", "3/2", "2", "5", "11", "15"])
def test_small_compositions_are_what_enumeration_in_rationals_says(name: str, w: str) -> None:
    spent, pairs = SMALL[name]
    truth = enumerated(pairs, Fraction(w))
    found = account(spent).delta(epsilon=f"ln {w}")
    assert truth * (1 - Fraction(1, 10**12)) <= found <= max(truth * Fraction(TIGHT), Fraction(1, 10**12))


def test_a_sample_is_composed_in_both_directions_and_the_worse_one_counts() -> None:
    p, q = answers_law(2, Fraction(4), 0), answers_law(2, Fraction(4), 1)
    rate = Fraction(1, 3)
    with_unit = {x: (1 - rate) * q[x] + rate * p[x] for x in q}
    without = {x: (1 - rate) * p[x] + rate * q[x] for x in q}
    event = events.Subsampled(events.RandomizedResponse(epsilon="ln 4"), rate)
    for w in (Fraction(1), Fraction(3, 2), Fraction(2)):
        truth = max(enumerated([(with_unit, q)] * 4, w), enumerated([(p, without)] * 4, w))
        found = account([event] * 4).delta(epsilon=f"ln {w}")
        assert truth * (1 - Fraction(1, 10**12)) <= found <= truth * Fraction(TIGHT) + Fraction(1, 10**9)


@pytest.mark.parametrize(("scale", "sigma"), [("1", "1"), ("0.2", "3"), ("4", "0.5")])
@pytest.mark.parametrize("epsilon", ["0", "0.5", "2", "6"])
def test_laplace_beside_gaussian_noise_is_what_quadrature_says(scale: str, sigma: str, epsilon: str) -> None:
    """The exact Gaussian delta, averaged over the Laplace loss: two atoms, and a density between."""
    e, most, mu = mp.mpf(epsilon), 1 / mp.mpf(scale), 1 / mp.mpf(sigma)
    mp.mp.dps = 25
    truth = (gaussian_delta(mu, e - most) + mp.exp(-most) * gaussian_delta(mu, e + most)) / 2
    truth += mp.quad(
        lambda loss: mp.exp(-(most - loss) / 2) / 4 * gaussian_delta(mu, e - loss),
        mp.linspace(-most, most, 9),
    )
    mp.mp.dps = 60
    found = number(
        account([events.Laplace(scale=scale), events.Gaussian(sigma=sigma)]).delta(epsilon=epsilon)
    )
    assert truth * (1 - mp.mpf(10) ** -11) <= found <= truth * TIGHT


@pytest.mark.parametrize("times", [2, 3, 10])
@pytest.mark.parametrize("delta", ["1e-2", "1e-6", "1e-12", "1e-100"])
def test_near_the_largest_loss_there_is(times: int, delta: str) -> None:
    """Laplace(0.3): with chance 2**-times every loss is the largest. That term alone, and the pure sum."""
    found = account([events.Laplace(scale="0.3")] * times).epsilon(delta)
    pure = times / Fraction(3, 10)
    rest = Fraction(delta) * 2**times
    if rest < 1:
        assert found >= pure * (1 - Fraction(1, 10**9)) + Fraction(math.log1p(-float(rest)))
    assert found <= pure


def test_what_may_fail_on_a_sample_fails_at_any_epsilon() -> None:
    failing = events.Subsampled(events.ApproxDP(epsilon=1, delta="1e-6"), "0.1")
    found = account([failing] * 5 + [events.Gaussian(sigma=1)]).delta(epsilon=30)
    truth = 1 - (1 - Fraction(1, 10**7)) ** 5
    assert truth <= found <= truth * (1 + Fraction(1, 10**6))


AGREE: dict[str, list[events.Event]] = {
    "tiny noise on samples beside answers that may all be true": [
        events.Repeated(events.Subsampled(events.Gaussian(sigma=206), "0.0024"), 3),
        events.Repeated(events.RandomizedResponse(epsilon="0.045", options=3), 2),
    ],
    "rare and large losses": [
        events.Repeated(events.Subsampled(events.Laplace(scale="0.1"), "0.001"), 200),
        events.Repeated(events.Gaussian(sigma=20), 30),
    ],
    "every kind at once": [
        events.Repeated(events.Laplace(scale=12), 20),
        events.Repeated(events.DiscreteLaplace(scale=30, sensitivity=7), 9),
        events.Repeated(events.DiscreteGaussian(sigma=14), 5),
        events.Repeated(events.Exponential(epsilon="0.2"), 4),
        events.Repeated(events.Subsampled(events.Gaussian(sigma=1), "0.05"), 40),
        events.ZeroConcentratedDP(rho="0.02"),
        events.ApproxDP(epsilon="0.1", delta="1e-30"),
    ],
}


@pytest.mark.parametrize("name", AGREE)
@pytest.mark.parametrize("delta", ["0.1", "1e-4", "1e-9", "1e-20"])
def test_epsilon_of_delta_of_epsilon_is_epsilon(name: str, delta: str) -> None:
    found = account(AGREE[name])
    epsilon = found.epsilon(delta)
    again = found.delta(epsilon=epsilon)
    assert again <= Fraction(delta) * Fraction(1005, 1000)
    assert found.epsilon(again) == pytest.approx(epsilon, rel=1e-3, abs=1e-9)


def test_the_account_of_many_is_the_account_of_their_list() -> None:
    event = events.Laplace(scale=10)
    listed = account([event] * 30).epsilon("1e-6")
    repeated = account(events.Repeated(events.Composed([event, event, event]), 10)).epsilon("1e-6")
    assert listed == repeated


def random_events(random: np.random.Generator) -> list[events.Event]:
    kinds: list[Any] = [
        lambda u: events.Laplace(scale=round(4 * u, 3)),
        lambda u: events.DiscreteLaplace(scale=round(6 * u, 3), sensitivity=int(random.integers(1, 4))),
        lambda u: events.Gaussian(sigma=round(3 * u, 3)),
        lambda u: events.PureDP(epsilon=round(0.3 / u, 4)),
        lambda u: events.DiscreteGaussian(sigma=round(4 * u, 3)),
    ]
    return [
        events.Repeated(kinds[int(random.integers(5))](random.uniform(0.5, 2)), int(random.integers(1, 30)))
        for _ in range(4)
    ]


def in_their_words(spent: list[events.Event], *, pessimistic: bool) -> Any:
    """The same events as a loss distribution of dp_accounting, on a grid of 1e-4."""
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    common = pytest.importorskip("dp_accounting.pld.common")
    options = {"value_discretization_interval": 1e-4, "pessimistic_estimate": pessimistic}
    total = pld.identity(**options)
    for repeated in spent:
        assert isinstance(repeated, events.Repeated)
        match repeated.event:
            case events.Laplace(scale=scale):
                one = pld.from_laplace_mechanism(float(scale), **options)
            case events.DiscreteLaplace(scale=scale, sensitivity=moved):
                one = pld.from_discrete_laplace_mechanism(float(1 / scale), sensitivity=int(moved), **options)
            case events.Gaussian(sigma=sigma):
                one = pld.from_gaussian_mechanism(float(sigma), **options)
            case events.DiscreteGaussian(sigma=sigma):
                one = pld.from_discrete_gaussian_mechanism(float(sigma), **options)
            case events.PureDP(epsilon=epsilon):
                parameters = common.DifferentialPrivacyParameters(float(epsilon), 0)
                one = pld.from_privacy_parameters(parameters, value_discretization_interval=1e-4)
            case _:
                raise AssertionError(repeated)
        total = total.compose(one.self_compose(repeated.times))
    return total


@pytest.mark.parametrize("seed", range(4))
def test_random_lists_cost_what_dp_accounting_says(seed: int) -> None:
    spent = random_events(np.random.default_rng(seed))
    theirs = in_their_words(spent, pessimistic=True)
    for delta in (1e-2, 1e-5, 1e-8):
        found = float(account(spent).epsilon(delta))
        other = theirs.get_epsilon_for_delta(delta)
        assert other * (1 - 2e-3) <= found <= other * (1 + 1e-3)


@pytest.mark.parametrize(("sigma", "times"), [(1, 100), (3, 1000)])
@pytest.mark.parametrize("delta", [1e-12, 1e-13])
def test_at_small_deltas_dp_accounting_is_below_the_truth_and_we_are_not(
    sigma: int, times: int, delta: float
) -> None:
    spent: list[events.Event] = [events.Repeated(events.Gaussian(sigma=sigma), times)]
    theirs = in_their_words(spent, pessimistic=True).get_epsilon_for_delta(delta)
    ours = distribution.epsilon([(GaussianCurve(1 / sigma), times)], math.log(delta))
    mu = mp.sqrt(times) / sigma
    assert gaussian_delta(mu, theirs) > delta
    assert gaussian_delta(mu, ours) <= delta
    assert gaussian_delta(mu, ours * 0.999) > delta


@pytest.mark.parametrize(
    ("rate", "sigma", "steps"), [("0.05", "1", 40), ("0.5", "2", 10), ("0.001", "0.6", 500)]
)
def test_samples_cost_what_dp_accounting_says(rate: str, sigma: str, steps: int) -> None:
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    theirs = pld.from_gaussian_mechanism(
        float(sigma), sampling_prob=float(rate), value_discretization_interval=1e-4
    ).self_compose(steps)
    event = events.Repeated(events.Subsampled(events.Gaussian(sigma=sigma), rate), steps)
    for delta in (1e-3, 1e-6):
        other = theirs.get_epsilon_for_delta(delta)
        assert other * (1 - 2e-3) <= float(account(event).epsilon(delta)) <= other * (1 + 1e-3)


def test_two_answers_dominate_every_pure_event_of_their_epsilon() -> None:
    pure = account([events.PureDP(epsilon="0.5")] * 10)
    for other in (
        events.Laplace(scale=2),
        events.DiscreteLaplace(scale=2),
        events.DiscreteLaplace(scale=6, sensitivity=3),
        events.Exponential(epsilon="0.5"),
        events.RandomizedResponse(epsilon="0.5", options=4),
    ):
        assert account([other] * 10).epsilon("1e-6") <= pure.epsilon("1e-6") * Fraction(100001, 100000)


def test_a_concentrated_promise_beside_others_costs_at_least_what_gaussian_noise_would() -> None:
    beside: list[events.Event] = [events.Laplace(scale=2)] * 3
    promised = account([*beside, events.ZeroConcentratedDP(rho="0.125")]).epsilon("1e-6")
    gaussian_ = account([*beside, events.Gaussian(sigma=2)]).epsilon("1e-6")
    assert gaussian_ < promised < gaussian_ * Fraction(12, 10)


@pytest.mark.parametrize("n", [1, 2, 17, 1000, 4097, 99991])
def test_transform_lengths_are_even_and_made_of_small_primes(n: int) -> None:
    length = fast_length(n)
    assert n <= length <= max(2, 1.2 * n + 2)
    assert length % 2 == 0
    for prime in (2, 3, 5):
        while length % prime == 0:
            length //= prime
    assert length == 1


def test_answers_of_the_smallest_and_the_largest_size() -> None:
    tiny = account([events.PureDP(epsilon="1e-300"), events.Laplace(scale="1e30")])
    assert tiny.epsilon("1e-9") <= Fraction(1, 10**29)
    large = account([events.Laplace(scale="0.0002"), events.Gaussian(sigma="0.01")])
    assert 10000 < large.epsilon("1e-9") < 5000 + 5700


def test_two_answers_at_large_and_small_epsilon_keep_their_sum() -> None:
    assert answers(1e-12).log_mass.sum() == pytest.approx(2 * math.log(0.5))
    assert np.exp(answers(700.0).log_mass).sum() == pytest.approx(1)
