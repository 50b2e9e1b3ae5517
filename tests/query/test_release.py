"""Releases from end to end, against a naive version written here and against the laws of the noise."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from scipy.stats import binom, chisquare

from deniable.bits import SeededBits
from deniable.errors import EngineError, ParameterError, SourceError
from deniable.query import aggregates as dn
from deniable.query.plan import Plan
from deniable.query.question import Query
from deniable.query.release import Release
from deniable.query.survey import ROW, Survey, protect

ALPHA = 1e-9
SURE = 1 - Fraction(1, 10**9)
Row = tuple[int, str | None, float | None]


def bits(seed: int) -> SeededBits:
    return SeededBits(seed, insecure=True)


def table(rows: list[Row]) -> pa.Table:
    people, colours, spends = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "person": pa.array(people, pa.int64()),
            "colour": pa.array(colours, pa.string()),
            "spend": pa.array(spends, pa.float64()),
        }
    )


def some_rows(seed: int, people: int = 60, rows: int = 500) -> list[Row]:
    random = np.random.default_rng(seed)
    colours: list[str | None] = ["red", "green", "blue", "", None, "ultramarine"]
    values: list[float | None] = [0.0, 1.0, 2.5, 99.0, -7.0, 250.0, None, math.nan, math.inf]
    return [
        (int(random.integers(people)), colours[random.integers(6)], values[random.integers(9)])
        for _ in range(rows)
    ]


# The naive version: one unit at a time, in exact fractions.


def contributions(
    rows: list[Row], column: str, low: Fraction, high: Fraction, max_rows: int
) -> dict[Any, Fraction]:
    """What each (person, colour) adds to units, rows, given (rows with a value) or total."""
    seen: dict[Any, list[Fraction]] = defaultdict(list)
    number: dict[Any, int] = defaultdict(int)
    for person, colour, spend in rows:
        number[person, colour] += 1
        if spend is not None and math.isfinite(spend):
            seen[person, colour].append(min(max(Fraction(spend), low), high))
    if column == "units":
        return {key: Fraction(1) for key in number}
    if column == "rows":
        return {key: Fraction(min(n, max_rows)) for key, n in number.items()}
    if column == "given":
        return {key: Fraction(min(len(seen[key]), max_rows)) for key in number}
    return {
        key: sum(seen[key], Fraction(0)) * Fraction(min(len(seen[key]), max_rows), max(len(seen[key]), 1))
        for key in number
    }


def weighted(parts: dict[Any, Fraction], max_groups: int) -> dict[str | None, Fraction]:
    """Sum over people; a person in m > max_groups colours counts max_groups / m in each (Laplace weights)."""
    groups: dict[int, int] = defaultdict(int)
    for person, _ in parts:
        groups[person] += 1
    sums: dict[str | None, Fraction] = defaultdict(Fraction)
    for (person, colour), part in parts.items():
        sums[colour] += part * min(Fraction(1), Fraction(max_groups, groups[person]))
    return sums


def asked(survey: Survey, **groups: Any) -> Query:
    return survey.group_by("colour", **groups).aggregate(
        units=dn.units(),
        rows=dn.count(max_rows=2),
        given=dn.count("spend", max_rows=2),
        total=dn.sum("spend", bounds=(-5, 100), max_rows=2),
        average=dn.mean("spend", bounds=(-5, 100), max_rows=2),
    )


def holds(release: Any, truth: dict[str, dict[str | None, Fraction]], slack: float) -> None:
    for row in release.table.to_pylist():
        for name, sums in truth.items():
            exact = float(sums.get(row["colour"], Fraction(0)))
            assert row[f"{name}_low"] - slack <= exact <= row[f"{name}_high"] + slack, (name, row)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("max_groups", [1, 2, 6])
def test_weighted_sums_are_those_of_the_naive_version(seed: int, max_groups: int) -> None:
    rows = some_rows(seed)
    query = asked(protect(table(rows), unit="person", population=1000), max_groups=max_groups, over="weight")
    release = query.release(epsilon=10**6, delta="1e-5", noise="laplace", confidence=SURE, bits=bits(seed))
    low, high = Fraction(-5), Fraction(100)
    truth = {
        name: weighted(contributions(rows, name, low, high, 2), max_groups)
        for name in ("units", "rows", "given", "total")
    }
    assert {row["colour"] for row in release.table.to_pylist()} == {
        key for key, n in truth["units"].items() if n > 2
    }
    assert all(row["units_high"] - row["units_low"] <= 2 for row in release.table.to_pylist())
    holds(release, truth, slack=0.05)
    average = {key: total / max(truth["given"][key], Fraction(1)) for key, total in truth["total"].items()}
    holds(release, {"average": average}, slack=1e-3)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_where_nothing_is_cut_drop_counts_everybody(noise: Any) -> None:
    rows = some_rows(9)
    query = asked(protect(table(rows), unit="person", population=1000), max_groups=6, over="drop")
    release = query.release(epsilon=10**4, delta="1e-5", noise=noise, confidence=SURE, bits=bits(1))
    low, high = Fraction(-5), Fraction(100)
    names = ("units", "rows", "given", "total")
    truth = {name: weighted(contributions(rows, name, low, high, 2), 6) for name in names}
    assert release.table.num_rows == 6
    holds(release, truth, slack=0.05)


def test_totals_are_one_row_without_keys() -> None:
    rows = some_rows(5)
    survey = protect(table(rows), unit="person", population=1000)
    query = survey.aggregate(people=dn.units(), total=dn.sum("spend", bounds=(0, 10), max_rows=1000))
    row = query.release(epsilon=10**6, bits=bits(1)).table.to_pylist()
    assert len(row) == 1
    assert row[0]["people"] == len({person for person, _, _ in rows})
    exact = sum(min(max(s, 0.0), 10.0) for _, _, s in rows if s is not None and math.isfinite(s))
    assert row[0]["total"] == pytest.approx(exact, abs=0.05)


def test_per_row_every_row_is_its_own_unit() -> None:
    rows = some_rows(6)
    query = (
        protect(table(rows), unit=ROW)
        .group_by("colour", keys=["red", "none"])
        .aggregate(n=dn.count(), given=dn.count("spend"), top=dn.sum("spend", bounds=(0, 50)))
    )
    found = query.release(epsilon=10**6, bits=bits(1)).table.to_pylist()
    reds = [spend for _, colour, spend in rows if colour == "red"]
    values = [min(max(spend, 0.0), 50.0) for spend in reds if spend is not None and math.isfinite(spend)]
    assert [row["colour"] for row in found] == ["red", "none"]
    assert [row["n"] for row in found] == [len(reds), 0]
    assert [row["given"] for row in found] == [len(values), 0]
    assert found[0]["top"] == pytest.approx(sum(values), abs=0.01)


def test_two_huge_integers_do_not_wrap() -> None:
    data = pa.table({"person": [1, 2], "x": pa.array([2**62, 2**62], pa.int64())})
    query = protect(data, unit="person").aggregate(x=dn.sum("x", bounds=(0, 2**62), max_rows=1))
    value = query.release(epsilon=10**6, bits=bits(1)).table.column("x")[0].as_py()
    assert value == pytest.approx(2**63, rel=1e-3)


def test_ten_bytes_of_200_are_2000() -> None:
    data = pa.table({"person": list(range(10)), "x": pa.array([200] * 10, pa.uint8())})
    query = protect(data, unit="person").aggregate(x=dn.sum("x", bounds=(0, 255), max_rows=1))
    column = query.release(epsilon=10**6, bits=bits(1)).table.column("x")
    assert column.type == pa.int64()
    assert column.to_pylist() == [2000]


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_mean_over_hardly_any_rows_stays_in_its_bounds(rows: int) -> None:
    data = table([(person, "red", 3.0) for person in range(rows)])
    query = protect(data, unit="person").aggregate(m=dn.mean("spend", bounds=(0, 10), max_rows=1))
    for seed in range(3):
        row = query.release(epsilon=1, bits=bits(seed)).table.to_pylist()[0]
        assert 0 <= row["m_low"] <= row["m"] <= row["m_high"] <= 10


# The noise that is really added.

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


# What is refused before data, and what happens after.


class Guarded:
    """A source that must not be opened."""

    label, assumed = "guarded", ()

    def __init__(self, survey: Survey) -> None:
        self.schema = survey.source.schema

    def rows(self, engine: object, columns: object) -> Any:
        raise AssertionError("the data were opened")

    def check_unchanged(self) -> None: ...


@pytest.fixture
def guarded() -> Query:
    survey = protect(table(some_rows(1)), unit="person")
    hidden = Survey(Guarded(survey), survey.schema, survey.unit, None)
    return hidden.group_by("colour").aggregate(n=dn.units())


@pytest.mark.parametrize(
    "wrong",
    [
        {"purpose": 7},
        {"purpose": "x" * 3000},
        {"threads": "many"},
        {"memory_limit": "lots"},
        {"bits": 7},
        {"epsilon": -1},
        {"delta": 0},
        {"confidence": 2},
        {"noise": "none"},
    ],
)
def test_arguments_are_checked_before_the_data_are_opened(guarded: Query, wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        guarded.release(**{"epsilon": 1, "delta": "1e-6", **wrong})
    with pytest.raises(AssertionError, match="opened"):
        guarded.release(epsilon=1, delta="1e-6")


def test_a_failing_engine_says_nothing_about_the_data() -> None:
    class Failing(Guarded):
        def rows(self, engine: Any, columns: object) -> Any:
            from sqlglot import exp

            return exp.select("error('secret 37') AS person", "'x' AS colour").from_("range(3)")

    survey = protect(table(some_rows(1)), unit="person")
    query = Survey(Failing(survey), survey.schema, "person", None).group_by("colour").aggregate(n=dn.units())
    with pytest.raises(EngineError) as caught:
        query.release(epsilon=1, delta="1e-6")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_file_that_changes_meanwhile_ends_the_release() -> None:
    survey = protect(table(some_rows(1)), unit="person")

    class Changed(Guarded):
        def rows(self, engine: Any, columns: Any) -> Any:
            return survey.source.rows(engine, columns)

        def check_unchanged(self) -> None:
            raise SourceError("The file changed.")

    query = Survey(Changed(survey), survey.schema, "person", None).group_by("colour").aggregate(n=dn.units())
    with pytest.raises(SourceError):
        query.release(epsilon=1, delta="1e-6")


def test_the_same_query_twice_draws_fresh_noise() -> None:
    query = absent()
    first, second = (query.release(epsilon=1).table.column("a").to_pylist() for _ in range(2))
    assert first != second


def test_seeded_noise_is_marked_as_no_protection() -> None:
    query = protect(table(some_rows(1)), unit="person").aggregate(n=dn.units())
    assert not query.release(epsilon=1, bits=bits(1)).secure
    assert "nobody is protected" in query.release(epsilon=1, bits=bits(1)).statement
    assert query.release(epsilon=1).secure


# Taking it away.


@pytest.fixture(scope="module")
def release() -> Any:
    rows: list[Row] = [
        (10_000 * i + j, text, 1.0) for i, text in enumerate(["=1+2", "-x", "red"]) for j in range(100)
    ]
    query = protect(table(rows), unit="person", population=10_000).group_by("colour").aggregate(n=dn.units())
    return query.release(epsilon=1, delta="1e-8", purpose="weekly report", bits=bits(1))


def test_a_release_knows_its_promise_and_its_events(release: Any) -> None:
    assert str(release.guarantee) == "epsilon 1, delta 1e-8"
    assert release.events == release.plan.events
    assert "weekly report" in release.statement
    assert release.to_pandas()["n"].tolist() == release.table.column("n").to_pylist()
    assert release.to_polars().columns == ["colour", "n", "n_low", "n_high"]
    assert "red" in str(release)
    assert "red" in release._repr_html_()


def test_json_has_rows_guarantee_statement_and_plan(release: Any) -> None:
    record = json.loads(json.dumps(release.to_json(), allow_nan=False))
    assert record["guarantee"] == {"epsilon": "1", "delta": "1e-8"}
    assert record["rows"] == release.table.to_pylist()
    assert record["statement"] == release.statement
    assert record["plan"] == release.plan.to_json()


def test_saving_writes_five_files_that_agree(release: Any, tmp_path: Path) -> None:
    release.save(tmp_path / "out")
    folder = tmp_path / "out"
    names = ["page.html", "release.json", "statement.txt", "table.csv", "table.parquet"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert pyarrow.parquet.read_table(folder / "table.parquet").equals(release.table)
    assert (folder / "statement.txt").read_text("utf-8") == release.statement
    record = json.loads((folder / "release.json").read_text("utf-8"))
    assert record["guarantee"] == {"epsilon": "1", "delta": "1e-8"}
    assert "rows" not in record
    assert "<html" in (folder / "page.html").read_text("utf-8")


def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe(release: Any, tmp_path: Path) -> None:
    release.save(tmp_path / "out")
    cells = pyarrow.csv.read_csv(tmp_path / "out" / "table.csv").column("colour").to_pylist()
    assert sorted(cells) == ["'-x", "'=1+2", "red"]


def test_an_output_folder_that_exists_is_refused(release: Any, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(ParameterError, match="exists already"):
        release.save(tmp_path / "there")
    with pytest.raises(ParameterError, match="no folder around it"):
        release.save(tmp_path / "nowhere" / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_a_save_that_fails_leaves_nothing(
    release: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **named: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(pyarrow.csv, "write_csv", full)
    with pytest.raises(OSError, match="no space"):
        release.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_save_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    program = f"""
