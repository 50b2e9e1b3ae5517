"""What counts as an item, what a device makes of everything else, and what arrays refuse."""

from __future__ import annotations

import unicodedata
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frequency_oracles import ALPHA, EVERY, p_value

from deniable.bits import SeededBits
from deniable.errors import WITHHELD, ParameterError, ReportError
from deniable.local import Reports
from deniable.local.frequency import Frequency, domain
from deniable.local.frequency.domain import declared


class Hostile(str):
    def __getattribute__(self, name: str) -> NoReturn:
        raise RuntimeError

    def __hash__(self) -> NoReturn:
        raise RuntimeError

    def __eq__(self, other: object) -> NoReturn:
        raise RuntimeError


class Colour(IntEnum):
    RED = 2


OUTSIDE: list[Any] = [
    -1, 10, 11, 10**400, None, float("nan"), float("inf"), 2.0, True, False, np.True_, np.float64(2),
    "2", "a", "", "\ud800", Hostile("2"), b"2", [2], (2,), {2}, {2: 2}, np.array(2), np.array([2]), 2 + 0j,
    Decimal(2), Fraction(2), np.timedelta64(2, "ns"), np.datetime64("2026-01-01"), object(), pd.NA, range(3),
]  # fmt: skip


@pytest.mark.parametrize("mechanism", EVERY)
def test_a_device_sends_one_report_of_one_size_whatever_the_value(mechanism: Any) -> None:
    protocol = Frequency(epsilon=1, domain=range(10), mechanism=mechanism)
    client = protocol.client()
    reports = [client.report(value) for value in [*OUTSIDE, *range(10), np.int8(3)]]
    assert len({len(report) for report in reports}) == 1
    back = Reports.from_bytes(b"".join(reports), protocol.parameters, *protocol.form)
    assert protocol.aggregate(back).n == len(OUTSIDE) + 11


@pytest.mark.parametrize("value", [-1, 10, 2.0, True, "2", None, float("nan"), np.True_])
def test_a_value_outside_becomes_a_random_item_or_the_declared_one_and_never_another(value: object) -> None:
    random = Frequency(epsilon=9, domain=range(10), mechanism="response")
    client = random.client(SeededBits(1, insecure=True))
    sent = b"".join(client.report(value) for _ in range(4000))
    payload = Reports.from_bytes(sent, random.parameters, *random.form).payload
    assert p_value(payload, dict.fromkeys(range(10), Fraction(1, 10))) > ALPHA
    assert random.probabilities(value) == dict.fromkeys(range(10), Fraction(1, 10))
    named = Frequency(epsilon=2, domain=range(10), mechanism="response", other=7)
    assert named.probabilities(value) == named.probabilities(7)
    client = named.client(SeededBits(2, insecure=True))
    sent = b"".join(client.report(value) for _ in range(400))
    payload = Reports.from_bytes(sent, named.parameters, *named.form).payload
    assert np.bincount(payload, minlength=10).argmax() == 7
    assert p_value(payload, named.probabilities(7)) > ALPHA


def test_arrays_refuse_a_value_outside_and_do_not_show_it() -> None:
    protocol = Frequency(epsilon=1, domain=range(10))
    for value in OUTSIDE:
        with pytest.raises(ParameterError, match="must all be items") as refused:
            protocol.randomize([1, 2, value])
        assert refused.value.value is WITHHELD
        assert "got" not in str(refused.value)


@pytest.mark.parametrize(
    "values",
    [
        np.array([1.0, 2.0]), np.array([True, False]), np.array(["1", "2"]), np.array([1, 10]),
        np.array([-1, 0]), np.array([0, 2**64 - 1], np.uint64), np.array([1, None]),
        pd.Series([1.0, float("nan")]), pa.array([1, None]), pd.array([1, None], dtype="Int64"),
    ],
)  # fmt: skip
def test_whole_arrays_with_a_value_outside_are_refused(values: Any) -> None:
    with pytest.raises(ParameterError, match="must all be items"):
        Frequency(epsilon=1, domain=range(10)).randomize(values)


