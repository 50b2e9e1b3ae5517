"""Quantiles and histograms: counts against plain Python, neighbours, least squares, intervals that hold."""

from __future__ import annotations

import bisect
import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from colours import ALPHA, Row, bits, some_rows, table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive_bounding import ask, number, step
from scipy.stats import binom, norm

from deniable import events
from deniable.engines.duckdb import DuckDB
from deniable.errors import ParameterError
from deniable.query import aggregates as dn
from deniable.query import trees
from deniable.query.grids import tree
from deniable.query.measures import LIMIT, Bins, Contributions, Spread, Total, Tree, Units, weight_table
from deniable.query.plan import Plan
from deniable.query.pricing import Noisy
from deniable.query.survey import protect
from deniable.query.trees import Reading, consistent, dense, overlap, spread_of, variances

ONE = 1 << 20
Over = Literal["weight", "drop"]
SMALL = Tree(Total("spend", 2, Fraction(1, 2), -4, 0, 10), 4, 2)
BINS = Bins("spend", 2, (Fraction(-5), Fraction(0), Fraction(5, 2), Fraction(99)))


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(threads=2) as opened:
        yield opened


def leaf_of(value: Any, measure: Spread) -> int | None:
    """The leaf of a value in plain Python."""
    exact = number(value)
    if exact is None:
        return None
    if isinstance(measure, Tree):
        return step(exact, measure.of)
    if not measure.edges[0] <= exact <= measure.edges[-1]:
        return None
    return min(bisect.bisect_right(measure.edges, exact) - 1, measure.leaves - 1)


def naive(rows: list[Row], measure: Spread, weights: list[int] | None) -> dict[Any, dict[int, int]]:
    """For each group the weighted, floored leaves; weights None: every row counts in full."""
    cells: dict[Any, dict[Any, list[int | None]]] = defaultdict(lambda: defaultdict(list))
    for place, (person, colour, spend) in enumerate(rows):
        cells[place if weights is None else person][colour].append(leaf_of(spend, measure))
    found: dict[Any, dict[int, int]] = defaultdict(dict)
    for groups in cells.values():
        weight = ONE if weights is None else weights[len(groups)]
        for colour, leaves in groups.items():
            found.setdefault(colour, {})
            there = [leaf for leaf in leaves if leaf is not None]
            for leaf in set(there):
                count, most = there.count(leaf), measure.max_rows or 1
                scaled = weight * count if len(there) <= most else weight * most * count // len(there)
                found[colour][leaf] = found[colour].get(leaf, 0) + scaled
    return found


def lists(
    engine: DuckDB,
    rows: list[Row],
    measure: Spread,
    contributions: Contributions,
    unit: str | None = "person",
    keys: pa.Table | None = None,
) -> dict[Any, dict[int, int]]:
    sealed = ask(
        engine,
        table(rows),
        unit=unit,
        groups=["colour"],
        measures=[Units(), measure],
        contributions=contributions,
        keys=keys,
    )
    return {
        row["g0"]: {pair["leaf"]: pair["number"] for pair in row["m1"] or []}
        for batch in sealed.batches()
        for row in batch.to_pylist()
    }


ODD = [None, math.nan, math.inf, -math.inf]
PEOPLE = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.sampled_from(["red", "green", "", None]),
        st.sampled_from(
            [0.0, -0.0, 1.0, 2.5, 99.0, 99.5, -7.0, -5.0, 1e300, None, math.nan, math.inf, -math.inf]
        ),
    ),
    max_size=30,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=PEOPLE, measure=st.sampled_from([SMALL, BINS]), norm=st.sampled_from(["l1", "l2"]))
