"""Where results go: checked before private data are read, written afterwards."""

from __future__ import annotations

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
    except OSError:
        fix = "Name a file in a folder that exists and may be written to."
        raise ParameterError("--plan", path, "cannot be written", fix) from None


def save_release(release: Release, directory: str) -> ParameterError | None:
    """Write the release into a new folder; return why not, since it is paid for and must still be shown."""
    try:
        release.save(directory)
    except (OSError, ParameterError):
        fix = "The release is printed all the same: keep that, a second one would cost as much again."
        return ParameterError("--out", directory, "cannot be written", fix)
    return None
