"""Gradients, clips and the steps that are made of them, against plain formulas."""

from __future__ import annotations

from math import exp, log, log1p, sqrt
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as any_array

from deniable.errors import ParameterError
from deniable.learn.descent import Descent, descend
from deniable.learn.losses import Loss, clipped, gradients
from deniable.learn.plan import Plan, planned


def loss_of(name: str, weights: np.ndarray, x: np.ndarray, y: float) -> float:
    score = sum(float(a) * float(b) for a, b in zip(weights, x, strict=True))
    if name == "squared":
        return (score - y) ** 2
    return log1p(exp(-y * score)) if name == "logistic" else max(0.0, 1 - y * score)


@pytest.mark.parametrize(
    ("name", "y"), [("squared", 0.3), ("logistic", -1.0), ("hinge", 1.0), ("hinge", -1.0)]
)
def test_gradients_are_the_slopes_of_the_losses(name: Loss, y: float) -> None:
    weights, x = np.array([0.2, -0.4, 0.1]), np.array([0.5, 1.0, -0.25])
    found = gradients(name, weights, x[None, :], np.array([y]))[0]
    for place in range(3):
        up, down = weights.copy(), weights.copy()
        up[place] += 1e-6
        down[place] -= 1e-6
        slope = (loss_of(name, up, x, y) - loss_of(name, down, x, y)) / 2e-6
        assert found[place] == pytest.approx(slope, abs=1e-6)


def test_a_hinge_is_flat_beyond_the_margin() -> None:
    far = gradients("hinge", np.array([3.0, 0.0]), np.array([[1.0, 1.0]]), np.array([1.0]))
    assert not far.any()


def test_a_logistic_gradient_survives_far_scores() -> None:
    rows = gradients("logistic", np.array([1e200, 0.0]), np.ones((2, 2)), np.array([1.0, -1.0]))
    assert rows[0] == pytest.approx([0, 0])
    assert rows[1] == pytest.approx([1, 1])


def test_a_hundred_ones_are_within_a_clip_of_one() -> None:
    row = clipped(np.ones((1, 100)), norm="l2", clip=1.0)
    assert sqrt(float((row**2).sum())) <= 1 + 1e-15
    assert row[0] == pytest.approx([0.1] * 100)


numbers = st.floats(allow_nan=True, allow_infinity=True, width=64)


@given(any_array(np.float64, (3, 4), elements=numbers), st.sampled_from([1e-3, 1.0, 50.0]))
def test_no_gradient_is_ever_beyond_the_clip(rows: np.ndarray, clip: float) -> None:
    ball, box = clipped(rows, norm="l2", clip=clip), clipped(rows, norm="linf", clip=clip)
    assert np.isfinite(ball).all()
    assert np.isfinite(box).all()
    assert (np.sqrt((ball**2).sum(axis=1)) <= 1 + 1e-12).all()
    assert (np.abs(box) <= 1).all()
    for before, after in zip(rows, ball, strict=True):
        scaled = [float(entry) / clip for entry in before]
        if all(abs(entry) < 1 for entry in scaled) and sqrt(sum(entry**2 for entry in scaled)) < 0.99:
            assert after == pytest.approx(scaled)


def small(**changes: object) -> Plan:
    options: dict[str, object] = {
        "people": 60,
        "attributes": 2,
        "epsilon": 1,
        "loss": "squared",
        "batch": 20,
        "intercept": False,
    }
    return planned(**{**options, **changes})  # type: ignore[arg-type]


def test_steps_by_hand() -> None:
    plan = small(step="0.5", penalty=2, clip=3, averaging="last")
    state = Descent(plan)
    state.advance(np.array([0.2, -0.4]))
    assert state.current == pytest.approx([-0.3 / 2, 0.6 / 2])
    state.advance(np.array([0.0, 0.4]))
    assert state.weights == pytest.approx([-0.15 / 2, (0.3 - 0.6) / 2])


