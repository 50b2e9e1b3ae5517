"""A study as cells: each is a function with plain arguments, and its numbers are kept in a small file.

A cell's key holds everything that its numbers depend on (data, sizes, seed, version of the study): what is
found in the file can be used again, and a study that was stopped goes on where it was. The file is replaced
in one step, never half written. Beside each cell stands a checksum: what does not fit it is not used.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing import active_children, get_context
from pathlib import Path
from signal import SIG_IGN, SIGINT, signal
from typing import Any

from deniable.audit.progress import Meter
from deniable.errors import SourceError
from deniable.studies.dct.files import put

Numbers = dict[str, Any]
_VERSION = 1
_SECONDS = 1.0
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Cell:
    """One computation. run: a function of a module, called with the arguments and `seed`."""

    run: Callable[..., Numbers]
    arguments: dict[str, Any]

    def key(self, seed: int) -> str:
        """Return a key that differs whenever the numbers may."""
        return json.dumps([_VERSION, self.run.__name__, seed, self.arguments], sort_keys=True)

    def seed(self, seed: int) -> int:
        """Return a seed of its own, so that the order of cells plays no part."""
        return int.from_bytes(sha256(self.key(seed).encode()).digest()[:8])


@dataclass
class Notebook:
    """The numbers of all finished cells, in one JSON file.

    damaged: how many cells were found that do not fit their checksum, and are dropped.
    Raises:  SourceError: the file is there and is none of these.
    """

    path: Path
    kept: dict[str, Numbers] = field(default_factory=dict)
    sums: dict[str, str] = field(default_factory=dict)
    damaged: int = 0
    written: float = 0.0

    def __post_init__(self) -> None:
        if not self.path.exists():
            return
        try:
            record = json.loads(self.path.read_text("utf-8"))
            found, sums = dict(record["cells"].items()), dict(record.get("sums", {}).items())
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise SourceError(f"{self.path} is no notebook of a study. Move it away.") from None
        self.sums = {key: _sum(key, numbers) for key, numbers in found.items()}
        self.sums = {key: total for key, total in self.sums.items() if sums.get(key) == total}
        self.kept = {key: found[key] for key in self.sums}
        self.damaged = len(found) - len(self.kept)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to say about what was found."""
        if not self.damaged:
            return ()
        what = "1 cell was" if self.damaged == 1 else f"{self.damaged:,} cells were"
        return (f"{what} damaged in {self.path.name} and dropped: what this study needs is computed anew.",)

    def put(self, key: str, numbers: Numbers) -> None:
        """Keep the numbers of a cell; write the file at most once a second."""
        self.kept[key], self.sums[key] = numbers, _sum(key, numbers)
        if time.monotonic() - self.written > _SECONDS:
            self.save()

    def save(self) -> None:
        """Replace the file in one step.

        Raises:  ParameterError: it cannot be written.
        """
        put(self.path, json.dumps({"cells": self.kept, "sums": self.sums}).encode())
        self.written = time.monotonic()


def complete(
    cells: Sequence[Cell], notebook: Notebook, *, seed: int, workers: int, bar: Meter
) -> list[Numbers]:
    """Return the numbers of all cells, running those that the notebook lacks. bar: told of each."""
    keys = [cell.key(seed) for cell in cells]
    missing = [place for place, key in enumerate(keys) if key not in notebook.kept]
    bar.advance(len(cells) - len(missing))
    try:
        for place, numbers in _run([cells[place] for place in missing], seed, workers):
            notebook.put(keys[missing[place]], numbers)
            bar.advance(1)
    finally:
        notebook.save()
    return [notebook.kept[key] for key in keys]


def _run(cells: Sequence[Cell], seed: int, workers: int) -> Iterator[tuple[int, Numbers]]:
    if workers == 1 or len(cells) < 2:
        for place, cell in enumerate(cells):
            yield place, _one(cell, seed)
        return
    with _pool(workers) as pool:
        waiting: dict[Future[Numbers], int] = {
            pool.submit(_one, cell, seed): place for place, cell in enumerate(cells)
        }
        while waiting:
            for found in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield waiting.pop(found), found.result()


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Give a pool whose processes are started fresh, each with one thread of linear algebra.

    Ctrl-C reaches this process alone: what waits is dropped, and what runs is ended.
    """
    others = set(active_children())
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    pool = ProcessPoolExecutor(workers, get_context("spawn"), signal, (SIGINT, SIG_IGN))
    try:
        yield pool
    except BaseException:
        for process in set(active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        for name, value in before.items():
            os.environ.pop(name)
            os.environ.update({} if value is None else {name: value})


def _sum(key: str, numbers: object) -> str:
    """Return the checksum of a cell: SHA-256 of its key and numbers as JSON, in hexadecimal."""
    return sha256(json.dumps([key, numbers], sort_keys=True).encode()).hexdigest()


def _one(cell: Cell, seed: int) -> Numbers:
    start = time.perf_counter()
    numbers = cell.run(**cell.arguments, seed=cell.seed(seed))
    return {**numbers, "seconds": round(time.perf_counter() - start, 3)}
