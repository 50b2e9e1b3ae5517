"""What people hold: keys with a number each, read from anything a device may have.

| a person's value          | counts as                                                              |
|---------------------------|------------------------------------------------------------------------|
| {"film": 4.5, "song": 2}  | these keys with these numbers                                          |
| a key that is not declared| nothing: that entry is left out                                        |
| a number outside bounds   | the nearer bound                                                       |
| no number beside a key    | the middle of the bounds                                               |
| anything but a dict       | no keys at all                                                         |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.bits import Bits
from deniable.errors import WITHHELD, ParameterError
from deniable.local.arrays import unmasked
from deniable.local.coins import ONE, place, places
from deniable.local.frequency.domain import Domain

Ints = NDArray[np.int64]
_FIX = "Give a list of dicts, key to number, one for each person; or client().report takes anything."


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The pairs of n people, one after the other.

    starts: `(n + 1,)`, where each person's pairs begin. keys: numbers of keys, `(pairs,)`, rising within a
    person. at: places of the numbers, from 0 (lower bound) to 2**32 (upper bound), `(pairs,)`.
    """

    starts: Ints
    keys: Ints
    at: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def many(self) -> Ints:
        """How many pairs each person holds."""
        return np.diff(self.starts)

    def part(self, start: int, end: int) -> Pairs:
        """Return the pairs of the people from `start` to before `end`."""
        end = min(end, len(self))
        first, last = int(self.starts[start]), int(self.starts[end])
        return Pairs(self.starts[start : end + 1] - first, self.keys[first:last], self.at[first:last])

    def held(self, wanted: Ints) -> tuple[NDArray[np.bool_], Ints]:
        """Return whether each person holds the key that is wanted of them, and its place (0 if not)."""
        found, at = np.zeros(len(self), np.bool_), np.zeros(len(self), np.int64)
        owners = np.repeat(np.arange(len(self)), self.many)
        same = self.keys == wanted[owners]
        found[owners[same]], at[owners[same]] = True, self.at[same]
        return found, at


def one_person(value: object, keys: Domain, bounds: tuple[Fraction, Fraction]) -> Pairs:
    """Return the pairs of one person, from any object. Never raises; runs no method of the value's class."""
    found: dict[int, int] = {}
    if issubclass(type(value), dict):
        entries: Any = value
        for key, number in dict.items(entries):
            known = keys.place(key)
            if known is not None:
                found[known] = place(number, bounds, 1)
    order = sorted(found)
    return Pairs(
        np.array([0, len(order)], np.int64),
        np.array(order, np.int64),
        np.array([found[key] for key in order], np.int64),
    )


def people(values: object, keys: Domain, bounds: tuple[Fraction, Fraction]) -> Pairs:
    """Return the pairs of a list of dicts.

    Raises:  ParameterError: an entry is no dict, holds another key, one key twice, or a number outside the
             bounds. A key held twice would be sampled twice as often as `share` says.
    """
    if isinstance(values, Pairs):
        return _admitted(values, keys)
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise ParameterError("values", WITHHELD, "must be a list of dicts", _FIX)
    listed = list(values)
    if not all(isinstance(one, dict) for one in listed):
        raise ParameterError("values", WITHHELD, "must be a list of dicts", _FIX)
    starts = np.concatenate([[0], np.cumsum([len(one) for one in listed])]).astype(np.int64)
    given = keys.places([key for one in listed for key in one]) if starts[-1] else np.zeros(0, np.int64)
    numbers = [number for one in listed for number in one.values()]
    at = places(_floats(numbers), bounds, 1)
    owners = np.repeat(np.arange(len(listed)), np.diff(starts))
    order = np.lexsort((given, owners))
    return _once(Pairs(starts, given[order], at[order]))


