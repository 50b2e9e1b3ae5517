"""Places for ledgers: a file, and a schema of a private Postgres server on a Unix socket."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Place = Callable[[str], str]


def binaries() -> Path | None:
    """The folder of the server's programs, wherever Debian or the path has them."""
    folders = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    found = shutil.which("pg_ctl")
    if found:
        folders.append(Path(found).parent)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


def missing(reason: str) -> None:
    """Skip, or fail where the environment promises a server."""
    if "postgres" in os.environ.get("DENIABLE_REQUIRE", ""):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A running server; yields the URL of its database, without a schema."""
    try:
        import psycopg  # noqa: F401
    except ModuleNotFoundError:
        missing("psycopg is not installed")
    programs = binaries()
    if programs is None:
        missing("no Postgres server is installed")
        return
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    user = "nobody" if os.geteuid() == 0 else None
    if user:
        shutil.chown(folder, user)

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), *arguments]
        subprocess.run(command, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL, env=plain)

    plain = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}
    data = str(folder / "data")
    run("initdb", "-D", data, "-U", "deniable", "-A", "trust", "-E", "UTF8", "--no-sync")
    options = f"-k {folder} -c listen_addresses='' -c max_connections=100 -c fsync=off"
    run("pg_ctl", "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
    try:
        yield f"postgresql://deniable@/postgres?host={folder}"
    finally:
        run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres(server: str, request: pytest.FixtureRequest) -> Place:
    """Name places in the server: each name is a schema of its own, new in each test."""
    import psycopg

    def place(name: str) -> str:
        schema = f"s{abs(hash((request.node.nodeid, name)))}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}".encode())
        return f"{server}&options=-csearch_path%3D{schema}"

    return place


@pytest.fixture
def sqlite(tmp_path: Path) -> Place:
    """Name places in a folder: files."""
    return lambda name: str(tmp_path / f"{name}.ledger")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> Place:
    """Name places, once in files and once in Postgres."""
    chosen: Place = request.getfixturevalue(request.param)
    return chosen
