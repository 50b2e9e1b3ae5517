"""The benchmark of learning prints rows for every way and every learner."""

from __future__ import annotations

from benchmarks import learn

from deniable.studies.dct import measures
from deniable.studies.dct.parts import Data


def test_speed_and_errors_are_rows() -> None:
    rows = learn.speed(60, runs=1)
    assert [row["what"] for row in rows] == [f"training, {name}" for name in learn.WAYS]
    assert all(row["coordinates"] == 90 for row in rows)


def test_errors_stand_beside_those_without_privacy() -> None:
    row = learn._error("PrivUnit", "1", ["WISDM", 100, 1, None, ""], 1)
    assert float(row) > 0
    assert Data().file("BR") == (None, "")
    assert set(learn.FREE).isdisjoint(measures.LEARNERS)
