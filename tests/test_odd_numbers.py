"""Whatever is given for a number, the answer is a value or an error of the package's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deniable as dn
from deniable import events
from deniable.errors import DeniableError, ParameterError, _shown
from deniable.exact import exact, text, written

HUGE = 10**5000
ODD = {
    "huge": HUGE, "-huge": -HUGE, "1e-9999": "1e-9999", "Decimal": Decimal("1e-5000"), "nan": math.nan,
    "inf": math.inf, "True": True, "None": None, "list": [], "bytes": b"1", "least float": 5e-324,
    "1e300": 1e300, "ratio": Fraction(1, HUGE), "10**1200": 10**1200, "1e-1200": "1e-1200",
}  # fmt: skip
TABLE = pa.table({"person": ["a"], "colour": ["red"], "spend": [1.0]})
SURVEY = dn.protect(TABLE, unit="person")
GROUPS = SURVEY.group_by("colour").aggregate(n=dn.units())
TOTAL = SURVEY.aggregate(n=dn.units(), s=dn.sum("spend", bounds=(0, 1), max_rows=1))
GAUSSIAN = events.Gaussian(sigma=1)
MANY = dn.account([events.PureDP(epsilon=1)] * 3)
Call = Callable[..., object]

CALLS: dict[str, Call] = {
    "protect population": lambda v: dn.protect(TABLE, unit="person", population=v),
    "group_by max_groups": lambda v: SURVEY.group_by("colour", max_groups=v),
    "group_by max_keys": lambda v: SURVEY.group_by("colour", max_keys=v),
    "count max_rows": lambda v: dn.count(max_rows=v),
    "sum bounds": lambda v: dn.sum("spend", bounds=v),
    "sum bounds[0]": lambda v: dn.sum("spend", bounds=(v, 1)),
    "mean bounds[1]": lambda v: dn.mean("spend", bounds=(0, v)),
    "plan epsilon": lambda v: GROUPS.plan(epsilon=v, delta="1e-6"),
    "plan epsilon, total": lambda v: TOTAL.plan(epsilon=v),
    "plan epsilon, gaussian": lambda v: TOTAL.plan(epsilon=v, delta="1e-6", noise="gaussian"),
    "plan delta": lambda v: GROUPS.plan(epsilon=1, delta=v),
    "plan delta, total": lambda v: TOTAL.plan(epsilon=1, delta=v, allow_large_delta=True),
    "plan confidence": lambda v: GROUPS.plan(epsilon=1, delta="1e-6", confidence=v),
    "account delta": lambda v: str(MANY.epsilon(delta=v)),
    "account epsilon": lambda v: str(MANY.delta(epsilon=v)),
    "account gaussian epsilon": lambda v: str(dn.account(GAUSSIAN).delta(epsilon=v)),
    "account subsampled": lambda v: dn.account(events.Subsampled(GAUSSIAN, rate=v)).epsilon(delta="1e-6"),
    "account pure": lambda v: str(dn.account([events.PureDP(epsilon=v)] * 2).epsilon()),
    "account scale": lambda v: str(dn.account(events.Laplace(scale=v)).epsilon()),
    "repeated times": lambda v: events.Repeated(GAUSSIAN, times=v),
    "calibrate epsilon": lambda v: dn.calibrate(events.Gaussian, epsilon=v, delta="1e-6"),
    "calibrate delta": lambda v: dn.calibrate(events.Gaussian, epsilon=1, delta=v),
    "calibrate times": lambda v: dn.calibrate(events.Laplace, epsilon=1, delta=0, times=v),
    "split epsilon": lambda v: dn.split(epsilon=v, delta="1e-6", queries=3),
    "split delta": lambda v: dn.split(epsilon=1, delta=v, queries=3),
    "split queries": lambda v: dn.split(epsilon=1, delta="1e-6", queries=v),
    "advise population": lambda v: dn.advise(population=v),
    "Laplace epsilon": lambda v: dn.Laplace(epsilon=v, sensitivity=1),
    "Laplace sensitivity": lambda v: dn.Laplace(epsilon=1, sensitivity=v),
    "Gaussian epsilon": lambda v: dn.Gaussian(epsilon=v, delta="1e-6", sensitivity=1),
    "Gaussian delta": lambda v: dn.Gaussian(epsilon=1, delta=v, sensitivity=1),
    "Exponential epsilon": lambda v: dn.Exponential(epsilon=v, sensitivity=1, candidates=3),
    "RandomizedResponse epsilon": lambda v: dn.RandomizedResponse(epsilon=v),
    "RandomizedResponse options": lambda v: dn.RandomizedResponse(epsilon=1, options=v),
}


def refusal(call: Callable[[], object]) -> DeniableError | None:
    """Return the package's own error, None if there is a value; let every other error through."""
    try:
        call()
    except DeniableError as error:
        return error
    return None


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("call", CALLS)
def test_an_odd_number_is_a_value_or_an_error_that_names_it(call: str, odd: str) -> None:
    error = refusal(lambda: CALLS[call](ODD[odd]))
    if error is not None:
        assert isinstance(error, ParameterError)
        assert error.argument
        assert ", got " in str(error)


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("argument", ["epsilon", "delta", "patience"])
@pytest.mark.parametrize("rule", ["basic", "gaussian", "concentrated"])
def test_an_odd_number_makes_a_ledger_or_an_error(tmp_path: Path, argument: str, rule: str, odd: str) -> None:
    given: dict[str, Any] = {"epsilon": 1, "delta": "1e-6", argument: ODD[odd]}
    error = refusal(lambda: dn.Ledger.create(tmp_path / "book", unit="person", rule=rule, **given))
    if error is not None:
        assert isinstance(error, ParameterError)
        assert error.argument in (argument, "rule")
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("odd", ["huge", "-huge", "1e-9999", "Decimal", "ratio", "10**1200"])
@pytest.mark.parametrize("argument", ["epsilon", "delta"])
def test_an_odd_price_is_refused_by_a_ledger(tmp_path: Path, argument: str, odd: str) -> None:
    ledger = dn.Ledger.create(tmp_path / "book", epsilon=1, unit="person")
    given: dict[str, Any] = {"epsilon": "1e-9", argument: ODD[odd]}
    with pytest.raises(DeniableError):
        ledger.reserve([events.PureDP(epsilon="1e-9")], **given)


