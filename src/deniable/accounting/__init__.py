"""What was spent: from events to epsilon and delta."""

from __future__ import annotations

from deniable.accounting.account import Account, account
from deniable.accounting.calibrate import calibrate
from deniable.accounting.number import UpperBound
from deniable.accounting.within import within

__all__ = ["Account", "UpperBound", "account", "calibrate", "within"]
