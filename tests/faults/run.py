"""Plant each one-line fault in a copy of the package and demand that its test notices.

    python tests/faults/run.py [WORD ...]      # only faults whose list, file, line or reason has them all

A fault is a table in tests/faults/*.toml: `file`, `find` (one line, unique in the file), `replace`,
`caught_by` (one pytest id), `why`. A fault is caught when its test fails; a test that cannot be collected,
does not run, or fails without the fault is reported as a mistake in the list itself.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 90
SLOW = "numpy pyarrow pandas duckdb sqlglot scipy.special mpmath typer sqlalchemy jinja2".split()


@dataclass(frozen=True)
class Fault:
    """One planted line."""

    file: str
    find: str
    replace: str
    caught_by: str
    why: str


def faults(words: list[str]) -> list[Fault]:
    """Read every list; keep the faults that mention all the words."""
    found = []
    for path in sorted((ROOT / "tests" / "faults").glob("*.toml")):
        rows = [Fault(**row) for row in tomllib.loads(path.read_text("utf-8"))["fault"]]
        found += [fault for fault in rows if all(word in f"{path.stem} {fault}" for word in words)]
    return found


def copy_tree(target: Path) -> Path:
    """Copy what a test needs; the data folder stays reachable under the name that tests look for."""
    checkout = target / "checkout"
    for name in ("src", "tests", "benchmarks", "docs"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "Makefile"):
        shutil.copy(ROOT / name, checkout / name)
    beside = ROOT.parent / "shared"
    if beside.exists():
        (target / "shared").symlink_to(beside)
    return checkout


class Run:
    """One pytest run on a copy, in a child that is forked after the slow imports were done once."""

    def __init__(self, checkout: Path, tests: list[str]) -> None:
        self.output = checkout.parent / "output.txt"
        self.until = time.monotonic() + SECONDS
        self.pid = os.fork()
        if self.pid == 0:
            _become_pytest(checkout, tests, self.output)

    def finished(self) -> tuple[int, str] | None:
        """Return the exit code (124: too slow) and the last lines, or None while it runs."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status), self.output.read_text("utf-8", "replace")[-1500:]
        if time.monotonic() < self.until:
            return None
        os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return 124, f"no answer in {SECONDS} s"


def _become_pytest(checkout: Path, tests: list[str], output: Path) -> NoReturn:
    """Run pytest in this child and end it; nothing of the copy was imported before."""
    code = 3
    try:
        os.setsid()
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        os.chdir(checkout)
        os.environ.update(PYTHONPATH=str(checkout / "src"), PYTHONDONTWRITEBYTECODE="1")
        sys.dont_write_bytecode = True
        sys.path[:0] = [str(checkout / "src"), str(checkout)]
        code = pytest.main(["-q", "-x", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", *tests])
    finally:
        sys.stdout.flush()
        os._exit(code)


def plant(fault: Fault, checkout: Path) -> str | None:
    """Write the faulty line; return the sound file, or None if the line is not there exactly once."""
    path = checkout / fault.file
    sound = path.read_text("utf-8")
    hits = [line for line in sound.splitlines() if line.strip() == fault.find.strip()]
    if len(hits) != 1:
        return None
    indent = hits[0][: len(hits[0]) - len(hits[0].lstrip())]
    path.write_text(sound.replace(hits[0] + "\n", indent + fault.replace.strip() + "\n", 1), "utf-8")
    return sound


def verdict(code: int, output: str) -> str:
    """Return "" if the test failed as it should, else what went wrong."""
    if code == 1 and " failed" in output:
        return ""
    return "NOT CAUGHT" if code == 0 else f"the test did not fail cleanly (exit {code}):\n{output}"


def all_planted(chosen: list[Fault], copies: list[Path]) -> int:
    """Plant every fault, one in each copy at a time; return how many were not caught."""
    free = list(copies)
    running: dict[Path, tuple[Fault, str, Run]] = {}
    waiting, bad, done = list(chosen), 0, 0
    while waiting or running:
        while waiting and free:
            fault, checkout = waiting.pop(0), free.pop()
            sound = plant(fault, checkout)
            if sound is None:
                done, bad = done + 1, bad + 1
                tell(done, len(chosen), "the line to change is not there once", fault)
                free.append(checkout)
            else:
                running[checkout] = fault, sound, Run(checkout, [fault.caught_by])
        for checkout, (fault, sound, run) in list(running.items()):
            if (outcome := run.finished()) is not None:
                (checkout / fault.file).write_text(sound, "utf-8")
                problem = verdict(*outcome)
                done, bad = done + 1, bad + bool(problem)
                tell(done, len(chosen), problem, fault)
                del running[checkout]
                free.append(checkout)
        time.sleep(0.02)
    return bad


def tell(number: int, of: int, problem: str, fault: Fault) -> None:
    """Print one line of progress."""
    print(f"[{number:3}/{of}] {problem or 'caught'}: {fault.why}  ({fault.file})", flush=True)


def main(words: list[str]) -> int:
    """Run everything on as many copies as there are cores; return the exit status."""
    chosen, start = faults(words), time.monotonic()
    if not chosen:
        print("no fault matches")
        return 2
    for name in SLOW:
        import_module(name)
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        copies = [copy_tree(Path(folder) / str(i)) for i in range(min(len(chosen), os.cpu_count() or 1))]
        if not sound_pass(chosen, copies):
            return 1
        bad = all_planted(chosen, copies)
    print(f"{len(chosen) - bad} of {len(chosen)} faults caught in {time.monotonic() - start:.0f} s")
    return 1 if bad else 0


def sound_pass(chosen: list[Fault], copies: list[Path]) -> bool:
    """Return whether all the tests pass without any fault, their files shared out among the copies."""
    files: dict[str, set[str]] = {}
    for fault in chosen:
        files.setdefault(fault.caught_by.partition("::")[0], set()).add(fault.caught_by)
    shares: list[list[str]] = [[] for _ in copies]
    for number, tests in enumerate(files.values()):
        shares[number % len(shares)] += sorted(tests)
    running = [Run(copy, share) for copy, share in zip(copies, shares, strict=True) if share]
    good = True
    for run in running:
        run.until += 10 * SECONDS
        while (outcome := run.finished()) is None:
            time.sleep(0.02)
        if outcome[0] != 0:
            print(f"without any fault the tests must pass, but:\n{outcome[1]}")
            good = False
    return good


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