def test_leaves_are_those_of_plain_python(
    engine: DuckDB, rows: list[Row], measure: Spread, norm: Literal["l1", "l2"]
) -> None:
    weighted = Contributions("weight", norm, 1, 100, ONE)
    assert lists(engine, rows, measure, weighted) == naive(rows, measure, weight_table(weighted))
    kept = Contributions("drop", norm, 9, 100, ONE)
    assert lists(engine, rows, measure, kept) == naive(rows, measure, [ONE] * 9)
    keys = pa.table({"colour": ["red", "blue"]})
    declared = lists(engine, rows, measure, kept, keys=keys)
    assert declared == {key: naive(rows, measure, [ONE] * 9).get(key, {}) for key in ("red", "blue")}


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=PEOPLE)
def test_where_each_row_is_a_unit_leaves_are_counted(engine: DuckDB, rows: list[Row]) -> None:
    alone = Tree(Total("spend", None, Fraction(1, 2), -4, 0, 10), 4, 2)
    full = Contributions("drop", "l1", 1, 1, ONE)
    assert lists(engine, rows, alone, full, unit=None) == naive(rows, alone, None)


def test_a_missing_value_and_one_outside_the_edges_are_in_no_bin(engine: DuckDB) -> None:
    values = [None, math.nan, math.inf, -math.inf, -5.5, 99.5, 99.0, -5.0]
    rows: list[Row] = [(place, "red", value) for place, value in enumerate(values)]
    assert lists(engine, rows, BINS, Contributions("drop", "l1", 1, 1, ONE)) == {"red": {0: ONE, 2: ONE}}


def nodes_of(plan: Plan, rows: list[Row]) -> dict[Any, list[np.ndarray[Any, Any]]]:
    """The un-noised nodes of every group of a plan."""
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
            bits=bits(4),
            coverage=None,
        )
        found: dict[Any, list[np.ndarray[Any, Any]]] = {}
        for batch in sealed.batches():
            for place, key in enumerate(batch.column(0).to_pylist()):
                found[key] = [
                    dense(noisy.measure, batch.column(at + 1).slice(place, 1))[0]
                    for at, noisy in enumerate(plan.price.measured)
                    if isinstance(noisy.measure, Spread)
                ]
        return found


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("over", ["weight", "drop"])
@pytest.mark.parametrize("values", [[50.0], [0.0, 33.0, 99.0], [math.inf, 1e300, -3.0]])
def test_a_heavy_unit_moves_the_nodes_by_no_more_than_is_priced(noise: Any, over: Any, values: Any) -> None:
    query = (
        protect(table([]), unit="person", population=1000)
        .group_by("colour", max_groups=3, over=over, selection="threshold")
        .aggregate(
            q=dn.quantile("spend", [0.5], bounds=(0, 100), max_rows=2),
            h=dn.histogram("spend", edges=[0, 50, 100], max_rows=2),
        )
    )
    plan = query.plan(epsilon=1, delta="1e-6", noise=noise, coverage=False)
    base = some_rows(3, people=9, rows=60)
    heavy: list[Row] = [(77, f"only {place % 30}", values[place % len(values)]) for place in range(93)]
    before, after = nodes_of(plan, base), nodes_of(plan, base + heavy)
    priced = [noisy for noisy in plan.price.measured if isinstance(noisy.measure, Spread)]
    for place, noisy in enumerate(priced):
        moves = [after[k][place] - before[k][place] if k in before else after[k][place] for k in after]
        sizes = [abs(int(move)) for of in moves for move in of]
        size = sum(sizes) if noise == "laplace" else math.isqrt(sum(move * move for move in sizes))
        assert size <= noisy.event.sensitivity
        if values == [50.0]:
            assert size > 0.99 * noisy.event.sensitivity, "one leaf should use the whole bound"
        if noise == "gaussian":
            assert np.count_nonzero(sizes) <= noisy.event.coordinates  # type: ignore[union-attr]


def test_nodes_above_are_cut_where_sums_would_overflow() -> None:
    full = pa.array([[{"leaf": leaf, "number": LIMIT} for leaf in range(16)], None, []])
    found = dense(SMALL, full)
    assert found.shape == (3, 20)
    assert (found[0] == LIMIT - 1).all()
    assert not found[1:].any()


def design(of: Tree) -> np.ndarray[Any, Any]:
    """Every node as a sum of leaves, written out."""
    leaves = of.branching**of.levels
    rows = []
    for level in range(1, of.levels + 1):
        size = of.branching ** (of.levels - level)
        rows += [[start <= leaf < start + size for leaf in range(leaves)] for start in range(0, leaves, size)]
    return np.array(rows, float)


