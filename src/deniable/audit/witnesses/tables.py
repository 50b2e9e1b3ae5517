"""Tables, mappings and sets: is this key there, and what numbers stand beside it?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator

import numpy as np

from deniable.audit.outcomes import Outcomes, Rows
from deniable.audit.witnesses.sets import Event, Feature, Flags, Pilot, Reals, Sweep, counted

_KEYS = 24
_NUMBERS = 48

Cell = tuple[Hashable, int]


def sweeps(pilot: Pilot) -> Iterator[Sweep]:
    """Yield the outputs that have a telling key, and those that have any key which one input never gave."""
    keys = telling_keys(pilot)
    if not keys:
        return
    there = [Event(f"{_shown(key)} in the output", _there(key), f"{_shown(key)} not in it") for key in keys]
    yield counted(there, pilot)
    fit, judge = pilot.halves()
    events = []
    for name, side in (("first", fit.first), ("second", fit.second)):
        words = f"a key that the {name} input never gave in the pilot"
        events.append(Event(f"{words} is in the output", _beyond(frozenset(_counted(side))), f"not {words}"))
    yield counted(events, judge)


def features(pilot: Pilot) -> Iterator[Feature]:
    """Yield the numbers beside keys, and the sum of each column over all keys."""
    names = _names(pilot)
    for key, column in cells(pilot):
        yield Feature(f"{names[column]} of {_shown(key)}", _number(key, column))
    for column, name in enumerate(names):
        yield Feature(f"sum of all {name}", _total(column))


def columns(pilot: Pilot) -> list[Callable[[Outcomes], Reals]]:
    """Return everything about a table that is a number: which keys are there, and what stands beside them."""
    there = [_there(key) for key in telling_keys(pilot)]
    return [*(_as_number(flag) for flag in there), *(feature.of for feature in features(pilot))]


def telling_keys(pilot: Pilot) -> list[Hashable]:
    """Return the keys whose presence differs most between the two inputs, at most 24."""
    first, second = _counted(pilot.first), _counted(pilot.second)
    keys = sorted(first | second, key=lambda key: -abs(first[key] - second[key]))
    sides = len(pilot.first), len(pilot.second)
    return [key for key in keys if (first[key], second[key]) != sides][:_KEYS]


def cells(pilot: Pilot) -> list[Cell]:
    """Return the numbers to look at: those of the keys that are there most often, at most 48."""
    seen = _counted(pilot.first) + _counted(pilot.second)
    width = len(_names(pilot))
    found = [(key, column) for key, _ in seen.most_common(_NUMBERS) for column in range(width)]
    return found[:_NUMBERS]


def _names(pilot: Pilot) -> list[str]:
    """Return what the numbers beside a key are called, as many as there are."""
    rows = [one for side in (pilot.first, pilot.second) for one in _listed(side) if isinstance(one, Rows)]
    width = max((len(numbers) for one in rows for numbers in one.values()), default=0)
    known = max((one.columns for one in rows), key=len, default=())
    return [known[place] if place < len(known) else f"number {place}" for place in range(width)]


def _counted(outcomes: Outcomes) -> Counter[Hashable]:
    return Counter(key for one in _listed(outcomes) if isinstance(one, Rows) for key in one)


def _there(key: Hashable) -> Callable[[Outcomes], Flags]:
    def there(outcomes: Outcomes) -> Flags:
        return np.array([isinstance(one, Rows) and key in one for one in _listed(outcomes)], np.bool_)

    return there


def _beyond(known: frozenset[Hashable]) -> Callable[[Outcomes], Flags]:
    def beyond(outcomes: Outcomes) -> Flags:
        return np.array(
            [isinstance(one, Rows) and not known >= one.keys() for one in _listed(outcomes)], np.bool_
        )

    return beyond


def _as_number(flag: Callable[[Outcomes], Flags]) -> Callable[[Outcomes], Reals]:
    return lambda outcomes: flag(outcomes).astype(np.float64)


def _number(key: Hashable, column: int) -> Callable[[Outcomes], Reals]:
    def number(one: object) -> float:
        numbers = one.get(key, ()) if isinstance(one, Rows) else ()
        return numbers[column] if column < len(numbers) else np.nan

    return lambda outcomes: np.array([number(one) for one in _listed(outcomes)])


def _total(column: int) -> Callable[[Outcomes], Reals]:
    def total(one: object) -> float:
        if not isinstance(one, Rows):
            return np.nan
        return sum(numbers[column] for numbers in one.values() if column < len(numbers))

    return lambda outcomes: np.array([total(one) for one in _listed(outcomes)])


def _listed(outcomes: Outcomes) -> list[object]:
    return [] if isinstance(outcomes, np.ndarray) else outcomes


def _shown(key: Hashable) -> str:
    parts = key if isinstance(key, tuple) else (key,)
    return ", ".join(str(part)[:40] for part in parts) or "the only row"
