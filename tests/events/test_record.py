"""Events survive the way into a file and back, exactly; what is not understood is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from deniable import events
from deniable.errors import ParameterError

EVERY_KIND: list[events.Event] = [
    events.Laplace(scale="1/3", sensitivity="0.7"),
    events.DiscreteLaplace(scale=5, sensitivity=3),
    events.Gaussian(sigma="1e-30"),
    events.DiscreteGaussian(sigma=2**70, sensitivity="1.5", coordinates=12),
    events.RandomizedResponse(epsilon="ln 3", options=4),
    events.Exponential(epsilon="0.1"),
    events.Selection(delta="1e-8"),
    events.Selection(delta="1e-8", epsilon=1, rule="truncated-geometric"),
    events.PureDP(epsilon=Fraction(1, 3**400)),
    events.ApproxDP(epsilon=1, delta="1e-300"),
    events.ZeroConcentratedDP(rho="0.1"),
    events.Subsampled(events.Gaussian(sigma=1), "0.01"),
    events.Repeated(events.Composed([events.Laplace(scale=1), events.PureDP(epsilon=2)]), 1000),
    events.Composed([]),
]


@pytest.mark.parametrize("event", EVERY_KIND, ids=lambda event: type(event).__name__)
def test_an_event_comes_back_from_a_file_as_it_went_in(event: events.Event) -> None:
    assert events.from_json(json.loads(json.dumps(events.to_json(event)))) == event


def test_a_record_is_plain_exact_text() -> None:
    assert events.to_json(events.DiscreteGaussian(sigma="0.1", sensitivity=2, coordinates=3)) == {
        "version": 1,
        "event": "discrete-gaussian",
        "sigma": "1/10",
        "sensitivity": "2",
        "coordinates": 3,
    }


GOOD = events.to_json(events.Repeated(events.Gaussian(sigma=1), 2))


@pytest.mark.parametrize(
    "record",
    [
        None,
        "gaussian",
        {},
        {**GOOD, "version": 2},
        {**GOOD, "version": True},
        {**GOOD, "event": "cauchy"},
        {**GOOD, "note": "more"},
        {**GOOD, "times": "2"},
        {**GOOD, "times": -1},
        {**GOOD, "of": None},
        {"version": 1, "event": "gaussian", "sigma": 1.5, "sensitivity": "1"},
        {"version": 1, "event": "gaussian", "sigma": "1/0", "sensitivity": "1"},
        {"version": 1, "event": "gaussian", "sigma": "nan", "sensitivity": "1"},
        {"version": 1, "event": "gaussian", "sigma": "-1", "sensitivity": "1"},
        {"version": 1, "event": "gaussian", "sigma": "1"},
        {"version": 1, "event": "selection", "delta": "0", "epsilon": "0", "rule": "guess"},
        {"version": 1, "event": "composed", "of": {}},
        {"version": 1, "event": ["gaussian"]},
    ],
    ids=str,
)
def test_a_record_that_is_not_fully_understood_is_refused(record: Any) -> None:
    with pytest.raises(ParameterError):
        events.from_json(record)


def test_a_record_that_nests_without_end_is_refused() -> None:
    event: events.Event = events.Gaussian(sigma=1)
    for _ in range(100):
        event = events.Repeated(event, 1)
    with pytest.raises(ParameterError, match="deep"):
        events.to_json(event)
    record: dict[str, Any] = {"event": "pure-dp", "epsilon": "1"}
    for _ in range(100):
        record = {"event": "repeated", "times": 1, "of": record}
    with pytest.raises(ParameterError):
        events.from_json({"version": 1, **record})
