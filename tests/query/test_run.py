"""Noise and threshold on streams of un-noised integers that are made up here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from deniable.bits import SeededBits
from deniable.query import aggregates as dn
from deniable.query.measures import weight_table
from deniable.query.plan import Plan
from deniable.query.run import _noisy
from deniable.query.sealed import Sealed
from deniable.query.survey import protect

ALPHA = 1e-9
TABLE = pa.table({"person": ["a"], "colour": ["red"]})


def plan(
    noise: Any, over: Any, *, epsilon: str = "1", delta: str = "0.05", max_groups: int = 3, **outputs: Any
) -> Plan:
    survey = protect(TABLE, unit="person").group_by(
        "colour", max_groups=max_groups, over=over, selection="threshold"
    )
    query = survey.aggregate(**(outputs or {"n": dn.units()}))
    return query.plan(epsilon=epsilon, delta=delta, noise=noise, coverage=False)


def sealed(keys: np.ndarray[Any, Any], *measures: np.ndarray[Any, Any], batch: int = 10_000) -> Sealed:
    names = ["g0", *(f"m{place}" for place in range(len(measures)))]
    table = pa.table([pa.array(keys), *(pa.array(column) for column in measures)], names=names)
    batches = table.to_batches(max_chunksize=batch)
    return Sealed(pa.RecordBatchReader.from_batches(table.schema, batches), None)


def chance_of_any(made: Plan, groups: int, trials: int, seed: int) -> int:
    """In how many trials is anything published of a unit that is alone in `groups` groups?"""
    contributions = made.price.contributions
    one = weight_table(contributions)[groups] if contributions.over == "weight" else contributions.one
    counts = np.full(trials * groups, one, np.int64)
    found = _noisy(
        made, sealed(np.arange(trials * groups) // groups, counts), SeededBits(seed, insecure=True)
    )
    return len(set(found.keys.column(0).to_pylist()))


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize(("over", "groups"), [("drop", (1, 3)), ("weight", (1, 3, 30, 100))])
def test_a_unit_alone_in_its_groups_is_published_no_more_often_than_delta(
    noise: Any, over: Any, groups: tuple[int, ...]
) -> None:
    made, trials = plan(noise, over), 8_000
    assert made.price.threshold is not None
    claimed = float(made.price.threshold.delta)
    rates = []
    for number in groups:
        published = chance_of_any(made, number, trials, seed=number)
        assert binom.sf(published - 1, trials, claimed) > ALPHA
        rates.append(published / trials)
    assert max(rates) > 0.75 * claimed, "the threshold is higher than it needs to be"


def test_a_group_at_the_threshold_is_published_and_one_below_is_not() -> None:
    made = plan("laplace", "drop", epsilon="1000000", delta="1e-6", max_groups=1)
    assert made.price.threshold is not None
    least = made.price.threshold.least
    counts = np.array([least - 1, least, least + 1], np.int64)
    found = _noisy(made, sealed(np.arange(3), counts), SeededBits(1, insecure=True))
    assert found.keys.column(0).to_pylist() == [1, 2]
    assert found.numbers[0].tolist() == [least, least + 1]


def test_every_published_group_keeps_its_own_numbers_across_batches() -> None:
    made = plan("laplace", "drop", epsilon="1000000", delta="1e-6", n=dn.units(), rows=dn.count(max_rows=9))
    keys = np.arange(5000)
    units, rows = keys % 7, keys * 3
    found = _noisy(made, sealed(keys, units, rows, batch=37), SeededBits(1, insecure=True))
    assert made.price.threshold is not None
    kept = keys[units >= made.price.threshold.least]
    assert found.keys.column(0).to_pylist() == kept.tolist()
    assert found.numbers[0].tolist() == units[kept].tolist()
    assert found.numbers[1].tolist() == rows[kept].tolist()


def test_noise_of_other_columns_does_not_depend_on_selection() -> None:
    made = plan(
        "laplace", "drop", epsilon="1", delta="0.3", max_groups=1, n=dn.units(), rows=dn.count(max_rows=1)
    )
    count = 60_000
    ones = np.ones(count, np.int64)
    found = _noisy(made, sealed(np.arange(count), ones, ones), SeededBits(3, insecure=True))
    units, rows = (column.astype(float) for column in found.numbers)
    assert len(units) > 2500
    assert abs(np.corrcoef(units, rows)[0, 1]) < 6.1 / math.sqrt(len(units))
    scale = float(made.price.measured[1].scale)
    q = math.exp(-1 / scale)
    deviation = math.sqrt(2 * q) / (1 - q)
    assert abs(rows.mean() - 1) < 6.1 * deviation / math.sqrt(len(rows))


def test_no_batches_are_an_empty_result() -> None:
    made = plan("laplace", "drop")
    found = _noisy(made, sealed(np.arange(0), np.arange(0)), SeededBits(1, insecure=True))
    assert found.keys.num_rows == 0
    assert found.keys.schema.types == [pa.int64()]
    assert [column.tolist() for column in found.numbers] == [[]]


def test_totals_without_key_columns_are_one_row() -> None:
    made = protect(TABLE, unit="person").aggregate(n=dn.units()).plan(epsilon=10**6)
    table = pa.table({"m0": pa.array([41], pa.int64())})
    source = Sealed(pa.RecordBatchReader.from_batches(table.schema, table.to_batches()), None)
    found = _noisy(made, source, SeededBits(1, insecure=True))
    assert found.keys.num_columns == 0
    assert found.numbers[0].tolist() == [41]
