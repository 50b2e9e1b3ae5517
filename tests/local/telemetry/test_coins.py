"""Bounds whose difference is a float: every protocol that uses places holds them to one rule."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from deniable.bits import SeededBits
from deniable.errors import ParameterError
from deniable.local import Distribution, KeyValue, Mean, telemetry
from deniable.local.coins import ONE, bounded, place, places

USERS: dict[str, Callable[[Any], Any]] = {
    "distribution": lambda bounds: Distribution(epsilon=1, bounds=bounds, buckets=8),
    "one bit": lambda bounds: telemetry.OneBitMean(epsilon=1, bounds=bounds),
    "pckv-grr": lambda bounds: KeyValue(epsilon=1, keys=["a", "b"], bounds=bounds),
    "pckv-ue": lambda bounds: KeyValue(epsilon=1, keys=["a", "b"], bounds=bounds, mechanism="pckv-ue"),
    "privkvm": lambda bounds: KeyValue(epsilon=1, keys=["a", "b"], bounds=bounds, mechanism="privkvm"),
}
REFUSED = [(-1e308, 1e308), (0, 1e101), (-(10**400), 0), (1, 1 + 1e-300), (0, 5e-324), (1, 1), (2, 1)]


@pytest.mark.parametrize("name", USERS)
@pytest.mark.parametrize("bounds", REFUSED, ids=lambda bounds: f"{str(bounds)[:12]}...")
def test_bounds_are_refused_where_a_mean_refuses_them(name: str, bounds: tuple[Any, Any]) -> None:
    with pytest.raises(ParameterError, match="bounds"):
        USERS[name](bounds)


def test_the_rule_is_that_of_the_mean() -> None:
    allowed: list[Any] = [(-1e100, 1e100), (0, 1e-100), (1e90, 1e90 * (1 + 2**-50)), ("1/3", 1)]
    for bounds in allowed:
        assert bounded(bounds) == Mean(epsilon=1, bounds=bounds).bounds
    for bounds in [(-1e101, 0), (0, 1e-101), (1e90, 10**90 + 1)]:
        for made in (bounded, lambda ends: Mean(epsilon=1, bounds=ends)):
            with pytest.raises(ParameterError, match="bounds"):
                made(bounds)


@pytest.mark.parametrize("bounds", [(-1e100, 1e100), (-5e-101, 5e-101), (1e90, 1e90 * (1 + 2**-50)), (0, 3)])
@pytest.mark.parametrize("steps", [1, 7, 512, 1 << 16])
def test_places_lie_on_the_scale_for_all_numbers_and_reach_its_ends(
    bounds: tuple[float, float], steps: int
) -> None:
    ends = bounded(bounds)
    inside = np.concatenate([np.linspace(*bounds, 999), bounds]).clip(*bounds)
    at = places(inside, ends, steps)
    assert (int(at.min()), int(at.max())) == (0, steps * ONE)
    assert (np.diff(at[:-2]) >= 0).all()
    odd = [-math.inf, -1e308, *bounds, 1e308, math.inf, 10**400, -(10**400), None, math.nan, "x"]
    assert all(0 <= place(value, ends, steps) <= steps * ONE for value in odd)


@pytest.mark.parametrize("name", USERS)
@pytest.mark.parametrize("bounds", [(-1e100, 1e100), (-5e-101, 5e-101)])
def test_reports_at_the_widest_and_the_closest_bounds_are_as_between_others(
    name: str, bounds: tuple[float, float]
) -> None:
    """The same coins give the same reports as between -1 and 1, from arrays and from a device."""
    wide, usual = USERS[name](bounds), USERS[name]((-1, 1))
    for end, one in zip((*bounds, 0.0), (-1.0, 1.0, 0.0), strict=True):
        values = [{"a": value} if isinstance(wide, KeyValue) else value for value in (end, one)]
        payloads = [
            made.randomize([value] * 64, bits=SeededBits(3, insecure=True)).payload
            for made, value in zip((wide, usual), values, strict=True)
        ]
        assert (payloads[0] == payloads[1]).all()
        reports = [
            made.client(bits=SeededBits(4, insecure=True)).report(value)[9:]
            for made, value in zip((wide, usual), values, strict=True)
        ]
        assert reports[0] == reports[1]
