"""How fast telemetry is on a device, in arrays and on the server, and how its error falls with people.

    python -m benchmarks.telemetry [--people 1000000] [--reports 2000] [--json FILE]

| column            | meaning                                                                         |
|-------------------|---------------------------------------------------------------------------------|
| device            | reports a second, made one by one by one client (memo in the process)           |
| array             | reports a second, made together                                                  |
| server            | reports a second, from reports to the estimate                                   |
| error at ...      | of so many people, root mean square of five runs (one above 100,000 people): what |
|                   | it is stands in the last column                                                   |

All protocols see data of as many people: numbers (beta 2, 5), texts (100 of them, Zipf), items (32, Zipf),
keys (20, held by 5 to 60 %, each with a number). PrivKVM and PCKV answer about the same people at the same
total epsilon. Numbers of reports a second are the median of three.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import middle, publish
from deniable import local
from deniable.local import telemetry
from deniable.local.keyvalue.pairs import Pairs

ONE = 1 << 32
TEXTS = [f"site{number}.example" for number in range(100)]


@dataclass(frozen=True)
class Subject:
    """A protocol, the data of n people, one person's value, and the error of an estimate about n people."""

    name: str
    protocol: Any
    people: Callable[[int], Any]
    person: Any
    error: Callable[[Any, int], float]
    what: str
    together: Callable[[Any], Any] | None = None
    client: Callable[[], Any] | None = None


def zipf(n: int, count: int, seed: int) -> NDArray[np.int64]:
    """Return n numbers below count, the i-th with a weight of 1/i."""
    weights = 1 / np.arange(1, count + 1)
    return np.random.default_rng(seed).choice(count, n, p=weights / weights.sum())


