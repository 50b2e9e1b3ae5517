"""The command `deniable`. Each command is one module; nothing heavy is imported before it is needed."""

from __future__ import annotations

from typing import Annotated

import typer

from deniable.cli import account, advise, audit, demo, ledger, local, plan, release, review, show, study
from deniable.cli.options import taking_options
from deniable.cli.screens import Commands, Screen

_ABOUT = """\
Usage: deniable COMMAND ...

Publish statistics about people, with differential privacy that can be checked."""
_EXAMPLE = """\
  --version  Print the version.

Start with `deniable demo`. With a file of your own:
  deniable release answers.csv --unit person --group-by colour --units \\
      --epsilon 1.1 --delta 1e-7"""

_PLAN = "Show what a release would cost and how precise it would be."
_AUDIT = "Check privacy claims by machine: yours, or all that ships."
_ADVISE = "Say which model, delta, noise and threshold fit, and why."
_REVIEW = "Check that a saved release is what it says it is."
_SHOW = "Show a saved release again."
_RELEASE = "Publish statistics about the people in a file."


def app() -> typer.Typer:
    """Return the command with all its commands."""
    commands = typer.Typer(
        cls=Commands,
        help=_ABOUT,
        epilog=_EXAMPLE,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    commands.callback(invoke_without_command=True)(_first)
    commands.command(cls=Screen, short_help="Release a survey that comes with the package, and attack it.")(
        demo.demo
    )
    commands.command(cls=Screen, short_help=_PLAN)(taking_options(plan.plan))
    commands.command(cls=Screen, short_help=_RELEASE)(taking_options(release.release))
    commands.command(cls=Screen, short_help=_SHOW)(show.show)
    commands.command(cls=Screen, short_help=_REVIEW)(review.review)
    commands.add_typer(ledger.app, name="ledger")
    commands.add_typer(local.app, name="local")
    commands.command(cls=Screen, short_help=_AUDIT)(audit.audit)
    commands.add_typer(account.app, name="account")
    commands.command(cls=Screen, short_help=_ADVISE)(advise.advise)
    commands.add_typer(study.app, name="study")
    return commands


def _first(context: typer.Context, version: Annotated[bool, typer.Option("--version")] = False) -> None:
    """Print the version, or the commands."""
    from deniable import __version__

    if version:
        print(f"deniable {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def main() -> None:
    """Run the command line; the entry point `deniable`."""
    app()()
