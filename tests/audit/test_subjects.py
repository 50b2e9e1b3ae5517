"""Subjects and rows; everything that ships is on the list, and its audit finds nothing."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from deniable.audit import specimens
from deniable.audit.shipped import shipped
from deniable.audit.subjects import Asked, BlackBox, Known, audited, load
from deniable.errors import ParameterError
from deniable.events import Gaussian
from deniable.guarantees import ApproxDP, PureDP

SURE = 1 - Fraction(1, 10**8)
SUBJECTS = {subject.name: subject for subject in shipped()}
SMALL = 300


@pytest.mark.parametrize("name", [name for name, subject in SUBJECTS.items() if isinstance(subject, Known)])
def test_what_can_be_decided_is_decided_for_the_claim(name: str) -> None:
    row = audited(SUBJECTS[name], trials=SMALL, confidence=SURE)
    assert row.verdict == ("computed" if name.startswith("Subsampled") else "proved")
    assert row.trials == 0


@pytest.mark.parametrize(
    "name", [name for name, subject in SUBJECTS.items() if isinstance(subject, BlackBox)]
)
def test_what_is_sampled_is_not_violated(name: str) -> None:
    row = audited(SUBJECTS[name], trials=SMALL, confidence=SURE)
    assert row.verdict == "not violated"
    assert row.trials >= SMALL
    assert row.bound is not None
    assert row.bound <= row.claim.epsilon


@pytest.mark.parametrize(
    "name",
    [
        "release: totals",
        "release: groups by chance",
        "release: and everything else",
        "release: chosen groups",
    ],
)
def test_whole_releases_are_not_violated(name: str) -> None:
    assert isinstance(SUBJECTS[name], Asked)
    row = audited(SUBJECTS[name], trials=100, confidence=SURE)
    assert row.verdict == "not violated"
    assert row.trials >= 500


def test_names_differ_and_fit_the_table() -> None:
    names = [subject.name for subject in shipped()]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= 33


def test_no_specimen_is_on_the_list() -> None:
    runs = [subject.run for subject in SUBJECTS.values() if isinstance(subject, BlackBox)]
    assert not any(getattr(run, "__module__", "") == specimens.__name__ for run in runs)


def test_a_broken_subject_gives_a_row_that_says_so() -> None:
    sampled = BlackBox("half", PureDP(epsilon=1), specimens.half_noise, 0, 1, 1000)
    row = audited(sampled, trials=1000, confidence=Fraction(19, 20))
    assert row.verdict == "violated"
    assert row.bound is not None
    assert row.bound > 1
    exact = Known("one way", PureDP(epsilon=5), specimens.one_way, (0, 1))
    row = audited(exact, trials=0, confidence=SURE)
    assert (row.verdict, row.bound) == ("violated", float("inf"))
    assert "no epsilon will do" in row.words


def test_rows_are_plain_json() -> None:
    claim = ApproxDP(epsilon=1, delta="1e-5")
    row = audited(Known("noise", claim, Gaussian(sigma=4)), trials=0, confidence=SURE)
    record = json.loads(json.dumps(row.to_json()))
    assert list(record) == ["name", "claim", "verdict", "bound", "trials", "time"]
    assert record["claim"] == {"epsilon": "1", "delta": "1e-5"}
    exact = Known("one way", PureDP(epsilon=5), specimens.one_way, (0, 1))
    assert audited(exact, trials=0, confidence=SURE).to_json()["bound"] == "inf"


def test_a_function_is_loaded_by_its_place() -> None:
    assert load("deniable.audit.specimens:one_way") is specimens.one_way
    assert load("fractions:Fraction.limit_denominator") is Fraction.limit_denominator


@pytest.mark.parametrize("place", ["fractions", "fractions:Nothing", "no_such_module:x", ":x", "math:pi"])
def test_what_cannot_be_loaded_is_refused(place: str) -> None:
    with pytest.raises(ParameterError, match="subject"):
        load(place)
