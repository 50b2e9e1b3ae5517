"""Errors go from process to process whole, and show numbers as people write them."""

from __future__ import annotations

import decimal
import pickle
from fractions import Fraction

import pytest

from deniable import errors

ALL = (
    errors.ParameterError("epsilon", -1, "must be above 0", "Give 1."),
    errors.ExpressionError("where", "a > b", 2, "there is no column b", "Write a."),
    errors.SourceError("There is no such file."),
    errors.BudgetError("Too much.", short="epsilon", asked="1", left="1/2"),
    errors.LedgerError("Damaged.", problems=("entry 3",)),
    errors.ReportError("Another size.", differs="size"),
)


@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_an_error_is_the_same_in_another_process(error: errors.DeniableError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(1, 10**300), "1e-300"),
        (str(Fraction(1, 10**30)), "1e-30"),
        (Fraction(-2, 3), "-2/3"),
        (Fraction(10**40 + 1, 7), "1.42857142857e+39"),
        (Fraction(5), "5"),
        ({"scale": Fraction(3, 10**50)}, "{'scale': 3e-50}"),
        ("1/3", "'1/3'"),
        ("12/25/2020", "'12/25/2020'"),
        ("sales 3/1", "'sales 3/1'"),
        (["May 4/1"], "['May 4/1']"),
        ("/data/1/2", "'/data/1/2'"),
        (Fraction(10**5000, 3), "a number of very many digits"),
    ],
)
def test_ratios_are_shown_as_people_write_them(value: object, shown: str) -> None:
    with decimal.localcontext() as context:
        context.traps[decimal.Inexact] = True
        error = errors.ParameterError("scale", value, "is odd", "Fix it.")
    assert str(error) == f"scale is odd, got {shown}. Fix it."