@pytest.mark.parametrize(
    ("branching", "levels", "leaves"), [(4, 2, 11), (2, 3, 8), (3, 3, 20), (7, 1, 7), (1, 1, 1)]
)
def test_consistent_leaves_are_the_least_squares_solution(branching: int, levels: int, leaves: int) -> None:
    of = Tree(Total("x", 1, Fraction(1), 0, 0, leaves - 1), branching, levels)
    matrix = design(of)
    nodes = np.random.default_rng(3).integers(-1000, 1000, (5, of.nodes))
    expected = np.linalg.lstsq(matrix, nodes.T.astype(float), rcond=None)[0].T
    assert consistent(of, nodes) == pytest.approx(expected)
    inverse = np.linalg.inv(matrix.T @ matrix)
    for rank, share in (("minimum", 0.0), (Fraction(3, 10), 0.3), ("maximum", 1.0)):
        for last, found in enumerate(variances(of, rank)):  # type: ignore[arg-type]
            c = (np.arange(matrix.shape[1]) <= last) - share * (np.arange(matrix.shape[1]) < leaves)
            assert found == pytest.approx(c @ inverse @ c, abs=1e-12)


def test_overlap_is_the_product_of_averages() -> None:
    for first in range(1, 12):
        for second in range(first, 12):
            for height, size in ((1, 1), (2, 4)):
                c, d = (
                    (np.arange(16) < n).astype(float).reshape(-1, size).mean(axis=1) for n in (first, second)
                )
                found = overlap(SMALL, np.array([first]), np.array([second]), height)
                assert found[0] == pytest.approx(size * (c @ d))


@pytest.mark.parametrize("confidence", ["0.5", "0.8", "0.9", "0.95", "0.99", "0.999999"])
def test_sums_of_laplace_draws_stay_within_the_spread(confidence: str) -> None:
    """P(|sum| > t) by inverting the characteristic function, the product of 1 / (1 + a^2 u^2)."""
    sure = float(confidence)
    reach = spread_of(Fraction(confidence))
    u = np.linspace(1e-9, 400, 2_000_001)
    for weights in ([1, 1], [3, 1], [1] * 3, [4, 2, 1], [1] * 5, [9] + [1] * 9, [1] * 12, [1] * 40):
        scale = np.array(weights) / math.sqrt(2 * sum(w * w for w in weights))
        law = np.prod([1 / (1 + (a * u) ** 2) for a in scale], axis=0)
        beyond = 1 - 2 / math.pi * np.trapezoid(np.sin(u * reach) / u * law, u)
        assert beyond <= (1 - sure) + 2e-6
    assert reach >= norm.ppf((1 + sure) / 2)


