"""Plant each one-line fault in a copy of the package and demand that its test notices.

    python tests/faults/run.py [WORD ...]      # only faults whose list, file, line or reason has them all

A fault is a table in tests/faults/*.toml: `file`, `find` (one line, unique in the file), `replace`,
`caught_by` (one pytest id), `why`. A fault is caught when its test fails; a test that cannot be collected,
does not run, or fails without the fault is reported as a mistake in the list itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 90


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


def run(checkout: Path, tests: list[str]) -> tuple[int, str]:
    """Run pytest on the copy; return its exit code (124: too slow) and its last lines."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return 124, f"no answer in {SECONDS} s"
    return done.returncode, done.stdout[-1500:] + done.stderr[-500:]


def planted(fault: Fault, checkout: Path) -> str:
    """Plant, run, restore. Return "" if caught, else what went wrong."""
    path = checkout / fault.file
    sound = path.read_text("utf-8")
    hits = [line for line in sound.splitlines() if line.strip() == fault.find.strip()]
    if len(hits) != 1:
        return f"the line stands {len(hits)} times in the file, must be once: {fault.find.strip()!r}"
    indent = hits[0][: len(hits[0]) - len(hits[0].lstrip())]
    path.write_text(sound.replace(hits[0] + "\n", indent + fault.replace.strip() + "\n", 1), "utf-8")
    try:
        code, output = run(checkout, [fault.caught_by])
    finally:
        path.write_text(sound, "utf-8")
    if code == 1 and " failed" in output:
        return ""
    return "NOT CAUGHT" if code == 0 else f"the test did not fail cleanly (exit {code}):\n{output}"


def main(words: list[str]) -> int:
    """Run everything on as many copies as there are cores; return the exit status."""
    chosen, start = faults(words), time.monotonic()
    if not chosen:
        print("no fault matches")
        return 2
    workers = min(len(chosen), os.cpu_count() or 1)
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        copies: Queue[Path] = Queue()
        for index in range(workers):
            copies.put(copy_tree(Path(folder) / str(index)))
        first = copies.get()
        code, output = run(first, sorted({fault.caught_by for fault in chosen}))
        copies.put(first)
        if code != 0:
            print(f"without any fault the tests must pass, but:\n{output}")
            return 1
        bad = _all_planted(chosen, copies, workers)
    print(f"{len(chosen) - bad} of {len(chosen)} faults caught in {time.monotonic() - start:.0f} s")
    return 1 if bad else 0


def _all_planted(chosen: list[Fault], copies: Queue[Path], workers: int) -> int:
    def one(fault: Fault) -> str:
        checkout = copies.get()
        try:
            return planted(fault, checkout)
        finally:
            copies.put(checkout)

    bad = 0
    with ThreadPoolExecutor(workers) as pool:
        for number, (fault, problem) in enumerate(zip(chosen, pool.map(one, chosen), strict=True), 1):
            bad += bool(problem)
            print(
                f"[{number:3}/{len(chosen)}] {problem or 'caught'}: {fault.why}  ({fault.file})", flush=True
            )
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
