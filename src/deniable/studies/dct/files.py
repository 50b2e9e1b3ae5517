"""Files of a study: each appears whole, in one step, in the folder itself and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

from deniable.errors import ParameterError


def put(path: Path, data: bytes) -> None:
    """Write a file beside its place, then put it there. A link that is there is replaced, never followed.

    Raises:  ParameterError: it cannot be written; nothing is left of it.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.unlink(missing_ok=True)
        try:
            with beside.open("xb") as file:  # "x": what is there by then is an error, a link too
                file.write(data)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        fix = "Move away what is in its place, make room, or name another folder."
        problem = f"cannot be written to ({error.strerror})"
        raise ParameterError("--out", str(path), problem, fix) from None
