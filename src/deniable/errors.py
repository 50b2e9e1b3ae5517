"""Every error that this package raises on purpose.

    DeniableError
    ├── ParameterError (also ValueError)   an argument is wrong; names it, shows it, says what to write
    │   └── ExpressionError                a row-wise expression is wrong; carries the text and the column
    ├── SourceError                        a file or table cannot be used, judged from public facts
    ├── EngineError                        the engine failed on private data: one fixed message, no detail
    ├── NoiseError                         a draw left the range that a 64-bit integer holds safely
    ├── ReportError                        a report of a device does not fit what reads it
    ├── BudgetError                        the ledger has less left than this costs
    └── LedgerError                        the ledger is damaged, locked or does not fit this data

No message ever contains a value read from private data. Public facts (arguments, column names,
declared types, bounds) may appear. Facts are also kept as fields, so that a program can read them.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from enum import Enum
from typing import Any

_FRACTION = re.compile(r"\bFraction\((-?\d+), (\d+)\)")
_RATIO = re.compile(r"(-?\d+)/(\d+)")
_LONG, _DIGITS = 20, 12


class Withheld(Enum):
    """Stands for a value that an error does not show."""

    WITHHELD = "withheld"


WITHHELD = Withheld.WITHHELD


class DeniableError(Exception):
    """The root: catch this to catch everything that `deniable` raises on purpose.

    Every one can be pickled, with its fields, so that another process may raise it.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args, dict(vars(self)))


class ParameterError(DeniableError, ValueError):
    """An argument is wrong.

    Fields: `argument` (its name), `value` (what was given; WITHHELD where that may be somebody's),
    `problem` (what is wrong with it), `fix` (what to write instead).
    """

    def __init__(self, argument: str, value: object, problem: str, fix: str) -> None:
        self.argument = argument
        self.value = value
        self.problem = problem
        self.fix = fix
        got = "" if value is WITHHELD else f", got {_shown(value)}"
        super().__init__(f"{argument} {problem}{got}. {fix}")

    def named(self, argument: str) -> ParameterError:
        """Return the same error under the name that the caller knows, such as an option's."""
        return ParameterError(argument, self.value, self.problem, self.fix)


class ExpressionError(ParameterError):
    """A row-wise expression is wrong. `column` is the 0-based place in `value` (the text)."""

    def __init__(self, argument: str, value: str, column: int, problem: str, fix: str) -> None:
        self.column = column
        super().__init__(argument, value, problem, fix)
        self.args = (f"{argument}: {problem}.\n{_pointed(value, column)}\n{fix}",)


class SourceError(DeniableError):
    """A file or table cannot be used, judged from public facts alone (names, header, types)."""


class EngineError(DeniableError):
    """The engine failed while it read private data. The message is fixed: why it failed is private."""


class NoiseError(DeniableError):
    """A draw left the range in which 64-bit integers are exact. Nothing was published."""


class ReportError(DeniableError):
    """A report does not fit what reads it: another version, protocol, parameter, table or size.

    Field: `differs`, the name of what differs. No value of a report is ever shown.
    """

    def __init__(self, message: str, *, differs: str) -> None:
        self.differs = differs
        super().__init__(message)


class BudgetError(DeniableError):
    """The ledger has less left than this release costs. Nothing was read, nothing was spent.

    Fields: `short` ("epsilon", "delta" or "rho"), `asked` and `left` (exact text).
    """

    def __init__(self, message: str, *, short: str, asked: str, left: str) -> None:
        self.short = short
        self.asked = asked
        self.left = left
        super().__init__(message)


class LedgerError(DeniableError):
    """The ledger is damaged, locked, unreadable or belongs to other data. Nothing was spent.

    Fields: `problems`, one sentence for each bad entry that `Ledger.verify` found.
    """

    def __init__(self, message: str, *, problems: tuple[str, ...] = ()) -> None:
        self.problems = problems
        super().__init__(message)


def _again(kind: type[DeniableError], words: tuple[Any, ...], fields: dict[str, Any]) -> DeniableError:
    """Return an error with these words and fields, without making its message again."""
    error = kind.__new__(kind, *words)
    error.__dict__.update(fields)
    return error


def _pointed(text: str, column: int) -> str:
    """Return the part of the text around `column` on one line, and a caret under that column."""
    start = 0 if len(text) <= 72 else max(column - 40, 0)
    part = re.sub(r"\s", " ", text[start : start + 72])
    before = ("..." if start else "") + part[: column - start]
    line = ("..." if start else "") + part + ("..." if len(text) > start + 72 else "")
    return f"    {line}\n    {' ' * sum(map(_width, before))}^"


def _width(character: str) -> int:
    """Return how many columns a terminal gives to one character."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _short(ratio: re.Match[str]) -> str:
    """Return a ratio of whole numbers as people write it; a long one as a decimal, rounded."""
    top, bottom = int(ratio[1]), int(ratio[2])
    if bottom == 1:
        return str(top)
    if bottom == 0 or len(ratio[1]) + len(ratio[2]) < _LONG:
        return f"{ratio[1]}/{ratio[2]}"
    rounded = Context(prec=_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
    return str(rounded.normalize(rounded.divide(Decimal(top), Decimal(bottom)))).replace("E", "e")


def _shown(value: object) -> str:
    """Return short text for any value; of a table only its type, as the text of a table holds its rows."""
    if hasattr(value, "__arrow_c_stream__"):
        return f"a {type(value).__name__}"
    try:
        if not isinstance(value, str):
            text = _FRACTION.sub(_short, repr(value))
        elif len(value) > _LONG and (ratio := _RATIO.fullmatch(value)):
            text = _short(ratio)
        else:
            text = repr(value)
    except ValueError:  # Python writes no integers of more than 4,300 digits
        text = "a number of very many digits"
    return text if len(text) <= 80 else f"{text[:29]}...{text[-48:]}"  # the end of a path says most
