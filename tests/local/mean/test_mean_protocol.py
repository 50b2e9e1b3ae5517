"""`dn.local.Mean` from end to end: devices, arrays, estimates, intervals, mixed epsilon."""

from __future__ import annotations

import json
import os
import pickle
from decimal import Decimal
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import Any, NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

import deniable as dn
from deniable import events
from deniable.bits import SeededBits
from deniable.errors import ParameterError, ReportError
from deniable.local import Mean, Reports, combine

ALPHA = 1e-9
MECHANISMS: tuple[Any, ...] = ("optimal", "duchi", "piecewise", "hybrid", "laplace", "classified")


def seeded(seed: int) -> SeededBits:
    return SeededBits(seed, insecure=True)


def meant(mean: Mean, reports: Reports) -> NDArray[np.float64]:
    """What each report stands for, in the units of the value, from the law's exact numbers."""
    law: Any = mean.law
    v: NDArray[np.float64]
    if mean.mechanism == "laplace":
        v = (reports.payload - np.uint64(1 << 63)).view(np.int64) / 2.0**law.fine
    else:
        v = np.array([float(y * law.unit) for y in law.values])[reports.payload]
    low, high = map(float, mean.bounds)
    stands: NDArray[np.float64] = low + (v + 1) / 2 * (high - low)
    return stands


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("epsilon", ["0.3", 2])
def test_reports_are_unbiased_with_the_variance_that_was_stated(mechanism: Any, epsilon: Any) -> None:
    mean = Mean(epsilon=epsilon, bounds=(-10, 30), mechanism=mechanism)
    n = 200_000
    for seed, value in enumerate((-10.0, -3.3, 10.0, 29.9)):
        drawn = meant(mean, mean.randomize(np.full(n, value), bits=seeded(seed)))
        deviation = sqrt(mean.error().variance_at(value))
        limit = -NormalDist().inv_cdf(ALPHA / 2)
        assert abs(drawn.mean() - value) < limit * deviation / sqrt(n)
        squares = (drawn - value) ** 2
        spread = float(squares.std()) / sqrt(n)
        assert abs(squares.mean() - deviation**2) < limit * spread + 1e-6 * deviation**2
        assert abs(drawn.mean() - value - deviation / 50) > limit * deviation / sqrt(n)


class Trap:
    def __getattribute__(self, name: str) -> NoReturn:
        raise KeyboardInterrupt

    def __float__(self) -> float:
        raise SystemExit


ODD: list[object] = [
    None, float("nan"), float("inf"), -float("inf"), 10**5000, -(10**5000), "7", b"", True, Decimal("nan"),
    Decimal("sNaN"), Decimal("1e9999"), Fraction(1, 3), np.float32(2), np.int8(-5), np.array([1.0]), [1], {},
    object(), Trap(), 1j, 1e308, -1e308, 5e-324,
]  # fmt: skip


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_device_reports_on_every_value_in_constant_size(mechanism: Any) -> None:
    client = Mean(epsilon=1, bounds=(0, 100), mechanism=mechanism).client()
    assert len({len(client.report(value)) for value in [*ODD, *range(-5, 120, 5)]}) == 1


def test_a_missing_value_counts_as_the_middle_and_one_outside_as_the_bound() -> None:
    mean = Mean(epsilon=3, bounds=(10, 50))
    for odd, same in ((None, 30.0), (float("nan"), 30.0), ("12", 30.0), (1e99, 50.0), (-(10**400), 10.0)):
        pairs = [(mean.client(seeded(s)).report(odd), mean.client(seeded(s)).report(same)) for s in range(20)]
        assert all(one == other for one, other in pairs)


def test_a_device_and_an_array_give_the_same_reports() -> None:
    mean = Mean(epsilon=1, bounds=(0, 1))
    reports = [mean.randomize([0.3], bits=seeded(seed)).to_bytes() for seed in range(10)]
    assert reports == [mean.client(seeded(seed)).report(0.3) for seed in range(10)]


@pytest.mark.parametrize(
    "values",
    [[1.0, None], [np.nan], [101], [-1e-9], ["7"], [True], 5.0, [[1.0]], [np.inf], [[1.0], [1.0, 2.0]], None],
)
def test_an_array_with_something_else_is_refused_without_showing_it(values: Any) -> None:
    with pytest.raises(ParameterError) as told:
        Mean(epsilon=1, bounds=(0, 100)).randomize(values)
    assert "101" not in str(told.value)