import time, pyarrow, pyarrow.csv, deniable as dn
def stuck(*arguments):
    print("writing", flush=True)
    time.sleep(60)
pyarrow.csv.write_csv = stuck
table = pyarrow.table({{"person": [1]}})
dn.protect(table, unit="person").aggregate(n=dn.units()).release(epsilon=1).save({str(tmp_path / "out")!r})
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.kill()
    for _ in range(100):
        if not list(tmp_path.iterdir()):
            return
        time.sleep(0.05)
    raise AssertionError("something is left")


def test_a_page_replaces_the_one_before(release: Any, tmp_path: Path) -> None:
    for _ in range(2):
        release.page(tmp_path / "page.html", title="Colours")
    assert "Colours" in (tmp_path / "page.html").read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


# Neighbours: the un-noised integers of a plan move by no more than its events price.


def unnoised(plan: Plan, rows: list[Row], seed: int) -> dict[Any, list[int]]:
    from deniable.engines.duckdb import DuckDB
    from deniable.query.collect import collect

    survey = protect(table(rows), unit="person")
    with DuckDB(threads=1) as engine:
        sealed = collect(
            engine,
            survey.rows(engine, ["person", "colour", "spend"]),
            unit="person",
            groups=("colour",),
            keys=None,
            measures=[noisy.measure for noisy in plan.price.measured],
            contributions=plan.price.contributions,
            bits=bits(seed),
            coverage=None,
        )
        return {row["g0"]: list(row.values())[1:] for batch in sealed.batches() for row in batch.to_pylist()}