def _admitted(given: Pairs, keys: Domain) -> Pairs:
    parts = [unmasked(part) for part in (given.starts, given.keys, given.at)]
    if any(part.ndim != 1 or part.dtype.kind not in "iu" for part in parts):
        raise ParameterError("values", WITHHELD, "must be pairs of whole numbers", _FIX)
    starts, held, at = (part.astype(np.int64) for part in parts)
    fit = len(starts) > 0 and int(starts[0]) == 0 and int(starts[-1]) == len(held) == len(at)
    if not (fit and bool(np.all(starts[1:] >= starts[:-1]))):
        raise ParameterError("values", WITHHELD, "have starts that fit no pairs", _FIX)
    if not bool(np.all((held >= 0) & (held < len(keys)))):
        raise ParameterError("values", WITHHELD, "hold keys that are not declared", _FIX)
    if not bool(np.all((at >= 0) & (at <= ONE))):
        raise ParameterError("values", WITHHELD, "hold numbers outside the bounds", _FIX)
    return _once(Pairs(starts, held, at))


def _once(pairs: Pairs) -> Pairs:
    """Return the pairs; refuse those of a person whose keys do not rise."""
    owners = np.repeat(np.arange(len(pairs)), pairs.many)
    if not bool(np.all((pairs.keys[1:] > pairs.keys[:-1]) | (owners[1:] > owners[:-1]))):
        fix = "Give each key once, in rising order; two spellings that look alike are one key."
        raise ParameterError("values", WITHHELD, "hold a key twice for one person", fix)
    return pairs


def _floats(numbers: list[Any]) -> ArrayLike:
    if not all(type(number) in (int, float) or isinstance(number, np.number) for number in numbers):
        raise ParameterError("values", WITHHELD, "must hold a number beside each key", _FIX)
    return np.array(numbers, np.float64)


def sampled(pairs: Pairs, padding: int, count: int, bits: Bits) -> tuple[Ints, Ints]:
    """Return one key of each person, and the place of its number: padding and sampling (Gu et al. 2020).

    A person with m pairs takes each with probability 1/max(m, padding), else one of `padding` dummy keys,
    which are numbered from `count` and have the middle as their place. Whole numbers: a pair is taken with
    probability at most `share(padding)`.
    """
    among = np.maximum(pairs.many, padding)
    drawn = (bits.uint32(len(pairs)).astype(np.uint64) * among.astype(np.uint64) >> np.uint64(32)).astype(
        np.int64
    )
    dummies = (bits.uint32(len(pairs)).astype(np.uint64) * np.uint64(padding) >> np.uint64(32)).astype(
        np.int64
    )
    real = drawn < pairs.many
    where = np.minimum(pairs.starts[:-1] + drawn, max(len(pairs.keys) - 1, 0))
    keys, at = (np.append(part, 0) for part in (pairs.keys, pairs.at))
    return np.where(real, keys[where], count + dummies), np.where(real, at[where], ONE // 2)


def share(padding: int) -> Fraction:
    """Return the largest probability with which `sampled` takes one pair."""
    return Fraction(-(-ONE // padding), ONE)


def parts(count: int) -> list[Fraction]:
    """Return the probability with which a word of 32 bits, scaled to `count`, gives each number below it."""
    ends = [-(-number * ONE // count) for number in range(count + 1)]
    return [Fraction(end - start, ONE) for start, end in pairwise(ends)]


def choices(pairs: Pairs, padding: int, count: int) -> dict[tuple[int, int], Fraction]:
    """Return the law of `sampled` for one person, as (key, sign 0 or 1) after the number became a sign."""
    law: dict[tuple[int, int], Fraction] = {}
    among = parts(max(len(pairs.keys), padding))
    for drawn, likely in enumerate(among):
        if drawn < len(pairs.keys):
            options = [(int(pairs.keys[drawn]), Fraction(int(pairs.at[drawn]), ONE), likely)]
        else:
            options = [
                (count + dummy, Fraction(1, 2), likely * part) for dummy, part in enumerate(parts(padding))
            ]
        for key, positive, chance in options:
            for sign, odds in ((1, positive), (0, 1 - positive)):
                law[key, sign] = law.get((key, sign), Fraction(0)) + chance * odds
    return law
