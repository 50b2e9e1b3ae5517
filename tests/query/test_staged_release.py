"""Whole releases whose groups are found in rounds or by chance, against plain Python and binomial laws."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from deniable.bits import SeededBits
from deniable.query import aggregates as dn
from deniable.query.plan import Plan
from deniable.query.run import _noisy, _shown
from deniable.query.sealed import Sealed
from deniable.query.survey import protect
from deniable.selection.geometric import TruncatedGeometric
from deniable.selection.sips import Rounds

ALPHA = 1e-9
ONE = 1 << 20
TABLE = pa.table({"person": ["a"], "colour": ["red"]})


def bits(seed: int) -> SeededBits:
    return SeededBits(seed, insecure=True)


def made(*, epsilon: Any = 1, delta: Any = "0.05", **groups: Any) -> Plan:
    given = {"max_groups": 3, **groups}
    query = protect(TABLE, unit="person").group_by("colour", **given).aggregate(n=dn.units())
    return query.plan(epsilon=epsilon, delta=delta, coverage=False)


def sealed(keys: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> Sealed:
    table = pa.table([pa.array(keys), pa.array(counts)], names=["place", "m0"])
    batches = table.to_batches(max_chunksize=999)
    return Sealed(pa.RecordBatchReader.from_batches(table.schema, batches), None)


@pytest.mark.parametrize("groups", [1, 3, 30, 100])
def test_a_unit_alone_is_shown_in_any_round_no_more_often_than_the_mass(groups: int) -> None:
    found, trials = made(selection="sips").price.found, 20_000
    assert isinstance(found, Rounds)
    shown: set[int] = set()
    for number, one in enumerate(found.rounds):
        counts = np.full(trials * groups, one.weights[groups], np.int64)
        places = _shown(sealed(np.arange(trials * groups) // groups, counts), one, bits(groups + 7 * number))
        shown |= set(places.tolist())
    claimed = float(found.delta)
    assert binom.sf(len(shown) - 1, trials, claimed) > ALPHA
    if groups == 1:
        assert binom.cdf(len(shown), trials, claimed / 3) < ALPHA, "the thresholds are higher than need be"


def test_a_round_draws_noise_for_every_group_that_is_left() -> None:
    found = made(selection="sips").price.found
    assert isinstance(found, Rounds)
    one, groups = found.rounds[0], 40_000
    at_threshold = np.full(groups, one.threshold.least, np.int64)
    shown = len(_shown(sealed(np.arange(groups), at_threshold), one, bits(3)))
    assert min(binom.cdf(shown, groups, 0.5), binom.sf(shown, groups, 0.5)) > ALPHA


def two_colours(seed: int) -> pa.Table:
    """People with one to seven colours, some common and some rare; many rows in one colour."""
    chosen = random.Random(seed)
    rows: list[tuple[str, str, float]] = []
    for person in range(120):
        for colour in chosen.sample(range(40), chosen.randint(1, 7)):
            name = f"c{min(colour, person % 30)}"
            rows += [(f"p{person}", name, chosen.choice([0.5, 3.0, 250.0]))] * chosen.randint(1, 4)
        if person % 5 == 0:
            rows.append((f"p{person}", f"only p{person}", 1.0))
    people, colours, values = zip(*rows, strict=True)
    return pa.table({"person": people, "colour": colours, "spend": values})


def naive(table: pa.Table, found: Rounds, k: int) -> dict[str, tuple[int, float]]:
    """Rounds without noise, then what is counted and summed with weights of exact integers."""
    cells: dict[str, dict[str, list[float]]] = {}
    for row in table.to_pylist():
        cells.setdefault(row["person"], {}).setdefault(row["colour"], []).append(row["spend"])
    shown: set[str] = set()
    for one in found.rounds:
        count: dict[str, int] = {}
        for of in cells.values():
            left = [colour for colour in of if colour not in shown]
            for colour in left:
                count[colour] = count.get(colour, 0) + one.weights[len(left)]
        shown |= {colour for colour, number in count.items() if number >= one.threshold.least}
    end = {colour: [0.0, 0.0] for colour in shown}
    for of in cells.values():
        left = [colour for colour in of if colour in shown]
        for colour in left:
            weight = min(1.0, (k / len(left)) ** 0.5)
            spends = [min(value, 10.0) for value in of[colour]]
            end[colour][0] += weight
            end[colour][1] += weight * sum(spends) * min(1, 2 / len(spends))
    return {colour: (round(n), total) for colour, (n, total) in end.items()}


def test_with_next_to_no_noise_a_release_is_that_of_plain_python() -> None:
    table = two_colours(4)
    query = (
        protect(table, unit="person")
        .group_by("colour", max_groups=3)
        .aggregate(n=dn.units(), spend=dn.sum("spend", bounds=(0, 10), max_rows=2))
    )
    plan = query.plan(epsilon=1 << 20, delta="1e-6")
    assert isinstance(plan.price.found, Rounds)
    expected = naive(table, plan.price.found, k=3)
    release = plan.release(bits=bits(1), threads=1)
    found = {row["colour"]: row for row in release.table.to_pylist()}
    assert set(found) == set(expected)
    assert 5 < len(found) < len(set(table["colour"].to_pylist()))
    for colour, (people, total) in expected.items():
        assert abs(found[colour]["n"] - people) <= 1
        assert found[colour]["spend"] == pytest.approx(total, abs=0.5)


def test_a_release_in_rounds_is_the_same_whatever_the_order_of_rows_and_threads() -> None:
    table = two_colours(8)
    turned = table.take(pa.array(range(len(table) - 1, -1, -1)))
    tables = []
    for data, threads in ((table, 1), (turned, 1), (table, 2)):
        query = protect(data, unit="person").group_by("colour", max_groups=3).aggregate(n=dn.units())
        tables.append(query.release(epsilon=1 << 20, delta="1e-6", bits=bits(2), threads=threads).table)
    names = [set(found["colour"].to_pylist()) for found in tables]
    assert names[0] == names[1] == names[2]


def test_by_chance_groups_are_shown_as_often_as_the_rule_says_and_units_have_noise_of_their_own() -> None:
    plan = made(selection="truncated-geometric", max_groups=2, delta="0.01")
    rule = plan.price.found
    assert isinstance(rule, TruncatedGeometric)
    groups, units = 30_000, rule.half
    one = plan.price.contributions.one
    counts = np.full(groups, units * one, np.int64)
    table = pa.table(
        [pa.array(np.arange(groups)), pa.array(counts), pa.array(counts)], names=["g0", "m0", "m1"]
    )
    source = Sealed(pa.RecordBatchReader.from_batches(table.schema, table.to_batches()), None)
    found = _noisy(plan, source, bits(5))
    shown, chance = found.keys.num_rows, float(rule.chance(units))
    assert min(binom.cdf(shown, groups, chance), binom.sf(shown, groups, chance)) > ALPHA
    noise = (found.numbers[0] - units * one) * float(plan.price.measured[0].step)
    scale = float(plan.price.measured[0].scale)
    deviation = scale * (2**0.5 if plan.noise == "laplace" else 1)
    assert abs(noise.mean()) < 6.2 * deviation / shown**0.5
    assert noise.std() == pytest.approx(deviation, rel=0.1)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_a_whole_release_by_chance_counts_whole_units(noise: Any) -> None:
    rows = [(f"p{i}", f"c{i % 3}") for i in range(3000)] + [("alone", "rare")]
    people, colours = zip(*rows, strict=True)
    table = pa.table({"person": people, "colour": colours})
    query = (
        protect(table, unit="person")
        .group_by("colour", selection="truncated-geometric")
        .aggregate(n=dn.units())
    )
    release = query.release(epsilon=2, delta="1e-9", noise=noise, bits=bits(1), threads=1)
    assert sorted(release.table["colour"].to_pylist()) == ["c0", "c1", "c2"]
    assert all(abs(n - 1000) < 100 for n in release.table["n"].to_pylist())
    assert "every second is published" in " ".join(release.statement.split())


def test_the_statement_says_the_rule_of_the_rounds() -> None:
    release = (
        protect(two_colours(4), unit="person", population=1000)
        .group_by("colour", max_groups=3)
        .aggregate(n=dn.units())
        .release(epsilon=2, delta="1e-5", bits=bits(1), threads=1)
    )
    words = " ".join(release.statement.split())
    assert "Rarely given values are not published." in words
    assert "found in 3 rounds" in words
    assert "A person in more than 3 of the groups that were found counts less in each" in words
    people = [f"{-(-one.people // 1):,}" for one in release.plan.price.found.rounds]  # type: ignore[union-attr]
    assert f"{', '.join(people)} or more, in this order" in words


def test_nothing_found_is_an_empty_table() -> None:
    query = (
        protect(TABLE, unit="person")
        .group_by("colour", max_groups=3, selection="sips")
        .aggregate(n=dn.units())
    )
    release = query.release(epsilon=1, delta="1e-6", bits=bits(1), threads=1)
    assert release.table.num_rows == 0
    assert release.table.column_names == ["colour", "n", "n_low", "n_high"]
    assert "No group reached" in str(release)
