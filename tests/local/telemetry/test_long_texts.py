"""Texts of any length take a device no noticeable time."""

from __future__ import annotations

from time import process_time

import pytest

from deniable.local import HeavyHitters
from deniable.local.heavy import codes
from deniable.local.telemetry import RAPPOR, Memo
from deniable.local.telemetry.texts import octets

MARKS = "a" + "\u0301\u0316" * 100_000
"""Marks of two classes by turns: sorting them takes time in the square of their number."""


@pytest.mark.parametrize("text", [MARKS, "x" * 10**6, "plain"])
def test_a_device_is_not_busier_with_a_long_text(text: str) -> None:
    rappor, heavy = RAPPOR(epsilon=4, bits=64).client(Memo()), HeavyHitters(epsilon=2).client()
    before = process_time()
    rappor.report(text)
    heavy.report(text)
    assert process_time() - before < 0.25


def test_texts_are_cut_before_they_are_normalised() -> None:
    assert octets(MARKS) == octets(MARKS[:1024]) != octets(MARKS[:1000])
    assert octets("e\u0301") == octets("\u00e9")
    assert codes.code(" " * 256 + "a", 12) == codes.code("", 12)
    assert codes.code("e\u0301", 12) == codes.code("\u00e9", 12)


def test_a_text_with_a_method_of_its_own_is_cut_like_any_other() -> None:
    class Odd(str):
        def __getitem__(self, place: object) -> str:
            raise RuntimeError

    assert octets(Odd("b" * 2000)) == b"b" * 1024
    assert codes.code(Odd("blue"), 12) == codes.code("blue", 12)
