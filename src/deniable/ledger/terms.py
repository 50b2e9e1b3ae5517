"""What is fixed when a ledger is created, and how entry 0 writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from deniable import __version__
from deniable.errors import LedgerError, ParameterError
from deniable.exact import Number, positive, probability
from deniable.guarantees import Neighbours, neighbours
from deniable.ledger.chain import FORMAT
from deniable.ledger.filters import Rule, Spending, limits, rule

LONGEST_TEXT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is fixed at creation. `limit` is what the rule may sum up to, as computed then."""

    epsilon: Fraction
    delta: Fraction
    unit: str
    rule: Rule
    neighbours: Neighbours
    limit: Spending

    def written(self) -> dict[str, str]:
        """Return the terms as entry 0 stores them."""
        return {
            "format": str(FORMAT),
            "program": f"deniable {__version__}",
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "unit": self.unit,
            "neighbours": self.neighbours.value,
            "limit": str(self.limit.amount),
            "limit_delta": str(self.limit.delta),
        }


def agree(epsilon: Number, delta: Number, unit: str | Enum, counted: str, relation: str) -> Terms:
    """Return the terms that these arguments mean; ParameterError names the one that is wrong."""
    total, mass, known = positive(epsilon, "epsilon"), probability(delta, "delta"), rule(counted)
    return Terms(
        epsilon=total,
        delta=mass,
        unit=unit_name(unit),
        rule=known,
        neighbours=neighbours(relation),
        limit=limits(known, epsilon=total, delta=mass),
    )


def read_terms(written: Mapping[str, str], counted: Rule, label: str) -> Terms:
    """Return the terms that `Terms.written` wrote; LedgerError if they are not readable."""
    try:
        amount, delta = Fraction(written["limit"]), Fraction(written["limit_delta"])
        return Terms(
            epsilon=Fraction(written["epsilon"]),
            delta=Fraction(written["delta"]),
            unit=written["unit"],
            rule=counted,
            neighbours=neighbours(written["neighbours"]),
            limit=Spending(rule=counted, amount=amount, delta=delta),
        )
    except (KeyError, ValueError, ZeroDivisionError):
        raise LedgerError(f"'{label}' is damaged: entry 0 holds no budget.") from None


def unit_name(unit: str | Enum) -> str:
    """Return the unit as text: a column's name, or "row" for `dn.ROW`."""
    return short_text(unit.value if isinstance(unit, Enum) else unit, "unit")


def short_text(value: object, argument: str) -> str:
    """Return the text; refuse what is empty, longer than 1,000 characters or no text."""
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_TEXT:
        fix = f"Give 1 to {LONGEST_TEXT:,} characters."
        raise ParameterError(argument, value, "must be text", fix)
    return value
