"""Square Wave: its law, its estimates, and intervals that hold for any distribution."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.bits import SeededBits
from deniable.brackets import exponential
from deniable.errors import ParameterError
from deniable.local import Distribution
from deniable.local.deconvolution import Functional, maximised
from deniable.local.mean.intervals import FEW

ALPHA = 1e-9


def published(epsilon: float) -> tuple[float, float, float]:
    """The half-width and the two densities of Li et al. 2020, section 4."""
    e = math.exp(epsilon)
    b = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    return b, e / (2 * b * e + 1), 1 / (2 * b * e + 1)


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
def test_the_table_is_the_published_density_on_a_fine_grid(epsilon: float) -> None:
    found = Distribution(epsilon=epsilon, bounds=(0, 1), buckets=512)
    b, high, low = published(epsilon)
    assert abs(found.reach / 512 - b) < 1 / 512
    row = found.probabilities(0.5)
    assert float(max(row.values())) * 512 == pytest.approx(high, rel=0.03)
    assert float(min(row.values())) * 512 == pytest.approx(low, rel=0.03)
    near = [report for report, p in row.items() if p == max(row.values())]
    assert near == list(range(256, 256 + 2 * found.reach + 1))


@pytest.mark.parametrize("epsilon", ["1e-5", "0.1", "1", "ln 3", "5", "20", "800", "1e4"])
def test_every_column_keeps_epsilon_and_nearly_uses_it(epsilon: str) -> None:
    found = Distribution(epsilon=epsilon, bounds=(-1, 1), buckets=16)
    ratio = found.table.ratio()
    assert ratio <= exponential(min(found.epsilon, Fraction(100)))[1]
    if found.epsilon < 10:
        assert float(ratio) > 1 + (math.exp(float(found.epsilon)) - 1) * 0.999


def test_expectation_maximisation_agrees_with_the_plain_loop() -> None:
    law = np.array(Distribution(epsilon=2, bounds=(0, 1), buckets=4).table.entries, float).T / 2**32
    counts = np.array([5, 9, 30, 21, 14, 3, 8, 1, 2, 4, 6, 7][: len(law)] + [3] * max(0, len(law) - 12))
    shares = [0.25] * 4
    for _ in range(40):
        fitted = [sum(law[j][i] * shares[i] for i in range(4)) for j in range(len(law))]
        raised = [
            shares[i] * sum(counts[j] / counts.sum() * law[j][i] / fitted[j] for j in range(len(law)))
            for i in range(4)
        ]
        smooth = [(raised[max(i - 1, 0)] + 2 * raised[i] + raised[min(i + 1, 3)]) / 4 for i in range(4)]
        shares = [share / sum(smooth) for share in smooth]
    assert maximised(law, counts, smooth=True, stop=0) == pytest.approx(shares, abs=1e-6)


def test_weights_of_a_question_are_unbiased_in_every_bucket() -> None:
    law = np.array(Distribution(epsilon=1, bounds=(0, 1), buckets=32).table.entries, float).T / 2**32
    asked = np.stack([np.arange(32) ** 2.0, np.arange(32) < 7.0], axis=1)
    found = Functional.of(law, asked)
    assert law.T @ found.weights == pytest.approx(asked, abs=1e-6)
    exact = law.T @ found.weights**2 - 2 * asked * (law.T @ found.weights) + asked**2
    assert found.variance() == pytest.approx(exact, rel=1e-6)


def spiky(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return np.where(rng.random(n) < 0.5, 3.9, 10 * rng.random(n))


def test_intervals_hold_for_a_spike_that_smoothing_would_hide() -> None:
    """At least 95 % of each; 60 runs of which fewer than 49 hold have probability below 1e-5 at 95 %."""
    protocol = Distribution(epsilon=1, bounds=(0, 10), buckets=64)
    rng, hits = np.random.default_rng(5), np.zeros(4)
    for run in range(60):
        values = spiky(rng, 5000)
        found = protocol.estimate(protocol.randomize(values, bits=SeededBits(run, insecure=True)))
        middle, upper = found.quantile("0.5"), found.quantile("0.9")
        true = np.histogram(values, 64, (0, 10))[0] / len(values)
        hits += [
            found.mean.low <= values.mean() <= found.mean.high,
            middle.low <= np.quantile(values, 0.5) <= middle.high,
            upper.low <= np.quantile(values, 0.9) <= upper.high,
            bool(np.asarray(found.low)[24] <= true[24] <= np.asarray(found.high)[24]),
        ]
    assert (hits >= 49).all()


def test_a_quantile_of_people_who_all_say_one_number_is_held() -> None:
    """40 runs of which fewer than 31 hold have probability below 1e-5 at 95 %."""
    protocol, hits = Distribution(epsilon=1, bounds=(0, 1)), np.zeros(2)
    for run in range(40):
        reports = protocol.randomize(np.full(20_000, 0.3711), bits=SeededBits(run, insecure=True))
        found = protocol.estimate(reports)
        held = [found.quantile(q) for q in ("0.25", "0.75")]
        hits += [float(one.low) <= 0.3711 <= float(one.high) for one in held]
    assert (hits >= 31).all()


def test_intervals_are_not_wider_than_their_use() -> None:
    values = np.random.default_rng(1).beta(2, 5, 200_000)
    protocol = Distribution(epsilon=1, bounds=(0, 1))
    found = protocol.estimate(protocol.randomize(values, bits=SeededBits(3, insecure=True)))
    middle = found.quantile("0.5")
    assert float(middle.high) - float(middle.low) < 0.15
    assert abs(float(middle.value) - float(np.median(values))) < 0.02
    assert float(found.mean.high) - float(found.mean.low) < 0.02
    assert np.abs(np.cumsum(found.value) - np.histogram(values, 256, (0, 1))[0].cumsum() / 2e5).mean() < 0.01
    assert float(np.sum(found.value)) == pytest.approx(1)


def test_the_error_before_data_is_the_spread_of_the_mean_after() -> None:
    protocol = Distribution(epsilon=1, bounds=(0, 10), buckets=32)
    n, means = 2000, []
    for seed in range(200):
        reports = protocol.randomize(np.zeros(n), bits=SeededBits(seed, insecure=True))
        means.append(float(protocol.estimate(reports).mean.value))
    worst = protocol.error() / n
    assert np.var(means) < 1.5 * worst
    assert np.mean(means) == pytest.approx(10 / 64, abs=6 * math.sqrt(worst / 200))


def test_a_device_clamps_what_an_array_refuses() -> None:
    protocol = Distribution(epsilon=2000, bounds=(0, 10), buckets=10)
    client = protocol.client()
    for value, bucket in (
        (-7, 0),
        (0, 0),
        (9.99, 9),
        (10, 9),
        (1e300, 9),
        (None, 5),
        ("4", 5),
        (math.nan, 5),
    ):
        assert client.report(value)[9] == bucket
    refused_values: list[Any] = [[math.nan], [11], [-0.1], ["a"], [[1]], [None], [True]]
    for values in refused_values:
        with pytest.raises(ParameterError) as refused:
            protocol.randomize(values)
        assert "11" not in str(refused.value)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("bounds", (1, 1)),
        ("bounds", (0, math.inf)),
        ("bounds", 3),
        ("buckets", 1),
        ("buckets", 513),
        ("method", "x"),
    ],
)
def test_odd_parameters_are_refused_by_name(argument: str, value: object) -> None:
    arguments: dict[str, object] = {"bounds": (0, 1), argument: value}
    with pytest.raises(ParameterError) as refused:
        Distribution(epsilon=1, **arguments)  # type: ignore[arg-type]
    assert refused.value.argument == argument


@pytest.mark.parametrize(("epsilon", "n"), [(4, 10), (8, 10), (8, 300)])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_the_mean_is_held_where_everybody_is_at_an_end(epsilon: int, n: int, value: float) -> None:
    """Of 150 intervals 142 are expected; below 125 has probability below 1e-6."""
    protocol, bits = Distribution(epsilon=epsilon, bounds=(0, 1), buckets=64), SeededBits(6, insecure=True)
    hits, shares, bucket = 0, 0, int(value * 63)
    for _ in range(150):
        found = protocol.estimate(protocol.randomize(np.full(n, value), bits=bits))
        hits += bool(found.mean.low <= value <= found.mean.high)
        shares += bool(np.asarray(found.low)[bucket] <= 1 <= np.asarray(found.high)[bucket])
        assert (FEW in found.notes) == (FEW in found.mean.notes) == (n < 100)
    assert min(hits, shares) >= 125


def test_terms_that_are_alike_have_an_error_of_the_law() -> None:
    """Ten reports of one kind: what was seen has no spread; the law has, for every bucket."""
    protocol = Distribution(epsilon=4, bounds=(0, 1), buckets=16)
    law = np.array([[float(p) for p in protocol.probabilities(at).values()] for at in protocol.inputs()]).T
    asked = Functional.of(law, np.arange(16.0)[:, None])
    for n in (10, 100_000):
        counts = np.zeros(len(law), np.int64)
        counts[0] = n
        _, error = asked.estimate(counts)
        terms = [
            law[:, at] @ asked.weights[:, 0] ** 2 - (law[:, at] @ asked.weights[:, 0]) ** 2
            for at in range(16)
        ]
        assert min(terms) - 1e-9 <= error[0] ** 2 * n <= max(terms) + 1e-9
