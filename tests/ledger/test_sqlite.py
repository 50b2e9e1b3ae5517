"""What a file can suffer: clear words, and nothing lost."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable.errors import BudgetError, LedgerError, ParameterError
from deniable.events import PureDP
from deniable.ledger import Ledger

FIFTH = [PureDP(epsilon="0.2")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with a budget of 1 and one reservation of a fifth."""
    ledger = Ledger.create(tmp_path / "a.ledger", epsilon=1, unit="person")
    ledger.reserve(FIFTH, purpose="the first report")
    return tmp_path / "a.ledger"


def edit(path: Path, *statements: str) -> None:
    """Change the file behind the ledger's back, guards removed."""
    connection = sqlite3.connect(path, isolation_level=None)
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for (name,) in names:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_only_the_owner_may_read_the_file(path: Path) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_every_commit_reaches_the_disk_and_the_folder(path: Path) -> None:
    """3 is EXTRA. The pragma belongs to a connection, so it is asked on one of the ledger's own."""
    from deniable.ledger.storage import locate

    with locate(path, patience=1).writing() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3


def test_a_file_edited_by_hand_is_found_with_its_entry(path: Path) -> None:
    ledger = Ledger.open(path)
    ledger.reserve(FIFTH)
    edit(path, "UPDATE deniable_entries SET body = replace(body, 'first', 'worst') WHERE number = 1")
    with pytest.raises(LedgerError, match="entry 1 was edited") as raised:
        Ledger.open(path).verify()
    assert raised.value.problems == ("entry 1 was edited: its hash does not fit it",)
    with pytest.raises(LedgerError, match="entry 1 was edited"):
        ledger.events()


def test_a_damaged_last_entry_stops_spending(path: Path) -> None:
    edit(path, "UPDATE deniable_entries SET body = replace(body, '1/5', '1/9') WHERE number = 1")
    ledger = Ledger.open(path)
    for act in (lambda: ledger.reserve(FIFTH), lambda: ledger.spent, lambda: ledger.remaining, ledger.verify):
        with pytest.raises(LedgerError, match="entry 1 was edited"):
            act()


@pytest.mark.parametrize("value", ["x'ff00fe'", "NULL", "7", "''"])
def test_a_corrupted_row_is_found_with_its_entry(path: Path, value: str) -> None:
    ledger = Ledger.open(path)
    ledger.reserve(FIFTH)
    edit(
        path,
        "PRAGMA ignore_check_constraints=ON",
        f"UPDATE OR IGNORE deniable_entries SET hash = {value} WHERE number = 1",
        "CREATE TABLE loose AS SELECT * FROM deniable_entries",
        "DROP TABLE deniable_entries",
        "ALTER TABLE loose RENAME TO deniable_entries",
        f"UPDATE deniable_entries SET body = {value} WHERE number = 1",
    )
    with pytest.raises(LedgerError, match="entry 1 was edited"):
        ledger.verify()


