"""`dn.audit.release`: run a whole query on neighbouring tables and look for what it gives away.

    print(dn.audit.release(query, epsilon=1, delta="1e-3", trials=2000))

No protected data are read and no ledger is charged: the tables are made from the schema (`neighbours`). Each
case is one audit by `sampled`, against what the plan promises; all of them hold together at `confidence`.
Runs share releases (`copies`), and so do cases, so that thousands cost seconds. Everything else is the real
thing: source, SQL, bounding, noise, threshold, published numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, exp, log
from typing import TYPE_CHECKING, Any, Literal

from deniable.audit.copies import Copies, SmallRow
from deniable.audit.neighbours import Case
from deniable.audit.neighbours import cases as built_cases
from deniable.audit.sampled import LEAST_TRIALS, MOST_TRIALS, sampled
from deniable.audit.verdict import NotViolated, Violated
from deniable.bits import Bits, SeededBits, SystemBits
from deniable.errors import EngineError, NoiseError, ParameterError, SourceError
from deniable.exact import Number, exact, whole
from deniable.query.automatic import ONE
from deniable.query.pricing import sampler

if TYPE_CHECKING:
    from deniable.audit.verdict import Claim
    from deniable.query.plan import Plan
    from deniable.query.question import Query

_FAILURES = (EngineError, NoiseError, SourceError)
_MOST_ROWS = 400_000
_MOST_OUTCOMES = 100_000
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
class _Well:
    """Tables of one or more cases, and outcomes that were released but not yet handed out, of each table."""

    copies: Copies
    bits: Bits
    ahead: list[deque[object]] = field(init=False)

    def __post_init__(self) -> None:
        self.ahead = [deque() for _ in self.copies.tables]

    def many(self, table: int, n: int) -> list[object]:
        """Return outcomes of n runs on a table."""
        while len(self.ahead[table]) < n:
            for held, outcomes in zip(self.ahead, self.copies.outcomes(self.bits), strict=True):
                held.extend(outcomes)
        return [self.ahead[table].popleft() for _ in range(n)]


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two tables of a case."""

    words: str
    well: _Well
    table: int

    def many(self, n: int) -> list[object]:
        """Return outcomes of n runs."""
        return self.well.many(self.table, n)

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
    asked = _Asked(plan, runs, each, bits)
    found = [finding for cases in _chunks(tried, runs) for finding in _tried(asked, cases, shared)]
    return Findings(plan.guarantee, tuple(found))


def _people(plan: Plan) -> int:
    """Return how many units make a group that is nearly always shown, and two of them a class from which
    something is chosen about every other time.
    """
    empty = [sampler(choice.event).quantile(choice.width_confidence) // (2 * ONE) for choice in plan.choices]
    few = max([_FEW, *empty])
    if plan.threshold is None:
        return few
    width = plan.price.measured[0].half_width(Fraction(99, 100))
    more = min(plan.threshold, Fraction(width, plan.price.contributions.one))
    return max(few, ceil(plan.threshold + more))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is audited: a plan, with so many runs of each table, each case with this confidence."""

    plan: Plan
    trials: int
    confidence: Fraction
    bits: Bits


def _chunks(cases: Sequence[Case], trials: int) -> Iterator[Sequence[Case]]:
    """Yield cases that share releases: so few that all their outcomes can be held."""
    most = max(1, _MOST_OUTCOMES // (2 * trials))
    for start in range(0, len(cases), most):
        yield cases[start : start + most]


def _tried(asked: _Asked, cases: Sequence[Case], together: int) -> list[Finding]:
    """Audit cases in shared releases. If one fails, each by itself, and one that fails then with one run a
    release, as each failure is an outcome then.
    """
    tables = [table for case in cases for table in _tables(case)]
    size = min(together, asked.trials, _MOST_ROWS // max(1, sum(map(len, tables))))
    if size > 1:
        try:
            copies = Copies(asked.plan, tuple((table, size) for table in tables))
            return _sampled(asked, cases, _Well(copies, asked.bits))
        except _FAILURES:
            pass
    if len(cases) > 1:
        return [finding for case in cases for finding in _tried(asked, [case], together)]
    return [_alone(asked, cases[0], failed=size > 1)]


def _sampled(asked: _Asked, cases: Sequence[Case], well: _Well) -> list[Finding]:
    """Audit cases whose tables are in one well, two of each in turn."""
    sides = [
        _Side(f"the table ({case.name}: {end})", well, 2 * place + added)
        for place, case in enumerate(cases)
        for added, end in enumerate(("without", "with"))
    ]
    size = well.copies.tables[0][1]
    return [
        Finding(case.name, sampled(_Side.many, *pair, trials=asked.trials, batch=size, **_claim(asked)))
        for case, pair in zip(cases, zip(sides[::2], sides[1::2], strict=True), strict=True)
    ]


def _alone(asked: _Asked, case: Case, *, failed: bool) -> Finding:
    """Audit one case with one run a release. failed: a release did, so fewer runs are enough."""
    wells = [_Well(Copies(asked.plan, ((table, 1),)), asked.bits) for table in _tables(case)]
    sides = [
        _Side(f"the table ({case.name}: {end})", well, 0)
        for well, end in zip(wells, ("without", "with"), strict=True)
    ]
    enough = _enough(asked.plan.guarantee.epsilon, asked.confidence)
    trials = min(asked.trials, enough) if failed else asked.trials
    return Finding(case.name, sampled(_Side.one, *sides, trials=trials, **_claim(asked)))


def _tables(case: Case) -> tuple[Sequence[SmallRow], Sequence[SmallRow]]:
    return list(case.crowd), [*case.crowd, *case.unit]


def _claim(asked: _Asked) -> dict[str, Any]:
    promised = asked.plan.guarantee
    return {
        "epsilon": promised.epsilon,
        "delta": promised.delta,
        "confidence": asked.confidence,
        "progress": False,
    }


def _enough(epsilon: Fraction, confidence: Fraction) -> int:
    """Return runs that refute the claim if every run of one table fails and none of the other."""
    alpha = float(1 - confidence) / 60
    needed = log(1 / alpha) * (1 + exp(min(float(epsilon), 5.0)))
    return LEAST_TRIALS + ceil(1.3 * needed)
