"""`dn.audit.sampled`: run a black box on two neighbouring inputs and bound what it gives away, from below.

    dn.audit.sampled(lambda x, n, bits: x + noise.sample(n, bits=bits), 0, 1,
                     trials=100_000, confidence=0.95, epsilon=1, batch=10_000)

1. The first tenth of the runs (the pilot) chooses one set of outputs and one direction (`pilot.choose`).
2. All other runs count how often that set comes up: independent of the choice, so two binomial numbers.
3. Clopper-Pearson at alpha/2 a side encloses the two probabilities, rounded outward (`intervals`): both
   bounds hold at once with probability at least 1 - alpha = `confidence`.
4. If the mechanism were (epsilon, delta)-private, p <= e**epsilon q + delta. So every (epsilon, delta) that
   the two bounds contradict is refuted at this confidence; likewise every mu (`losses`).
5. Looks: with a claim, the test may stop as soon as it is refuted. It looks when 1/16, 1/8, ..., 1 of the
   runs are done; look j has alpha/(j (j + 1)), and these sum to alpha over all j. Without that,
   whoever looks often enough sees a violation in a correct mechanism.

Runs must be independent of each other: a program that remembers its last run is not what is bounded here.
What this proves: a violation, at the confidence. It never proves privacy: another set of outputs, another
pair of inputs or more runs might show more.
Source: Jagielski, Ullman, Oprea 2020 (the bound); Wald 1947 for the danger of step 5.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from deniable.audit import intervals
from deniable.audit.evidence import Evidence
from deniable.audit.exact import claimed
from deniable.audit.outcomes import RAISED, Outcomes, Run, Runner, alike
from deniable.audit.pilot import SEEK, Aim, Seek, Witness, choose
from deniable.audit.progress import Meter, meter
from deniable.audit.verdict import Claim, NotViolated, Violated
from deniable.audit.witnesses.sets import Pilot
from deniable.bits import Bits, SeededBits, SystemBits
from deniable.errors import ParameterError
from deniable.exact import Number, exact, probability, whole

LEAST_TRIALS = 20
MOST_TRIALS = 10**10
_PIECE = 1000
_LOOKS = 5
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to run, and for what claim (None: only to bound)."""

    claim: Claim | None
    delta: Fraction
    confidence: Fraction
    pilot: int
    looks: tuple[int, ...]
    seek: Seek

    def alpha(self, look: int) -> Fraction:
        """Return the share of 1 - confidence that look number 1, 2, ... may use."""
        alpha = 1 - self.confidence
        return alpha if len(self.looks) == 1 else alpha / (look * (look + 1))


def sampled(
    run: Run,
    first: object,
    second: object,
    *,
    trials: int,
    confidence: Number,
    delta: Number = 0,
    epsilon: Number | None = None,
    batch: int | None = None,
    seek: Seek = "epsilon",
    stop_early: bool = True,
    seed: int | None = None,
    progress: bool | None = None,
) -> NotViolated | Violated:
    """Return what so many runs of a black box show, against the claim (epsilon, delta) if there is one.

    Args:    run: `run(input)` gives one outcome: a number, text, list, table, set, None; an exception is one
             too. With `batch`, `run(input, n)` gives n outcomes of independent runs, n at most batch, and
             must not raise. If it has a parameter `bits`, it gets a source of random bits.
             first, second: two neighbouring inputs.
             trials: runs of each, a tenth of them for the pilot. confidence: of the evidence, 0.95 say.
             epsilon: what is claimed; None only bounds. seek: what the witness is chosen for.
             stop_early: stop when the claim is refuted. seed: makes the bits that are handed over repeatable.
             progress: show a bar; on a terminal when omitted.
    Raises:  ParameterError: an argument is out of range, or a batch is not as long as asked.
    """
    plan = _planned(trials, confidence, delta, epsilon, seek, stop_early=stop_early)
    size = None if batch is None else whole(batch, "batch", at_least=1, at_most=MOST_TRIALS)
    runner = Runner(run, size, _bits(seed))
    with meter(2 * (plan.pilot + plan.looks[-1]), progress) as bar:
        evidence = _tested(runner, (first, second), plan, bar)
    refuted = plan.claim is not None and evidence.refutes(plan.claim.epsilon)
    if plan.claim is None or not refuted:
        return NotViolated(plan.claim, evidence)
    inputs = (first, second) if evidence.likelier == "first" else (second, first)
    return Violated(plan.claim, inputs, evidence.witness, evidence.p, evidence.q, "sampled", evidence)


