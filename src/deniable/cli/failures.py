"""From an error to words on stderr and an exit code.

| exit code | means                                                    |
|-----------|----------------------------------------------------------|
| 0         | done                                                     |
| 1         | the engine or the noise failed; nothing was published    |
|           | or standard output is closed, full or gone               |
| 2         | a mistake in what was asked, or a file that cannot be used|
| 3         | the ledger has less left than this costs                 |
| 130       | stopped with Ctrl-C                                      |
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from deniable.errors import (
    BudgetError,
    DeniableError,
    EngineError,
    ExpressionError,
    NoiseError,
    ParameterError,
)

_ClickException: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""The parent of all that typer raises about arguments; typer carries click inside or beside it."""

_OPTIONS = {
    "source": "FILE",
    "directory": "--out",
    "path": "--plan",
    **dict.fromkeys(("aggregate", "the question"), "The question"),
}
_NAMED = "unit population types delimiter group_by max_groups max_rows max_keys over keys epsilon delta noise"
_NAMED += " confidence purpose threads memory_limit ledger where derive"
_NAMED += " risk queries times sensitivity neighbours trials batch seed subject"
_NAMED += " mechanism bounds domain dimension norm weights"
_NAMED += " max_values other on name"
_SPELLINGS = (
    (r"Ledger\.create(?=\.)", "`deniable ledger create`"),
    (r"group_by\(\.\.\., keys=\[\.\.\.\]\)", "--keys FILE"),
    (r"unit=dn\.ROW|dn\.ROW", "--per-row"),
    (r"allow_large_delta=True", "--allow-large-delta"),
    (r"bounds=\(0, 100\)", "spend:0:100"),
    (r", 'ln 3' or Fraction\(1, 10\)", " or 'ln 3'"),
    (r"\b(max_groups|max_keys|max_rows|max_values|memory_limit)='?(\w+)'?", r"--\1 \2"),
    (
        r"\b(unit|epsilon|delta|noise|confidence|threads|population|delimiter|name)=('[^']*'|[\w.]+)",
        r"--\1 \2",
    ),
)
STOPPED = 130
_BEFORE = "Nothing was done. Send it to a file or to /dev/null."
_AFTER = "Files that were asked for, with --out for example, are whole."


def run(command: Callable[[], object], *, json: bool) -> int:
    """Run a command; say what was wrong on stderr, as JSON if asked; return the exit code.

    An error that is none of the package's own passes through: it is a bug, and its traceback helps.
    """
    if (problem := _unwritable()) is not None:
        _say({"kind": "OutputError", "message": f"{problem} {_BEFORE}"}, json=json)
        return 1
    try:
        code = command()
        sys.stdout.flush()
    except typer.Exit as done:
        return done.exit_code
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        _drop_output()
        return 1
    except OSError as error:
        if error.filename is not None:
            raise
        _drop_output()
        words = f"Standard output cannot be written ({error.strerror}). {_AFTER}"
        _say({"kind": "OutputError", "message": words}, json=json)
        return 1
    except _ClickException as error:
        _say({"kind": "UsageError", "message": error.format_message()}, json=json, context=error.ctx)
        return 2
    except DeniableError as error:
        _say(_facts(error), json=json)
        return _code(error)
    return code if isinstance(code, int) else 0


@contextmanager
def speaking_of(option: str) -> Iterator[None]:
    """Let every ParameterError that is raised inside name the option that it comes from."""
    try:
        yield
    except ParameterError as error:
        words = str(error)
        if isinstance(error, ExpressionError):
            words = words.removeprefix(f"{error.argument}: ")
        error.args = (f"{option}: {words}",)
        error.argument = option
        raise


@contextmanager
def calling(argument: str, name: str) -> Iterator[None]:
    """Let a ParameterError about this argument call it as the command does."""
    try:
        yield
    except ParameterError as error:
        if error.argument == argument:
            error.args = (name + str(error).removeprefix(argument),)
            error.argument = name
        raise


def _code(error: DeniableError) -> int:
    if isinstance(error, BudgetError):
        return 3
    return 1 if isinstance(error, EngineError | NoiseError) else 2


def _facts(error: DeniableError) -> dict[str, str]:
    facts = {"kind": type(error).__name__, "message": in_options(error)}
    if isinstance(error, ParameterError):
        facts |= {"argument": _option(error.argument), "fix": _spelt(error.fix)}
    if isinstance(error, BudgetError):
        facts |= {"short": error.short, "asked": error.asked, "left": error.left}
    return facts


def in_options(error: DeniableError) -> str:
    """Return the error's words with options for arguments: --max-groups for max_groups."""
    message = str(error)
    if isinstance(error, ParameterError) and message.startswith(error.argument):
        message = _option(error.argument) + message[len(error.argument) :]
    return _spelt(message.replace(", got None", ""))


def _option(argument: str) -> str:
    if argument in _NAMED.split():
        return "--" + argument.replace("_", "-")
    return _OPTIONS.get(argument, argument)


def _spelt(words: str) -> str:
    words = re.sub(r"types=\{('[^{}]*)\}", _types, words)
    for python, option in _SPELLINGS:
        words = re.sub(python, option, words)
    return re.sub(r"--\w+", lambda found: found[0].replace("_", "-"), words)


def _types(found: re.Match[str]) -> str:
    """Return types={'age': 'integer', 'day': 'date'} as options."""
    pairs = re.findall(r"'([^']*)': '(\w+)'", found[1])
    return " ".join(f"--types {name}={kind}" for name, kind in pairs)


def _say(facts: dict[str, str], *, json: bool, context: Any = None) -> None:
    if json:
        from deniable.cli.screens import as_json

        print(as_json({"error": facts}, indent=None, errors=True), file=sys.stderr)
        return
    message = facts["message"]
    lines = [message] if "\n" in message else textwrap.wrap(message, 80, break_on_hyphens=False)
    if context is not None:
        lines.append(f"See {context.command_path} --help.")
    print("\n".join(lines), file=sys.stderr)


def _unwritable() -> str | None:
    """Return what is wrong with standard output; None if it can be written, as far as can be told."""
    import os

    if sys.stdout is None:
        return "Standard output is closed."
    try:
        place = sys.stdout.fileno()
    except (OSError, ValueError):
        return None  # no file, but an object that keeps what is written
    try:
        os.write(place, b"")
    except OSError as error:
        return f"Standard output cannot be written ({error.strerror})."
    return None


def _drop_output() -> None:
    """Send what still waits for a closed pipe or a full disk nowhere: then the interpreter ends quietly."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
