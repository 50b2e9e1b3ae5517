"""Text as a device reads it, and the bits that it sets in a Bloom filter.

| value                                    | counts as                         |
|------------------------------------------|-----------------------------------|
| text                                     | its first 1,024 characters, in    |
|                                          | UTF-8, NFC                        |
| True, False                              | the text true, false               |
| a whole number below 2**64 in size       | its decimal digits                 |
| anything else: None, 2.5, a list         | the empty text                     |

Text is cut before it is normalised, which takes time in the square of the length where marks follow each
other: a device that is busy for minutes tells by that what it holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from deniable.errors import WITHHELD, ParameterError

_LARGEST = 64
_LONGEST = 1024


def octets(value: Any) -> bytes:
    """Return the bytes that a value counts as. Never raises; runs no method of the value's own class."""
    kind = type(value)
    if issubclass(kind, bool | np.bool_):
        return b"true" if value is True or (kind is not bool and np.bool_.__bool__(value)) else b"false"
    if issubclass(kind, str):
        begun = str.__getitem__(value, slice(_LONGEST))
        return normalize("NFC", begun).encode("utf-8", "surrogatepass")
    number = None
    if issubclass(kind, int):
        number = int.__int__(value)
    elif issubclass(kind, np.integer) and "timedelta" not in kind.__name__:
        number = int(np.generic.item(value))
    return b"" if number is None or number.bit_length() > _LARGEST else b"%d" % number


def listed(values: object) -> list[bytes]:
    """Return the bytes of each value of a list or array.

    Raises:  ParameterError: it is none, or an entry is neither text, nor a truth value, nor a whole number.
    """
    fix = "Give a list of texts, or use client().report, which takes anything."
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise ParameterError("values", WITHHELD, "must be a list or a one-dimensional array", fix)
    given = list(values)
    kinds = {type(one) for one in given}
    if not all(issubclass(kind, str | bool | int | np.bool_ | np.integer) for kind in kinds):
        raise ParameterError("values", WITHHELD, "must all be texts", fix)
    if kinds <= {str}:
        known = {one: octets(one) for one in set(given)}
        return [known[one] for one in given]
    return [octets(one) for one in given]


def bloom(text: bytes, cohort: int, hashes: int, bits: int) -> list[int]:
    """Return the bits that a text sets, `hashes` of them (some may coincide), by a public hash.

    They are words of 32 bits of the BLAKE2b of the text, personalised by the cohort, modulo `bits`.
    """
    person = b"rappor" + cohort.to_bytes(4, "little")
    digest = hashlib.blake2b(text, digest_size=4 * hashes, person=person).digest()
    return [int(word) % bits for word in np.frombuffer(digest, "<u4")]


def design(candidates: list[bytes], cohorts: int, hashes: int, bits: int) -> NDArray[np.float64]:
    """Return which candidate sets which bit, `(cohorts, bits, candidates)` of 0 and 1."""
    found = np.zeros((cohorts, bits, len(candidates)))
    for cohort in range(cohorts):
        for place, text in enumerate(candidates):
            found[cohort, bloom(text, cohort, hashes, bits), place] = 1
    return found
