"""What can be audited, as one value each, and the row that its audit gives.

| subject   | audited by                                                                              |
|-----------|-----------------------------------------------------------------------------------------|
| Known     | `exact`: its probabilities are known                                                     |
| BlackBox  | `sampled`: a program. `load("module:function")`, or a function of any library:           |
|           | `BlackBox("name", PureDP(epsilon=1), mechanism.randomise, 0, 1)`                         |
| Asked     | `release`: a query of this package                                                      |
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, assert_never

from deniable.audit.exact import Mechanism, exact
from deniable.audit.outcomes import Run
from deniable.audit.release import Findings, release
from deniable.audit.sampled import sampled
from deniable.audit.verdict import Claim, Computed, NotViolated, Proved, Violated
from deniable.errors import ParameterError
from deniable.exact import text

if TYPE_CHECKING:
    from deniable.query.question import Query

Word = Literal["proved", "computed", "not violated", "violated"]


@dataclass(frozen=True, slots=True)
class Known:
    """A mechanism whose probabilities are known. pairs: its neighbours; all inputs when None."""

    name: str
    claim: Claim
    mechanism: Mechanism
    inputs: Sequence[object] = ()
    pairs: Sequence[tuple[object, object]] | None = None


@dataclass(frozen=True, slots=True)
class BlackBox:
    """A program and two neighbouring inputs. batch: as for `sampled`. times: more trials than others get."""

    name: str
    claim: Claim
    run: Run
    first: object
    second: object
    batch: int | None = None
    times: int = 1


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with the budget of its release, and how it is planned. times: more trials than others get."""

    name: str
    claim: Claim
    query: Query
    noise: Literal["laplace", "gaussian"]
    times: int = 1


Subject = Known | BlackBox | Asked


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a report.

    bound: of a proof the epsilon that was proved at the delta of the claim, else the lower bound that trials
    or a refutation gave (infinite: no epsilon will do); None if numbers were only computed.
    trials: runs of each input. words: the verdict in full.
    """

    name: str
    claim: Claim
    verdict: Word
    bound: float | None
    trials: int
    seconds: float
    words: str

    def to_json(self) -> dict[str, object]:
        """Return the row as plain JSON values; an infinite bound is text."""
        bound = str(self.bound) if self.bound == float("inf") else self.bound
        return {
            "name": self.name,
            "claim": {"epsilon": text(self.claim.epsilon), "delta": text(self.claim.delta)},
            "verdict": self.verdict,
            "bound": bound,
            "trials": self.trials,
            "time": round(self.seconds, 3),
        }


def audited(subject: Subject, *, trials: int, confidence: Fraction, progress: bool | None = False) -> Row:
    """Audit one subject; return its row. trials: runs of each input, for a query of each of its cases."""
    start = time.perf_counter()
    claim = subject.claim
    match subject:
        case Known():
            found: Proved | Computed | NotViolated | Violated | Findings = exact(
                subject.mechanism,
                subject.inputs,
                epsilon=claim.epsilon,
                delta=claim.delta,
                pairs=subject.pairs,
            )
        case BlackBox():
            found = sampled(
                subject.run,
                subject.first,
                subject.second,
                trials=trials * subject.times,
                confidence=confidence,
                epsilon=claim.epsilon,
                delta=claim.delta,
                batch=subject.batch,
                progress=progress,
            )
        case Asked():
            found = release(
                subject.query,
                epsilon=claim.epsilon,
                delta=claim.delta,
                noise=subject.noise,
                trials=trials * subject.times,
                confidence=confidence,
            )
        case _:
            assert_never(subject)
    return Row(
        subject.name, claim, found.word, bound(found), runs(found), time.perf_counter() - start, str(found)
    )


def load(place: str) -> Callable[..., Any]:
    """Return what "module:function" names; dots after the colon reach into it.

    Raises:  ParameterError: there is no such module or name, or it cannot be called.
    """
    module, _, names = place.partition(":")
    fix = "Write module:function, for example deniable.audit.specimens:half_noise."
    if not module or not names:
        raise ParameterError("subject", place, "must be module:function", fix)
    try:
        found: Any = importlib.import_module(module)
        for name in names.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError) as error:
        raise ParameterError("subject", place, f"cannot be loaded ({error})", fix) from None
    if not callable(found):
        raise ParameterError("subject", place, "is not a function", fix)
    function: Callable[..., Any] = found
    return function


def bound(found: Proved | Computed | NotViolated | Violated | Findings) -> float | None:
    """Return the bound on epsilon that a verdict has, as in `Row`."""
    match found:
        case Proved():
            return float(found.epsilon)
        case Computed():
            return None
        case Violated():
            return found.epsilon
        case NotViolated():
            return found.evidence.epsilon
        case Findings():
            bounds = [bound(finding.verdict) for finding in found.violations or found.findings]
            return max((one for one in bounds if one is not None), default=None)
        case _:
            assert_never(found)


def runs(found: Proved | Computed | NotViolated | Violated | Findings) -> int:
    """Return how many runs of each input a verdict rests on."""
    match found:
        case Proved() | Computed():
            return 0
        case NotViolated() | Violated():
            return 0 if found.evidence is None else found.evidence.trials + found.evidence.pilot
        case Findings():
            return sum(runs(finding.verdict) for finding in found.findings)
        case _:
            assert_never(found)
