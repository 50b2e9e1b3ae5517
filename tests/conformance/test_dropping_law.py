"""Which groups a unit keeps is chosen by another hash on each engine, and by the same law."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from both_engines import Answer, ask, engine, numbers, saved, sources
from scipy.special import gammaincc
from spark_session import QUIET, started  # noqa: F401

from deniable.query.measures import Contributions, Units

pytestmark = QUIET
ALPHA = 1e-9
PEOPLE, GROUPS, KEPT = 2_000, 5, 2
DROP = Contributions("drop", "l1", KEPT, 100, 1)
ENGINES = ["duckdb", "spark"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Everybody is in five groups of their own, whose names end alike: they tell all choices."""
    rows = [(who, f"{who}/{place}", place) for who in range(PEOPLE) for place in range(GROUPS)]
    who, mine, shared = zip(*rows, strict=True)
    held = pa.table({"who": who, "mine": mine, "shared": pa.array(shared, pa.int64())})
    return saved(tmp_path_factory.mktemp("law") / "rows.parquet", held)


def kept(name: str, spark: Any, path: str, group: str, contributions: Contributions, seed: int = 1) -> Answer:
    source = sources(spark, path)[name]
    with engine(name, spark) as opened:
        sealed = ask(
            opened, source, [Units()], unit="who", groups=[group], contributions=contributions, seed=seed
        )
        return numbers(sealed, 1)


def choices(found: Answer) -> dict[str, list[str]]:
    """For each unit the groups that it kept."""
    of: dict[str, list[str]] = {}
    for (name,) in found:
        who, _, place = name.partition("/")
        of.setdefault(who, []).append(place)
    return of


def p_value(seen: list[int]) -> float:
    """Pearson's, against all outcomes being equally likely."""
    expected = sum(seen) / len(seen)
    statistic = sum((count - expected) ** 2 / expected for count in seen)
    return float(gammaincc((len(seen) - 1) / 2, statistic / 2))


@pytest.mark.parametrize("name", ENGINES)
def test_every_set_of_groups_is_kept_equally_often(name: str, spark: Any, path: str) -> None:
    of = choices(kept(name, spark, path, "mine", DROP))
    assert {len(places) for places in of.values()} == {KEPT}
    assert len(of) == PEOPLE
    pairs = Counter("".join(sorted(places)) for places in of.values())
    seen = [pairs["".join(pair)] for pair in combinations("01234", KEPT)]
    assert len(seen) == comb(GROUPS, KEPT)
    assert p_value(seen) > ALPHA
    assert p_value([seen[0] + seen[1], 0, *seen[2:]]) < ALPHA  # the twin: one pair is never kept


@pytest.mark.parametrize("name", ENGINES)
def test_units_choose_apart_among_groups_that_they_share(name: str, spark: Any, path: str) -> None:
    seen = [count for (count,) in kept(name, spark, path, "shared", DROP).values()]
    assert sum(seen) == PEOPLE * KEPT
    assert p_value(seen) > ALPHA
    assert p_value([PEOPLE, PEOPLE, 1, 1, 1]) < ALPHA  # the twin: the hash leaves the unit out


def test_another_salt_makes_another_choice_and_the_same_salt_the_same(spark: Any, path: str) -> None:
    first, again, other = (choices(kept("spark", spark, path, "mine", DROP, seed)) for seed in (1, 1, 2))
    assert {who: sorted(places) for who, places in first.items()} == {
        who: sorted(places) for who, places in again.items()
    }
    alike = sum(sorted(first[who]) == sorted(other[who]) for who in first)
    assert PEOPLE / 20 < alike < PEOPLE / 5  # a tenth, by chance


@pytest.mark.parametrize("name", ENGINES)
def test_units_in_too_many_groups_keep_as_many_as_are_looked_at(name: str, spark: Any, path: str) -> None:
    weights = Contributions("weight", "l2", 2, 3, 1 << 20)
    found = kept(name, spark, path, "mine", weights)
    assert {len(places) for places in choices(found).values()} == {3}
    assert len(set(found.values())) == 1


def test_keys_of_several_columns_with_missing_parts_are_told_apart(spark: Any, tmp_path: Path) -> None:
    """Spark's hash skips NULL: without a mark for it, (NULL, 'a') and ('a', NULL) would always tie."""
    rows = [(who, first, second) for who in range(400) for first, second in ((None, "a"), ("a", None))]
    who, first, second = zip(*rows, strict=True)
    path = saved(tmp_path / "rows.parquet", pa.table({"who": who, "first": first, "second": second}))
    one = Contributions("drop", "l1", 1, 100, 1)
    with engine("spark", spark) as opened:
        source = sources(spark, path)["spark"]
        sealed = ask(opened, source, [Units()], unit="who", groups=["first", "second"], contributions=one)
        found = numbers(sealed, 2)
    assert sum(count for (count,) in found.values()) == 400
    assert p_value([count for (count,) in found.values()]) > ALPHA
