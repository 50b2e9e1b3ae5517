"""Differential privacy that people can check.

    import deniable as dn

Public names are loaded when first used, so that `import deniable` stays fast and loads no engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable import accounting as accounting
    from deniable import audit as audit
    from deniable import errors as errors
    from deniable import events as events
    from deniable import examples as examples
    from deniable import learn as learn
    from deniable import local as local
    from deniable.accounting import account as account
    from deniable.accounting import calibrate as calibrate
    from deniable.accounting import split as split
    from deniable.advice import advise as advise
    from deniable.bits import SeededBits as SeededBits
    from deniable.bits import SystemBits as SystemBits
    from deniable.ledger import Ledger as Ledger
    from deniable.mechanisms import Exponential as Exponential
    from deniable.mechanisms import Gaussian as Gaussian
    from deniable.mechanisms import Laplace as Laplace
    from deniable.mechanisms import NoisyMax as NoisyMax
    from deniable.mechanisms import RandomizedResponse as RandomizedResponse
    from deniable.query.aggregates import count as count
    from deniable.query.aggregates import distinct as distinct
    from deniable.query.aggregates import histogram as histogram
    from deniable.query.aggregates import maximum as maximum
    from deniable.query.aggregates import mean as mean
    from deniable.query.aggregates import median as median
    from deniable.query.aggregates import minimum as minimum
    from deniable.query.aggregates import quantile as quantile
    from deniable.query.aggregates import std as std
    from deniable.query.aggregates import sum as sum  # noqa: A004
    from deniable.query.aggregates import units as units
    from deniable.query.aggregates import variance as variance
    from deniable.query.review import load as load
    from deniable.query.review import review as review
    from deniable.query.survey import ROW as ROW
    from deniable.query.survey import protect as protect

__version__ = "0.1.0"

_NAMES: dict[str, str] = {
    "Exponential": "deniable.mechanisms",
    "Gaussian": "deniable.mechanisms",
    "Laplace": "deniable.mechanisms",
    "Ledger": "deniable.ledger",
    "NoisyMax": "deniable.mechanisms",
    "ROW": "deniable.query.survey",
    "RandomizedResponse": "deniable.mechanisms",
    "SeededBits": "deniable.bits",
    "SystemBits": "deniable.bits",
    "account": "deniable.accounting",
    "advise": "deniable.advice",
    "calibrate": "deniable.accounting",
    "count": "deniable.query.aggregates",
    "distinct": "deniable.query.aggregates",
    "load": "deniable.query.review",
    "mean": "deniable.query.aggregates",
    "protect": "deniable.query.survey",
    "review": "deniable.query.review",
    "split": "deniable.accounting",
    "histogram": "deniable.query.aggregates",
    "maximum": "deniable.query.aggregates",
    "median": "deniable.query.aggregates",
    "minimum": "deniable.query.aggregates",
    "quantile": "deniable.query.aggregates",
    "std": "deniable.query.aggregates",
    "sum": "deniable.query.aggregates",
    "units": "deniable.query.aggregates",
    "variance": "deniable.query.aggregates",
}
_MODULES = ("accounting", "audit", "errors", "events", "examples", "learn", "local")

__all__ = [
    "ROW",
    "Exponential",
    "Gaussian",
    "Laplace",
    "Ledger",
    "NoisyMax",
    "RandomizedResponse",
    "SeededBits",
    "SystemBits",
    "__version__",
    "account",
    "accounting",
    "advise",
    "audit",
    "calibrate",
    "count",
    "distinct",
    "errors",
    "events",
    "examples",
    "histogram",
    "learn",
    "load",
    "local",
    "maximum",
    "mean",
    "median",
    "minimum",
    "protect",
    "quantile",
    "review",
    "split",
    "std",
    "sum",
    "units",
    "variance",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"deniable.{name}")
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'deniable' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
