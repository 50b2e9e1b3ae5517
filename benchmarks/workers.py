"""Processes of other packages that answer one JSON question a line, each in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import environments


class Rival:
    """A process of another package. worker: its program, which prints one line when it is ready."""

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
    try:
        return Rival(environments.environment(name, packages), worker)
    except (OSError, environments.NotInstalledError) as problem:
        print(f"{name} is left out: {problem}", file=sys.stderr)
        return None
