"""The benchmark of the audit runs, and its drawing holds what it measured."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from benchmarks import audit


def test_bounds_are_measured_and_drawn() -> None:
    rows = audit.power(10_000, 1)
    assert [row["runs of each input"] for row in rows] == ["1,000", "3,162", "10,000"]
    assert all(0 <= float(str(row["Laplace: bound"])) < 1.2 for row in rows)
    drawing = ElementTree.fromstring(audit.drawing(rows))
    assert len(drawing.findall("{http://www.w3.org/2000/svg}polyline")) == 4
    points = [line.attrib["points"].split() for line in drawing.iter("{http://www.w3.org/2000/svg}polyline")]
    assert all(len(places) == 3 for places in points)


def test_the_best_half_line_comes_close_to_the_truth_and_not_above() -> None:
    assert audit.best("Laplace", 10**9, 0.0) == pytest.approx(1, abs=1e-3)
    assert audit.best("Gaussian", 10**10, audit.DELTA) == pytest.approx(1, abs=2e-2)
    assert audit.best("Laplace", 10**9, 0.0) <= 1
