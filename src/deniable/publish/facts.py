"""The facts that a plan and its release hand over to be worded: plain, frozen, and all public.

Nothing here comes from private data except what the release itself publishes (`Table`, `Coverage`),
which has its noise already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from deniable.guarantees import Guarantee, Neighbours

Kind = Literal[
    "units",
    "count",
    "sum",
    "mean",
    "variance",
    "std",
    "quantile",
    "minimum",
    "maximum",
    "histogram",
    "distinct",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFacts:
    """One published number per group: what it counts, how it was bounded, how noisy it is.

    name:     the output column; its interval is in `<name>_low` and `<name>_high`.
    column:   the input column that is counted, summed or averaged; None for units and for all rows.
    max_rows: rows of one unit that count in one group; None where a row is the unit, and for units.
    bounds:   what each value is clamped to; None for units and counts.
    scale:    Laplace scale or Gaussian standard deviation, in the units of the output; for a mean, of
              its sum; for a variance or standard deviation, of its sum of squares, in squared units.
    error:    half the width of the interval at `Facts.confidence`, as text without rounding by floats,
              in the units of the output; None where it depends on the released values, as for a mean.
    rank:     which of the sorted values a quantile, minimum or maximum is, in words; None otherwise.
    rest:     half the width of the interval in the row of everything else, like `error`; None without one.
    max_values: different values of one unit that count in one group; None where a row is the unit, and for
              all but distinct.
    """

    name: str
    kind: Kind
    column: str | None
    max_rows: int | None
    bounds: tuple[Fraction, Fraction] | None
    noise: Literal["laplace", "gaussian"]
    scale: Fraction
    error: str | None
    rank: str | None = None
    max_values: int | None = None
    rest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of what people gave was counted in full, from noisy values alone.

    share: "about 60 %". would: (max_groups, "about 90 %") pairs, what a larger bound would count.
    """

    share: str
    would: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerFacts:
    """The ledger after this release: its name, what is left ("epsilon 2, delta 9e-8") and its head."""

    label: str
    remaining: str
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything a statement says, besides the published numbers.

    unit:       the unit column, or "row" where each row is a unit.
    population: number of units as stated by the publisher; never read from the data.
    source:     the data's label, a file name for example.
    steps:      the row-wise preparation as it was written: ("where age >= 18", "hue = lower(colour)").
    groups:     the key columns, in order; () for totals.
    keys:       "none" (totals), "public" (named beforehand), "unknown" (found, then thresholded).
    max_groups: groups in which one unit counts in full; None for totals.
    max_given:  False if nobody chose max_groups, so that it is the default.
    max_keys:   groups of one unit that are looked at at all; None for totals.
    over:       what happens to a unit in more groups: it counts less in each, or is dropped from some.
    threshold:  least noisy number of units with which a group is published (>=); None unless "unknown".
                By chance: the number of units with which it is published every second time. In rounds: the
                least noisy number in any round, of units which are in no other group that is left.
    selection:  how groups are found; None unless "unknown".
    rounds:     the thresholds of all rounds, in units; () without rounds.
    certain:    the least number of units with which chance always publishes; None if chance does not choose.
    assumed:    whole sentences about what was taken to be public.
    secure:     False if the noise came from a seed: then nothing is protected.
    other:      the last row, whose keys are missing, holds everything that was not found.
    chosen:     bounds that were chosen privately, a sentence each; () if all were stated.
    composed:   the theorem that prices the noise of all columns together; None for one column alone.
    """

    unit: str
    guarantee: Guarantee
    neighbours: Neighbours
    population: int | None
    source: str
    keys: Literal["none", "public", "unknown"]
    max_groups: int | None
    max_keys: int | None
    over: Literal["weight", "drop"] | None
    columns: tuple[ColumnFacts, ...]
    confidence: Fraction
    threshold: Fraction | None
    version: str
    groups: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    coverage: Coverage | None = None
    assumed: tuple[str, ...] = ()
    ledger: LedgerFacts | None = None
    purpose: str | None = None
    when: str | None = None
    secure: bool = True
    composed: Literal["basic", "gaussian", "loss distribution"] | None = None
    selection: Literal["threshold", "truncated-geometric", "sips"] | None = None
    rounds: tuple[Fraction, ...] = ()
    certain: int | None = None
    other: bool = False
    chosen: tuple[str, ...] = ()
    max_given: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """The published rows as plain columns of one length, in the order of `names`.

    Key columns (`Facts.groups`) hold any Python value, None for NULL; each output column has numbers,
    its `<name>_low` and `<name>_high` beside it.
    """

    names: tuple[str, ...]
    columns: tuple[Sequence[object], ...]

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def column(self, name: str) -> Sequence[object]:
        """Return the column of that name; ValueError if there is none."""
        return self.columns[self.names.index(name)]
