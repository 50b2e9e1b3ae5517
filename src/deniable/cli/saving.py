"""Where results go: checked before private data are read, written afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deniable.errors import ParameterError

if TYPE_CHECKING:
    from deniable.query.plan import Plan
    from deniable.query.release import Release


def check_out(directory: str) -> None:
    """Refuse a folder that exists or cannot be made; `Release.save` checks it again when it writes."""
    from deniable.query.saving import check_new_folder

    check_new_folder(directory)


def save_plan(plan: Plan, path: str) -> None:
    """Write the plan as JSON.

    Raises:  ParameterError: the file cannot be written.
    """
    try:
        plan.save(path)
    except ParameterError as error:
        raise error.named("--plan") from error


def save_words(words: str, path: str | Path, option: str) -> None:
    """Write a page or a picture; it appears whole or not at all.

    Raises:  ParameterError: the file cannot be written; `option` is where it was named.
    """
    from deniable.query.saving import written_whole

    try:
        written_whole(path, lambda file: file.write_text(words, "utf-8"))
    except ParameterError as error:
        raise error.named(option) from error


def save_release(release: Release, directory: str) -> ParameterError | None:
    """Write the release into a new folder; return why not, since it is paid for and must still be shown."""
    try:
        release.save(directory)
    except (OSError, ParameterError):
        fix = "The release is printed all the same: keep that, a second one would cost as much again."
        return ParameterError("--out", directory, "cannot be written", fix)
    return None
