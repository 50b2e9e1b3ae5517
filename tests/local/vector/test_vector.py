"""`dn.local.Vector` from both ends: odd values, sizes, estimates, merging, mixed epsilon."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import inf, nan, sqrt
from typing import Any, NoReturn

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from deniable.bits import SeededBits
from deniable.errors import ParameterError, ReportError
from deniable.local import Reports, combine
from deniable.local.vector import Vector, reading
from deniable.local.vector.attributes import Attributes

ALPHA = 1e-9
SURE = 1 - Fraction(1, 10**6)
L2, LINF = ({"norm": "l2", "mechanism": "privunit"}, {"norm": "linf", "mechanism": "duchi"})
KINDS: list[dict[str, Any]] = [L2, {"norm": "l2", "mechanism": "privunitg"}, LINF]


class Trap(list):  # type: ignore[type-arg]
    """A list that answers nothing."""

    def __len__(self) -> NoReturn:
        raise RuntimeError

    __iter__ = __getitem__ = __array__ = __repr__ = __len__  # type: ignore[assignment]


ODD: list[Any] = [
    None,
    nan,
    7,
    "a",
    True,
    [],
    [1.0, 2.0],
    [None, "x", nan, True],
    [inf, -inf, 0, 0],
    [1e308] * 4,
    [5e-324] * 4,
    [10**400, -(10**400), 1, 1],
    (Decimal("0.5"), Fraction(1, 3), 1, 0),
    np.zeros((4, 1)),
    np.array(["a", "b", "c", "d"]),
    np.array([1 + 2j] * 4),
    np.array([None, 1, "x", 0.5], dtype=object),
    np.array([True] * 4),
    np.array([1, 2, 3, 4], np.int8),
    {},
    Trap([1, 2, 3, 4]),
    object(),
]

FAINT: list[Any] = [[0.9, 5e-324, 0, 0], [1e300, 1e-200, 1, 0], [inf, 1e-100, 1, 0], [1e-160] * 4]
"""Vectors in which something is lost in rounding."""


def bits(seed: int = 1) -> SeededBits:
    return SeededBits(seed, insecure=True)


def made(epsilon: Any = 1, dimension: int = 4, **kind: Any) -> Vector:
    return Vector(epsilon=epsilon, dimension=dimension, **(kind or L2))


@pytest.mark.parametrize("kind", KINDS)
def test_a_device_sends_one_report_of_one_size_whatever_the_value(kind: dict[str, Any]) -> None:
    vector = made(**kind)
    client = vector.client(bits())
    size = len(client.report([0.1, 0.2, 0.3, 0.4]))
    assert size == 9 + {"privunit": 8, "privunitg": 8, "duchi": 1}[kind["mechanism"]]
    with np.errstate(all="raise"):
        assert [len(client.report(value)) for value in [*ODD, *FAINT]] == [size] * (len(ODD) + len(FAINT))


def test_no_vector_takes_other_bits_than_another() -> None:
    for kind in KINDS:
        taken = []
        for value in (None, [0.0] * 4, [5e-324] * 4, [0.5, 0.5, 0.5, 0.5]):
            source = bits(3)
            made(epsilon="1e-5", **kind).client(source).report(value)  # so small that every proposal is kept
            taken.append(source.uint64(4).tolist())
        assert taken[1:] == taken[:-1]


@pytest.mark.parametrize(
    ("value", "cube", "ball"),
    [
        ([0.5, 0, 0, 0], [0.5, 0, 0, 0], [0.5, 0, 0, 0]),
        ([2, 0, 0, -3], [1, 0, 0, -1], [2 / sqrt(13), 0, 0, -3 / sqrt(13)]),
        ([inf, 0, 0, -inf], [1, 0, 0, -1], [sqrt(0.5), 0, 0, -sqrt(0.5)]),
        ([1e308] * 4, [1, 1, 1, 1], [0.5] * 4),
        ([None, "1", nan, 0.25], [0, 0, 0, 0.25], [0, 0, 0, 0.25]),
        ([True, 10**400, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]),
        (np.array([3, 0, 4, 0], np.uint8), [1, 0, 1, 0], [0.6, 0, 0.8, 0]),
        (np.array([None, 1, "x", 0.5], object), [0, 1, 0, 0.5], [0, 2 / sqrt(5), 0, 1 / sqrt(5)]),
        ([1, 2], [0] * 4, [0] * 4),
        ("abcd", [0] * 4, [0] * 4),
        (np.ones((2, 2)), [0] * 4, [0] * 4),
        ([5e-324, 0, 0, 0], [5e-324, 0, 0, 0], [5e-324, 0, 0, 0]),
    ],
)
def test_odd_values_are_read_by_the_public_rule(value: object, cube: list[float], ball: list[float]) -> None:
    assert reading.one(value, 4, "linf")[0] == pytest.approx(np.array(cube), rel=1e-12, abs=0)
    assert reading.one(value, 4, "l2")[0] == pytest.approx(np.array(ball), rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[1.0, 2.0]], L2),
        ([0.1] * 4, L2),
        ([["a"] * 4], L2),
        ([[0.1, 0.2, nan, 0.3]], L2),
        ([[0.1, 0.2, inf, 0.3]], LINF),
        (np.ma.array([[0.1, 0.2, 0.3, 0.4]], mask=[[False, True, False, False]]), L2),
        ([[0.8765, 0.8, 0.8, 0.8]], L2),
        ([[0.8765, 0.8, 1.1, 0.8]], LINF),
        ([[True] * 4], LINF),
    ],
)
def test_arrays_with_odd_rows_are_refused_without_showing_them(values: Any, kind: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="values") as refused:
        made(**kind).randomize(values)
    assert "0.8765" not in str(refused.value)


@pytest.mark.parametrize("kind", KINDS)
def test_an_estimate_is_right_and_merges(kind: dict[str, Any]) -> None:
    vector, n = made(2, 6, **kind), 30_000
    values = np.random.default_rng(2).uniform(-0.4, 0.4, size=(n, 6))
    reports = vector.randomize(values, bits=bits())
    whole = vector.estimate(reports)
    assert np.abs((whole.value - values.mean(axis=0)) / whole.standard_error).max() < 6.5
    assert np.abs((whole.value - values.mean(axis=0) - 0.2) / whole.standard_error).max() > 6.5
    parts = vector.aggregate(reports[:999]) + vector.aggregate(reports[999:])
    assert np.array_equal(parts.estimate().value, whole.value)
    assert np.array_equal(parts.estimate().standard_error, whole.standard_error)
    assert parts.n == whole.n == n
    assert vector.decode(reports).mean(axis=0) == pytest.approx(whole.value, abs=1e-9)
    assert whole.standard_error == pytest.approx(
        np.sqrt(vector.error().variance_at(values.mean(axis=0)) / n), rel=0.2
    )


@pytest.mark.parametrize("kind", KINDS)
def test_reports_survive_bytes_and_lines_and_other_parameters_are_refused(kind: dict[str, Any]) -> None:
    vector, other = made(**kind), made("1.5", **kind)
    reports = vector.randomize(np.zeros((5, 4)), bits=bits())
    data = b"".join([reports.to_bytes(), vector.client(bits()).report([0.1] * 4)])
    assert (vector.read(data)[:5].payload == reports.payload).all()
    scheme = vector.scheme
    lines = Reports.from_json_lines(reports.to_json_lines(), vector.parameters, scheme.dtype, scheme.width)
    assert (lines.payload == reports.payload).all()
    with pytest.raises(ReportError, match="parameters"):
        other.read(data)
    with pytest.raises(ReportError, match="epsilon"):
        other.aggregate(reports)
    with pytest.raises(ReportError):
        vector.aggregate(Reports(vector.parameters, reports.payload[:, :-1]))


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_cover_as_often_as_they_say(kind: dict[str, Any]) -> None:
    """30 surveys of 400 people, 40 coordinates each; 94 % is refuted only if they cover less."""
    vector, rounds = made(1, 40, **kind), 30
    hits = 0
    for seed in range(rounds):
        values = np.random.default_rng(seed).uniform(-0.15, 0.15, size=(400, 40))
        found = vector.estimate(vector.randomize(values, bits=bits(seed)))
        truth = values.mean(axis=0)
        hits += int(((np.asarray(found.low) <= truth) & (truth <= np.asarray(found.high))).sum())
    total = rounds * 40
    assert binom.cdf(hits, total, 0.94) > ALPHA
    assert binom.sf(hits - 1, total, 0.97) > ALPHA


def test_few_reports_get_the_widest_interval() -> None:
    vector = made(1, 10)
    single = vector.estimate(vector.randomize(np.zeros((1, 10)), bits=bits()))
    assert single.standard_error == pytest.approx(sqrt(vector.error().worst_variance))
    with pytest.raises(ParameterError, match="no reports"):
        vector.estimate(vector.randomize(np.zeros((0, 10)), bits=bits()))


def test_epsilon_may_differ_and_may_depend_on_the_value() -> None:
    """Half the people (+0.5) choose epsilon 4, the others (-0.5) 1/2."""
    n, bold, shy = 100_000, made(4), made("1/2")
    up = bold.aggregate(bold.randomize(np.tile([0.5, 0, 0, 0], (n, 1)), bits=bits(1)))
    down = shy.aggregate(shy.randomize(np.tile([-0.5, 0, 0, 0], (n, 1)), bits=bits(2)))
    fair = combine([up, down], weights="population")
    assert np.abs(np.asarray(fair.value) / fair.standard_error).max() < 6.5
    weighted = combine([up, down])
    assert np.asarray(weighted.value)[0] > 0.4
    assert any("independently" in note for note in weighted.notes)


def test_what_it_costs_and_promises_is_said() -> None:
    vector = made(1, 90)
    assert vector.event == dn.events.PureDP(epsilon=1)
    assert "90 dimensions" in vector.statement
    assert "2.72-fold" in vector.statement
    assert repr(vector) == 'Vector(epsilon=1, dimension=90, norm="l2", mechanism="privunit")'


def test_the_choice_is_public_and_by_size() -> None:
    assert made(1, 1024, norm="l2").scheme.name == "privunit"
    assert made(1, 1025, norm="l2").scheme.name == "privunitg"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"dimension": 1, "norm": "l2"}, "dimension"),
        ({"dimension": 65_537, "norm": "l2"}, "dimension"),
        ({"dimension": 2.0, "norm": "l2"}, "dimension"),
        ({"dimension": 4, "norm": "l1"}, "norm"),
        ({"dimension": 4, "norm": "l2", "mechanism": "duchi"}, "mechanism"),
        ({"dimension": 4, "norm": "linf", "mechanism": "privunit"}, "mechanism"),
        ({"dimension": 4, "norm": "l2", "k": 2}, "k"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(ParameterError, match=named):
        Vector(epsilon=1, **arguments)


def test_an_audit_sees_no_more_than_was_promised_and_sees_a_smaller_claim_broken() -> None:
    vector = made(2, 3)

    def run(value: Any, n: int, bits: SeededBits) -> Any:
        return vector.decode(vector.randomize(np.tile(value, (n, 1)), bits=bits))

    ends = np.array([1.0, 0, 0]), np.array([-1.0, 0, 0])
    asked: dict[str, Any] = {
        "trials": 40_000,
        "confidence": SURE,
        "batch": 40_000,
        "seed": 4,
    }
    assert dn.audit.sampled(run, *ends, epsilon=2, **asked).word == "not violated"
    assert dn.audit.sampled(run, *ends, epsilon="1.5", **asked).word == "violated"


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "people", "value"),
    [
        ("harmony", 8, 400, 1.0),
        ("harmony", 8, 400, 0.98),
        ("sampling", 8, 200, 1.0),
        ("duchi", 8, 200, 1.0),
        ("harmony", 12, 2000, -1.0),
        ("harmony", 12, 100_000, 0.99994),
    ],
)
def test_intervals_hold_where_reports_are_alike_since_everybody_is_at_an_end(
    mechanism: Any, epsilon: int, people: int, value: float
) -> None:
    """Of 300 intervals (150 runs, two coordinates) 285 are expected; below 262 has probability below 1e-4."""
    vector = Vector(epsilon=epsilon, dimension=2, norm="linf", mechanism=mechanism)
    rows, bits, held = np.full((people, 2), value), dn.SeededBits(5, insecure=True), 0
    for _ in range(150):
        found = vector.estimate(vector.randomize(rows, bits=bits))
        held += int(((np.asarray(found.low) <= value) & (value <= np.asarray(found.high))).sum())
    assert held >= 262


def test_the_second_moment_lies_between_the_bounds_that_the_estimate_uses() -> None:
    """Against averages over people of the variance that each mechanism states for a value."""
    rng = np.random.default_rng(2)
    for norm, mechanism in (("linf", "harmony"), ("linf", "sampling"), ("linf", "duchi"), ("l2", "privunit")):
        vector = Vector(epsilon=3, dimension=2, norm=norm, mechanism=mechanism)  # type: ignore[arg-type]
        share = vector.scheme.k / 2 if isinstance(vector.scheme, Attributes) else 1.0
        for _ in range(20):
            people = rng.choice([-1.0, 0.3, 1.0, rng.uniform(-1, 1)], (5, 2))
            if norm == "l2":
                people /= np.maximum(np.sqrt((people**2).sum(axis=1, keepdims=True)), 1e-9)
            seconds = [(vector.error().variance_at(one) + one**2) * share for one in people]
            least, _ = vector.scheme.seconds(people.mean(axis=0))
            assert (least - 1e-9 <= np.mean(seconds, axis=0)).all()
            for one, second in zip(people, seconds, strict=True):
                assert (second <= vector.scheme.seconds(one)[1] + 1e-9).all()


def test_what_is_printed_tells_protocols_apart() -> None:
    shown = {
        repr(
            made(**LINF, epsilon=4, dimension=9)
            if k is None
            else Vector(epsilon=4, dimension=9, norm="linf", mechanism="sampling", k=k, mean=mean)
        )
        for k, mean in ((None, ""), (1, "optimal"), (2, "optimal"), (2, "duchi"))
    }
    assert len(shown) == 4
    assert 'Vector(epsilon=4, dimension=9, norm="linf", mechanism="sampling", k=2, mean="duchi")' in shown
