"""Keys with numbers: published odds and variances, rounds that add up, intervals that hold."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from deniable import accounting, events
from deniable.bits import SeededBits
from deniable.brackets import exponential
from deniable.errors import ParameterError, ReportError
from deniable.local import KeyValue
from deniable.local.keyvalue import pairs
from deniable.local.keyvalue.pairs import Pairs, sampled
from deniable.local.keyvalue.ratio import drawn, quotient
from deniable.local.keyvalue.rounds import Lying
from deniable.local.keyvalue.schemes import Direct, Unary

ALPHA = 1e-9
KEYS = ["red", "blue", "green"]


def seeded(seed: int) -> SeededBits:
    return SeededBits(seed, insecure=True)


def population(
    n: int, seed: int
) -> tuple[list[dict[str, float]], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """People who hold up to three keys, with the true shares and means."""
    rng = np.random.default_rng(seed)
    shares, means = np.array([0.5, 0.2, 0.05]), np.array([0.6, -0.4, 0.0])
    holds = rng.random((n, 3)) < shares
    numbers = np.clip(means + rng.normal(0, 0.2, (n, 3)), -1, 1)
    people = [
        {key: float(number) for key, number, held in zip(KEYS, row, own, strict=True) if held}
        for row, own in zip(numbers, holds, strict=True)
    ]
    return people, holds.mean(axis=0), np.array([numbers[holds[:, k], k].mean() for k in range(3)])


@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
def test_unary_odds_are_the_published_optimum(epsilon: float) -> None:
    """Gu et al. 2020: a = 1/2, b = 2/(e**eps + 3), p = e**eps/(e**eps + 1)."""
    scheme, e = KeyValue(epsilon=epsilon, keys=KEYS, mechanism="pckv-ue").scheme, math.exp(epsilon)
    assert isinstance(scheme, Unary)
    assert scheme.alpha / 2**31 == pytest.approx(e / (e + 1), abs=1e-8)
    assert 2 * scheme.beta / 2**32 == pytest.approx(2 / (e + 3), abs=1e-8)


@pytest.mark.parametrize("mechanism", ["pckv-grr", "pckv-ue", "privkvm"])
def test_many_reports_follow_the_stated_law(mechanism: str) -> None:
    protocol, n = KeyValue(epsilon=1, keys=["a", "b"], mechanism=mechanism), 40_000
    law = protocol.probabilities({"a": 0.5})
    payload = protocol.randomize([{"a": 0.5}] * n, bits=seeded(9)).payload.reshape(n, -1)
    seen = {row: int(many) for row, many in zip(*_rows(payload), strict=True)}
    likely = {(key if isinstance(key, tuple) else (key,)): float(p) for key, p in law.items()}
    assert seen.keys() <= likely.keys()
    distance = sum((seen.get(row, 0) - n * p) ** 2 / (n * p) for row, p in likely.items())
    freedom = len(likely) - 1
    assert distance < freedom + 6.5 * math.sqrt(2 * freedom) + 40, "beyond the quantile at ALPHA"


def _rows(payload: np.ndarray[Any, Any]) -> tuple[list[tuple[int, ...]], list[int]]:
    found, many = np.unique(payload, axis=0, return_counts=True)
    return [tuple(row) for row in found.tolist()], many.tolist()


@pytest.mark.parametrize("padding", [1, 3, 10])
def test_direct_odds_are_the_published_optimum(padding: int) -> None:
    """Gu et al. 2020, L = l (e**eps - 1): a = (L + 2)/(L + 2d), p = (L + 1)/(L + 2), b = 2/(L + 2d)."""
    scheme = KeyValue(epsilon=1, keys=KEYS, padding=padding).scheme
    assert isinstance(scheme, Direct)
    lifted, width = padding * (math.e - 1), 3 + padding
    a, p = (lifted + 2) / (lifted + 2 * width), (lifted + 1) / (lifted + 2)
    assert scheme.own / 2**32 == pytest.approx(a * p, rel=1e-6)
    assert scheme.other / 2**32 == pytest.approx(a * (1 - p), rel=1e-6)
    assert 2 * scheme.other / 2**32 == pytest.approx(2 / (lifted + 2 * width), rel=1e-6)


@pytest.mark.parametrize("padding", [1, 2, 12])
@pytest.mark.parametrize("count", [2, 10, 20, 100, 1000])
@pytest.mark.parametrize("epsilon", [0.5, 2, 8])
def test_auto_takes_the_pckv_whose_published_variance_is_less(
    epsilon: float, count: int, padding: int
) -> None:
    """Of a key that nobody holds; with padding l a key is told of with a probability of 1 / l."""
    others, odds = 2 * (count + padding), math.exp(epsilon)
    other = 1 / (padding * (odds - 1) + others)
    near = 2 * other * (1 - 2 * other) / ((1 - others * other) / padding) ** 2
    beta = 1 / (odds + 3)
    far = 2 * beta * (1 - 2 * beta) / ((0.5 - 2 * beta) / padding) ** 2
    made = KeyValue(epsilon=epsilon, keys=range(count), padding=padding)
    assert made.mechanism == ("pckv-grr" if near <= far else "pckv-ue")
    named = KeyValue(epsilon=epsilon, keys=range(count), padding=padding, mechanism=made.mechanism)
    assert made.parameters == named.parameters


def test_auto_serves_as_many_keys_as_either_pckv() -> None:
    assert KeyValue(epsilon="1e-6", keys=range(4096)).mechanism == "pckv-ue"
    assert KeyValue(epsilon=1, keys=range(4097)).mechanism == "pckv-grr"
    for epsilon, count in (("1e-6", 4097), (1, (1 << 16) + 1)):
        with pytest.raises(ParameterError):
            KeyValue(epsilon=epsilon, keys=range(count))


@pytest.mark.parametrize("mechanism", ["pckv-grr", "pckv-ue"])
@pytest.mark.parametrize("epsilon", [0.3, 1, 2])
def test_padding_and_sampling_keeps_epsilon_for_people_with_many_keys(mechanism: str, epsilon: float) -> None:
    protocol = KeyValue(epsilon=epsilon, keys=["a", "b"], mechanism=mechanism, padding=2)
    sets: list[dict[str, float]] = [{}]
    sets += [{key: value} for key in "ab" for value in (-1.0, -0.5, 1.0)]
    sets += [{"a": first, "b": second} for first in (-1.0, 1.0) for second in (-1.0, 0.3, 1.0)]
    laws = [protocol.probabilities(one) for one in sets]
    largest = max(a[report] / b[report] for a, b in permutations(laws, 2) for report in a)
    assert largest <= exponential(Fraction(str(epsilon)))[0]
    if mechanism == "pckv-grr":
        assert float(largest) == pytest.approx(math.exp(epsilon), rel=1e-5), "sampling pays for smaller lies"


def test_one_round_of_privkvm_has_the_published_odds() -> None:
    """Half of epsilon for the key, half for the sign; rounds share epsilon."""
    protocol = KeyValue(epsilon=6, keys=["a", "b"], mechanism="privkvm", rounds=3)
    law = protocol.probabilities({"a": 1.0})
    told = math.e / (1 + math.e)
    assert float(2 * law[1]) == pytest.approx(told * told, abs=1e-8)
    assert float(2 * law[2]) == pytest.approx(told * (1 - told), abs=1e-8)
    assert float(2 * law[0]) == pytest.approx(1 - told, abs=1e-8)
    assert float(2 * law[4]) == pytest.approx(told, abs=1e-8)
    assert float(2 * law[5]) == pytest.approx((1 - told) / 2, abs=1e-8), "a lie from the middle"


def test_rounds_add_up_to_epsilon_exactly() -> None:
    for rounds in (1, 3, 7):
        protocol = KeyValue(epsilon="0.1", keys=KEYS, mechanism="privkvm", rounds=rounds)
        assert protocol.event.epsilon * rounds == protocol.total.epsilon == Fraction(1, 10)
        spent = accounting.account(events.Repeated(protocol.event, rounds)).epsilon()
        assert float(spent) == pytest.approx(0.1)


@pytest.mark.parametrize("mechanism", ["pckv-grr", "pckv-ue"])
def test_shares_and_means_hold_within_their_intervals(mechanism: str) -> None:
    protocol = KeyValue(epsilon=3, keys=KEYS, mechanism=mechanism, padding=3)
    hits, runs = np.zeros((2, 3)), 40
    for run in range(runs):
        people, shares, means = population(3000, run)
        found = protocol.estimate(protocol.randomize(people, bits=seeded(run)))
        hits[0] += (np.asarray(found.low) <= shares) & (shares <= np.asarray(found.high))
        hits[1] += (np.asarray(found.mean.low) <= means) & (means <= np.asarray(found.mean.high))
    assert (hits >= 30).all(), "38 of 40 are expected; fewer than 30 has probability below 1e-5"
    assert hits.sum() < 6 * runs


@pytest.mark.parametrize("mechanism", ["pckv-grr", "pckv-ue", "privkvm"])
def test_a_key_that_nobody_holds_has_the_stated_variance(mechanism: str) -> None:
    protocol, n = KeyValue(epsilon=1, keys=KEYS, mechanism=mechanism), 2000
    nobody: list[dict[str, float]] = [{}] * n
    seen = [protocol.estimate(protocol.randomize(nobody, bits=seeded(run))).value for run in range(300)]
    shares = np.array(seen)
    stated = protocol.error() / n
    assert np.abs(shares.mean(axis=0)).max() < 6 * math.sqrt(stated / 300)
    assert shares.var() == pytest.approx(stated, rel=0.25)


def test_published_variances_of_pckv() -> None:
    """Gu et al. 2020, theorem 3, at f = 0: l**2 b (1 - b) / (n (a - b)**2), both forms."""
    e = math.e
    unary, direct = (KeyValue(epsilon=1, keys=KEYS, mechanism=m, padding=2) for m in ("pckv-ue", "pckv-grr"))
    b = 2 / (e + 3)
    assert unary.error() == pytest.approx(4 * b * (1 - b) / (0.5 - b) ** 2, rel=1e-6)
    lifted = 2 * (e - 1)
    a, b = (lifted + 2) / (lifted + 10), 2 / (lifted + 10)
    assert direct.error() == pytest.approx(4 * b * (1 - b) / (a - b) ** 2, rel=1e-5)


def test_privkvm_comes_nearer_with_rounds_and_pckv_is_nearer_still() -> None:
    people, _, means = population(40_000, 1)
    errors = []
    for rounds in (1, 4):
        protocol = KeyValue(epsilon=16 * rounds, keys=KEYS, mechanism="privkvm", rounds=rounds)
        found = protocol.collect(people, bits=seeded(2))
        errors.append(float(np.abs(np.asarray(found.mean.value) - means).max()))
    assert errors[1] < errors[0] + 0.02
    pckv = KeyValue(epsilon=2, keys=KEYS, padding=3).collect(people, bits=seeded(3))
    private = KeyValue(epsilon=2, keys=KEYS, mechanism="privkvm", rounds=2).collect(people, bits=seeded(4))
    worst = [np.abs(np.asarray(one.mean.value) - means)[:2].max() for one in (pckv, private)]
    assert worst[0] < worst[1]


def test_the_bias_of_privkvm_is_the_stated_one() -> None:
    """f = 1/2 hold it with +1: a first round finds f P/(f P + (1 - f)(1 - P)) = P of the way from 0 to 1."""
    protocol = KeyValue(epsilon=2, keys=["a", "b"], mechanism="privkvm")
    half = [{"a": 1.0, "b": 1.0}, {}] * 40_000
    found = protocol.estimate(protocol.randomize(half, bits=seeded(5)))
    told = math.e / (1 + math.e)
    assert np.asarray(found.mean.value) == pytest.approx([told, told], abs=0.05)
    assert "biased" in found.notes[0]
    scheme = protocol.next(found).scheme
    assert isinstance(scheme, Lying)
    assert scheme.means[0] / 2**31 - 1 == pytest.approx(told, abs=0.05)


def test_reports_of_another_round_are_refused() -> None:
    first = KeyValue(epsilon=2, keys=KEYS, mechanism="privkvm", rounds=2)
    reports = first.randomize([{}] * 10)
    second = first.next(first.estimate(first.randomize([{"red": 1.0}] * 500)))
    with pytest.raises(ReportError) as refused:
        second.aggregate(reports)
    assert refused.value.differs == "means"


def test_an_interval_of_a_quotient_holds_where_nobody_may_hold_the_key() -> None:
    """Fieller's set, against a plain search over m for points that pass the test of its definition."""
    rng = np.random.default_rng(6)
    for _ in range(50):
        x, y = rng.normal(0, 0.1, 2)
        vx, vy = rng.uniform(1e-4, 1e-2, 2)
        cov = float(rng.uniform(-0.9, 0.9) * math.sqrt(vx * vy))
        a, b, c, d, e = (np.array([v]) for v in (x, y, vx, vy, cov))
        _, low, high = quotient(a, b, c, d, e, 1.96)
        for m in np.linspace(-1, 1, 81):
            if (x - m * y) ** 2 <= 1.96**2 * (vx - 2 * m * cov + m * m * vy) - 1e-12 and y * y > 1.96**2 * vy:
                assert low[0] - 1e-9 <= m <= high[0] + 1e-9
        if y * y <= 1.96**2 * vy:
            assert (low[0], high[0]) == (-1, 1)