def test_an_array_may_be_of_any_kind_of_number() -> None:
    mean = Mean(epsilon=1, bounds=(0, 100))
    kinds: list[Any] = [
        [1, 2], (1.0, 2.0), np.array([1, 2], np.uint8), np.array([1, 2], np.float32),
        [Decimal(1), Fraction(2)],
    ]  # fmt: skip
    sent = [mean.randomize(values, bits=seeded(1)).to_bytes() for values in kinds]
    assert len(set(sent)) == 1


def test_no_values_give_no_reports() -> None:
    mean = Mean(epsilon=1, bounds=(0, 100))
    assert len(mean.randomize([])) == 0
    with pytest.raises(ParameterError, match="no reports"):
        mean.estimate(mean.randomize([]))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_reports_survive_bytes_lines_and_merging(mechanism: Any) -> None:
    mean = Mean(epsilon=2, bounds=(0, 100), mechanism=mechanism)
    reports = mean.randomize(np.linspace(0, 100, 500))
    direct = mean.estimate(reports)
    lines = mean.read(list(reports.to_json_lines()))
    parts = [mean.aggregate(mean.read(reports[k : k + 100].to_bytes())) for k in range(0, 500, 100)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    for other in (mean.estimate(lines), total.estimate()):
        assert (other.value, other.low, other.high, other.n) == (direct.value, direct.low, direct.high, 500)


def test_reports_of_another_mean_are_refused() -> None:
    ours = Mean(epsilon=1, bounds=(0, 100))
    for other in (
        Mean(epsilon=2, bounds=(0, 100)),
        Mean(epsilon=1, bounds=(0, 101)),
        Mean(epsilon=1, bounds=(0, 100), mechanism="duchi"),
        Mean(epsilon=1, bounds=(0, 100), objective="uniform"),
    ):
        reports = other.randomize([5.0])
        with pytest.raises(ReportError):
            ours.estimate(reports)
        with pytest.raises(ReportError):
            ours.read(reports.to_bytes())
        with pytest.raises(ReportError):
            ours.aggregate(ours.randomize([5.0])) + other.aggregate(reports)
    forged = Reports(ours.parameters, np.array([250], np.uint8))
    with pytest.raises(ReportError, match="outputs"):
        ours.aggregate(forged)


def test_two_people_who_chose_epsilon_by_their_value_average_to_zero_only_with_population_weights() -> None:
    n = 200_000
    loose, strict = Mean(epsilon=4, bounds=(-1, 1)), Mean(epsilon="0.5", bounds=(-1, 1))
    parts = [
        loose.aggregate(loose.randomize(np.full(n, 0.5), bits=seeded(1))),
        strict.aggregate(strict.randomize(np.full(n, -0.5), bits=seeded(2))),
    ]
    equal, weighted = combine(parts, weights="population"), combine(parts)
    assert equal.low < 0 < equal.high
    assert weighted.low > 0.4
    assert any("independently" in note for note in weighted.notes)
    assert not equal.notes


def test_mechanisms_of_one_quantity_combine_and_others_do_not() -> None:
    one = Mean(epsilon=1, bounds=(0, 1))
    two = Mean(epsilon=1, bounds=(0, 1), mechanism="laplace")
    three = Mean(epsilon=1, bounds=(0, 2))
    parts = [mean.aggregate(mean.randomize(np.full(1000, 0.5))) for mean in (one, two, three)]
    both = combine(parts[:2])
    assert both.n == 2000
    assert any("independently" in note for note in both.notes)
    with pytest.raises(ReportError, match="same thing"):
        combine(parts)


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "n", "data"),
    [
        ("optimal", 1, 100, "spread"),
        ("optimal", 4, 300, "one"),
        ("duchi", 1, 300, "spread"),
        ("duchi", 8, 1000, "one"),
        ("piecewise", 4, 100, "middle"),
        ("piecewise", 8, 300, "one"),
        ("hybrid", 3, 100, "ends"),
        ("classified", 5, 100, "middle"),
        ("laplace", 1, 100, "spread"),
    ],
)
def test_intervals_cover_the_mean_of_those_who_reported(
    mechanism: Any, epsilon: int, n: int, data: str
) -> None:
    mean, runs = Mean(epsilon=epsilon, bounds=(-1, 1), mechanism=mechanism), 1500
    values = {"spread": np.linspace(-1, 1, n + 2)[1:-1], "one": np.ones(n), "middle": np.zeros(n)}.get(data)
    values = np.where(np.arange(n) % 10 == 0, 1.0, -1.0) if values is None else values
    reports = mean.randomize(np.tile(values, runs), bits=seeded(n))
    found = [mean.estimate(reports[k * n : (k + 1) * n]) for k in range(runs)]
    missed = sum(not one.low <= values.mean() <= one.high for one in found)
    halved = sum(2 * abs(one.value - values.mean()) > one.high - one.value for one in found)
    assert missed <= most_misses(runs, 0.06)
    if mechanism in ("optimal", "laplace"):
        assert halved > most_misses(runs, 0.06), "the intervals of these are hardly wider than they must be"


