"""How samplers hand out draws: sizes, seeds, forks, threads, pickles, and what time tells."""

from __future__ import annotations

import os
import pickle
import random
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from noise_oracles import ALPHA, p_value
from numpy.typing import NDArray
from scipy.stats import spearmanr

from deniable.bits import SeededBits, SystemBits
from deniable.errors import ParameterError
from deniable.noise.gaussian import DiscreteGaussian
from deniable.noise.laplace import DiscreteLaplace

SAMPLERS: list[DiscreteLaplace | DiscreteGaussian] = [
    DiscreteLaplace(2),
    DiscreteLaplace(2**50),
    DiscreteGaussian(4),
    DiscreteGaussian(2**100),
]
LARGE: list[DiscreteLaplace | DiscreteGaussian] = [DiscreteLaplace(2**56), DiscreteGaussian(2**112)]
"""Two equal draws are a sign of a shared stream: by chance a pair is equal once in 2**57 or less."""


@pytest.mark.parametrize("sampler", SAMPLERS, ids=str)
@pytest.mark.parametrize("n", [0, 1, 2, 1023, 16384, 16385, 65536, 65537, 200_000])
def test_as_many_draws_come_as_were_asked_for(sampler: DiscreteLaplace | DiscreteGaussian, n: int) -> None:
    for bits in (SystemBits(), SeededBits(1, insecure=True)):
        draws = sampler.sample(n, bits=bits)
        assert draws.shape == (n,)
        assert draws.dtype == np.int64
        assert draws.flags.writeable
        if n > 1000:
            assert np.unique(draws).size > 8


@pytest.mark.parametrize("n", [-1, 1.0, True, None, "5", 2**40 + 1, float("nan")])
def test_a_number_of_draws_that_is_no_whole_number_is_refused(n: Any) -> None:
    for sampler in SAMPLERS:
        with pytest.raises(ParameterError, match="n "):
            sampler.sample(n, bits=SystemBits())


def test_numpy_integers_may_say_how_many() -> None:
    assert len(SAMPLERS[0].sample(np.int64(3), bits=SystemBits())) == 3  # type: ignore[arg-type]


@pytest.mark.parametrize("sampler", SAMPLERS, ids=str)
def test_a_seed_means_one_sequence_whatever_was_drawn_before(
    sampler: DiscreteLaplace | DiscreteGaussian,
) -> None:
    sizes = (1, 5, 3000, 1, 70_000)
    bits = SeededBits(7, insecure=True)
    first = [sampler.sample(n, bits=bits) for n in sizes]
    sampler.sample(10, bits=SystemBits())
    again = SeededBits(7, insecure=True)
    twin = pickle.loads(pickle.dumps(sampler))
    second = [twin.sample(n, bits=again) for n in sizes]
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    other = SeededBits(8, insecure=True)
    assert not np.array_equal(first[2], sampler.sample(3000, bits=other))


@pytest.mark.parametrize("scale", [Fraction(5, 2), Fraction(40)], ids=str)
def test_single_draws_from_a_block_drawn_ahead_have_the_law_of_many(scale: Fraction) -> None:
    sampler, bits = DiscreteLaplace(scale), SystemBits()
    draws = np.concatenate([sampler.sample(1 + i % 7, bits=bits) for i in range(50_000)])

    def mass(stretch: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        q = np.exp(-1 / (float(scale) * stretch))
        return lambda x: (1 - q) / (1 + q) * q ** np.abs(x)

    assert p_value(draws, mass(1.0)) > ALPHA
    assert p_value(draws, mass(1.1)) < ALPHA


@pytest.mark.parametrize("sampler", LARGE, ids=str)
def test_no_draw_is_handed_out_twice_by_one_source(sampler: DiscreteLaplace | DiscreteGaussian) -> None:
    bits = SystemBits()
    draws = np.concatenate([sampler.sample(n, bits=bits) for n in (1, 3, 1000, 1, 999, 1024, 2000) * 20])
    assert draws.size - np.unique(draws).size <= 1  # two pairs by chance: below 1e-13


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("sampler", LARGE, ids=str)
@pytest.mark.parametrize("n", [1, 2000])
def test_children_of_a_fork_draw_other_noise(sampler: DiscreteLaplace | DiscreteGaussian, n: int) -> None:
    bits = SystemBits()
    sampler.sample(n, bits=bits)
    drawn: list[int] = []
    for _ in range(2):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(writer, sampler.sample(n, bits=bits)[:5].tobytes())
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            drawn += np.frombuffer(pipe.read(), np.int64).tolist()
        os.waitpid(child, 0)
    drawn += sampler.sample(n, bits=bits)[:5].tolist()
    assert len(drawn) == 3 * min(n, 5)
    assert len(set(drawn)) == len(drawn)


@pytest.mark.parametrize("sampler", LARGE, ids=str)
def test_threads_that_share_sampler_and_bits_draw_different_noise(
    sampler: DiscreteLaplace | DiscreteGaussian,
) -> None:
    bits = SystemBits()
    drawn: list[NDArray[np.int64]] = []

    def work() -> None:
        drawn.extend([sampler.sample(n, bits=bits) for n in (1, 2, 3, 100, 1100) * 5])

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = np.concatenate(drawn)
    assert together.size == 5 * 5 * 1206
    assert np.unique(together).size == together.size


@pytest.mark.parametrize("sampler", SAMPLERS, ids=str)
def test_a_pickled_sampler_is_its_parameter_and_holds_no_noise(
    sampler: DiscreteLaplace | DiscreteGaussian,
) -> None:
    bits = SystemBits()
    before = pickle.dumps(sampler)
    first = sampler.sample(1, bits=bits)
    assert pickle.dumps(sampler) == before
    assert len(before) < 200
    twin = pickle.loads(before)
    assert type(twin) is type(sampler)
    assert str(twin) == str(sampler)
    assert first.tolist() != twin.sample(64, bits=bits).tolist()


def test_a_sampler_that_is_gone_leaves_no_noise_behind() -> None:
    bits = SystemBits()
    sampler = DiscreteLaplace(3)
    sampler.sample(1, bits=bits)
    assert len(bits._source.pools) == 1
    del sampler
    assert len(bits._source.pools) == 0


def rank_correlation(draw: Callable[[], Any], n: int) -> float:
    """Spearman's correlation of abs(noise) with the time of the call, the slowest percent left out."""
    times, sizes = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        start = time.perf_counter_ns()
        drawn = draw()
        times[i] = time.perf_counter_ns() - start
        sizes[i] = drawn[0]
    usual = times <= np.quantile(times, 0.99)
    return float(spearmanr(np.abs(sizes[usual]), times[usual]).statistic)


def by_coins(scale: int) -> int:
    """A sampler that flips coins until it stops: its time tells its value."""
    steps = 0
    while random.random() * scale > 1:
        steps += 1
    return steps


@pytest.mark.parametrize(
    "sampler",
    [DiscreteLaplace(1), DiscreteLaplace(100), DiscreteGaussian(10**4), DiscreteGaussian(10**12)],
    ids=str,
)
def test_the_time_of_one_draw_tells_nothing_of_its_size(sampler: DiscreteLaplace | DiscreteGaussian) -> None:
    """By chance the correlation of 120,000 pairs has a standard deviation of .0029: .02 is 7 of them."""
    bits = SystemBits()
    assert abs(rank_correlation(lambda: sampler.sample(1, bits=bits), 120_000)) < 0.02


def test_the_time_of_flipping_coins_tells_its_size() -> None:
    assert rank_correlation(lambda: [by_coins(20)], 20_000) > 0.3