def quantile_of(values: list[float], share: float) -> float:
    return sorted(values)[math.ceil(share * len(values)) - 1]


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_with_little_noise_the_numbers_are_those_of_plain_python(noise: Any) -> None:
    rows: list[Row] = []
    of_each: dict[str, list[float]] = {"red": [], "green": []}
    for person in range(900):
        colour = "red" if person % 3 else "green"
        value = float((person * 37) % 211) / 2
        rows.append((person, colour, value))
        of_each[colour].append(min(max(value, 3.0), 90.0))
    query = (
        protect(table(rows), unit="person", population=1000)
        .group_by("colour", keys=["red", "green", "absent"])
        .aggregate(
            q=dn.quantile("spend", [0.1, 0.5, "0.9"], bounds=(3, 90), max_rows=1),
            again=dn.median("spend", bounds=(3, 90), max_rows=1),
            low=dn.minimum("spend", bounds=(3, 90), max_rows=1),
            high=dn.maximum("spend", bounds=(3, 90), max_rows=1),
            h=dn.histogram("spend", edges=[0, 10, "50.5", 1000], max_rows=1),
        )
    )
    plan = query.plan(epsilon=5000, delta="1e-6", noise=noise, coverage=False)
    assert len(plan.price.measured) == 2, "all quantiles are read from one tree"
    for row in plan.release(bits=bits(1)).table.to_pylist()[:2]:
        values = of_each[row["colour"]]
        for share in (0.1, 0.5, 0.9):
            assert row[f"q_{share}"] == pytest.approx(quantile_of(values, share), abs=0.6)
            assert row[f"q_{share}_low"] - 0.6 <= quantile_of(values, share) <= row[f"q_{share}_high"] + 0.6
        assert row["again"] == row["q_0.5"]
        assert row["low"] == pytest.approx(3, abs=1)
        assert row["high"] == pytest.approx(90, abs=1)
        raw = [v for _, c, v in rows if c == row["colour"] and v is not None]
        assert row["h_0_to_10"] == sum(v < 10 for v in raw)
        assert row["h_10_to_50.5"] == sum(10 <= v < 50.5 for v in raw)
        assert row["h_50.5_to_1000"] == sum(v >= 50.5 for v in raw)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_intervals_hold_the_bounded_value_as_often_as_they_say(noise: Any) -> None:
    keys = [f"key {place}" for place in range(700)]
    random = np.random.default_rng(8)
    rows: list[Row] = []
    of_each = []
    for place, key in enumerate(keys):
        values = [float(v) for v in random.integers(0, 61, 40 + place % 50)]
        rows += [(1000 * place + other, key, value) for other, value in enumerate(values)]
        of_each.append(sorted(values))
    query = (
        protect(table(rows), unit="person", population=10**6)
        .group_by("colour", keys=keys)
        .aggregate(
            q=dn.quantile("spend", [0.2, 0.5], bounds=(0, 60), max_rows=1),
            low=dn.minimum("spend", bounds=(0, 60), max_rows=1),
            high=dn.maximum("spend", bounds=(0, 60), max_rows=1),
        )
    )
    plan = query.plan(epsilon=8, delta="1e-7", noise=noise, coverage=False)
    noisy = plan.price.measured[0]
    assert isinstance(noisy.measure, Tree)
    away = trees.far(noisy, noisy.measure, plan.confidence) / ONE
    found = plan.release(bits=bits(21)).table.to_pylist()
    held = dict.fromkeys(("q_0.2", "q_0.5", "low", "high"), 0)
    narrow = 0
    for row, values in zip(found, of_each, strict=True):
        n = len(values)
        true = {
            "q_0.2": values[math.ceil(Fraction(2, 10) * n) - 1],
            "q_0.5": values[math.ceil(Fraction(1, 2) * n) - 1],
            "low": values[min(math.ceil(away), n) - 1],
            "high": values[max(math.ceil(n - away), 1) - 1],
        }
        for name, value in true.items():
            held[name] += row[f"{name}_low"] <= value <= row[f"{name}_high"]
        middle = (row["q_0.5_low"] + row["q_0.5_high"]) / 2
        narrow += abs(true["q_0.5"] - middle) <= (row["q_0.5_high"] - row["q_0.5_low"]) / 16
    assert all(binom.cdf(count, len(keys), 0.945) > ALPHA for count in held.values()), held
    assert binom.cdf(narrow, len(keys), 0.945) < ALPHA


def test_every_bin_of_an_absent_key_has_the_noise_that_was_priced() -> None:
    query = (
        protect(table([]), unit="person")
        .group_by("colour", keys=[f"key {place}" for place in range(4000)])
        .aggregate(h=dn.histogram("spend", edges=[0, 1, 2], max_rows=3))
    )
    plan = query.plan(epsilon=1, delta="1e-6", noise="gaussian", coverage=False)
    found = plan.release(bits=bits(3)).table
    first, second = (np.array(found.column(name).to_pylist(), float) for name in ("h_0_to_1", "h_1_to_2"))
    sigma = float(plan.price.measured[0].scale)
    for drawn in (first, second):
        assert drawn.var() == pytest.approx(sigma**2, rel=6.1 * math.sqrt(2 / 4000))
    assert abs(np.corrcoef(first, second)[0, 1]) < 6.1 / math.sqrt(4000)


