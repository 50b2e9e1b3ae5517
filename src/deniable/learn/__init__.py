"""Learning without seeing the data: linear models from reports that each person randomises on their device.

    model = dn.learn.LinearRegression(epsilon=1).fit(X, y)    # each row is a person, who sends one report
    model = dn.learn.LogisticRegression(epsilon=1).fit(X, y)
    model = dn.learn.LinearSVM(epsilon=1).fit(X, y)
    encoder = dn.learn.Encoder({"age": (17, 90), "sex": ["Female", "Male"]})

On real devices the same rounds run between a `Server` and `Client`s (`rounds`), which exchange weights and
reports, nothing else. Guarantee: epsilon-LDP for each person, as each sends at most one report.
Models follow the conventions of scikit-learn and need none of it installed. Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.learn.encoder import Encoder as Encoder
    from deniable.learn.models import LinearRegression as LinearRegression
    from deniable.learn.models import LinearSVM as LinearSVM
    from deniable.learn.models import LogisticRegression as LogisticRegression
    from deniable.learn.plan import Plan as Plan
    from deniable.learn.plan import planned as planned
    from deniable.learn.rounds import Client as Client
    from deniable.learn.rounds import Round as Round
    from deniable.learn.rounds import Server as Server
    from deniable.learn.validation import cross_val_score as cross_val_score

_NAMES: dict[str, str] = {
    "Client": "deniable.learn.rounds",
    "Encoder": "deniable.learn.encoder",
    "LinearRegression": "deniable.learn.models",
    "LinearSVM": "deniable.learn.models",
    "LogisticRegression": "deniable.learn.models",
    "Plan": "deniable.learn.plan",
    "Round": "deniable.learn.rounds",
    "Server": "deniable.learn.rounds",
    "cross_val_score": "deniable.learn.validation",
    "planned": "deniable.learn.plan",
}

__all__ = [
    "Client",
    "Encoder",
    "LinearRegression",
    "LinearSVM",
    "LogisticRegression",
    "Plan",
    "Round",
    "Server",
    "cross_val_score",
    "planned",
]


def __getattr__(name: str) -> object:
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'deniable.learn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