def _planned(
    trials: int, confidence: Number, delta: Number, epsilon: Number | None, seek: str, *, stop_early: bool
) -> Plan:
    runs = whole(trials, "trials", at_least=LEAST_TRIALS, at_most=MOST_TRIALS)
    sure = exact(confidence, "confidence")
    if not 0 < sure < 1:
        raise ParameterError("confidence", confidence, "must be between 0 and 1", "Give for example 0.95.")
    claim = None if epsilon is None else claimed(epsilon, delta)
    if seek not in SEEK:
        raise ParameterError("seek", seek, "is not known", "Write 'epsilon', 'delta' or 'mu'.")
    if seek == "delta" and claim is None:
        raise ParameterError("seek", seek, "needs an epsilon", "Say at which: epsilon=1.")
    pilot = max(2, runs // 10)
    test = runs - pilot
    early = stop_early and claim is not None
    looks = sorted({max(1, test >> shift) for shift in range(_LOOKS)}) if early else [test]
    named: Seek = "epsilon" if seek == "epsilon" else "delta" if seek == "delta" else "mu"
    return Plan(claim, probability(delta, "delta"), sure, pilot, tuple(looks), named)


def _bits(seed: int | None) -> Bits:
    return SystemBits() if seed is None else SeededBits(seed, insecure=True)


def _tested(runner: Runner, inputs: tuple[object, object], plan: Plan, bar: Meter) -> Evidence:
    """Choose a witness and count it; return the evidence of the best look."""
    start = time.perf_counter()
    sides = [runner(given, plan.pilot) for given in inputs]
    bar.advance(2 * plan.pilot)
    witness, said = _witness(sides, plan), _same(None, *sides)
    likelier = 0 if witness.likelier == "first" else 1
    hits, done, best = [0, 0], 0, None
    for look, until in enumerate(plan.looks, 1):
        for piece in _pieces(until - done, runner.batch):
            for side in (0, 1):
                outcomes = runner(inputs[side], piece)
                hits[side] += int(witness.event.holds(outcomes).sum())
                said = said and _same(said, outcomes)
            bar.advance(2 * piece)
        done = until
        counted = (hits[likelier], hits[1 - likelier])
        found = _evidence(witness, counted, done, look, plan, time.perf_counter() - start)
        best = found if best is None or found.epsilon >= best.epsilon else best
        if plan.claim is not None and found.refutes(plan.claim.epsilon):
            return found
    assert best is not None
    runs = f"All {plan.pilot + done:,} runs of each input"
    return replace(best, alike=f"{runs} {_cut(said)}: nothing tells the inputs apart." if said else "")


def _same(before: str | None, *found: Outcomes) -> str | None:
    """Return what all runs did, in words, before and now; None unless it is the same."""
    said = {alike(outcomes) for outcomes in found} | ({before} if before else set())
    if len(said) == 1:
        return said.pop()
    return RAISED if all(words is not None and words.startswith("raised ") for words in said) else None


def _cut(words: str) -> str:
    return words if len(words) <= _LONGEST else words[: _LONGEST - 3] + "..."


def _witness(sides: list[Outcomes], plan: Plan) -> Witness:
    claimed = plan.claim is not None and plan.seek == "epsilon"
    epsilon = Fraction(0) if plan.claim is None else plan.claim.epsilon
    aim = Aim(plan.seek, claimed, epsilon, plan.delta, plan.looks[-1], plan.alpha(len(plan.looks)))
    return choose(Pilot(*sides), aim)


def _pieces(runs: int, batch: int | None) -> Iterator[int]:
    piece = batch or _PIECE
    for start in range(0, runs, piece):
        yield min(piece, runs - start)


def _evidence(
    witness: Witness, hits: tuple[int, int], trials: int, look: int, plan: Plan, seconds: float
) -> Evidence:
    alpha = plan.alpha(look) / 2
    return Evidence(
        witness=witness.event.words,
        likelier=witness.likelier,
        hits=hits,
        trials=trials,
        p=intervals.lower(hits[0], trials, alpha),
        q=intervals.upper(hits[1], trials, alpha),
        delta=plan.delta,
        confidence=plan.confidence,
        pilot=plan.pilot,
        looks=len(plan.looks),
        seconds=seconds,
    )