def most_misses(runs: int, rate: float) -> int:
    from scipy.stats import binom

    return int(binom.isf(ALPHA, runs, rate))


def test_few_reports_are_said_to_be_few() -> None:
    mean = Mean(epsilon=1, bounds=(0, 1))
    assert "approximate" in mean.estimate(mean.randomize(np.full(99, 0.5))).notes[0]
    assert not mean.estimate(mean.randomize(np.full(100, 0.5))).notes


def test_a_wider_confidence_gives_a_wider_interval() -> None:
    mean = Mean(epsilon=1, bounds=(0, 100))
    total = mean.aggregate(mean.randomize(np.full(1000, 40.0)))
    narrow, wide = total.estimate("0.5"), total.estimate("0.999")
    assert wide.low < narrow.low < narrow.high < wide.high
    assert narrow.confidence == Fraction(1, 2)


def test_two_clients_of_one_process_and_of_a_fork_are_independent() -> None:
    mean = Mean(epsilon=1, bounds=(0, 1), mechanism="laplace")
    clients = mean.client(), mean.client()
    first, second = ([client.report(0.5) for _ in range(20)] for client in clients)
    assert first != second
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, b"".join(clients[0].report(0.5) for _ in range(20)))
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(read, 1 << 16)
    os.close(read)
    os.close(write)
    assert theirs != b"".join(clients[0].report(0.5) for _ in range(20))
    assert len(theirs) == 20 * len(first[0])


def test_thirty_daily_reports_cost_thirty_times_epsilon() -> None:
    mean = Mean(epsilon="1/3", bounds=(0, 1))
    assert dn.account([events.Repeated(mean.event, 30)]).epsilon() == 10
    assert mean.event == events.PureDP(epsilon="1/3")


