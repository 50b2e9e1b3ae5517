"""Count reservations per second: SQLite and Postgres, one writer and many, all of them durable.

    python -m benchmarks.ledger [--seconds 3] [--writers 1 16] [--folder DIR] [--postgres URL] [--json FILE]

Each reservation is priced, admitted and on the disk before it counts. SQLite writes into --folder (it should
be on the disk that you mean to use). Without --postgres a private server is started there, with its
defaults (fsync on), if its programs are installed. At the end every ledger is verified: what was granted is
what is spent.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.report import publish
from deniable.events import PureDP
from deniable.ledger import Ledger

WRITER = """
import sys, time
from deniable.events import PureDP
from deniable.ledger import Ledger
ledger, granted = Ledger.open(sys.argv[1], patience=120), 0
slowest = 0.0
ledger.spent
print("ready", flush=True)
end = float(sys.stdin.readline())
while (start := time.time()) < end:
    ledger.reserve([PureDP(epsilon="1e-6")], purpose="benchmark")
    granted, slowest = granted + 1, max(slowest, time.time() - start)
print(granted, slowest, flush=True)
"""


def measure(place: str, writers: int, seconds: float) -> dict[str, object]:
    """Let processes reserve from one ledger at once; check the ledger afterwards."""
    ledger = Ledger.create(place, epsilon=1000, unit="person")
    command = [sys.executable, "-c", WRITER, place]
    pipe = subprocess.PIPE
    processes = [subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe) for _ in range(writers)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    start = time.time()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(f"{start + seconds}\n")
        process.stdin.flush()
    answers = [process.communicate()[0].split() for process in processes]
    took = time.time() - start
    granted = sum(int(answer[0]) for answer in answers)
    assert ledger.spent.epsilon == granted * PureDP(epsilon="1e-6").epsilon
    assert ledger.verify() == granted + 1
    return {
        "writers": writers,
        "reservations": granted,
        "per second": f"{granted / took:.0f}",
        "slowest s": f"{max(float(answer[1]) for answer in answers):.2f}",
    }


@contextmanager
def server(folder: Path) -> Iterator[str | None]:
    """Start a private server on a socket in the folder; give its URL, or None without its programs."""
    homes = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), *_on_path()]
    home = next((place for place in homes if (place / "initdb").exists()), None)
    if home is None:
        yield None
        return
    user = "nobody" if os.geteuid() == 0 else None
    if user:
        shutil.chown(folder, user)

    def run(program: str, *arguments: str) -> None:
        command = [str(home / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL)

    run("initdb", "-U", "deniable", "-A", "trust", "-E", "UTF8", "--locale=C")
    options = f"-k {folder} -c listen_addresses=''"
    run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
    try:
        yield f"postgresql://deniable@/postgres?host={folder}"
    finally:
        run("pg_ctl", "-w", "-m", "fast", "stop")


def _on_path() -> list[Path]:
    found = shutil.which("pg_ctl")
    return [Path(found).parent] if found else []


def schema(url: str, name: str) -> str:
    """Make a schema, and return the URL that picks it."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{name}"


def main() -> None:
    """Measure every pair of a database and a number of writers, and print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--writers", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--postgres", default=None)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        for writers in given.writers:
            place = str(Path(name) / f"{writers}.ledger")
            rows.append({"database": "SQLite", **measure(place, writers, given.seconds)})
    with tempfile.TemporaryDirectory(dir=given.folder) as name, server(Path(name)) as private:
        url: str = given.postgres or private or ""
        for writers in given.writers if url else []:
            place = schema(url, f"ledger_{os.getpid()}_{writers}")
            rows.append({"database": "Postgres", **measure(place, writers, given.seconds)})
    command = f"python -m benchmarks.ledger --seconds {given.seconds:g}"
    publish("ledger", "Reservations per second, each one durable", rows, command, given.json)


if __name__ == "__main__":
    main()
