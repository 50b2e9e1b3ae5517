"""One small protocol of each kind, with values that a person may have: what the shared tests go through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from deniable import local

PROTOCOLS: dict[str, tuple[Callable[[], Any], Callable[[int], Any]]] = {
    "distribution": (
        lambda: local.Distribution(epsilon=1, bounds=(0, 10), buckets=8),
        lambda n: np.arange(n) % 11,
    ),
}
"""Name -> (how it is made, n values of n people)."""
