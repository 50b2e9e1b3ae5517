"""PrivKVM: people answer in rounds; whoever lacks a key answers with the mean that the last round gave.

One round (Ye et al. 2019, local perturbation protocol), with half of its epsilon for the key, half for the
value:
1. The device draws one key, all equally likely and apart from what the person holds, and names it.
2. A person who holds it turns the number into a sign, + with probability place / 2**32. One who lacks it
   takes a sign from the mean of the last round instead (at first the middle).
3. The report is "lacks it", or "holds it" with a sign. P / 2**32 is the probability that holding is told as
   it is, V / 2**32 that the sign is.

Guarantee: the four rows of `lying` (holds or lacks it, sign + or -) differ by at most P / (2**32 - P) times
V / (2**32 - V) in every column, held by `Table.check`; a device's row depends on public means, the person's
pairs and coins, and is thus a mixture of rows. Rounds add up: all of them together cost the sum.

The mean is biased towards the last round's: of the reports that say "holds it", only the share
f P / (f P + (1 - f) (1 - P)) comes from people who hold the key. Each round takes that share of the way.
Source: Ye, Hu, Meng, Zheng 2019. PCKV (`schemes`) has no such bias and answers once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.local.coins import ONE, chosen, most, spread, truth
from deniable.local.keyvalue.pairs import Pairs, parts
from deniable.local.keyvalue.schemes import Counts
from deniable.local.tables import Table

Means = tuple[int, ...]
_LEAST = 1 << 17


@dataclass(frozen=True)
class Lying:
    """One round. means: places from 0 to 2**32, what people who lack a key take; presence, sign: P and V."""

    keys: int
    presence: int
    sign: int
    means: Means

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What both ends must agree on; the means as SHA-256 of 8 bytes each."""
        digest = hashlib.sha256(b"".join(mean.to_bytes(8, "little") for mean in self.means)).hexdigest()
        return (("means", digest),)

    @property
    def form(self) -> tuple[type[np.uint32], None]:
        """A report is four times the key, plus 0 (lacks it), 1 (+) or 2 (-)."""
        return np.uint32, None

    @property
    def below(self) -> int:
        """No report is as large as this."""
        return 4 * self.keys

    @cached_property
    def table(self) -> Table:
        """Rows: holds it with -, with +; lacks it with -, with +. Columns: lacks, +, -."""
        rows = []
        for told in (self.presence, ONE - self.presence):
            likely = told * self.sign >> 32
            rows += [[ONE - told, told - likely, likely], [ONE - told, likely, told - likely]]
        return Table(rows)

    @property
    def ratio(self) -> Fraction:
        """The largest quotient of the probabilities of one report."""
        return self.table.ratio()

    def reports(self, pairs: Pairs, bits: Bits) -> NDArray[np.uint32]:
        """Return one report of each person."""
        wanted = chosen(len(pairs), self.keys, bits)
        holds, at = pairs.held(wanted)
        sign = np.minimum(spread(np.where(holds, at, np.array(self.means)[wanted]), bits), 1)
        code = self.table.sample(np.where(holds, 0, 2) + sign, bits).astype(np.int64)
        return (4 * wanted + code).astype(np.uint32)

    def counts(self, payload: NDArray[Any]) -> Counts:
        """Return how many reports of each key said +, - and that they lack it, `(3, keys)`."""
        four = np.bincount(payload, minlength=self.below).reshape(-1, 4)
        return np.asarray(four[:, [1, 2, 0]].T, np.int64)

    def law(self, pairs: Pairs) -> dict[int, Fraction]:
        """Return the law of the report of one person."""
        law: dict[int, Fraction] = {}
        for key, likely in enumerate(parts(self.keys)):
            holds, at = pairs.held(np.array([key]))
            positive = Fraction(int(at[0]) if holds[0] else self.means[key], ONE)
            minus, plus = self.table.entries[0 if holds[0] else 2 :][:2]
            for code in range(3):
                law[4 * key + code] = likely * (positive * plus[code] + (1 - positive) * minus[code]) / ONE
            law[4 * key + 3] = Fraction(0)
        return {report: chance for report, chance in law.items() if report % 4 != 3}


def lying(keys: int, epsilon: Fraction, means: Means | None) -> Lying:
    """Return a round at this epsilon; the middle for all keys when there are no means.

    Each lie has a probability of at least 2**-15, whatever epsilon is: then all entries are above 0.
    """
    told = min(truth(most(epsilon / 2)), ONE - _LEAST)
    return Lying(keys, told, told, (ONE // 2,) * keys if means is None else means)
