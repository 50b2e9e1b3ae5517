"""Errors go from process to process whole."""

from __future__ import annotations

import pickle

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