def neighbours(seed: int) -> Iterator[tuple[list[Row], list[Row]]]:
    rows = some_rows(seed, people=8, rows=90)
    for person in (0, 3):
        yield rows, [row for row in rows if row[0] != person]
    heavy: list[Row] = [(99, f"only {i}", 1e9) for i in range(40)]
    heavy += [(99, "red", math.inf)] * 9
    yield rows + heavy, rows


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("over", ["weight", "drop"])
def test_adding_a_unit_moves_the_integers_by_no_more_than_is_priced(noise: Any, over: Any) -> None:
    query = asked(protect(EMPTY, unit="person"), max_groups=3, over=over)
    plan = query.plan(epsilon=1, delta="1e-6", noise=noise, coverage=False)
    reached = [0.0] * len(plan.price.measured)
    for larger, smaller in neighbours(7):
        first, second = unnoised(plan, larger, 1), unnoised(plan, smaller, 1)
        for place, noisy in enumerate(plan.price.measured):
            nothing = [0] * len(reached)
            moves = [
                abs(first.get(k, nothing)[place] - second.get(k, nothing)[place]) for k in {*first, *second}
            ]
            size = sum(moves) if noise == "laplace" else math.isqrt(sum(move * move for move in moves))
            assert size <= noisy.event.sensitivity
            reached[place] = max(reached[place], float(size / noisy.event.sensitivity))
    assert max(reached) > 0.9, "the bound should be nearly reached by a heavy unit"
