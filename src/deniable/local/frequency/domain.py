"""The declared items, and what counts as one of them.

A domain is public and never learnt from data. All its items are of one kind: text, whole numbers, or False
and True. A value is an item only if it is of that kind and equal to it:

| value                              | for items 0, 1, 2      | for items "0", "1", "2"        |
|------------------------------------|------------------------|--------------------------------|
| 2, numpy.int64(2)                  | item 2                 | none                           |
| "2", numpy.str_("2")               | none                   | item "2"                       |
| True, 2.0, Decimal(2), -1, 3       | none                   | none                           |
| None, nan, [2], any other object   | none                   | none                           |

Texts are compared in Unicode's normal form NFC, so that an accent written apart is the same text; two items
that become equal are refused. On a device a value that is no item becomes `other`, or a uniformly random
item.

Normalising takes time that grows with the square of the marks in a row, so what a device has must not decide
how much is normalised. Two texts with one NFC have one NFD, and no text is longer than its NFD: a text longer
than the NFD of every item is none of them, and is not normalised. An item has 4,096 characters at most.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from deniable.errors import WITHHELD, ParameterError
from deniable.local.arrays import unmasked

Item = str | int | bool
Kind = Literal["text", "whole numbers", "truth"]

_CLASSES: dict[Kind, type] = {"truth": bool, "text": str, "whole numbers": int}
_MOST = 1 << 20
_WIDE = 1 << 63
_LONG = 1 << 12
_FIX = "Give all items beforehand, for example ['red', 'blue'] or range(10)."


@dataclass(frozen=True, slots=True)
class Domain:
    """Items 0, 1, ... in the order in which they were given. other: an item, or None.

    _order: where the items are neighbouring whole numbers, the place of each, from the least on.
    _longest: of the items' normal forms NFD, for texts.
    """

    items: tuple[Item, ...]
    other: Item | None
    kind: Kind
    _places: Mapping[Item, int] = field(repr=False, compare=False)
    _order: NDArray[np.int64] | None = field(repr=False, compare=False)
    _longest: int = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def digest(self) -> str:
        """SHA-256 of the items as a list in JSON, in hexadecimal."""
        return hashlib.sha256(json.dumps(list(self.items), separators=(",", ":")).encode()).hexdigest()

    @property
    def rule(self) -> str:
        """What a value that is no item becomes, as JSON."""
        return "a random item" if self.other is None else json.dumps(self.other)

    def place(self, value: object) -> int | None:
        """Return the place of a value, None if it is no item. Never raises; runs no method of the value."""
        item = _plain(value)
        if item is None or _kind(item) != self.kind:
            return None
        found = self._places.get(item)
        if found is None and isinstance(item, str) and len(item) <= self._longest:
            found = self._places.get(normalize("NFC", item))
        return found

    def fallback(self) -> int | None:
        """Return the place of `other`."""
        return None if self.other is None else self._places[self.other]

    def places(self, values: object) -> NDArray[np.int64]:
        """Return the place of every value, `(n,) int64`.

        Raises:  ParameterError: not a list or one-dimensional array, or some value is no item.
        """
        given = unmasked(values) if hasattr(type(values), "__array__") else values
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise ParameterError("values", WITHHELD, "must be a list or a one-dimensional array", _FIX)
        if not isinstance(given, np.ndarray):
            return self._listed(list(given))
        if given.ndim != 1:
            raise ParameterError("values", WITHHELD, "must be a list or a one-dimensional array", _FIX)
        return self._numbers(given) if given.dtype.kind in "iu" else self._listed(given.tolist())

    def _listed(self, values: list[Any]) -> NDArray[np.int64]:
        plain = {type(value) for value in values} <= {_CLASSES[self.kind]}
        places = list(map(self._places.get if plain else self.place, values))
        if None in places and plain:
            places = list(map(self.place, values))
        if None in places:
            raise _outside()
        return np.array(places, np.int64)

    def _numbers(self, values: NDArray[Any]) -> NDArray[np.int64]:
        if self.kind != "whole numbers":
            raise _outside()
        if self._order is None:
            distinct, back = np.unique(values, return_inverse=True)
            return self._listed(distinct.tolist())[back]
        least, most = self.items[self._order[0]], self.items[self._order[-1]]
        if len(values) and not least <= int(values.min()) <= int(values.max()) <= most:
            raise _outside()
        found: NDArray[np.int64] = self._order.take(values.astype(np.int64) - least)
        return found


def declared(items: object, other: object = None) -> Domain:
    """Return the domain of these items.

    Raises:  ParameterError: there are not 2 to 1,048,576 of them, they are of different kinds or none, two
             are equal, or other is none of them.
    """
    given = _given(items)
    kinds = {_kind(item) for item in {type(item): item for item in given}.values()}
    if len(kinds) != 1 or None in kinds:
        raise ParameterError("domain", items, "must be all text, all whole numbers, or False and True", _FIX)
    kind = next(iter(kinds))
    assert kind is not None
    plain: list[Item] = [normalize("NFC", str(item)) for item in given] if kind == "text" else given
    places = {item: place for place, item in enumerate(plain)}
    if len(places) < len(plain):
        twice = next(item for place, item in enumerate(plain) if places[item] != place)
        raise ParameterError("domain", twice, "holds an item twice", "Give each item once.")
    order = _order(plain) if kind == "whole numbers" else None
    longest = max(len(normalize("NFD", str(item))) for item in plain) if kind == "text" else 0
    found = Domain(tuple(plain), None, kind, places, order, longest)
    if other is None:
        return found
    place = found.place(other)
    if place is None:
        raise ParameterError(
            "other", other, "is no item of the domain", "Add it to the domain, or leave it out."
        )
    return replace(found, other=plain[place])


def _order(items: list[Item]) -> NDArray[np.int64] | None:
    """Return the places of neighbouring whole numbers, from the least on; None if some are left out."""
    numbers = np.array(items, np.int64)
    order = np.argsort(numbers)
    return order if int(numbers[order[-1]]) - int(numbers[order[0]]) == len(items) - 1 else None


def _given(items: object) -> list[Item]:
    if isinstance(items, str | bytes | Mapping | set | frozenset) or not isinstance(items, Iterable):
        raise ParameterError("domain", items, "must be a list of items in an order", _FIX)
    many = ParameterError("domain", None, f"has more than {_MOST:,} items", "Group some of them.")
    if isinstance(items, Sized) and len(items) > _MOST:
        raise many
    found: list[Item] = []
    for item in items:
        plain = _plain(item)
        if plain is None or (type(plain) is int and not -_WIDE <= plain < _WIDE):
            raise ParameterError("domain", item, "holds what is no text and no 64-bit whole number", _FIX)
        if isinstance(plain, str) and len(plain) > _LONG:
            raise ParameterError("domain", item, f"holds a text of over {_LONG:,} characters", "Shorten it.")
        found.append(plain)
        if len(found) > _MOST:
            raise many
    if len(found) < 2:
        raise ParameterError("domain", items, "must have at least two items", _FIX)
    return found


def _plain(value: object) -> Item | None:
    """Return a value of a known class as Python's own text, whole number or truth; None for all else."""
    kind = type(value)
    if kind is bool:
        return value is True
    if issubclass(kind, np.bool_):
        return bool(np.generic.item(value))  # type: ignore[call-overload]
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int):
        return int.__int__(value)  # type: ignore[arg-type]
    if issubclass(kind, np.timedelta64):  # to NumPy it is an integer
        return None
    if issubclass(kind, np.integer):
        return int(np.generic.item(value))  # type: ignore[call-overload]
    return None


def _kind(item: Item | None) -> Kind | None:
    return next((kind for kind, known in _CLASSES.items() if isinstance(item, known)), None)


def _outside() -> ParameterError:
    fix = "Leave such values out, or use client().report, which takes anything."
    return ParameterError("values", WITHHELD, "must all be items of the domain", fix)
