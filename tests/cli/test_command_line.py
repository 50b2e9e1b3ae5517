"""The command itself, in processes of its own: help, encodings, pipes, signals, exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from survey_file import run, write

from deniable.cli import app, failures
from deniable.errors import EngineError, NoiseError

DENIABLE = [sys.executable, "-c", "from deniable.cli import main; main()"]
TOTAL = ("--unit", "person", "--units", "--epsilon", "1")


def started(words: Sequence[str | Path], **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*DENIABLE, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
    )


def finished(words: Sequence[str | Path], **environment: str) -> tuple[int, str, str]:
    process = started(words, **environment)
    out, err = process.communicate(timeout=60)
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("plan", "--help"),
        ("release", "--help"),
        ("review", "--help"),
        ("demo", "--help"),
        ("ledger", "--help"),
    ],
)
def test_help_is_one_screen(words: Sequence[str]) -> None:
    result = run(*words)
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "Usage: deniable" in result.stdout


@pytest.mark.parametrize("name", ["plan", "release", "review"])
def test_help_names_every_option_and_no_other(name: str) -> None:
    import typer

    group = typer.main.get_command(app())
    command = group.commands[name]  # type: ignore[attr-defined]
    options = {word for parameter in command.params for word in parameter.opts if word.startswith("--")}
    assert set(re.findall(r"--[a-z-]+", run(name, "--help").stdout)) == options - {"--help"}


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; from deniable.cli import app; app(); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        "duckdb",
        "numpy",
        "pyarrow",
        "scipy",
        "pandas",
        "polars",
        "sqlalchemy",
        "sqlglot",
        "jinja2",
        "rich",
    }
    assert not heavy & set(loaded)


def test_the_version_is_printed() -> None:
    from deniable import __version__

    assert run("--version").stdout == f"deniable {__version__}\n"


@pytest.mark.parametrize("words", [("frobnicate",), ("release", "--help-me"), ("plan",)])
def test_a_wrong_command_line_is_explained(words: Sequence[str]) -> None:
    code, out, err = finished(words)
    assert (code, out) == (2, "")
    assert "--help" in err
    assert "Traceback" not in err


def test_a_terminal_that_knows_only_ascii_gets_ascii(tmp_path: Path) -> None:
    survey = write(tmp_path / "survey.csv")
    words = ("release", survey, *TOTAL, "--group-by", "colour", "--group-by", "größe", "--delta", "1e-6")
    code, out, err = finished(words, PYTHONIOENCODING="ascii")
    assert (code, err) == (0, "")
    assert out.isascii()
    assert "###" in out
    code, out, err = finished(("release", "größe.csv", *TOTAL), PYTHONIOENCODING="ascii")
    assert code == 2
    assert err.isascii()


def test_output_that_is_no_terminal_has_no_colours(tmp_path: Path) -> None:
    survey = write(tmp_path / "survey.csv")
    for words in (("release", survey, *TOTAL), ("release", survey), ("release", "--help")):
        code, out, err = finished(words, FORCE_COLOR="1", TERM="xterm-256color")
        assert "\x1b" not in out + err, code


def test_a_reader_that_goes_away_ends_the_command_quietly(tmp_path: Path) -> None:
    process = started(("plan", write(tmp_path / "survey.csv"), *TOTAL, "--json"))
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr as errors:
        assert errors.read() == b""
    assert process.wait(60) == 1


def test_ctrl_c_ends_the_command_without_a_traceback(tmp_path: Path) -> None:
    slow = (
        "import sys, time; from deniable.query.plan import Plan\n"
        "def release(self, **given): print('reading', flush=True); time.sleep(60)\n"
        "Plan.release = release\n"
        "from deniable.cli import main; main()"
    )
    words = ["release", str(write(tmp_path / "survey.csv")), *TOTAL]
    process = subprocess.Popen(
        [sys.executable, "-c", slow, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"reading\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
    assert err == b"Stopped.\n"


def test_names_that_are_not_text_do_not_break_the_error() -> None:
    process = subprocess.run(
        [*DENIABLE, b"release", b"\xff\xfe.csv", *TOTAL], capture_output=True, check=False
    )
    assert process.returncode == 2
    assert b"Traceback" not in process.stderr


def test_a_failure_that_is_nobodys_mistake_has_its_own_code(capsys: pytest.CaptureFixture[str]) -> None:
    for error in (EngineError("The engine failed."), NoiseError("A draw was too large.")):

        def fail(error: Exception = error) -> None:
            raise error

        assert failures.run(fail, json=False) == 1
        assert capsys.readouterr().err == f"{error}\n"


def test_a_bug_shows_its_traceback() -> None:
    def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failures.run(broken, json=True)


def test_long_messages_are_wrapped_and_carets_are_not(tmp_path: Path) -> None:
    survey = write(tmp_path / "survey.csv")
    err = run("release", survey, "--unit", "nothing that is there", *TOTAL[2:]).stderr
    assert max(map(len, err.splitlines())) <= 80
    lines = run("release", survey, *TOTAL, "--where", "length(colour) > lenght(spend)").stderr.splitlines()
    assert lines[1].index("lenght") == lines[2].index("^")


def test_python_words_become_options() -> None:
    said = failures._spelt("Write types={'age': 'integer'}, max_rows=2, noise='laplace' or unit=dn.ROW.")
    assert said == "Write --types age=integer, --max-rows 2, --noise 'laplace' or --per-row."
    assert json.dumps(said)
