"""The commands as typer sees them: one screen of help each, errors in words, output in any encoding."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from typer.core import TyperCommand, TyperGroup

from deniable.cli import failures

_ASCII = {**dict.fromkeys(map(ord, "█▉▊▋▌▍▎▏"), "#"), ord("…"): "...", ord("×"): "x"}


class Commands(TyperGroup):
    """All commands together: runs one, and turns errors into words and exit codes."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command and leave with its exit code; click's own ways to fail are not used."""
        del prog_name, complete_var, standalone_mode, windows_expand_args, extra
        words = sys.argv[1:] if args is None else list(args)
        readable_output()
        raise SystemExit(failures.run(partial(self._run, words), json="--json" in words))

    def _run(self, words: list[str]) -> Any:
        with self.make_context("deniable", words) as context:
            return self.invoke(context)

    def get_help(self, ctx: Any) -> str:
        """Return the first screen: what this is, the commands, one example."""
        listed = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        lines = [f"  {name:<9} {command.get_short_help_str(68)}" for name, command in listed if command]
        return (
            f"{self.help}\n\nCommands (each has its own --help):\n" + "\n".join(lines) + f"\n\n{self.epilog}"
        )


class Screen(TyperCommand):
    """A command whose help is its docstring as written."""

    def get_help(self, ctx: Any) -> str:
        """Return the screen; nothing is wrapped or added."""
        return str(ctx.command.help)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; `--count` without a column counts all rows, `--units` needs no share."""
        pairs = zip(args, [*args[1:], "--"], strict=False)
        spelt = [f"{word}=" if _stands_alone(word, after) else word for word, after in pairs]
        return list(super().parse_args(ctx, spelt))


def _stands_alone(word: str, after: str) -> bool:
    """Return whether an option that may have a value has none."""
    if word == "--units":
        return not after.removeprefix(":").startswith("share=")
    return word == "--count" and after.startswith("--")


def as_json(record: object, *, indent: int | None = 2, errors: bool = False) -> str:
    """Return JSON with letters as they are, escaped where the output's encoding lacks one."""
    words = json_module.dumps(record, ensure_ascii=False, indent=indent)
    try:
        words.encode((sys.stderr if errors else sys.stdout).encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return json_module.dumps(record, indent=indent)
    return words


def fitting(words: str) -> str:
    """Return the words with bars and signs that this terminal's encoding has."""
    try:
        words.encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return words.translate(_ASCII)
    return words


def readable_output() -> None:
    """Let output survive any terminal: what its encoding lacks is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
