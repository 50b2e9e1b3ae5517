"""`dn.split`: what each of many queries may cost if a total is shared equally, by every theorem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from deniable.accounting import gaussian, theorems
from deniable.accounting.calibrate import CLOSE, LOOSE, calibrate, least_noise
from deniable.accounting.search import log_of
from deniable.accounting.theorems import Theorems
from deniable.brackets import square_root
from deniable.errors import ParameterError
from deniable.events import Gaussian, Laplace, PureDP
from deniable.exact import Number, positive, probability, text, whole

_MOST_QUERIES = 10**9
_DIGITS = 5


@dataclass(frozen=True, slots=True)
class Share:
    """What one query may do, by one theorem: the event, or None and why not."""

    theorem: str
    event: PureDP | Laplace | Gaussian | None
    note: str = ""

    @property
    def epsilon(self) -> Fraction | None:
        """The epsilon of each query, where it has one."""
        return None if self.event is None or isinstance(self.event, Gaussian) else self.event.epsilon

    def __str__(self) -> str:
        if self.event is None:
            return f"{self.theorem:<18} {self.note}"
        if isinstance(self.event, Gaussian):
            return f"{self.theorem:<18} sigma {text(self.event.sigma, digits=_DIGITS)} for a sensitivity of 1"
        return (
            f"{self.theorem:<18} epsilon {text(self.event.epsilon, up=False, digits=_DIGITS)} each{self.note}"
        )


@dataclass(frozen=True, slots=True)
class Split:
    """A total shared by `queries`.

    shares: one for each theorem. thumb: epsilon / sqrt(queries), the rule of thumb; claimed: what
    that many queries of that epsilon really cost (None where delta is 0).
    """

    epsilon: Fraction
    delta: Fraction
    queries: int
    shares: tuple[Share, ...]
    thumb: Fraction
    claimed: Theorems | None

    def __getitem__(self, theorem: str) -> Share:
        for share in self.shares:
            if share.theorem == theorem:
                return share
        names = ", ".join(share.theorem for share in self.shares)
        raise ParameterError("theorem", theorem, "is not in this table", f"Ask for one of: {names}.")

    def __iter__(self) -> Iterator[Share]:
        return iter(self.shares)

    def __str__(self) -> str:
        total = f"epsilon {text(self.epsilon)}, delta {text(self.delta)}"
        lines = [f"{total} over {self.queries:,} queries", *map(str, self.shares)]
        if self.claimed is not None:
            lines.append(self._warning(self.claimed))
        return "\n".join(lines)

    def _warning(self, claimed: Theorems) -> str:
        costs = [
            f"{text(row.epsilon, digits=3)} by {name}"
            for name in ("loss distribution", "optimal", "advanced")
            if (row := claimed[name]).epsilon is not None
        ]
        thumb = text(self.thumb, digits=3)
        asked = f"Not epsilon / sqrt(queries): {self.queries:,} Laplace queries of {thumb} cost"
        return f"{asked} {', '.join(costs)}."


def split(*, epsilon: Number, delta: Number = 0, queries: int) -> Split:
    """Return what each query may cost so that all together are (epsilon, delta)-private.

    Shares of "basic" to "optimal" are for any pure mechanism, "loss distribution" is for Laplace noise.
    Raises:  ParameterError: epsilon is not above 0, delta not in [0, 1), queries not a whole number above 0.
    """
    target, allowed = positive(epsilon, "epsilon"), probability(delta, "delta")
    number = whole(queries, "queries", at_least=1, at_most=_MOST_QUERIES)
    shares = [Share("basic", PureDP(epsilon=target / number))]
    for theorem, window in (("advanced", CLOSE), ("zero-concentrated", CLOSE), ("optimal", LOOSE)):
        shares.append(_pure(theorem, target, allowed, number, window))
    laplace = calibrate(Laplace, epsilon=target, delta=allowed, times=number)
    shares.append(
        Share(
            "loss distribution",
            laplace,
            f" with Laplace noise of scale {text(laplace.scale, digits=_DIGITS)}",
        )
    )
    if allowed:
        shares.append(Share("gaussian", calibrate(Gaussian, epsilon=target, delta=allowed, times=number)))
    else:
        shares.append(Share("gaussian", None, "needs a delta"))
    thumb = target / square_root(Fraction(number), 64)[1]
    claimed = theorems.by_theorem({Laplace(scale=1, sensitivity=thumb): number}, allowed) if allowed else None
    return Split(target, allowed, number, tuple(shares), thumb, claimed)


def _pure(theorem: str, epsilon: Fraction, delta: Fraction, queries: int, window: float) -> Share:
    """Return the largest pure epsilon for each query by one theorem."""
    if delta == 0 and theorem == "optimal":
        return Share(theorem, PureDP(epsilon=epsilon / queries))
    if delta == 0:
        return Share(theorem, None, "needs a delta")

    def excess(x: Fraction) -> float:
        try:
            cost = theorems.cost(theorem, {PureDP(epsilon=1 / x): queries}, delta)
        except theorems.Silent:
            return inf
        return log_of(cost) - log_of(epsilon)

    near = square_root(Fraction(queries), 96)[1] / gaussian.largest_mu(epsilon, delta)
    asked = f"{text(epsilon)} and {text(delta)}"
    return Share(theorem, PureDP(epsilon=1 / least_noise(excess, near, window, asked=asked)))