def test_patience_is_a_number_of_seconds(tmp_path: Path) -> None:
    dn.Ledger.create(tmp_path / "book", epsilon=1, unit="person", patience=0.5)
    odd: list[Any] = ["1", None, [1], HUGE, -1, math.nan, math.inf, b"1"]
    for patience in odd:
        with pytest.raises(ParameterError, match="^patience "):
            dn.Ledger.open(tmp_path / "book", patience=patience)


@pytest.mark.parametrize("odd", [7, None, b"book", "", "bo\0ok", []])
def test_a_ledger_lies_in_a_place_with_a_name(odd: object) -> None:
    with pytest.raises(ParameterError, match="^path_or_url "):
        dn.Ledger.create(odd, epsilon=1, unit="person")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="^path_or_url "):
        dn.Ledger.open(odd)  # type: ignore[arg-type]


def test_a_value_that_python_does_not_write_is_named_in_words() -> None:
    values: list[object] = [HUGE, -HUGE, Fraction(1, HUGE), [HUGE], {"a": HUGE}, (1, HUGE)]
    for value in values:
        assert "digits" in str(ParameterError("x", value, "is wrong", "Change it."))


def test_a_table_given_by_mistake_is_not_written_into_the_error() -> None:
    table = pa.table({"name": ["Zebedee"]})
    for given in (table, table.to_pandas(), table["name"]):
        assert "Zebedee" not in str(ParameterError("unit", given, "is wrong", "Change it."))
        assert _shown(given) == f"a {type(given).__name__}"


def test_numbers_of_any_length_are_written() -> None:
    assert text(Fraction(HUGE)) == "1e5000"
    assert text(Fraction(-1, HUGE)) == "-1e-5000"
    assert text(Fraction(1, 2**20000)) == "2.5123880577e-6021"  # 2.512388057698745e-6021
    assert text(Fraction(HUGE + 1, 7)) == f"1{'0' * 4999}1/7"
    assert written(Fraction(-HUGE - 1, 7)) == f"-1{'0' * 4999}1/7"


def test_the_door_refuses_what_is_too_long_or_too_large() -> None:
    odd: list[Any] = [10**308 + 1, "1e309", Fraction(1, 2**4096), Fraction(2**4096, 2**4095 + 1)]
    for number in odd:
        with pytest.raises(ParameterError, match=r"^epsilon (must be a number of fewer digits|is too large)"):
            exact(number, "epsilon")


def test_the_door_takes_what_a_float_can_be() -> None:
    assert exact(1e308, "x") == 10**308
    assert exact(5e-324, "x") == Fraction(5, 10**324)
    assert exact("1e-1000", "x") == Fraction(1, 10**1000)
