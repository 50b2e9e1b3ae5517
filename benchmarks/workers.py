"""Other packages, each in an environment of its own, made once under the user's cache folder.

`Rival` is a process in that environment that answers one JSON question a line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path


class Rival:
    """A process of another package. worker: its program, which says "ready" first."""

    def __init__(self, python: Path, worker: str) -> None:
        self._process = subprocess.Popen(
            [python, "-W", "ignore", "-c", worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._line()

    def ask(self, question: Mapping[str, object]) -> dict[str, float]:
        """Return the worker's answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer: dict[str, float] = json.loads(self._line())
        return answer

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise OSError("its process ended")
        return line


def rival(name: str, packages: Sequence[str], worker: str) -> Rival | None:
    """Start a package's worker, installing it where needed; say why if that fails, and return None."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    folder = cache / "deniable-benchmarks" / name
    python = folder / "bin" / "python"
    try:
        if not python.exists():
            venv.create(folder, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *packages]
        done = subprocess.run(install, capture_output=True, text=True, timeout=900)
        if done.returncode:
            raise OSError(done.stderr.strip().splitlines()[-1])
        return Rival(python, worker)
    except (OSError, subprocess.SubprocessError) as problem:
        print(f"{name} is left out: {problem}", file=sys.stderr)
        return None