def test_every_node_of_an_empty_tree_has_a_draw_of_its_own() -> None:
    noise = Noisy(SMALL, events.DiscreteLaplace(scale=50, sensitivity=1), Fraction(1))
    from deniable.query.pricing import sampler

    empty = dense(SMALL, pa.array([[{"leaf": 0, "number": 0}]] * 500))
    found = trees.noised(empty, sampler(noise.event), bits(4))
    assert found.shape == (500, 20)
    assert (found != 0).mean() > 0.95
    for node in range(20):
        assert found[:, node].astype(float).var() == pytest.approx(2 * 50**2, rel=6.1 * math.sqrt(5 / 500))
    assert abs(np.corrcoef(found.T.astype(float)) - np.eye(20)).max() < 6.1 / math.sqrt(500)


def test_one_node_is_drawn_once_however_many_quantiles_are_read() -> None:
    noisy = Noisy(SMALL, events.DiscreteLaplace(scale=5 * ONE, sensitivity=ONE), Fraction(1, ONE))
    few = Reading(noisy, (Fraction(1, 2),), Fraction(19, 20))
    many = Reading(few.noisy, (Fraction(1, 4), "minimum", Fraction(1, 2), "maximum"), few.confidence)
    from deniable.query.pricing import sampler

    counted = pa.array([[{"leaf": leaf, "number": 30 * ONE} for leaf in range(11)]] * 9)
    drawn = sampler(few.noisy.event)
    assert (few.of(counted, drawn, bits(6)) == many.of(counted, drawn, bits(6))[:, 6:9]).all()


BOUNDS = [
    (0, 100),
    (-5, 3),
    (-1000, -999),
    (0, "1e-140"),
    ("-1e150", "1e150"),
    (0, 2**62),
    ("0.1", "0.3"),
    (10**15, 10**15 + 1),
]


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("whole", [True, False])
def test_a_tree_spans_its_bounds_and_no_more(bounds: Any, whole: bool) -> None:
    low, high = Fraction(bounds[0]), Fraction(bounds[1])
    found = tree("x", (low, high), whole_numbers=whole, max_rows=2, one=ONE, population=None)
    assert 1 <= found.leaves <= found.branching**found.levels <= 4096
    assert found.leaves == 1 or found.of.centre * found.of.grid >= low
    assert found.leaves == 1 or (found.of.centre + found.leaves - 1) * found.of.grid <= high
    if not whole and high - low > abs(low) / 2**30:
        assert found.leaves >= 2046


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("rows", [[], [(1, "red", 7.0)], some_rows(9)])
def test_odd_tables_and_bounds_give_ordinary_numbers(bounds: Any, rows: list[Row]) -> None:
    survey = protect(table(rows), unit="person")
    asked = {
        "q": dn.quantile("spend", 0.5, bounds=bounds, max_rows=2),
        "low": dn.minimum("spend", bounds=bounds, max_rows=2),
    }
    for query in (
        survey.aggregate(**asked),
        survey.group_by("colour", keys=["red", "none"]).aggregate(**asked),
    ):
        for row in query.release(epsilon=1, bits=bits(1)).table.to_pylist():
            for name in asked:
                ends = float(Fraction(bounds[0])), float(Fraction(bounds[1]))
                assert ends[0] <= row[f"{name}_low"] <= row[name] <= row[f"{name}_high"] <= ends[1]


def test_declared_integers_give_integers_and_found_groups_have_quantiles() -> None:
    rows = {
        "person": list(range(3000)),
        "colour": ["red"] * 3000,
        "age": [20 + place % 50 for place in range(3000)],
    }
    query = (
        protect(pa.table(rows), unit="person")
        .group_by("colour")
        .aggregate(
            people=dn.units(),
            age=dn.median("age", bounds=(0, 120), max_rows=1),
            ages=dn.histogram("age", edges=[0, 40, 120], max_rows=1),
        )
    )
    for noise in ("laplace", "gaussian"):
        release = query.release(epsilon=1, delta="1e-6", noise=noise, bits=bits(5))
        assert release.table.column("age").type == pa.int64()
        (row,) = release.table.to_pylist()
        assert 40 <= row["age"] <= 48
        assert row["age_low"] <= 44 <= row["age_high"]
        assert row["ages_0_to_40"] == pytest.approx(1200, abs=200)
    assert "at or below which half of all rows lie" in " ".join(release.statement.split())
    assert "tree" in str([record["measure"] for record in release.plan.to_json()["measured"]])


