"""What is promised: pure, approximate and zero-concentrated differential privacy, and between whom.

A guarantee holds between *neighbours*: two tables that differ by all the rows of one unit (a person, say).

| guarantee              | for neighbours D, D' and every set S of outputs                                  |
|------------------------|----------------------------------------------------------------------------------|
| PureDP(epsilon)        | P[A(D) in S] <= e**epsilon * P[A(D') in S]                                       |
| ApproxDP(epsilon,delta)| P[A(D) in S] <= e**epsilon * P[A(D') in S] + delta                               |
| ZeroConcentratedDP(rho)| Renyi divergence of order a between A(D) and A(D') is at most rho * a, all a > 1 |

Sources: Dwork, McSherry, Nissim, Smith 2006; Bun, Steinke 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from deniable.errors import ParameterError
from deniable.exact import Number, at_least_zero, probability, text


class Neighbours(StrEnum):
    """Which two tables must look alike."""

    ADD_OR_REMOVE = "add or remove"
    REPLACE_ONE = "replace one"


def neighbours(value: object) -> Neighbours:
    """Return the relation that the text names; refuse any other."""
    for relation in Neighbours:
        if value == relation.value:
            return relation
    fix = "Write 'add or remove' or 'replace one'."
    raise ParameterError("neighbours", value, "must name a neighbour relation", fix)


@dataclass(frozen=True, slots=True, init=False)
class PureDP:
    """epsilon-differential privacy. epsilon is exact and at least 0; "ln 3" is rounded up."""

    epsilon: Fraction

    def __init__(self, *, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", at_least_zero(epsilon, "epsilon", up=True))

    @property
    def delta(self) -> Fraction:
        """Always 0."""
        return Fraction(0)

    def __str__(self) -> str:
        return f"epsilon {text(self.epsilon)}"


@dataclass(frozen=True, slots=True, init=False)
class ApproxDP:
    """(epsilon, delta)-differential privacy. delta is in [0, 1)."""

    epsilon: Fraction
    delta: Fraction

    def __init__(self, *, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", at_least_zero(epsilon, "epsilon", up=True))
        object.__setattr__(self, "delta", probability(delta, "delta"))

    def __str__(self) -> str:
        return f"epsilon {text(self.epsilon)}, delta {text(self.delta)}"


@dataclass(frozen=True, slots=True, init=False)
class ZeroConcentratedDP:
    """rho-zero-concentrated differential privacy."""

    rho: Fraction

    def __init__(self, *, rho: Number) -> None:
        object.__setattr__(self, "rho", at_least_zero(rho, "rho", up=True))

    def __str__(self) -> str:
        return f"rho {text(self.rho)}"


Guarantee = PureDP | ApproxDP | ZeroConcentratedDP
