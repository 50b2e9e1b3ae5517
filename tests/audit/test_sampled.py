"""The sampling audit: how often it cries wolf, what it catches, and what its bounds are worth.

Correct mechanisms come from NumPy's geometric distribution, on a grid: no code of the package is in them.
False alarms are counted over 400 audits; the count that is allowed has a chance below 1e-9 of being exceeded
by an audit that errs as often as it may. Two wrong twins must exceed it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, exp, log
from typing import Any

import numpy as np
import pytest
from scipy.special import betaincinv

from deniable.audit import Evidence, NotViolated, Violated, sampled, specimens
from deniable.audit.witnesses import sweeps
from deniable.audit.witnesses.sets import Pilot
from deniable.errors import ParameterError

ALPHA = 1e-9
AUDITS = 400
STEPS = 16

Batch = Callable[..., Any]


def laplace(seed: int, scale: float = 1.0) -> Batch:
    """Laplace noise on the grid of 1/16: the difference of two geometric numbers is discrete Laplace."""
    dice, p = np.random.default_rng(seed), -np.expm1(-1 / (STEPS * scale))
    return lambda value, n: (STEPS * value + dice.geometric(p, n) - dice.geometric(p, n)) / STEPS


def allowed(rate: float, audits: int = AUDITS) -> int:
    """The least k with P(B > k) <= ALPHA, B binomial(audits, rate)."""
    tail, k = 0.0, audits
    while True:
        tail += comb(audits, k) * rate**k * (1 - rate) ** (audits - k)
        if tail > ALPHA:
            return k
        k -= 1


def evidence(found: NotViolated | Violated) -> Evidence:
    assert found.evidence is not None
    return found.evidence


# False alarms


def test_a_correct_mechanism_is_bounded_above_the_truth_in_at_most_5_percent_of_400_audits() -> None:
    run = laplace(1)
    bounds = [sampled(run, 0, 1, trials=600, confidence=0.95, batch=600) for _ in range(AUDITS)]
    assert sum(evidence(found).epsilon > 1 for found in bounds) <= allowed(0.05)


@pytest.mark.parametrize("confidence", [0.95, 0.6])
def test_stopping_early_does_not_raise_the_rate_of_false_alarms(confidence: float) -> None:
    run = laplace(2)
    asked: dict[str, Any] = {"trials": 400, "confidence": confidence, "epsilon": 1, "batch": 400}
    found = [sampled(run, 0, 1, **asked) for _ in range(AUDITS)]
    assert sum(isinstance(one, Violated) for one in found) <= allowed(1 - confidence)


def test_whoever_stops_at_the_first_success_without_paying_for_looks_errs_too_often() -> None:
    """Wrong twin: the bound of one look, looked at after every 20 runs, on the best set {x >= 1}."""
    run, alpha, alarms = laplace(3), 0.4, 0
    looks = np.arange(20, 4001, 20)
    for _ in range(AUDITS):
        hits, others = (np.cumsum(run(value, 4000) >= 1)[looks - 1] for value in (1, 0))
        low = betaincinv(hits, looks - hits + 1, alpha / 2)
        high = betaincinv(others + 1, looks - others, 1 - alpha / 2)
        alarms += bool((low > exp(1) * high).any())
    assert alarms > allowed(alpha)


def test_whoever_tests_on_the_runs_that_chose_the_witness_errs_too_often() -> None:
    """Wrong twin: the largest bound of all sets that are looked at, each on the same runs."""
    run, alpha, alarms, audits = laplace(4), 0.4, 0, 60
    for _ in range(audits):
        pilot = Pilot(run(0, 400), run(1, 400))
        hits, others = (np.concatenate([sweep.hits[side] for sweep in sweeps(pilot)]) for side in (1, 0))
        n = np.concatenate([np.full(len(sweep.hits[0]), sweep.trials[0]) for sweep in sweeps(pilot)])
        low = betaincinv(hits, n - hits + 1, alpha / 2, where=hits > 0, out=np.zeros(len(n)))
        high = betaincinv(others + 1, n - others, 1 - alpha / 2, where=others < n, out=np.ones(len(n)))
        alarms += bool((low > exp(1) * high).any())
    assert alarms > allowed(alpha, audits)


def test_both_bounds_have_half_of_alpha_and_looks_share_it() -> None:
    whole = evidence(sampled(laplace(12), 0, 1, trials=1000, confidence=0.9, batch=1000))
    assert float(whole.p) == pytest.approx(betaincinv(whole.hits[0], 901 - whole.hits[0], 0.05), rel=1e-6)
    assert float(whole.q) == pytest.approx(betaincinv(whole.hits[1] + 1, 900 - whole.hits[1], 0.95), rel=1e-6)
    claimed = sampled(laplace(12), 0, 1, trials=1000, confidence=0.9, batch=1000, epsilon=5)
    last = evidence(claimed)
    alphas = [0.1 / (look * (look + 1)) for look in range(1, 6)]
    assert sum(alphas) < 0.1
    look = [56, 112, 225, 450, 900].index(last.trials)
    rate = betaincinv(last.hits[0], last.trials - last.hits[0] + 1, alphas[look] / 2)
    assert float(last.p) == pytest.approx(rate, rel=1e-6)


def test_the_pilot_is_a_tenth_and_is_not_counted_again() -> None:
    calls: list[int] = []

    def run(value: int, n: int) -> Any:
        calls.append(n)
        return np.full(n, value if len(calls) <= 2 else 7)  # after the pilot both inputs give 7

    found = evidence(sampled(run, 0, 1, trials=1000, confidence=0.95, batch=1000))
    assert calls[:2] == [100, 100]
    assert found.epsilon == 0


# Power, each at the stated number of runs of each input, five audits of five


def laplace_with_a_leak(seed: int) -> Batch:
    """Correct noise, but 1 % of the results for 0 carry a trace in bit 40 after the point."""
    run, dice = laplace(seed), np.random.default_rng(seed + 1000)
    return lambda value, n: run(value, n) + (value == 0) * (dice.random(n) < 0.01) * 2.0**-40


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("run", "trials", "epsilon", "delta"),
    [
        (specimens.half_noise, 1000, 1, 0),
        (specimens.wrong_distance, 1000, 1, 0),
        (specimens.float_noise, 1000, 1, 0),
        (specimens.drawn(specimens.unshuffled), 1000, 1, 0),
        (specimens.drawn(specimens.one_way), 300, "ln 3", 0),
        (specimens.loud_vector, 8000, 1, 0),
        (specimens.wrong_rule, 20_000, 1, "0.0049258"),
    ],
)
def test_a_broken_specimen_is_caught(
    run: Batch, trials: int, epsilon: int | str, delta: int | str, seed: int
) -> None:
    found = sampled(
        run, 0, 1, trials=trials, confidence=0.95, epsilon=epsilon, delta=delta, batch=trials, seed=seed
    )
    assert isinstance(found, Violated)
    assert found.epsilon > (log(3) if epsilon == "ln 3" else 1)


@pytest.mark.parametrize("seed", range(5))
def test_a_leak_in_one_percent_of_float_patterns_is_caught(seed: int) -> None:
    found = sampled(laplace_with_a_leak(seed), 0, 1, trials=50_000, confidence=0.95, epsilon=1, batch=50_000)
    assert isinstance(found, Violated)
    assert "binary exponent" in str(found.outputs)


def test_disjoint_supports_reach_10_with_a_hundred_thousand_runs_of_each() -> None:
    dice = np.random.default_rng(5)
    found = sampled(
        lambda value, n: value + dice.random(n) / 2, 0, 1, trials=100_000, confidence=0.95, batch=100_000
    )
    assert 10.0 <= evidence(found).epsilon < 10.2


def test_the_right_rule_and_the_right_delta_are_not_refuted() -> None:
    assert isinstance(
        sampled(
            specimens.wrong_rule,
            0,
            1,
            trials=20_000,
            confidence=1 - 1e-6,
            epsilon=1,
            delta="0.0133898",
            batch=20_000,
            seed=1,
        ),
        NotViolated,
    )


# What the numbers are worth


def test_laplace_is_bounded_close_to_its_epsilon() -> None:
    found = evidence(sampled(laplace(6), 0, 1, trials=300_000, confidence=0.95, batch=300_000))
    assert 0.95 < found.epsilon <= 1.0


def test_a_gaussian_is_bounded_in_mu_and_in_delta() -> None:
    dice = np.random.default_rng(7)

    def run(value: int, n: int) -> Any:
        return np.round(STEPS * (value + dice.normal(size=n))) / STEPS

    found = evidence(sampled(run, 0, 1, trials=200_000, confidence=0.95, batch=50_000, seek="mu"))
    assert 0.9 < found.mu < 1.01
    found = evidence(
        sampled(run, 0, 1, trials=200_000, confidence=0.95, batch=50_000, epsilon=1, delta=0.5, seek="delta")
    )
    assert 0.11 < found.delta_at(1) < 0.1270  # Phi(-1/2) - e Phi(-3/2) = .1269


def test_delta_is_bounded_where_everything_is_published_now_and_then() -> None:
    run = specimens.drawn(specimens.published)
    asked = {"trials": 20_000, "confidence": 0.95, "batch": 20_000, "epsilon": 1, "seek": "delta", "seed": 3}
    found = evidence(sampled(run, ("ann",), (), stop_early=False, **asked))  # type: ignore[arg-type]
    assert 0.007 < found.delta_at(1) < 0.0101


def test_all_bounds_come_from_one_pair_of_probabilities() -> None:
    found = evidence(sampled(laplace(8, 0.5), 0, 1, trials=2000, confidence=0.95, batch=2000, delta=0.01))
    assert found.epsilon == pytest.approx(log((float(found.p) - 0.01) / float(found.q)), abs=1e-12)
    assert found.refutes(Fraction(found.epsilon) - Fraction(1, 10**6))
    assert not found.refutes(Fraction(found.epsilon) + Fraction(1, 10**6))
    assert found.delta_at(found.epsilon) == pytest.approx(0.01, abs=1e-9)


def test_a_violation_carries_its_confidence_and_its_inputs_in_order() -> None:
    found = sampled(lambda value: value, "ann", "bob", trials=200, confidence=0.9, epsilon=1)
    assert isinstance(found, Violated)
    assert evidence(found).confidence == Fraction(9, 10)
    assert set(found.inputs) == {"ann", "bob"}
    assert "(confidence 0.9)" in str(found)


def test_a_seed_makes_an_audit_repeatable() -> None:
    def audit(seed: int) -> Evidence:
        found = sampled(specimens.half_noise, 0, 1, trials=500, confidence=0.95, batch=500, seed=seed)
        return evidence(found)

    one, same, other = audit(1), audit(1), audit(2)
    assert (one.witness, one.hits) == (same.witness, same.hits)
    assert (one.witness, one.hits) != (other.witness, other.hits)


def test_a_program_without_batches_is_run_one_by_one() -> None:
    asked: list[int] = []

    def run(value: int) -> int:
        asked.append(value)
        return value

    found = evidence(sampled(run, 0, 1, trials=50, confidence=0.95))
    assert asked.count(0) == asked.count(1) == 50
    assert (found.pilot, found.trials) == (5, 45)
    assert found.hits == (45, 0)


def test_an_audit_stops_when_the_claim_is_refuted_unless_told_otherwise() -> None:
    asked: list[int] = []

    def run(value: int, n: int) -> Any:
        asked.append(n)
        return np.full(n, value)

    sampled(run, 0, 1, trials=10_000, confidence=0.95, batch=100, epsilon=1)
    early = sum(asked)
    asked.clear()
    sampled(run, 0, 1, trials=10_000, confidence=0.95, batch=100, epsilon=1, stop_early=False)
    assert early < 4000
    assert sum(asked) == 20_000


def test_not_violated_is_never_called_private() -> None:
    found = sampled(laplace(10), 0, 1, trials=400, confidence=0.95, epsilon=1, batch=400)
    assert found.word == "not violated"
    assert "proves nothing" in str(found)
    assert "private" not in str(found)


def test_a_bar_is_shown_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    sampled(laplace(11), 0, 1, trials=40, confidence=0.95, batch=40, progress=True)
    sampled(laplace(11), 0, 1, trials=40, confidence=0.95, batch=40)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"trials": 5}, "trials"),
        ({"trials": 1.5}, "trials"),
        ({"confidence": 1}, "confidence"),
        ({"confidence": 0}, "confidence"),
        ({"batch": 0}, "batch"),
        ({"delta": 1}, "delta"),
        ({"epsilon": -1}, "epsilon"),
        ({"seek": "power"}, "seek"),
        ({"seek": "delta"}, "seek"),
        ({"seed": -1}, "seed"),
    ],
)
def test_arguments_are_checked_before_anything_is_run(change: dict[str, Any], argument: str) -> None:
    def run(_: int) -> None:
        raise AssertionError("it was run")

    with pytest.raises(ParameterError) as caught:
        sampled(run, 0, 1, **{"trials": 100, "confidence": 0.95, **change})
    assert caught.value.argument == argument