@pytest.mark.parametrize(("selection", "over"), [("sips", "weight"), ("truncated-geometric", "drop")])
def test_groups_found_in_other_ways_have_their_own_quantiles(selection: Any, over: Any) -> None:
    rows: list[Row] = [
        (place, f"c{colour}", float(colour * 20 + place % 7))
        for place in range(6000)
        for colour in (place % 3, (place + 1) % 3)
    ]
    query = (
        protect(table(rows), unit="person")
        .group_by("colour", max_groups=2, selection=selection, over=over)
        .aggregate(
            q=dn.median("spend", bounds=(0, 64), max_rows=1),
            h=dn.histogram("spend", edges=[0, 10, 30, 64], max_rows=1),
        )
    )
    found = {
        row["colour"]: row for row in query.release(epsilon=5, delta="1e-6", bits=bits(7)).table.to_pylist()
    }
    assert sorted(found) == ["c0", "c1", "c2"]
    for place, key in enumerate(sorted(found)):
        assert found[key]["q"] == pytest.approx(place * 20 + 3, abs=1)
        bins = [found[key][name] for name in ("h_0_to_10", "h_10_to_30", "h_30_to_64")]
        assert bins == pytest.approx([4000 * (other == place) for other in range(3)], abs=200)


def test_rows_that_are_units_have_quantiles_too() -> None:
    query = protect(table([(0, None, float(place % 100)) for place in range(5000)]), unit=dn_row()).aggregate(
        q=dn.median("spend", bounds=(0, 100)), h=dn.histogram("spend", edges=[0, 50, 100])
    )
    (row,) = query.release(epsilon=1, bits=bits(2)).table.to_pylist()
    assert row["q"] == pytest.approx(49, abs=3)
    assert row["h_0_to_50"] == pytest.approx(2500, abs=60)


def dn_row() -> Any:
    from deniable.query.survey import ROW

    return ROW


def test_the_seed_alone_decides_not_the_order_of_rows() -> None:
    rows = some_rows(4)
    found = []
    for order in (rows, rows[::-1]):
        query = (
            protect(table(order), unit="person")
            .group_by("colour", keys=["red", "blue"], max_groups=2)
            .aggregate(
                q=dn.quantile("spend", [0.3, 0.6], bounds=(0, 100), max_rows=2),
                h=dn.histogram("spend", edges=[0, 2, 99], max_rows=2),
            )
        )
        found.append(query.release(epsilon=1, bits=bits(3), threads=2).table)
    assert found[0].equals(found[1])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: dn.quantile("x", [0.5, 0.5], bounds=(0, 1)), "different"),
        (lambda: dn.quantile("x", [], bounds=(0, 1)), "between 0 and 1"),
        (lambda: dn.quantile("x", 1, bounds=(0, 1)), "minimum"),
        (lambda: dn.quantile("x", "nan", bounds=(0, 1)), "finite"),
        (lambda: dn.quantile("x", 0.5), "missing"),
        (lambda: dn.minimum("x"), "missing"),
        (lambda: dn.histogram("x", edges=[1]), "rising"),
        (lambda: dn.histogram("x", edges=[1, 1]), "rise"),
        (lambda: dn.histogram("x", edges="12"), "list"),
        (lambda: dn.histogram("x", edges=list(range(300))), "201"),
    ],
)
def test_wrong_questions_are_refused_with_what_to_write(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()


def test_names_of_several_columns_may_not_clash() -> None:
    query = protect(table([]), unit="person")
    with pytest.raises(ParameterError, match="q_0.5"):
        query.aggregate(**{"q": dn.quantile("spend", [0.5], bounds=(0, 1), max_rows=1), "Q_0.5": dn.units()})
