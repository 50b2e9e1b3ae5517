"""Time exact integer noise beside NumPy's float noise and OpenDP, and ask whether time tells the noise.

    python -m benchmarks.noise [--rounds 9] [--no-opendp] [--json FILE]

| column   | meaning                                                                               |
|----------|---------------------------------------------------------------------------------------|
| n        | draws in one call                                                                     |
| ours, NumPy, OpenDP | nanoseconds a draw, the median of rounds that take turns                   |
| speed    | NumPy's time over ours: above 1 we are faster than noise that protects nobody         |
| rank correlation | Spearman's, of abs(noise) with the time of its call, one draw a call; the     |
|          | slowest percent of calls left out. Chance alone spreads it by .003 (OpenDP's by .007) |

OpenDP runs in an environment of its own (benchmarks/environments.py); it draws at most 20,000 at a time.
Objects are made once and used for all calls.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks import environments
from benchmarks.report import middle, publish
from deniable.bits import SystemBits
from deniable.noise.gaussian import DiscreteGaussian
from deniable.noise.laplace import DiscreteLaplace

SCALES = (1, 100, 1_000_000)
CALLS = {1: 3000, 1000: 100, 1_000_000: 1}
PAIRS = 100_000
MOST = 20_000

WORKER = """
import sys, time
import opendp.prelude as dp
dp.enable_features("contrib")
made = {}
def sampler(kind, scale, many):
    if (kind, scale, many) not in made:
        atom = dp.atom_domain(T="i64")
        domain = dp.vector_domain(atom) if many else atom
        if kind == "laplace":
            metric = dp.l1_distance(T="i64") if many else dp.absolute_distance(T="i64")
            made[kind, scale, many] = dp.m.make_laplace(domain, metric, scale=scale)
        else:
            metric = dp.l2_distance(T="f64") if many else dp.absolute_distance(T="f64")
            made[kind, scale, many] = dp.m.make_gaussian(domain, metric, scale=scale)
    return made[kind, scale, many]
print(dp.__name__, flush=True)
for line in sys.stdin:
    task, kind, scale, n, calls = line.split()
    draw, zero = sampler(kind, float(scale), n != "1"), 0 if n == "1" else [0] * int(n)
    if task == "time":
        start = time.perf_counter_ns()
        for _ in range(int(calls)):
            draw(zero)
        print((time.perf_counter_ns() - start) / (int(n) * int(calls)), flush=True)
    else:
        pairs = []
        for _ in range(int(calls)):
            start = time.perf_counter_ns()
            drawn = draw(zero)
            pairs.append((abs(drawn), time.perf_counter_ns() - start))
        print(*(f"{size}:{spent}" for size, spent in pairs), flush=True)
"""


class OpenDP:
    """A process in OpenDP's own environment that answers one question a line."""

    def __init__(self, python: Path) -> None:
        self._process = subprocess.Popen(
            [python, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._answer()

    def ask(self, task: str, kind: str, scale: int, n: int, calls: int) -> str:
        """Return the worker's answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{task} {kind} {scale} {n} {calls}\n")
        self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise OSError("OpenDP's process ended")
        return line


def opendp() -> OpenDP | None:
    """Start OpenDP, installing it where needed; say why if that fails."""
    try:
        return OpenDP(environments.environment("opendp", environments.OPENDP))
    except (OSError, environments.NotInstalledError) as problem:
        print(f"OpenDP is left out: {problem}", file=sys.stderr)
        return None


def samplers(kind: str, scale: int) -> tuple[Callable[[int], Any], Callable[[int], Any]]:
    """Return ours and NumPy's, each taking the number of draws."""
    bits, generator = SystemBits(), np.random.default_rng()
    if kind == "laplace":
        laplace = DiscreteLaplace(scale)
        return lambda n: laplace.sample(n, bits=bits), lambda n: generator.laplace(0.0, scale, n)
    gaussian = DiscreteGaussian(scale * scale)
    return lambda n: gaussian.sample(n, bits=bits), lambda n: generator.normal(0.0, scale, n)


def nanoseconds(draw: Callable[[int], Any], n: int, calls: int) -> float:
    """Return the time of one draw, over `calls` calls of n draws."""
    start = time.perf_counter_ns()
    for _ in range(calls):
        draw(n)
    return (time.perf_counter_ns() - start) / (n * calls)


def correlation(sizes: Any, times: Any) -> float:
    """Return the rank correlation without the slowest percent of calls."""
    usual = times <= np.quantile(times, 0.99)
    return float(spearmanr(np.abs(sizes[usual]), times[usual]).statistic)


def own_correlation(draw: Callable[[int], Any], pairs: int) -> float:
    """Return the rank correlation of abs(noise) with the time of its call."""
    sizes, times = np.empty(pairs), np.empty(pairs)
    for i in range(pairs):
        start = time.perf_counter_ns()
        drawn = draw(1)
        times[i] = time.perf_counter_ns() - start
        sizes[i] = drawn[0]
    return correlation(sizes, times)


def rival_correlation(rival: OpenDP, kind: str, scale: int, pairs: int) -> float:
    """Return the same for OpenDP."""
    answer = rival.ask("pairs", kind, scale, 1, pairs).split()
    listed = np.array([pair.split(":") for pair in answer], dtype=float)
    return correlation(listed[:, 0], listed[:, 1])


def measured(kind: str, scale: int, rival: OpenDP | None, rounds: int, pairs: int) -> list[dict[str, object]]:
    """Return the rows of one kind and scale; everything takes turns within a round."""
    ours, numpy = samplers(kind, scale)
    rows = []
    for n, calls in CALLS.items():
        seen: dict[str, list[float]] = {"ours": [], "NumPy": [], "OpenDP": []}
        for _ in range(rounds):
            seen["ours"].append(nanoseconds(ours, n, calls))
            seen["NumPy"].append(nanoseconds(numpy, n, calls))
            if rival:
                few = min(n, MOST)
                seen["OpenDP"].append(float(rival.ask("time", kind, scale, few, min(calls, 1000 // few + 1))))
        row: dict[str, object] = {"noise": kind, "scale": f"{scale:,}", "n": f"{n:,}"}
        row |= {name: f"{middle(times):,.1f}" if times else "" for name, times in seen.items()}
        row["speed"] = f"{middle(seen['NumPy']) / middle(seen['ours']):.2f}"
        row["rank correlation"] = f"{own_correlation(ours, pairs):+.4f}" if n == 1 else ""
        row["OpenDP's"] = (
            f"{rival_correlation(rival, kind, scale, pairs // 5):+.4f}" if rival and n == 1 else ""
        )
        rows.append(row)
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--no-opendp", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rival = None if given.no_opendp else opendp()
    rows = [
        row
        for kind in ("laplace", "gaussian")
        for scale in SCALES
        for row in measured(kind, scale, rival, given.rounds, given.pairs)
    ]
    if rival:
        rival.close()
    title = "Noise: nanoseconds a draw"
    publish("noise", title, rows, f"python -m benchmarks.noise --rounds {given.rounds}", given.json)


if __name__ == "__main__":
    main()