@pytest.mark.parametrize("values", ["12", b"12", 3, None, {1: 2}, np.zeros((2, 2), int), np.array(3)])
def test_what_is_no_list_of_values_is_refused(values: Any) -> None:
    with pytest.raises(ParameterError, match="one-dimensional"):
        Frequency(epsilon=1, domain=range(10)).randomize(values)


def test_items_are_found_in_every_kind_of_array() -> None:
    numbers = declared([30, 10, 20])
    gaps = declared([5, -(2**63), 2**63 - 1])
    texts = declared(["b", "a", "é"])
    truth = declared([False, True])
    for given in (
        [10, 20, 30], np.array([10, 20, 30], np.uint8), pd.Series([10, 20, 30]), (10, 20, 30),
        pa.array([10, 20, 30]), np.array([10, 20, 30], object), iter([10, np.int64(20), 30]),
    ):  # fmt: skip
        assert numbers.places(given).tolist() == [1, 2, 0]
    assert gaps.places(np.array([5, 2**63 - 1, -(2**63)])).tolist() == [0, 2, 1]
    assert declared(range(100)).places(np.arange(99, -1, -1, dtype=np.int8)).tolist() == list(
        range(99, -1, -1)
    )
    assert declared(range(2**63 - 3, 2**63)).places(np.array([2**63 - 1], np.uint64)).tolist() == [2]
    for given in (["a", "b"], np.array(["a", "b"]), pd.Series(["a", "b"]), pa.array(["a", "b"])):
        assert texts.places(given).tolist() == [1, 0]
    assert truth.places(np.array([True, False])).tolist() == [1, 0]
    assert truth.places([True, np.False_]).tolist() == [1, 0]
    assert declared([1, 2, 3]).places([Colour.RED]).tolist() == [1]
    assert numbers.places([]).tolist() == numbers.places(np.array([], int)).tolist() == []


def test_texts_that_look_the_same_are_the_same() -> None:
    apart = unicodedata.normalize("NFD", "é")
    assert apart != "é"
    domain = declared(["e", apart])
    assert domain.items == ("e", "é")
    assert domain.places(["é", apart, np.str_(apart), "e"]).tolist() == [1, 1, 1, 0]
    assert domain.digest == declared(["e", "é"]).digest
    with pytest.raises(ParameterError, match="twice"):
        declared(["é", apart])


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([], "at least two"), (["a"], "at least two"), (["a", "a"], "twice"), ([1, 2, 1], "twice"),
        ([1, "1"], "must be all"), ([0, True], "must be all"), ([1, 2.0], "no text"), (["a", None], "text"),
        ([1, float("nan")], "no text"), ([[1], [2]], "no text"), ([2**63, 1], "64-bit"),
        ("abc", "in an order"), ({"a", "b"}, "in an order"), ({"a": 1, "b": 2}, "in an order"),
        (3, "in an order"), (None, "in an order"), (range(5_000_000), "more than"),
    ],
)  # fmt: skip
def test_a_domain_is_declared_in_order_with_items_of_one_kind(items: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Frequency(epsilon=1, domain=items)


def test_a_domain_is_never_learnt_from_data() -> None:
    with pytest.raises(TypeError, match="domain"):
        Frequency(epsilon=1)  # type: ignore[call-arg]


@pytest.mark.parametrize("other", [3, "3", 1.0, True, [1]])
def test_other_must_be_an_item(other: Any) -> None:
    with pytest.raises(ParameterError, match="no item of the domain"):
        Frequency(epsilon=1, domain=[0, 1, 2], other=other)


@pytest.mark.parametrize(
    "epsilon", [0, -1, float("nan"), float("inf"), "abc", None, True, 5e-324, "1e-7", [1]]
)
@pytest.mark.parametrize("mechanism", ["auto", *EVERY])
def test_an_epsilon_that_cannot_be_used_is_refused(epsilon: Any, mechanism: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        Frequency(epsilon=epsilon, domain=range(10), mechanism=mechanism)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"mechanism": "grr"}, "is unknown"),
        ({"mechanism": ["auto"]}, "is unknown"),
        ({"mechanism": "oue", "report_bytes": 12}, "too small"),
        ({"report_bytes": 0}, "out of range"),
        ({"report_bytes": 1.5}, "whole number"),
    ],
)
def test_other_arguments_that_do_not_fit_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Frequency(epsilon=1, domain=range(100), **arguments)
    with pytest.raises(ParameterError, match="too small"):
        Frequency(epsilon=1, domain=range(300), report_bytes=1)


