"""What was spent: from events to epsilon and delta.

    account(events).epsilon(delta=...)   what they cost together, never below the truth
    account(events).by_theorem(delta=...)what each theorem says
    calibrate(kind, epsilon=, delta=)    the least noise that keeps a promise
    split(epsilon=, delta=, queries=)    equal shares of a promise
    within(events, epsilon=, delta=)     whether a promise is proved

| module                                                        | holds                                     |
|---------------------------------------------------------------|-------------------------------------------|
| leaves, within, closed, pricing, account, theorems            | from events to answers                    |
| gaussian, discrete, lattice, concentrated, powers, search     | closed forms, proved in rationals         |
| pairs, curves, sums, recipe, together                         | the worst pair of laws for each event     |
| losses, composition, mixture, distribution                    | privacy loss distributions                |
| calibrate, split                                              | the way back: from a promise to the noise |
"""

from __future__ import annotations

from deniable.accounting.account import Account, account, within
from deniable.accounting.calibrate import calibrate
from deniable.accounting.number import UpperBound
from deniable.accounting.split import Split, split
from deniable.accounting.theorems import Theorems

__all__ = ["Account", "Split", "Theorems", "UpperBound", "account", "calibrate", "split", "within"]
