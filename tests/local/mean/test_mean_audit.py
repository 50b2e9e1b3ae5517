"""The auditor's own arithmetic, held against the tables of the mean mechanisms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from deniable import audit
from deniable.audit.collected import collected
from deniable.audit.subjects import audited
from deniable.errors import ParameterError
from deniable.local import Mean


@pytest.mark.parametrize("epsilon", ["0.1", 1, "ln 3", 3])
@pytest.mark.parametrize("mechanism", ["optimal", "duchi"])
def test_the_auditor_proves_what_a_table_claims_and_refutes_less(mechanism: Any, epsilon: Any) -> None:
    mean = Mean(epsilon=epsilon, bounds=(-3, 5), mechanism=mechanism)
    found = audit.exact(mean)
    assert isinstance(found, audit.Proved)
    assert float(found.epsilon) <= float(mean.epsilon)
    less = mean.epsilon * Fraction(999_999, 1_000_000)
    assert isinstance(audit.exact(mean, epsilon=less), audit.Violated)


def test_a_claim_is_needed_where_nothing_states_one() -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        audit.exact(lambda given: [1, 1 + given], [0, 1])


@pytest.mark.parametrize(
    "subject", [one for one in collected() if one.name.startswith("Mean,")], ids=lambda one: one.name
)
def test_every_mean_that_ships_passes_its_audit(subject: Any) -> None:
    row = audited(subject, trials=2_000, confidence=1 - Fraction(1, 10**6))
    assert row.verdict == ("not violated" if subject.name == "Mean, reports" else "proved")