@pytest.mark.parametrize("epsilon", ["1e-12", 800, 10_000, "1e300"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_unusual_epsilon_gives_a_right_answer(epsilon: Any, mechanism: Any) -> None:
    mean = Mean(epsilon=epsilon, bounds=(0, 1), mechanism=mechanism)
    n = 20_000
    found = mean.estimate(mean.randomize(np.full(n, 0.7), bits=seeded(5)))
    assert abs(float(found.value) - 0.7) < 6.2 * sqrt(mean.error().variance_at("0.7") / n) + 1e-12
    assert len(mean.client().report(0.7)) >= 10


@pytest.mark.parametrize("epsilon", [0, -1, "nan", "inf", None, True, "1e-13", "1e-300", "x"])
def test_an_epsilon_that_cannot_be_is_refused(epsilon: Any) -> None:
    with pytest.raises(ParameterError):
        Mean(epsilon=epsilon, bounds=(0, 1))


@pytest.mark.parametrize(
    "bounds", [(1, 1), (2, 1), (0,), None, "01", (0, "inf"), (0, "1e-101"), (0, "1e101"), 5, (0, 1, 2)]
)
def test_bounds_that_cannot_be_are_refused(bounds: Any) -> None:
    with pytest.raises(ParameterError):
        Mean(epsilon=1, bounds=bounds)


@pytest.mark.parametrize("bounds", [("-1e100", "1e100"), (0, "1e-100"), (10**16, 10**16 + 4)])
def test_wide_and_narrow_bounds_work(bounds: Any) -> None:
    mean = Mean(epsilon=1, bounds=bounds)
    middle = (mean.bounds[0] + mean.bounds[1]) / 2
    found = mean.estimate(mean.randomize(np.full(1000, float(middle)), bits=seeded(1)))
    assert found.low <= float(middle) <= found.high
    assert len(mean.client().report(middle)) == 10


def test_names_that_are_none_are_refused() -> None:
    with pytest.raises(ParameterError, match="mechanism"):
        Mean(epsilon=1, bounds=(0, 1), mechanism="best")  # type: ignore[arg-type]
    objectives: list[Any] = ["best", ("gaussian",), ("gaussian", 0), ("normal", 1), None, ("gaussian", "nan")]
    for objective in objectives:
        with pytest.raises(ParameterError, match="objective"):
            Mean(epsilon=1, bounds=(0, 1), objective=objective)
    with pytest.raises(ParameterError, match="objective"):
        Mean(epsilon=1, bounds=(0, 1), mechanism="duchi", objective="uniform")


def test_a_protocol_is_a_value() -> None:
    one, same = (Mean(epsilon="0.5", bounds=(0, 1)) for _ in range(2))
    assert one == same
    assert hash(one) == hash(same)
    assert pickle.loads(pickle.dumps(one)).parameters == one.parameters
    assert str(one) == "Mean(epsilon=0.5, bounds=(0, 1), mechanism='optimal')"
    assert "1.65-fold" in one.statement.replace("\n", " ")


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_protocol_can_be_sent_to_devices(mechanism: Any) -> None:
    ours = Mean(epsilon="1.3", bounds=("-1/3", 100), mechanism=mechanism)
    theirs = Mean.from_json(json.loads(json.dumps(ours.to_json())))
    assert theirs == ours
    assert theirs.parameters == ours.parameters
    assert len(ours.read(theirs.client().report(3))) == 1
    for objective in ("uniform", ("gaussian", "1/3")) if mechanism == "optimal" else ():
        prior: Any = objective
        one = Mean(epsilon=2, bounds=(0, 1), objective=prior)
        assert Mean.from_json(one.to_json()) == one


def test_a_device_refuses_a_table_that_does_not_keep_its_epsilon() -> None:
    sent = Mean(epsilon=3, bounds=(0, 1)).to_json()
    with pytest.raises(ParameterError, match="do not keep epsilon 1"):
        Mean.from_json({**sent, "epsilon": "1"})


def test_a_device_refuses_what_is_no_protocol() -> None:
    sent = Mean(epsilon=1, bounds=(0, 1)).to_json()
    table = sent["table"]
    wrong: dict[str, list[Any]] = {
        "deniable": [2, None],
        "protocol": ["mode"],
        "epsilon": ["none", None],
        "bounds": [["1", "0"], None],
        "mechanism": [[], "best"],
        "objective": [3, "gaussian"],
        "digest": ["00", None],
        "table": [
            [],
            {},
            *({**table, key: bad} for key, bad in (("rows", 5), ("rows", []), ("rows", [[1]]))),
        ],
    }
    wrong["table"] += [{**table, "values": ["a"] * 9}, {**table, "shift": 99}, {**table, "shift": True}]
    wrong["table"] += [{**table, "values": [first, *table["values"][1:]]} for first in (0, 1.5)]
    wrong["table"] += [{**table, "rows": table["rows"][:-1]}]
    odd: list[Any] = [None, [], "", {}, *({**sent, key: bad} for key in wrong for bad in wrong[key])]
    for record in odd:
        with pytest.raises(ParameterError):
            Mean.from_json(record)


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "used"),
    [
        ("optimal", 10, "classified"),
        ("optimal", "0.05", "duchi"),
        ("hybrid", "0.61", "duchi"),
        ("optimal", 1, "optimal"),
        ("hybrid", 1, "hybrid"),
        ("laplace", 1, "laplace"),
    ],
)
def test_a_protocol_says_which_mechanism_it_uses_beyond_the_range_of_its_own(
    mechanism: Any, epsilon: Any, used: Any
) -> None:
    made = Mean(epsilon=epsilon, bounds=(0, 1), mechanism=mechanism)
    assert (f"(here '{used}')" in repr(made)) == (used != mechanism)
    assert made.law.digest == Mean(epsilon=epsilon, bounds=(0, 1), mechanism=used).law.digest
    said = Mean(epsilon=1, bounds=(0, 1), mechanism=used).statement
    by = said.partition(", by ")[2].partition(":")[0]
    assert " ".join(by.split()) in " ".join(made.statement.split())
