"""Every block of the README and the documentation runs as it stands, from top to bottom, in an empty folder.

`python` blocks of one file share their names. In `console` blocks each line after `$ ` is a command of the
shell; `make` lines are checked to name a real target, since they are how these tests are started.
Other blocks must say `text`, `toml`, `json` or `sql`: they show, they are not run.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = {"text", "toml", "json", "sql"}


NEEDS_JAVA = {"spark.md"}
QUIET = [pytest.mark.filterwarnings(f"ignore::{kind}") for kind in ("FutureWarning", "ResourceWarning")]
"""PySpark warns of versions of pandas, and leaves sockets to the collector."""


def listed(path: Path) -> Any:
    return pytest.param(path, marks=QUIET if path.name in NEEDS_JAVA else [], id=path.name)


def require_java() -> None:
    """Skip without Java, or fail where the environment promises it."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        if "spark" in os.environ.get("DENIABLE_REQUIRE", ""):
            pytest.fail("Java is not installed")
        pytest.skip("Java is not installed")


def commands(block: str) -> list[str]:
    return [line[2:] for line in block.replace("\\\n", " ").splitlines() if line.startswith("$ ")]


def run_console(block: str, folder: Path) -> None:
    here = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}"}
    for command in commands(block):
        if command.startswith("make"):
            for target in shlex.split(command, comments=True)[1:]:
                assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE), target
            continue
        done = subprocess.run(
            ["bash", "-euc", command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", [listed(path) for path in PAGES])
def test_every_block_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.name in NEEDS_JAVA:
        require_java()
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for language, block in BLOCK.findall(page.read_text("utf-8")):
        if language == "python":
            exec(compile(block, f"{page.name}: {block[:40]!r}", "exec"), names)
        elif language == "console":
            run_console(block, tmp_path)
        else:
            assert language in SHOWN, f"{page.name}: a block is marked {language!r}, which no test runs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
