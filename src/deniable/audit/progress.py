"""A progress bar on a terminal, silence elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Meter(Protocol):
    """Told how many runs are done."""

    def advance(self, runs: int) -> None: ...


class _Silent:
    def advance(self, runs: int) -> None:
        """Say nothing."""


@contextmanager
def meter(runs: int, shown: bool | None) -> Iterator[Meter]:
    """Give a bar for so many runs on standard error. shown: None means only if that is a terminal."""
    if not (sys.stderr.isatty() if shown is None else shown):
        yield _Silent()
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("runs", total=runs)

        class Shown:
            def advance(self, runs: int) -> None:
                bar.advance(task, runs)

        yield Shown()
