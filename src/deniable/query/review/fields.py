"""JSON that somebody may have edited, read strictly: what is not as it is written is said, never guessed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from deniable.exact import exact

MOST_BYTES = 1 << 26
_LONGEST = 1 << 16
_MOST_BITS = 2000
"""More than any number of a release needs: grids are 2**-900 at least, a delta 1e-300."""


class Unreadable(Exception):  # noqa: N818
    """What is wrong with a file or a field, in words that name it."""


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object; `place` is where it stands, "plan.columns[0]." for example."""

    values: Mapping[str, object]
    place: str = ""

    def text(self, name: str) -> str:
        """Return a text."""
        return _text(self._value(name), self, name)

    def text_or_none(self, name: str) -> str | None:
        """Return a text, or None for null."""
        return None if self._value(name) is None else self.text(name)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(_text(value, self, name) for value in self._list(name))

    def number(self, name: str) -> Fraction:
        """Return the exact number that a text means."""
        return _number(self._value(name), self, name)

    def numbers_or_none(self, name: str) -> tuple[Fraction, ...] | None:
        """Return a list of exact numbers, or None for null."""
        if self._value(name) is None:
            return None
        return tuple(_number(value, self, name) for value in self._list(name))

    def whole_or_none(self, name: str, *, at_most: int = 1 << 62) -> int | None:
        """Return a whole number from 0 on, or None for null."""
        value = self._value(name)
        return None if value is None else _whole(value, self, name, at_most)

    def wholes_or_none(self, name: str) -> tuple[int, ...] | None:
        """Return a list of whole numbers from 0 on, or None for null."""
        if self._value(name) is None:
            return None
        return tuple(_whole(value, self, name, 1 << 62) for value in self._list(name))

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self._value(name)
        if not isinstance(value, bool):
            raise self.wrong(name, "is neither true nor false")
        return value

    def choice(self, name: str, *choices: str) -> str:
        """Return one of these texts."""
        value = self.text(name)
        if value not in choices:
            raise self.wrong(name, f"is none of {', '.join(choices)}")
        return value

    def choice_or_none(self, name: str, *choices: str) -> str | None:
        """Return one of these texts, or None for null."""
        return None if self._value(name) is None else self.choice(name, *choices)

    def inside(self, name: str) -> Fields:
        """Return an object."""
        return _object(self._value(name), self, name, "")

    def inside_or_none(self, name: str) -> Fields | None:
        """Return an object, or None for null."""
        return None if self._value(name) is None else self.inside(name)

    def several(self, name: str) -> tuple[Fields, ...]:
        """Return a list of objects."""
        return tuple(_object(value, self, name, f"[{place}]") for place, value in enumerate(self._list(name)))

    def wrong(self, name: str, problem: str) -> Unreadable:
        """Return the error that names a field."""
        return Unreadable(f"{self.place}{name} {problem}")

    def _value(self, name: str) -> object:
        if name not in self.values:
            raise self.wrong(name, "is missing")
        return self.values[name]

    def _list(self, name: str) -> Sequence[object]:
        value = self._value(name)
        if not isinstance(value, list):
            raise self.wrong(name, "is not a list")
        return value


def read(path: Path) -> Fields:
    """Return the object in a file.

    Raises:  Unreadable: it is too large, or not UTF-8, or not JSON, or holds NaN or a name twice.
    """
    name = path.name
    try:
        if path.stat().st_size > MOST_BYTES:
            raise Unreadable(f"{name} is larger than {MOST_BYTES >> 20} MB")
        found = json.loads(path.read_text("utf-8"), parse_constant=_refuse, object_pairs_hook=_once)
    except OSError:
        raise Unreadable(f"{name} cannot be read") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{name} is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:
        said = str(error) if isinstance(error, _Odd) else "is not JSON"
        raise Unreadable(f"{name} {said}") from None
    if not isinstance(found, dict):
        raise Unreadable(f"{name} is not a JSON object")
    return Fields(found)


class _Odd(ValueError):  # noqa: N818
    """JSON that other programs would read differently."""


def _refuse(constant: str) -> object:
    raise _Odd(f"holds {constant}, which is not JSON")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Odd("holds one name twice in an object")
    return found


def _object(value: object, where: Fields, name: str, place: str) -> Fields:
    if not isinstance(value, dict):
        raise where.wrong(name + place, "is not an object")
    return Fields(value, f"{where.place}{name}{place}.")


def _text(value: object, where: Fields, name: str) -> str:
    if not isinstance(value, str):
        raise where.wrong(name, "is not text")
    if len(value) > _LONGEST:
        raise where.wrong(name, f"is longer than {_LONGEST:,} characters")
    if not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
        raise where.wrong(name, "holds half a character")
    return value


def _number(value: object, where: Fields, name: str) -> Fraction:
    found = _parsed(value)
    if found is None:
        raise where.wrong(name, "is not an exact number in quotes")
    if max(found.numerator.bit_length(), found.denominator.bit_length()) > _MOST_BITS:
        raise where.wrong(name, "has more digits than any number of a release")
    return found


def _parsed(value: object) -> Fraction | None:
    if not isinstance(value, str) or len(value) > _LONGEST:
        return None
    top, _, bottom = value.partition("/")
    try:
        return Fraction(int(top), int(bottom)) if bottom else exact(value, "number")
    except (ValueError, ZeroDivisionError):
        return None


def _whole(value: object, where: Fields, name: str, at_most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= at_most:
        raise where.wrong(name, f"is not a whole number from 0 to {at_most:,}")
    return value
