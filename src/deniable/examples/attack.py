"""The attack that tells whether one person answered, run against a histogram and its neighbour.

The attacker knows everybody's answers but for one thing: whether this person took part. So it holds two
files, with the person and without. A fair coin chooses one, a histogram of it is published, and the attacker
names the file. Tossing a coin is right half of the time.

The naive histogram counts people for each colour that is *present* and adds discrete Laplace noise.
- If the person gave a common colour, both files have the same colours. The noise hides the person: the best
  attacker is right with probability 1/(1 + q), q = exp(-1/scale): 3/4 at scale 1/ln 3.
- If the person alone gave a colour, it is in one histogram and never in the other: right every time,
  whatever the noise. A threshold on the noisy count is what prevents that.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.noise.laplace import DiscreteLaplace

_CHUNK = 500
_ABSENT = np.iinfo(np.int64).min

Answers = Mapping[str, frozenset[str]]
"""The colours that each person gave."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How often the attacker named the right file, and whether one file alone had the person's colour."""

    colour: str
    people: int
    only_here: bool
    trials: int
    right: int

    @property
    def rate(self) -> Fraction:
        """The share of trials in which the attacker was right."""
        return Fraction(self.right, self.trials)


def answers(path: Path) -> dict[str, frozenset[str]]:
    """Read the colours that each person gave, in small letters and without spaces around them."""
    given: dict[str, set[str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            given.setdefault(row["person"], set()).add(row["colour"].strip().lower())
    return {person: frozenset(colours) for person, colours in given.items()}


def attack(
    given: Answers, colour: str, *, scale: Fraction, threshold: int | None, trials: int, bits: Bits
) -> Outcome:
    """Attack the first person who gave this colour and no other.

    Args:    scale: of the discrete Laplace noise on each count. threshold: publish only noisy counts of at
             least that; None publishes each colour that is present (the naive histogram).
    Raises:  ValueError: nobody gave this colour alone.
    """
    person = next((who for who, colours in given.items() if colours == {colour}), None)
    if person is None:
        raise ValueError(f"nobody in the file gave {colour!r} and no other colour")
    with_person = _counts(given)
    without = _counts({who: colours for who, colours in given.items() if who != person})
    noise = DiscreteLaplace(scale)
    right = 0
    for start in range(0, trials, _CHUNK):
        n = min(_CHUNK, trials - start)
        coins = np.array([bits.integer(1) for _ in range(n)], dtype=bool)
        for coin, counts in ((True, with_person), (False, without)):
            published = _histograms(
                counts, list(with_person), int((coins == coin).sum()), noise, threshold, bits
            )
            guesses = _guesses(published, with_person, without, threshold)
            right += int((guesses == coin).sum())
    return Outcome(colour, with_person[colour], without[colour] == 0, trials, right)


def _counts(given: Answers) -> Counter[str]:
    return Counter(colour for colours in given.values() for colour in colours)


def _histograms(
    counts: Counter[str],
    colours: list[str],
    n: int,
    noise: DiscreteLaplace,
    threshold: int | None,
    bits: Bits,
) -> NDArray[np.int64]:
    """Return n published histograms, `(n, colours) int64`; a colour that is not published is `_ABSENT`."""
    true = np.array([counts[colour] for colour in colours], dtype=np.int64)
    noisy = true + noise.sample(n * len(colours), bits=bits).reshape(n, len(colours))
    published = np.broadcast_to(true > 0, noisy.shape)
    if threshold is not None:
        published = published & (noisy >= threshold)
    return np.where(published, noisy, _ABSENT)


def _guesses(
    published: NDArray[np.int64],
    with_person: Counter[str],
    without: Counter[str],
    threshold: int | None,
) -> NDArray[np.bool_]:
    """Return for each histogram whether the attacker says "with".

    Only the person's colours can tell. Each has a distance to the count in either file; the file that is
    nearer in all is named (the likelier one, as the noise falls off geometrically). A colour that is shown
    although one file lacks it, or missing although nothing could hide it, settles the matter.
    """
    said = np.zeros(len(published))
    for place, colour in enumerate(with_person):
        more, less = with_person[colour], without[colour]
        if more == less:
            continue
        shown = published[:, place] != _ABSENT
        column = np.where(shown, published[:, place], 0)
        if less == 0:
            missing = 0.0 if threshold is not None else -np.inf
            said += np.where(shown, np.inf, missing)
        else:
            said += np.where(shown, np.abs(column - less) - np.abs(column - more), 0)
    return said > 0
