"""Many processes at once, forks, and processes that are killed: never overspent, nothing unspent."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from deniable.errors import BudgetError, LedgerError
from deniable.events import PureDP
from deniable.ledger import Ledger

Place = Callable[[str], str]

RACE = """
import os, sys
from deniable.errors import BudgetError
from deniable.events import PureDP
from deniable.ledger import Ledger
place, processes = sys.argv[1], int(sys.argv[2])
ledger = Ledger.open(place, patience=60)
go_read, go_write = os.pipe()
children = []
for _ in range(processes):
    child = os.fork()
    if child == 0:
        os.close(go_write)
        os.read(go_read, 1)      # all start when the parent closes its end
        granted = 0
        try:
            while True:
                ledger.reserve([PureDP(epsilon="0.01")])
                granted += 1
        except BudgetError:
            os._exit(granted)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(255)
    children.append(child)
os.close(go_write)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""


def race(place: str, processes: int) -> list[int]:
    """Let forked processes reserve until they are refused; return how many each was granted."""
    command = [sys.executable, "-c", RACE, place, str(processes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [int(word) for word in done.stdout.strip("[]\n").split(",")]


def test_forty_racing_processes_are_granted_exactly_what_there_is(place: Place) -> None:
    """A budget of 1 in steps of .01, over 140 attempts. The wrong twin of this is planted in faults."""
    ledger = Ledger.create(place("a"), epsilon=1, unit="person")
    granted = race(place("a"), 40)
    assert len(granted) == 40
    assert sum(granted) == 100
    assert ledger.remaining.epsilon == 0
    assert ledger.verify() == 101


BINDING = """
import os, sys
from deniable.errors import LedgerError
from deniable.events import PureDP
from deniable.ledger import Ledger
ledger = Ledger.open(sys.argv[1], patience=60)
ledger.check(data=sys.argv[2], unit="person", neighbours="add or remove")
print("ready", flush=True)
sys.stdin.readline()         # all start when the parent says so
try:
    ledger.reserve([PureDP(epsilon="0.01")], data=sys.argv[2])
except LedgerError as error:
    assert "belongs to the data" in str(error), error
    print("refused")
else:
    print("bound")
"""


def test_of_processes_with_different_data_exactly_one_binds_a_fresh_ledger(place: Place) -> None:
    ledger = Ledger.create(place("a"), epsilon=1, unit="person")
    names = ["jan.csv", "feb.csv", "mar.csv", "apr.csv"]
    commands = [[sys.executable, "-c", BINDING, place("a"), name] for name in names]
    pipe = subprocess.PIPE
    racing = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for command in commands]
    for process in racing:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    said = []
    for process in racing:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in racing:
        said.append(process.communicate(timeout=60)[0].strip())
        assert process.returncode == 0
    assert sorted(said) == ["bound", "refused", "refused", "refused"]
    assert ledger.data == names[said.index("bound")]
    assert ledger.spent.epsilon == Fraction(1, 100)
    assert ledger.verify() == 3


def test_threads_of_one_process_share_a_ledger(place: Place) -> None:
    ledger = Ledger.create(place("a"), epsilon=1, unit="person")

    def attempt(_: int) -> int:
        try:
            ledger.commit(ledger.reserve([PureDP(epsilon="0.1")]))
        except BudgetError:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(16))) == 10
    assert ledger.verify() == 21


VICTIM = """
import os, sys, time
from deniable.events import PureDP
from deniable.ledger import Ledger
ledger = Ledger.open(sys.argv[1])
if sys.argv[2] == "between":
    reservation = ledger.reserve([PureDP(epsilon="0.25")], purpose="never finished")
    print(reservation.number, flush=True)
    time.sleep(60)
else:
    print("started", flush=True)
    while True:
        reservation = ledger.reserve([PureDP(epsilon="0.001")])
        os.write(1, b"%d\\n" % reservation.number)
        ledger.commit(reservation)
"""


def victim(place: str, moment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", VICTIM, place, moment]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_process_that_is_killed_between_reserve_and_commit_leaves_it_spent(place: Place) -> None:
    ledger = Ledger.create(place("a"), epsilon=1, unit="person")
    with victim(place("a"), "between") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert ledger.spent.epsilon == Fraction(1, 4)
    assert ledger.verify() == 2
    ledger.reserve([PureDP(epsilon="0.75")])


def test_processes_that_are_killed_at_any_moment_never_lose_a_reservation(place: Place) -> None:
    """Whatever number a victim printed, its reservation was on the disk before; at most one more is."""
    ledger, seen = Ledger.create(place("a"), epsilon=100, unit="person"), 0
    for wait in (0.0, 0.003, 0.01, 0.017, 0.031, 0.05):
        with victim(place("a"), "any") as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
            printed = process.stdout.read().split("\n")[:-1]
        numbers = [entry.number for entry in ledger.entries() if entry.kind == "reserve"]
        assert {int(word) for word in printed} <= set(numbers)
        assert len(printed) <= len(numbers) - seen <= len(printed) + 1
        assert ledger.spent.epsilon == Fraction(len(numbers), 1000)
        ledger.verify()
        seen = len(numbers)
    assert seen > 0


def test_two_makers_of_one_ledger_make_one(place: Place) -> None:
    def make(_: int) -> int:
        try:
            Ledger.create(place("a"), epsilon=1, unit="person")
        except LedgerError:
            return 0
        return 1

    place("a")
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(make, range(4))) == 1
    assert Ledger.open(place("a")).verify() == 1


@pytest.mark.parametrize("settle", ["commit", "abandon"])
def test_a_reservation_is_settled_once_however_many_try(place: Place, settle: str) -> None:
    ledger = Ledger.create(place("a"), epsilon=1, unit="person")
    reservation = ledger.reserve([PureDP(epsilon="0.1")])

    def attempt(_: int) -> int:
        try:
            getattr(ledger, settle)(reservation)
        except LedgerError:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(8))) == 1
    assert ledger.verify() == 3
