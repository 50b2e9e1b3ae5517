"""`dn.audit.release`: run a whole query on neighbouring tables and look for what it gives away.

    print(dn.audit.release(query, epsilon=1, delta="1e-3", trials=2000))

No protected data are read and no ledger is charged: the tables are made from the schema (`neighbours`). Each
case is one audit by `sampled`, against what the plan promises; all of them hold together at `confidence`.
Runs share releases (`copies`), so that thousands cost seconds. Everything else is the real thing: source,
SQL, bounding, noise, threshold, published numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, exp, log
from typing import TYPE_CHECKING, Literal

from deniable.audit.copies import Copies, copied
from deniable.audit.neighbours import Case
from deniable.audit.neighbours import cases as built_cases
from deniable.audit.sampled import LEAST_TRIALS, MOST_TRIALS, sampled
from deniable.audit.verdict import NotViolated, Violated
from deniable.bits import Bits, SeededBits, SystemBits
from deniable.errors import EngineError, NoiseError, ParameterError, SourceError
from deniable.exact import Number, exact, whole

if TYPE_CHECKING:
    from deniable.audit.verdict import Claim
    from deniable.query.plan import Plan
    from deniable.query.question import Query

_FAILURES = (EngineError, NoiseError, SourceError)
_MOST_ROWS = 100_000
_FEW = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """What the audit of one pair of tables has shown."""

    case: str
    verdict: NotViolated | Violated


@dataclass(frozen=True, slots=True)
class Findings:
    """What the audit of a query has shown. `word`: "violated" if any case is."""

    claim: Claim
    findings: tuple[Finding, ...]

    @property
    def word(self) -> Literal["violated", "not violated"]:
        return "violated" if self.violations else "not violated"

    @property
    def violations(self) -> tuple[Finding, ...]:
        """The cases in which the claim is refuted."""
        return tuple(finding for finding in self.findings if isinstance(finding.verdict, Violated))

    def __str__(self) -> str:
        wide = max(len(finding.case) for finding in self.findings)
        lines = [f"Audit of {self.claim}: {self.word}"]
        for finding in self.findings:
            verdict = finding.verdict
            evidence = verdict.evidence
            assert evidence is not None
            runs = evidence.trials + evidence.pilot
            lines.append(
                f"  {finding.case:{wide}}  {verdict.word:12}  epsilon at least {evidence.epsilon:6.3f}"
                f"  {runs:8,} runs of each  {evidence.witness}"
            )
        return "\n".join(lines)


@dataclass(slots=True)
class _Side:
    """One of the two tables of a case, and outcomes that were released but not yet handed out."""

    words: str
    copies: Copies
    bits: Bits
    ahead: deque[object] = field(default_factory=deque)

    def many(self, n: int) -> list[object]:
        """Return outcomes of n runs."""
        while len(self.ahead) < n:
            self.ahead.extend(self.copies.outcomes(self.bits))
        return [self.ahead.popleft() for _ in range(n)]

    def one(self) -> object:
        """Return the outcome of one run."""
        return self.many(1)[0]

    def __repr__(self) -> str:
        return self.words


def release(
    query: Query,
    *,
    epsilon: Number,
    delta: Number = 0,
    trials: int = 2000,
    confidence: Number = 0.95,
    noise: Literal["auto", "laplace", "gaussian"] = "auto",
    coverage: bool = True,
    cases: Sequence[Case] | None = None,
    together: int = 1000,
    seed: int | None = None,
) -> Findings:
    """Return what releases of the query give away on neighbouring tables, against what its plan promises.

    Args:    trials: runs of each table of each case. confidence: of the whole report.
             noise, coverage: as in `query.plan`. cases: tables to try; made from the schema when omitted.
             together: runs that share one release; with 1 the histogram of contributions is part of each.
             seed: makes the noise repeatable.
    Raises:  ParameterError: an argument is wrong; no rows could be made that the query looks at.
    """
    runs = whole(trials, "trials", at_least=LEAST_TRIALS, at_most=MOST_TRIALS)
    shared = whole(together, "together", at_least=1, at_most=1 << 16)
    plan = query.plan(epsilon=epsilon, delta=delta, noise=noise, coverage=coverage, allow_large_delta=True)
    tried = built_cases(query, people=_people(plan)) if cases is None else list(cases)
    if not tried:
        raise ParameterError("cases", [], "must not be empty", "Leave it out.")
    sure = exact(confidence, "confidence")
    bits = SystemBits() if seed is None else SeededBits(seed, insecure=True)
    each = 1 - (1 - sure) / len(tried)
    found = [Finding(case.name, _tried(plan, case, runs, each, shared, bits)) for case in tried]
    return Findings(plan.guarantee, tuple(found))


def _people(plan: Plan) -> int:
    """Return how many units make a group that is nearly always shown."""
    if plan.threshold is None:
        return _FEW
    width = plan.price.measured[0].half_width(Fraction(99, 100))
    return ceil(plan.threshold + Fraction(width, plan.price.contributions.one))


def _tried(
    plan: Plan, case: Case, trials: int, confidence: Fraction, together: int, bits: Bits
) -> NotViolated | Violated:
    """Audit one case; if a release fails, with one run a release, as each failure is an outcome then."""
    promised = plan.guarantee
    claim = {
        "epsilon": promised.epsilon,
        "delta": promised.delta,
        "confidence": confidence,
        "progress": False,
    }
    together = 1 if plan.price.rest or plan.choices else together
    size = max(1, min(together, trials, _MOST_ROWS // max(1, len(case.crowd) + len(case.unit))))
    if size > 1:
        with suppress(*_FAILURES):
            sides = _sides(plan, case, size, bits)
            return sampled(_Side.many, *sides, trials=trials, batch=size, **claim)  # type: ignore[arg-type]
        trials = min(trials, _enough(promised.epsilon, confidence))
    return sampled(_Side.one, *_sides(plan, case, 1, bits), trials=trials, **claim)  # type: ignore[arg-type]


def _sides(plan: Plan, case: Case, size: int, bits: Bits) -> tuple[_Side, _Side]:
    without, added = list(case.crowd), [*case.crowd, *case.unit]
    return (
        _Side(f"the table ({case.name}: without)", copied(plan, without, size), bits),
        _Side(f"the table ({case.name}: with)", copied(plan, added, size), bits),
    )


def _enough(epsilon: Fraction, confidence: Fraction) -> int:
    """Return runs that refute the claim if every run of one table fails and none of the other."""
    alpha = float(1 - confidence) / 60
    needed = log(1 / alpha) * (1 + exp(min(float(epsilon), 5.0)))
    return LEAST_TRIALS + ceil(1.3 * needed)
