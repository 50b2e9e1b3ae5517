"""A server and its clients exchange weights and reports; a device sends one report, whatever it has."""

from __future__ import annotations

import copy
import json
import pickle
import threading
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import ParameterError, ReportError
from deniable.learn import Client, Round, Server
from deniable.learn.plan import Plan, planned


def small(**changes: Any) -> Plan:
    options: dict[str, Any] = {"people": 40, "attributes": 3, "epsilon": 1, "loss": "squared", "batch": 10}
    return planned(**{**options, **changes})


class Awkward:
    def __len__(self) -> int:
        raise RuntimeError

    def __float__(self) -> float:
        raise RuntimeError

    def __array__(self) -> np.ndarray:
        raise RuntimeError


ODD: list[object] = [
    None,
    "x",
    float("nan"),
    [1],
    [1, 2, None],
    {},
    np.full(3, np.nan),
    10**400,
    Awkward(),
    True,
]


def test_a_training_between_a_server_and_its_clients() -> None:
    plan = small()
    server = Server(plan)
    x = np.linspace(-1, 1, 120).reshape(40, 3)
    for start in range(0, 40, 10):
        assert not server.finished
        current = Round.from_json(server.round().to_json())
        devices = [Client(plan) for _ in range(10)]
        server.collect(b"".join(d.report(current, x[start + i], 0.5) for i, d in enumerate(devices)))
    assert server.finished
    assert server.weights.shape == (4,)
    assert server.weights.any()
    with pytest.raises(ParameterError, match="beyond the last one"):
        server.collect(Client(plan).report(server.round(), x[0], 0.5))


def test_the_server_moves_by_the_mean_of_what_was_decoded_over_the_planned_size() -> None:
    plan = small(averaging="last", penalty=0, step=1)
    for there in (10, 4, 0):
        server = Server(plan)
        bits = dn.SeededBits(2, insecure=True)
        sent = b"".join(Client(plan, bits).report(server.round(), [1, 0, 0], 1) for _ in range(there))
        server.collect(sent)
        total = np.zeros(4)
        for decoded in plan.vector.decode(plan.vector.read(sent)) if there else []:
            total += decoded
        assert server.weights == pytest.approx(-total / 10)


@pytest.mark.parametrize("features", ODD, ids=lambda odd: type(odd).__name__)
@pytest.mark.parametrize("target", ODD, ids=lambda odd: type(odd).__name__)
def test_a_device_sends_one_report_of_the_same_size_whatever_it_has(features: object, target: object) -> None:
    plan = small()
    size = len(Client(plan).report(Server(plan).round(), [0, 0, 0], 0))
    assert len(Client(plan).report(Server(plan).round(), features, target)) == size


def test_a_device_reports_once_in_its_life() -> None:
    plan = small()
    device = Client(plan)
    device.report(Server(plan).round(), None, None)
    for features in ([1, 1, 1], None):
        with pytest.raises(ParameterError, match="asks a device that has reported"):
            device.report(Server(plan).round(), features, 1)


def test_threads_that_ask_a_device_at_once_get_one_report(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, sent, refused = small(), [], []
    finite, all_checked = np.isfinite, threading.Barrier(4)

    def meeting(values: Any) -> Any:
        with suppress(threading.BrokenBarrierError):
            all_checked.wait(0.2)
        return finite(values)

    device, current = Client(plan), Server(plan).round()
    monkeypatch.setattr(np, "isfinite", meeting)

    def ask() -> None:
        try:
            sent.append(device.report(current, [1, 0, 0], 1))
        except ParameterError:
            refused.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(sent), len(refused)) == (1, 3)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_device_cannot_be_copied_since_each_copy_would_report(again: Any) -> None:
    nothing: Any = object()  # bits that could be copied
    device = Client(small(), nothing)
    with pytest.raises(TypeError, match="A device cannot be pickled or copied"):
        again(device)