def test_odd_entries_of_a_dict_follow_the_public_rule() -> None:
    protocol = KeyValue(epsilon=80, keys=["a", "b"], bounds=(0, 10))
    client = protocol.client()
    assert {client.report({"a": 99, "z": 1, 5: None})[9] for _ in range(20)} == {1}, "clamped: key 0, sign +"
    assert {client.report({"b": -5})[9] for _ in range(20)} == {2}
    assert {client.report({"b": None})[9] for _ in range(60)} == {2, 3}, "no number is the middle"
    assert {client.report(None)[9] for _ in range(60)} == {4, 5}, "no keys: the dummy"


def test_arrays_refuse_what_a_device_takes() -> None:
    protocol = KeyValue(epsilon=1, keys=["a", "b"], bounds=(0, 10))
    wrong: list[Any] = [
        [{"a": 11}], [{"z": 1}], [{"a": None}], [{"a": True}], [None], "ab", 7, {"a": 1}, [{"a": math.nan}],
        Pairs(np.array([0, 1]), np.array([2]), np.array([0])),
        Pairs(np.array([0, 1]), np.array([0]), np.array([-1])),
    ]  # fmt: skip
    for values in wrong:
        with pytest.raises(ParameterError) as refused:
            protocol.randomize(values)
        assert "11" not in str(refused.value)
    assert len(protocol.randomize([])) == 0