@pytest.mark.parametrize(("averaging", "kept"), [("last", [2]), ("half", [1, 2]), ("all", [0, 1, 2])])
def test_averages_are_over_the_rounds_that_were_named(
    averaging: Literal["last", "half", "all"], kept: list[int]
) -> None:
    state = Descent(small(step=1, penalty=0, averaging=averaging))
    seen = []
    for mean in ([1.0, 0.0], [0.0, 2.0], [-4.0, 1.0]):
        state.advance(np.array(mean))
        seen.append(state.current)
    assert state.finished
    assert state.weights == pytest.approx(sum(seen[place] for place in kept) / len(kept))


def test_no_round_follows_the_last_one() -> None:
    state = Descent(small(batch=60))
    state.advance(np.zeros(2))
    with pytest.raises(ParameterError, match="beyond the last one"):
        state.advance(np.zeros(2))


def test_an_enormous_penalty_shrinks_weights_instead_of_breaking_them() -> None:
    state = Descent(small(batch=1, penalty=1000, step=10))
    for _ in range(60):
        state.advance(np.array([1.0, 1.0]))
    assert (np.abs(state.weights) < 0.01).all()


def test_descent_follows_a_loop_in_plain_python() -> None:
    plan = small(step="0.1", averaging="last", penalty=0, clip=1)
    x = [[((7 * i + 3 * j) % 11) / 11 - 0.5 for j in range(2)] for i in range(60)]
    y = [((5 * i) % 7) / 7 - 0.5 for i in range(60)]
    order = [(13 * i) % 60 for i in range(60)]
    state = descend(plan, np.array(x), np.array(y), np.array(order), lambda rows: rows.mean(axis=0))
    w = [0.0, 0.0]
    for start in (0, 20, 40):
        total = [0.0, 0.0]
        for person in order[start : start + 20]:
            off = 2 * (sum(a * b for a, b in zip(w, x[person], strict=True)) - y[person])
            row = [off * a for a in x[person]]
            length = sqrt(sum(a * a for a in row))
            total = [t + a / max(length, 1.0) for t, a in zip(total, row, strict=True)]
        w = [a - 0.1 * t / 20 for a, t in zip(w, total, strict=True)]
    assert state.weights == pytest.approx(w, rel=1e-12)


def test_the_rule_of_batches_rounds_and_steps() -> None:
    """At epsilon 1 a report on a 90-vector is off by about 6.29 * 90 (published bound for d = 90)."""
    plan = planned(people=1_000_000, attributes=89, epsilon=1, loss="squared")
    noise = plan.vector.error().mean_squared_error
    assert noise / 90 == pytest.approx(6.29, abs=0.02)
    assert (plan.batch, plan.rounds) == (1000, 1000)
    assert plan.step == pytest.approx(1 / sqrt(1000 * (1 + noise / 1000)))
    fewer = planned(people=26_000, attributes=89, epsilon=1, loss="squared")
    assert fewer.batch == -(-noise // 1)
    assert fewer.rounds == 26_000 // fewer.batch
    least = planned(people=1000, attributes=89, epsilon=1, loss="squared")
    assert (least.batch, least.rounds) == (100, 10)
    assert planned(people=1, attributes=1, epsilon=1, loss="hinge").rounds == 1


def test_plans_name_what_is_wrong() -> None:
    for change, words in (
        ({"loss": "cubic"}, "loss is unknown"),
        ({"averaging": "most"}, "averaging is unknown"),
        ({"batch": 61}, "batch is out of range"),
        ({"clip": 0}, "clip must be greater than 0"),
        ({"penalty": -1}, "penalty must be at least 0"),
        ({"step": float("nan")}, "step must be a finite number"),
        ({"people": 0}, "people is out of range"),
        ({"norm": "l1"}, "norm"),
    ):
        with pytest.raises(ParameterError, match=words):
            small(**change)


def test_a_plan_says_what_taking_part_costs() -> None:
    plan = small(epsilon="ln 3")
    assert "one of 3 rounds of 20 people" in " ".join(plan.statement.split())
    assert all(len(line) <= 80 for line in plan.statement.splitlines())
    assert float(plan.event.epsilon) == pytest.approx(log(3))
