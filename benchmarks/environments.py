"""Environments of other packages, in pinned versions, made once under the user's cache folder.

Rivals are measured at the versions named here. Each has a virtual environment of its own, since what they
need contradicts what we need and each other. An environment is `ready` once everything is installed; it is
made again when what it should hold has changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

OPENDP = ("opendp[polars]==0.16.0",)
PIPELINEDP = ("pipeline-dp==0.3.1", "pyarrow==26.0.1")
TUMULT = ("tmlt.analytics==0.21.0", "setuptools==84.2.1")
SMARTNOISE = ("smartnoise-sql==1.0.10", "pandas==2.3.3", "pyarrow==26.0.1")
PLENTY = 900


class NotInstalledError(Exception):
    """An environment could not be made; the message is one line that says why."""


def cache() -> Path:
    """Return the folder of all environments."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "deniable-benchmarks"


def environment(
    name: str, requirements: Sequence[str], *, folder: Path | None = None, seconds: int = PLENTY
) -> Path:
    """Return the Python of the environment `name` that holds `requirements`; make it if it is not there.

    Args:    requirements: what pip installs, each with its version. folder: where environments are kept.
    Raises:  NotInstalledError: it could not be made within `seconds`.
    """
    place = (folder or cache()) / name
    ready, wanted = place / "ready", "\n".join(requirements) + "\n"
    if not (ready.exists() and ready.read_text("utf-8") == wanted):
        try:
            _made(place, requirements, seconds)
        except OSError as problem:
            raise NotInstalledError(f"{name}: {problem}") from None
        except subprocess.TimeoutExpired:
            raise NotInstalledError(f"{name}: not installed after {seconds} s") from None
        ready.write_text(wanted, "utf-8")
    return python_of(place)


def python_of(place: Path) -> Path:
    """Return where the environment in this folder has its Python."""
    return place / "bin" / "python"


def _made(place: Path, requirements: Sequence[str], seconds: int) -> None:
    """Make an empty environment in `place` and install into it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    pip = [str(python_of(place)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in ([sys.executable, "-m", "venv", "--clear", str(place)], [*pip, *requirements]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        if done.returncode:
            raise NotInstalledError(f"{place.name}: {last_line(done.stderr or done.stdout)}")


def last_line(printed: str) -> str:
    """Return the last line that says something, at most 200 characters of it."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no reason was given"