@pytest.mark.parametrize("mechanism", ["pckv-grr", "pckv-ue", "privkvm"])
def test_two_spellings_of_one_key_are_one_on_a_device_and_refused_in_an_array(mechanism: str) -> None:
    """Held twice, a key would be sampled twice as often as `padding` allows: epsilon 1.49 instead of 1."""
    protocol = KeyValue(epsilon=1, keys=["\u00e9", "b"], padding=2, mechanism=mechanism)
    with pytest.raises(ParameterError, match="hold a key twice"):
        protocol.randomize([{"b": 1}, {"\u00e9": 1, "e\u0301": 1}])
    assert len(protocol.randomize([{"e\u0301": 1}, {"\u00e9": 1, "b": 0}])) == 2
    both = pairs.one_person({"\u00e9": 1, "e\u0301": 1}, protocol.keys, protocol.bounds)
    assert both.keys.tolist() == [0]


def test_pairs_that_are_handed_over_are_checked_like_any_others() -> None:
    protocol = KeyValue(epsilon=1, keys=["a", "b", "c"], padding=2)
    whole: Any = np.uint64
    wrong: dict[str, Any] = {
        "twice": [([0, 2], [1, 1], [0, 0]), ([0, 2], [1, 0], [0, 0]), ([0, 1, 3], [2, 0, 0], [0, 0, 0])],
        "starts": [
            ([1, 2], [0, 1], [0, 0]),
            ([0, 2, 1, 2], [0, 1], [0, 0]),
            ([0, 1], [0], [0, 0]),
            ([], [], []),
        ],
    }
    for words, cases in wrong.items():
        for case in cases:
            for dtype in (np.int64, whole):
                given: list[Any] = [np.array(part, dtype) for part in case]
                with pytest.raises(ParameterError, match=words):
                    protocol.randomize(Pairs(*given))
    odds: list[Any] = [np.zeros(2), np.zeros((2, 1), np.int64)]
    for odd in odds:
        with pytest.raises(ParameterError, match="whole numbers"):
            protocol.randomize(Pairs(np.array([0, 2]), odd, np.array([0, 0])))
    right = Pairs(np.array([0, 2, 2, 3], whole), np.array([0, 2, 1], whole), np.array([0, 1, 2], whole))
    assert len(protocol.randomize(right)) == 3


