"""What collects from people who trust nobody, as subjects of the audit: one function for each area."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from deniable import events, learn, local
from deniable.audit.subjects import BlackBox, Known, Subject
from deniable.bits import Bits
from deniable.guarantees import PureDP
from deniable.learn.losses import clipped, gradients
from deniable.learn.plan import planned
from deniable.local import telemetry
from deniable.local.frequency.choice import NAMES, Name
from deniable.local.mean.laplace import Noise

_MANY, _BATCH = 30, 15_000


def collected() -> list[Subject]:
    """Return the protocols of `local` and `learn` as subjects; each area has a function of its own."""
    parts: tuple[Iterator[Subject], ...] = (_mean(), _frequency(), _vectors(), _telemetry(), _learning())
    return [subject for part in parts for subject in part]


def _mean() -> Iterator[Subject]:
    """Yield integer tables, windows on a grid (some of their rows), Laplace noise, and reports as drawn."""
    tables = {
        "optimal": local.Mean(epsilon=1, bounds=(0, 10)),
        "optimal, epsilon 4": local.Mean(epsilon=4, bounds=(0, 10)),
        "optimal for a uniform prior": local.Mean(epsilon=1, bounds=(0, 10), objective="uniform"),
        "duchi": local.Mean(epsilon=1, bounds=(0, 10), mechanism="duchi"),
        "piecewise": local.Mean(epsilon=1, bounds=(0, 10), mechanism="piecewise"),
        "hybrid": local.Mean(epsilon=1, bounds=(0, 10), mechanism="hybrid"),
        "classified": local.Mean(epsilon=1, bounds=(0, 10), mechanism="classified"),
    }
    for name, mean in tables.items():
        rows = mean.inputs()
        some = rows if len(rows) < 100 else [rows[len(rows) * k // 8] for k in range(8)] + [rows[-1]]
        yield Known(f"Mean, {name}", mean.event, mean.probabilities, some)
    noisy = local.Mean(epsilon=1, bounds=(0, 10), mechanism="laplace")
    assert isinstance(noisy.law, Noise)
    steps = 2 * Fraction(1 << noisy.law.fine)
    yield Known(
        "Mean, laplace", noisy.event, events.DiscreteLaplace(scale=noisy.law.scale, sensitivity=steps)
    )

    def reports(value: float, n: int, bits: Bits) -> list[int]:
        drawn: list[int] = tables["optimal"].randomize([value] * n, bits=bits).payload.tolist()
        return drawn

    yield BlackBox("Mean, reports", tables["optimal"].event, reports, 0.0, 10.0, batch=20_000, times=10)


def _frequency() -> Iterator[Subject]:
    """Yield every protocol for shares with few items, some with many, and a device from end to end."""
    for mechanism in NAMES:
        few = local.Frequency(epsilon=1, domain=range(6), mechanism=mechanism)
        yield Known(f"Frequency, {mechanism}", few.event, few.probabilities, few.inputs())
    large: dict[Name, int] = {"subset": 23, "projective": 100, "hadamard": 100, "response": 1000}
    for mechanism, items in large.items():
        many = local.Frequency(epsilon=2, domain=range(items), mechanism=mechanism)
        yield Known(f"Frequency, {mechanism} of {items:,}", many.event, many.probabilities, many.inputs())
    short = local.Frequency(epsilon=2, domain=range(20), report_bytes=1)

    def device(value: object, bits: Bits) -> bytes:
        return short.client(bits=bits).report(value)[9:]

    yield BlackBox("Frequency, a device", short.event, device, 0, "no item", times=10)


def _vectors() -> Iterator[Subject]:
    """Yield corners and sampled entries by enumeration; directions by drawing, from arrays and devices."""
    cube: dict[str, dict[str, Any]] = {
        "Harmony": {"dimension": 3, "mechanism": "harmony"},
        "2 of 3 entries": {"dimension": 3, "mechanism": "sampling", "k": 2, "mean": "duchi"},
        "1 of 2 entries": {"dimension": 2, "mechanism": "sampling", "k": 1},
        "corners, 3 dimensions": {"dimension": 3, "mechanism": "duchi"},
        "corners, 4 dimensions": {"dimension": 4, "mechanism": "duchi"},
    }
    for name, words in cube.items():
        vector = local.Vector(epsilon=1, norm="linf", **words)
        inputs = list(product((-1.0, 0.0, 1.0), repeat=vector.dimension))
        yield Known(f"Vector, {name}", vector.event, vector.probabilities, inputs)
    ball = local.Vector(epsilon=2, dimension=3, norm="l2", mechanism="privunit")
    flat = local.Vector(epsilon=2, dimension=3, norm="l2", mechanism="privunitg")
    for vector in (ball, flat):
        first, second, *_ = vector.inputs()
        run, name = partial(_decoded, vector), f"Vector, {vector.scheme.name}"
        yield BlackBox(name, vector.event, run, first, second, _BATCH, _MANY)

    def sent(value: object, bits: Bits) -> tuple[float, ...]:
        return tuple(ball.decode(ball.read(ball.client(bits).report(value)))[0].tolist())

    yield BlackBox("Vector, an odd value on a device", ball.event, sent, None, [1.0, 0.0, 0.0], times=3)


def _decoded(vector: local.Vector, value: Any, n: int, bits: Bits) -> Any:
    return vector.decode(vector.randomize(np.tile(value, (n, 1)), bits=bits))


def _telemetry() -> Iterator[Subject]:
    """Yield what is remembered, what has keys, what has a shape, and texts without a list."""
    rappor = telemetry.RAPPOR(epsilon=2, bits=8, hashes=2, cohorts=2)
    yield Known("RAPPOR, one report", rappor.event, rappor.probabilities, rappor.inputs())
    yield Known("RAPPOR, for ever", rappor.permanent, rappor.answers, rappor.inputs())
    one = telemetry.OneBitMean(epsilon=1, bounds=(0, 10), segments=2)
    yield Known("1BitMean", one.event, one.probabilities, one.inputs())
    few = telemetry.DBitFlip(epsilon=1, domain=range(6), bits=3)
    yield Known("dBitFlip", few.event, few.probabilities, few.inputs())
    shape = local.Distribution(epsilon=1, bounds=(0, 1), buckets=32)
    yield Known("Square Wave", shape.event, shape.probabilities, shape.inputs())
    for mechanism, padding in (("pckv-grr", 2), ("pckv-ue", 2), ("privkvm", 1)):
        pairs = local.KeyValue(epsilon=2, keys=["a", "b"], mechanism=mechanism, padding=padding)
        yield Known(f"KeyValue, {mechanism}", pairs.event, pairs.probabilities, pairs.inputs())
    texts = local.HeavyHitters(epsilon=2, length=1, step=1, cells=2)
    yield Known("HeavyHitters", texts.event, texts.probabilities, texts.inputs())

    def week(value: str, bits: Bits) -> bytes:
        client = rappor.client(bits=bits)
        return b"".join(client.report(value)[9:] for _ in range(7))

    first, second = rappor.inputs()
    yield BlackBox("RAPPOR, a week of reports", rappor.permanent, week, first, second, times=4)

    def both(value: float, bits: Bits) -> bytes:
        client = one.client(bits=bits)
        return b"".join(client.report(given)[9:] for given in (value, 5.0, value))

    yield BlackBox("1BitMean, two that change alike", one.permanent, both, 0.0, 10.0, times=10)
    blurred = telemetry.OneBitMean(epsilon=1, bounds=(0, 10), flips="0.25")
    assert blurred.day is not None

    def moving(value: float, bits: Bits) -> bytes:
        client = blurred.client(bits=bits)
        return b"".join(client.report(given)[9:] for given in (0.0, value, 0.0))

    yield BlackBox("1BitMean, a day of flipped bits", blurred.day, moving, 0.0, 10.0, times=10)


def _learning() -> Iterator[Subject]:
    """Yield a clipped gradient by enumeration; a device, a training and products of pairs by drawing."""
    exactly = planned(
        people=10, attributes=1, epsilon=1, loss="squared", norm="linf", mechanism="duchi", clip="0.5"
    )
    weights = np.array([0.5, -1.0])

    def law(person: tuple[float, float]) -> Any:
        rows = exactly.completed(np.array([[person[0]]]))
        steps = gradients("squared", weights, rows, np.array([person[1]]))
        return exactly.vector.probabilities(clipped(steps, norm="linf", clip=exactly.clip)[0])

    people = list(product((-1e9, -1.0, 0.25, 1.0), (-1e9, -1.0, 0.0, 1e9)))
    yield Known("learn, a clipped gradient", exactly.event, law, people)
    plan = planned(people=10, attributes=2, epsilon=1, loss="hinge", batch=1)

    def device(target: object, bits: Bits) -> tuple[float, ...]:
        current = learn.Round(0, (0.5, -0.5, 0.0))
        sent = learn.Client(plan, bits).report(current, [1.0, -1.0], target)
        return tuple(plan.vector.decode(plan.vector.read(sent))[0].tolist())

    yield BlackBox("learn, a device", plan.event, device, 1, None, times=3)

    def training(target: float) -> list[float]:
        features, targets = np.array([[1.0], [-1.0]]), np.array([target, 0.5])
        model = learn.LinearRegression(epsilon=1, batch=1, step=1, averaging="last").fit(features, targets)
        return [float(model.coef_[0]), model.intercept_]

    yield BlackBox("learn, a whole training", PureDP(epsilon=1), training, -1.0, 1.0)

    def products(target: float) -> float:
        features, targets = np.ones((2, 1)), np.array([target, 0.0])
        model = learn.LinearRegression(epsilon=1, solver="statistics").fit(features, targets)
        return float(model.coef_[0])

    yield BlackBox("learn, products of pairs", PureDP(epsilon=1), products, -1.0, 1.0)
