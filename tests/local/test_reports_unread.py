"""What is no `Reports` is refused in words by every local protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from deniable import local
from deniable.errors import ReportError
from deniable.local import telemetry

PROTOCOLS: list[Callable[[], Any]] = [
    lambda: local.Mean(epsilon=1, bounds=(0, 10)),
    lambda: local.Frequency(epsilon=1, domain=["a", "b", "c"]),
    lambda: local.Vector(epsilon=1, dimension=3, norm="l2"),
    lambda: local.Distribution(epsilon=1, bounds=(0, 10), buckets=8),
    lambda: local.KeyValue(epsilon=1, keys=["red", "blue"]),
    lambda: local.HeavyHitters(epsilon=1, length=1, step=1, cells=2),
    lambda: telemetry.RAPPOR(epsilon=2, bits=8, hashes=1, cohorts=2),
    lambda: telemetry.OneBitMean(epsilon=1, bounds=(-5, 5), segments=2),
    lambda: telemetry.DBitFlip(epsilon=1, domain=["a", "b", "c", "d"], bits=2),
]


@pytest.mark.parametrize("make", PROTOCOLS)
def test_what_was_not_read_is_refused_in_words(make: Callable[[], Any]) -> None:
    protocol = make()
    for given in ([], b"", [b"\x01" * 20], "text", None, 3):
        for method in (protocol.estimate, protocol.aggregate):
            with pytest.raises(ReportError, match=r"read\(data\)") as refused:
                method(given)
            assert refused.value.differs == "kind"