@pytest.mark.parametrize(("held", "odds"), [(1, 1 / 3), (3, 1 / 3), (5, 1 / 5)])
def test_a_pair_is_sampled_as_often_as_padding_says(held: int, odds: float) -> None:
    pairs = Pairs(
        np.arange(0, held * 9001, held), np.tile(np.arange(held), 9000), np.zeros(held * 9000, np.int64)
    )
    keys, _ = sampled(pairs, 3, 7, seeded(8))
    assert abs((keys == 0).sum() - 9000 * odds) < 6.2 * math.sqrt(9000 * odds * (1 - odds))
    dummies = 1 - min(held, 3) / 3
    assert abs((keys >= 7).sum() - 9000 * dummies) <= 6.2 * math.sqrt(9000 * dummies * (1 - dummies))
    assert keys.max() < 10


def test_pairs_in_any_order_are_one_person() -> None:
    protocol = KeyValue(epsilon=80, keys=["a", "b", "c"], padding=2)
    people = [{"c": 1.0, "a": 1.0}] * 4000
    said = np.bincount(protocol.randomize(people, bits=seeded(7)).payload, minlength=8)
    assert said[1] + said[5] == 4000
    assert abs(said[1] - 2000) < 6.2 * math.sqrt(1000)


@pytest.mark.parametrize(
    "wrong",
    [
        {"mechanism": "x"}, {"rounds": 2}, {"rounds": 0}, {"padding": 0}, {"padding": 65}, {"bounds": (1, 0)},
        {"keys": ["a"]}, {"keys": ["a", "a"]}, {"keys": range(70_000)},
    ],
)  # fmt: skip
def test_odd_parameters_of_key_value_are_refused(wrong: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"epsilon": 1, "keys": KEYS} | wrong
    with pytest.raises(ParameterError):
        KeyValue(**arguments)
    with pytest.raises(ParameterError):
        KeyValue(epsilon=1, keys=KEYS).next(KeyValue(epsilon=1, keys=KEYS).collect([{}]))


