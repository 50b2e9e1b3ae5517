"""Text as a row of symbols of 5 bits, so that what people mostly write is short.

| symbol  | stands for                                                                          |
|---------|-------------------------------------------------------------------------------------|
| 0       | the end; nothing follows                                                            |
| 1 to 26 | a to z                                                                              |
| 27 to 30| a space, "-", "'" and "."                                                           |
| 31      | one byte of UTF-8 follows, as two symbols: 1 + its upper half, 1 + its lower half   |

Before that, text is cut to 256 characters, put in normal form NFC, cut of spaces at both ends and made lower
case. (NFC takes time in the square of the length: without the cut, a busy device would tell what it holds.)
What is longer than the code is cut: two texts with the same beginning are then one. A value that is no text
counts as the empty one. A code is a number: the first symbol in its highest bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from deniable.errors import WITHHELD, ParameterError

BITS = 5
_ALPHABET = "abcdefghijklmnopqrstuvwxyz -'."
_SYMBOLS = {letter: number for number, letter in enumerate(_ALPHABET, 1)}
_BYTE = 31
_CUT = "…"
_LONGEST = 256


def code(value: Any, length: int) -> int:
    """Return the code of any object. Never raises; runs no method of the value's own class."""
    if not issubclass(type(value), str):
        return 0
    text = normalize("NFC", str.__getitem__(value, slice(_LONGEST))).strip().lower()
    symbols: list[int] = []
    for letter in text[:length]:
        if letter in _SYMBOLS:
            symbols.append(_SYMBOLS[letter])
        else:
            for byte in letter.encode("utf-8", "surrogatepass"):
                symbols += [_BYTE, 1 + byte // 16, 1 + byte % 16]
    symbols = [*symbols, *[0] * length][:length]
    number = 0
    for symbol in symbols:
        number = number << BITS | symbol
    return number


def codes(values: object, length: int) -> NDArray[np.int64]:
    """Return the code of each text.

    Raises:  ParameterError: not a list or array, or an entry is no text.
    """
    fix = "Give a list of texts, or use client().report, which takes anything."
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise ParameterError("values", WITHHELD, "must be a list or a one-dimensional array", fix)
    listed = list(values)
    if not all(isinstance(one, str) for one in listed):
        raise ParameterError("values", WITHHELD, "must all be texts", fix)
    known = {one: code(one, length) for one in set(listed)}
    return np.array([known[one] for one in listed], np.int64)


def text(number: int, length: int) -> str:
    """Return the text of a code; "…" at its end says that it may go on."""
    symbols = [number >> BITS * (length - 1 - place) & 31 for place in range(length)]
    octets, place = bytearray(), 0
    while place < length and symbols[place]:
        if symbols[place] == _BYTE:
            if place + 2 >= length:
                break
            octets.append((symbols[place + 1] - 1) % 16 * 16 + (symbols[place + 2] - 1) % 16)
            place += 3
        else:
            octets += _ALPHABET[symbols[place] - 1].encode()
            place += 1
    return octets.decode("utf-8", "ignore" if symbols[-1] else "replace") + (_CUT if symbols[-1] else "")


def extensions(symbols: int) -> NDArray[np.int64]:
    """Return all rows of so many symbols in which nothing follows an end."""
    found = np.zeros(1, np.int64)
    for place in range(symbols):
        ended = (found & 31) == 0 if place else np.zeros(1, np.bool_)
        more = (found[~ended, None] << BITS | np.arange(32)).ravel()
        found = np.concatenate([found[ended] << BITS, more])
    return found
