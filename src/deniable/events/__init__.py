"""What was done: events are what a ledger stores and an accountant prices.

An event is frozen, exact and serialisable, and its meaning never changes. The numbers in it are for
neighbours that differ by one unit added or removed; `accounting.account(..., neighbours=)` converts them.

| event                                   | what it says                                                  |
|-----------------------------------------|---------------------------------------------------------------|
| Laplace, DiscreteLaplace                | this noise was added, one unit moves the value by so much (L1) |
| Gaussian, DiscreteGaussian              | this noise was added, one unit moves the vector so far (L2)    |
| RandomizedResponse, Exponential         | an answer or a candidate was chosen                           |
| Selection                               | unknown groups were shown, at this risk                       |
| PureDP, ApproxDP, ZeroConcentratedDP    | something that keeps this promise                             |
| Subsampled, Repeated, Composed          | made of other events                                          |
"""

from __future__ import annotations

from deniable.events.additive import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from deniable.events.choices import Exponential, RandomizedResponse, Selection
from deniable.events.combined import Composed, Event, Repeated, Subsampled, checked
from deniable.events.record import from_json, to_json
from deniable.guarantees import ApproxDP, PureDP, ZeroConcentratedDP

__all__ = [
    "ApproxDP",
    "Composed",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Event",
    "Exponential",
    "Gaussian",
    "Laplace",
    "PureDP",
    "RandomizedResponse",
    "Repeated",
    "Selection",
    "Subsampled",
    "ZeroConcentratedDP",
    "checked",
    "from_json",
    "to_json",
]
