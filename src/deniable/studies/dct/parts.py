"""The parts of a study: its sizes, the data that it was given, and what each part leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from deniable.errors import SourceError
from deniable.studies.dct.drawing import Drawing

STAND_INS = ("BR", "MX", "WISDM")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is computed. Epsilons are text, as everywhere a person writes them.

    people: in a made-up sample. crowds: figure 3. table, real_table: rows of stand-ins, at most of real data.
    folds, used, repeats: of cross-validation, of these so many are computed, so many times anew.
    products: the most products of pairs that "statistics" may ask for.
    """

    epsilons: tuple[str, ...]
    runs: int
    people: int
    alphas: tuple[str, ...]
    crowds: tuple[int, ...]
    trials: int
    table: int
    real_table: int
    learning_epsilons: tuple[str, ...]
    folds: int
    used: int
    repeats: int
    batches: tuple[int, ...]
    products: int


FULL = Sizes(
    epsilons=("0.1", "0.5", "1", "2", "4"),
    runs=100,
    people=32_561,
    alphas=("0.05", "0.1", "0.25", "0.5", "1", "2"),
    crowds=(1000, 3162, 10_000, 31_623, 100_000, 316_228),
    trials=100_000,
    table=50_000,
    real_table=200_000,
    learning_epsilons=("0.5", "1", "2", "4"),
    folds=5,
    used=5,
    repeats=5,
    batches=(1, 10, 100, 1000),
    products=1 << 16,
)
QUICK = Sizes(
    epsilons=("0.5", "1", "4"),
    runs=20,
    people=4000,
    alphas=("0.1", "0.25", "1"),
    crowds=(500, 2000, 8000),
    trials=5000,
    table=3000,
    real_table=6000,
    learning_epsilons=("1", "4"),
    folds=5,
    used=2,
    repeats=1,
    batches=(1, 20, 200),
    products=1000,
)


@dataclass(frozen=True, slots=True)
class Data:
    """The files that the user has; None: a stand-in (BR, MX, WISDM), or left out (ADULT)."""

    adult: Path | None = None
    br: Path | None = None
    mx: Path | None = None
    wisdm: Path | None = None

    def file(self, name: str) -> tuple[str | None, str]:
        """Return the file of a data set as text, and its SHA-256.

        Raises:  SourceError: it cannot be read.
        """
        found: Path | None = getattr(self, name.casefold())
        if found is None:
            return None, ""
        try:
            return str(found.resolve()), sha256(found.read_bytes()).hexdigest()
        except OSError as error:
            raise SourceError(f"{found} cannot be read: {error.strerror}.") from None


@dataclass(frozen=True, slots=True)
class Part:
    """One figure with its table. words: what it shows. rows: text, one a cell; also written as CSV."""

    name: str
    title: str
    words: Sequence[str]
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    drawing: Drawing
    synthetic: bool


def shown(number: float) -> str:
    """Return a number for a table: four digits."""
    return f"{number:.4g}"