def test_rows_can_be_neither_changed_nor_removed_nor_slipped_in(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in (
        "UPDATE deniable_entries SET body = '' WHERE number = 1",
        "DELETE FROM deniable_entries WHERE number = 1",
        "INSERT OR REPLACE INTO deniable_entries VALUES (1, NULL, '', '')",
        "INSERT INTO deniable_entries VALUES (9, NULL, '', '')",
        "UPDATE deniable_ledger SET format = 2",
        "DELETE FROM deniable_ledger",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="only ever appended"):
            connection.execute(statement)
    connection.close()
    assert Ledger.open(path).verify() == 2


def test_a_rolled_back_file_is_found_by_the_head_of_a_release(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "backup")
    head = Ledger.open(path).reserve(FIFTH).head
    shutil.copy(tmp_path / "backup", path)
    ledger = Ledger.open(path)
    assert ledger.verify() == 2
    with pytest.raises(LedgerError, match="entry 2 is missing: a release was published with entry 2"):
        ledger.verify(heads=[head])


def test_a_locked_file_is_said_to_be_locked_and_nothing_is_lost(path: Path) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    ledger = Ledger.open(path, patience=0.2)
    with pytest.raises(LedgerError, match=r"locked by another process; waited 0.2 s. Nothing was spent"):
        ledger.reserve(FIFTH)
    assert ledger.spent == Ledger.open(path).spent
    other.execute("ROLLBACK")
    other.close()
    ledger.reserve(FIFTH)
    assert ledger.verify() == 3


def test_a_ledger_waits_for_a_short_lock(path: Path) -> None:
    program = (
        "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('BEGIN EXCLUSIVE'); print('locked', flush=True); time.sleep(0.4); c.execute('ROLLBACK')"
    )
    with subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        Ledger.open(path).reserve(FIFTH)
        assert other.wait() == 0


DROP = """
import os, resource, shutil, signal, sys, tempfile
from deniable.errors import LedgerError
from deniable.events import PureDP
from deniable.ledger import Ledger
folder = tempfile.mkdtemp()
Ledger.create(folder + "/a", epsilon=1, unit="person").reserve([PureDP(epsilon=1)])  # loads every module
shutil.rmtree(folder)
limit = int(sys.argv.pop())
if limit:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
"""


def as_another(program: str, *arguments: str, limit: int = 0) -> str:
    """Run Python code as a user who is not root (root may write everywhere); return what it prints."""
    command = [sys.executable, "-c", DROP + program, *arguments, str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


SPEND = """
try:
    Ledger.open(sys.argv[1]).reserve([PureDP(epsilon="0.2")])
except LedgerError as error:
    print(error)
else:
    print("spent")
"""


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that another user may enter and write in."""
    folder = Path(tempfile.mkdtemp(prefix="ledger-", dir="/tmp"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def test_a_read_only_file_can_be_read_and_is_said_to_be_read_only(shared: Path) -> None:
    path = shared / "a.ledger"
    Ledger.create(path, epsilon=1, unit="person").reserve(FIFTH)
    path.chmod(0o444)
    assert "file or its folder is read-only. Nothing was spent" in as_another(SPEND, str(path))
    assert as_another("print(Ledger.open(sys.argv[1]).remaining)", str(path)) == "epsilon 0.8\n"
    path.chmod(0o000)
    assert "cannot be opened" in as_another(SPEND, str(path))
    path.chmod(0o666)
    shared.chmod(0o755)
    assert "cannot be opened" in as_another(SPEND, str(path)) or "read-only" in as_another(SPEND, str(path))
    assert Ledger.open(path).verify() == 2


def test_a_file_that_may_not_grow_is_left_as_it_was(shared: Path) -> None:
    path = shared / "a.ledger"
    Ledger.create(path, epsilon=100, unit="person").reserve(FIFTH)
    path.chmod(0o666)
    words = SPEND.replace('"0.2")]', '"0.2")] * 300')
    said = as_another(words, str(path), limit=path.stat().st_size)
    assert "the disk refused" in said or "the disk is full" in said
    ledger = Ledger.open(path)
    assert (ledger.verify(), str(ledger.spent)) == (2, "epsilon 0.2")
    assert as_another(words, str(path)) == "spent\n"


def test_a_ledger_that_cannot_be_created_leaves_nothing_behind(shared: Path) -> None:
    program = (
        "try:\n    Ledger.create(sys.argv[1], epsilon=1, unit='person')\n"
        "except LedgerError as error:\n    print(error)\n"
    )
    said = as_another(program, str(shared / "a.ledger"), limit=4096)
    assert "the disk refused" in said or "the disk is full" in said
    assert list(shared.iterdir()) == []
    assert "cannot be created: No such file" in as_another(program, str(shared / "x" / "a.ledger"))


@pytest.fixture
def full_disk(shared: Path) -> Iterator[Path]:
    """A disk of 64 kB, for those who may mount one."""
    command = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=0777", "none", str(shared)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a small disk")
    yield shared
    subprocess.run(["umount", str(shared)], check=True)


def test_a_full_disk_is_said_to_be_full_and_what_was_spent_stays(full_disk: Path) -> None:
    ledger = Ledger.create(full_disk / "a.ledger", epsilon=1000, unit="person")

    def spend_on() -> None:
        for _ in range(100):
            ledger.reserve(FIFTH * 20)

    with pytest.raises(LedgerError, match="the disk is full|the disk refused"):
        spend_on()
    entries = ledger.verify()
    assert entries > 2
    assert ledger.spent.epsilon == 4 * (entries - 1)


@pytest.mark.parametrize("content", [b"", b"colour,person\nred,1\n", b"SQLite format 3\0" + b"\1" * 5000])
def test_a_file_that_is_no_ledger_is_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(LedgerError, match="is not a ledger|is damaged"):
        Ledger.open(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_bytes() == content


def test_another_database_is_no_ledger(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE people (name)")
    connection.close()
    with pytest.raises(LedgerError, match="is not a ledger"):
        Ledger.open(tmp_path / "other.db")


def test_what_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="does not exist"):
        Ledger.open(tmp_path / "a.ledger")
    with pytest.raises(LedgerError, match="is a folder"):
        Ledger.open(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_cut_off_is_damaged(path: Path) -> None:
    for kept in (100, 4096, 12_000):
        content = path.read_bytes()
        damaged = path.with_name(f"cut-{kept}")
        damaged.write_bytes(content[:kept])
        with pytest.raises(LedgerError, match="damaged|not a ledger"):
            Ledger.open(damaged).verify()


def test_pages_that_were_overwritten_are_found(path: Path) -> None:
    content = bytearray(path.read_bytes())
    places = [at for at in range(len(content)) if content.startswith(b'"purpose"', at)]
    content[places[0] : places[0] + 20] = bytes(20)
    path.write_bytes(content)
    with pytest.raises(LedgerError, match="entry 1 was edited"):
        Ledger.open(path).verify()


def test_a_newer_format_is_refused(path: Path) -> None:
    edit(path, "UPDATE deniable_ledger SET format = 2")
    with pytest.raises(LedgerError, match="version of deniable that wrote it"):
        Ledger.open(path)


def test_a_removed_entry_is_missing_even_if_it_is_the_first(path: Path) -> None:
    edit(path, "DELETE FROM deniable_entries WHERE number = 0")
    with pytest.raises(LedgerError, match="an entry is missing"):
        Ledger.open(path)


@pytest.mark.parametrize(
    "name", ["a?mode=memory", "100 %.ledger", "#1", "file:x", "sp ace&cache=shared", "é"]
)
def test_odd_file_names_are_plain_names(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Ledger.create(name, epsilon=1, unit="person").reserve(FIFTH)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert Ledger.open(tmp_path / name).verify() == 2


@pytest.mark.parametrize(
    "place", ["", ":memory:", "sqlite://", "mysql://host/db", "postgresql+psycopg2://host/db", "http://x/y"]
)
def test_places_that_keep_no_ledger_are_refused(place: str) -> None:
    with pytest.raises(ParameterError, match="path_or_url"):
        Ledger.create(place, epsilon=1, unit="person")


def test_a_sqlite_url_is_a_file(tmp_path: Path) -> None:
    Ledger.create(f"sqlite:///{tmp_path}/a.ledger", epsilon=1, unit="person")
    assert Ledger.open(tmp_path / "a.ledger").verify() == 1


def test_a_refused_reservation_leaves_the_file_as_it_was(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(BudgetError):
        Ledger.open(path).reserve([PureDP(epsilon=5)])
    assert path.read_bytes() == before
