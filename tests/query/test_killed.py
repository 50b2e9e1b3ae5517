"""kill -9 at every step of a release that a ledger pays for: never less spent than published or read."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from deniable.events import PureDP
from deniable.ledger import Ledger
from deniable.ledger.history import lines
from deniable.query.review import review

RELEASE = """
import os, signal, sys
from pathlib import Path
import pyarrow as pa, pyarrow.parquet
import deniable as dn
from deniable.ledger import Ledger, tables
from deniable.noise.laplace import DiscreteLaplace
from deniable.query import collect, run
from deniable.query.survey import Survey

folder, step = Path(sys.argv[1]), sys.argv[2]

def die(*arguments, **named):
    os.kill(os.getpid(), signal.SIGKILL)

def patched(owner, name, before=None, after=None, times=1):
    real, left = getattr(owner, name), [times]
    def call(*arguments, **named):
        left[0] -= 1
        if before and not left[0]:
            before()
        result = real(*arguments, **named)
        if after and not left[0]:
            after()
        return result
    setattr(owner, name, call)

patched(Survey, "rows", before=(folder / "read").touch)
match step:
    case "before it is reserved": patched(Ledger, "reserve", before=die)
    case "while it is reserved": patched(tables, "append", after=die, times=2)
    case "once it is reserved": patched(Ledger, "reserve", after=die)
    case "before rows are counted": patched(collect, "answered", before=die)
    case "once rows are counted": patched(collect, "answered", after=die)
    case "while noise is drawn": patched(DiscreteLaplace, "sample", after=die)
    case "before it is committed": patched(Ledger, "commit", before=die)
    case "while it is committed": patched(tables, "append", after=die, times=3)
    case "once it is committed": patched(Ledger, "commit", after=die)
    case "while it is saved": patched(pyarrow.parquet, "write_table", after=die)
    case "once it is saved": pass
table = pa.table({"person": range(500), "colour": ["red"] * 500})
survey = dn.protect(table, unit="person", ledger=Ledger.open(folder / "a.ledger"))
query = survey.group_by("colour").aggregate(people=dn.units(), rows=dn.count(max_rows=1))
query.release(epsilon="1/4", delta="1e-8", noise="laplace", purpose=step).save(folder / "out")
die()
"""


@dataclass(frozen=True)
class Fate:
    """What is left of a release that was killed."""

    spent: bool
    read: bool
    state: str | None
    saved: bool


FATES = {
    "before it is reserved": Fate(spent=False, read=False, state=None, saved=False),
    "while it is reserved": Fate(spent=False, read=False, state=None, saved=False),
    "once it is reserved": Fate(spent=True, read=False, state="open", saved=False),
    "before rows are counted": Fate(spent=True, read=True, state="open", saved=False),
    "once rows are counted": Fate(spent=True, read=True, state="open", saved=False),
    "while noise is drawn": Fate(spent=True, read=True, state="open", saved=False),
    "before it is committed": Fate(spent=True, read=True, state="open", saved=False),
    "while it is committed": Fate(spent=True, read=True, state="open", saved=False),
    "once it is committed": Fate(spent=True, read=True, state="committed", saved=False),
    "while it is saved": Fate(spent=True, read=True, state="committed", saved=False),
    "once it is saved": Fate(spent=True, read=True, state="committed", saved=True),
}


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One folder for each step, with the ledger of a process that killed itself there."""
    folders, children = {}, {}
    for step in FATES:
        folders[step] = tmp_path_factory.mktemp("killed")
        Ledger.create(folders[step] / "a.ledger", epsilon=1, delta="1e-7", unit="person")
        command = [sys.executable, "-c", RELEASE, str(folders[step]), step]
        children[step] = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for step, child in children.items():
        _, errors = child.communicate(timeout=120)
        assert child.returncode == -signal.SIGKILL, f"{step}: {errors}"
    return folders


@pytest.mark.parametrize("step", FATES)
def test_a_release_that_is_killed_has_spent_whatever_was_read_or_published(
    killed: dict[str, Path], step: str
) -> None:
    folder, fate = killed[step], FATES[step]
    ledger = Ledger.open(folder / "a.ledger")
    assert ledger.verify() == 1 + 2 * fate.spent + (fate.state == "committed")
    assert ledger.spent.amount == (Fraction(1, 4) if fate.spent else 0)
    assert [line.state for line in lines(ledger.entries())] == ([fate.state] if fate.state else [])
    assert (folder / "read").exists() is fate.read
    assert (folder / "out").exists() is fate.saved
    assert fate.spent or not (fate.read or fate.saved)


def test_what_was_saved_before_the_end_is_sound(killed: dict[str, Path]) -> None:
    folder = killed["once it is saved"]
    found = review(folder / "out", ledger=folder / "a.ledger")
    assert found.sound, str(found)


@pytest.mark.parametrize("step", ["while it is reserved", "while it is committed", "while it is saved"])
def test_a_ledger_pays_on_after_a_process_died_in_the_middle(killed: dict[str, Path], step: str) -> None:
    ledger = Ledger.open(killed[step] / "a.ledger")
    left = ledger.remaining
    number = ledger.verify()
    ledger.commit(ledger.reserve([PureDP(epsilon="1/4")], purpose="afterwards"))
    assert left.minus(ledger.remaining).amount == Fraction(1, 4)
    assert ledger.verify() == number + 2


MANY = """
import sys
from pathlib import Path
import pyarrow as pa
import deniable as dn
folder = Path(sys.argv[1])
table = pa.table({"person": range(50)})
survey = dn.protect(table, unit="person", ledger=dn.Ledger.open(folder / "a.ledger"))
for number in range(10_000):
    survey.aggregate(people=dn.units()).release(epsilon="0.001").save(folder / f"{sys.argv[2]}-{number}")
    print(number, flush=True)
"""


def test_processes_that_are_killed_at_any_moment_have_paid_for_all_that_they_published(
    tmp_path: Path,
) -> None:
    ledger = Ledger.create(tmp_path / "a.ledger", epsilon=100, unit="person")
    for name, seconds in (("first", 0.31), ("second", 0.57)):
        command = [sys.executable, "-c", MANY, str(tmp_path), name]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "0\n"
            time.sleep(seconds)
            child.kill()
    published = [path for path in tmp_path.iterdir() if (path / "release.json").is_file()]
    records = [json.loads((path / "release.json").read_text("utf-8")) for path in published]
    assert published
    ledger.verify(heads=[record["ledger"]["head"] for record in records])
    assert ledger.spent.amount >= len(published) * Fraction(1, 1000)
    states = [line.state for line in lines(ledger.entries())]
    assert states.count("committed") >= len(published)
    assert set(states) <= {"open", "committed"}
    assert all(review(path, ledger=tmp_path / "a.ledger").sound for path in published[:3])