def test_a_refusal_of_weights_depends_on_the_weights_alone_and_costs_no_report() -> None:
    plan = small()
    device = Client(plan)
    for weights in ((1.0,), (1.0, 2.0, 3.0, float("nan")), (1.0, 2.0, float("inf"), 0.0)):
        with pytest.raises(ParameterError, match="has no weights of this plan"):
            device.report(Round(0, weights), [1, 1, 1], 1)
    device.report(Server(plan).round(), [1, 1, 1], 1)


def test_weights_of_any_size_make_a_gradient_within_the_clip(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = small()
    seen: list[np.ndarray] = []
    inner = type(plan.vector).answer

    def answer(self: Any, value: Any, bits: Any) -> Any:
        seen.append(np.asarray(value))
        return inner(self, value, bits)

    monkeypatch.setattr(type(plan.vector), "answer", answer)
    for weights in ((1e308,) * 4, (-1e308, 1e308, 0.0, 1.0), (0.0,) * 4):
        Client(plan).report(Round(0, weights), [1, -1, 1], 1e300)
    assert all(float((row**2).sum()) <= 1 + 1e-12 for row in seen)
    assert len(seen) == 3


def test_the_gradient_is_that_of_the_loss_at_the_weights_of_the_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[np.ndarray] = []
    for loss, target, expected in (
        ("squared", 0.5, [2 * 0.1 * 0.2, 0.0, 2 * 0.1 * -1.0, 2 * 0.1]),
        ("hinge", "no number", [0.0, 0.0, 0.0, 0.0]),
        ("hinge", -7, [0.2, 0.0, -1.0, 1.0]),
    ):
        plan = small(loss=loss, clip=4)

        def answer(self: Any, value: Any, bits: Any) -> np.ndarray:
            seen.append(np.asarray(value))
            return np.zeros((1, self.scheme.width), self.scheme.dtype)

        monkeypatch.setattr(type(plan.vector), "answer", answer)
        Client(plan).report(Round(0, (0.5, 0.0, 0.0, 0.5)), [0.2, 0, -9], target)
        assert seen[-1] * 4 == pytest.approx(expected)


def test_too_many_reports_and_those_of_others_are_refused() -> None:
    plan = small()
    server = Server(plan)
    one = Client(plan).report(server.round(), [0, 0, 0], 0)
    with pytest.raises(ReportError, match="10 reports at most"):
        server.collect(one * 11)
    other = Client(small(epsilon=2)).report(server.round(), [0, 0, 0], 0)
    with pytest.raises(ReportError):
        server.collect(other)
    assert server.round().number == 0


def test_what_passes_to_clients_is_a_number_and_weights() -> None:
    assert json.loads(Server(small()).round().to_json()) == {"round": 0, "weights": [0.0] * 4}


@pytest.mark.parametrize(
    "text",
    ["", "[]", "3", "{}", '{"round": 1}', '{"round": "x", "weights": []}', '{"round": 1, "weights": ["x"]}'],
)
def test_what_is_no_round_is_refused(text: str) -> None:
    with pytest.raises(ReportError, match="This is no round"):
        Round.from_json(text)


def test_two_devices_report_independently() -> None:
    plan = small()
    current = Server(plan).round()
    assert len({Client(plan).report(current, [1, 0, 0], 1) for _ in range(20)}) == 20


def test_a_report_about_a_gradient_keeps_epsilon_and_not_a_third_of_it() -> None:
    """Two people at the opposite ends of everything, seen by the first coordinate of one report."""
    plan = small(attributes=1, epsilon=3)

    def first(target: float, n: int, bits: dn.SystemBits) -> np.ndarray:
        current = Round(0, (0.0, 0.0))
        sent = b"".join(Client(plan, bits).report(current, [1.0], target) for _ in range(n))
        return plan.vector.decode(plan.vector.read(sent))[:, 0]

    for epsilon, word in ((3, "not violated"), (1, "violated")):
        verdict = dn.audit.sampled(
            first, -1.0, 1.0, epsilon=epsilon, trials=1000, confidence=0.999999, batch=1000, seed=4
        )
        assert verdict.word == word
