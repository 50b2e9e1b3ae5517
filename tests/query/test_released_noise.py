"""The noise, the intervals and the groups of real releases, against the laws that were promised."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from colours import ALPHA, Row, asked, bits, some_rows, table
from scipy.stats import binom, chisquare, gamma

from deniable.query import aggregates as dn
from deniable.query.question import Query
from deniable.query.release import Release
from deniable.query.survey import protect

EMPTY = table([])
NAMES = [f"colour {i}" for i in range(6000)]


def absent(noise: str = "laplace", **arguments: Any) -> Query:
    return (
        protect(EMPTY, unit="person")
        .group_by("colour", keys=NAMES, **arguments)
        .aggregate(a=dn.units(), b=dn.count(max_rows=1), again=dn.units())
    )


@pytest.fixture(scope="module")
def silent() -> pa.Table:
    """Counts of 6000 declared colours that nobody has: noise and nothing else."""
    return absent().release(epsilon=1, coverage=False, bits=bits(3)).table


def fits(draws: list[int], scale: float, reach: int = 12) -> float:
    """Chi-square p-value of draws against the discrete Laplace law of this scale."""
    q = math.exp(-1 / scale)
    law = [(1 - q) / (1 + q) * q ** abs(x) for x in range(-reach, reach + 1)]
    tail = (1 - sum(law)) / 2
    cut = np.clip(draws, -reach - 1, reach + 1) + reach + 1
    found = np.bincount(cut, minlength=2 * reach + 3)
    return float(chisquare(found, np.array([tail, *law, tail]) * len(draws)).pvalue)


@pytest.mark.parametrize("column", ["a", "b"])
def test_every_absent_key_has_the_noise_that_was_priced(silent: pa.Table, column: str) -> None:
    draws = silent.column(column).to_pylist()
    assert silent.column("colour").to_pylist() == NAMES
    assert fits(draws, 2) > ALPHA
    assert fits(draws, 2.4) < ALPHA


def test_two_columns_have_noise_of_their_own_and_one_measure_has_one(silent: pa.Table) -> None:
    a, b = (np.array(silent.column(name).to_pylist(), float) for name in ("a", "b"))
    assert abs(np.corrcoef(a, b)[0, 1]) < 6.1 / math.sqrt(len(a))
    assert silent.column("again").equals(silent.column("a"))


def test_the_same_query_twice_draws_fresh_noise() -> None:
    query = absent()
    first, second = (query.release(epsilon=1).table.column("a").to_pylist() for _ in range(2))
    assert first != second


def test_counts_are_signed_so_that_sums_stay_right(silent: pa.Table) -> None:
    a = np.array(silent.column("a").to_pylist(), float)
    assert (a < 0).any()
    spread = math.sqrt(2 * math.exp(-0.5)) / (1 - math.exp(-0.5))
    assert abs(a.mean()) < 6.1 * spread / math.sqrt(len(a))


def test_gaussian_noise_on_weights_has_the_deviation_that_was_priced() -> None:
    query = absent(max_groups=4)
    plan = query.plan(epsilon=1, delta="1e-6", noise="gaussian")
    release = plan.release(bits=bits(5))
    for name, noisy in zip("ab", plan.price.measured, strict=True):
        draws = np.array(release.table.column(name).to_pylist(), float)
        expected = math.hypot(float(noisy.scale), math.sqrt(1 / 12))
        error = 6.1 / math.sqrt(2 * len(draws))
        assert abs(draws.std() / expected - 1) < error
        assert abs(draws.std() / (1.15 * expected) - 1) > error


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_intervals_hold_the_truth_as_often_as_they_say(noise: Any) -> None:
    rows: list[Row] = [(10 * i + j, name, float(j)) for i, name in enumerate(NAMES) for j in range(4)]
    query = (
        protect(table(rows), unit="person")
        .group_by("colour", keys=NAMES)
        .aggregate(n=dn.units(), total=dn.sum("spend", bounds=(0, 5), max_rows=1))
    )
    found = query.release(epsilon=1, delta="1e-6", noise=noise, coverage=False, bits=bits(2)).table
    for name, truth in (("n", 4), ("total", 6)):
        low, high = (np.array(found.column(f"{name}_{end}").to_pylist()) for end in ("low", "high"))
        held = int(((low <= truth) & (truth <= high)).sum())
        assert binom.cdf(held, len(NAMES), 0.95) > ALPHA
        if noise == "gaussian":
            assert binom.cdf(held, len(NAMES), 0.99) < ALPHA, "wider than it says"


def test_intervals_of_means_hold_the_truth_at_least_as_often() -> None:
    rows: list[Row] = [
        (30 * i + j, name, float(j % 5)) for i, name in enumerate(NAMES[:2000]) for j in range(25)
    ]
    query = (
        protect(table(rows), unit="person")
        .group_by("colour", keys=NAMES[:2000])
        .aggregate(m=dn.mean("spend", bounds=(0, 9), max_rows=1))
    )
    found = query.release(epsilon=4, coverage=False, bits=bits(2)).table
    low, high = (np.array(found.column(f"m_{end}").to_pylist()) for end in ("low", "high"))
    held = int(((low <= 2) & (high >= 2)).sum())
    assert binom.cdf(held, 2000, 0.95) > ALPHA
    assert (high - low).max() < 9, "an interval that is always all of the bounds says nothing"


# Unknown groups.


def singletons(n: int) -> pa.Table:
    return table([(i, f"answer {i}", None) for i in range(n)])


def test_singleton_groups_are_published_as_often_as_delta_pays_for() -> None:
    """P(1 + X >= 5) = .0133898 for scale 1; the rule ">" would publish .0049258 of them."""
    query = protect(singletons(100_000), unit="person").group_by("colour").aggregate(n=dn.units())
    plan = query.plan(epsilon=1, delta="0.0134", noise="laplace", coverage=False)
    assert plan.threshold == 5
    found = plan.release(bits=bits(4)).table
    assert min(found.column("n").to_pylist()) == 5
    published = found.num_rows
    for rate, likely in ((0.0133898, True), (0.0049258, False), (0.0364, False)):
        p = 2 * min(binom.cdf(published, 100_000, rate), binom.sf(published - 1, 100_000, rate))
        assert bool(p > ALPHA) is likely


def test_published_groups_are_in_an_order_that_says_nothing() -> None:
    rows: list[Row] = [(100 * i + j, f"c{i:02}", 1.0) for i in range(40) for j in range(60)]
    rows += [(9000 + j, None, 1.0) for j in range(80)]
    query = protect(table(rows), unit="person").group_by("colour").aggregate(n=dn.units())
    found = query.release(epsilon=1, delta="1e-6", bits=bits(1)).table.to_pylist()
    assert len(found) == 41
    assert None in [row["colour"] for row in found], "NULL is an ordinary key"

    def place(row: dict[str, Any]) -> tuple[int, bool, str]:
        return -row["n"], row["colour"] is None, row["colour"] or ""

    assert [place(row) for row in found] == sorted(place(row) for row in found)


def test_an_empty_release_says_that_no_group_reached_the_threshold() -> None:
    rows = some_rows(3)
    for data in (EMPTY, table(rows[:1]), singletons(3)):
        query = asked(protect(data, unit="person", population=10_000))
        release = query.release(epsilon=1, delta="1e-8", bits=bits(1))
        assert release.table.num_rows == 0
        people = statement_threshold(release)
        assert f"No group reached {people} people" in str(release)
        assert f"No group reached {people} people" in release._repr_html_()
    assert release.table.schema == asked(protect(table(rows), unit="person")).release(
        epsilon=100, delta="1e-5", bits=bits(1)
    ).table.schema.with_metadata(None)


def statement_threshold(release: Release) -> int:
    assert release.plan.threshold is not None
    return math.ceil(release.plan.threshold)


def test_the_share_that_was_counted_is_told_from_noisy_counts() -> None:
    rows: list[Row] = [
        (person, f"c{(person + j) % 50}", None) for person in range(40_000) for j in range(1 + person % 3)
    ]
    query = protect(table(rows), unit="person").group_by("colour").aggregate(n=dn.units())
    release = query.release(epsilon=1, delta="1e-8", bits=bits(1))
    told = release.statement.replace("\n  ", " ")
    share = re.search(r"about (\d+) % of all answers were counted in full", told)
    assert share is not None
    assert 45 <= int(share[1]) <= 50, "40,000 of 80,000; 3 groups look like 3 or 4"
    unmeasured = query.release(epsilon=1, delta="1e-8", coverage=False, bits=bits(1))
    assert "was not measured" in unmeasured.statement.replace("\n  ", " ")


def test_the_histogram_of_groups_has_the_noise_that_was_priced() -> None:
    rows: list[Row] = [(person, f"c{j}", None) for person in range(60) for j in range(1 + person % 2)]
    plan = (
        protect(table(rows), unit="person")
        .group_by("colour")
        .aggregate(n=dn.units())
        .plan(epsilon=1, delta="1e-6", noise="laplace")
    )
    true = np.array([30, 30, 0, 0, 0, 0, 0, 0])
    errors = np.concatenate([np.array(plan.release(bits=bits(seed)).histogram) - true for seed in range(6)])
    size = np.abs(errors).mean()  # mean |X| is about the scale: 50 for 2 % of epsilon 1
    assert 25 < size < 100
    assert fits_scale(errors, 50) > ALPHA
    assert fits_scale(errors, 5) < ALPHA


def fits_scale(draws: np.ndarray[Any, Any], scale: float) -> float:
    """The sum of n values |X| / scale is about Gamma(n): both tails."""
    total = float(np.abs(draws).sum() / scale)
    return float(2 * min(gamma.cdf(total, len(draws)), gamma.sf(total, len(draws))))
