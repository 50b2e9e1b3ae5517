"""What the benchmark programs stand on: a measured process and the environments of other packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import environments, report

CHILD_HOLDS_MEMORY = """
import subprocess, sys
child = "import time; held = bytearray(200_000_000); time.sleep(1)"
subprocess.run([sys.executable, "-c", child], check=True)
print("done")
"""


def test_memory_and_time_are_those_of_the_whole_tree() -> None:
    done = report.measured([sys.executable, "-c", CHILD_HOLDS_MEMORY])
    assert done.code == 0
    assert done.printed == "done\n"
    assert done.wall >= 1
    assert done.gigabytes > 0.2
    busy = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {'sum(range(20_000_000))'!r}])"
    assert report.measured([sys.executable, "-c", busy]).cpu > 0.1


def test_a_program_that_takes_too_long_is_stopped_with_all_that_it_started(tmp_path: Path) -> None:
    late = tmp_path / "late"
    child = f"import time; time.sleep(3); open({str(late)!r}, 'w')"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    done = report.measured([sys.executable, "-c", program], seconds=0.5)
    assert done.code is None
    assert done.wall < 3
    subprocess.run([sys.executable, "-c", "import time; time.sleep(3)"], check=True)
    assert not late.exists()


def test_a_program_that_fails_keeps_its_code_and_its_words() -> None:
    done = report.measured([sys.executable, "-c", "raise SystemExit('no data')"])
    assert (done.code, environments.last_line(done.errors)) == (1, "no data")


def test_an_environment_is_made_once_and_again_when_what_it_holds_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def noted(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        (tmp_path / "rival").mkdir(exist_ok=True)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", noted)
    for requirement in ("one==1", "one==1", "one==2"):
        python = environments.environment("rival", (requirement,), folder=tmp_path)
        assert python == tmp_path / "rival" / "bin" / "python"
    place = str(tmp_path / "rival")
    assert [command[-1] for command in commands] == [place, "one==1", place, "one==2"]


def test_an_environment_that_cannot_be_made_says_why_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failed(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "warning\nERROR: no such version\n\n")

    monkeypatch.setattr(subprocess, "run", failed)
    with pytest.raises(environments.NotInstalledError) as caught:
        environments.environment("rival", ("one==9",), folder=tmp_path)
    assert str(caught.value) == "rival: ERROR: no such version"
    assert not (tmp_path / "rival" / "ready").exists()
