"""What was spent: a budget of (epsilon, delta) that cannot be overspent, by any number of processes."""

from __future__ import annotations

from deniable.ledger.book import Ledger, Reservation
from deniable.ledger.chain import Entry
from deniable.ledger.filters import Rule, Spending

__all__ = ["Entry", "Ledger", "Reservation", "Rule", "Spending"]