def shares(found: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """Return the share of each number."""
    return np.bincount(found, minlength=count) / len(found)


def numbers(n: int) -> NDArray[np.float64]:
    """Return n numbers from 0 to 100."""
    return np.random.default_rng(1).beta(2, 5, n) * 100


def pairs(n: int) -> tuple[Pairs, NDArray[np.float64], NDArray[np.float64]]:
    """Return people with keys, the true shares and the true means."""
    rng = np.random.default_rng(2)
    holds = rng.random((n, 20)) < np.linspace(0.05, 0.6, 20)
    told = np.clip(np.linspace(-0.8, 0.8, 20) + rng.normal(0, 0.2, (n, 20)), -1, 1)
    starts = np.concatenate([[0], holds.sum(axis=1).cumsum()]).astype(np.int64)
    at = ((told[holds] + 1) / 2 * ONE).astype(np.int64)
    means = np.array([told[holds[:, key], key].mean() for key in range(20)])
    return Pairs(starts, np.nonzero(holds)[1].astype(np.int64), at), holds.mean(axis=0), means


def subjects() -> list[Subject]:
    """Return what is measured."""
    rappor = telemetry.RAPPOR(epsilon=4)
    items = telemetry.DBitFlip(epsilon=2, domain=range(32), bits=8)
    found: list[Subject] = [
        Subject("Square Wave, EMS", local.Distribution(epsilon=2, bounds=(0, 100)), numbers, 37.5, _shape,
                "mean gap of the cumulative shares"),
        Subject("1BitMean", telemetry.OneBitMean(epsilon=2, bounds=(0, 100)), numbers, 37.5,
                lambda e, n: abs(e.value - numbers(n).mean()), "of the mean, 0 to 100"),
        Subject("dBitFlip, 8 of 32", items, lambda n: zipf(n, 32, 3), 7,
                lambda e, n: _rms(e.value - shares(zipf(n, 32, 3), 32)), "of a share, root mean square"),
        Subject("RAPPOR, epsilon 4", rappor, lambda n: [TEXTS[one] for one in zipf(n, 100, 4)], TEXTS[3],
                lambda e, n: _rms(e.value - shares(zipf(n, 100, 4), 100)), "of a share, root mean square",
                lambda reports: rappor.decode(reports, TEXTS)),
        Subject("RAPPOR, memo in a file", rappor, lambda n: [TEXTS[one] for one in zipf(n, 100, 4)], TEXTS[3],
                lambda e, n: _rms(e.value - shares(zipf(n, 100, 4), 100)), "of a share, root mean square",
                lambda reports: rappor.decode(reports, TEXTS), _in_file),
        Subject("HeavyHitters", local.HeavyHitters(epsilon=2), _words, "site", _missed,
                "least share that was found"),
    ]  # fmt: skip
    options: list[tuple[str, dict[str, Any]]] = [
        ("PCKV-GRR, padding 12", {"mechanism": "pckv-grr", "padding": 12}),
        ("PCKV-UE, padding 12", {"mechanism": "pckv-ue", "padding": 12}),
        ("PrivKVM, 1 round", {"mechanism": "privkvm"}),
        *((f"PrivKVM, {rounds} rounds", {"mechanism": "privkvm", "rounds": rounds}) for rounds in (3, 6)),
    ]
    for name, option in options:
        protocol = local.KeyValue(epsilon=2, keys=[str(key) for key in range(20)], **option)
        for what in ("share", "mean"):
            error = _shares if what == "share" else _means
            told = f"of a {what}, root mean square"
            person = {"3": 0.5, "7": -0.25}
            found.append(Subject(f"{name}: {what}", protocol, lambda n: pairs(n)[0], person, error, told))
    return found


def measured(subject: Subject, sizes: list[int], reports: int) -> dict[str, object]:
    """Return one row."""
    client = subject.client() if subject.client else subject.protocol.client()
    device = [_timed(lambda: [client.report(subject.person) for _ in range(reports)])[0] for _ in range(3)]
    row: dict[str, object] = {"protocol": subject.name, "device, reports/s": _rate(reports, middle(device))}
    for n in sizes:
        runs = [_run(subject, n) for _ in range(5 if n <= 100_000 else 1)]
        made, read, errors = zip(*runs, strict=True)
        row |= {"array, reports/s": _rate(n, middle(made)), "server, reports/s": _rate(n, middle(read))}
        row |= {f"error at {n:,}": f"{_rms(errors):.2g}"}
    return row | {"error": subject.what}


def _run(subject: Subject, n: int) -> tuple[float, float, float]:
    """Return the seconds of making and of reading n reports, and the error."""
    protocol, data = subject.protocol, subject.people(n)
    made, reports = _timed(lambda: protocol.randomize(data))
    read, estimate = _timed(lambda: (subject.together or protocol.estimate)(reports))
    if getattr(protocol, "rounds", 1) > 1:
        estimate = protocol.collect(data)
    return made, read, subject.error(estimate, n)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def _rate(n: int, seconds: float) -> str:
    return f"{n / seconds:,.0f}"


def _rms(gaps: Any) -> float:
    return float(np.sqrt(np.mean(np.asarray(gaps) ** 2)))


def _in_file() -> Any:
    path = Path(tempfile.mkdtemp()) / "memo.sqlite"
    return telemetry.RAPPOR(epsilon=4).client(telemetry.Memo(telemetry.SQLiteStorage(path), owner="me"))


def _shape(estimate: Any, n: int) -> float:
    true = np.histogram(numbers(n), estimate.edges)[0] / n
    return float(np.abs(np.cumsum(estimate.value) - np.cumsum(true)).mean())


def _words(n: int) -> list[str]:
    names = ["".join(chr(97 + (number * 7 + 5 * place) % 26) for place in range(5)) for number in range(100)]
    return [names[one] for one in zipf(n, 100, 5)]


def _missed(estimate: Any, _: int) -> float:
    return float(min(estimate.value)) if len(estimate.items) else float("nan")


def _shares(estimate: Any, n: int) -> float:
    return _rms(estimate.value - pairs(n)[1])


def _means(estimate: Any, n: int) -> float:
    return _rms(estimate.mean.value - pairs(n)[2])


def main(arguments: list[str]) -> None:
    """Measure, print, and write JSON if asked."""
    options = argparse.ArgumentParser()
    options.add_argument("--people", type=int, default=1_000_000)
    options.add_argument("--reports", type=int, default=2000)
    options.add_argument("--json", type=Path)
    given = options.parse_args(arguments)
    sizes = [max(given.people // part, 100) for part in (100, 10, 1)]
    rows = [measured(subject, sizes, given.reports) for subject in subjects()]
    title = f"Telemetry without trust, epsilon 2 where not named, up to {given.people:,} people"
    publish("telemetry", title, rows, "python -m benchmarks.telemetry", given.json)


if __name__ == "__main__":
    main(sys.argv[1:])
