"""Time the accountant beside dp_accounting on the same events, and say how far each is above the truth.

    python -m benchmarks.accounting [--rounds 5] [--no-dp-accounting] [--json FILE]

| column | meaning                                                                                     |
|--------|---------------------------------------------------------------------------------------------|
| ours, dp_accounting   | epsilon (or the noise, for a calibration)                                    |
| ms     | milliseconds from the list of events to the number, the median of rounds that take turns    |
| truth  | known for some: the analytic Gaussian, and for the mix a grid far finer than either         |

dp_accounting runs with its default grid (1e-4). Where it answers infinity or refuses, that is printed.
Calibrations of dp_accounting are its own `calibrate_dp_mechanism` where it has the event, with its PLD.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import middle, publish
from deniable import events
from deniable.accounting import account, calibrate

Answer = tuple[float, float]


def five_hundred() -> list[events.Event]:
    """Laplace, pure, Gaussian, discrete Gaussian, pure, approximate, in turn; sizes within a factor of 4."""
    mixed: list[events.Event] = []
    for i, u in enumerate(np.random.default_rng(0).uniform(0.5, 2, size=500).tolist()):
        small, wide = 1 / (30 * u), 60 * u
        kinds: list[events.Event] = [
            events.Laplace(scale=1, sensitivity=small),
            events.PureDP(epsilon=small),
            events.Gaussian(sigma=wide),
            events.DiscreteGaussian(sigma=wide),
            events.PureDP(epsilon=small),
            events.ApproxDP(epsilon=small, delta=1e-10),
        ]
        mixed.append(kinds[i % 6])
    return mixed


def sampled(rate: str, sigma: str, steps: int) -> list[events.Event]:
    """A Gaussian on Poisson samples, many times."""
    return [events.Repeated(events.Subsampled(events.Gaussian(sigma=sigma), rate), steps)]


def theirs(spent: list[events.Event], delta: float) -> float:
    """The epsilon of dp_accounting for the same events."""
    pld = import_module("dp_accounting.pld.privacy_loss_distribution")
    total = pld.identity()
    for event in spent:
        inner, times = (event.event, event.times) if isinstance(event, events.Repeated) else (event, 1)
        one = _their_loss(inner, pld)
        total = total.compose(one if times == 1 else one.self_compose(times))
    return float(total.get_epsilon_for_delta(delta))


def _their_loss(event: events.Event, pld: Any) -> Any:
    common = import_module("dp_accounting.pld.common")
    match event:
        case events.Laplace(scale=scale, sensitivity=moved):
            return pld.from_laplace_mechanism(float(scale), sensitivity=float(moved))
        case events.Gaussian(sigma=sigma):
            return pld.from_gaussian_mechanism(float(sigma))
        case events.DiscreteGaussian(sigma=sigma):
            return pld.from_discrete_gaussian_mechanism(float(sigma))
        case events.PureDP(epsilon=epsilon):
            return pld.from_privacy_parameters(common.DifferentialPrivacyParameters(float(epsilon), 0))
        case events.ApproxDP(epsilon=epsilon, delta=delta):
            promise = common.DifferentialPrivacyParameters(float(epsilon), float(delta))
            return pld.from_privacy_parameters(promise)
        case events.Subsampled(event=events.Gaussian(sigma=sigma), rate=rate):
            return pld.from_gaussian_mechanism(float(sigma), sampling_prob=float(rate))
        case _:
            raise ValueError(event)


def their_noise(kind: str, epsilon: float, delta: float, times: int) -> float:
    """The least noise by dp_accounting's own search."""
    dp = import_module("dp_accounting")
    pld = import_module("dp_accounting.pld")

    def made(noise: float) -> Any:
        one = dp.LaplaceDpEvent(noise) if kind == "laplace" else dp.GaussianDpEvent(noise)
        return dp.SelfComposedDpEvent(one, times)

    bracket = dp.LowerEndpointAndGuess(0, 10.0)
    return float(dp.calibrate_dp_mechanism(pld.PLDAccountant, made, epsilon, delta, bracket, tol=1e-3))


def timed(ask: Callable[[], float]) -> Answer:
    """Return the answer and its milliseconds."""
    start = time.perf_counter()
    answer = ask()
    return answer, (time.perf_counter() - start) * 1e3


