"""Support differences: outputs that one input alone gives, and repeated outputs by their odds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator

import numpy as np

from deniable.audit.outcomes import Outcomes, Rows
from deniable.audit.witnesses.histogram import binned
from deniable.audit.witnesses.sets import Counts, Event, Flags, Pilot, Sweep, counted

_LABELS = 254


def sweeps(pilot: Pilot) -> Iterator[Sweep]:
    """Yield the sets of repeated outputs by odds, and what was seen on one input only."""
    fit, judge = pilot.halves()
    first, second = Counter(labels(fit.first)), Counter(labels(fit.second))
    seen = first + second
    repeated = [label for label, count in seen.most_common(_LABELS) if count > 1]
    if not repeated:
        return
    places = {label: place for place, label in enumerate(repeated)}

    def bins(outcomes: Outcomes) -> Counts:
        return np.array([places.get(label, len(places)) for label in labels(outcomes)], np.int64)

    yield binned("output", pilot, bins, len(places) + 1)
    events = [_only(first, second, "first"), _only(second, first, "second")]
    yield counted(events, judge)


def labels(outcomes: Outcomes) -> list[Hashable]:
    """Return each outcome as something that can be counted; of tables the set of keys."""
    if isinstance(outcomes, np.ndarray):
        return outcomes.tolist() if outcomes.ndim == 1 else [row.tobytes() for row in outcomes]
    return [frozenset(one) if isinstance(one, Rows) else one for one in outcomes]


def _only(mine: Counter[Hashable], others: Counter[Hashable], name: str) -> Event:
    found = frozenset(mine) - frozenset(others)

    def holds(outcomes: Outcomes) -> Flags:
        return np.array([label in found for label in labels(outcomes)], np.bool_)

    return Event(f"output among {len(found):,} that only the {name} input gave in the pilot", holds)
