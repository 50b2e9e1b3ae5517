"""What an audit can say, and how sure it is.

| verdict      | word         | what it means                                                          |
|--------------|--------------|------------------------------------------------------------------------|
| Proved       | proved       | the claim holds for every pair that was given: exact arithmetic        |
| Computed     | computed     | numerical integration agrees with the claim; its error is an estimate  |
| NotViolated  | not violated | so many trials did not refute the claim. That is no proof of privacy   |
| Violated     | violated     | two inputs and a set of outputs refute it: exactly, or at a confidence |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, Protocol

from deniable.audit.evidence import Evidence
from deniable.audit.losses import epsilon_at_least
from deniable.audit.witnesses.bits import PATTERNS as BIT_PATTERNS
from deniable.brackets import exponential
from deniable.exact import Number, text
from deniable.guarantees import ApproxDP, PureDP

Claim = PureDP | ApproxDP
How = Literal["exact", "computed", "sampled"]

_SHOWN = 8
_SHORT, _MOST = 8, 7
_FLOATS = (
    "Not the size of the output but its last bits give the input away: the noise was added in floating point."
)


class Curve(Protocol):
    """The least delta for each epsilon, never understated."""

    def delta(self, epsilon: Number) -> Fraction:
        """Return a delta such that (epsilon, delta) holds, at most a hair above the least."""
        ...

    def epsilon(self, delta: Number = 0) -> Fraction:
        """Return an epsilon such that (epsilon, delta) holds, at most a hair above the least.

        Raises:  ParameterError: no epsilon does.
        """
        ...


@dataclass(frozen=True, slots=True)
class Proved:
    """The claim holds. `curve`: everything else that was proved on the way. `how`: what was compared."""

    claim: Claim
    curve: Curve
    how: str
    word: ClassVar[Literal["proved"]] = "proved"

    @property
    def epsilon(self) -> Fraction:
        """An epsilon that holds at the delta of the claim: the least, but for rounding."""
        return min(self.claim.epsilon, self.curve.epsilon(self.claim.delta))

    @property
    def delta(self) -> Fraction:
        """A delta that holds at the epsilon of the claim: the least, but for rounding."""
        return min(self.claim.delta, self.curve.delta(self.claim.epsilon))

    def __str__(self) -> str:
        return f"Proved: {_claimed(self.claim)}. {self.how}"


@dataclass(frozen=True, slots=True)
class Computed:
    """Numbers agree with the claim. `delta`: computed at its epsilon, with an estimated error."""

    claim: Claim
    delta: float
    error: float
    how: str
    word: ClassVar[Literal["computed"]] = "computed"

    def __str__(self) -> str:
        return (
            f"Computed, not proved: {_claimed(self.claim)} (delta {self.delta:.4g} within {self.error:.1g}). "
            f"{self.how}"
        )


@dataclass(frozen=True, slots=True)
class NotViolated:
    """Sampling did not refute the claim (None: nothing was claimed). It shows `evidence`, no more."""

    claim: Claim | None
    evidence: Evidence
    word: ClassVar[Literal["not violated"]] = "not violated"

    def __str__(self) -> str:
        claim = "" if self.claim is None else f" of {_claimed(self.claim)}"
        alike = f" {self.evidence.alike}" if self.evidence.alike else ""
        return f"No violation{claim} found, which proves nothing.{alike} {self.evidence}"


@dataclass(frozen=True, slots=True)
class Violated:
    """The claim is refuted: the first input gives one of `outputs` more often than the claim allows.

    inputs:  two neighbours. outputs: the set, as values or in words.
    first:   at most its probability on the first input; second: at least that on the second.
    how:     "exact" is a proof; "computed" rests on numerical integration; "sampled" has `evidence`.
    """

    claim: Claim
    inputs: tuple[object, object]
    outputs: Sequence[object] | str
    first: Fraction
    second: Fraction
    how: How
    evidence: Evidence | None = None
    word: ClassVar[Literal["violated"]] = "violated"

    @property
    def epsilon(self) -> float:
        """A lower bound on epsilon at the delta of the claim; infinite where no epsilon will do."""
        return epsilon_at_least(self.first, self.second, self.claim.delta)

    def __str__(self) -> str:
        sure = "" if self.evidence is None else f" (confidence {text(self.evidence.confidence)})"
        first, second = (f"{float(share):.6g}" for share in (self.first, self.second))
        least, most = (" at least", " at most") if self.evidence else ("", "")
        so = f"So epsilon is at least {self.epsilon:.4g}." if self.second else "So no epsilon will do."
        return (
            f"Violated{sure}: {_claimed(self.claim)}. {self._outputs()}: on {_shown(self.inputs[0])} "
            f"with probability{least} {first}, on {_shown(self.inputs[1])}{most} {second}. {so}{self._why()}"
        )

    def _why(self) -> str:
        """Say what it means that bits of floats tell the inputs apart."""
        found = isinstance(self.outputs, str) and any(sign in self.outputs for sign in BIT_PATTERNS)
        return f" {_FLOATS}" if found else ""

    def _outputs(self) -> str:
        if isinstance(self.outputs, str):
            return self.outputs[:1].upper() + self.outputs[1:]
        listed = ", ".join(_shown(output) for output in self.outputs[:_SHOWN])
        more = len(self.outputs) - _SHOWN
        return f"One of [{listed}{f', and {more:,} more' if more > 0 else ''}]"


Verdict = Proved | Computed | NotViolated | Violated


def _claimed(claim: Claim) -> str:
    """Return the claim in words, "ln 3" where that was asked."""
    delta = f", delta {text(claim.delta)}" if isinstance(claim, ApproxDP) else ""
    return f"epsilon {_logarithm(claim.epsilon) or text(claim.epsilon)}{delta}"


def _logarithm(epsilon: Fraction) -> str | None:
    """Return "ln 3" or "ln 3/2" if epsilon is that within 2**-90, None if it is short as it is."""
    if len(text(epsilon)) <= _SHORT or not epsilon < _MOST:
        return None
    factor = exponential(epsilon)[1]
    near = factor.limit_denominator(100)
    return f"ln {near}" if abs(factor / near - 1) < Fraction(1, 2**90) else None


def _shown(value: object) -> str:
    words = _written(value)
    return words if len(words) <= 60 else words[:57] + "..."


def _written(value: object) -> str:
    if isinstance(value, Fraction):
        return text(value)
    if type(value) is tuple and value:
        return f"({', '.join(map(_written, value))}{',' * (len(value) == 1)})"
    return repr(value)