def compare(
    what: str, ours: Callable[[], float], other: Callable[[], float] | None, truth: str, rounds: int
) -> dict[str, object]:
    """Take turns; return one row. Both are asked once before, so that imports and caches are not timed."""
    ours()
    mine, rival = [], []
    if other is not None:
        timed(other)
    for _ in range(rounds):
        mine.append(timed(ours))
        if other is not None:
            rival.append(timed(other))
    return {
        "what": what,
        "truth": truth,
        "ours": f"{mine[0][0]:.6g}",
        "ours ms": f"{middle([ms for _, ms in mine]):.1f}",
        "dp_accounting": f"{rival[0][0]:.6g}" if rival else "",
        "its ms": f"{middle([ms for _, ms in rival]):.1f}" if rival else "",
    }


def rows(rounds: int, *, beside: bool) -> list[dict[str, object]]:
    """Return every row."""
    lists: list[tuple[str, list[events.Event], float, str]] = [
        ("500 mixed mechanisms, delta 1e-6", five_hundred(), 1e-6, "2.8027"),
        ("10,000 sampled Gaussians (.01, sigma 4), 1e-5", sampled("0.01", "4", 10_000), 1e-5, ".946869"),
        (
            "14,062 sampled Gaussians (256/60000, 1.1), 1e-5",
            sampled("256/60000", "1.1", 14_062),
            1e-5,
            "2.381598",
        ),
        (
            "10,000 sampled Gaussians (.00033, 4), 1.13e-18",
            sampled("0.00033", "4", 10_000),
            1.13e-18,
            "below .146",
        ),
        ("100 Laplace of epsilon .1, 1e-6", [events.Repeated(events.Laplace(scale=10), 100)], 1e-6, "4.6926"),
        (
            "1,000 Gaussians of sigma 50, 1e-100",
            [events.Repeated(events.Gaussian(sigma=50), 1_000)],
            1e-100,
            "13.54904",
        ),
    ]
    found = []
    for what, spent, delta, truth in lists:
        ours, other = _asked(spent, delta)
        found.append(compare(what, ours, other if beside else None, truth, rounds))
    return found + calibrations(rounds, beside=beside)


def _asked(spent: list[events.Event], delta: float) -> tuple[Callable[[], float], Callable[[], float]]:
    return (lambda: float(account(spent).epsilon(delta))), (lambda: theirs(spent, delta))


def calibrations(rounds: int, *, beside: bool) -> list[dict[str, object]]:
    """Return the rows of the way back: from (1, 1e-6) to the noise of each of many releases."""
    found = []
    for kind, name, times, truth in (
        (events.Gaussian, "gaussian", 100, "42.24679"),
        (events.Laplace, "laplace", 100, "about 41.50"),
    ):

        def ours(kind: Any = kind, times: int = times) -> float:
            event = calibrate(kind, epsilon=1, delta="1e-6", times=times)
            return float(event.sigma if isinstance(event, events.Gaussian) else event.scale)

        def other(name: str = name, times: int = times) -> float:
            return their_noise(name, 1.0, 1e-6, times)

        what = f"noise of {times:,} {kind.__name__}, (1, 1e-6)"
        found.append(compare(what, ours, other if beside else None, truth, rounds))
    return found + slow_calibrations(rounds)


def slow_calibrations(rounds: int) -> list[dict[str, object]]:
    """Return the rows of kinds that dp_accounting does not calibrate, and of a million releases."""
    found = []
    kinds: list[tuple[Any, int]] = [
        (events.DiscreteGaussian, 100),
        (events.DiscreteLaplace, 100),
        (events.Exponential, 100),
        (events.RandomizedResponse, 100),
        (events.Laplace, 1_000_000),
        (events.Exponential, 1_000_000),
    ]
    for kind, times in kinds:

        def ours(kind: Any = kind, times: int = times) -> float:
            event = calibrate(kind, epsilon=1, delta="1e-6", times=times)
            return float(
                next(getattr(event, name) for name in ("sigma", "scale", "epsilon") if hasattr(event, name))
            )

        found.append(
            compare(f"noise of {times:,} {kind.__name__}, (1, 1e-6)", ours, None, "", min(rounds, 3))
        )
    return found


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-dp-accounting", action="store_true")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    beside = not chosen.no_dp_accounting
    if beside:
        try:
            import_module("dp_accounting")
        except ImportError:
            print("dp_accounting is not installed: its columns stay empty", file=sys.stderr)
            beside = False
    publish(
        "accounting",
        "Accounting: epsilon and noise, beside dp_accounting",
        rows(chosen.rounds, beside=beside),
        "python -m benchmarks.accounting",
        chosen.json,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
