"""Claims checked by machine: `exact` decides, `sampled` looks for evidence, `release` tries a query."""

from __future__ import annotations

from deniable.audit.distributions import Between, Steps
from deniable.audit.evidence import Evidence
from deniable.audit.exact import exact
from deniable.audit.neighbours import Case, cases
from deniable.audit.quadrature import Density
from deniable.audit.release import Findings, release
from deniable.audit.sampled import sampled
from deniable.audit.verdict import Computed, NotViolated, Proved, Verdict, Violated

__all__ = [
    "Between",
    "Case",
    "Computed",
    "Density",
    "Evidence",
    "Findings",
    "NotViolated",
    "Proved",
    "Steps",
    "Verdict",
    "Violated",
    "cases",
    "exact",
    "release",
    "sampled",
]
