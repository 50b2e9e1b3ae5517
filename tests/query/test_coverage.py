"""The share that was counted in full, against counting it out."""

from __future__ import annotations

import pyarrow as pa
import pytest

import deniable as dn
from deniable.bits import SeededBits
from deniable.query.coverage import classes, described


@pytest.mark.parametrize("max_keys", [1, 2, 3, 7, 8, 9, 100, 1000, 1 << 20])
def test_classes_rise_from_one_to_max_keys_and_are_at_most_eight(max_keys: int) -> None:
    ends = classes(max_keys)
    assert ends[0] == 1
    assert ends[-1] == max_keys
    assert list(ends) == sorted(set(ends))
    assert len(ends) <= 8


def test_classes_are_about_equally_wide_on_a_log_scale() -> None:
    assert classes(100) == (1, 2, 4, 7, 14, 27, 52, 100)
    assert classes(5) == (1, 2, 3, 4, 5)


def test_the_share_counts_groups_of_units_in_full() -> None:
    counts = [500.0, 300.0, 100.0, 0.0, 0.0, 0.0, 0.0, 0.0]  # 100 units in 3 or 4 groups
    mean = 2 / (1 / 3 + 1 / 4)
    given = 500 * 1 + 300 * 2 + 100 * mean
    dropped = described(counts, classes(100), 2, "drop", noise=10)
    assert dropped is not None
    assert dropped.share == f"about {int(100 * (500 + 600 + 200) / given)} %"
    assert dropped.would == ()  # 90.1 %: enough
    weighted = described(counts, classes(100), 2, "weight", noise=10)
    assert weighted is not None
    assert weighted.share == f"about {int(100 * (500 + 600) / given)} %"
    assert weighted.would == ((4, "about 100 %"),)


def test_a_class_that_noise_could_have_filled_is_empty() -> None:
    told = described([1000.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 140.0], classes(100), 1, "drop", noise=150)
    assert told is not None
    assert told.share == "about 100 %"


def test_counts_below_zero_are_noise() -> None:
    told = described([1000.0, -80.0, -3.0, 0.0, 0.0, 0.0, 0.0, -9.0], classes(100), 1, "drop", noise=150)
    assert told is not None
    assert told.share == "about 100 %"
    assert told.would == ()


def test_nothing_is_said_when_noise_drowns_the_counts() -> None:
    assert described([40.0, -80.0, 30.0], (1, 2, 3), 1, "drop", noise=150) is None
    assert described([0.0, 0.0, 0.0], (1, 2, 3), 1, "drop", noise=0) is None


def test_noise_is_not_taken_for_people_in_many_groups() -> None:
    """200 people who are in one group each: nothing is cut, and no release may say that something was."""
    table = pa.table({"person": range(200), "colour": ["blue"] * 200})
    query = dn.protect(table, unit="person").group_by("colour").aggregate(people=dn.units())
    plan = query.plan(epsilon="0.5", delta="1e-8")
    for seed in range(40):
        release = plan.release(bits=SeededBits(seed, insecure=True))
        assert "true numbers are larger" not in str(release)
        measured = release.facts.coverage
        assert measured is None or measured.share == "about 100 %"
