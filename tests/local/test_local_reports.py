"""Reports between two ends: what is carried, what is refused, what is never shown."""

from __future__ import annotations

import json
import struct
from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import ParameterError, ReportError
from deniable.local import Parameters, Reports

OURS = Parameters("mean/optimal", Fraction(1, 3), (("bounds", "0, 10"), ("objective", "worst")), "ab12")
SINGLE = Reports(OURS, np.array([0, 7, 65535], np.uint16))
WIDE = Reports(OURS, np.arange(12, dtype=np.uint8).reshape(4, 3))


def test_a_report_is_a_version_a_fingerprint_and_its_payload() -> None:
    expected = b"".join(b"\x01" + OURS.fingerprint + struct.pack("<H", word) for word in (0, 7, 65535))
    assert SINGLE.to_bytes() == expected
    assert WIDE[1:2].to_bytes() == b"\x01" + OURS.fingerprint + bytes([3, 4, 5])


def test_parameters_have_one_fingerprint_and_others_another() -> None:
    others = [
        Parameters("mean/duchi", OURS.epsilon, OURS.facts, OURS.table),
        Parameters(OURS.protocol, Fraction(1), OURS.facts, OURS.table),
        Parameters(OURS.protocol, OURS.epsilon, OURS.facts[:1], OURS.table),
        Parameters(OURS.protocol, OURS.epsilon, OURS.facts, "ab13"),
        Parameters(OURS.protocol, OURS.epsilon, OURS.facts),
    ]
    assert len({one.fingerprint for one in (OURS, *others)}) == 6
    assert Parameters.from_json(json.loads(json.dumps(OURS.to_json()))).fingerprint == OURS.fingerprint


def test_reports_come_back_from_bytes_and_from_lines() -> None:
    for reports, dtype, width in ((SINGLE, np.uint16, None), (WIDE, np.uint8, 3)):
        for back in (
            Reports.from_bytes(reports.to_bytes(), OURS, dtype, width),
            Reports.from_json_lines(reports.to_json_lines(), OURS, dtype, width),
        ):
            assert back.payload.dtype == dtype
            assert np.array_equal(back.payload, reports.payload)
            assert back.parameters == OURS


def test_lines_written_by_another_program_are_read_too() -> None:
    line = json.dumps({"report": "0700", **OURS.to_json()}, sort_keys=True, indent=None) + " \n"
    assert Reports.from_json_lines([line, "\n"], OURS, np.uint16).payload.tolist() == [7]


def test_every_line_has_the_same_length() -> None:
    assert len({len(line) for line in SINGLE.to_json_lines()}) == 1


def test_no_reports_are_no_bytes_and_no_lines() -> None:
    empty = SINGLE[:0]
    assert empty.to_bytes() == b""
    assert list(empty.to_json_lines()) == []
    assert len(Reports.from_bytes(b"", OURS, np.uint16)) == 0
    assert Reports.from_json_lines([], OURS, np.uint8, 3).payload.shape == (0, 3)


def test_parts_join_in_their_order() -> None:
    assert Reports.joined([SINGLE[2:], SINGLE[:1]]).payload.tolist() == [65535, 0]


@pytest.mark.parametrize(
    ("theirs", "differs"),
    [
        (Parameters("mean/duchi", OURS.epsilon, OURS.facts, OURS.table), "protocol"),
        (Parameters(OURS.protocol, Fraction(1), OURS.facts, OURS.table), "epsilon"),
        (Parameters(OURS.protocol, OURS.epsilon, (("bounds", "0, 9"), OURS.facts[1]), OURS.table), "bounds"),
        (Parameters(OURS.protocol, OURS.epsilon, OURS.facts[:1], OURS.table), "objective"),
        (Parameters(OURS.protocol, OURS.epsilon, OURS.facts, "ab13"), "table"),
    ],
)
def test_two_ends_that_differ_are_told_in_what(theirs: Parameters, differs: str) -> None:
    other = Reports(theirs, SINGLE.payload)
    with pytest.raises(ReportError, match=differs) as told:
        Reports.from_json_lines(other.to_json_lines(), OURS, np.uint16)
    assert told.value.differs == differs
    with pytest.raises(ReportError, match=differs):
        Reports.joined([SINGLE, other])
    with pytest.raises(ReportError, match="parameters"):
        Reports.from_bytes(SINGLE.to_bytes() + other.to_bytes(), OURS, np.uint16)


def test_another_version_or_size_is_refused_and_no_value_is_shown() -> None:
    data = SINGLE.to_bytes()
    for bad, word in ((b"\x02" + data[1:], "version"), (data[:-1], "bytes")):
        with pytest.raises(ReportError, match=word):
            Reports.from_bytes(bad, OURS, np.uint16)
    start = {**OURS.to_json()}
    for record in (
        {**start, "deniable": 2, "report": "0900"},
        {**start, "report": "09"},
        {**start, "report": "zz00"},
        {**start, "report": " 900"},
        {**start, "report": 9},
        start,
        ["0900"],
        "0900",
        None,
    ):
        with pytest.raises(ReportError) as told:
            Reports.from_json_lines([json.dumps(record)], OURS, np.uint16)
        assert "09" not in str(told.value)
    for line in ("0900", "{", "[" * 100_000, '{"deniable": 1}', '{"deniable": 1, "protocol": 3}'):
        with pytest.raises(ReportError):
            Reports.from_json_lines([line], OURS, np.uint16)


def test_parameters_are_written_in_one_way_only() -> None:
    with pytest.raises(ParameterError, match="sorted"):
        Parameters("mean/optimal", Fraction(1), (("b", "1"), ("a", "1")))
    with pytest.raises(ParameterError, match="sorted"):
        Parameters("mean/optimal", Fraction(1), (("a", "1"), ("a", "2")))
    with pytest.raises(ReportError):
        Reports(OURS, np.array([1.0]))


HARMFUL = "mean\x1b]0;owned\x07\x1b[2J\n\r\u202e\u2028\ud800\x9b31m"


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("protocol", HARMFUL),
        ("table", HARMFUL),
        ("table", [HARMFUL]),
        ("parameters", dict(OURS.facts) | {HARMFUL: HARMFUL}),
    ],
)
def test_what_a_forged_report_says_of_itself_is_shown_without_its_power(place: str, value: object) -> None:
    line = json.dumps({**OURS.to_json(), "report": "0700", place: value})
    with pytest.raises(ReportError) as caught:
        Reports.from_json_lines([line], OURS, np.uint16)
    for words in (str(caught.value), caught.value.differs):
        assert words.isprintable()
        assert words.encode()
        assert len(words) < 300


def test_a_long_forged_name_is_cut() -> None:
    line = json.dumps({**OURS.to_json(), "report": "0700", "protocol": "\x1b" * 10_000_000})
    with pytest.raises(ReportError, match=r"\\x1b[\\x1b]*\.\.\.; here it is mean/optimal"):
        Reports.from_json_lines([line], OURS, np.uint16)


def test_lines_that_are_no_text_are_refused() -> None:
    for lines in (bytearray(b"0b"), [None], [3], [b"{}"]):
        with pytest.raises(ReportError, match="no report"):
            Reports.from_json_lines(lines, OURS, np.uint16)  # type: ignore[arg-type]
