"""Collecting from people who trust nobody: each value is randomised on its own device.

    mean = dn.local.Mean(epsilon=1, bounds=(0, 100))
    report = mean.client().report(37.5)                  # on a device: a few bytes, whatever the value
    estimate = mean.estimate(mean.randomize(values))     # arrays, for research

Guarantee (epsilon-LDP): for any two values v, w that somebody may have and any report r,
P(r | v) <= e**epsilon * P(r | w). It needs no neighbours and no trusted party.

Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.local import telemetry as telemetry
    from deniable.local.client import Client as Client
    from deniable.local.distribution import Distribution as Distribution
    from deniable.local.estimates import Aggregate as Aggregate
    from deniable.local.estimates import Estimate as Estimate
    from deniable.local.estimates import combine as combine
    from deniable.local.frequency import Frequency as Frequency
    from deniable.local.heavy.protocol import HeavyHitters as HeavyHitters
    from deniable.local.keyvalue.protocol import KeyValue as KeyValue
    from deniable.local.mean import Limit as Limit
    from deniable.local.mean import Mean as Mean
    from deniable.local.mean import limit as limit
    from deniable.local.parameters import Parameters as Parameters
    from deniable.local.reports import Reports as Reports
    from deniable.local.tables import Table as Table
    from deniable.local.vector import Vector as Vector

_NAMES: dict[str, str] = {
    "Aggregate": "deniable.local.estimates",
    "Client": "deniable.local.client",
    "Distribution": "deniable.local.distribution",
    "Estimate": "deniable.local.estimates",
    "HeavyHitters": "deniable.local.heavy.protocol",
    "KeyValue": "deniable.local.keyvalue.protocol",
    "Limit": "deniable.local.mean",
    "Mean": "deniable.local.mean",
    "Frequency": "deniable.local.frequency",
    "Parameters": "deniable.local.parameters",
    "Reports": "deniable.local.reports",
    "Table": "deniable.local.tables",
    "Vector": "deniable.local.vector",
    "combine": "deniable.local.estimates",
    "limit": "deniable.local.mean",
}
_MODULES = ("telemetry",)

__all__ = [
    "Aggregate",
    "Client",
    "Distribution",
    "Estimate",
    "Frequency",
    "HeavyHitters",
    "KeyValue",
    "Limit",
    "Mean",
    "Parameters",
    "Reports",
    "Table",
    "Vector",
    "combine",
    "limit",
    "telemetry",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"deniable.local.{name}")
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'deniable.local' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
