"""Aggregates that merge: no sum wraps, equal parameters are one, each item is told by who knows it."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.bits import SeededBits
from deniable.errors import ReportError
from deniable.local import Aggregate, HeavyHitters, Mean, combine
from deniable.local.heavy.protocol import Hitters
from deniable.local.telemetry import DBitFlip

BITS = SeededBits(5, insecure=True)


@pytest.mark.parametrize("sign", [1, -1])
def test_totals_are_refused_before_they_wrap(sign: int) -> None:
    protocol = Mean(epsilon=1, bounds=(0, 1))
    shape = protocol.aggregate(protocol.randomize([0.5], bits=BITS)).totals
    half = Aggregate(protocol, 1 << 40, np.full_like(shape, sign * ((1 << 62) - 1)))
    exact = half + half
    assert exact.totals.tolist() == [2 * int(total) for total in half.totals]
    with pytest.raises(ReportError, match="too many reports"):
        exact + half


def test_parts_of_equal_parameters_are_one_aggregate() -> None:
    protocol = HeavyHitters(epsilon=6, length=3)
    parts = [
        protocol.aggregate(protocol.randomize(texts, bits=BITS))
        for texts in (["abc"] * 4000 + ["xyz"] * 1000, ["xyz"] * 4000 + ["abc"] * 500)
    ]
    found = combine(parts)
    merged = (parts[0] + parts[1]).estimate()
    assert isinstance(found, Hitters)
    assert isinstance(merged, Hitters)
    assert found.items == merged.items
    told = dict(zip([item[:3] for item in found.items], np.asarray(found.value).tolist(), strict=True))
    assert told == pytest.approx({"abc": 4500 / 9500, "xyz": 5000 / 9500}, abs=0.1)


def test_an_item_that_one_part_lacks_is_told_by_the_other() -> None:
    domain = ["a", "b", "c"]
    first, second = (DBitFlip(epsilon=epsilon, domain=domain, bits=1) for epsilon in (1, 2))
    lacking = Aggregate(first, 100, np.array([[50, 50, 0], [30, 20, 0]]))
    whole = Aggregate(second, 90, np.array([[30, 30, 30], [10, 12, 20]]))
    found, alone = combine([lacking, whole], weights="population"), whole.estimate()
    parts = [np.asarray(one.estimate().value) for one in (lacking, whole)]
    assert np.isfinite(np.asarray(found.value)).all()
    assert np.asarray(found.value)[2] == pytest.approx(np.asarray(alone.value)[2])
    assert np.asarray(found.high)[2] == pytest.approx(np.asarray(alone.high)[2])
    assert np.asarray(found.value)[0] == pytest.approx((100 * parts[0][0] + 90 * parts[1][0]) / 190)
    assert any("tell nothing of some items" in note for note in found.notes)


def test_an_item_that_no_part_knows_stays_unknown() -> None:
    protocols = [DBitFlip(epsilon=epsilon, domain=["a", "b"], bits=1) for epsilon in (1, 2)]
    parts = [Aggregate(protocol, 9, np.array([[9, 0], [4, 0]])) for protocol in protocols]
    found = combine(parts)
    assert np.isnan(np.asarray(found.value)[1])
    assert (np.asarray(found.low)[1], np.asarray(found.high)[1]) == (0, 1)
