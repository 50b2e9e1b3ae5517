"""Whatever is given for a number, the answer is a value or an error of the package's own."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.errors import DeniableError, ReportError
from deniable.local import Mean, Reports, combine, limit
from deniable.local.mean import MECHANISMS

ODD: tuple[Any, ...] = (
    10**5000, -(10**5000), "1e-9999", Decimal("1e-5000"), math.nan, math.inf, True, None, [], b"1", 5e-324,
    1e300, Fraction(1, 10**5000), "1e-1200", "ln 3", "1e-12", np.float32(0.1), np.int64(7), "", "0", -1,
    object(),
)  # fmt: skip
MEAN = Mean(epsilon=1, bounds=(0, 1))
TOTAL = MEAN.aggregate(MEAN.randomize([0.5] * 10))


def made_of(mechanism: Any) -> Callable[[Any], object]:
    return lambda v: Mean(epsilon=v, bounds=(0, 1), mechanism=mechanism)


CALLS: dict[str, Callable[[Any], object]] = {
    **{str(name): made_of(name) for name in MECHANISMS},
    "bounds": lambda v: Mean(epsilon=1, bounds=v),
    "low": lambda v: Mean(epsilon=1, bounds=(v, 1)),
    "high": lambda v: Mean(epsilon=1, bounds=(0, v)),
    "objective": lambda v: Mean(epsilon=1, bounds=(0, 1), objective=v),
    "deviation": lambda v: Mean(epsilon=1, bounds=(0, 1), objective=("gaussian", v)),
    "mechanism": lambda v: Mean(epsilon=1, bounds=(0, 1), mechanism=v),
    "variance_at": lambda v: MEAN.error().variance_at(v),
    "confidence": lambda v: TOTAL.estimate(v),
    "combined confidence": lambda v: combine([TOTAL], confidence=v),
    "limit": lambda v: limit(v),
    "limit, uniform": lambda v: limit(v, "uniform"),
    "values": lambda v: MEAN.randomize([v]),
    "all values": lambda v: MEAN.randomize(v),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_odd_number_gives_a_value_or_our_own_error_and_soon(call: str) -> None:
    start = time.process_time()
    for odd in ODD:
        try:
            made = CALLS[call](odd)
        except DeniableError:
            continue
        if isinstance(made, Mean):
            assert len(made.client().report(0.3)) > 9
            assert made.statement
    assert time.process_time() - start < 20


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_reports_are_read_from_any_bytes(kind: Any) -> None:
    mean = Mean(epsilon=1, bounds=(0, 1))
    data = mean.randomize([0.5, 1]).to_bytes()
    assert mean.read(kind(data)).to_bytes() == data
    with pytest.raises(ReportError, match="bytes"):
        mean.read(kind(data[:-1]))


@pytest.mark.parametrize("mechanism", ["optimal", "laplace", "piecewise"])
def test_reports_of_another_type_or_shape_are_refused(mechanism: Any) -> None:
    mean = Mean(epsilon=1, bounds=(0, 1), mechanism=mechanism)
    right = mean.randomize([0.5, 1]).payload
    for kind in (np.uint8, np.uint16, np.uint32, np.uint64):
        for payload in (np.zeros(2, kind), np.zeros((2, 2), kind), np.zeros((2, 1), kind)):
            reports = Reports(mean.parameters, payload)
            if payload.dtype == right.dtype and payload.ndim == 1:
                assert mean.aggregate(reports).n == 2
            else:
                with pytest.raises(ReportError, match="another size"):
                    mean.aggregate(reports)
