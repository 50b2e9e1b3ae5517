"""Run a subject again and again, and bring whatever comes out into a few plain forms.

| what a run gives                           | becomes                                                      |
|--------------------------------------------|--------------------------------------------------------------|
| a number                                   | itself                                                       |
| text, bytes                                | itself                                                       |
| a list, tuple or array of numbers          | a tuple of numbers                                           |
| a mapping                                  | `Rows`: its keys, each with the numbers of its value         |
| a set                                      | `Rows`: its elements, without numbers                        |
| a table (Arrow, pandas, Polars), a list of | `Rows`: columns that are not numbers are the key, the others |
| mappings                                   | its numbers                                                  |
| None                                       | itself: silence is an outcome                                |
| an exception                               | `Raised`: its type and message are an outcome                |
| anything else                              | its text (`repr`)                                            |

This is post-processing: no subject can look less private by it than it is, only more.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.errors import ParameterError

Run = Callable[..., Any]
Outcomes = NDArray[Any] | list[object]
"""Of n runs: an array of numbers `(n,)` or `(n, d)`, or a list of plain outcomes."""

RAISED = "raised an error"
_NUMBERS = (int, float, np.integer, np.floating, np.bool_, Fraction, Decimal)


@dataclass(frozen=True, slots=True)
class Raised:
    """The outcome of a run that raised."""

    kind: str
    message: str


class Rows(dict[Hashable, tuple[float, ...]]):
    """The outcome of a run that gave a table, a mapping or a set. columns: what its numbers are called."""

    def __init__(
        self, items: Mapping[Hashable, tuple[float, ...]] | None = None, *, columns: tuple[str, ...] = ()
    ) -> None:
        super().__init__(items or {})
        self.columns = columns


@dataclass(frozen=True, slots=True)
class Runner:
    """A subject, ready to be run n times on one input.

    batch: None if `run(input)` gives one outcome; else `run(input, n)` gives n of them, n at most `batch`.
    bits:  handed over as `bits=` if the subject has a parameter of that name.
    """

    run: Run
    batch: int | None
    bits: Bits

    def __call__(self, given: object, n: int) -> Outcomes:
        """Return n outcomes of independent runs on this input."""
        named = {"bits": self.bits} if _takes_bits(self.run) else {}
        if self.batch is None:
            return [self._one(given, named) for _ in range(n)]
        pieces = [self._many(given, min(self.batch, n - start), named) for start in range(0, n, self.batch)]
        return joined(pieces)

    def _one(self, given: object, named: Mapping[str, Bits]) -> object:
        try:
            outcome = self.run(given, **named)
        except Exception as error:  # noqa: BLE001 - whatever a subject raises, an observer sees
            return Raised(type(error).__name__, str(error))
        return plain(outcome)

    def _many(self, given: object, n: int, named: Mapping[str, Bits]) -> Outcomes:
        outcomes = self.run(given, n, **named)
        if isinstance(outcomes, np.ndarray) and outcomes.dtype.kind in "biuf" and outcomes.ndim in (1, 2):
            found: Outcomes = outcomes
        else:
            found = [plain(outcome) for outcome in outcomes]
        if len(found) != n:
            fix = f"Return exactly {n} outcomes from run(input, {n}), or leave batch out."
            raise ParameterError("run", len(found), f"must return {n} outcomes", fix)
        return found


def alike(outcomes: Outcomes) -> str | None:
    """Return what every run did, in words ("gave 3", "raised KeyError: 'a'"), if all did the same."""
    if not len(outcomes):
        return None
    first = outcomes[0]
    if isinstance(outcomes, np.ndarray):
        return f"gave {outcomes[0].tolist()!r}" if bool((outcomes == first).all()) else None
    if isinstance(first, Raised) and all(isinstance(one, Raised) for one in outcomes):
        return f"raised {first.kind}: {first.message}" if all(one == first for one in outcomes) else RAISED
    return f"gave {first!r}" if all(one == first for one in outcomes) else None


def joined(pieces: Sequence[Outcomes]) -> Outcomes:
    """Return outcomes one after the other."""
    if all(isinstance(piece, np.ndarray) for piece in pieces):
        return np.concatenate(pieces)  # type: ignore[arg-type]
    return [outcome for piece in pieces for outcome in piece]


def plain(outcome: object) -> object:
    """Return the outcome in one of the forms at the top of this module."""
    if outcome is None or isinstance(outcome, str | bytes | bool | int | float | Raised | Rows):
        return outcome
    if isinstance(outcome, np.ndarray | np.generic):
        outcome = outcome.tolist()
        return outcome if isinstance(outcome, int | float | str | bytes) else plain(outcome)
    if isinstance(outcome, Fraction | Decimal):
        return float(outcome)
    if isinstance(outcome, AbstractSet):
        return Rows({_key(element): () for element in outcome})
    if isinstance(outcome, Mapping):
        return _rows(((key,), value) for key, value in outcome.items())
    if isinstance(outcome, Sequence) and all(isinstance(value, _NUMBERS) for value in outcome):
        return tuple(float(value) for value in outcome)
    return _table(outcome)


def _table(outcome: object) -> object:
    """Return the rows of a data frame or of a list of mappings; the text of anything else."""
    if hasattr(outcome, "__arrow_c_stream__"):
        import pyarrow as pa

        outcome = pa.table(outcome).to_pylist()
    if isinstance(outcome, Sequence) and all(isinstance(row, Mapping) for row in outcome):
        rows = _rows(_split(row) for row in outcome)
        rows.columns = _number_columns(outcome)
        return rows
    return repr(outcome)


def _split(row: Mapping[object, object]) -> tuple[tuple[object, ...], list[object]]:
    """Return what names a row and what is measured in it."""
    names = tuple(value for value in row.values() if not _is_number(value))
    return names, [value for value in row.values() if _is_number(value)]


def _number_columns(table: Sequence[Mapping[object, object]]) -> tuple[str, ...]:
    """Return the names of the columns that hold numbers in every row."""
    names = dict.fromkeys(name for row in table for name in row)
    return tuple(str(name) for name in names if all(_is_number(row.get(name)) for row in table))


def _rows(items: Iterable[tuple[tuple[object, ...], object]]) -> Rows:
    rows = Rows()
    for names, value in items:
        values = value if isinstance(value, list | tuple | np.ndarray) else [value]
        numbers = tuple(float(one) for one in values if isinstance(one, _NUMBERS) and _is_number(one))
        rest = tuple(one for one in values if not _is_number(one))
        key = tuple(_key(name) for name in (*names, *rest))
        while key in rows:
            key = (*key, "again")
        rows[key] = numbers
    return rows


def _is_number(value: object) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def _key(value: object) -> Hashable:
    return value if isinstance(value, str | bytes | int | bool | tuple | frozenset) else repr(value)


def _takes_bits(run: Run) -> bool:
    try:
        return "bits" in inspect.signature(run).parameters
    except (TypeError, ValueError):
        return False