@pytest.mark.parametrize("mechanism", ["pckv-grr", "pckv-ue", "privkvm"])
@pytest.mark.parametrize("epsilon", ["0.001", 30, 800, 10_000])
def test_extreme_epsilons_give_finite_answers(mechanism: str, epsilon: Any) -> None:
    found = KeyValue(epsilon=epsilon, keys=KEYS, mechanism=mechanism).collect([{"red": 1.0}] * 200)
    assert np.isfinite(np.asarray(found.value)).all()
    assert np.isfinite(np.asarray(found.mean.value)).all()


@pytest.mark.parametrize(
    ("mechanism", "keys", "epsilon", "n"),
    [("pckv-grr", 1000, 4, 1000), ("pckv-grr", 3, 8, 100), ("pckv-ue", 3, 4, 30), ("privkvm", 3, 4, 90)],
)
@pytest.mark.parametrize("held", [False, True], ids=["nobody", "everybody"])
def test_shares_are_held_where_nobody_or_everybody_holds_a_key(
    mechanism: str, keys: int, epsilon: int, n: int, held: bool
) -> None:
    """Of 150 intervals 142 are expected; below 125 has probability below 1e-6."""
    protocol = KeyValue(epsilon=epsilon, keys=range(keys), mechanism=mechanism)
    person: dict[int, float] = {0: 1.0} if held else {}
    bits, hits = seeded(11), np.zeros(keys)
    truth = np.zeros(keys)
    truth[0] = held
    for _ in range(150):
        found = protocol.estimate(protocol.randomize([person] * n, bits=bits))
        hits += (np.asarray(found.low) <= truth) & (truth <= np.asarray(found.high))
        assert (np.asarray(found.standard_error) > 0).all()
    assert hits[0] >= 125
    assert hits[1:].mean() >= 139, "thousands of intervals, or hundreds: .93 of them at the least"


@pytest.mark.parametrize(("mechanism", "epsilon", "n"), [("pckv-grr", 8, 30), ("pckv-ue", 8, 30)])
def test_means_are_held_where_signs_happen_to_be_alike(mechanism: str, epsilon: int, n: int) -> None:
    """Everybody holds 0.9: one sign in twenty is a minus, and often all of 30 are a plus."""
    protocol, bits, hits = KeyValue(epsilon=epsilon, keys=KEYS, mechanism=mechanism), seeded(12), 0
    for _ in range(150):
        mean = protocol.estimate(protocol.randomize([{"red": 0.9}] * n, bits=bits)).mean
        hits += bool(np.asarray(mean.low)[0] <= 0.9 <= np.asarray(mean.high)[0])
    assert hits >= 125


def test_an_interval_of_tosses_is_that_of_its_definition() -> None:
    """Against a search over p, and against the binomial law itself at p near 0."""
    z, n = 1.959964, 40
    slack = 0.5 + (z * z + 2) / 6
    for count in (0, 1, 17, 40):
        low, high = (float(end) for end in drawn(np.array(float(count)), np.array(float(n)), z))
        inside = [
            p
            for p in np.linspace(0, 1, 20_001)
            if abs(count - n * p) <= z * math.sqrt(n * p * (1 - p)) + slack
        ]
        assert (low, high) == pytest.approx((min(inside), max(inside)), abs=1e-4)
    for p in (0.001, 0.01, 0.03, 0.1, 0.5):
        likely = [math.comb(n, count) * p**count * (1 - p) ** (n - count) for count in range(n + 1)]
        ends = drawn(np.arange(n + 1.0), np.full(n + 1, float(n)), z)
        assert sum(np.array(likely)[(ends[0] <= p) & (p <= ends[1])]) >= 0.95
