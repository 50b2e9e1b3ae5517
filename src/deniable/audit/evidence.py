"""What sampling has shown: how often one set of outputs came up on each of two inputs, with bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from deniable.audit.losses import delta_at_least, epsilon_at_least, mu_at_least, refuted
from deniable.exact import Number, at_least_zero, text


@dataclass(frozen=True, slots=True)
class Evidence:
    """Bounds that hold together with probability at least `confidence`, whatever the subject is.

    witness:     the set of outputs, in words.
    likelier:    "first" or "second": the input that was expected to give it more often.
    hits:        how often it came up on that input and on the other, in `trials` runs of each.
    p, q:        at most the probability on the likelier input; at least that on the other.
    delta:       at which `epsilon` is bounded. confidence: of everything here.
    pilot:       runs of each input before these, to choose the witness. looks: at how many points
                 stopping was considered.
    seconds:     wall time.
    alike:       what every run of both inputs did, as a sentence; empty if they did not all do the same.
    """

    witness: str
    likelier: str
    hits: tuple[int, int]
    trials: int
    p: Fraction
    q: Fraction
    delta: Fraction
    confidence: Fraction
    pilot: int
    looks: int
    seconds: float
    alike: str = ""

    @property
    def epsilon(self) -> float:
        """A lower bound on epsilon at `delta`, rounded down."""
        return epsilon_at_least(self.p, self.q, self.delta)

    @property
    def mu(self) -> float:
        """A lower bound on mu of Gaussian differential privacy, rounded down."""
        return mu_at_least(self.p, self.q)

    def delta_at(self, epsilon: Number) -> float:
        """Return a lower bound on delta at this epsilon, rounded down."""
        return delta_at_least(self.p, self.q, at_least_zero(epsilon, "epsilon"))

    def refutes(self, epsilon: Fraction) -> bool:
        """Return whether (epsilon, delta) is refuted at this confidence."""
        return refuted(self.p, self.q, epsilon, self.delta)

    def __str__(self) -> str:
        at = f" at delta {text(self.delta)}" if self.delta else ""
        return (
            f"Epsilon is at least {self.epsilon:.4g}{at} (confidence {text(self.confidence)}): "
            f"[{self.witness}] came up {self.hits[0]:,} times on the {self.likelier} input and "
            f"{self.hits[1]:,} on the other, in {self.trials:,} runs of each."
        )
