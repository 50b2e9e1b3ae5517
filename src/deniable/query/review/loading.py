"""A saved release as the value that it was. Reading it back checks nothing: that is what `review` is for."""

from __future__ import annotations

import os
from pathlib import Path

from deniable.errors import ParameterError
from deniable.query.release import Release
from deniable.query.review import fields, saved, tables
from deniable.query.review.fields import Unreadable


def load(directory: str | os.PathLike[str]) -> Release:
    """Return the release that `Release.save` or `deniable release --out` wrote into a folder.

    Only release.json and table.parquet are read; the statement is written anew from them. Whether they are
    what was published is a question for `dn.review`.
    Raises:  ParameterError: there is no such folder, or no release of this version that can be read.
    """
    folder = Path(directory)
    if not folder.is_dir():
        fix = "Give a folder that Release.save or `deniable release --out` wrote."
        raise ParameterError("directory", str(folder), "is no folder", fix)
    try:
        record = fields.read(folder / "release.json")
        saved.check_versions(record)
        release = saved.release(record, tables.read(folder / "table.parquet"))
        wrong = next(tables.problems(release.plan, release.table), None)
    except Unreadable as reason:
        wrong = str(reason)
    if wrong is not None:
        raise ParameterError(
            "directory", str(folder), f"holds no release that can be shown: {wrong}",
            "Give a folder that Release.save or `deniable release --out` wrote.",
        )  # fmt: skip
    return release
