"""From what is known of a person to a vector, by public rules alone: domains are declared, never learnt.

| attribute             | declared as               | coordinates                                            |
|-----------------------|---------------------------|--------------------------------------------------------|
| number                | (low, high)               | one: low is -1, high is 1, outside is the nearer end   |
| one of k values       | [first, ..., last]        | k - 1: 1 at the place of the value, 0 elsewhere; the   |
|                       |                           | last value is all zeros                                |

| what a device has     | coordinates                                                                        |
|-----------------------|------------------------------------------------------------------------------------|
| no number, NaN, None  | 0: the middle of the bounds                                                        |
| a value not declared  | 1/k each: the average of all k values, so it is never quietly another value        |
| no record at all      | the same as a record in which all is missing                                       |

Nothing here raises on a value: an error on a device would tell who has an odd one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.local.client import number
from deniable.local.coins import bounded

Floats = NDArray[np.float64]
Domain = tuple[Any, Any] | list[Any]


class Encoder:
    """Turns records into vectors in [-1, 1]. columns: name -> domain, as in the table above.

    Raises:  ParameterError: a name is no text, or a domain is neither two numbers that rise nor a list of at
             least two different texts or whole numbers.
    """

    def __init__(self, columns: Mapping[str, Domain]) -> None:
        self.columns = columns
        self._parts = {_named(name): _part(name, domain) for name, domain in columns.items()}
        if not self._parts:
            raise ParameterError("columns", columns, "must not be empty", 'Give {"age": (0, 100)}.')

    def __repr__(self) -> str:
        return f"Encoder({len(self._parts)} columns, {self.dimension} coordinates)"

    @property
    def dimension(self) -> int:
        """How many coordinates a vector has."""
        return sum(part.width for part in self._parts.values())

    def encode(self, record: object) -> Floats:
        """Return the vector of one record (a dict), `(dimension,)`. Never raises."""
        known = _entries(record)
        return np.concatenate([part.one(known.get(name)) for name, part in self._parts.items()])

    def fit(self, X: object = None, y: object = None) -> Encoder:  # noqa: ARG002, N803
        """Return self: there is nothing to learn, all is declared."""
        return self

    def transform(self, X: Any) -> Floats:  # noqa: N803
        """Return the vectors of a table, `(rows, dimension)`: a mapping, a pandas or Polars frame.

        Raises:  ParameterError: a declared column is not there, or columns are not of one length.
        """
        missing = [name for name in self._parts if name not in _names(X)]
        if missing:
            raise ParameterError("X", missing, "lacks columns that were declared", "Name the columns alike.")
        columns = {name: list(X[name]) for name in self._parts}
        if len({len(values) for values in columns.values()}) != 1:
            raise ParameterError("X", None, "has columns of different lengths", "Give one value a row.")
        return np.hstack([part.many(columns[name]) for name, part in self._parts.items()])

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:  # noqa: ARG002
        """Return one name for each coordinate."""
        return np.array([label for name, part in self._parts.items() for label in part.labels(name)], object)


class _Number:
    """A number between declared bounds."""

    width = 1

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    def one(self, value: object) -> Floats:
        read = number(value)
        return np.zeros(1) if read is None else self._scaled(np.array([read]))

    def many(self, values: Sequence[object]) -> Floats:
        read = [number(value) for value in values]
        known = np.array([np.nan if value is None else value for value in read])
        return np.where(np.isnan(known), 0.0, self._scaled(known)).reshape(-1, 1)

    def labels(self, name: str) -> list[str]:
        return [name]

    def _scaled(self, read: Floats) -> Floats:
        inside = np.clip(read, self.low, self.high)
        scaled: Floats = 2 * ((inside - self.low) / (self.high - self.low)) - 1
        return scaled


class _Category:
    """One of k declared values."""

    def __init__(self, values: Sequence[object]) -> None:
        self.values = tuple(values)
        self.width = len(values) - 1
        other = np.full(self.width, 1 / len(values))
        self._coded = np.vstack([np.eye(self.width), np.zeros(self.width), other])
        self._places = {value: place for place, value in enumerate(self.values)}

    def one(self, value: object) -> Floats:
        row: Floats = self.many([value])[0]
        return row

    def many(self, values: Sequence[object]) -> Floats:
        other = len(self.values)
        coded: Floats = self._coded[[self._places.get(_plain(value), other) for value in values]]
        return coded

    def labels(self, name: str) -> list[str]:
        return [f"{name}={value}" for value in self.values[:-1]]


def _plain(value: object) -> object:
    """Return text and whole numbers as such, None for all else. Never raises; runs no method of the value."""
    given: Any = value
    kind: Any = type(value)
    if kind is str or kind is int:
        return value
    if kind is np.str_:
        return str.__str__(given)
    if issubclass(kind, np.integer) and not issubclass(kind, np.timedelta64):  # to NumPy it is an integer
        return int(np.generic.item(given))
    return None


def _entries(record: object) -> dict[str, object]:
    """Return what a dict has under names that are text; nothing of any other object.

    Never raises, and runs no method of a key, which may compare itself to others as it likes.
    """
    given: Any = record
    kind: Any = type(record)
    pairs: list[tuple[Any, object]] = list(dict.items(given)) if issubclass(kind, dict) else []
    return {str.__str__(name): value for name, value in pairs if issubclass(type(name), str)}


def _named(name: object) -> str:
    if not isinstance(name, str):
        raise ParameterError("columns", name, "have a name that is no text", 'Give {"age": (0, 100)}.')
    return str.__str__(name)


def _part(name: str, domain: object) -> _Number | _Category:
    fix = "Give bounds as a tuple (0, 100), values as a list ['red', 'blue']."
    if isinstance(domain, tuple) and len(domain) == 2:
        low, high = bounded(domain, name)
        return _Number(float(low), float(high))
    if isinstance(domain, list) and len(domain) >= 2:
        values = [_plain(value) for value in domain]
        if None not in values and len(set(values)) == len(values):
            return _Category(values)
    raise ParameterError(name, domain, "has no domain", fix)


def _names(table: Any) -> set[Any]:
    """Return the column names of a mapping or a frame."""
    return set(getattr(table, "columns", table))
