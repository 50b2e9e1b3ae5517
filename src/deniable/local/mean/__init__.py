"""The mean of a number, collected from people who trust nobody.

| module                                  | holds                                                      |
|-----------------------------------------|------------------------------------------------------------|
| protocol, words                         | `Mean` and what it says                                    |
| selecting                               | which law a mechanism of a name has                        |
| laws, windows, laplace                  | exact laws: probabilities, what reports stand for, variance|
| optimal, program, integers, priors      | the best table: linear program, rounding, objectives       |
| shipped, tables/, carried               | tables that come with the package; tables as JSON          |
| limits, large                           | what no mechanism can go below                             |
| intervals                               | intervals from the law                                     |
"""

from __future__ import annotations

from deniable.local.mean.limits import Limit, limit
from deniable.local.mean.protocol import MECHANISMS, Error, Mean

__all__ = ["MECHANISMS", "Error", "Limit", "Mean", "limit"]
