"""What each witness sees: one pair of outcomes that only it can tell apart, and plain forms of outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from deniable.audit import sampled
from deniable.audit.outcomes import Raised, Rows, Runner, plain
from deniable.audit.witnesses import bits, endings
from deniable.bits import SystemBits
from deniable.errors import ParameterError

SEED = 11
RANDOM = np.random.default_rng(SEED)
Batch = Callable[[int, int], Any]


@pytest.fixture(autouse=True)
def _same_dice_for_every_test() -> None:
    RANDOM.bit_generator.state = np.random.default_rng(SEED).bit_generator.state


def seen(run: Batch, trials: int = 2000) -> tuple[float, str]:
    """The bound on epsilon that an audit of a batch function reaches, and its witness."""
    evidence = sampled(run, 0, 1, trials=trials, confidence=0.95, batch=trials).evidence
    assert evidence is not None
    return evidence.epsilon, evidence.witness


def chance(n: int, p: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return RANDOM.random(n) < p


def test_thresholds_see_a_shift() -> None:
    epsilon, witness = seen(lambda value, n: value + RANDOM.integers(0, 4, n) / 2)
    assert epsilon > 2
    assert witness.startswith("output ")


def test_intervals_see_a_bump_in_the_middle() -> None:
    def run(value: int, n: int) -> Any:
        wide = RANDOM.integers(-40, 41, n) / 8
        return np.where(chance(n, 0.5 * value), RANDOM.integers(-2, 3, n) / 8, wide)

    assert seen(run)[0] > 1


def test_a_histogram_sees_many_bumps() -> None:
    def run(value: int, n: int) -> Any:
        cell = 2 * RANDOM.integers(0, 4, n) + value  # even cells for 0, odd ones for 1
        return cell + np.round(RANDOM.random(n), 12)

    epsilon, witness = seen(run, 4000)
    assert epsilon > 2
    assert "bins" in witness


def test_a_classifier_sees_what_no_coordinate_shows() -> None:
    def run(value: int, n: int) -> Any:
        return value / 2 + RANDOM.normal(size=(n, 20)).round(3)

    epsilon, witness = seen(run)
    assert epsilon > 1.5
    assert "classifier" in witness or "sum" in witness


def test_bit_patterns_see_which_doubles_occur() -> None:
    def run(value: int, n: int) -> Any:
        coarse = RANDOM.integers(0, 1 << 20, n) / (1 << 20)
        fine = coarse + RANDOM.integers(0, 2, n) * 2.0**-50
        return fine if value else coarse

    epsilon, witness = seen(run)
    assert epsilon > 3
    assert "binary exponent" in witness


def test_the_sign_of_zero_is_seen() -> None:
    def run(value: int, n: int) -> Any:
        zero = -0.0 if value else 0.0
        return np.where(chance(n, 0.3), zero, 0.25)

    assert seen(run)[0] > 3


def test_supports_are_seen() -> None:
    def run(value: int, n: int) -> Any:
        words = [f"word {i}" for i in range(8)]
        return [words[2 * int(i) + value] for i in RANDOM.integers(0, 4, n)]

    assert seen(run)[0] > 3


def test_sets_and_tables_are_seen_by_key_and_by_number() -> None:
    def sets(value: int, n: int) -> Any:
        return [{"red", "blue"} if value and lucky else {"red"} for lucky in chance(n, 0.5)]

    def tables(value: int, n: int) -> Any:
        return [
            pa.table({"colour": ["red", "blue"], "people": [10 + int(noise), 4 * value + int(noise)]})
            for noise in RANDOM.integers(0, 6, n)
        ]

    epsilon, witness = seen(sets)
    assert epsilon > 3
    assert "blue" in witness or "length" in witness
    epsilon, witness = seen(tables, 600)
    assert epsilon > 1
    assert "people" in witness or "classifier" in witness


def test_lengths_are_seen() -> None:
    epsilon, witness = seen(lambda value, n: ["x" * int(7 + value + i) for i in RANDOM.integers(0, 9, n)])
    assert epsilon > 2
    assert "length" in witness or "bins" in witness or "only" in witness


@pytest.mark.parametrize("odd", ["silence", "error", "NaN"])
def test_silence_errors_and_what_is_no_number_are_outcomes(odd: str) -> None:
    def run(value: int) -> Any:
        if value and RANDOM.random() < 0.2:
            if odd == "error":
                raise ValueError("no such key")
            return None if odd == "silence" else float("nan")
        return int(RANDOM.integers(0, 4))

    found = sampled(run, 0, 1, trials=2000, confidence=0.95, epsilon=2)
    assert found.word == "violated"


def test_the_message_of_an_error_is_part_of_the_outcome() -> None:
    def run(value: int) -> Any:
        raise ValueError(f"cannot read {value + int(RANDOM.integers(0, 2))}")

    found = sampled(run, 0, 2, trials=400, confidence=0.95, epsilon=2)
    assert found.word == "violated"


def test_no_witness_tells_equal_laws_apart() -> None:
    def run(_: int, n: int) -> Any:
        return [Rows({("a",): (float(x), float(y))}) for x, y in RANDOM.integers(0, 50, (n, 2))]

    assert seen(run)[0] < 0.5


# Forms


@pytest.mark.parametrize(
    ("given", "form"),
    [
        (3, 3),
        (np.int64(3), 3),
        (np.array([1, 2]), (1.0, 2.0)),
        ([1, 2.5], (1.0, 2.5)),
        (None, None),
        ("text", "text"),
        ({"a", "b"}, Rows({"a": (), "b": ()})),
        ({"a": 1, "b": [2, 3]}, Rows({("a",): (1.0,), ("b",): (2.0, 3.0)})),
        ({"a": "x"}, Rows({("a", "x"): ()})),
        ([{"k": "a", "n": 1}, {"k": "a", "n": 2}], Rows({("a",): (1.0,), ("a", "again"): (2.0,)})),
        (pa.table({"k": ["a"], "n": [1]}), Rows({("a",): (1.0,)})),
        (pd.DataFrame({"k": ["a"], "n": [1]}), Rows({("a",): (1.0,)})),
        (object, "<class 'object'>"),
    ],
)
def test_outcomes_become_plain(given: object, form: object) -> None:
    assert plain(given) == form


def test_columns_keep_their_names() -> None:
    found = plain(pa.table({"k": ["a"], "n": [1], "m": [2.5]}))
    assert isinstance(found, Rows)
    assert found.columns == ("n", "m")


def test_an_error_is_caught_but_not_an_interrupt() -> None:
    def run(given: BaseException) -> object:
        raise given

    runner = Runner(run, None, SystemBits())
    assert runner(KeyError("x"), 2) == [Raised("KeyError", "'x'")] * 2
    with pytest.raises(KeyboardInterrupt):
        runner(KeyboardInterrupt(), 1)


def test_a_batch_of_the_wrong_length_is_refused() -> None:
    runner = Runner(lambda _, n: [0] * (n - 1), 10, SystemBits())
    with pytest.raises(ParameterError, match="must return 10 outcomes"):
        runner(0, 10)


def test_a_large_request_is_run_in_batches_and_joined() -> None:
    asked: list[int] = []

    def run(_: object, n: int) -> Any:
        asked.append(n)
        return np.arange(n)

    assert len(Runner(run, 10, SystemBits())(0, 25)) == 25
    assert asked == [10, 10, 5]


def test_the_exponent_of_the_last_bit_is_that_of_an_odd_multiple() -> None:
    values = np.array([1.0, 3.0, 0.5, 6.0, 0.1, 0.0, -0.75, np.inf, np.nan, 5e-324])
    found = bits.exponent_of_last_bit(values)
    expected = []
    for value in values.tolist():
        if not np.isfinite(value):
            expected.append(np.nan)
        elif value == 0:
            expected.append(2000.0)
        else:
            top, bottom = float(value).as_integer_ratio()
            twos = (abs(top) & -abs(top)).bit_length() - 1
            expected.append(float(twos - (bottom.bit_length() - 1)))
    np.testing.assert_array_equal(found, expected)


def test_endings_are_named() -> None:
    outcomes: Sequence[object] = [None, Raised("ValueError", "no"), 1, float("nan"), "x", Rows()]
    assert [endings.ending(one) for one in outcomes] == [
        "nothing",
        "the error ValueError: no",
        "a number",
        "NaN",
        "a text",
        "a table",
    ]
