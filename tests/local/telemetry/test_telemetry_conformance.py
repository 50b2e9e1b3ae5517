"""What every protocol here must do: reports of one size for any value, merges, bytes, JSON, refusals."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from telemetry_protocols import PROTOCOLS

from deniable.brackets import exponential
from deniable.errors import ParameterError, ReportError
from deniable.local import Aggregate, Reports


class Hostile(str):
    """A text whose every method fails."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("touched")

    def __hash__(self) -> int:
        raise RuntimeError("hashed")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")


ODD = [
    -1, 0, 1, 11, 10**400, None, math.nan, math.inf, -math.inf, 2.0, True, False, "a", "", "\ud800", "é" * 99,
    b"blue", [], [1, 2], {}, {"red": math.nan}, {"red": "x", 7: None}, ("red", 1), np.array([1.0, 2.0]),
    object(), np.float32(2), np.datetime64("2026-01-01"), Fraction(1, 3),
    Hostile("a"), {Hostile: 1}, {"blue"}, 3 + 4j,
]  # fmt: skip


@pytest.fixture(params=PROTOCOLS)
def made(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    protocol, values = PROTOCOLS[request.param]
    return protocol(), values


def test_a_device_sends_one_report_of_one_size_for_any_value(made: tuple[Any, Any]) -> None:
    protocol, _ = made
    client = protocol.client()
    reports = [client.report(value) for value in ODD]
    assert len({len(report) for report in reports}) == 1
    assert len(Reports.from_bytes(b"".join(reports), protocol.parameters, *protocol.form)) == len(ODD)
    assert protocol.aggregate(protocol.read(b"".join(reports))).n == len(ODD)


def test_reports_come_back_from_bytes_and_json(made: tuple[Any, Any]) -> None:
    protocol, values = made
    reports = protocol.randomize(values(50))
    for back in (
        Reports.from_bytes(reports.to_bytes(), protocol.parameters, *protocol.form),
        Reports.from_json_lines(reports.to_json_lines(), protocol.parameters, *protocol.form),
    ):
        assert back.payload.dtype == reports.payload.dtype
        assert np.array_equal(back.payload, reports.payload)
    record = json.loads(next(reports.to_json_lines()))
    assert record["protocol"] == protocol.parameters.protocol
    assert Fraction(record["epsilon"]) == protocol.parameters.epsilon


def test_aggregates_merge_and_others_are_refused(made: tuple[Any, Any]) -> None:
    protocol, values = made
    reports = protocol.randomize(values(300))
    parts = protocol.aggregate(reports[:100]) + protocol.aggregate(reports[100:])
    whole = protocol.aggregate(reports)
    assert parts.n == whole.n == 300
    assert np.array_equal(parts.totals, whole.totals)
    other = replace_parameters(protocol)
    with pytest.raises(ReportError):
        whole + Aggregate(other, 1, whole.totals)
    with pytest.raises(ReportError) as refused:
        protocol.aggregate(Reports(replace(protocol.parameters, epsilon=Fraction(9)), reports.payload))
    assert refused.value.differs == "epsilon"
    with pytest.raises(ReportError):
        protocol.aggregate(Reports(protocol.parameters, reports.payload.astype(np.uint64)))


def replace_parameters(protocol: Any) -> Any:
    class Other:
        parameters = replace(protocol.parameters, epsilon=Fraction(9))

    return Other()


def test_two_clients_answer_apart(made: tuple[Any, Any]) -> None:
    protocol, values = made
    value = values(3)[1]
    first, second = ([protocol.client().report(value) for _ in range(60)] for _ in range(2))
    assert first != second


def test_small_protocols_keep_epsilon_by_enumeration(made: tuple[Any, Any]) -> None:
    protocol, _ = made
    laws = [protocol.probabilities(value) for value in protocol.inputs()]
    assert len(laws) >= 2
    allowed = exponential(protocol.event.epsilon)[1]
    largest = Fraction(0)
    for law in laws:
        assert sum(law.values()) == 1
    for first, second in permutations(laws, 2):
        assert first.keys() == second.keys()
        largest = max(largest, max(first[report] / second[report] for report in first))
    assert largest <= allowed
    assert largest >= 1 + (allowed - 1) * Fraction(999, 1000), "epsilon is not used up"


def test_reports_of_a_device_follow_the_stated_law(made: tuple[Any, Any]) -> None:
    protocol, _ = made
    for value in (protocol.inputs()[0], protocol.inputs()[-1]):
        law = protocol.probabilities(value)
        seen: dict[Any, int] = defaultdict(int)
        for _ in range(1000):
            data = protocol.client().report(value)
            payload = Reports.from_bytes(data, protocol.parameters, *protocol.form).payload[0]
            seen[payload.item() if payload.ndim == 0 else tuple(payload.tolist())] += 1
        assert seen.keys() <= law.keys()
        distance = sum((seen[report] - 1000 * float(p)) ** 2 / (1000 * float(p)) for report, p in law.items())
        freedom = len(law) - 1
        assert distance < freedom + 8 * math.sqrt(2 * freedom) + 45


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "abc", None, True])
def test_epsilon_must_be_a_number_above_0(made: tuple[Any, Any], epsilon: Any) -> None:
    protocol, _ = made
    arguments = {"epsilon": epsilon}
    if hasattr(protocol, "bounds"):
        arguments["bounds"] = protocol.bounds
    for name in ("keys", "domain"):
        if hasattr(protocol, name):
            arguments[name] = ["a", "b"]
    with pytest.raises(ParameterError):
        type(protocol)(**arguments)