def test_ends_that_were_set_up_differently_notice_it() -> None:
    base: dict[str, Any] = {"epsilon": 1, "domain": range(10), "mechanism": "response"}
    ours = Frequency(**base)
    for change, differs in (
        ({"epsilon": 2}, "epsilon"),
        ({"domain": range(11)}, "domain"),
        ({"domain": list(range(9, -1, -1))}, "domain"),
        ({"domain": [str(item) for item in range(10)]}, "domain"),
        ({"mechanism": "oue"}, "protocol"),
        ({"other": 3}, "other"),
    ):
        theirs = Frequency(**{**base, **change})
        with pytest.raises(ReportError) as refused:
            ours.aggregate(theirs.randomize(list(theirs.items)))
        assert refused.value.differs == differs
        sent = theirs.client().report(theirs.items[0])
        with pytest.raises(ReportError):
            Reports.from_bytes(sent, ours.parameters, *ours.form)
        with pytest.raises(ReportError):
            ours.aggregate(ours.randomize([1])) + theirs.aggregate(theirs.randomize([theirs.items[1]]))


@pytest.mark.parametrize("mechanism", EVERY)
def test_a_report_that_no_device_sends_is_refused(mechanism: Any) -> None:
    protocol = Frequency(epsilon=1, domain=range(13), mechanism=mechanism)
    reports = protocol.randomize(np.arange(13))
    payload = reports.payload.copy()
    payload[5] = np.iinfo(payload.dtype).max
    with pytest.raises(ReportError) as refused:
        protocol.aggregate(Reports(protocol.parameters, payload))
    assert refused.value.differs == "report"


def test_a_set_without_a_direction_is_refused() -> None:
    protocol = Frequency(epsilon=1, domain=range(100), mechanism="subset")
    with pytest.raises(ReportError):
        protocol.aggregate(Reports(protocol.parameters, np.array([100], np.uint16)))


def test_a_text_too_long_for_an_item_is_not_normalised_since_that_takes_time_by_its_square(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    protocol = Frequency(epsilon=1, domain=["a", "e\u0301", "\u1fa7"])
    seen: list[int] = []

    def counted(form: str, text: str) -> str:
        seen.append(len(text))
        return text if len(text) > 100 else unicodedata.normalize(form, text)  # type: ignore[arg-type]

    monkeypatch.setattr(domain, "normalize", counted)
    client, marks = protocol.client(), "a" + "\u0301\u0316" * 1_000_000
    assert len(client.report(marks)) == len(client.report("a"))
    assert max(seen, default=0) <= 4


def test_every_spelling_of_an_item_is_the_item_however_its_marks_are_taken_apart() -> None:
    items = ["\u1fa7", "q\u0323\u0307", "\uac01", "\U0001d15e", "\u0344", "Å", "plain"]
    made = declared(items)
    for place, item in enumerate(items):
        apart = unicodedata.normalize("NFD", item)
        assert declared([item, "x"]).place(apart) == 0
        spellings = {item, apart, unicodedata.normalize("NFC", item)}
        spellings |= {unicodedata.normalize("NFC", apart[:cut]) + apart[cut:] for cut in range(len(apart))}
        for text in spellings | {"".join(reversed(apart))}:
            same = unicodedata.normalize("NFC", text) == unicodedata.normalize("NFC", item)
            assert made.place(text) == (place if same else None)
    assert made.place("q\u0307\u0323") == 1
    assert made.place("\u212b") == 5


def test_items_have_an_end() -> None:
    assert len(declared(["a" * 4096, "b"])) == 2
    with pytest.raises(ParameterError, match="over 4,096 characters"):
        declared(["a" * 4097, "b"])
