"""What goes wrong while private data are read leaves no trace of them: neither in words nor in frames.

A traceback keeps every function that it passed through, with its variables: un-noised counts among them.
Tools that report errors print and send these. So an error leaves `unseen` without the frames below it, and
without the errors that led to it:

| the error                            | what leaves                                              |
|--------------------------------------|----------------------------------------------------------|
| one of the package's own             | itself: its words are made of public facts               |
| Ctrl-C, SystemExit, other non-errors | itself: its words are the caller's                       |
| anything else                        | EngineError with one fixed message: its words may be private |

Limit: a second Ctrl-C within the microseconds in which the first is being handled has frames of its own.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import TypeVar

from deniable.errors import DeniableError, EngineError

Result = TypeVar("Result")

FAILED = (
    "The engine failed while it read the data. Why it failed is private, so no detail is given. "
    "Nothing was published. Check free memory and disk, and that the source can still be read."
)


def unseen(read: Callable[[], Result]) -> Result:
    """Return what `read` returns. Its errors leave as the table says; their frames are emptied.

    Raises:  EngineError: anything unforeseen; why is private. DeniableError: as `read` raised it.
    """
    try:
        return read()
    except BaseException as error:  # noqa: BLE001 - whatever it is, its frames hold private numbers
        left = _emptied(error)
    raise left


def _emptied(error: BaseException) -> BaseException:
    """Empty the frames of an error and of all that led to it; return the error to raise in its place."""
    waiting, seen = [error], {id(error)}
    while waiting:
        one = waiting.pop()
        led = [cause for cause in (one.__cause__, one.__context__) if cause and id(cause) not in seen]
        seen.update(map(id, led))
        waiting += led
        traceback.clear_frames(one.__traceback__)
        one.__traceback__ = one.__cause__ = one.__context__ = None
    own = isinstance(error, DeniableError) or not isinstance(error, Exception)
    return error if own else EngineError(FAILED)
