"""What the benchmark programs share: a printed table, a JSON file, the machine, a measured process.

Time and memory of a measured process are those of everything it started: the process tree is looked at ten
times a second (on Linux); memory is the sum of what is resident, shared pages counted for each process.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

RESULTS = Path(__file__).resolve().parent / "results"

Row = Mapping[str, object]


def machine() -> dict[str, str]:
    """Say where and when the figures were taken."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "cpus": str(os.cpu_count()),
        "machine": platform.machine(),
        "python": platform.python_version(),
    }


def table(rows: Sequence[Row]) -> str:
    """Return the rows as text, columns aligned."""
    names = list(rows[0])
    cells = [names, *([str(row.get(name, "")) for name in names] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells
    )


def publish(name: str, title: str, rows: Sequence[Row], command: str, path: Path | None) -> None:
    """Print the table; write it as JSON to `path` if one is given."""
    print(f"{title}\n{table(rows)}")
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        facts = {"name": name, "title": title, "command": command, "machine": machine(), "rows": list(rows)}
        path.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")


@dataclass(frozen=True)
class Outcome:
    """One run of a program: `code` is 0 when it went well, None when it was stopped for taking too long."""

    wall: float
    cpu: float
    gigabytes: float
    printed: str
    errors: str
    code: int | None


@dataclass
class Tree:
    """What a process and everything below it has used, as far as it was seen."""

    root: int
    peak: int = 0
    ticks: dict[int, int] = field(default_factory=dict)
    over: threading.Event = field(default_factory=threading.Event)

    def watch(self) -> None:
        """Look ten times a second until it is over."""
        while not self.over.wait(0.1):
            self.peak = max(self.peak, sum(self._resident(process) for process in self._processes()))

    def seconds(self) -> float:
        """Return the processor time that was seen."""
        return sum(self.ticks.values()) / os.sysconf("SC_CLK_TCK")

    def _processes(self) -> list[int]:
        found = [self.root]
        for process in found:
            try:
                for path in Path(f"/proc/{process}/task").glob("*/children"):
                    found += [int(child) for child in path.read_text().split()]
            except OSError:
                continue
        return found

    def _resident(self, process: int) -> int:
        try:
            after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0
        self.ticks[process] = int(after_name[11]) + int(after_name[12])
        return int(after_name[21]) * os.sysconf("SC_PAGE_SIZE")


def measured(
    command: Sequence[str | Path],
    *,
    folder: str | Path | None = None,
    settings: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> Outcome:
    """Run a program in a session of its own; say what it and everything it started used.

    Args:    folder: where it runs. settings: added to the environment. seconds: when it is stopped.
    """
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            [str(word) for word in command],
            stdout=printed,
            stderr=errors,
            cwd=folder,
            env={**os.environ, **(settings or {})},
            start_new_session=True,
        )
        usage, code, tree = _waited(process, seconds)
        wall = time.perf_counter() - start
        for stream in (printed, errors):
            stream.seek(0)
        return Outcome(
            wall,
            max(usage.ru_utime + usage.ru_stime, tree.seconds()),
            max(_bytes(usage), tree.peak) / 1e9,
            printed.read(),
            errors.read(),
            code,
        )


def _waited(
    process: subprocess.Popen[bytes], seconds: float | None
) -> tuple[resource.struct_rusage, int | None, Tree]:
    """Wait for a process while its tree is watched; stop its whole session when the time is up."""
    tree, stopped = Tree(process.pid), threading.Event()

    def stop() -> None:
        stopped.set()
        _end(process.pid)

    watcher = threading.Thread(target=tree.watch, daemon=True)
    alarm = threading.Timer(seconds if seconds is not None else threading.TIMEOUT_MAX, stop)
    alarm.daemon = True
    watcher.start()
    alarm.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        alarm.cancel()
        tree.over.set()
        _end(process.pid)
    watcher.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage, None if stopped.is_set() else process.returncode, tree


def _end(session: int) -> None:
    """End whatever a measured program has left running."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(session, signal.SIGKILL)


def child(program: str, *arguments: str) -> Outcome:
    """Run Python code in a fresh process of this environment; it must go well."""
    outcome = measured([sys.executable, "-c", program, *arguments])
    if outcome.code != 0:
        raise SystemExit(f"a measured program failed: {outcome.errors[-500:]}")
    return outcome


def _bytes(usage: resource.struct_rusage) -> int:
    """Return the largest resident size of one process."""
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def middle(values: Sequence[float]) -> float:
    """Return the median."""
    return float(median(values))
